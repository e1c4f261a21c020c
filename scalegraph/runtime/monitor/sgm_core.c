/* Threads, regions and accounts. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sgm.h"

_Thread_local sgm_thread *sgm_self_or_null __attribute__((tls_model("initial-exec")));
bool sgm_is_on;
double sgm_speed_at_begin;

/* This section marks a linked program as one with a monitor. */
__attribute__((section(".scalegraph.monitor"), used)) static const char mark[] = "monitor";

static sgm_thread *threads; /* newest first */
static uint32_t thread_count;
static int64_t lock;
static sgm_team *free_teams;
static uint32_t pins[1024], pin_count, first_pin;

static void acquire(void)
{
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
        sched_yield();
}

static void release(void)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

void sgm_stop(const char *sentence)
{
    fprintf(stderr, "scalegraph: %s\n", sentence);
    _exit(EXIT_FAILURE);
}

/* Our own zeroed memory: the program's allocator, and mmap, may be replaced, and may call what we wrap. */
static void *mapped(size_t bytes, int flags)
{
    long found =
        syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0L);
    if (found == -1)
        sgm_stop("no memory for the monitor");
    return (void *)found;
}

void *sgm_new_memory(size_t bytes)
{
    return mapped(bytes, 0);
}

/* The same without later page faults, which would count as the program's. */
void *sgm_touched_memory(size_t bytes)
{
    return mapped(bytes, MAP_POPULATE);
}

static void *grown(void *before, size_t item, uint32_t had, uint32_t wanted)
{
    void *fresh = sgm_new_memory(item * wanted);
    if (before != NULL) {
        memcpy(fresh, before, item * had);
        syscall(SYS_munmap, before, item * had);
    }
    return fresh;
}

void sgm_grow(sgm_thread *t, uint32_t region)
{
    uint32_t wanted = t->regions > 0 ? t->regions : 64;
    while (wanted <= region)
        wanted *= 2;
    t->accounts = grown(t->accounts, sizeof *t->accounts, t->regions, wanted);
    t->visits = grown(t->visits, sizeof *t->visits, t->regions, wanted);
    if (t->main) {
        t->open = grown(t->open, sizeof *t->open, t->regions, wanted);
        t->elapsed = grown(t->elapsed, sizeof *t->elapsed, t->regions, wanted);
    }
    t->regions = wanted;
}

sgm_thread *sgm_threads(void)
{
    return threads;
}

uint32_t sgm_thread_count(void)
{
    return thread_count;
}

static void pin(uint32_t number)
{
    cpu_set_t set;
    if (pin_count == 0)
        return;
    CPU_ZERO(&set);
    CPU_SET(pins[(first_pin + number) % pin_count], &set);
    sched_setaffinity(0, sizeof set, &set);
}

sgm_thread *sgm_begin_thread(uint32_t region)
{
    sgm_thread *t = sgm_new_memory(sizeof *t);
    t->category = SGM_COMPUTING;
    t->kernel = (int32_t)syscall(SYS_gettid);
    t->inherited = t->region = region;
    acquire();
    t->number = thread_count++;
    t->main = t->number == 0;
    t->task = sgm_implicit_task(t);
    sgm_grow(t, region);
    t->next = threads;
    threads = t;
    release();
    pin(t->number);
    sgm_read_kernel(t);
    sgm_count_hardware(t);
    sgm_trace_begin_thread(t);
    sgm_self_or_null = t;
    if (t->main)
        sgm_speed_at_begin = sgm_cycles_per_tick();
    sgm_begin_meter(t);
    t->first = t->last = t->metered_at = sgm_ticks();
    if (t->main)
        sgm_trace_from(t->first);
    return t;
}

/* A thread in no list, like the main one. */
sgm_thread *sgm_thread_apart(void)
{
    sgm_thread *t = sgm_new_memory(sizeof *t);
    t->category = SGM_COMPUTING;
    t->main = true;
    sgm_grow(t, 1);
    for (int one = 0; one < 4; one++)
        t->hardware_files[one] = -1;
    t->migrations_file = -1;
    t->last = t->metered_at = sgm_ticks();
    return t;
}

/* Reads the kernel's counts for thread `t`: how long it ran, and how long it was ready but not running; since
 * its start, if that was read before. */
void sgm_read_kernel(sgm_thread *t)
{
    char name[64], text[128];
    unsigned long long ran = 0, waited = 0;
    snprintf(name, sizeof name, "/proc/self/task/%d/schedstat", t->kernel);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    if (sscanf(text, "%llu %llu", &ran, &waited) == 2) {
        t->ran_ns = ran - t->ran_ns;
        t->waited_ns = waited - t->waited_ns;
    }
}

/* The processor on which a live thread last ran, according to the kernel: field 39 of its `stat`. */
uint32_t sgm_processor_of(const sgm_thread *t)
{
    char name[64], text[1024];
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", t->kernel);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    const char *at = strrchr(text, ')'); /* the name before it may contain spaces */
    for (int field = 2; at != NULL && field < 39; field++)
        at = strchr(at + 1, ' ');
    return at == NULL ? 0 : (uint32_t)strtoul(at, NULL, 10);
}

void sgm_end_thread(void)
{
    sgm_thread *t = sgm_self_or_null;
    if (t == NULL || t->over)
        return;
    sgm_charge(t, sgm_ticks(), t->category);
    t->ended = t->last;
    t->over = true;
    if (!SGM_LIKELY((sgm_traced & SGM_TRACE_COUNTERS) == 0))
        sgm_trace_end_thread(t);
    int at = sched_getcpu();
    t->processor = at < 0 ? 0 : (uint32_t)at;
    sgm_read_hardware(t);
    sgm_read_kernel(t);
}

/* ---- regions ---- */

SGM_API void __scalegraph_enter(unsigned id)
{
    sgm_thread *t = sgm_self();
    uint64_t now = sgm_ticks();
    if (!SGM_LIKELY(id < t->regions))
        sgm_grow(t, id);
    sgm_charge(t, now, t->category);
    t->events++;
    t->visits[id]++;
    uint32_t depth = t->depth++;
    if (!SGM_LIKELY(depth < SGM_DEPTH))
        return;
    t->stack[depth] = t->region;
    t->region = id;
    if (t->main) {
        t->entered[depth] = now;
        t->open[id]++;
    }
    if (!SGM_LIKELY((sgm_traced & SGM_TRACE_REGIONS) == 0))
        sgm_trace_call(t, 1, id, now);
}

/* Host threads start outside all regions. */
SGM_API void __scalegraph_enter_library(unsigned id)
{
    __scalegraph_enter(id);
}

static void pop(sgm_thread *t, uint64_t now)
{
    uint32_t id = t->region;
    if (--t->depth >= SGM_DEPTH)
        return;
    t->region = t->stack[t->depth];
    if (!SGM_LIKELY((sgm_traced & SGM_TRACE_REGIONS) == 0))
        sgm_trace_call(t, 2, id, now);
    if (t->main && --t->open[id] == 0)
        t->elapsed[id] += now - t->entered[t->depth];
}

SGM_API void __scalegraph_leave(unsigned id)
{
    sgm_thread *t = sgm_self();
    uint64_t now = sgm_ticks();
    sgm_charge(t, now, t->category);
    t->events++;
    if (SGM_LIKELY(t->region == id || t->depth > SGM_DEPTH)) {
        if (t->depth > 0)
            pop(t, now);
        return;
    }
    uint32_t at = t->depth; /* a jump left regions inside this one */
    while (at > 0 && t->stack[at - 1] != id)
        at--;
    if (at == 0)
        return;
    while (t->depth >= at && t->region != id)
        pop(t, now);
    pop(t, now);
}

/* ---- teams ---- */

sgm_team *sgm_new_team(const sgm_thread *master, uint64_t forked)
{
    acquire();
    sgm_team *team = free_teams;
    if (team != NULL)
        free_teams = team->next;
    release();
    if (team == NULL)
        team = sgm_new_memory(sizeof *team);
    *team =
        (sgm_team){.users = 1, .forked = forked, .ended = forked, .region = master->region, .master = master};
    return team;
}

void sgm_forget_team(sgm_team *team)
{
    if (team == NULL || __atomic_sub_fetch(&team->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    acquire();
    team->next = free_teams;
    free_teams = team;
    release();
}

/* The thread was at a barrier of `team`: until the last member arrived at `arrived` it waited for it, then
 * for tasks while there were any. The rest of the time up to `now` is not charged. */
void sgm_charge_waiting(sgm_thread *t, const sgm_team *team, uint64_t arrived, uint64_t now)
{
    uint64_t worked = __atomic_load_n(&team->worked, __ATOMIC_ACQUIRE);
    arrived = arrived < now ? arrived : now;
    worked = worked < now ? worked : now;
    sgm_trace_wait(t, SG_CATEGORY_IDLE_BARRIER, t->last, arrived, (uintptr_t)team);
    if (arrived > t->last)
        sgm_charge(t, arrived, SG_CATEGORY_IDLE_BARRIER);
    sgm_trace_wait(t, SG_CATEGORY_IDLE_TASK, t->last, worked, 0);
    if (worked > t->last)
        sgm_charge(t, worked, SG_CATEGORY_IDLE_TASK);
}

/* The calling thread begins its part of `team`. Since its part of the previous team it has waited: for that
 * team's last member, then for this fork. */
void sgm_enter_team(sgm_team *team)
{
    sgm_thread *t = sgm_self();
    uint64_t now = sgm_ticks();
    __atomic_add_fetch(&team->users, 1, __ATOMIC_RELAXED);
    if (t->before != NULL) {
        uint64_t ended = __atomic_load_n(&t->before->ended, __ATOMIC_ACQUIRE);
        t->region = t->before->region;
        sgm_charge_waiting(t, t->before, ended, now);
        sgm_forget_team(t->before);
        t->before = NULL;
    }
    if (t != team->master) {
        uint64_t forked = team->forked < now ? team->forked : now;
        t->region = 0;
        sgm_trace_wait(t, SG_CATEGORY_IDLE_SERIAL, t->last, forked, (uintptr_t)team);
        if (forked > t->last)
            sgm_charge(t, forked, SG_CATEGORY_IDLE_SERIAL);
    }
    t->region = team->region;
    sgm_charge(t, now, SG_CATEGORY_PRIM_FORK_JOIN);
    t->category = SGM_COMPUTING;
    t->barriers = 0;
    t->events++;
}

/* The calling thread reached the end of its part of `team`. */
void sgm_end_of_team(sgm_team *team, uint64_t now)
{
    sgm_thread *t = sgm_self();
    sgm_charge(t, now, t->category);
    t->region = team->region;
    t->category = SG_CATEGORY_IDLE_BARRIER;
    if (!SGM_LIKELY((sgm_traced & SGM_TRACE_WAITS) == 0))
        sgm_trace_mark(t, SG_MARK_BARRIER, now, (uintptr_t)team);
    sgm_latest(&team->ended, now);
    if (!SGM_LIKELY(sgm_traced == 0))
        sgm_trace_make_room(t);
}

/* ---- start and end of the program ---- */

/* Takes the processors that this process may use: the launcher does not know their numbers on another
 * computer. */
static void own_pins(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (uint32_t one = 0; one < CPU_SETSIZE && pin_count < sizeof pins / sizeof *pins; one++)
        if (CPU_ISSET(one, &set))
            pins[pin_count++] = one;
}

static void read_pins(const char *text)
{
    if (strcmp(text, "own") == 0)
        own_pins();
    while (*text != '\0' && pin_count < sizeof pins / sizeof *pins) {
        char *end;
        unsigned long found = strtoul(text, &end, 10);
        if (end == text)
            return;
        pins[pin_count++] = (uint32_t)found;
        text = *end == ',' ? end + 1 : end;
    }
}

/* The total number of threads of the processes before this one on the same computer, according to the MPI
 * launcher. */
static uint32_t place_of_process(void)
{
    static const char *const names[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID",
                                        "PMI_RANK"};
    const char *each = getenv("SCALEGRAPH_PIN_EACH"), *rank = NULL;
    for (size_t one = 0; rank == NULL && one < sizeof names / sizeof *names; one++)
        rank = getenv(names[one]);
    return each == NULL || rank == NULL ? 0 : (uint32_t)(strtoul(each, NULL, 10) * strtoul(rank, NULL, 10));
}

__attribute__((destructor)) static void at_end(void)
{
    if (!sgm_is_on)
        return;
    sgm_end_thread();
    sgm_write();
    sgm_is_on = false;
}

__attribute__((constructor)) static void at_begin(void)
{
    const char *given = getenv("SCALEGRAPH_PIN");
    if (given != NULL)
        read_pins(given);
    first_pin = place_of_process();
    sgm_is_on = getenv("SCALEGRAPH_MONITOR") != NULL;
    if (sgm_is_on)
        sgm_trace_begin();
    sgm_self();
}
