/* Memory of the cache levels. */
#include "sg_cache.h"

#include <sys/mman.h>

/* A private cache of so many entries keeps its ways apart (sg_cache.h). */
#define SEPARATE_ENTRIES ((uint64_t)1 << 16)

void *sg_map(size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE); /* only advice: nothing depends on it */
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
    int apart = level->shared_by == 1 && sets * level->ways >= SEPARATE_ENTRIES;
    cache->stride = apart ? sets : sets * level->ways;
    cache->set_stride = apart ? 1 : level->ways;
    cache->way_stride = apart ? sets * instances : 1;
    cache->bytes = sets * level->ways * instances * sizeof(uint64_t);
    cache->entries = sg_map(cache->bytes);
    return cache->entries ? 0 : -1;
}

void sg_cache_destroy(sg_cache *cache)
{
    sg_unmap(cache->entries, cache->bytes);
    cache->entries = NULL;
}
