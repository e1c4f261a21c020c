/* The state of the runtime, and the current processor. */
#include "sg_state.h"
#include "sg_watch.h"

/* What hooks see before and after the simulation: nothing happens. */
static uint64_t idle_filter[1] = {0};
sg_quick sg_quick_none = {0};
static sg_account idle_account = {.executions = {0}}; /* for code without a block */
sg_processor sg_idle_processor = {
    .time_limit = UINT64_MAX,
    .account = &idle_account,
    .filter = idle_filter,
    .fast = idle_filter,
    .quick = &sg_quick_none,
    .shift = 6,
};

sg_context *sg = NULL;
bool (*sg_begin_early)(const void *site) = NULL;
sg_processor *sg_now = &sg_idle_processor;

void sg_finish_hooks(void)
{
    sg_now = &sg_idle_processor;
}

bool (*sg_watch)(sg_processor *p, uint64_t address, uint64_t size, enum sg_access kind,
                 const void *site) = NULL;
