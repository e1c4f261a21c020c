/* What the model knows of registers and places: which hold the same value, and which loads they depend on. */
#include <stdlib.h>
#include <string.h>

#include "sgp_core.h"

/* ---- memory of the host ---- */

bool sgp_hold(core *c, void **array, int64_t *room, int64_t count, size_t size)
{
    int64_t more = count + 32 > 2 * *room ? count + 32 : 2 * *room;
    char *new = realloc(*array, (size_t)more * size);
    if (new == NULL) {
        c->lacks_memory = true;
        return false;
    }
    memset(new + (size_t)*room * size, 0, (size_t)(more - *room) * size);
    *array = new;
    *room = more;
    return true;
}

/* ---- what is known of registers and places ---- */

/* Which unknown value a register holds, and a constant added to it. */
value sgp_value(core *c, int64_t name)
{
    if (name == 0)
        return (value){0, 0};
    if (!c->known[name]) {
        int64_t number = c->written[name] ? 0 : c->arguments[name];
        if (number == 0)
            number = ++c->unknown;
        if (!c->written[name])
            c->arguments[name] = number;
        c->values[name] = (value){number, 0};
        c->known[name] = true;
    }
    return c->values[name];
}

key sgp_place(core *c, const head *h)
{
    value base = sgp_value(c, h->base), index = sgp_value(c, h->index);
    int64_t offset =
        (int64_t)((uint64_t)base.more + (uint64_t)h->scale * (uint64_t)index.more + (uint64_t)h->offset);
    return (key){base.number, index.number, h->index != 0 ? h->scale : 0, offset};
}

static uint64_t mixed(key k)
{
    uint64_t hash = (uint64_t)k.base * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (uint64_t)k.index) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (uint64_t)k.scale) * 0x94d049bb133111ebu;
    hash = (hash ^ (uint64_t)k.offset) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 31;
}

static stored *entry_of(stored *memory, uint64_t room, key k)
{
    uint64_t i = mixed(k) & (room - 1);
    while (memory[i].is_used && memcmp(&memory[i].at, &k, sizeof k) != 0)
        i = (i + 1) & (room - 1);
    return &memory[i];
}

stored *sgp_stored(const core *c, key k)
{
    if (c->memory_room == 0)
        return NULL;
    stored *s = entry_of(c->memory, c->memory_room, k);
    return s->is_used ? s : NULL;
}

stored *sgp_store(core *c, key k)
{
    if (2 * (c->memory_count + 1) > c->memory_room) {
        uint64_t room = c->memory_room > 0 ? 2 * c->memory_room : 256;
        stored *memory = calloc(room, sizeof *memory);
        if (memory == NULL) {
            c->lacks_memory = true;
            return NULL;
        }
        for (uint64_t i = 0; i < c->memory_room; i++)
            if (c->memory[i].is_used)
                *entry_of(memory, room, c->memory[i].at) = c->memory[i];
        free(c->memory);
        c->memory = memory;
        c->memory_room = room;
    }
    stored *s = entry_of(c->memory, c->memory_room, k);
    if (!s->is_used) {
        s->at = k;
        s->is_used = true;
        c->memory_count++;
    }
    return s;
}

/* ---- what depends on which load ---- */

static origin *origin_in(merge *m, int64_t site)
{
    for (int i = 0; i < m->count; i++)
        if (m->at[i].site == site)
            return &m->at[i];
    return NULL;
}

/* Adds `site`, `cycles` after its load; an existing entry stays if it is `later`. */
static void put(merge *m, int64_t site, double cycles, bool later)
{
    origin *known = origin_in(m, site);
    if (known != NULL)
        known->cycles = later ? larger(known->cycles, cycles) : cycles;
    else if (m->count < MERGED)
        m->at[m->count++] = (origin){site, cycles};
}

/* Adds what the value of a register depends on, `more` cycles later. */
static void merge_register(const core *c, merge *m, int64_t name, double more)
{
    for (int i = 0; name != 0 && i < c->from[name].count; i++)
        put(m, c->from[name].at[i].site, c->from[name].at[i].cycles + more, true);
}

void sgp_merge(const core *c, const int64_t *names, int64_t count, merge *m)
{
    m->count = 0;
    for (int64_t i = 0; i < count; i++)
        merge_register(c, m, names[i], 0.0);
}

static bool is_before(const origin *one, const origin *other)
{
    return one->cycles != other->cycles ? one->cycles < other->cycles : one->site < other->site;
}

/* Moves the first `count` by cycles to the front: there are few, and few are wanted. */
static void sort_first(merge *m, int count)
{
    for (int i = 0; i < count && i < m->count; i++) {
        int best = i;
        for (int k = i + 1; k < m->count; k++)
            if (is_before(&m->at[k], &m->at[best]))
                best = k;
        origin first = m->at[best];
        m->at[best] = m->at[i];
        m->at[i] = first;
    }
}

static origins first_of(const merge *m, int most)
{
    origins o = {.count = m->count < most ? m->count : most};
    memcpy(o.at, m->at, (size_t)o.count * sizeof o.at[0]);
    return o;
}

static void copy(merge *to, const merge *from)
{
    to->count = from->count;
    memcpy(to->at, from->at, (size_t)from->count * sizeof from->at[0]);
}

static found *site_of(core *c, int64_t site)
{
    for (int64_t i = 0; i < c->sites_count; i++)
        if (c->sites[i].site == site)
            return &c->sites[i];
    if (!HOLD(c, c->sites, c->sites_room, c->sites_count + 1))
        return NULL;
    c->sites[c->sites_count].site = site;
    return &c->sites[c->sites_count++];
}

/* Records which earlier loads the step depends on, and what then depends on the step. */
void sgp_follow(core *c, const step *s, const key *place)
{
    const head *h = s->of;
    merge m, address, loaded;
    sgp_merge(c, s->reads, h->reads, &m);
    if (h->flags & (LOADS | STORES)) {
        address.count = 0;
        if (place != NULL) {
            merge_register(c, &address, h->base, c->p->load);
            merge_register(c, &address, h->index, c->p->load);
        }
        for (int64_t i = 0; i < h->sites; i++) {
            found *f = site_of(c, s->sites[i]);
            if (f == NULL)
                return;
            f->has_address = true;
            f->address = first_of(&address, 2 * ORIGINS);
        }
        if (h->flags & LOADS) {
            const stored *kept = place != NULL ? sgp_stored(c, *place) : NULL;
            copy(&loaded, &address);
            if (kept != NULL && kept->has_origins) {
                loaded.count = kept->from.count;
                memcpy(loaded.at, kept->from.at, sizeof kept->from.at);
                const origin *itself = h->sites > 0 ? origin_in(&loaded, s->sites[0]) : NULL;
                if (itself != NULL) {
                    found *f = site_of(c, s->sites[0]);
                    if (f == NULL)
                        return;
                    f->recurs = true;
                    f->cycles = itself->cycles + (h->flags & IS_VECTOR ? c->p->forward_fp : c->p->forward);
                }
            }
            for (int i = 0; i < m.count; i++)
                put(&loaded, m.at[i].site, m.at[i].cycles, false);
            if (h->sites > 0)
                put(&loaded, s->sites[0], 0.0, false);
            copy(&m, &loaded);
        }
    }
    double more = 0;
    for (int64_t i = 0; i < h->works; i++)
        more += c->p->latencies[s->works[i]];
    sort_first(&m, ORIGINS);
    origins result = first_of(&m, ORIGINS);
    for (int i = 0; i < result.count; i++)
        result.at[i].cycles += more;
    if ((h->flags & STORES) && place != NULL) {
        stored *kept = sgp_store(c, *place);
        if (kept == NULL)
            return;
        kept->from = result;
        kept->has_origins = true;
    }
    for (int64_t i = 0; i < h->clobbers; i++)
        c->from[s->clobbers[i]].count = 0;
    for (int64_t i = 0; i < h->writes; i++)
        c->from[s->writes[i]] = result;
}
