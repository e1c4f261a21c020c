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

int sg_cache_create(sg_cache *cache, const sg_cache_level *level, uint32_t instances, int is_first_level)
{
    uint64_t sets = level->size_bytes / level->line_bytes / level->ways;
    cache->ways = level->ways;
    cache->set_mask = sets - 1;
    cache->line_shift = (uint32_t)__builtin_ctz(level->line_bytes);
    cache->hit_cycles = level->hit_cycles;
    cache->instances = instances;
    cache->bytes = sets * level->ways * instances * sizeof(uint64_t);
    cache->first = sg_map(cache->bytes);
    if (!cache->first)
        return -1;
    if (level->shared_by == 1 && sets * level->ways >= SEPARATE_ENTRIES) {
        cache->stride = cache->rest_stride = sets;
        cache->set_stride = cache->rest_set_stride = 1;
        cache->way_stride = sets * instances;
        cache->rest = cache->first + cache->way_stride;
    } else if (is_first_level) {
        cache->stride = sets;
        cache->set_stride = 1;
        cache->rest = cache->first + sets * instances;
        cache->rest_stride = sets * (level->ways - 1);
        cache->rest_set_stride = level->ways - 1;
        cache->way_stride = 1;
    } else {
        cache->stride = cache->rest_stride = sets * level->ways;
        cache->set_stride = cache->rest_set_stride = level->ways;
        cache->way_stride = 1;
        cache->rest = cache->first + 1;
    }
    return 0;
}

void sg_cache_destroy(sg_cache *cache)
{
    sg_unmap(cache->first, cache->bytes);
    cache->first = NULL;
}
