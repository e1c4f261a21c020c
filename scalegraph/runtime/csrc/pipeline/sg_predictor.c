/* Predictors: what follows a block, given the blocks before it.
 *
 * The kind is TAGE (Seznec and Michaud, JILP 2006), applied to blocks instead of single jumps. Each block
 * records its most frequent successor (sg_way). A quarter of the machine's entries record what followed
 * after 4 blocks, and half of them, together, what followed after 16, 64 and 256, up to the machine's
 * history length. The longest known history decides. A misprediction allocates an entry with a longer
 * history.
 *
 * A block with a single successor so far says nothing: that step is not looked up and enters no history
 * (as in filters of biased branches: Gope and Lipasti, "Bias-Free Branch Predictor", MICRO 2014). The same
 * holds for a block that has gone one way as many times as the longest history has steps, as no history
 * could predict the end of that, and for one that goes another way less than once in 128 times: that is
 * the most a look-up could save. Where look-ups have not been better than the block's own record, only one
 * step in eight is looked up, chosen by its history: a learnable pattern shows in these too.
 *
 * A block that has gone one way equally often SG_REGULAR times, and each time another way after that, is
 * predicted by counting (as loop predictors do: Seznec, "A 64 Kbytes ISL-TAGE Branch Predictor", JWAC-2
 * 2011). Its steps are not looked up and enter no history either, until one is mispredicted.
 *
 * What is hashed of a block is its number among all blocks of the program, by address: it is known without
 * disassembling functions that are never executed.
 *
 * A history is a number to which each step is added and which is then shifted, so a step is forgotten when
 * its last bit is shifted out. The entries of a look-up lie in two cache lines of the host: those for the
 * history of 4 blocks in one selected by it, the others in one selected by the history of 16, each without
 * its last block, so that the lines are prefetched one step ahead (as the Alpha EV8 read the lines of its
 * tables: Seznec, Felix, Krishnan and Sazeides, ISCA 2002). The last block selects the entries in a line. */
#include <sys/mman.h>

#include "sg_predictor.h"
#include "sg_runtime.h"

#define PURPOSE  "the prediction of branches"
#define TABLES   SG_PREDICTOR_TABLES
#define TAG_BITS 12u
#define SUREST   3u
#define IN_LINE  16u
/* After this many look-ups of a block we decide whether they pay: at least one in PAYS must have been right
 * where the block's record was wrong. */
#define LOOKS         4096u
#define LOOKS_SAMPLED 1024u
#define PAYS          64
#define PAYS_SAMPLED  32

typedef struct sg_predicted {
    uint16_t target; /* see code_of; 0: a free entry */
    uint16_t tag : TAG_BITS;
    uint16_t sure : 2, useful : 2;
} sg_predicted;

_Static_assert(IN_LINE * sizeof(sg_predicted) == 64, "a line of the host");

uint32_t sg_predictor_longest = 0;

static struct {
    uint32_t near_bits, line_bits; /* of the index of an entry, and of a line */
    uint32_t tables;
    const uint32_t *names; /* what is hashed of each number */
    size_t ways, bytes;    /* of a predictor */
    char *memory;
} kind = {0};

static const uint32_t length_of[TABLES] = {4, 16, 64, 256};

static uint64_t mix(uint64_t value)
{
    value *= 0x9E3779B97F4A7C15u;
    return value ^ value >> 29;
}

static uint32_t name_of(uint32_t number)
{
    return number & SG_PREDICTOR_NAMED ? number : kind.names[number];
}

/* A tag for the target of an entry: enough to distinguish it from others. */
static uint16_t code_of(uint32_t number)
{
    uint32_t name = name_of(number);
    uint16_t code = (uint16_t)(name ^ name >> 16);
    return code != 0 ? code : UINT16_MAX;
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

void sg_predictor_open(const uint32_t *names, uint32_t numbers)
{
    kind.names = names;
    while (8ull << kind.near_bits <= sg->config.branches_entries)
        kind.near_bits++;
    while (4ull * IN_LINE << kind.line_bits <= sg->config.branches_entries)
        kind.line_bits++;
    while (kind.tables < TABLES && length_of[kind.tables] <= sg->config.branches_history)
        sg_predictor_longest = length_of[kind.tables++];
    kind.ways = whole_lines(numbers * sizeof(sg_way));
    /* One extra line, so that the same offset in two predictors does not map to one set of the host's
     * caches. */
    kind.bytes =
        kind.ways + whole_lines(sizeof(sg_predicted) << kind.near_bits) + (64ull << kind.line_bits) + 64;
    kind.memory = sg_reserve(kind.bytes * sg->processors, PURPOSE);
    madvise(kind.memory, kind.bytes * sg->processors, MADV_HUGEPAGE);
}

void sg_predictor_begin(sg_predictor *q, uint32_t processor)
{
    char *memory = kind.memory + kind.bytes * processor;
    q->way = (sg_way *)memory;
    q->far_table = (sg_predicted *)(memory + kind.ways);
    q->near_table = (sg_predicted *)(memory + kind.ways + (64ull << kind.line_bits));
    q->line[0] = q->ahead[0] = q->near_table;
    q->line[1] = q->ahead[1] = q->far_table;
}

/* The histories have changed: the lines that they select are read one step later. */
static void look_ahead(sg_predictor *q)
{
    q->line[0] = q->ahead[0];
    q->line[1] = q->ahead[1];
    q->ahead[0] = q->near_table + (mix(q->near) >> (63 - kind.near_bits) >> 1) / IN_LINE * IN_LINE;
    q->ahead[1] = q->far_table + (mix(q->middle) >> (63 - kind.line_bits) >> 1) * IN_LINE;
    __builtin_prefetch(q->ahead[0], 1);
    __builtin_prefetch(q->ahead[1], 1);
}

static void remember(sg_predictor *q, uint32_t number)
{
    uint64_t in = mix(name_of(number)), *far = q->farthest;
    q->near = q->near << 16 ^ in >> 48;
    q->middle = q->middle << 4 ^ in;
    q->far = q->far << 1 ^ in;
    far[3] = far[3] << 1 | far[2] >> 63;
    far[2] = far[2] << 1 | far[1] >> 63;
    far[1] = far[1] << 1 | far[0] >> 63;
    far[0] = far[0] << 1 ^ in;
    q->looked = 0;
    look_ahead(q);
}

void sg_predictor_look(sg_predictor *q, uint32_t from)
{
    const uint64_t *far = q->farthest;
    uint64_t own = mix(name_of(from)), near = mix(q->near + own), middle = mix(mix(q->middle) + own);
    uint64_t whole =
        far[0] + 0xD6E8FEB86659FD93u * far[1] + 0xA0761D6478BD642Fu * far[2] + 0xE7037ED1A0B428DBu * far[3];
    uint64_t mixed[TABLES] = {near, middle, mix(q->far + own), mix(whole + own)};
    for (uint32_t i = 0; i < TABLES; i++) {
        q->tag[i] = (uint16_t)(mixed[i] & ((1u << TAG_BITS) - 1));
        q->entry[i] = q->line[i > 0] + (mixed[i] >> TAG_BITS) % IN_LINE;
    }
    q->looked = from;
}

static void learn(sg_predicted *e, uint16_t code)
{
    if (e->target == code)
        e->sure = (e->sure < SUREST ? e->sure + 1u : SUREST) & SUREST;
    else if (e->sure > 0)
        e->sure = (e->sure - 1u) & SUREST;
    else
        e->target = code;
}

/* Allocates an entry for the step, with a longer history than table `from - 1`. */
static void allocate(sg_predictor *q, uint32_t from, uint16_t code)
{
    for (uint32_t i = from; i < kind.tables; i++) {
        sg_predicted *e = q->entry[i];
        if (e->useful == 0) {
            *e = (sg_predicted){.target = code, .tag = q->tag[i] & ((1u << TAG_BITS) - 1)};
            return;
        }
    }
    for (uint32_t i = from; i < kind.tables; i++)
        q->entry[i]->useful = (q->entry[i]->useful - 1u) & SUREST;
}

static void end_run(sg_way *way, uint32_t to)
{
    bool alike = way->varied && way->run == way->length && way->other == to;
    way->regular = alike ? (uint8_t)(way->regular + (way->regular < SG_REGULAR)) : 0;
    way->length = way->run;
    way->other = to;
    way->varied = true;
    way->run = 0;
}

/* Prediction by the most frequent successor. */
static bool learn_way(sg_way *way, uint32_t to)
{
    if (way->next == to || way->next == 0) {
        way->next = to;
        way->run += way->run < sg_predictor_longest;
        way->sure += way->sure < SUREST;
        return true;
    }
    if (way->run >= SG_LONG_RUN)
        way->calm += way->calm < SUREST;
    else
        way->calm -= way->calm > 0;
    end_run(way, to);
    if (way->sure > 0) {
        way->sure--;
    } else {
        way->next = to;
        way->regular = 0;
    }
    return false;
}

/* Prediction that also uses the tables whose histories are longer than `length`; `base` is the prediction
 * without them. */
static bool foresees(sg_predictor *q, uint16_t base, uint16_t code, uint32_t length)
{
    sg_predicted *best = NULL;
    uint16_t first = base, second = base;
    uint32_t from = 0;
    for (uint32_t i = 0; i < kind.tables; i++) {
        sg_predicted *e = q->entry[i];
        if (e->target == 0 || e->tag != q->tag[i] || length_of[i] <= length)
            continue;
        second = first;
        first = e->target;
        best = e;
        from = i + 1;
    }
    bool right = first == code;
    if (best != NULL) {
        if (first != second)
            best->useful = right ? (best->useful < SUREST ? best->useful + 1u : SUREST) & SUREST
                                 : (best->useful > 0 ? best->useful - 1u : 0) & SUREST;
        learn(best, code);
    }
    while (from < kind.tables && length_of[from] <= length)
        from++;
    if (!right)
        allocate(q, from, code);
    return right;
}

/* Records whether looking up the step helped or did harm. */
static void judge(sg_way *way, bool by_way, bool right)
{
    way->gain = (int16_t)(way->gain + right - by_way);
    if (++way->looks < (way->sampled ? LOOKS_SAMPLED : LOOKS))
        return;
    way->sampled = way->gain < (int)way->looks / (way->sampled ? PAYS_SAMPLED : PAYS);
    way->gain = 0;
    way->looks = 0;
}

bool sg_predictor_step(sg_predictor *q, uint32_t from, uint32_t to, uint32_t length)
{
    sg_way *way = &q->way[from];
    if (length >= sg_predictor_longest) { /* the history holds only the steps that it took */
        bool known = way->next != 0;
        way->next = to;
        remember(q, to);
        return !known;
    }
    bool settled = sg_way_is_settled(way), told = !way->varied && way->run < sg_predictor_longest;
    bool regular = !settled && sg_way_is_regular(way);
    if (regular && sg_way_repeats(way, to))
        return true;
    if (regular)
        way->regular = 0;
    uint16_t base = code_of(way->next);
    bool right = learn_way(way, to);
    if (settled && right)
        return true;
    if (settled || !way->sampled || !sg_predictor_leaves_out(q)) {
        bool by_way = right;
        if (q->looked != from)
            sg_predictor_look(q, from);
        if (settled && told)
            allocate(q, 0, code_of(to));
        if (!settled) {
            right = foresees(q, base, code_of(to), length);
            judge(way, by_way, right);
        }
    }
    remember(q, to);
    return right && !regular;
}
