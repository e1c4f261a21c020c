/* Creation and end of threads. A thread's stack address follows from its number. Its thread pointer is
 * borrowed from a host thread that sleeps for ever, so that thread-local data and the C library's per-thread
 * state work as usual. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>

#include "sg_alloc.h"
#include "sg_arch.h"
#include "sg_runtime.h"

/* States of a host thread; AWAITED: not parked yet, and the runtime sleeps until it is. */
enum { NO_HOST = 0, PARKED = 1, ENDS = 2, AWAITED = 3 };

/* A host thread that lends its thread pointer and its stack. */
static void *park(void *argument)
{
    sg_thread *t = argument;
    t->thread_pointer = sg_arch_thread_pointer();
    /* The coroutine starts below this frame and what its calls have used. */
    t->stack_pointer = (char *)sg_arch_stack_pointer() - 1024;
    if (__atomic_exchange_n(&t->parked, PARKED, __ATOMIC_ACQ_REL) == AWAITED)
        sg_arch_syscall(SYS_futex, (long)&t->parked, 1 /* FUTEX_WAKE */, INT_MAX, 0);
    while (__atomic_load_n(&t->parked, __ATOMIC_ACQUIRE) == PARKED)
        sg_arch_syscall(SYS_futex, (long)&t->parked, 0 /* FUTEX_WAIT */, PARKED, 0);
    return NULL; /* into the C library, which ends the thread */
}

static sg_thread *thread_at(uint32_t id)
{
    if (sg->thread[id] == NULL) {
        sg_thread *t = sg->thread[id] = sg_new(sizeof *t);
        t->id = id;
        t->stack_of_regions = sg_new(SG_REGION_DEPTH * sizeof(uint32_t));
        t->variable = id < sg->processors ? sg->first_variable + id * sg_line_bytes()
                                          : sg_variables_of(1, SG_OWN_QUEUE);
    }
    return sg->thread[id];
}

#define PAGE 4096ull

static uint64_t to_pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) & ~(PAGE - 1);
}

/* Thread-local data lies above the thread's stack, in the same memory. */
static uint64_t stack_room(uint64_t bytes)
{
    bytes = to_pages(bytes) + (sg->thread_data > 2 * PAGE ? to_pages(sg->thread_data) : 0);
    return bytes < 65536 ? 65536 : bytes;
}

/* 17 extra pages, so that the same offset in two stacks does not map to the same cache set. */
uint64_t sg_stack_stride(void)
{
    return stack_room(sg->config.stack_bytes) + 17 * PAGE;
}

static bool map_at(char *low, uint64_t size, int allowed)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE | MAP_STACK;
    return mmap(low, size, allowed, flags, -1, 0) == low;
}

/* Stacks of the threads being started are mapped, but not accessible yet. */
static bool places_mapped = false;

/* Maps many stacks at once: saves one system call per stack. */
static void map_places(uint32_t first, uint32_t end)
{
    uint64_t stride = sg_stack_stride();
    for (uint32_t i = first; i < end; i++)
        if (thread_at(i)->stack_low != NULL)
            return;
    places_mapped =
        map_at((char *)(SG_STACK_BASE + first * stride), (end - first) * stride, PROT_READ | PROT_WRITE);
}

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

/* Makes the page before a stack of `size` bytes, and everything from its end to the next one, fault. The host
 * limits the number of maps, so where possible (Linux 6.13) no map is split. */
static bool guard(char *low, uint64_t size)
{
    static bool light = true;
    uint64_t behind = places_mapped ? sg_stack_stride() - size - PAGE : 0;
    if (light && madvise(low, PAGE, MADV_GUARD_INSTALL) == 0)
        return behind == 0 || madvise(low + PAGE + size, behind, MADV_GUARD_INSTALL) == 0;
    light = false;
    return mprotect(low, PAGE, PROT_NONE) == 0 &&
           (behind == 0 || mprotect(low + PAGE + size, behind, PROT_NONE) == 0);
}

/* Memory for a stack: at the thread's own place, or after all of those if it must be larger. */
static void map_stack(sg_thread *t, uint64_t size)
{
    uint64_t ordinary = stack_room(sg->config.stack_bytes);
    uint64_t stride = sg_stack_stride(), at = SG_STACK_BASE + t->id * stride;
    if (t->stack_low != NULL && t->stack_size >= size)
        return;
    if (t->stack_low != NULL)
        munmap(t->stack_low, t->stack_size + PAGE);
    if (size > ordinary) {
        at = SG_STACK_BASE + sg->most_threads * stride + sg->large_stacks;
        sg->large_stacks += size + 17 * PAGE;
    } else {
        size = ordinary;
        if (at + size + PAGE > SG_OWN_HEAP_BASE)
            sg_stop(SG_STATUS_UNSUPPORTED,
                    "there is no room for the stack of thread %u, as each has %llu MB: let them have less "
                    "(OMP_STACKSIZE=8M in the program's environment), or fewer threads be alive together",
                    t->id, (unsigned long long)(size >> 20));
    }
    char *low = (char *)at;
    bool done = places_mapped || map_at(low, size + PAGE, PROT_READ | PROT_WRITE);
    if (!done || !guard(low, size))
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the stack of thread %u%s", t->id,
                sg_host_limit(false));
    t->stack_low = low;
    t->stack_size = size;
}

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int join_function(pthread_t, void **);

/* Starts the host thread for `t`; on the program's own stack at `stack`, if not NULL. False: it is too
 * small. */
static bool start_host(sg_thread *t, void *stack, uint64_t size)
{
    create_function *create = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack == NULL) {
        map_stack(t, stack_room(size));
        stack = t->stack_low + PAGE;
        size = t->stack_size;
    } else if (t->stack_low != NULL) {
        munmap(t->stack_low, t->stack_size + PAGE);
        t->stack_low = NULL;
    }
    pthread_attr_setstack(&attributes, stack, size);
    int error = create(&t->host, &attributes, park, t);
    pthread_attr_destroy(&attributes);
    if (error == EINVAL)
        return false;
    if (error != 0)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no thread of the host for thread %u%s", t->id, sg_host_limit(true));
    return true;
}

static void wait_for_host(sg_thread *t)
{
    uint32_t state = NO_HOST;
    if (!__atomic_compare_exchange_n(&t->parked, &state, AWAITED, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    while (__atomic_load_n(&t->parked, __ATOMIC_ACQUIRE) == AWAITED)
        sg_arch_syscall(SYS_futex, (long)&t->parked, 0 /* FUTEX_WAIT */, AWAITED, 0);
}

#ifdef SG_FENCES
/* A sanitizer allocates in a starting thread, and our heaps serve one thread at a time. */
static const bool side_by_side = false;
#else
static const bool side_by_side = true;
#endif

/* Starts the host threads missing among numbers first..end-1 and waits until they are parked; false: the
 * given stack is too small. */
static bool start_hosts(uint32_t first, uint32_t end, void *stack, uint64_t size)
{
    uint64_t all = UINT64_MAX, old = 0;
    bool started = true;
    sg_arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old,
                    sizeof all); /* parked threads take no signals */
    sg_alloc_own(true);
    if (end - first > 1)
        map_places(first, end);
    for (uint32_t i = first; i < end && started; i++)
        if (thread_at(i)->parked == NO_HOST) {
            started = start_host(sg->thread[i], stack, size);
            if (started && !side_by_side)
                wait_for_host(sg->thread[i]);
        }
    for (uint32_t i = first; i < end && started; i++)
        wait_for_host(sg->thread[i]);
    places_mapped = false;
    sg_alloc_own(false);
    sg_arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof old);
    if (end > sg->threads)
        sg->threads = end;
    return started;
}

static void refuse_more(void)
{
    sg_stop(
        SG_STATUS_UNSUPPORTED,
        "the program has more than %u threads at a time, which is the most that the simulator has: let fewer "
        "be alive together, or fewer processors have more work each",
        sg->most_threads);
}

void sg_thread_prepare(uint32_t count)
{
    uint32_t first = 0, found = 0, end;
    for (end = 0; end < sg->most_threads && found < count; end++) {
        found += sg->thread[end] == NULL || sg->thread[end]->state == SG_UNUSED;
        if (found == 0)
            first = end + 1;
    }
    if (found < count)
        refuse_more();
    start_hosts(first, end, NULL, sg->config.stack_bytes);
}

/* All lower numbers are in use. */
static uint32_t all_used = 0;

sg_thread *sg_thread_new_on(void *stack, size_t stack_size)
{
    sg_settle();
    while (all_used < sg->threads && sg->thread[all_used]->state != SG_UNUSED)
        all_used++;
    uint32_t id = all_used;
    bool ordinary = stack == NULL && stack_size <= sg->config.stack_bytes;
    while (id < sg->threads && (sg->thread[id]->state != SG_UNUSED || (!ordinary && sg->thread[id]->parked)))
        id++;
    if (id == sg->most_threads)
        refuse_more();
    if (!start_hosts(id, id + 1, stack, ordinary ? sg->config.stack_bytes : stack_size))
        return NULL;
    sg_thread *t = sg->thread[id];
    t->state = SG_BLOCKED;
    t->wait_category = SG_CATEGORY_IDLE_NOT_STARTED;
    t->wait_holder = -1;
    t->wait_object = 0;
    t->complete = SG_NEVER;
    t->told = 0;
    t->in_runtime = false;
    t->rank = sg->rank;
    t->places = NULL;
    t->policy = sg_self() != NULL ? sg_self()->policy : NULL;
    t->processor = NULL;
    sg_regions_reset(t, 0);
    sg_observe_thread_begins(t);
    return t;
}

sg_thread *sg_thread_new(void)
{
    return sg_thread_new_on(NULL, 0);
}

void sg_thread_free(sg_thread *t)
{
    join_function *join = (join_function *)dlsym(RTLD_NEXT, "pthread_join");
    __atomic_store_n(&t->parked, ENDS, __ATOMIC_RELEASE);
    sg_arch_syscall(SYS_futex, (long)&t->parked, 1 /* FUTEX_WAKE */, INT_MAX, 0);
    join(t->host, NULL); /* so that it does not free its memory concurrently */
    t->parked = NO_HOST;
    t->state = SG_UNUSED;
    if (t->id < all_used)
        all_used = t->id;
}

sg_thread *sg_thread_of(pthread_t handle)
{
    for (uint32_t i = 0; i < sg->threads; i++) {
        sg_thread *t = sg->thread[i];
        if ((pthread_t)(uintptr_t)t->thread_pointer == handle && t->state != SG_UNUSED)
            return t;
    }
    return NULL;
}

/* ---- thread-local data ---- */

static int add_thread_data(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            sg->thread_data += info->dlpi_phdr[i].p_memsz + info->dlpi_phdr[i].p_align;
    return 0;
}

void sg_thread_open(void)
{
    sg->thread = sg_new(SG_MAX_THREADS * sizeof(sg_thread *));
    dl_iterate_phdr(add_thread_data, NULL);
}

static int copy_thread_data(struct dl_phdr_info *info, size_t size, void *thread)
{
    sg_thread *t = thread;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && info->dlpi_tls_data != NULL; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS) {
            ptrdiff_t offset = (char *)info->dlpi_tls_data - (char *)sg_arch_thread_pointer();
            memcpy((char *)t->thread_pointer + offset, info->dlpi_tls_data, info->dlpi_phdr[i].p_memsz);
        }
    return 1; /* the program itself comes first; libraries handle their own data */
}

void sg_thread_adopt_data(sg_thread *t)
{
    dl_iterate_phdr(copy_thread_data, t);
}

void sg_thread_start(sg_thread *t, void (*entry)(void), uint64_t when)
{
    t->stack_pointer = sg_arch_new_stack(t->stack_pointer, entry);
    sg_wake(t, when);
}
