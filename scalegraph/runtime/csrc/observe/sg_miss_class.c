/* Misses by class: cold, capacity, conflict, true sharing, false sharing, upgrade. Only when run.collect
 * asks for it, because it needs every reference: the hooks' filter then never hits.
 *
 * A miss of a line that the processor never referenced before is cold. A miss of a replaced line is a
 * capacity miss, or a conflict miss if a fully associative LRU cache of the same size, fed with the same
 * references, still has the line. A miss of an invalidated line is a sharing miss: true if, before the
 * line is lost again, the processor uses a word that another one wrote since the processor's last
 * essential miss of the line, else false (M. Dubois and others, The detection and elimination of useless
 * misses in multiprocessors, ISCA 1993; a replacement miss is essential, a false sharing miss is not). So
 * a sharing miss is counted when this becomes known, at the place that missed. Words have four bytes: use
 * of different bytes of one word counts as true sharing.
 *
 * Epochs record whether a word was written since: a line's epoch grows whenever a processor obtains the
 * line or write permission, and a written word takes its line's epoch. */
#include "sg_cause.h"
#include "sg_mem_state.h"
#include "sg_observers.h"
#include "sg_table.h"
#include "sg_variable.h"

#define WORD_SHIFT  2
#define MOST_NODES  (1u << 28)
#define MOST_LINES  (1u << 26)
#define NEAR        64u
#define KNOWN       64u
#define LEAST       (1u << 16) /* entries of a table */
#define SHOWN_LINES 256u       /* with false sharing, in the result file */

#define PURPOSE "the classes of misses"

enum { HELD, REPLACED, INVALIDATED };

/* Where a miss is counted. */
typedef struct place {
    uint32_t region, cause, site, variable;
} place;

/* A line as one processor sees it. */
typedef struct node {
    uint64_t line;
    uint64_t read, written; /* bit masks of parts of the line, see sg_shared_line.grain */
    uint32_t processor;
    uint32_t record;         /* number of the line's record */
    uint32_t newer, older;   /* in the fully associative cache */
    uint32_t seen;           /* epoch of the last essential miss: writes up to then have been seen */
    uint32_t fetched;        /* epoch of the last miss */
    uint32_t reader, writer; /* sites */
    place missed;            /* of a sharing miss not yet classified as true or false */
    bool pending, cached;
    uint8_t state;
} node;

typedef struct word {
    uint32_t epoch;  /* of the line, at its last write */
    uint32_t writer; /* processor + 1 */
} word;

/* A line as all its sharers see it: its epoch grows whenever somebody obtains it. The same address on two
 * nodes, or of two ranks' static data, counts as two lines. */
typedef struct record {
    uint64_t line;
    uint64_t classes[SG_CLASS_COUNT];
    uint32_t epoch;
    uint32_t shown; /* index in the result file */
    word words[];
} record;

/* A fully associative cache: most and least recently used node. */
typedef struct lru {
    uint32_t newest, oldest, count;
    uint32_t near[NEAR]; /* recently referenced nodes, by line */
} lru;

/* What was last found at an address. */
typedef struct extent {
    uint64_t start, end;
    uint32_t variable;
} extent;

typedef struct sg_classes {
    sg_table nodes, records; /* numbers, by line and processor or by line and node */
    node *node;              /* by number */
    char *record;            /* by number */
    size_t record_bytes;
    uint32_t nodes_count, records_count;
    lru *lru;
    uint64_t capacity; /* lines of one processor's private caches */
    uint32_t line_shift, grain_shift;
    uint64_t (*of_site)[SG_CLASS_COUNT];
    extent known[KNOWN];
    uint64_t births; /* of heap blocks, at the time of the lookup */
} sg_classes;

static sg_classes *classes = NULL;

/* ---- tables ---- */

static record *record_of(const sg_classes *c, uint32_t number)
{
    return (record *)(void *)(c->record + (size_t)number * c->record_bytes);
}

static uint64_t key_of(uint64_t line, uint32_t processor)
{
    return line << SG_KEY_BITS | processor;
}

static void refuse(void)
{
    sg_stop(SG_STATUS_INTERNAL, "the program uses more lines than misses can be classified for");
}

static uint32_t find_record(sg_classes *c, uint64_t line, uint32_t p)
{
    uint32_t number = p;
    const sg_mem *mem = sg_mem_part(sg->mem, &number);
    uint64_t own = sg_mem_global(mem, number, line << c->line_shift) >> c->line_shift;
    sg_table_entry *entry = sg_table_make(&c->records, key_of(own, p - number), LEAST);
    if (entry->number == 0) {
        if (c->records_count == MOST_LINES)
            refuse();
        entry->number = c->records_count++;
        record_of(c, (uint32_t)entry->number)->line = line;
    }
    return (uint32_t)entry->number;
}

/* The node of `line` for processor `p`, or NULL. */
static node *find(sg_classes *c, uint32_t p, uint64_t line)
{
    uint32_t near = c->lru[p].near[line % NEAR];
    if (c->node[near].line == line && near != 0)
        return &c->node[near];
    const sg_table_entry *entry = sg_table_find(&c->nodes, key_of(line, p));
    return entry != NULL ? &c->node[entry->number] : NULL;
}

static node *make(sg_classes *c, uint32_t p, uint64_t line)
{
    if (c->nodes_count == MOST_NODES)
        refuse();
    uint32_t number = c->nodes_count++;
    node *n = &c->node[number];
    n->line = line;
    n->processor = p;
    n->record = find_record(c, line, p);
    sg_table_make(&c->nodes, key_of(line, p), LEAST)->number = number;
    return n;
}

/* ---- the fully associative cache ---- */

static void take_out(sg_classes *c, node *n)
{
    lru *of = &c->lru[n->processor];
    *(n->newer ? &c->node[n->newer].older : &of->newest) = n->older;
    *(n->older ? &c->node[n->older].newer : &of->oldest) = n->newer;
    n->cached = false;
    of->count--;
}

static void to_front(sg_classes *c, node *n)
{
    lru *of = &c->lru[n->processor];
    uint32_t number = (uint32_t)(n - c->node);
    of->near[n->line % NEAR] = number;
    if (of->newest == number)
        return;
    if (n->cached)
        take_out(c, n);
    else if (of->count == c->capacity)
        take_out(c, &c->node[of->oldest]);
    n->newer = 0;
    n->older = of->newest;
    *(of->newest ? &c->node[of->newest].newer : &of->oldest) = number;
    of->newest = number;
    n->cached = true;
    of->count++;
}

/* ---- classes ---- */

static void count(sg_classes *c, uint32_t number, const place *at, enum sg_miss_class class)
{
    sg_cause_class(at->region, at->cause, class);
    c->of_site[at->site][class]++;
    sg_variable_number(at->variable)->classes[class]++;
    record_of(c, number)->classes[class]++;
}

static void decide(sg_classes *c, node *n, bool is_true)
{
    if (!n->pending)
        return;
    n->pending = false;
    if (is_true)
        n->seen = n->fetched;
    count(c, n->record, &n->missed, is_true ? SG_CLASS_TRUE_SHARING : SG_CLASS_FALSE_SHARING);
}

/* Mask bits for the bytes from `offset` on. */
static uint64_t parts(const sg_classes *c, uint64_t offset, uint64_t size)
{
    uint64_t first = offset >> c->grain_shift, last = (offset + size - 1) >> c->grain_shift;
    return (2ull << last) - (1ull << first); /* 2 << 63 is 0, as intended */
}

/* The processor uses `size` bytes of a line that it has. */
static void use(sg_classes *c, node *n, uint64_t address, uint64_t size, enum sg_access kind,
                const void *site)
{
    record *r = record_of(c, n->record);
    uint64_t offset = address & ((1ull << c->line_shift) - 1);
    uint32_t first = (uint32_t)(offset >> WORD_SHIFT), last = (uint32_t)((offset + size - 1) >> WORD_SHIFT);
    if (n->pending)
        for (uint32_t i = first; i <= last; i++)
            if (r->words[i].epoch > n->seen && r->words[i].writer != n->processor + 1)
                decide(c, n, true);
    uint32_t number = (uint32_t)(sg_site_of(site) - sg->sites);
    if (kind != SG_READ) {
        for (uint32_t i = first; i <= last; i++)
            r->words[i] = (word){r->epoch, n->processor + 1};
        n->written |= parts(c, offset, size);
        n->writer = number;
    }
    if (kind != SG_WRITE) {
        n->read |= parts(c, offset, size);
        n->reader = number;
    }
    to_front(c, n);
}

static void note_hit(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind, const void *site)
{
    sg_classes *c = classes;
    uint64_t line = address >> c->line_shift;
    node *n = find(c, p->id, line);
    if (n == NULL || n->state != HELD) { /* it came without a miss: with its page, or prefetched */
        if (n == NULL)
            n = make(c, p->id, line);
        n->state = HELD;
        n->seen = n->fetched = ++record_of(c, n->record)->epoch;
    }
    use(c, n, address, size, kind, site);
}

static bool filter_answers(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind,
                           const void *site)
{
    const sg_filter *filter = sg_mem_filter(sg->mem, p->id);
    uint64_t line = address >> filter->shift;
    if (!sg_filter_answers(filter->first[line & filter->mask], line, kind == SG_READ))
        return false;
    note_hit(p, address, size, kind, site);
    sg_loop_lines_use(p, address);
    return true;
}

/* Classifies a miss, unless its class depends on what follows. */
static void classify(sg_classes *c, node *n, const place *at, bool is_new, bool is_upgrade)
{
    if (is_upgrade)
        count(c, n->record, at, SG_CLASS_UPGRADE);
    else if (is_new)
        count(c, n->record, at, SG_CLASS_COLD);
    else if (n->state == INVALIDATED)
        n->missed = *at;
    else
        count(c, n->record, at, n->cached ? SG_CLASS_CONFLICT : SG_CLASS_CAPACITY);
    n->pending |= !is_upgrade && !is_new && n->state == INVALIDATED;
}

static void note_reference(sg_processor *p, const sg_pending *r, const sg_outcome *o)
{
    sg_classes *c = classes;
    uint64_t line = r->address >> c->line_shift, start, end;
    node *n = find(c, p->id, line);
    bool is_new = n == NULL, missed = o->count[SG_COUNTER_MISSES] != 0;
    bool is_upgrade = o->count[SG_COUNTER_UPGRADES] != 0;
    if (is_new)
        n = make(c, p->id, line);
    if (missed) {
        place at = {p->account->rest.region, r->cause, (uint32_t)(sg_site_of(p->site) - sg->sites),
                    sg_variable_at(r->address, &start, &end)};
        classify(c, n, &at, is_new, is_upgrade);
    }
    if (is_new || missed || n->state != HELD) {
        uint32_t epoch = ++record_of(c, n->record)->epoch;
        if (!is_upgrade) {
            n->fetched = epoch;
            n->seen = n->pending ? n->seen : epoch;
        }
    }
    n->state = HELD;
    use(c, n, r->address, r->size, (enum sg_access)r->kind, p->site);
}

/* The private caches of processor `p` lose `line`; called by the memory system. */
static void lost(uint32_t p, uint64_t line, int invalidated)
{
    sg_classes *c = classes;
    node *n = find(c, p, line);
    if (n == NULL)
        return; /* never referenced: it came with its page, or was prefetched */
    decide(c, n, false);
    n->state = invalidated ? INVALIDATED : REPLACED;
    if (invalidated && n->cached)
        take_out(c, n);
}

static void count_references(uint64_t address, uint64_t references)
{
    sg_classes *c = classes;
    extent *e = &c->known[address >> 12 & (KNOWN - 1)];
    if (address - e->start >= e->end - e->start || c->births != sg_variable_births()) {
        if (c->births != sg_variable_births())
            memset(c->known, 0, sizeof c->known);
        c->births = sg_variable_births();
        e->variable = sg_variable_at(address, &e->start, &e->end);
    }
    sg_variable_number(e->variable)->references += references;
}

/* ---- begin and end ---- */

static bool open_classes(void)
{
    if (!(sg->config.collect & SG_COLLECT_CLASSES))
        return false;
    sg_classes *c = sg_new(sizeof *c);
    const sg_mem *mem = sg_mem_any(sg->mem);
    const sg_cache *last = &mem->level[mem->private_levels - 1];
    c->line_shift = mem->line_shift;
    c->grain_shift = c->line_shift > 6 + WORD_SHIFT ? c->line_shift - 6 : WORD_SHIFT;
    c->capacity = last->sets * last->ways;
    c->record_bytes = sizeof(record) + (sizeof(word) << (c->line_shift - WORD_SHIFT));
    c->node = sg_reserve(MOST_NODES * sizeof(node), PURPOSE);
    c->record = sg_reserve(MOST_LINES * c->record_bytes, PURPOSE);
    c->nodes_count = c->records_count = 1;
    c->lru = sg_new(sg->processors * sizeof *c->lru);
    c->of_site = sg_reserve(((sg->text_high - sg->text_low) / 5 + 2) * sizeof *c->of_site, PURPOSE);
    classes = c;
    sg_mem_watch(sg->mem, lost);
    uint64_t *nothing = sg_new(sizeof *nothing);
    for (uint32_t i = 0; i < sg->processors; i++) { /* every reference reaches us */
        sg->processor[i].filter = nothing;
        sg->processor[i].mask = 0;
        sg->processor[i].rest_ways = 0;
    }
    return true;
}

static void close_classes(void)
{
    sg_classes *c = classes;
    for (uint32_t i = 1; c != NULL && i < c->nodes_count; i++)
        decide(c, &c->node[i], false);
}

static void complete_site(uint32_t number, sg_site *site)
{
    memcpy(site->classes, classes->of_site[number], sizeof site->classes);
}

/* ---- lines with false sharing ---- */

/* How many false sharing misses put a line among the first SHOWN_LINES. */
static uint64_t threshold(const sg_classes *c)
{
    uint64_t least = 1;
    for (;; least *= 2) {
        uint32_t lines = 0;
        for (uint32_t i = 1; i < c->records_count; i++)
            lines += record_of(c, i)->classes[SG_CLASS_FALSE_SHARING] >= least;
        if (lines <= SHOWN_LINES)
            return least;
    }
}

static bool is_shown(const record *r, uint64_t least)
{
    return r->classes[SG_CLASS_FALSE_SHARING] >= least;
}

static uint64_t put_lines(struct sg_writer *w)
{
    const sg_classes *c = classes;
    uint64_t number = 0, least = c != NULL ? threshold(c) : 0;
    for (uint32_t i = 1; c != NULL && i < c->records_count; i++) {
        record *r = record_of(c, i);
        if (!is_shown(r, least))
            continue;
        r->shown = (uint32_t)number;
        sg_shared_line line = {.address = r->line << c->line_shift, .bytes = 1u << c->line_shift};
        line.grain = 1u << c->grain_shift;
        memcpy(line.classes, r->classes, sizeof line.classes);
        sg_put(w, &line, sizeof line);
        number++;
    }
    return number;
}

static uint64_t put_users(struct sg_writer *w)
{
    const sg_classes *c = classes;
    uint64_t number = 0, least = c != NULL ? threshold(c) : 0;
    for (uint32_t i = 1; c != NULL && i < c->nodes_count; i++) {
        const node *n = &c->node[i];
        if (!is_shown(record_of(c, n->record), least))
            continue;
        sg_line_user user = {.line = n->line << c->line_shift, .processor = n->processor};
        user.shared = record_of(c, n->record)->shown;
        user.read = n->read;
        user.written = n->written;
        user.reader = sg->sites[n->reader].address;
        user.writer = sg->sites[n->writer].address;
        sg_put(w, &user, sizeof user);
        number++;
    }
    return number;
}

/* The variables in one line. */
static uint64_t put_parts(struct sg_writer *w, uint64_t line, uint64_t line_end)
{
    uint64_t number = 0;
    for (uint64_t at = line, start, end; at < line_end; at = end) {
        uint32_t variable = sg_variable_at(at, &start, &end);
        if (variable == 0)
            end = (at | 3) + 1;
        if (end > line_end)
            end = line_end;
        if (variable == 0)
            continue;
        sg_line_part part = {line, at, (uint32_t)(end - at), variable, at - start};
        sg_put(w, &part, sizeof part);
        number++;
    }
    return number;
}

static uint64_t put_line_parts(struct sg_writer *w)
{
    const sg_classes *c = classes;
    uint64_t number = 0, least = c != NULL ? threshold(c) : 0;
    for (uint32_t i = 1; c != NULL && i < c->records_count; i++)
        if (is_shown(record_of(c, i), least))
            number += put_parts(w, record_of(c, i)->line << c->line_shift,
                                (record_of(c, i)->line + 1) << c->line_shift);
    return number;
}

static const sg_result_part parts_of_result[] = {
    {SG_SECTION_SHARED_LINES, sizeof(sg_shared_line), put_lines},
    {SG_SECTION_LINE_USERS, sizeof(sg_line_user), put_users},
    {SG_SECTION_LINE_PARTS, sizeof(sg_line_part), put_line_parts}, /* may name new variables */
};

const sg_observer sg_observer_class = {
    .name = "classes of misses",
    .takes_part = open_classes,
    .parts = parts_of_result,
    .parts_count = sizeof parts_of_result / sizeof *parts_of_result,
    .hits = note_hit,
    .filter = filter_answers,
    .counts = count_references,
    .referenced = note_reference,
    .closes = close_classes,
    .completes = complete_site,
};
