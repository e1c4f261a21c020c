/* The look-up of a predictor: see sg_predictor.c. Private to it and to sg_branch.c. */
#ifndef SG_PREDICTOR_LOOK_H
#define SG_PREDICTOR_LOOK_H

#include "sg_arch.h"
#include "sg_predictor.h"

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

/* The entries of a look-up, their tags if they are for the current histories, and what they held. */
typedef struct found {
    uint32_t *entry[TABLES];
    sg_arch_lanes tags, entries;
} found;

_Static_assert(sizeof(sg_arch_lanes) == TABLES * sizeof(uint32_t), "a lane for each table");

/* Selects the line at offset `mixed >> shift & mask` of a table. */
typedef struct lines {
    uint32_t shift;
    uint64_t mask;
} lines;

/* What all predictors have in common. */
extern struct sg_predictor_kind {
    lines near, far;
    uint32_t all;       /* tables, as a mask */
    word *words;        /* of the numbers */
    size_t ways, bytes; /* of a predictor */
    size_t far_bytes;   /* of its far table */
    char *memory;
} sg_predictor_kind;

static inline uint64_t mix(uint64_t value)
{
    value *= 0x9E3779B97F4A7C15u;
    return value ^ value >> 29;
}

static inline word word_of_name(uint32_t name)
{
    uint16_t code = (uint16_t)(name ^ name >> 16);
    return (word){mix(name), code != 0 ? code : UINT16_MAX};
}

static inline word word_of(uint32_t number)
{
    return SG_UNLIKELY(number & SG_PREDICTOR_NAMED) ? word_of_name(number) : sg_predictor_kind.words[number];
}

/* The line is read one step later. */
static inline void look_ahead(sg_predictor_table *t, uint64_t mixed, const lines *of)
{
    t->line = t->ahead;
    t->ahead = (uint32_t *)(t->lines + (mixed >> of->shift & of->mask));
    __builtin_prefetch(t->ahead, 1);
}

static inline void remember(sg_predictor *q, uint64_t in)
{
    uint64_t *far = q->farthest;
    q->near = q->near << 16 ^ in >> 48;
    q->middle = q->middle << 4 ^ in;
    far[3] = 2 * far[3] + (far[2] >> 63);
    far[2] = 2 * far[2] + (far[1] >> 63);
    far[1] = 2 * far[1] + (far[0] >> 63);
    far[0] = far[0] << 1 ^ in;
    q->mixed = mix(q->middle);
    look_ahead(&q->near_table, mix(q->near), &sg_predictor_kind.near);
    look_ahead(&q->far_table, q->mixed, &sg_predictor_kind.far);
}

/* What the entries, some of which may be the same, hold. */
static inline sg_arch_lanes entries_of(const found *f)
{
    return (sg_arch_lanes){*f->entry[0], *f->entry[1], *f->entry[2], *f->entry[3]};
}

/* Locates the entries for what follows `from`. */
static inline void look(const sg_predictor *q, uint32_t from, found *f)
{
    const uint64_t *far = q->farthest;
    uint64_t own = sg_predictor_kind.words[from].mixed;
    uint64_t whole =
        far[0] + 0xD6E8FEB86659FD93u * far[1] + 0xA0761D6478BD642Fu * far[2] + 0xE7037ED1A0B428DBu * far[3];
    uint64_t mixed[TABLES] = {mix(q->near + own), mix(q->mixed + own), mix(far[0] + own), mix(whole + own)};
    for (uint32_t i = 0; i < TABLES; i++)
        f->entry[i] = (i > 0 ? q->far_table : q->near_table).line + (mixed[i] >> TAG_BITS) % IN_LINE;
    f->tags = (sg_arch_lanes){(uint32_t)mixed[0], (uint32_t)mixed[1], (uint32_t)mixed[2], (uint32_t)mixed[3]};
    f->tags = f->tags << TAG_SHIFT & TAG;
    f->entries = entries_of(f);
}

/* `entry` after its prediction was right or not; `alone`: without it the prediction was another. */
static inline uint32_t learned(uint32_t entry, uint16_t code, bool right, bool alone)
{
    if (right) {
        entry += (uint32_t)(alone & (entry < USEFUL)) * ONE_USEFUL;
        return entry + (uint32_t)((entry & SURE) != SURE) * ONE_SURE;
    }
    entry -= (uint32_t)(alone & (entry >= ONE_USEFUL)) * ONE_USEFUL;
    return entry & SURE ? entry - ONE_SURE : (entry & ~(uint32_t)UINT16_MAX) | code;
}

/* Allocates an entry for a step that these did not predict in one of `tables`, the first one of which the
 * entry is of no use. */
void sg_predictor_allocate(const found *f, uint32_t tables, uint16_t code);

/* Another successor than the most frequent one follows. */
static inline void go_astray(sg_way *way, uint32_t to)
{
    uint32_t marks = way->marks, regular = (marks & SG_WAY_REGULAR) + !(marks & SG_REGULAR);
    uint32_t held = (marks & SG_WAY_SURE) != 0, varied = (marks & SG_WAY_VARIED) != 0;
    uint32_t alike = varied & (way->run == way->length) & (way->other == to);
    if (SG_UNLIKELY(way->run >= SG_LONG_RUN))
        marks += (marks & SG_WAY_CALM) != SG_WAY_CALM ? SG_WAY_ONE_CALM : 0;
    else
        marks -= (marks & SG_WAY_CALM) != 0 ? SG_WAY_ONE_CALM : 0;
    marks = (marks & ~(uint32_t)SG_WAY_REGULAR) | SG_WAY_VARIED | (regular & -(alike & held));
    way->marks = marks - held * SG_WAY_ONE_SURE;
    way->length = way->run;
    way->run = 0;
    way->other = to;
    way->next ^= (way->next ^ to) & (held - 1);
}

static inline uint32_t highest(uint32_t bits)
{
    return 31 ^ (uint32_t)__builtin_clz(bits);
}

/* Prediction that also uses `tables`; `base` is the prediction without them. */
static inline bool foresees(const found *f, uint16_t base, uint16_t code, uint32_t tables)
{
    sg_arch_lanes matches = ((f->entries ^ f->tags) & TAG) == 0 & f->entries != 0;
    uint32_t known = sg_arch_set_lanes(matches) & tables;
    bool right = base == code;
    if (SG_LIKELY(known != 0)) {
        uint32_t best = highest(known), rest = known ^ 1u << best, entry = *f->entry[best];
        uint16_t other = TARGET(*f->entry[highest(rest | 1)]), second = rest != 0 ? other : base;
        right = TARGET(entry) == code;
        *f->entry[best] = learned(entry, code, right, TARGET(entry) != second);
        tables &= ~1u << best;
    }
    if (!right)
        sg_predictor_allocate(f, tables, code);
    return right;
}

/* Have the look-ups of the block paid? They are counted from now on anew. */
static inline void decide(sg_way *way)
{
    bool sampled = way->marks & SG_WAY_SAMPLED;
    int32_t gain = (int16_t)way->looks, looks = sampled ? LOOKS_SAMPLED : LOOKS;
    bool pays = gain >= looks / (sampled ? PAYS_SAMPLED : PAYS);
    way->marks = (way->marks & ~(uint32_t)SG_WAY_SAMPLED) | (pays ? 0 : SG_WAY_SAMPLED);
    way->looks = 0;
}

/* Records whether looking up the step helped or did harm. */
static inline void judge(sg_way *way, bool by_way, bool right)
{
    uint32_t most = (way->marks & SG_WAY_SAMPLED ? LOOKS_SAMPLED : LOOKS) * SG_LOOK - SG_LOOK / 2;
    way->looks += SG_LOOK + right - by_way;
    if (SG_UNLIKELY(way->looks >= most))
        decide(way);
}

/* A step to `in`, number `to`, that is predicted by look-up, or left out of it; `base`: the code of the most
 * frequent successor; `tables`: those that are used. */
static inline bool sg_predictor_look_up(sg_predictor *q, uint32_t from, uint32_t to, word in, uint16_t base,
                                        uint32_t tables)
{
    sg_way *way = &q->way[from];
    bool by_way = way->next == to, left_out = (way->marks & SG_WAY_SAMPLED) && sg_predictor_leaves_out(q);
    found f;
    if (!left_out)
        look(q, from, &f);
    if (by_way)
        sg_way_go_on(way, true);
    else
        go_astray(way, to);
    remember(q, in.mixed); /* while the host waits for the entries */
    if (left_out)
        return by_way;
    bool right = foresees(&f, base, in.code, tables);
    judge(way, by_way, right);
    return right;
}

#endif
