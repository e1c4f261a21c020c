/* Memory that the program maps at addresses of its choice. If they overlap the simulation's own memory, the
 * call behaves as the kernel would for memory in use; if the kernel would replace our mapping, it ends with a
 * message. */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include "sg_alloc.h"
#include "sg_arch.h"
#include "sg_posix.h"

typedef struct range {
    uint64_t low, high;
    const char *what;
} range;

extern const char __executable_start[], etext[];

/* The first of our ranges that overlaps `low` to `high`; NULL: none. */
static const char *ours(uint64_t low, uint64_t high)
{
    range heap = {0, 0, "the program's heap"};
    sg_alloc_ahead(&heap.low, &heap.high);
    const range ranges[] = {
        {(uint64_t)(uintptr_t)__executable_start, (uint64_t)(uintptr_t)etext, "the program's code"},
        heap,
        {SG_STACK_BASE, SG_OWN_HEAP_BASE, "the stacks of the threads"},
        {SG_OWN_HEAP_BASE, SG_VARIABLE_BASE, "its own memory"},
        {SG_VARIABLE_BASE, SG_ARGUMENT_BASE, "its own variables"},
        {SG_ARGUMENT_BASE, SG_ARGUMENT_BASE + 2 * SG_ARGUMENT_POINTERS, "the arguments of main"},
        {SG_TRACE_BASE, sg->tracing ? SG_IMAGE_BASE : SG_TRACE_BASE, "the trace of the run"},
        {SG_IMAGE_BASE, sg->ranks > 0 ? SG_RANK_HEAP_BASE : SG_IMAGE_BASE, "the static data of the ranks"},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (low < ranges[i].high && high > ranges[i].low)
            return ranges[i].what;
    return NULL;
}

static void refuse(uint64_t address, uint64_t size, const char *what)
{
    sg_stop(
        SG_STATUS_UNSUPPORTED,
        "the program maps %llu bytes at 0x%llx to the fixed address 0x%llx, which the simulator uses for %s: "
        "docs/SIMULATOR.md names the addresses that are free",
        (unsigned long long)size, (unsigned long long)(uintptr_t)sg_now->site, (unsigned long long)address,
        what);
}

long sg_map_call(const long a[6])
{
    uint64_t address = (uint64_t)a[0], size = (uint64_t)a[1];
    long arguments[6] = {a[0], a[1], a[2], a[3], a[4], a[5]};
    bool may = (a[3] & MAP_FIXED_NOREPLACE) == MAP_FIXED_NOREPLACE;
    const char *what = address == 0 || size == 0 ? NULL : ours(address, address + size);
    if (what != NULL && may)
        return -EEXIST;
    if (what != NULL && (a[3] & MAP_FIXED))
        refuse(address, size, what);
    if (what != NULL)
        arguments[0] = 0; /* only a hint */
    return sg_arch_syscall6(SYS_mmap, arguments);
}

/* a: old address, old size, new size, flags, new address. */
long sg_remap_call(const long a[6])
{
    uint64_t address = (uint64_t)a[4], size = (uint64_t)a[2];
    const char *what = a[3] & MREMAP_FIXED ? ours(address, address + size) : NULL;
    if (what != NULL)
        refuse(address, size, what);
    return sg_arch_syscall6(SYS_mremap, a);
}

/* a: identifier, address, flags. The kernel rejects an address in use unless told to replace the mapping. */
long sg_attach_call(const long a[6])
{
    struct shmid_ds segment;
    uint64_t address = (uint64_t)a[1], page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (a[2] & SHM_RND)
        address -= address % page;
    if (address != 0 && sg_arch_syscall(SYS_shmctl, a[0], IPC_STAT, (long)&segment, 0) == 0) {
        uint64_t size = (segment.shm_segsz + page - 1) / page * page;
        const char *what = ours(address, address + size);
        if (what != NULL && !(a[2] & SHM_REMAP))
            return -EINVAL;
        if (what != NULL)
            refuse(address, size, what);
    }
    return sg_arch_syscall6(SYS_shmat, a);
}

static void *answer(long result)
{
    if (result >= 0 || result < -4095)
        return (void *)result;
    errno = (int)-result;
    return MAP_FAILED;
}

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
SG_API void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    long a[6] = {(long)address, (long)size, protection, flags, file, offset};
    sg_now->site = SG_CALLER;
    return answer(sg_map_call(a));
}

void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int file, off_t offset);
SG_API void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    long a[6] = {(long)address, (long)size, protection, flags, file, offset};
    sg_now->site = SG_CALLER;
    return answer(sg_map_call(a));
}

void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags, ...);
SG_API void *__wrap_mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
    long a[6] = {(long)old, (long)old_size, (long)size, flags, 0, 0};
    if (flags & MREMAP_FIXED) {
        va_list more;
        va_start(more, flags);
        a[4] = (long)va_arg(more, void *);
        va_end(more);
    }
    sg_now->site = SG_CALLER;
    return answer(sg_remap_call(a));
}

void *__wrap_shmat(int identifier, const void *address, int flags);
SG_API void *__wrap_shmat(int identifier, const void *address, int flags)
{
    long a[6] = {identifier, (long)address, flags, 0, 0, 0};
    sg_now->site = SG_CALLER;
    return answer(sg_attach_call(a));
}
