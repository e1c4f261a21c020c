/* The radix tree of the directory. */
#include "sg_dir.h"

#include <stdio.h>
#include <stdlib.h>

#include "sg_huge.h"

#define CHUNK_SHIFT 16u /* smallest: 64 KiB of the program's memory */
#define FAN_BITS    SG_DIR_FAN_BITS
#define FAN         SG_DIR_FAN
#define SLAB_BYTES  ((size_t)32 << 20)

struct sg_slab {
    struct sg_slab *next;
    void *memory;
    size_t bytes;
};

static void *map_kept(sg_dir *dir, size_t bytes)
{
    struct sg_slab *slab = malloc(sizeof *slab);
    void *memory = slab ? sg_map(bytes) : NULL;
    if (!memory) {
        free(slab);
        return NULL;
    }
    if (dir->sparse)
        madvise(memory, bytes, MADV_NOHUGEPAGE);
    *slab = (struct sg_slab){dir->slabs, memory, bytes};
    dir->slabs = slab;
    return memory;
}

static void *need(sg_dir *dir, size_t bytes);

int sg_dir_create(sg_dir *dir, uint32_t line_shift, uint32_t page_shift, uint32_t processors, sg_dir *store)
{
    *dir = (sg_dir){.line_shift = line_shift, .page_shift = page_shift, .store = store};
    dir->chunk_shift = page_shift > CHUNK_SHIFT ? page_shift : CHUNK_SHIFT;
    dir->words = (processors + 63) / 64;
    dir->line_bytes = sizeof(sg_line) + dir->words * sizeof(uint64_t);
    dir->homes_bytes = ((sizeof(uint32_t) << (dir->chunk_shift - page_shift)) + 7) & ~(size_t)7;
    dir->chunk_bytes = dir->homes_bytes + (dir->line_bytes << (dir->chunk_shift - line_shift));
    dir->root = store ? need(store, FAN * sizeof *dir->root) : map_kept(dir, FAN * sizeof *dir->root);
    return dir->root ? 0 : -1;
}

void sg_dir_destroy(sg_dir *dir)
{
    while (dir->slabs) {
        struct sg_slab *slab = dir->slabs;
        dir->slabs = slab->next;
        sg_unmap(slab->memory, slab->bytes);
        free(slab);
    }
    dir->root = NULL;
}

static void *need(sg_dir *dir, size_t bytes)
{
    if (dir->store)
        return need(dir->store, bytes);
    if (bytes <= SLAB_BYTES / 4) {
        if ((size_t)(dir->slab_end - dir->slab) < bytes) {
            dir->slab = map_kept(dir, SLAB_BYTES);
            dir->slab_end = dir->slab ? dir->slab + SLAB_BYTES : NULL;
        }
        if (dir->slab) {
            void *memory = dir->slab;
            dir->slab += bytes;
            return memory;
        }
    } else {
        void *memory = map_kept(dir, bytes);
        if (memory)
            return memory;
    }
    fprintf(stderr, "scalegraph: the host has no memory left for the directory of the simulated machine\n");
    abort();
}

char *sg_dir_make_chunk(sg_dir *dir, uint64_t number)
{
    char ***branch = &dir->root[(number >> FAN_BITS) & (FAN - 1)];
    if (!*branch)
        *branch = need(dir, FAN * sizeof **branch);
    char **chunk = &(*branch)[number & (FAN - 1)];
    if (!*chunk)
        *chunk = need(dir, (dir->chunk_bytes + 63) & ~(size_t)63);
    return *chunk;
}

char *sg_dir_next_chunk(const sg_dir *dir, uint64_t *number)
{
    for (; *number < FAN * (uint64_t)FAN; ++*number) {
        char **branch = dir->root[*number >> FAN_BITS];
        if (!branch) {
            *number |= FAN - 1;
            continue;
        }
        if (branch[*number & (FAN - 1)])
            return branch[*number & (FAN - 1)];
    }
    return NULL;
}

int sg_dir_each(const sg_dir *dir, int (*visit)(void *, uint64_t, const sg_line *), void *context)
{
    for (uint64_t high = 0; high < FAN; high++) {
        if (!dir->root[high])
            continue;
        for (uint64_t low = 0; low < FAN; low++) {
            char *chunk = dir->root[high][low];
            if (!chunk)
                continue;
            uint64_t start = (high << FAN_BITS | low) << dir->chunk_shift;
            uint64_t lines = 1ull << (dir->chunk_shift - dir->line_shift);
            for (uint64_t i = 0; i < lines; i++) {
                uint64_t address = start + (i << dir->line_shift);
                int stop = visit(context, address >> dir->line_shift, sg_dir_line(dir, chunk, address));
                if (stop)
                    return stop;
            }
        }
    }
    return 0;
}
