/* Accounts of cycles and events, regions, and per-address records. */
#ifndef SG_ACCOUNT_H
#define SG_ACCOUNT_H

#include "sg_observer.h"

extern const uint8_t sg_category_group[SG_CATEGORY_COUNT];

void sg_cost_open(void);
/* Sets the costs of block `number`, at all speeds, from its rows. */
void sg_cost_set(uint32_t number);
/* `rows` of the block table, sorted by address; call it after the blocks are open. */
void sg_clock_open(const sg_clock_row *rows, size_t count);
/* The clock value that code before `site` reads: cycles so far, except those charged in advance to its block
 * and the blocks of its callers. */
uint64_t sg_clock_now(const void *site);
/* Cycles by which the clock that the program reads is ahead of the current processor's. */
int64_t sg_clock_ahead(void);
/* Makes `region` the only region of `t` (a worker joining a team). */
void sg_regions_reset(sg_thread *t, uint32_t region);
sg_account *sg_account_of(sg_processor *p, uint32_t region);
/* Index of the first of the account's executions from `from` on that is not 0, or SG_NO_BLOCK. */
uint32_t sg_account_next(const sg_account *account, uint32_t from);
/* Adds up the cost of the blocks executed in `account` and resets their counts; calls `executed`, unless
 * NULL, for each. */
void sg_account_settle(sg_account *account, void (*executed)(uint32_t block, uint64_t executions));
/* Adds the costs of all blocks executed so far to the accounts and to sg->blocks. */
void sg_accounts_settle(void);
/* Copies a settled account into a record of the result file. */
void sg_account_total(const sg_account *account, sg_cost *total);
uint32_t sg_region(const sg_thread *t);
/* The region in which a thread created by `t` starts: the library call it is in, or 0. */
uint32_t sg_region_lent(const sg_thread *t);
/* Continues the running thread in `region`, and later back at depth `depth`. */
void sg_regions_push(sg_thread *t, uint32_t region);
void sg_regions_pop(sg_thread *t, uint32_t depth);
sg_site_count *sg_site_new(uintptr_t address);

/* The record of a code address; number 0 stands for all addresses outside the program. */
static inline sg_site_count *sg_site_of(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    if (SG_UNLIKELY(at - sg->text_low > sg->text_high - sg->text_low))
        return &sg->sites[0];
    uint32_t index = sg->site_index[at - sg->text_low];
    return SG_LIKELY(index != 0) ? &sg->sites[index] : sg_site_new(at);
}

/* From here on the running thread may know what others have done. Used only by the race hint. */
static inline void sg_synchronise(void)
{
    if (sg_now->thread != NULL)
        sg_now->thread->synced = sg->writes_seen;
}

/* Fractions of a cycle in `account` that the clock has not taken yet. */
static inline uint64_t sg_account_parts(const sg_account *account)
{
    const sg_processor *p = &sg->processor[account->rest.processor];
    return p->account == account ? p->parts : account->parts;
}

/* The only way to advance a clock, besides the block hook in sg_hooks.c: time and account move together.
 * Returns the cycles charged: `cycles`, unless primitives are scaled. */
static inline uint64_t sg_charge(sg_processor *p, enum sg_category category, uint64_t cycles)
{
    if (SG_UNLIKELY(sg->primitives_differ))
        cycles = sg_observed.primitive(p, category, cycles);
    sg_advance(p, cycles);
    p->account->rest.categories[category] += cycles;
    return cycles;
}

/* The same, and charges the code address at which `p` entered the runtime. */
static inline void sg_charge_site(sg_processor *p, enum sg_category category, uint64_t cycles)
{
    sg_site_of(p->site)->cycles[sg_category_group[category]] += sg_charge(p, category, cycles);
}

static inline void sg_count(sg_processor *p, enum sg_counter counter, uint64_t n)
{
    p->account->rest.counters[counter] += n;
}

#endif
