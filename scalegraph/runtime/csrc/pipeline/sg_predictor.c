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
#define IN_LINE  16u
/* After this many look-ups of a block we decide whether they pay: at least one in PAYS must have been right
 * where the block's record was wrong. */
#define LOOKS         4096u
#define LOOKS_SAMPLED 1024u
#define PAYS          64
#define PAYS_SAMPLED  32

/* An entry: a code of its target (0: it is free), a tag, how sure it is and how useful, 0 to 3 each. */
#define TARGET(entry) ((uint16_t)(entry))
#define TAG           0x0FFF0000u
#define TAG_SHIFT     16
#define SURE          0x30000000u
#define ONE_SURE      0x10000000u
#define USEFUL        0xC0000000u
#define ONE_USEFUL    0x40000000u

_Static_assert(IN_LINE * sizeof(uint32_t) == 64, "a line of the host");

/* What a number is in histories and in entries. */
typedef struct word {
    uint64_t mixed;
    uint16_t code; /* enough to distinguish it from others; not 0 */
} word;

/* The entries of a look-up, and their tags if they are for the current histories. */
typedef struct found {
    uint32_t *entry[TABLES], tag[TABLES];
} found;

uint32_t sg_predictor_longest = 0;

static struct {
    uint32_t near_bits, line_bits; /* of the index of an entry, and of a line */
    uint32_t tables;
    word *words;        /* of the numbers */
    size_t ways, bytes; /* of a predictor */
    char *memory;
} kind = {0};

static const uint32_t length_of[TABLES] = {4, 16, 64, 256};

static uint64_t mix(uint64_t value)
{
    value *= 0x9E3779B97F4A7C15u;
    return value ^ value >> 29;
}

static word word_of_name(uint32_t name)
{
    uint16_t code = (uint16_t)(name ^ name >> 16);
    return (word){mix(name), code != 0 ? code : UINT16_MAX};
}

static inline word word_of(uint32_t number)
{
    return SG_UNLIKELY(number & SG_PREDICTOR_NAMED) ? word_of_name(number) : kind.words[number];
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

void sg_predictor_open(const uint32_t *names, uint32_t numbers)
{
    kind.words = sg_new(numbers * sizeof *kind.words);
    for (uint32_t i = 0; i < numbers; i++)
        kind.words[i] = word_of_name(names[i]);
    while (8ull << kind.near_bits <= sg->config.branches_entries)
        kind.near_bits++;
    while (4ull * IN_LINE << kind.line_bits <= sg->config.branches_entries)
        kind.line_bits++;
    while (kind.tables < TABLES && length_of[kind.tables] <= sg->config.branches_history)
        sg_predictor_longest = length_of[kind.tables++];
    kind.ways = whole_lines(numbers * sizeof(sg_way));
    /* One extra line, so that the same offset in two predictors does not map to one set of the host's
     * caches. */
    kind.bytes = kind.ways + whole_lines(sizeof(uint32_t) << kind.near_bits) + (64ull << kind.line_bits) + 64;
    kind.memory = sg_reserve(kind.bytes * sg->processors, PURPOSE);
    madvise(kind.memory, kind.bytes * sg->processors, MADV_HUGEPAGE);
}

void sg_predictor_begin(sg_predictor *q, uint32_t processor)
{
    char *memory = kind.memory + kind.bytes * processor;
    q->way = (sg_way *)memory;
    q->far_table = (uint32_t *)(memory + kind.ways);
    q->near_table = (uint32_t *)(memory + kind.ways + (64ull << kind.line_bits));
    q->line[0] = q->ahead[0] = q->near_table;
    q->line[1] = q->ahead[1] = q->far_table;
}

/* The histories have changed: the lines that they select are read one step later. */
static inline void look_ahead(sg_predictor *q)
{
    q->line[0] = q->ahead[0];
    q->line[1] = q->ahead[1];
    q->ahead[0] = q->near_table + (mix(q->near) >> (63 - kind.near_bits) >> 1) / IN_LINE * IN_LINE;
    q->ahead[1] = q->far_table + (mix(q->middle) >> (63 - kind.line_bits) >> 1) * IN_LINE;
    __builtin_prefetch(q->ahead[0], 1);
    __builtin_prefetch(q->ahead[1], 1);
}

static inline void remember(sg_predictor *q, uint64_t in)
{
    uint64_t *far = q->farthest;
    q->near = q->near << 16 ^ in >> 48;
    q->middle = q->middle << 4 ^ in;
    q->far = q->far << 1 ^ in;
    far[3] = far[3] << 1 | far[2] >> 63;
    far[2] = far[2] << 1 | far[1] >> 63;
    far[1] = far[1] << 1 | far[0] >> 63;
    far[0] = far[0] << 1 ^ in;
    look_ahead(q);
}

/* Locates the entries for what follows `from`. */
static inline void look(const sg_predictor *q, uint32_t from, found *f)
{
    const uint64_t *far = q->farthest;
    uint64_t own = kind.words[from].mixed;
    uint64_t whole =
        far[0] + 0xD6E8FEB86659FD93u * far[1] + 0xA0761D6478BD642Fu * far[2] + 0xE7037ED1A0B428DBu * far[3];
    uint64_t mixed[TABLES] = {mix(q->near + own), mix(mix(q->middle) + own), mix(q->far + own),
                              mix(whole + own)};
    for (uint32_t i = 0; i < TABLES; i++) {
        f->tag[i] = (uint32_t)mixed[i] << TAG_SHIFT & TAG;
        f->entry[i] = q->line[i > 0] + (mixed[i] >> TAG_BITS) % IN_LINE;
    }
}

/* `entry` after its prediction was right or not; `alone`: without it the prediction was another. */
static inline uint32_t learned(uint32_t entry, uint16_t code, bool right, bool alone)
{
    if (right) {
        entry += alone && entry < USEFUL ? ONE_USEFUL : 0;
        return entry + ((entry & SURE) != SURE ? ONE_SURE : 0);
    }
    entry -= alone && entry >= ONE_USEFUL ? ONE_USEFUL : 0;
    return entry & SURE ? entry - ONE_SURE : (entry & ~(uint32_t)UINT16_MAX) | code;
}

/* Allocates an entry for the step in one of `tables`, the first one of which the entry is of no use. */
static inline void allocate(const found *f, uint32_t tables, uint16_t code)
{
    uint32_t useless = 0;
    for (uint32_t i = 0; i < TABLES; i++)
        useless |= (uint32_t)(*f->entry[i] < ONE_USEFUL) << i;
    useless &= tables;
    if (useless != 0) {
        uint32_t i = (uint32_t)__builtin_ctz(useless);
        *f->entry[i] = f->tag[i] | code;
        return;
    }
    for (; tables != 0; tables &= tables - 1)
        *f->entry[__builtin_ctz(tables)] -= ONE_USEFUL;
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
        way->sure += way->sure < SG_SUREST;
        return true;
    }
    if (way->run >= SG_LONG_RUN)
        way->calm += way->calm < SG_SUREST;
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

static inline uint32_t all_tables(void)
{
    return (1u << kind.tables) - 1;
}

static inline uint32_t highest(uint32_t bits)
{
    return 31 - (uint32_t)__builtin_clz(bits);
}

/* Prediction that also uses the tables whose histories are longer than `length`; `base` is the prediction
 * without them. */
static inline bool foresees(const found *f, uint16_t base, uint16_t code, uint32_t length)
{
    uint32_t tables = all_tables(), known = 0;
    for (uint32_t i = 0; length_of[i] <= length; i++)
        tables &= tables - 1;
    for (uint32_t i = 0; i < TABLES; i++)
        known |= (uint32_t)((*f->entry[i] & TAG) == f->tag[i] && TARGET(*f->entry[i]) != 0) << i;
    known &= tables;
    bool right = base == code;
    if (known != 0) {
        uint32_t best = highest(known), rest = known ^ 1u << best, entry = *f->entry[best];
        uint16_t second = rest != 0 ? TARGET(*f->entry[highest(rest)]) : base;
        right = TARGET(entry) == code;
        *f->entry[best] = learned(entry, code, right, TARGET(entry) != second);
        tables &= ~1u << best;
    }
    if (!right)
        allocate(f, tables, code);
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

/* The step ends something that took longer than the longest history, which holds only the steps it took. */
static __attribute__((noinline)) bool step_alone(sg_predictor *q, sg_way *way, uint32_t to)
{
    bool known = way->next != 0;
    way->next = to;
    remember(q, word_of(to).mixed);
    return !known;
}

/* A step of a settled block that goes another way; `told`: for the first time. */
static __attribute__((noinline)) bool step_astray(sg_predictor *q, uint32_t from, word in, bool told)
{
    if (told) {
        found f;
        look(q, from, &f);
        allocate(&f, all_tables(), in.code);
    }
    remember(q, in.mixed);
    return false;
}

bool sg_predictor_step(sg_predictor *q, uint32_t from, uint32_t to, uint32_t length)
{
    sg_way *way = &q->way[from];
    if (SG_UNLIKELY(length >= sg_predictor_longest))
        return step_alone(q, way, to);
    bool settled = sg_way_is_settled(way), told = !way->varied && way->run < sg_predictor_longest;
    bool regular = !settled && sg_way_is_regular(way);
    if (regular && sg_way_repeats(way, to))
        return true;
    if (regular)
        way->regular = 0;
    uint32_t usual = way->next;
    bool by_way = learn_way(way, to), right = by_way;
    if (settled && right)
        return true;
    word in = word_of(to);
    if (settled)
        return step_astray(q, from, in, told);
    if (!way->sampled || !sg_predictor_leaves_out(q)) {
        found f;
        look(q, from, &f);
        right = foresees(&f, word_of(usual).code, in.code, length);
        judge(way, by_way, right);
    }
    remember(q, in.mixed);
    return right && !regular;
}
