/* The query and setting functions of omp.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sg_omp.h"

#define QUESTION(name, answer)                                                                               \
    SG_API int name(void)                                                                                    \
    {                                                                                                        \
        const sg_thread *t = sg_member(SG_CALLER);                                                           \
        (void)t;                                                                                             \
        return (int)(answer);                                                                                \
    }
#define SETTING(name, member, value)                                                                         \
    SG_API void name(int wanted)                                                                             \
    {                                                                                                        \
        sg_icv *icv = &sg_member(SG_CALLER)->task->icv;                                                      \
        icv->member = value;                                                                                 \
    }

static int limit_int(uint32_t value)
{
    return value > INT32_MAX ? INT32_MAX : (int)value;
}

QUESTION(omp_get_num_threads, t->team->size)
QUESTION(omp_get_thread_num, t->member)
QUESTION(omp_get_max_threads, t->task->icv.threads)
QUESTION(omp_get_num_procs, sg->own_processors)
QUESTION(omp_in_parallel, t->team->active_level > 0)
QUESTION(omp_get_dynamic, t->task->icv.dynamic)
QUESTION(omp_get_nested,
         t->task->icv.max_active_levels > 1 && t->task->icv.max_active_levels > t->team->active_level)
QUESTION(omp_get_max_active_levels, t->task->icv.max_active_levels)
QUESTION(omp_get_supported_active_levels, SG_LEVELS_MOST)
QUESTION(omp_get_thread_limit, limit_int(t->task->icv.thread_limit))
QUESTION(omp_get_level, t->team->level)
QUESTION(omp_get_active_level, t->team->active_level)
QUESTION(omp_get_cancellation, sg->omp->cancellation)
QUESTION(omp_in_final, t->task->final)
QUESTION(omp_in_explicit_task, !t->task->implicit)
QUESTION(omp_get_proc_bind, t->task->icv.bind)
QUESTION(omp_get_num_teams, t->team->root->league_size)
QUESTION(omp_get_team_num, t->team->root->league_rank)
QUESTION(omp_get_max_teams, sg->omp->teams)
QUESTION(omp_get_teams_thread_limit, sg->omp->teams_thread_limit)
QUESTION(omp_get_max_task_priority, sg->omp->max_priority)

SETTING(omp_set_num_threads, threads, wanted > 0 ? (uint32_t)wanted : 1)
SETTING(omp_set_dynamic, dynamic, wanted != 0)
SETTING(omp_set_default_device, device, wanted >= 0 ? wanted : 0)

SG_API int omp_get_default_device(void)
{
    return sg_member(SG_CALLER)->task->icv.device;
}

SG_API void omp_set_nested(int nested)
{
    sg_icv *icv = &sg_member(SG_CALLER)->task->icv;
    if (nested)
        icv->max_active_levels = SG_LEVELS_MOST;
    else if (icv->max_active_levels > 1)
        icv->max_active_levels = 1;
}

SG_API void omp_set_max_active_levels(int levels)
{
    if (levels >= 0)
        sg_member(SG_CALLER)->task->icv.max_active_levels =
            (uint8_t)(levels > SG_LEVELS_MOST ? SG_LEVELS_MOST : levels);
}

SG_API void omp_set_num_teams(int teams)
{
    sg->omp->teams = teams > 0 ? (uint32_t)teams : 0;
}

SG_API void omp_set_teams_thread_limit(int limit)
{
    sg->omp->teams_thread_limit = limit > 0 ? (uint32_t)limit : 0;
}

SG_API void omp_set_schedule(unsigned kind, int chunk)
{
    static const enum sg_schedule kinds[] = {SG_STATIC, SG_STATIC, SG_DYNAMIC, SG_GUIDED, SG_AUTO};
    sg_icv *icv = &sg_member(SG_CALLER)->task->icv;
    unsigned base = kind & 0x7fffffff;
    if (base < 1 || base >= sizeof kinds / sizeof kinds[0])
        return;
    icv->schedule = kinds[base];
    icv->chosen = NULL;
    icv->monotonic = kind >> 31;
    icv->chunk = chunk > 0 ? (uint64_t)chunk : base == 1 || base == 4 ? 0 : 1;
}

SG_API void omp_get_schedule(unsigned *kind, int *chunk)
{
    const sg_icv *icv = &sg_member(SG_CALLER)->task->icv;
    *kind = ((unsigned)icv->schedule + 1) | (icv->monotonic ? 0x80000000u : 0);
    *chunk = (int)icv->chunk;
}

static const sg_team *team_at(int level, uint32_t *member)
{
    const sg_thread *t = sg_self() != NULL ? sg_self() : &sg->omp->outside;
    const sg_team *team = t->team;
    *member = t->member;
    if (level < 0 || level > (int)team->level)
        return NULL;
    while ((int)team->level > level) {
        *member = team->master_member;
        team = team->parent;
    }
    return team;
}

SG_API int omp_get_ancestor_thread_num(int level)
{
    uint32_t member;
    sg_member(SG_CALLER);
    return team_at(level, &member) != NULL ? (int)member : -1;
}

SG_API int omp_get_team_size(int level)
{
    uint32_t member;
    sg_member(SG_CALLER);
    const sg_team *team = team_at(level, &member);
    return team != NULL ? (int)team->size : -1;
}

SG_API double omp_get_wtime(void)
{
    sg_observe_reads_clock(SG_CALLER);
    return (double)sg_clock_now(SG_CALLER) / sg->config.clock_hz;
}

SG_API double omp_get_wtick(void)
{
    return 1.0 / sg->config.clock_hz;
}

SG_API int omp_pause_resource(int kind, int device)
{
    (void)kind;
    return device == 0 ? 0 : -1;
}

SG_API int omp_pause_resource_all(int kind)
{
    (void)kind;
    return 0;
}

/* ---- affinity format ---- */

typedef struct field {
    char letter;
    const char *name;
} field;

static const field fields[] = {
    {'t', "team_num"},
    {'T', "num_teams"},
    {'L', "nesting_level"},
    {'n', "thread_num"},
    {'N', "num_threads"},
    {'a', "ancestor_tnum"},
    {'H', "host"},
    {'P', "process_id"},
    {'i', "native_thread_id"},
    {'A', "thread_affinity"},
    {0, NULL},
};

static void write_processors(char *text, size_t size, const sg_thread *t)
{
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < sg->processors; i++) {
        uint32_t last = i;
        if (!sg_thread_fits(t, i))
            continue;
        while (last + 1 < sg->processors && sg_thread_fits(t, last + 1))
            last++;
        int written = last > i ? snprintf(text + used, size - used, "%s%u-%u", used ? "," : "", i, last)
                               : snprintf(text + used, size - used, "%s%u", used ? "," : "", i);
        used += (size_t)written;
        if (used >= size)
            return;
        i = last;
    }
}

static void write_field(char *text, size_t size, const sg_thread *t, char letter)
{
    uint32_t above;
    long value = 0;
    switch (letter) {
    case 't':
        value = t->team->root->league_rank;
        break;
    case 'T':
        value = t->team->root->league_size;
        break;
    case 'L':
        value = t->team->level;
        break;
    case 'n':
        value = t->member;
        break;
    case 'N':
        value = t->team->size;
        break;
    case 'a':
        value = team_at((int)t->team->level - 1, &above) != NULL ? (long)above : -1;
        break;
    case 'H':
        snprintf(text, size, "simulated");
        return;
    case 'P':
        value = getpid();
        break;
    case 'i':
        value = t->id;
        break;
    default:
        write_processors(text, size, t);
        return;
    }
    snprintf(text, size, "%ld", value);
}

/* Letter of the field whose name, "{name}" or "n", begins at *at; 0: none. */
static char field_letter(const char **at)
{
    const char *name = *at, *end = *name == '{' ? strchr(name, '}') : NULL;
    for (const field *f = fields; f->name != NULL; f++) {
        if (end != NULL && strlen(f->name) == (size_t)(end - name - 1) &&
            strncmp(f->name, name + 1, strlen(f->name)) == 0) {
            *at = end + 1;
            return f->letter;
        }
        if (*name == f->letter) {
            *at = name + 1;
            return f->letter;
        }
    }
    return 0;
}

static size_t capture(const sg_thread *t, char *buffer, size_t size, const char *format)
{
    size_t used = 0;
    const char *at = format != NULL && *format != 0 ? format : sg->omp->affinity_format;
    while (*at != 0) {
        char text[512] = {*at++, 0};
        int width = 0;
        bool zeros = false, right = false;
        if (text[0] == '%' && *at != '%') {
            zeros = *at == '0' && at++;
            right = *at == '.' && at++;
            for (; *at >= '0' && *at <= '9'; at++)
                width = 10 * width + (*at - '0');
            char letter = field_letter(&at);
            if (letter == 0)
                sg_stop(SG_STATUS_CRASHED, "the affinity format has an unknown field at `%s`", at);
            write_field(text, sizeof text, t, letter);
        } else if (text[0] == '%') {
            at++;
        }
        char padded[600];
        int length = snprintf(padded, sizeof padded, right || zeros ? "%*s" : "%-*s", width, text);
        for (int i = 0; zeros && i < length && padded[i] == ' '; i++)
            padded[i] = '0';
        for (int i = 0; i < length; i++, used++)
            if (used + 1 < size)
                buffer[used] = padded[i];
    }
    if (size > 0)
        buffer[used < size ? used : size - 1] = 0;
    return used;
}

SG_API size_t omp_capture_affinity(char *buffer, size_t size, const char *format)
{
    return capture(sg_member(SG_CALLER), buffer, size, format);
}

void sg_omp_show_affinity(const sg_thread *t, const char *format)
{
    char text[1024];
    capture(t, text, sizeof text, format);
    fprintf(stderr, "%s\n", text);
}

SG_API void omp_display_affinity(const char *format)
{
    sg_omp_show_affinity(sg_member(SG_CALLER), format);
}

SG_API void omp_set_affinity_format(const char *format)
{
    snprintf(sg->omp->affinity_format, sizeof sg->omp->affinity_format, "%s", format);
}

SG_API size_t omp_get_affinity_format(char *buffer, size_t size)
{
    if (size > 0)
        snprintf(buffer, size, "%s", sg->omp->affinity_format);
    return strlen(sg->omp->affinity_format);
}

/* ---- the error directive at run time, with libgomp's messages ---- */

static void encountered(const char *severity, const char *message, size_t length)
{
    fprintf(stderr, "\nlibgomp: %serror directive encountered", severity);
    if (message != NULL)
        fprintf(stderr, ": %.*s", length == (size_t)-1 ? (int)strlen(message) : (int)length, message);
    fputc('\n', stderr);
}

SG_API void GOMP_warning(const char *message, size_t length)
{
    encountered("", message, length);
}

SG_API void GOMP_error(const char *message, size_t length)
{
    encountered("fatal error: ", message, length);
    exit(EXIT_FAILURE);
}
