/* Threads come and go. A thread's stack lies where its number says; its thread pointer is lent by a thread of
 * the host that sleeps for ever, so that thread-local data and everything that the C library keeps for a
 * thread is as it should be. */
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>

#include "sg_arch.h"
#include "sg_runtime.h"

/* A host thread that lends its thread pointer and its stack. */
static void *park(void *argument)
{
    sg_thread *t = argument;
    t->thread_pointer = sg_arch_thread_pointer();
    /* The coroutine begins below this frame and below what the frame's calls have used. */
    t->stack_pointer = (char *)sg_arch_stack_pointer() - 1024;
    __atomic_store_n(&t->parked, 1, __ATOMIC_RELEASE);
    sg_arch_syscall(SYS_futex, (long)&t->parked, 1 /* FUTEX_WAKE */, INT_MAX, 0);
    for (;;)
        sg_arch_syscall(SYS_pause, 0, 0, 0, 0);
    return NULL;
}

extern int real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                               void *argument) __asm__("__real_pthread_create");

static void make_stack(sg_thread *t)
{
    uint64_t page = 4096, size = (sg->config.stack_bytes + page - 1) & ~(page - 1);
    if (size < 65536)
        size = 65536;
    /* 17 pages more, so that equal places of two stacks do not fall into the same cache set. */
    char *low = (char *)(SG_STACK_BASE + t->id * (size + 17 * page));
    void *stack = mmap(low, size + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE | MAP_STACK, -1, 0);
    if (stack != low || mprotect(low, page, PROT_NONE) != 0)
        sg_stop(SG_STATUS_INTERNAL, "no memory for the stack of thread %u", t->id);
    t->stack_low = low;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, low + page, size);
    int error = real_pthread_create(&thread, &attributes, park, t);
    pthread_attr_destroy(&attributes);
    if (error != 0)
        sg_stop(SG_STATUS_INTERNAL, "no host thread for thread %u: the limit of processes is reached", t->id);
}

static sg_thread *thread_at(uint32_t id)
{
    if (sg->thread[id] == NULL) {
        sg_thread *t = sg->thread[id] = sg_new(sizeof *t);
        t->id = id;
        t->stack_of_regions = sg_new(SG_REGION_DEPTH * sizeof(uint32_t));
        t->variable = id < sg->processors ? sg->first_variable + id * sg_line_bytes() : sg_variables(1);
    }
    return sg->thread[id];
}

void sg_thread_prepare(uint32_t count)
{
    sigset_t all, old;
    uint32_t first = 0, found = 0, end;
    for (end = 0; end < SG_MAX_THREADS && found < count; end++) {
        found += sg->thread[end] == NULL || sg->thread[end]->state == SG_UNUSED;
        if (found == 0)
            first = end + 1;
    }
    if (found < count)
        sg_stop(SG_STATUS_UNSUPPORTED, "the program has more than %u threads at a time", SG_MAX_THREADS);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old); /* the parked threads take no signals */
    sg_alloc_own(true);
    for (uint32_t i = first; i < end; i++)
        if (thread_at(i)->stack_low == NULL)
            make_stack(sg->thread[i]);
    sg_alloc_own(false);
    for (uint32_t i = first; i < end; i++)
        while (__atomic_load_n(&sg->thread[i]->parked, __ATOMIC_ACQUIRE) == 0)
            sg_arch_syscall(SYS_futex, (long)&sg->thread[i]->parked, 0 /* FUTEX_WAIT */, 0, 0);
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (end > sg->threads)
        sg->threads = end;
}

sg_thread *sg_thread_new(void)
{
    uint32_t id = 0;
    while (id < sg->threads && sg->thread[id]->state != SG_UNUSED)
        id++;
    if (id == sg->threads)
        sg_thread_prepare(1);
    sg_thread *t = sg->thread[id];
    t->state = SG_BLOCKED;
    t->wait_leaf = SG_LEAF_IDLE_NOT_STARTED;
    t->wait_holder = -1;
    t->places = NULL;
    t->policy = sg_self() != NULL ? sg_self()->policy : NULL;
    t->processor = NULL;
    sg_regions_reset(t, 0);
    sg_omp_adopt(t);
    return t;
}

void sg_thread_start(sg_thread *t, void (*entry)(void), uint64_t when)
{
    t->stack_pointer = sg_arch_new_stack(t->stack_pointer, entry);
    sg_wake(t, when);
}

const uint64_t *sg_thread_place(uint32_t id)
{
    uint64_t *set = sg_new(SG_MAX_PROCESSORS / 8);
    set[id / 64] = 1ull << id % 64;
    return set;
}
