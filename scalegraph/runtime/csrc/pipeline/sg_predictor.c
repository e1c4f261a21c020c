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

#include "sg_predictor_look.h"
#include "sg_runtime.h"

#define PURPOSE "the prediction of branches"

uint32_t sg_predictor_longest = 0;
struct sg_predictor_kind sg_predictor_kind = {0};

static const uint32_t length_of[TABLES] = {4, 16, 64, 256};

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* The lines of a table with 1 << `bits` of them. */
static lines lines_of(uint32_t bits)
{
    return (lines){58 - bits, ((1ull << bits) - 1) << 6};
}

void sg_predictor_open(const uint32_t *names, uint32_t numbers)
{
    sg_predictor_kind.words = sg_new(numbers * sizeof *sg_predictor_kind.words);
    for (uint32_t i = 0; i < numbers; i++)
        sg_predictor_kind.words[i] = word_of_name(names[i]);
    uint32_t near = 0, far = 0, tables = 0;
    while (8ull * IN_LINE << near <= sg->config.branches_entries)
        near++;
    while (4ull * IN_LINE << far <= sg->config.branches_entries)
        far++;
    while (tables < TABLES && length_of[tables] <= sg->config.branches_history)
        sg_predictor_longest = length_of[tables++];
    sg_predictor_kind.all = (1u << tables) - 1;
    sg_predictor_kind.near = lines_of(near);
    sg_predictor_kind.far = lines_of(far);
    sg_predictor_kind.ways = whole_lines(numbers * sizeof(sg_way));
    sg_predictor_kind.far_bytes = 64ull << far;
    /* One extra line, so that the same offset in two predictors does not map to one set of the host's
     * caches. */
    sg_predictor_kind.bytes = sg_predictor_kind.ways + sg_predictor_kind.far_bytes + (64ull << near) + 64;
    sg_predictor_kind.memory = sg_reserve(sg_predictor_kind.bytes * sg->processors, PURPOSE);
    madvise(sg_predictor_kind.memory, sg_predictor_kind.bytes * sg->processors, MADV_HUGEPAGE);
}

static sg_predictor_table table_at(char *lines)
{
    return (sg_predictor_table){lines, (uint32_t *)lines, (uint32_t *)lines};
}

void sg_predictor_begin(sg_predictor *q, uint32_t processor)
{
    char *memory = sg_predictor_kind.memory + sg_predictor_kind.bytes * processor;
    q->way = (sg_way *)memory;
    q->far_table = table_at(memory + sg_predictor_kind.ways);
    q->near_table = table_at(memory + sg_predictor_kind.ways + sg_predictor_kind.far_bytes);
}

void sg_predictor_allocate(const found *f, uint32_t tables, uint16_t code)
{
    uint32_t useless = sg_arch_set_lanes((sg_arch_lanes)(entries_of(f) < ONE_USEFUL)) & tables;
    if (useless != 0) {
        uint32_t i = (uint32_t)__builtin_ctz(useless);
        *f->entry[i] = f->tags[i] | code;
        return;
    }
    for (; tables != 0; tables &= tables - 1)
        *f->entry[__builtin_ctz(tables)] -= ONE_USEFUL;
}

/* Prediction by the most frequent successor. */
static bool learn_way(sg_way *way, uint32_t to)
{
    if (way->next == 0)
        way->next = to;
    bool right = way->next == to;
    if (right)
        sg_way_go_on(way, true);
    else
        go_astray(way, to);
    return right;
}

/* The tables whose histories are longer than `length`. */
static uint32_t longer_than(uint32_t length)
{
    uint32_t tables = sg_predictor_kind.all;
    for (uint32_t i = 0; length_of[i] <= length; i++)
        tables &= tables - 1;
    return tables;
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
        sg_predictor_allocate(&f, sg_predictor_kind.all, in.code);
    }
    remember(q, in.mixed);
    return false;
}

bool sg_predictor_step(sg_predictor *q, uint32_t from, uint32_t to, uint32_t length)
{
    sg_way *way = &q->way[from];
    if (SG_UNLIKELY(length >= sg_predictor_longest))
        return step_alone(q, way, to);
    bool told = !(way->marks & SG_WAY_VARIED) && way->run < sg_predictor_longest;
    if (sg_way_is_settled(way))
        return learn_way(way, to) || step_astray(q, from, word_of(to), told);
    bool regular = sg_way_is_regular(way);
    if (regular && sg_way_repeats(way, to))
        return true;
    if (regular)
        way->marks &= ~(uint32_t)SG_WAY_REGULAR;
    uint16_t base = word_of(way->next).code;
    bool right = sg_predictor_look_up(q, from, to, word_of(to), base, longer_than(length));
    return right && !regular;
}
