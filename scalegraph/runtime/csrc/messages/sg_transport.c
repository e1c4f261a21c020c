/* How long a message takes: the overhead at its sender and receiver, and the transfer between them. Between
 * nodes it goes over the interconnect. Within a node the sender writes it to memory and the receiver reads it
 * from there, with the memory references this needs; an out-of-order processor overlaps several of them. From
 * a size given by the machine, the operating system copies it once (process_vm_readv). */
#include "sg_message.h"
#include "sg_wire.h"

/* Lines of each rank's buffer for messages within the node. When lines are copied in parallel, there are so
 * many that a message finds each line as its receiver left it. */
#define BUFFER_LINES          512u
#define BUFFER_LINES_TOGETHER 2048u
/* A message's header precedes its data, in the same lines. */
#define HEADER_BYTES 40u
#define COPIED_BYTES 32u /* by one load and one store: a vector */

static uint64_t *buffer_of = NULL; /* by rank: address; 0: not allocated yet */

void sg_transport_open(void)
{
    buffer_of = sg_new(sg->ranks * sizeof *buffer_of);
}

static uint32_t node_of(const sg_rank *rank)
{
    return sg->wire == NULL ? 0 : rank->first_processor / sg_config_node_processors(&sg->config);
}

bool sg_transport_near(const sg_rank *one, const sg_rank *other)
{
    return node_of(one) == node_of(other);
}

static uint64_t overhead(uint64_t cycles, uint64_t byte_millicycles, size_t bytes)
{
    return cycles + (byte_millicycles * bytes + 999) / 1000;
}

/* Lines that a copying processor has in flight at a time: those of its pipeline. */
static uint32_t lines_together(void)
{
    const sg_config *c = &sg->config;
    if (c->message_near_lines != 0)
        return c->message_near_lines;
    return c->pipeline_misses != 0 ? c->pipeline_misses : (c->memory_parallelism + 500) / 1000;
}

/* References the part of the buffer of `rank` that `bytes` need; longer messages reuse it. */
static void pass_buffer(const sg_rank *rank, size_t bytes, enum sg_access kind, enum sg_category category)
{
    uint64_t line = sg_line_bytes(), lines = (bytes + line - 1) / line + 1; /* one for the header */
    uint64_t *buffer = &buffer_of[rank->number];
    uint32_t together = lines_together(), room = together > 1 ? BUFFER_LINES_TOGETHER : BUFFER_LINES;
    if (*buffer == 0)
        *buffer = sg_variables_of(room, SG_OWN_QUEUE);
    if (together > 1)
        lines = (HEADER_BYTES + bytes + line - 1) / line;
    uint64_t before = sg_now->clock;
    for (uint64_t i = 0; i < lines; i++) {
        sg_now->together = i + 1 < lines ? together : 1; /* the last one is waited for */
        sg_touch(sg_now, *buffer + i % room * line, kind, category);
    }
    sg_observe_talked(sg_now, category, sg_now->clock - before);
}

bool (*sg_message_is_free)(const void *site) = NULL;

/* Is sending and receiving free in this run, for all messages or for those of this call? */
static bool is_free(void)
{
    return (sg->config.ideal & SG_IDEAL_MESSAGES) != 0 ||
           (SG_UNLIKELY(sg_message_is_free != NULL) && sg_message_is_free(sg_self()->call_site));
}

void sg_transport_copy(size_t bytes)
{
    if (is_free())
        return;
    sg_message_charge(SG_CATEGORY_PRIM_PACK, overhead(0, sg->config.message_copy_byte_millicycles, bytes));
}

/* Copies `bytes` within a node, to or from the buffer of `rank`. copy_byte_cycles is the time of the
 * instructions; a processor with several lines in flight overlaps them with the misses, one vector at a
 * time. */
static void copy_near(const sg_rank *rank, size_t bytes, enum sg_access kind, enum sg_category category)
{
    const sg_config *c = &sg->config;
    uint64_t before = sg_now->clock, vector = c->op_millicycles[SG_OP_LOAD] + c->op_millicycles[SG_OP_STORE];
    if (lines_together() <= 1 && kind == SG_WRITE)
        sg_transport_copy(bytes);
    pass_buffer(rank, bytes, kind, category);
    if (lines_together() <= 1 && kind == SG_READ)
        sg_transport_copy(bytes);
    uint64_t least = overhead(0, vector, (bytes + COPIED_BYTES - 1) / COPIED_BYTES),
             passed = sg_now->clock - before;
    if (lines_together() > 1 && passed < least)
        sg_message_charge(category, least - passed);
}

/* Does the operating system copy a message of this size within a node? */
static bool is_single(size_t bytes)
{
    return sg->config.message_near_single_bytes != 0 && bytes >= sg->config.message_near_single_bytes;
}

bool sg_transport_waits(const sg_rank *from, const sg_rank *to, size_t bytes)
{
    return bytes > (node_of(from) == node_of(to) ? from->near_eager_bytes : from->eager_bytes);
}

/* Charges the software overhead at one end of a message. */
static void charge_end(bool near, enum sg_category category, uint64_t cycles, uint64_t byte_millicycles,
                       size_t bytes)
{
    uint64_t own = sg->config.message_near_cycles;
    sg_message_charge(category, near && own != 0 ? own : overhead(cycles, byte_millicycles, bytes));
}

void sg_transport_send(const sg_rank *to, size_t bytes)
{
    const sg_config *c = &sg->config;
    if (is_free())
        return;
    bool near = node_of(to) == node_of(sg_rank_self());
    charge_end(near, SG_CATEGORY_PRIM_SEND, c->message_send_cycles, c->message_send_byte_millicycles, bytes);
    if (!near)
        return;
    copy_near(to, is_single(bytes) ? 0 : bytes, SG_WRITE, SG_CATEGORY_PRIM_SEND);
}

void sg_transport_receive(const sg_rank *from, size_t bytes, bool buffered)
{
    const sg_config *c = &sg->config;
    if (is_free())
        return;
    bool near = node_of(from) == node_of(sg_rank_self());
    charge_end(near, SG_CATEGORY_PRIM_RECEIVE, c->message_receive_cycles, c->message_receive_byte_millicycles,
               bytes);
    if (near)
        copy_near(sg_rank_self(), is_single(bytes) ? 0 : bytes, SG_READ, SG_CATEGORY_PRIM_RECEIVE);
    else if (buffered)
        sg_transport_copy(bytes);
}

void sg_transport_give(size_t bytes)
{
    if (!is_free())
        sg_message_charge(SG_CATEGORY_PRIM_SEND,
                          overhead(0, sg->config.message_collective_byte_millicycles, bytes));
}

uint64_t sg_transport_collective(void)
{
    bool ideal = (sg->config.ideal & SG_IDEAL_NETWORK) != 0;
    return ideal || is_free() ? 0 : sg->config.message_collective_cycles;
}

sg_journey sg_transport(const sg_rank *from, const sg_rank *to, uint64_t now, size_t bytes)
{
    uint32_t source = node_of(from), target = node_of(to);
    if (sg->lockstep || sg->config.ideal & (SG_IDEAL_NETWORK | SG_IDEAL_MESSAGES))
        return (sg_journey){now, now, 0};
    if (source == target) {
        uint64_t there =
            now + (is_single(bytes) ? overhead(0, sg->config.message_near_single_millicycles, bytes) : 0);
        return (sg_journey){there, there, 0};
    }
    sg_transfer t = {.now = now, .from = source, .to = target, .bytes = bytes};
    if (sg->config.ideal & SG_IDEAL_CONTENTION)
        sg_wire_carry_alone(sg->wire, &t);
    else
        sg_wire_carry(sg->wire, &t);
    return (sg_journey){t.free, t.arrival, t.contention};
}
