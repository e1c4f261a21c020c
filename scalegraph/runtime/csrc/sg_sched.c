/* Coroutines: which simulated processor runs, and on whose stack and thread pointer. */
#define SG_ARCH_DEFINE
#include "sg_arch_x86_64.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "sg_runtime.h"

/* What hooks find before the simulation begins and after its end: nothing happens. */
static uint64_t idle_filter[1];
static sg_account idle_account;
static sg_processor idle_processor = {
    .limit = UINT64_MAX,
    .account = &idle_account,
    .filter = idle_filter,
    .shift = 6,
};

sg_context *sg;
sg_processor *sg_now = &idle_processor;

/* ---- ready processors: a heap with four children to a node ---- */

static void heap_push(uint64_t key)
{
    uint64_t *heap = sg->heap;
    uint32_t at = sg->heap_size++;
    while (at > 0) {
        uint32_t up = (at - 1) / 4;
        if (heap[up] < key)
            break;
        heap[at] = heap[up];
        at = up;
    }
    heap[at] = key;
}

/* Puts `key` where the smallest key was. The places behind the last key hold UINT64_MAX. */
static void heap_replace_top(uint64_t key)
{
    uint64_t *heap = sg->heap;
    uint32_t at = 0, size = sg->heap_size;
    for (;;) {
        uint32_t child = 4 * at + 1;
        if (child >= size)
            break;
        uint32_t a = child + (heap[child + 1] < heap[child]);
        uint32_t b = child + 2 + (heap[child + 3] < heap[child + 2]);
        uint32_t best = heap[b] < heap[a] ? b : a;
        if (key < heap[best])
            break;
        heap[at] = heap[best];
        at = best;
    }
    heap[at] = key;
}

static uint64_t heap_pop(void)
{
    uint64_t top = sg->heap[0], last = sg->heap[--sg->heap_size];
    sg->heap[sg->heap_size] = UINT64_MAX;
    if (sg->heap_size > 0)
        heap_replace_top(last);
    return top;
}

/* ---- switching ---- */

void sg_refresh_limit(sg_processor *p)
{
    if (SG_UNLIKELY(sg->stop_signal))
        p->limit = 0;
    else if (sg->heap_size == 0)
        p->limit = UINT64_MAX;
    else
        p->limit = (sg->heap[0] >> SG_KEY_BITS) + sg->config.quantum_cycles;
}

/* The processor that comes after this one is known now, and its memory is cold by then: asks the host for
 * its account, its stack, and what its pending reference will look at. */
static void expect_next(void)
{
    if (sg->heap_size == 0)
        return;
    uint32_t id = (uint32_t)(sg->heap[0] & SG_KEY_MASK);
    const sg_coroutine *next = &sg->coroutine[id];
    const char *stack = next->stack_pointer, *account = (const char *)next->account;
    const char *processor = (const char *)&sg->processor[id];
    __builtin_prefetch(processor, 1);
    __builtin_prefetch(processor + 64, 1);
    __builtin_prefetch(stack, 1);
    __builtin_prefetch(stack + 64, 1);
    __builtin_prefetch(stack + 128, 1);
    if (next->pending.address == 0)
        return;
    sg_mem_expect(sg->mem, id, next->pending.address);
    __builtin_prefetch(account, 1);
    __builtin_prefetch(account + 64, 1);
    __builtin_prefetch(account + 128, 1);
}

static void resume(sg_processor *from, sg_processor *to)
{
    expect_next();
    to->state = SG_RUNNING;
    sg_refresh_limit(to);
    /* Done here, on this stack, which is warm. */
    if (to->coroutine->pending.address != 0)
        sg_perform(to);
    sg_now = to;
    sg_arch_set_thread_pointer(to->thread_pointer, sg->fast_thread_pointer);
    sg_arch_switch(&from->coroutine->stack_pointer, to->coroutine->stack_pointer);
}

/* The running processor goes to the ready ones; the earliest of those runs. */
static void exchange(sg_processor *p)
{
    sg_processor *next = &sg->processor[sg->heap[0] & SG_KEY_MASK];
    heap_replace_top(sg_key(p));
    p->state = SG_READY;
    resume(p, next);
}

void sg_turn_slow(sg_processor *p)
{
    p->coroutine->account = p->account;
    exchange(p); /* comes back when p is the earliest */
}

void sg_yield(sg_processor *p, const void *site)
{
    p->site = site;
    if (SG_UNLIKELY(sg->stop_signal))
        sg_stop_timeout();
    sg_turn(p);
    sg_refresh_limit(p);
}

void sg_suspend(sg_processor *p, enum sg_leaf leaf, uint64_t object, int32_t holder)
{
    p->wait_leaf = leaf;
    p->wait_object = object;
    p->wait_holder = holder;
    p->state = SG_BLOCKED;
    if (SG_UNLIKELY(sg->stop_signal))
        sg_stop_timeout();
    if (SG_UNLIKELY(sg->heap_size == 0))
        sg_stop_deadlock();
    resume(p, &sg->processor[heap_pop() & SG_KEY_MASK]);
}

void sg_wake(sg_processor *q, uint64_t when)
{
    if (when > q->clock) {
        uint64_t cycles = when - q->clock;
        sg_charge(q, q->wait_leaf, cycles);
        if (q->wait_leaf != SG_LEAF_IDLE_NOT_STARTED && q->wait_leaf != SG_LEAF_IDLE_SERIAL)
            sg_site_of(q->site)->cycles[SG_GROUP_IDLE] += cycles;
    }
    q->state = SG_READY;
    heap_push(sg_key(q));
    sg_refresh_limit(sg_now);
}

void sg_wake_all(sg_queue *queue, uint64_t when)
{
    for (sg_processor *q; (q = sg_queue_take(queue)) != NULL;)
        sg_wake(q, when);
}

/* ---- stacks and thread pointers ---- */

/* A host thread that lends its thread pointer and its stack, and sleeps for ever. */
static void *park(void *argument)
{
    sg_processor *p = argument;
    p->thread_pointer = sg_arch_thread_pointer();
    /* The coroutine begins below this frame and below what the frame's calls have used. */
    p->coroutine->stack_pointer = (char *)sg_arch_stack_pointer() - 1024;
    __atomic_store_n(&p->parked, 1, __ATOMIC_RELEASE);
    sg_arch_syscall(SYS_futex, (long)&p->parked, 1 /* FUTEX_WAKE */, INT_MAX, 0);
    for (;;)
        sg_arch_syscall(SYS_pause, 0, 0, 0, 0);
    return NULL;
}

extern int real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                               void *argument) __asm__("__real_pthread_create");

static void make_stack(sg_processor *p)
{
    uint64_t page = 4096, size = (sg->config.stack_bytes + page - 1) & ~(page - 1);
    if (size < 65536)
        size = 65536;
    /* 17 pages more, so that equal places of two stacks do not fall into the same cache set. */
    char *low = (char *)(SG_STACK_BASE + p->id * (size + 17 * page));
    void *stack = mmap(low, size + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE | MAP_STACK, -1, 0);
    if (stack != low || mprotect(low, page, PROT_NONE) != 0)
        sg_stop(SG_STATUS_INTERNAL, "no memory for the stack of processor %u", p->id);
    p->stack_low = low;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, low + page, size);
    int error = real_pthread_create(&thread, &attributes, park, p);
    pthread_attr_destroy(&attributes);
    if (error != 0)
        sg_stop(SG_STATUS_INTERNAL, "no host thread for processor %u: the limit of processes is reached",
                p->id);
}

void sg_sched_prepare(uint32_t count)
{
    if (count <= sg->prepared)
        return;
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old); /* the parked threads take no signals */
    sg_alloc_own(true);
    for (uint32_t i = sg->prepared; i < count; i++)
        make_stack(&sg->processor[i]);
    sg_alloc_own(false);
    for (uint32_t i = sg->prepared; i < count; i++)
        while (__atomic_load_n(&sg->processor[i].parked, __ATOMIC_ACQUIRE) == 0)
            sg_arch_syscall(SYS_futex, (long)&sg->processor[i].parked, 0 /* FUTEX_WAIT */, 0, 0);
    sigprocmask(SIG_SETMASK, &old, NULL);
    sg->prepared = count;
}

void sg_sched_open(void)
{
    uint32_t n = sg->processors;
    sg->processor = sg_new(n * sizeof(sg_processor));
    sg->coroutine = sg_new(n * sizeof(sg_coroutine));
    sg->heap = sg_new((n + 8) * sizeof(uint64_t));
    for (uint32_t i = 0; i < n + 8; i++)
        sg->heap[i] = UINT64_MAX;
    idle_processor.block_of = sg->no_block_index - sg->text_low;
    idle_processor.blocks = sg->blocks;
    sg->fast_thread_pointer = (getauxval(AT_HWCAP2) & SG_ARCH_HWCAP2_FSGSBASE) != 0;
    for (uint32_t i = 0; i < n; i++) {
        sg_processor *p = &sg->processor[i];
        const sg_filter *filter = sg_mem_filter(sg->mem, i);
        p->id = i;
        p->coroutine = &sg->coroutine[i];
        p->filter = filter->first;
        p->rest = filter->rest;
        p->rest_ways = filter->rest_ways;
        p->hit_cycles = filter->hit_cycles;
        p->mask = filter->mask;
        p->shift = filter->shift;
        p->block_of = sg->block_index - sg->text_low;
        p->blocks = sg->blocks;
        p->limit = UINT64_MAX;
        p->wait_leaf = SG_LEAF_IDLE_NOT_STARTED;
        p->wait_holder = -1;
        p->variable = sg_variables(1);
        sg_regions_open(p);
    }
}

void sg_sched_start(sg_processor *p, void (*entry)(void))
{
    p->coroutine->stack_pointer = sg_arch_new_stack(p->coroutine->stack_pointer, entry);
    p->state = SG_READY;
    heap_push(sg_key(p));
    sg_refresh_limit(sg_now);
}

void sg_sched_enter(void (*entry)(void))
{
    sg_processor *p = &sg->processor[0];
    p->coroutine->stack_pointer = sg_arch_new_stack(p->coroutine->stack_pointer, entry);
    p->state = SG_RUNNING;
    sg_now = p;
    sg->host_thread = sg_arch_thread_pointer();
    sg_arch_set_thread_pointer(p->thread_pointer, sg->fast_thread_pointer);
    sg_arch_switch(&sg->host_stack, p->coroutine->stack_pointer);
    __builtin_unreachable();
}

void sg_finish_hooks(void)
{
    sg_now = &idle_processor;
}
