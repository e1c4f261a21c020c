/* Memory of the cache levels. */
#include "sg_cache.h"

#include <sys/mman.h>

/* Above this size a mapping is used sparsely (many processors, large caches): pages of 2 MiB would waste it.
 */
#define SPARSE_BYTES ((size_t)256 << 20)

void *sg_map(size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, bytes > SPARSE_BYTES ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    return memory;
}

void sg_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

int sg_cache_create(sg_cache *cache, const sg_cache_level *level, uint32_t instances)
{
    uint64_t sets = level->size_bytes / level->line_bytes / level->ways;
    cache->ways = level->ways;
    cache->set_mask = sets - 1;
    cache->line_shift = (uint32_t)__builtin_ctz(level->line_bytes);
    cache->hit_cycles = level->hit_cycles;
    cache->instances = instances;
    cache->stride = sets * level->ways;
    cache->bytes = cache->stride * instances * sizeof(uint64_t);
    cache->entries = sg_map(cache->bytes);
    return cache->entries ? 0 : -1;
}

void sg_cache_destroy(sg_cache *cache)
{
    sg_unmap(cache->entries, cache->bytes);
    cache->entries = NULL;
}
