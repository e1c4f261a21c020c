/* Places: the processors that team members may run on (OMP_PLACES, OMP_PROC_BIND, proc_bind). */
#include <ctype.h>
#include <stdio.h>

#include "sg_array.h"
#include "sg_omp.h"

#define SET_WORDS (SG_MAX_PROCESSORS / 64)

/* ---- sets of processors ---- */

static uint32_t set_count(const uint64_t *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SET_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(set[i]);
    return count;
}

static bool set_change(uint64_t *set, int64_t processor, bool in)
{
    if (processor < 0 || processor >= sg->own_processors)
        return false;
    uint64_t bit = 1ull << processor % 64;
    set[processor / 64] = in ? set[processor / 64] | bit : set[processor / 64] & ~bit;
    return true;
}

/* Adds the place `set`, shifted by `shift` processors; nonexistent ones are dropped, as in libgomp. */
static void add_place(const uint64_t *set, int64_t shift)
{
    sg_omp *omp = sg->omp;
    uint64_t *moved = sg_new(SET_WORDS * sizeof *moved);
    for (uint32_t i = 0; i < sg->own_processors; i++)
        if (set[i / 64] >> i % 64 & 1)
            set_change(moved, (int64_t)i + shift, true);
    if (set_count(moved) == 0)
        return;
    SG_ARRAY_HOLD(omp->places, omp->places_room, omp->places_count, 16);
    omp->places[omp->places_count++] = (sg_place){set_count(moved), moved, NULL};
}

static void remove_place(const uint64_t *set)
{
    sg_omp *omp = sg->omp;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < omp->places_count; i++)
        if (memcmp(omp->places[i].set, set, SET_WORDS * sizeof *set) != 0)
            omp->places[kept++] = omp->places[i];
    omp->places_count = kept;
}

/* ---- OMP_PLACES ---- */

static void skip(const char **text)
{
    while (isspace((unsigned char)**text))
        ++*text;
}

static bool take(const char **text, char sign)
{
    skip(text);
    if (**text != sign)
        return false;
    ++*text;
    return true;
}

static bool number(const char **text, int64_t *value)
{
    char *end;
    skip(text);
    *value = strtoll(*text, &end, 10);
    if (end == *text)
        return false;
    *text = end;
    return true;
}

/* ":length[:stride]", optional. */
static bool interval(const char **text, int64_t *length, int64_t *stride)
{
    *length = *stride = 1;
    if (!take(text, ':'))
        return true;
    if (!number(text, length) || *length < 1)
        return false;
    return !take(text, ':') || number(text, stride);
}

/* "{processor, processor:length:stride, !processor}", or a single processor. */
static bool read_set(const char **text, uint64_t *set)
{
    int64_t first, length, stride;
    memset(set, 0, SET_WORDS * sizeof *set);
    if (!take(text, '{'))
        return number(text, &first) && (set_change(set, first, true) || first >= sg->own_processors);
    do {
        bool in = !take(text, '!');
        if (!number(text, &first) || first < 0)
            return false;
        length = stride = 1;
        if (in && !interval(text, &length, &stride))
            return false;
        for (int64_t i = 0; i < length; i++)
            set_change(set, first + i * stride, in);
    } while (take(text, ','));
    return take(text, '}');
}

static bool read_list(const char *text)
{
    uint64_t set[SET_WORDS];
    do {
        bool in = !take(&text, '!');
        int64_t length = 1, stride = 1;
        if (!read_set(&text, set) || (in && !interval(&text, &length, &stride)))
            return false;
        if (!in)
            remove_place(set);
        for (int64_t i = 0; in && i < length; i++)
            add_place(set, i * stride);
    } while (take(&text, ','));
    skip(&text);
    return *text == 0 && sg->omp->places_count > 0;
}

uint32_t sg_omp_place_size(const char *kind)
{
    const sg_config *config = &sg->config;
    uint64_t size = 1;
    if (strcmp(kind, "ll_caches") == 0) {
        size = config->level[config->levels - 1].shared_by;
    } else if (strcmp(kind, "sockets") == 0 || strcmp(kind, "numa_domains") == 0) {
        static const char *const names[] = {"socket_processors", "ring_processors", NULL};
        size = config->max_processors;
        for (int i = 0; names[i] != NULL; i++)
            if (sg_config_u64(config, names[i]) != 0)
                size = sg_config_u64(config, names[i]);
        uint64_t parts = sg_config_u64(config, "memory_nodes"); /* per socket; 0: none */
        if (parts > 1 && strcmp(kind, "numa_domains") == 0)
            size /= parts;
    }
    return size > 0 ? (uint32_t)size : 1;
}

/* Adds the first `most` places of an abstract kind. */
static void add_abstract(const char *kind, int64_t most)
{
    uint32_t size = sg_omp_place_size(kind);
    for (uint32_t first = 0; first < sg->own_processors && most > 0; first += size, most--) {
        uint64_t set[SET_WORDS] = {0};
        for (uint32_t i = first; i < first + size; i++)
            set_change(set, i, true);
        add_place(set, 0);
    }
}

static bool read_places(const char *text)
{
    static const char *const kinds[] = {"threads", "cores", "ll_caches", "sockets", "numa_domains", NULL};
    skip(&text);
    for (int i = 0; kinds[i] != NULL; i++) {
        size_t length = strlen(kinds[i]);
        if (strncasecmp(text, kinds[i], length) != 0)
            continue;
        const char *rest = text + length;
        int64_t most = INT64_MAX;
        if (take(&rest, '(') && !(number(&rest, &most) && most > 0 && take(&rest, ')')))
            return false;
        skip(&rest);
        if (*rest != 0)
            return false;
        add_abstract(kinds[i], most);
        return true;
    }
    return read_list(text);
}

/* GOMP_CPU_AFFINITY: "0 3 1-2 4-15:2", one place per listed processor. */
static bool read_processors(const char *text)
{
    int64_t first, last, stride;
    for (skip(&text); *text != 0; skip(&text)) {
        if (!number(&text, &first) || first < 0)
            return false;
        last = first;
        stride = 1;
        if (*text == '-') {
            text++;
            if (!number(&text, &last) || last < first)
                return false;
            if (*text == ':' && (text++, !number(&text, &stride) || stride < 1))
                return false;
        }
        for (; first <= last; first += stride) {
            uint64_t set[SET_WORDS] = {0};
            if (set_change(set, first, true))
                add_place(set, 0);
        }
        if (*text == ',')
            text++;
    }
    return sg->omp->places_count > 0;
}

bool sg_places_read(const char *places, const char *affinity)
{
    bool good = true;
    if (places != NULL)
        good = read_places(places);
    else if (affinity != NULL)
        good = read_processors(affinity);
    if (!good)
        sg->omp->places_count = 0;
    if (sg->omp->places_count == 0 && sg->omp->icv.bind != SG_BIND_FALSE)
        add_abstract("threads", INT64_MAX);
    return good;
}

/* ---- placement ---- */

typedef struct spot {
    uint32_t place;        /* index within the master's partition */
    uint32_t first, count; /* the member's partition, likewise */
} spot;

/* More members than places: each place gets the same number of consecutive members; the rest are added one
 * per place, starting with the first. */
static uint32_t crowded(uint32_t own, uint32_t member, uint32_t size, uint32_t places)
{
    uint32_t each = size / places, regular = size - size % places;
    return (own + (member < regular ? member / each : member - regular)) % places;
}

static spot close_to(uint32_t own, uint32_t member, uint32_t size, uint32_t places)
{
    uint32_t place = size <= places ? (own + member) % places : crowded(own, member, size, places);
    return (spot){place, 0, places};
}

/* The places of part `part` if `places` places are divided into `parts` parts. */
static spot part_of(uint32_t part, uint32_t parts, uint32_t places)
{
    uint32_t each = places / parts, rest = places % parts;
    uint32_t first = part * each + (part < rest ? part : rest);
    return (spot){first, first, each + (part < rest)};
}

static spot spread_out(uint32_t own, uint32_t member, uint32_t size, uint32_t places)
{
    if (size > places) {
        uint32_t place = crowded(own, member, size, places);
        return (spot){place, place, 1};
    }
    uint32_t part = 0;
    for (spot s = part_of(0, size, places); own >= s.first + s.count; s = part_of(part, size, places))
        part++;
    spot s = part_of((part + member) % size, size, places);
    if (member == 0)
        s.place = own;
    return s;
}

/* To its program, a rank's first processor is number 0. */
static const uint64_t *on_machine(sg_place *place)
{
    uint32_t first = sg_now->id - sg_now->id % sg->own_processors;
    if (first == 0)
        return place->set;
    if (place->there != NULL)
        return place->there;
    uint64_t *there = sg_new(SET_WORDS * sizeof *there);
    for (uint32_t i = 0; i < sg->own_processors; i++)
        if (place->set[i / 64] >> i % 64 & 1)
            there[(first + i) / 64] |= 1ull << (first + i) % 64;
    return place->there = there;
}

static void settle(sg_thread *t, uint32_t place)
{
    t->place = place + 1;
    t->places = on_machine(&sg->omp->places[place]);
    if (t == sg_self() && !sg_thread_fits(t, sg_now->id)) /* moves to a processor of the place */
        sg_suspend_until(SG_CATEGORY_IDLE_SERIAL, 0, -1, sg_now->clock);
}

void sg_place_member(const sg_team *team, sg_thread *t, uint32_t member, unsigned flags)
{
    const sg_thread *master = sg_self();
    uint32_t bind = master->task->icv.bind, clause = flags & 7;
    if (bind == SG_BIND_FALSE || sg->omp->places_count == 0)
        return;
    if (team->level == 0) { /* an initial thread */
        settle(t, 0);
        return;
    }
    if (clause != 0)
        bind = clause;
    uint32_t first = master->partition_first, places = master->partition_count,
             own = master->place - 1 - first;
    spot s = {own, 0, places};
    if (bind == SG_BIND_TRUE || bind == SG_BIND_CLOSE)
        s = close_to(own, member, team->size, places);
    else if (bind == SG_BIND_SPREAD)
        s = spread_out(own, member, team->size, places);
    t->partition_first = first + s.first;
    t->partition_count = s.count;
    if (member != 0)
        settle(t, first + s.place);
}

/* ---- queries ---- */

SG_API int omp_get_num_places(void)
{
    return (int)sg->omp->places_count;
}

SG_API int omp_get_place_num(void)
{
    return (int)sg_member(SG_CALLER)->place - 1;
}

SG_API int omp_get_place_num_procs(int place)
{
    const sg_omp *omp = sg->omp;
    return place >= 0 && (uint32_t)place < omp->places_count ? (int)omp->places[place].count : 0;
}

SG_API void omp_get_place_proc_ids(int place, int *ids)
{
    if (omp_get_place_num_procs(place) == 0)
        return;
    const uint64_t *set = sg->omp->places[place].set;
    for (uint32_t i = 0; i < sg->own_processors; i++)
        if (set[i / 64] >> i % 64 & 1)
            *ids++ = (int)i;
}

SG_API int omp_get_partition_num_places(void)
{
    return (int)sg_member(SG_CALLER)->partition_count;
}

SG_API void omp_get_partition_place_nums(int *places)
{
    const sg_thread *t = sg_member(SG_CALLER);
    for (uint32_t i = 0; i < t->partition_count; i++)
        places[i] = (int)(t->partition_first + i);
}
