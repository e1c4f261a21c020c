/* The result file, and how a run ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "sg_arch.h"
#include "sg_blame.h"
#include "sg_part.h"
#include "sg_race.h"
#include "sg_trace.h"
#include "sg_whatif.h"
#include "sg_class.h"
#include "sg_variable.h"

static const char *const status_name[SG_STATUS_COUNT] = SG_STATUS_NAMES;

uint64_t sg_host_ns(void)
{
    struct timespec now;
    sg_arch_syscall(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sg_say(const char *message)
{
    char line[1200];
    int size = snprintf(line, sizeof line, "scalegraph: %s\n", message);
    if (size > (int)sizeof line - 1)
        size = sizeof line - 1;
    sg_arch_syscall(SYS_write, 2, (long)line, size, 0);
}

void sg_warn(const char *remark)
{
    size_t used = strlen(sg->warnings), more = strlen(remark);
    if (strstr(sg->warnings, remark) != NULL || used + more + 3 > sizeof sg->warnings)
        return;
    if (used > 0)
        memcpy(sg->warnings + used, "; ", 3), used += 2;
    memcpy(sg->warnings + used, remark, more + 1);
}

/* ---- writing ---- */

/* A buffered file; it must work in a signal handler, so no stdio. */
typedef struct sg_writer {
    int file;
    bool failed;
    size_t used;
    uint64_t offset;
    char data[1 << 16];
} writer;

static void flush(writer *w)
{
    size_t done = 0;
    while (done < w->used && !w->failed) {
        long n = sg_arch_syscall(SYS_write, w->file, (long)(w->data + done), (long)(w->used - done), 0);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            w->failed = true;
        else
            done += (size_t)n;
    }
    w->used = 0;
}

void sg_put(writer *w, const void *data, size_t size)
{
    const char *from = data;
    if (w == NULL)
        return;
    w->offset += size;
    while (size > 0) {
        size_t n = sizeof w->data - w->used < size ? sizeof w->data - w->used : size;
        memcpy(w->data + w->used, from, n);
        w->used += n;
        from += n;
        size -= n;
        if (w->used == sizeof w->data)
            flush(w);
    }
}

static bool anything_in(const sg_cost *cost)
{
    uint64_t any = 0;
    for (int i = 0; i < SG_LEAF_COUNT; i++)
        any |= cost->leaves[i];
    for (int i = 0; i < SG_COUNTER_COUNT; i++)
        any |= cost->counters[i];
    return any != 0;
}

/* The writers of sections write their records, or only count them when `w` is NULL. */

static uint64_t put_costs(writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < sg->processors; i++) {
        const sg_processor *p = &sg->processor[i];
        for (uint32_t region = 0; region < p->accounts_size; region++) {
            sg_cost total;
            if (p->accounts[region] == NULL)
                continue;
            sg_account_total(p->accounts[region], &total);
            if (!anything_in(&total))
                continue;
            count++;
            sg_put(w, &total, sizeof total);
        }
    }
    return count;
}

/* Executions of the block that the code at `address` belongs to: the last block hook before it. */
static uint64_t executions_before(uint64_t address)
{
    uint32_t low = 0, high = sg->blocks_count - 1; /* records are sorted; number 0 is none */
    while (low < high) {
        uint32_t middle = (low + high + 1) / 2;
        if (sg->block_address[middle] <= address)
            low = middle;
        else
            high = middle - 1;
    }
    return low == 0 ? 0 : sg->blocks[low].executions;
}

static uint64_t put_sites(writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 1; i < sg->blocks_count; i++) {
        const sg_block_cost *block = &sg->blocks[i];
        if (block->executions == 0)
            continue;
        count++;
        sg_site site = {.address = sg->block_address[i], .executions = block->executions};
        site.cycles[SG_GROUP_BUSY] =
            sg->whatif != NULL ? sg_whatif_busy(i) : block->executions * block->parts / SG_PARTS;
        sg_put(w, &site, sizeof site);
    }
    for (uint32_t i = 1; i < sg->sites_count; i++) {
        const sg_site_count *from = &sg->sites[i];
        uint64_t sum = from->misses | from->references;
        for (int group = 0; group < SG_GROUP_COUNT; group++)
            sum |= from->cycles[group];
        if (sum == 0)
            continue;
        count++;
        sg_site site = {.address = from->address, .misses = from->misses};
        site.references = from->references + (from->hook ? executions_before(from->address) : 0);
        if (site.references < site.misses)
            site.references = site.misses; /* the compiler let two blocks share this code: at least those */
        for (int group = 0; group < SG_GROUP_COUNT; group++)
            site.cycles[group] = from->cycles[group];
        site.remote = from->remote;
        site.upgrades = from->upgrades;
        site.invalidations = from->invalidations;
        memcpy(site.causes, from->causes, sizeof site.causes);
        if (sg_class_of_site(i) != NULL)
            memcpy(site.classes, sg_class_of_site(i), sizeof site.classes);
        sg_put(w, &site, sizeof site);
    }
    return count;
}

/* What every thread was doing, then the processors that never had one. */
static uint64_t put_waits(writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < sg->threads; i++) {
        const sg_thread *t = sg->thread[i];
        sg_wait wait = {.thread = i, .leaf = SG_LEAF_BUSY_INT, .holder = -1};
        if (t->state == SG_UNUSED || t->state == SG_ENDED)
            continue;
        count++;
        if (w == NULL)
            continue;
        if (t->processor != NULL)
            wait.processor = t->processor->id;
        wait.address = (uint64_t)(uintptr_t)(t->state == SG_RUNNING ? t->processor->site : t->site);
        if (t->state == SG_BLOCKED) {
            wait.leaf = t->wait_leaf;
            wait.object = t->wait_object;
            wait.holder = t->wait_holder;
        }
        sg_put(w, &wait, sizeof wait);
    }
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_wait wait = {.processor = i, .thread = UINT32_MAX, .leaf = SG_LEAF_IDLE_NOT_STARTED, .holder = -1};
        if (sg->processor[i].worked)
            continue;
        count++;
        sg_put(w, &wait, sizeof wait);
    }
    return count;
}

/* The time of the run, T_para: the latest clock of all processors. Processor 0 runs main to its end and
 * joins every team, so it is its clock unless the program ends while others still work. */
static uint64_t last_clock(void)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < sg->processors; i++)
        if (sg->processor[i].clock > last)
            last = sg->processor[i].clock;
    return last;
}

static size_t meta(char *text, size_t size, enum sg_status status, const char *message, int signal_number)
{
    uint64_t references = 0;
    for (uint32_t i = 0; i < sg->processors; i++)
        for (uint32_t region = 0; region < sg->processor[i].accounts_size; region++)
            if (sg->processor[i].accounts[region] != NULL)
                references +=
                    sg->processor[i].accounts[region]->reads + sg->processor[i].accounts[region]->writes;
    double seconds = (double)(sg_host_ns() - sg->host_start_ns) * 1e-9;
    int used = snprintf(text, size,
                        "status %s\nmessage %s\ntime_cycles %llu\nclock_hz %.17g\nprocessors %u\n"
                        "exit_code %d\nsignal %d\nwarnings %s\nreferences %llu\nteam_max %u\n"
                        "threads %u\nhost_seconds %.6f\n",
                        status_name[status], message, (unsigned long long)last_clock(), sg->config.clock_hz,
                        sg->processors, sg->exit_code, signal_number, sg->warnings,
                        (unsigned long long)references, sg->team_max, sg->threads, seconds);
    return used < 0 ? 0 : (size_t)used < size ? (size_t)used : size - 1;
}

/* The sections behind META; the last one only of a run that did not end by itself. */
static const struct {
    uint32_t id, record_size;
    uint64_t (*put)(writer *w);
} parts[] = {
    {SG_SECTION_COSTS, sizeof(sg_cost), put_costs},
    {SG_SECTION_SITES, sizeof(sg_site), put_sites},
    {SG_SECTION_CAUSES, sizeof(sg_cause_cost), sg_cause_put},
    {SG_SECTION_WIDTHS, sizeof(sg_width), sg_width_put},
    {SG_SECTION_SHARED_LINES, sizeof(sg_shared_line), sg_shared_line_put},
    {SG_SECTION_LINE_USERS, sizeof(sg_line_user), sg_line_user_put},
    {SG_SECTION_LINE_PARTS, sizeof(sg_line_part), sg_line_part_put}, /* may name new variables */
    {SG_SECTION_VARIABLES, sizeof(sg_variable), sg_variable_put},
    {SG_SECTION_RESOURCES, sizeof(sg_resource), sg_resource_put},
    {SG_SECTION_BLAMES, sizeof(sg_blame), sg_blame_put},
    {SG_SECTION_BLAMED_SITES, sizeof(sg_blamed_site), sg_blamed_site_put},
    {SG_SECTION_READINGS, sizeof(sg_reading), sg_reading_put},
    {SG_SECTION_PARTS, sizeof(sg_part), sg_part_put},
    {SG_SECTION_WAITS, sizeof(sg_wait), put_waits},
};
#define PARTS (sizeof parts / sizeof *parts)

static void put_file(writer *w, enum sg_status status, const char *message, int signal_number)
{
    static char text[4096] = "";
    static const char zero[8];
    size_t size = meta(text, sizeof text, status, message, signal_number);
    uint32_t count = (uint32_t)PARTS - (status == SG_STATUS_OK);
    sg_header header = {.version = SG_FORMAT_VERSION, .endian = SG_ENDIAN_MARK, .sections = 1 + count};
    memcpy(header.magic, SG_RESULT_MAGIC, 8);
    sg_section section[1 + PARTS] = {{SG_SECTION_META, 1, size, 0}};
    for (uint32_t i = 0; i < count; i++)
        section[1 + i] = (sg_section){parts[i].id, parts[i].record_size, parts[i].put(NULL), 0};
    uint64_t offset = sizeof header + header.sections * sizeof(sg_section);
    for (uint32_t i = 0; i <= count; i++) {
        section[i].offset = offset = (offset + 7) & ~7ull;
        offset += section[i].count * section[i].record_size;
    }
    sg_put(w, &header, sizeof header);
    sg_put(w, section, header.sections * sizeof(sg_section));
    for (uint32_t i = 0; i <= count; i++) {
        sg_put(w, zero, section[i].offset - w->offset);
        if (i == 0)
            sg_put(w, text, size);
        else
            parts[i - 1].put(w);
    }
    flush(w);
}

void sg_result_write(enum sg_status status, const char *message, int signal_number)
{
    static char temporary[SG_MAX_PATH + 16] = "";
    const char *path = sg->config.result_path;
    sg_trace_stop();
    if (path[0] == 0 || sg->processor == NULL)
        return;
    writer *w = sg_new(sizeof *w); /* no variable: each program's file would have room for it */
    snprintf(temporary, sizeof temporary, "%s.part", path);
    w->file = (int)sg_arch_syscall(SYS_openat, AT_FDCWD, (long)temporary,
                                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    w->failed = w->file < 0;
    w->used = 0;
    w->offset = 0;
    sg_accounts_settle();
    if (!w->failed) {
        put_file(w, status, message, signal_number);
        sg_arch_syscall(SYS_close, w->file, 0, 0, 0);
    }
    if (!w->failed && sg_arch_rename(temporary, path) != 0)
        w->failed = true;
    if (w->failed) {
        sg_arch_unlink(temporary);
        snprintf(temporary, sizeof temporary, "the result file %.3000s cannot be written", path);
        sg_say(temporary);
    }
}

/* ---- ends ---- */

/* Every account is padded to the end of the program; then each must add up to it. */
static void close_accounts(char *fault, size_t size)
{
    uint64_t end = last_clock();
    sg_trace_finish(end);
    sg_accounts_settle();
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        p->account = sg_account_of(p, 0);
        enum sg_leaf leaf = p->worked ? SG_LEAF_IDLE_FINISHED : SG_LEAF_IDLE_NOT_STARTED;
        uint64_t cycles = sg_charge(p, leaf, end - p->clock);
        if (p->thread == NULL)
            sg_blame_wait(p, NULL, leaf, cycles);
        uint64_t sum = 0;
        for (uint32_t region = 0; region < p->accounts_size; region++) {
            sg_cost total;
            if (p->accounts[region] == NULL)
                continue;
            sg_account_total(p->accounts[region], &total);
            for (int leaf = 0; leaf < SG_LEAF_COUNT; leaf++)
                sum += total.leaves[leaf];
        }
        if (sum != end && fault[0] == 0)
            snprintf(fault, size, "the account of processor %u adds up to %llu of %llu cycles", i,
                     (unsigned long long)sum, (unsigned long long)end);
    }
}

void sg_finish(void)
{
    char fault[256] = "";
    if (sg->finished)
        return;
    sg->finished = true;
    sg_finish_hooks();
    sg_race_close();
    sg_class_close();
    close_accounts(fault, sizeof fault);
    sg_cause_check(fault, sizeof fault);
    sg_blame_check(fault, sizeof fault);
    if (fault[0] == 0 && sg->check && sg_mem_check(sg->mem, fault, sizeof fault) == 0)
        fault[0] = 0;
    if (fault[0] != 0) {
        sg_result_write(SG_STATUS_INTERNAL, fault, 0);
        sg_say(fault);
    } else if (sg->arena_exhausted && sg->exit_code != 0) {
        char message[200];
        snprintf(message, sizeof message,
                 "the program asked for %llu bytes more than the %llu bytes of memory the run may use",
                 (unsigned long long)sg->arena_request, (unsigned long long)sg->config.arena_bytes);
        sg_result_write(SG_STATUS_OUT_OF_MEMORY, message, 0);
        sg_say(message);
    } else {
        sg_result_write(SG_STATUS_OK, "", 0);
    }
}

/* Writes what the program left in the buffer of its standard output, if nobody is inside it. */
static void flush_output(void)
{
    if (_IO_ftrylockfile(stdout) == 0) {
        fflush(stdout);
        _IO_funlockfile(stdout);
    }
}

static void stop(enum sg_status status, const char *message)
{
    if (sg != NULL && !sg->finished) {
        sg->finished = true;
        sg->exit_code = SG_EXIT_STATUS;
        sg_result_write(status, message, 0);
        flush_output();
    }
    sg_say(message);
    for (;;)
        sg_arch_syscall(SYS_exit_group, SG_EXIT_STATUS, 0, 0, 0);
}

void sg_stop(enum sg_status status, const char *format, ...)
{
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    stop(status, message);
    __builtin_unreachable();
}

void sg_stop_deadlock(void)
{
    uint32_t count[SG_LEAF_COUNT] = {0}, waiting = 0;
    for (uint32_t i = 0; i < sg->threads; i++)
        if (sg->thread[i]->state == SG_BLOCKED) {
            count[sg->thread[i]->wait_leaf]++;
            waiting++;
        }
    waiting -= count[SG_LEAF_IDLE_NOT_STARTED] + count[SG_LEAF_IDLE_SERIAL];
    char text[512];
    int used = snprintf(text, sizeof text, "deadlock: all %u working threads wait for each other", waiting);
    static const struct {
        enum sg_leaf leaf;
        const char *what;
    } kinds[] = {
        {SG_LEAF_IDLE_BARRIER, "at a barrier"}, {SG_LEAF_IDLE_LOCK, "for a lock"},
        {SG_LEAF_IDLE_ORDER, "for their turn"}, {SG_LEAF_IDLE_TASK, "for tasks"},
        {SG_LEAF_IDLE_WAIT, "for a signal"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (count[kinds[i].leaf] > 0 && used < (int)sizeof text)
            used += snprintf(text + used, sizeof text - (size_t)used, ", %u %s", count[kinds[i].leaf],
                             kinds[i].what);
    for (uint32_t i = 0; i < sg->threads && used < (int)sizeof text; i++) {
        const sg_thread *t = sg->thread[i];
        if (t->state == SG_BLOCKED && t->wait_holder >= 0) {
            snprintf(text + used, sizeof text - (size_t)used, "; thread %u waits for what thread %d holds", i,
                     t->wait_holder);
            break;
        }
    }
    stop(SG_STATUS_DEADLOCK, text);
    __builtin_unreachable();
}

void sg_stop_timeout(void)
{
    stop(SG_STATUS_TIMEOUT, "the program was stopped at its time limit");
    __builtin_unreachable();
}
