/* Virtual speedups: what if this line, region, lock or variable were faster by some factor?
 *
 * The program runs again, and what the chosen code computes or waits for takes 1/factor of its time;
 * everything else follows from that. Remainders of divisions are kept, so that sums are exact to a cycle.
 * Without a scale file none of this is active: scaled blocks are trapped by a cost that no block has.
 * sg_whatif_file.c reads the scale file. */
#include "sg_inline.h"
#include "sg_message.h"
#include "sg_observers.h"
#include "sg_overlap.h"
#include "sg_variable.h"
#include "sg_whatif.h"

#define PATIENCE 1024u

/* Remainders of divisions, by item and category. */
typedef struct remainder {
    uint64_t of[SG_CATEGORY_COUNT];
} remainder;

struct sg_whatif {
    sg_scales set;
    uint64_t of_runtime;        /* that scale the runtime */
    uint64_t *code;             /* bit sets by offset in the text; NULL without code items */
    uint64_t *trapped, *busy;   /* by block: trapped executions, and their cycles, in parts */
    const uint64_t *trap_parts; /* of slots: as `trap` for blocks */
    bool touched;               /* the lock reference to be charged next has been scaled */
    /* By processor. */
    uint64_t *active; /* bit sets of the active region, within and held items */
    uint32_t *still;  /* blocks since time last passed */
    remainder **left; /* [processor][item] */
    /* By thread. */
    uint64_t *operation;         /* bit sets of the lock items whose lock the thread is operating on */
    uint32_t (*held)[MAX_ITEMS]; /* how many locks of each held item it holds */
};

static struct sg_whatif *whatif = NULL; /* NULL: no virtual speedups, though synchronisation may be free */

static bool covers(const item *it, uint64_t number)
{
    for (uint32_t i = 0; i < it->count; i++)
        if (number - it->ranges[i].low < it->ranges[i].high - it->ranges[i].low)
            return true;
    return false;
}

/* The items among `candidates` that cover `number`. */
static uint64_t covering(const struct sg_whatif *w, uint64_t candidates, uint64_t number)
{
    uint64_t found = 0;
    for (uint64_t left = candidates; left != 0; left &= left - 1)
        if (covers(&w->set.items[__builtin_ctzll(left)], number))
            found |= left & -left;
    return found;
}

static void mark_code(struct sg_whatif *w)
{
    size_t text = sg->text_high - sg->text_low + 1;
    w->code = sg_reserve(text * sizeof(uint64_t), "the virtual speedups");
    for (uint32_t i = 0; i < w->set.count; i++)
        for (uint32_t k = 0; w->set.items[i].kind == CODE && k < w->set.items[i].count; k++) {
            range r = w->set.items[i].ranges[k];
            uint64_t low = r.low > sg->text_low ? r.low : sg->text_low;
            for (uint64_t at = low; at < r.high && at <= sg->text_high; at++)
                w->code[at - sg->text_low] |= 1ull << i;
        }
}

static uint64_t code_items(const struct sg_whatif *w, const void *site)
{
    uintptr_t offset = (uintptr_t)site - sg->text_low;
    return w->code != NULL && offset <= sg->text_high - sg->text_low ? w->code[offset] : 0;
}

static bool is_free_call(const void *site)
{
    return covering(whatif, whatif->set.of_kind[CALL], (uintptr_t)site) != 0;
}

/* The one block that is scaled as a whole. */
static const uint64_t trap = SG_TRAP_PARTS;

static bool open_whatif(void)
{
    if (sg->config.scale_path[0] == '\0')
        return false;
    struct sg_whatif *w = sg_new(sizeof *w);
    sg_scales_read(&w->set);
    w->trapped = sg_new(sg->blocks_count * sizeof *w->trapped);
    w->busy = sg_new(sg->blocks_count * sizeof *w->busy);
    w->trap_parts = sg_inline_same_parts(SG_TRAP_PARTS);
    w->active = sg_new(sg->processors * sizeof *w->active);
    w->still = sg_new(sg->processors * sizeof *w->still);
    w->left = sg_new(sg->processors * sizeof *w->left);
    for (uint32_t i = 0; i < sg->processors; i++)
        w->left[i] = sg_new(w->set.count * sizeof(remainder));
    w->operation = sg_new(SG_MAX_THREADS * sizeof *w->operation);
    if ((w->set.of_kind[HELD] | w->set.of_kind[SECTION]) != 0)
        w->held = sg_new(SG_MAX_THREADS * sizeof *w->held);
    if (w->set.of_kind[CODE] != 0)
        mark_code(w);
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        if (code_items(w, (const void *)sg->block_address[i]) & w->set.of_part[COMPUTE])
            for (uint32_t k = 0; k < sg->speeds; k++)
                sg->speed[k].parts[i] = SG_TRAP_PARTS;
    w->of_runtime = w->set.of_kind[COST] | w->set.of_kind[WHOLE] | w->set.of_kind[CALL];
    sg->primitives_differ |= (w->set.of_kind[LOCK] | w->set.of_kind[SECTION] | w->of_runtime) != 0;
    whatif = w;
    if (w->set.of_kind[CALL] != 0)
        sg_message_is_free = is_free_call;
    sg->blocks_scaled = true;
    sg->regions_watched++;
    return true;
}

static bool open_primitives(void)
{
    if (sg->config.ideal & SG_IDEAL_SYNC) { /* the last to arrive releases everybody at once */
        sg->primitives_differ = true;
        sg->config.barrier = SG_BARRIER_HARDWARE;
        sg->config.barrier_hardware_cycles = 0;
    }
    return sg->primitives_differ;
}

/* ---- scaling ---- */

static uint64_t scaled(struct sg_whatif *w, const sg_processor *p, uint64_t items, enum sg_category category,
                       uint64_t cycles)
{
    for (uint64_t left = items; left != 0; left &= left - 1) {
        const item *it = &w->set.items[__builtin_ctzll(left)];
        uint64_t *rest = &w->left[p->id][__builtin_ctzll(left)].of[category];
        unsigned __int128 product = (unsigned __int128)cycles * it->multiplier + *rest;
        cycles = (uint64_t)(product / it->divisor);
        *rest = (uint64_t)(product % it->divisor);
    }
    return cycles;
}

/* The same for `parts` of a cycle: whole cycles scale to whole cycles. */
static uint64_t scaled_parts(struct sg_whatif *w, const sg_processor *p, uint64_t items, int busy,
                             uint64_t parts)
{
    uint64_t unit = parts % SG_PARTS == 0 ? SG_PARTS : 1;
    return unit * scaled(w, p, items, (enum sg_category)(SG_CATEGORY_BUSY_INT + busy), parts / unit);
}

static int charge_block(sg_processor *p, const void *site)
{
    struct sg_whatif *w = whatif;
    uint32_t number = (uintptr_t)site - sg->text_low <= sg->text_high - sg->text_low
                          ? sg->block_index[(uintptr_t)site - sg->text_low]
                          : 0;
    const sg_block_cost *cost = &sg_speed_of(p->id)->blocks[number];
    sg_account *account = p->account;
    uint64_t items = (w->active[p->id] | code_items(w, site)) & w->set.of_part[COMPUTE], parts = 0, whole = 0;
    /* The hook has counted it as usual. */
    uint32_t place = sg_inline_place(site);
    account->executions[place != 0 ? place : p->block_parts == &trap ? 0 : number]--;
    account->reads += sg->slots[place].reads;
    account->writes += sg->slots[place].writes;
    sg->blocks[number].executions++;
    for (int i = 0; i < 4; i++) {
        uint64_t part = scaled_parts(w, p, items, i, cost->busy[i]);
        account->busy[i] += part;
        parts += part;
        whole += cost->busy[i];
    }
    account->ops += cost->ops;
    account->flops += cost->flops;
    if (parts > 0) {
        w->still[p->id] = 0;
    } else if (++w->still[p->id] == PATIENCE) { /* a spin loop waits for something that takes time */
        w->still[p->id] = 0;
        account->busy[0] += SG_PARTS;
        parts = SG_PARTS;
    }
    w->trapped[number]++;
    w->busy[number] += parts;
    p->time += parts - SG_TRAP_PARTS;
    sg_overlap_spare(p, whole - parts);
    return 0;
}

static uint64_t busy_cycles(uint32_t number)
{
    const struct sg_whatif *w = whatif;
    const sg_block_cost *block = &sg->blocks[number];
    return ((block->executions - w->trapped[number]) * block->parts + block->more + w->busy[number]) /
           SG_PARTS;
}

/* The items for a stall of `p` at `site` on data at `address`. */
static uint64_t stalled_items(const struct sg_whatif *w, const sg_processor *p, uint64_t address,
                              const void *site)
{
    uint64_t items = w->active[p->id] | code_items(w, site) | covering(w, w->set.of_kind[DATA], address);
    if (w->set.of_kind[HEAP] != 0) {
        uint64_t start, end;
        const sg_variable *v = sg_variable_number(sg_variable_at(address, &start, &end));
        if (v->kind == SG_KIND_HEAP)
            items |= covering(w, w->set.of_kind[HEAP], v->address);
    }
    return items & w->set.of_part[MEMORY];
}

static void scale_stalls(sg_processor *p, uint64_t address)
{
    struct sg_whatif *w = whatif;
    sg_outcome *o = &sg->outcome;
    uint64_t items = stalled_items(w, p, address, p->site);
    uint64_t less = 0;
    for (int category = SG_CATEGORY_STALL_LOCAL; items != 0 && category <= SG_CATEGORY_STALL_CONTENTION;
         category++) {
        less += o->stall[category];
        o->stall[category] = scaled(w, p, items, (enum sg_category)category, o->stall[category]);
        less -= o->stall[category];
    }
    sg_overlap_spare(p, less * SG_PARTS);
}

static uint64_t scale_hit(sg_processor *p, uint64_t address, const void *site, uint64_t cycles)
{
    struct sg_whatif *w = whatif;
    uint64_t left = scaled(w, p, stalled_items(w, p, address, site), SG_CATEGORY_STALL_LOCAL, cycles);
    sg_overlap_spare(p, (cycles - left) * SG_PARTS);
    return left;
}

static uint64_t scale_penalty(sg_processor *p, const void *site, uint64_t parts)
{
    struct sg_whatif *w = whatif;
    uint64_t items = (w->active[p->id] | code_items(w, site)) & w->set.of_part[COMPUTE];
    uint64_t left = scaled_parts(w, p, items, SG_CATEGORY_BUSY_CONTROL, parts);
    sg_overlap_spare(p, parts - left);
    return left;
}

static void scale_touch(sg_processor *p, enum sg_category category)
{
    uint64_t *stall = sg->outcome.stall;
    struct sg_whatif *w = whatif;
    if (sg->config.ideal & SG_IDEAL_SYNC) {
        for (int i = SG_CATEGORY_STALL_LOCAL; i <= SG_CATEGORY_STALL_CONTENTION; i++)
            stall[i] = 0;
    } else if (w != NULL && category == SG_CATEGORY_PRIM_LOCK && p->thread != NULL) {
        for (int i = SG_CATEGORY_STALL_LOCAL; i <= SG_CATEGORY_STALL_CONTENTION; i++)
            stall[i] = scaled(w, p, w->operation[p->thread->id], (enum sg_category)i, stall[i]);
        w->touched = true;
    }
}

/* The items for the runtime's own work in `category` on `p`, except lock operations. */
static uint64_t primitive_items(const struct sg_whatif *w, const sg_processor *p, enum sg_category category)
{
    uint64_t items = 0;
    if (w->of_runtime != 0)
        items = (w->active[p->id] & w->of_runtime) | covering(w, w->set.of_kind[CALL], (uintptr_t)p->site);
    if (category == SG_CATEGORY_PRIM_LOCK && p->thread != NULL && w->set.of_kind[SECTION] != 0)
        items |= covering(w, w->set.of_kind[SECTION], (uintptr_t)p->site);
    return items;
}

static uint64_t scale_primitive(sg_processor *p, enum sg_category category, uint64_t cycles)
{
    if (sg_category_group[category] != SG_GROUP_PRIMITIVE)
        return cycles;
    if (sg->config.ideal & SG_IDEAL_SYNC)
        return 0;
    struct sg_whatif *w = whatif;
    if (w == NULL)
        return cycles;
    cycles = scaled(w, p, primitive_items(w, p, category), category, cycles);
    if (category != SG_CATEGORY_PRIM_LOCK || p->thread == NULL)
        return cycles;
    if (w->touched) { /* these cycles are already scaled */
        w->touched = false;
        return cycles;
    }
    return scaled(w, p, w->operation[p->thread->id], category, cycles);
}

/* A reference that takes no time only updates the caches. */
static void begin_reference(sg_processor *p, const sg_pending *r)
{
    const struct sg_whatif *w = whatif;
    uint64_t items = 0;
    if (w->set.removed == 0)
        return;
    if (r->category < 0)
        items = stalled_items(w, p, r->address, p->site);
    else
        items = primitive_items(w, p, (enum sg_category)r->category);
    if (r->category == SG_CATEGORY_PRIM_LOCK && p->thread != NULL)
        items |= w->operation[p->thread->id];
    if ((items & w->set.removed) != 0)
        sg_mem_remove(sg->mem, p->id, 1);
}

/* ---- where a thread is, and which locks it holds ---- */

static void update_items(sg_processor *p)
{
    struct sg_whatif *w = whatif;
    const sg_thread *t = p->thread;
    uint64_t items = 0;
    if (t == NULL || t->stack_of_regions == NULL)
        return;
    uint32_t depth = t->depth < SG_REGION_DEPTH ? t->depth : SG_REGION_DEPTH;
    uint64_t inside = w->set.of_kind[WITHIN] | w->set.of_kind[WHOLE],
             locks = w->set.of_kind[HELD] | w->set.of_kind[SECTION];
    if (depth > 0)
        items |= covering(w, w->set.of_kind[REGION] | w->set.of_kind[COST], t->stack_of_regions[depth - 1]);
    for (uint32_t i = 0; inside != 0 && i < depth; i++)
        items |= covering(w, inside, t->stack_of_regions[i]);
    for (uint64_t left = locks; left != 0; left &= left - 1)
        if (w->held[t->id][__builtin_ctzll(left)] > 0)
            items |= left & -left;
    w->active[p->id] = items;
    bool all = (items & w->set.of_part[COMPUTE]) != 0;
    p->block_parts = all ? &trap : sg_speed_of(p->id)->parts;
    p->block_of = (all ? sg->no_block_index : sg->block_index) - sg->text_low;
    p->slot_parts = all ? w->trap_parts : sg_speed_of(p->id)->slot_parts;
}

static void begin_operation(uint64_t object, bool begins)
{
    struct sg_whatif *w = whatif;
    w->operation[sg_self()->id] = begins ? covering(w, w->set.of_kind[LOCK], object) : 0;
}

/* It has got the lock that its call asked for. */
static void take_lock(uint64_t from)
{
    struct sg_whatif *w = whatif;
    (void)from;
    for (uint64_t items = covering(w, w->set.of_kind[SECTION], (uintptr_t)sg_now->site); items != 0;
         items &= items - 1)
        w->held[sg_self()->id][__builtin_ctzll(items)]++;
    if (w->set.of_kind[SECTION] != 0)
        update_items(sg_now);
}

static void hold(uint64_t object, bool holds)
{
    struct sg_whatif *w = whatif;
    /* We do not know which lock a section took: the first one released ends it. */
    uint64_t items = covering(w, w->set.of_kind[HELD], object) | (holds ? 0 : w->set.of_kind[SECTION]);
    if (items == 0)
        return;
    uint32_t *held = w->held[sg_self()->id];
    for (; items != 0; items &= items - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(items);
        if (holds)
            held[i]++;
        else if (held[i] > 0)
            held[i]--;
    }
    update_items(sg_now);
}

/* ---- the observer ---- */

static void scale_reference(sg_processor *p, const sg_pending *r)
{
    sg_mem_remove(sg->mem, p->id, 0);
    if (r->category < 0)
        scale_stalls(p, r->address);
}

static void scale_primitive_reference(sg_processor *p, const sg_pending *r)
{
    if (r->category >= 0)
        scale_touch(p, (enum sg_category)r->category);
}

/* The region of a task that runs on top of others scales nothing of its own. */
static void follow_regions(sg_processor *p, enum sg_regions_change change)
{
    if (change != SG_REGIONS_TASK)
        update_items(p);
}

const sg_observer sg_observer_whatif = {
    .name = "what-if",
    .takes_part = open_whatif,
    .installed = update_items,
    .regions = follow_regions,
    .references = begin_reference,
    .scales = scale_reference,
    .lock_operation = begin_operation,
    .lock_held = hold,
    .lock_taken = take_lock,
    .hit = scale_hit,
    .penalty = scale_penalty,
    .block = charge_block,
    .block_cycles = busy_cycles,
};

/* Comes after the other observer, which may scale locks. */
const sg_observer sg_observer_primitives = {
    .name = "free or scaled synchronisation",
    .takes_part = open_primitives,
    .scales = scale_primitive_reference,
    .primitive = scale_primitive,
};
