/* OpenMP environment variables. An invalid one is ignored with a warning, as in libgomp. */
#include <ctype.h>
#include <stdio.h>

#include "sg_omp.h"

/* ---- parsing values; false: invalid ---- */

static void skip(const char **text)
{
    while (isspace((unsigned char)**text))
        ++*text;
}

static bool word(const char **text, const char *name)
{
    size_t length = strlen(name);
    skip(text);
    if (strncasecmp(*text, name, length) != 0 || isalnum((unsigned char)(*text)[length]) ||
        (*text)[length] == '_')
        return false;
    *text += length;
    skip(text);
    return true;
}

static bool whole_number(const char **text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    skip(text);
    if (!isdigit((unsigned char)**text))
        return false;
    *value = strtoull(*text, &end, 10);
    *text = end;
    skip(text);
    return *value >= least && *value <= most;
}

static void ignore(const char *name, const char *text)
{
    char remark[300];
    snprintf(remark, sizeof remark, "%s=%.200s was not understood and ignored", name, text);
    sg_warn(remark);
}

/* The number in variable `name`; `missing` if it is unset or invalid. */
static uint64_t number_of(const char *name, uint64_t least, uint64_t most, uint64_t missing)
{
    const char *text = getenv(name), *at = text;
    uint64_t value;
    if (text == NULL)
        return missing;
    if (whole_number(&at, least, most, &value) && *at == 0)
        return value;
    ignore(name, text);
    return missing;
}

static bool truth_of(const char *name, bool missing)
{
    const char *text = getenv(name), *at = text;
    if (text == NULL)
        return missing;
    if (word(&at, "true") && *at == 0)
        return true;
    at = text;
    if (word(&at, "false") && *at == 0)
        return false;
    ignore(name, text);
    return missing;
}

static bool one_number(const char **text, uint32_t *value)
{
    uint64_t number;
    if (!whole_number(text, 1, INT32_MAX, &number))
        return false;
    *value = (uint32_t)number;
    return true;
}

static bool one_bind(const char **text, uint32_t *value)
{
    static const struct {
        const char *name;
        enum sg_bind bind;
    } names[] = {{"false", SG_BIND_FALSE},    {"true", SG_BIND_TRUE},   {"primary", SG_BIND_PRIMARY},
                 {"master", SG_BIND_PRIMARY}, {"close", SG_BIND_CLOSE}, {"spread", SG_BIND_SPREAD}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (word(text, names[i].name)) {
            *value = names[i].bind;
            return true;
        }
    return false;
}

/* A list "a,b,c" by nesting level; NULL: the variable is unset or invalid. */
static uint32_t *list_of(const char *name, bool (*one)(const char **, uint32_t *), uint32_t *count)
{
    const char *text = getenv(name), *at = text;
    *count = 0;
    if (text == NULL)
        return NULL;
    uint32_t *list = sg_new((strlen(text) + 1) * sizeof *list);
    do {
        if (!one(&at, &list[(*count)++])) {
            ignore(name, text);
            *count = 0;
            return NULL;
        }
    } while (*at == ',' && at++);
    if (*at != 0) {
        ignore(name, text);
        *count = 0;
        return NULL;
    }
    return list;
}

/* ---- OMP_SCHEDULE ---- */

bool sg_schedule_parse(const char *text, sg_icv *icv)
{
    static const struct {
        const char *name;
        enum sg_schedule schedule;
    } kinds[] = {{"static", SG_STATIC}, {"dynamic", SG_DYNAMIC}, {"guided", SG_GUIDED}, {"auto", SG_AUTO}};
    bool monotonic = word(&text, "monotonic");
    if (monotonic || word(&text, "nonmonotonic")) {
        if (*text++ != ':')
            return false;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!word(&text, kinds[i].name))
            continue;
        uint64_t chunk = 0;
        if (*text == ',' && (text++, !whole_number(&text, 0, INT32_MAX, &chunk)))
            return false;
        if (*text != 0)
            return false;
        bool shared = kinds[i].schedule == SG_DYNAMIC || kinds[i].schedule == SG_GUIDED;
        icv->schedule = kinds[i].schedule;
        icv->chosen = NULL;
        icv->chunk = chunk == 0 && shared ? 1 : chunk;
        icv->monotonic = monotonic;
        return true;
    }
    char error[160];
    icv->chosen = sg_schedules_read(text, error, sizeof error);
    icv->monotonic = monotonic;
    return icv->chosen != NULL;
}

static void read_schedule(sg_icv *icv)
{
    if (*sg->config.loops_path != 0)
        sg_schedules_open(sg->config.loops_path);
    const char *given = sg->config.schedule, *text = getenv("OMP_SCHEDULE");
    if (*given != 0 && !sg_schedule_parse(given, icv))
        sg_stop(SG_STATUS_INTERNAL, "run.schedule is `%s`, expected a schedule, a chunk size and parameters",
                given);
    if (*given == 0 && text != NULL && !sg_schedule_parse(text, icv))
        ignore("OMP_SCHEDULE", text);
}

/* ---- OMP_DISPLAY_ENV ---- */

static void show_list(const char *name, const uint32_t *list, uint32_t count, uint32_t single,
                      const char *const *names)
{
    fprintf(stderr, "  [host] %s = '", name);
    for (uint32_t i = 0; i < (count > 1 ? count : 1); i++) {
        uint32_t value = count > 1 ? list[i] : single;
        fprintf(stderr, i > 0 ? "," : "");
        names != NULL ? fprintf(stderr, "%s", names[value]) : fprintf(stderr, "%u", value);
    }
    fprintf(stderr, "'\n");
}

static void show(const sg_icv *icv)
{
    static const char *const schedules[] = {"STATIC", "DYNAMIC", "GUIDED", "AUTO"};
    static const char *const binds[] = {"FALSE", "TRUE", "PRIMARY", "CLOSE", "SPREAD"};
    const sg_omp *omp = sg->omp;
    fprintf(stderr, "\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '201511'\n");
    fprintf(stderr, "  [host] OMP_DYNAMIC = '%s'\n", icv->dynamic ? "TRUE" : "FALSE");
    fprintf(stderr, "  [host] OMP_NESTED = '%s'\n", icv->max_active_levels > 1 ? "TRUE" : "FALSE");
    show_list("OMP_NUM_THREADS", omp->threads_list, omp->threads_count, icv->threads, NULL);
    fprintf(stderr, "  [host] OMP_SCHEDULE = '%s%s", icv->monotonic ? "MONOTONIC:" : "",
            schedules[icv->schedule]);
    if (icv->chunk > (icv->schedule == SG_DYNAMIC || icv->schedule == SG_GUIDED))
        fprintf(stderr, ",%llu", (unsigned long long)icv->chunk);
    fprintf(stderr, "'\n");
    show_list("OMP_PROC_BIND", omp->bind_list, omp->bind_count, icv->bind, binds);
    fprintf(stderr, "  [host] places = '%u'\n", omp->places_count);
    fprintf(stderr, "  [host] OMP_STACKSIZE = '%llu'\n", (unsigned long long)sg->config.stack_bytes);
    fprintf(stderr, "  [host] OMP_THREAD_LIMIT = '%u'\n", icv->thread_limit);
    fprintf(stderr, "  [host] OMP_MAX_ACTIVE_LEVELS = '%u'\n", icv->max_active_levels);
    fprintf(stderr, "  [host] OMP_NUM_TEAMS = '%u'\n", omp->teams);
    fprintf(stderr, "  [host] OMP_TEAMS_THREAD_LIMIT = '%u'\n", omp->teams_thread_limit);
    fprintf(stderr, "  [host] OMP_CANCELLATION = '%s'\n", omp->cancellation ? "TRUE" : "FALSE");
    fprintf(stderr, "  [host] OMP_MAX_TASK_PRIORITY = '%d'\n", omp->max_priority);
    fprintf(stderr, "  [host] OMP_AFFINITY_FORMAT = '%s'\n", omp->affinity_format);
    fprintf(stderr, "  [host] SCALEGRAPH_TASK_QUEUE = '%s'\n", omp->central ? "CENTRAL" : "MEMBERS");
    fprintf(stderr, "OPENMP DISPLAY ENVIRONMENT END\n");
}

SG_API void omp_display_env(int verbose)
{
    (void)verbose;
    show(&sg_member(SG_CALLER)->task->icv);
}

/* ---- all variables ---- */

static void read_levels(sg_omp *omp)
{
    sg_icv *icv = &omp->icv;
    uint64_t least = 1;
    if (truth_of("OMP_NESTED", false) || omp->threads_count > 1 || omp->bind_count > 1)
        least = SG_LEVELS_MOST;
    uint64_t levels = number_of("OMP_MAX_ACTIVE_LEVELS", 0, INT32_MAX, least);
    icv->max_active_levels = (uint8_t)(levels > SG_LEVELS_MOST ? SG_LEVELS_MOST : levels);
}

static void read_affinity(sg_omp *omp)
{
    const char *places = getenv("OMP_PLACES"), *affinity = getenv("GOMP_CPU_AFFINITY");
    omp->bind_list = list_of("OMP_PROC_BIND", one_bind, &omp->bind_count);
    omp->icv.bind = places != NULL || affinity != NULL ? SG_BIND_TRUE : SG_BIND_FALSE;
    if (omp->bind_count > 0)
        omp->icv.bind = (uint8_t)omp->bind_list[0];
    if (!sg_places_read(places, affinity))
        ignore(places != NULL ? "OMP_PLACES" : "GOMP_CPU_AFFINITY", places != NULL ? places : affinity);
    if (omp->bind_count < 2)
        omp->bind_count = 0;
}

/* Settings that the machine leaves to the OpenMP library of the program's compiler. */
static void read_library(sg_omp *omp)
{
    const char *name = getenv("SCALEGRAPH_OPENMP"), *at = name;
    sg_config *config = &sg->config;
    bool llvm = name != NULL && word(&at, "llvm");
    if (name != NULL && !llvm && !word(&at, "libgomp"))
        ignore("SCALEGRAPH_OPENMP", name);
    omp->central = !llvm;
    if (config->barrier == SG_BARRIER_LIBRARY) {
        config->barrier = llvm ? SG_BARRIER_TREE : SG_BARRIER_CENTRAL;
        config->barrier_radix = 4; /* LLVM's: two bits of the member number at a time */
        sg->docks = !llvm;
        sg->release_cycles = llvm ? 0 : config->call_cycles;
    }
    if (config->lock == SG_LOCK_LIBRARY)
        config->lock = llvm ? SG_LOCK_QUEUE : SG_LOCK_TEST_AND_SET;
}

static void read_tasks(sg_omp *omp)
{
    const char *queue = getenv("SCALEGRAPH_TASK_QUEUE"), *at = queue;
    omp->max_priority = (int)number_of("OMP_MAX_TASK_PRIORITY", 0, INT32_MAX, 0);
    omp->central |= omp->max_priority > 0;
    if (queue == NULL)
        return;
    if (word(&at, "central"))
        omp->central = true;
    else if (word(&at, "members"))
        omp->central = omp->max_priority > 0;
    else
        ignore("SCALEGRAPH_TASK_QUEUE", queue);
}

void sg_omp_environment(void)
{
    sg_omp *omp = sg->omp;
    sg_icv *icv = &omp->icv;
    const char *format = getenv("OMP_AFFINITY_FORMAT"), *display = getenv("OMP_DISPLAY_ENV");
    omp->threads_list = list_of("OMP_NUM_THREADS", one_number, &omp->threads_count);
    icv->threads = omp->threads_count > 0 ? omp->threads_list[0] : sg->own_processors;
    if (omp->threads_count < 2)
        omp->threads_count = 0;
    icv->dynamic = truth_of("OMP_DYNAMIC", false);
    icv->thread_limit = (uint32_t)number_of("OMP_THREAD_LIMIT", 1, UINT32_MAX - 1, UINT32_MAX);
    icv->schedule = SG_DYNAMIC; /* libgomp's default */
    icv->chunk = 1;
    icv->allocator = 1;
    read_schedule(icv);
    read_affinity(omp);
    read_levels(omp);
    read_library(omp);
    read_tasks(omp);
    omp->cancellation = truth_of("OMP_CANCELLATION", false);
    omp->display_affinity = truth_of("OMP_DISPLAY_AFFINITY", false);
    omp->teams = (uint32_t)number_of("OMP_NUM_TEAMS", 1, INT32_MAX, 0);
    omp->teams_thread_limit = (uint32_t)number_of("OMP_TEAMS_THREAD_LIMIT", 1, INT32_MAX, 0);
    omp_set_affinity_format(format != NULL ? format : "level %L thread %i affinity %A");
    if (display != NULL && !word(&display, "false"))
        show(icv);
}
