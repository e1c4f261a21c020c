/* The result of a run: a file in the simulator's format, with measured values. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sgm.h"

enum { CALIBRATION_NS = 2000000, COST_EVENTS = 10000, SERIES = 5 };

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t begin_ticks, begin_ns; /* for the frequency */
static uint64_t origin;                /* of the program's time: when the main thread was first seen */

__attribute__((constructor(101))) static void note_begin(void)
{
    begin_ns = clock_ns();
    begin_ticks = sgm_ticks();
}

/* Ticks per second, from the whole run: the longer it was, the more precise. */
double sgm_frequency(void)
{
    uint64_t ns = clock_ns(), ticks = sgm_ticks();
    while (ns - begin_ns < CALIBRATION_NS) {
        ns = clock_ns();
        ticks = sgm_ticks();
    }
    return (double)(ticks - begin_ticks) * 1e9 / (double)(ns - begin_ns);
}

void __scalegraph_enter(unsigned id);
void __scalegraph_leave(unsigned id);

/* Ticks that an event costs: the minimum of several series, on dummy accounts and a dummy trace. */
static double event_cost(void)
{
    uint64_t least = UINT64_MAX;
    sgm_thread *own = sgm_self_or_null;
    sgm_self_or_null = sgm_thread_apart();
    sgm_trace_nothing_of(sgm_self_or_null);
    for (int series = 0; series < SERIES; series++) {
        uint64_t begin = sgm_ticks();
        for (int pair = 0; pair < COST_EVENTS / 2; pair++) {
            __scalegraph_enter(1);
            __scalegraph_leave(1);
        }
        uint64_t taken = sgm_ticks() - begin;
        sgm_self_or_null->recorded = 0;
        least = taken < least ? taken : least;
    }
    sgm_self_or_null = own;
    return (double)least / COST_EVENTS;
}

bool sgm_write_all(int file, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t done = write(file, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}

/* Accounts for a thread's time since its last event: it is still computing or waiting, or is between two
 * teams. */
static void finish(sgm_thread *t, uint64_t now)
{
    if (t->over)
        return;
    sgm_read_hardware(t);
    sgm_read_kernel(t);
    t->processor = sgm_processor_of(t);
    if (t->before == NULL) {
        sgm_charge(t, now, t->category);
        return;
    }
    sgm_charge_waiting(t, t->before, t->before->ended, now);
    t->region = 0;
    sgm_charge(t, now, SG_CATEGORY_IDLE_FINISHED);
}

static size_t cost_rows(sg_cost *rows, sgm_thread *t, uint64_t now)
{
    size_t count = 0;
    for (uint32_t region = 0; region < t->regions; region++) {
        sg_cost row = {.processor = t->number, .region = region};
        uint64_t all = t->visits[region];
        memcpy(row.categories, t->accounts[region], sizeof row.categories);
        row.counters[SG_COUNTER_VISITS] = t->visits[region];
        if (region == 0) {
            row.categories[SG_CATEGORY_IDLE_NOT_STARTED] += t->first - origin;
            row.categories[SG_CATEGORY_IDLE_FINISHED] += t->over && now > t->ended ? now - t->ended : 0;
            for (int counter = 0; counter < SG_COUNTER_COUNT; counter++)
                row.counters[counter] += counter == SG_COUNTER_VISITS ? 0 : t->counters[counter];
        }
        for (int category = 0; category < SG_CATEGORY_COUNT; category++)
            all += row.categories[category];
        if (all > 0 || region == 0)
            rows[count++] = row;
    }
    return count;
}

static size_t part_rows(sg_part *rows, const sgm_thread *t)
{
    size_t count = 0;
    for (uint32_t region = 0; region < t->regions; region++)
        if (t->visits[region] > 0)
            rows[count++] =
                (sg_part){.region = region, .visits = t->visits[region], .cycles = t->elapsed[region]};
    return count;
}

static const char *const hardware_names[] = {"hw_cycles", "hw_instructions", "hw_cache_misses", "hw_stalled"};

bool sgm_several_computers(void)
{
    return getenv("SCALEGRAPH_COMPUTERS") != NULL;
}

/* The kernel's identifier of the current boot. */
static const char *boot_id(void)
{
    static char boot[64];
    FILE *file = boot[0] == '\0' ? fopen("/proc/sys/kernel/random/boot_id", "re") : NULL;
    if (file != NULL && fscanf(file, "%63s", boot) != 1)
        boot[0] = '\0';
    if (file != NULL)
        fclose(file);
    return boot[0] == '\0' ? "?" : boot;
}

const char *sgm_process_name(void)
{
    static char name[384];
    char host[256] = "";
    if (!sgm_several_computers() || gethostname(host, sizeof host - 1) != 0)
        snprintf(name, sizeof name, "%d", (int)getpid());
    else /* computers may have the same name */
        snprintf(name, sizeof name, "%s-%.8s-%d", host, boot_id(), (int)getpid());
    return name;
}

/* Adds the computer's name, its clock's unique identifier, and the comparison of clocks. */
static int computer_text(char *text, size_t room)
{
    char host[256] = "?";
    gethostname(host, sizeof host - 1);
    int at = snprintf(text, room, "computer %s %s\n", boot_id(), host);
    for (int one = 0; &sgm_clocks != NULL && one < 2; one++)
        if (sgm_clocks[one].error > 0)
            at += snprintf(text + at, room - (size_t)at, "clock.%d %llu %llu %llu\n", one,
                           (unsigned long long)sgm_clocks[one].own, (unsigned long long)sgm_clocks[one].there,
                           (unsigned long long)sgm_clocks[one].error);
    return at;
}

static size_t meta_text(char *text, size_t room, uint64_t now, double cost)
{
    const char *why = sgm_hardware_refusal();
    double hertz = sgm_frequency();
    int at =
        snprintf(text, room,
                 "time_cycles %llu\nprocessors %u\nfrequency_hz %.3f\nevent_ticks %.3f\nrank %d\npid "
                 "%s\nkhz_begin %.0f\nkhz_end %.0f\nhardware %s\n",
                 (unsigned long long)(now - origin), sgm_thread_count(), hertz, cost,
                 &sgm_rank == NULL ? -1 : sgm_rank, sgm_process_name(), sgm_speed_at_begin * hertz * 1e-3,
                 sgm_cycles_per_tick() * hertz * 1e-3, why == NULL ? "counted" : why);
    at += computer_text(text + at, room - (size_t)at);
    for (sgm_thread *t = sgm_threads(); t != NULL && (size_t)at < room; t = t->next) {
        at += snprintf(text + at, room - (size_t)at, "thread.%u %llu %llu %llu %u %d\n", t->number,
                       (unsigned long long)t->events, (unsigned long long)t->ran_ns,
                       (unsigned long long)t->waited_ns, t->processor, t->kernel);
        for (size_t one = 0; why == NULL && one < sizeof hardware_names / sizeof *hardware_names; one++)
            if ((size_t)at < room)
                at += snprintf(text + at, room - (size_t)at, "%s.%u %llu\n", hardware_names[one], t->number,
                               (unsigned long long)t->hardware[one]);
    }
    return (size_t)at < room ? (size_t)at : room;
}

static void *rows_for(size_t count, size_t size)
{
    void *found = calloc(count > 0 ? count : 1, size);
    if (found == NULL)
        sgm_stop("no memory for the result of the monitor");
    return found;
}

static void write_result(int file, const char *meta, size_t meta_bytes, uint64_t now)
{
    size_t most = 0, costs = 0, parts = 0;
    sgm_thread *main = NULL;
    for (sgm_thread *t = sgm_threads(); t != NULL; t = t->next) {
        most += t->regions;
        main = t->main ? t : main;
    }
    sg_cost *cost = rows_for(most, sizeof *cost);
    sg_part *part = rows_for(main->regions, sizeof *part);
    for (sgm_thread *t = sgm_threads(); t != NULL; t = t->next)
        costs += cost_rows(cost + costs, t, now);
    parts = part_rows(part, main);
    sg_header header = {.version = SG_FORMAT_VERSION, .endian = SG_ENDIAN_MARK, .sections = 3};
    memcpy(header.magic, SG_RESULT_MAGIC, sizeof header.magic);
    sg_section sections[3] = {{.id = SG_SECTION_META, .record_size = 1, .count = meta_bytes},
                              {.id = SG_SECTION_COSTS, .record_size = sizeof *cost, .count = costs},
                              {.id = SG_SECTION_PARTS, .record_size = sizeof *part, .count = parts}};
    uint64_t at = sizeof header + sizeof sections;
    for (int one = 0; one < 3; one++) {
        sections[one].offset = at;
        at += sections[one].record_size * sections[one].count;
    }
    bool done = sgm_write_all(file, &header, sizeof header) &&
                sgm_write_all(file, sections, sizeof sections) && sgm_write_all(file, meta, meta_bytes) &&
                sgm_write_all(file, cost, costs * sizeof *cost) &&
                sgm_write_all(file, part, parts * sizeof *part);
    if (!done)
        fprintf(stderr, "scalegraph: the result of the monitor cannot be written: %s\n", strerror(errno));
    free(cost);
    free(part);
}

void sgm_write(void)
{
    const char *place = getenv("SCALEGRAPH_MONITOR");
    char name[4096];
    uint64_t now = sgm_self_or_null->ended;
    if (place == NULL)
        return;
    for (sgm_thread *t = sgm_threads(); t != NULL; t = t->next) {
        finish(t, now);
        origin = t->first; /* the last in the list was seen first */
    }
    size_t room = 4096 + (size_t)sgm_thread_count() * 512;
    char *meta = rows_for(room, 1);
    size_t bytes = meta_text(meta, room, now, event_cost());
    sgm_trace_end(origin, now, sgm_frequency());
    snprintf(name, sizeof name, "%s.%s", place, sgm_process_name());
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        fprintf(stderr, "scalegraph: %s: the result of the monitor cannot be written: %s\n", name,
                strerror(errno));
    else {
        write_result(file, meta, bytes, now);
        close(file);
    }
    free(meta);
}
