/* Sampling by itself begins once the run has been long. Its length is what was simulated, in nanoseconds of a
 * host by fixed weights, so that two runs are the same: references, blocks and misses. They are read from the
 * accounts, which are not changed, and only when the clock has advanced by an eighth since the last time. */
#include "sg_sample_long.h"

#include "sg_cells.h"
#include "sg_runtime.h"

/* Weights: a machine with a pipeline takes longer for each block. */
enum { REFERENCE_NS = 3, BLOCK_NS = 3, PIPELINE_NS = 12, MISS_NS = 600 };
enum { CYCLE_NS = 16 };        /* a processor's cycle takes less than this */
#define USUAL_NS 1000000000ull /* unless the configuration says otherwise */

static struct {
    uint64_t next; /* clock at which to look again */
    uint64_t after;
} waits = {0};

static uint64_t executions_of(const sg_account *a, uint64_t *references)
{
    uint32_t count = sg->executions_count;
    uint64_t sum = 0;
    *references += a->reads + a->writes;
    for (uint32_t i = 0; (i = sg_account_next(a, i)) != SG_NO_BLOCK; i++) {
        const sg_slot *slot = &sg->slots[i < count ? i : i - count];
        sum += a->executions[i];
        *references += a->executions[i] * (slot->reads + slot->writes);
    }
    return sum;
}

static uint64_t length(void)
{
    uint64_t blocks = 0, references = 0, misses = 0;
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        blocks += sg->blocks[i].executions;
    for (uint32_t i = 0; i < sg->processors; i++)
        for (uint32_t region = 0; region < sg->processor[i].accounts_size; region++) {
            const sg_account *a = sg->processor[i].accounts[region];
            if (a == NULL)
                continue;
            blocks += executions_of(a, &references);
            misses += a->events[SG_COUNTER_MISSES - SG_COUNTER_L1_MISSES];
        }
    return references * REFERENCE_NS + blocks * (sg->overlaps ? PIPELINE_NS : BLOCK_NS) + misses * MISS_NS;
}

bool sg_sample_long(void)
{
    if (waits.after == 0) {
        waits.after = sg->config.sample_after > 0 ? sg->config.sample_after : USUAL_NS;
        waits.next = waits.after / ((uint64_t)sg->processors * CYCLE_NS);
    }
    uint64_t clock = sg_latest();
    if (clock < waits.next)
        return false;
    waits.next = clock + clock / 8;
    return length() >= waits.after;
}

void sg_sample_later(void)
{
    waits.after = 2 * length();
}
