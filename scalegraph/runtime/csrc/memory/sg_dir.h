/* The directory: who holds each coherence line that was ever referenced, and where each page lives. Two-level
 * radix tree by address, with leaves made on first use. */
#ifndef SG_DIR_H
#define SG_DIR_H

#include <stddef.h>
#include <stdint.h>

#include "sg_mem.h"

#define SG_DIR_FAN_BITS 16u
#define SG_DIR_FAN      (1u << SG_DIR_FAN_BITS)

enum sg_line_state {
    SG_LINE_UNTOUCHED,    /* at home, never referenced */
    SG_LINE_HOME,         /* in no private cache: in memory, perhaps in shared caches */
    SG_LINE_SHARED,       /* in one or more private caches, read-only */
    SG_LINE_OWNED,        /* in one private cache, which may write */
    SG_LINE_DIRTY_SHARED, /* shared, but memory is stale: `owner` has the dirty copy and supplies it */
    SG_LINE_DISPLACED, /* attraction memory: evicted from the last cache, kept by a cell of `owner`'s ring */
};

typedef struct sg_line {
    uint16_t state;      /* enum sg_line_state */
    uint16_t overflowed; /* a limited directory with broadcast has lost track of the holders */
    uint32_t owner;
    uint64_t busy;          /* end of the current change of owner */
    uint64_t shared_caches; /* bitmap of the shared caches that have it */
    uint64_t holders[];     /* bitmap of the processors whose private caches have it */
} sg_line;

typedef struct sg_dir {
    uint32_t line_shift, page_shift, chunk_shift;
    uint32_t words;     /* of a holders bitmap */
    size_t line_bytes;  /* of an sg_line with its bitmap */
    size_t homes_bytes; /* of the page homes at the start of a chunk */
    size_t chunk_bytes;
    char ***root;          /* [chunk number >> 16][chunk number & 0xffff] */
    char *slab, *slab_end; /* small chunks are cut from here */
    struct sg_slab *slabs; /* every mapping, to be freed */
    struct sg_dir *store;  /* the directory that stores this one's memory; NULL: itself */
    int sparse;            /* no large host pages: they would be mostly empty */
} sg_dir;

int sg_dir_create(sg_dir *dir, uint32_t line_shift, uint32_t page_shift, uint32_t processors, sg_dir *store);
void sg_dir_destroy(sg_dir *dir);
/* The chunk of `address`, made if need be. Aborts with a message when the host is out of memory. */
char *sg_dir_make_chunk(sg_dir *dir, uint64_t number);

/* The first chunk with number `*number` or more; sets `*number` to its number. NULL: none. */
char *sg_dir_next_chunk(const sg_dir *dir, uint64_t *number);

/* The chunk of an address, or NULL if not made yet. */
static inline char *sg_dir_known_chunk(const sg_dir *dir, uint64_t address)
{
    uint64_t number = address >> dir->chunk_shift;
    char **branch = dir->root[number >> SG_DIR_FAN_BITS & (SG_DIR_FAN - 1)];
    return branch ? branch[number & (SG_DIR_FAN - 1)] : NULL;
}

static inline char *sg_dir_chunk(sg_dir *dir, uint64_t address)
{
    char *chunk = sg_dir_known_chunk(dir, address);
    return chunk ? chunk : sg_dir_make_chunk(dir, address >> dir->chunk_shift);
}

/* What is known of a page; 0: untouched. */
#define SG_DIR_NODE   0x7fffu     /* the node where it lives, + 1 */
#define SG_DIR_LAST   15u         /* shift of the processor of its last hint fault, + 1; 0: none */
#define SG_DIR_STAYS  0x3fff8000u /* instead of that processor: the program placed it */
#define SG_DIR_MARKED 0x40000000u /* the next reference is a hint fault: sg_mem_balance.c */
#define SG_DIR_PLACED 0x80000000u /* assigned, but not touched yet */

/* Node of a page that is not untouched. */
static inline uint32_t sg_dir_node(uint32_t home)
{
    return (home & SG_DIR_NODE) - 1;
}

/* The word of the page of `address`. */

static inline uint32_t *sg_dir_home(const sg_dir *dir, char *chunk, uint64_t address)
{
    uint64_t offset = address & ((1ull << dir->chunk_shift) - 1);
    return (uint32_t *)(void *)chunk + (offset >> dir->page_shift);
}

static inline sg_line *sg_dir_line(const sg_dir *dir, char *chunk, uint64_t address)
{
    uint64_t offset = address & ((1ull << dir->chunk_shift) - 1);
    return (sg_line *)(void *)(chunk + dir->homes_bytes + (offset >> dir->line_shift) * dir->line_bytes);
}

/* The entry of `address`; NULL: not made yet. */
static inline sg_line *sg_dir_known(const sg_dir *dir, uint64_t address)
{
    char *chunk = sg_dir_known_chunk(dir, address);
    return chunk ? sg_dir_line(dir, chunk, address) : NULL;
}

/* Prefetches the entry of `address` into the host's cache. */
static SG_ASKS void sg_dir_expect(const sg_dir *dir, uint64_t address)
{
    const sg_line *entry = sg_dir_known(dir, address);
    if (entry)
        __builtin_prefetch(entry, 1);
}

/* Calls visit(context, line number, line) for every line of every chunk, by address; stops at a nonzero
 * result. */
int sg_dir_each(const sg_dir *dir, int (*visit)(void *, uint64_t, const sg_line *), void *context);

#endif
