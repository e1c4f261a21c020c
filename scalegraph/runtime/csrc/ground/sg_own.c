/* Memory of the runtime itself: never freed, at addresses that no simulated program sees. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sg_arch.h"
#include "sg_fence.h"
#include "sg_own.h"
#include "sg_stop.h"

/* Works before the runtime's context exists: the C library allocates during start-up. */
static char *next = NULL, *end = NULL;

#define CHUNK ((size_t)1 << 20)
static size_t chunk = CHUNK;

static void *map(size_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *got = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return got == MAP_FAILED ? NULL : got;
}

void *sg_new(size_t wanted)
{
    size_t size = ((wanted + 63) & ~(size_t)63) + SG_FENCE_BYTES;
    if (size > (1u << 18)) {
        void *large = map(size);
        if (large == NULL)
            sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the simulation itself%s", sg_host_limit(false));
        sg_fence_shut((char *)large + wanted, size - wanted);
        return large;
    }
    if ((size_t)(end - next) < size) {
        next = map(chunk);
        if (next == NULL)
            sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the simulation itself%s", sg_host_limit(false));
        end = next + chunk;
        if (chunk > CHUNK)
            madvise(next, chunk, MADV_HUGEPAGE);
    }
    char *block = next;
    next += size;
    sg_fence_shut(block + wanted, size - wanted);
    return block;
}

void sg_own_is_much(void)
{
    chunk = 32 * CHUNK;
    next = end;
}

void *sg_larger(const void *old, size_t used, size_t size)
{
    void *fresh = sg_new(size);
    return used == 0 ? fresh : memcpy(fresh, old, used);
}

void *sg_reserve(size_t size, const char *purpose)
{
    void *memory = map(size);
    if (memory == NULL)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "the host has no memory for %s%s", purpose, sg_host_limit(false));
    return memory;
}

const char *sg_map_file(const char *path, size_t *size)
{
    int file = (int)sg_arch_syscall(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
    struct stat status;
    if (file < 0)
        return NULL;
    *size = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
    const char *data = *size ? mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    sg_arch_syscall(SYS_close, file, 0, 0, 0);
    return data == MAP_FAILED ? NULL : data;
}

long sg_descriptor_high(long file)
{
    enum { FIRST = 500 };
    long high = file < 0 ? file : sg_arch_syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, FIRST, 0);
    if (high < 0) /* descriptors do not go that high */
        return file;
    sg_arch_syscall(SYS_close, file, 0, 0, 0);
    return high;
}

int sg_scan(const char *text, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int result = vsscanf(text, format, list);
    va_end(list);
    return result;
}
