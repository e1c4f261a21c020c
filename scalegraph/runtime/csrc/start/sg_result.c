/* The result file, and the normal end of a program. */
#include <stdio.h>

#include "sg_arch.h"
#include "sg_inline.h"
#include "sg_observers.h"
#include "sg_start.h"

static const char *const status_name[SG_STATUS_COUNT] = SG_STATUS_NAMES;

static bool anything_in(const sg_cost *cost)
{
    uint64_t any = 0;
    for (int i = 0; i < SG_CATEGORY_COUNT; i++)
        any |= cost->categories[i];
    for (int i = 0; i < SG_COUNTER_COUNT; i++)
        any |= cost->counters[i];
    return any != 0;
}

/* The section writers write their records, or only count them if `w` is NULL. */

static uint64_t put_costs(sg_writer *w)
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

/* How often the block that holds the code at `address` was executed: that of the last block hook before
 * it. */
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

static uint64_t put_sites(sg_writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 1; i < sg->blocks_count; i++) {
        const sg_block_cost *block = &sg->blocks[i];
        if (block->executions == 0)
            continue;
        count++;
        sg_site site = {.address = sg->block_address[i], .executions = block->executions};
        site.cycles[SG_GROUP_BUSY] = sg_observed.block_cycles != NULL
                                         ? sg_observed.block_cycles(i)
                                         : (block->executions * block->parts + block->more) / SG_PARTS;
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
            site.references = site.misses; /* the compiler merged this code of two blocks: a lower bound */
        for (int group = 0; group < SG_GROUP_COUNT; group++)
            site.cycles[group] = from->cycles[group];
        site.remote = from->remote;
        site.upgrades = from->upgrades;
        site.invalidations = from->invalidations;
        memcpy(site.causes, from->causes, sizeof site.causes);
        sg_observe_completes(i, &site);
        sg_put(w, &site, sizeof site);
    }
    return count;
}

/* What each thread was doing, then the processors that never had a thread. */
static uint64_t put_waits(sg_writer *w)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < sg->threads; i++) {
        const sg_thread *t = sg->thread[i];
        sg_wait wait = {.thread = i, .category = SG_CATEGORY_BUSY_INT, .holder = -1};
        if (t->state == SG_UNUSED || t->state == SG_ENDED)
            continue;
        count++;
        if (w == NULL)
            continue;
        if (t->processor != NULL)
            wait.processor = t->processor->id;
        wait.address = (uint64_t)(uintptr_t)(t->state == SG_RUNNING ? t->processor->site : t->site);
        if (t->state == SG_BLOCKED) {
            wait.category = t->wait_category;
            wait.object = t->wait_object;
            wait.holder = t->wait_holder;
        }
        sg_put(w, &wait, sizeof wait);
    }
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_wait wait = {
            .processor = i, .thread = UINT32_MAX, .category = SG_CATEGORY_IDLE_NOT_STARTED, .holder = -1};
        if (sg->processor[i].worked)
            continue;
        count++;
        sg_put(w, &wait, sizeof wait);
    }
    return count;
}

/* Duration of the run, T_para: the latest clock of all processors. Processor 0 runs main to its end and joins
 * every team, so it is processor 0's clock unless the program ends while others still work. */
static uint64_t last_clock(void)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < sg->processors; i++)
        if (sg_time_of(&sg->processor[i]) > last)
            last = sg_time_of(&sg->processor[i]);
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

/* The parts after META, the first: the simulator's own, then the observers', and last that of a run that did
 * not end normally. */
static const sg_result_part first_parts[] = {
    {SG_SECTION_COSTS, sizeof(sg_cost), put_costs},
    {SG_SECTION_SITES, sizeof(sg_site), put_sites},
};
static const sg_result_part waits_part = {SG_SECTION_WAITS, sizeof(sg_wait), put_waits};

enum { FIRST_PARTS = sizeof first_parts / sizeof *first_parts, MOST_PARTS = 32 };

static uint32_t collect_parts(enum sg_status status, const sg_result_part *part[MOST_PARTS])
{
    uint32_t count = 0;
    for (; count < FIRST_PARTS; count++)
        part[count] = &first_parts[count];
    count += sg_observers_parts(part + count, MOST_PARTS - 1 - count);
    if (status != SG_STATUS_OK)
        part[count++] = &waits_part;
    return count;
}

static void put_file(sg_writer *w, enum sg_status status, const char *message, int signal_number)
{
    static char text[4096] = "";
    static const char zero[8];
    const sg_result_part *part[MOST_PARTS];
    size_t size = meta(text, sizeof text, status, message, signal_number);
    uint32_t count = collect_parts(status, part);
    sg_header header = {.version = SG_FORMAT_VERSION, .endian = SG_ENDIAN_MARK, .sections = 1 + count};
    memcpy(header.magic, SG_RESULT_MAGIC, 8);
    sg_section section[1 + MOST_PARTS] = {{SG_SECTION_META, 1, size, 0}};
    for (uint32_t i = 0; i < count; i++)
        section[1 + i] = (sg_section){part[i]->id, part[i]->record_size, part[i]->put(NULL), 0};
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
            part[i - 1]->put(w);
    }
}

void sg_result_write(enum sg_status status, const char *message, int signal_number)
{
    static char temporary[SG_MAX_PATH + 16] = "";
    const char *path = sg->config.result_path;
    sg_observe_stops();
    if (path[0] == 0 || sg->processor == NULL)
        return;
    sg_writer *w = sg_new(sizeof *w); /* not static: every program's file would have to hold it */
    snprintf(temporary, sizeof temporary, "%s.part", path);
    sg_writer_open(w, temporary);
    sg_accounts_settle();
    if (!w->failed)
        put_file(w, status, message, signal_number);
    sg_writer_close(w);
    if (!w->failed && sg_arch_rename(temporary, path) != 0)
        w->failed = true;
    if (w->failed) {
        sg_arch_unlink(temporary);
        snprintf(temporary, sizeof temporary, "the result file %.3000s cannot be written", path);
        sg_say(temporary);
    }
}

/* ---- ends ---- */

/* Every account is padded to the end of the program; then each must add up to the run time. */
static void close_accounts(char *fault, size_t size)
{
    uint64_t end = last_clock();
    sg_observe_ends(end);
    sg_accounts_settle();
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        sg_account_set(p, sg_account_of(p, 0));
        enum sg_category category = p->worked ? SG_CATEGORY_IDLE_FINISHED : SG_CATEGORY_IDLE_NOT_STARTED;
        uint64_t cycles = sg_charge(p, category, end - sg_time_of(p));
        if (p->thread == NULL)
            sg_observe_waited(p, NULL, category, cycles);
        uint64_t sum = 0;
        for (uint32_t region = 0; region < p->accounts_size; region++) {
            sg_cost total;
            if (p->accounts[region] == NULL)
                continue;
            sg_account_total(p->accounts[region], &total);
            for (int category = 0; category < SG_CATEGORY_COUNT; category++)
                sum += total.categories[category];
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
    sg_observe_closes();
    close_accounts(fault, sizeof fault);
    sg_observe_checks(fault, sizeof fault);
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
