/* Aligned allocation, under all its names. */
#include <errno.h>

#include "sg_alloc.h"
#include "sg_block.h"

#define PAGE SG_PAGE

SG_API void *memalign(size_t alignment, size_t size)
{
    return sg_alloc_aligned(alignment, size, SG_CALLER);
}

SG_API int posix_memalign(void **pointer, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    int saved = errno;
    void *block = sg_alloc_aligned(alignment, size, SG_CALLER);
    errno = saved;
    if (block == NULL)
        return ENOMEM;
    *pointer = block;
    return 0;
}

SG_API void *aligned_alloc(size_t alignment, size_t size)
{
    return sg_alloc_aligned(alignment, size, SG_CALLER);
}

SG_API void *valloc(size_t size)
{
    return sg_alloc_aligned(PAGE, size, SG_CALLER);
}

SG_API void *pvalloc(size_t size)
{
    return sg_alloc_aligned(PAGE, (size + PAGE - 1) & ~(size_t)(PAGE - 1), SG_CALLER);
}
