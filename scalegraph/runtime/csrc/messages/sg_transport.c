/* The time that a message takes: what it costs its sender and its receiver, and its way between them. Between
 * nodes it goes over the interconnect; within a node the sender writes it into memory, from where the
 * receiver reads it, with the references that this takes. */
#include "sg_message.h"
#include "sg_wire.h"

/* Lines of memory of each rank through which messages of the same node come. */
#define BUFFER_LINES 512u

static uint64_t *buffer_of = NULL; /* by rank: address, 0: none yet */

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

/* References to as much of the buffer of `rank` as `bytes` need; longer messages use it several times. */
static void pass_buffer(const sg_rank *rank, size_t bytes, enum sg_access kind, enum sg_category category)
{
    uint64_t line = sg_line_bytes(), lines = (bytes + line - 1) / line;
    uint64_t *buffer = &buffer_of[rank->number];
    if (*buffer == 0)
        *buffer = sg_variables_of(BUFFER_LINES, SG_OWN_QUEUE);
    uint64_t before = sg_now->clock;
    for (uint64_t i = 0; i <= lines; i++) /* one more for what describes the message */
        sg_touch(sg_now, *buffer + i % BUFFER_LINES * line, kind, category);
    sg_observe_talked(sg_now, category, sg_now->clock - before);
}

bool (*sg_message_is_free)(const void *site) = NULL;

/* Messages take no time in this run, nor do sending and receiving them: all, or those of this call. */
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

void sg_transport_send(const sg_rank *to, size_t bytes)
{
    const sg_config *c = &sg->config;
    if (is_free())
        return;
    sg_message_charge(SG_CATEGORY_PRIM_SEND,
                      overhead(c->message_send_cycles, c->message_send_byte_millicycles, bytes));
    if (node_of(to) != node_of(sg_rank_self()))
        return;
    sg_transport_copy(bytes);
    pass_buffer(to, bytes, SG_WRITE, SG_CATEGORY_PRIM_SEND);
}

void sg_transport_receive(const sg_rank *from, size_t bytes, bool buffered)
{
    const sg_config *c = &sg->config;
    if (is_free())
        return;
    bool near = node_of(from) == node_of(sg_rank_self());
    sg_message_charge(SG_CATEGORY_PRIM_RECEIVE,
                      overhead(c->message_receive_cycles, c->message_receive_byte_millicycles, bytes));
    if (near)
        pass_buffer(sg_rank_self(), bytes, SG_READ, SG_CATEGORY_PRIM_RECEIVE);
    if (near || buffered)
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
    if (source == target || sg->lockstep || sg->config.ideal & (SG_IDEAL_NETWORK | SG_IDEAL_MESSAGES))
        return (sg_journey){now, now, 0};
    sg_transfer t = {.now = now, .from = source, .to = target, .bytes = bytes};
    if (sg->config.ideal & SG_IDEAL_CONTENTION)
        sg_wire_carry_alone(sg->wire, &t);
    else
        sg_wire_carry(sg->wire, &t);
    return (sg_journey){t.free, t.arrival, t.contention};
}
