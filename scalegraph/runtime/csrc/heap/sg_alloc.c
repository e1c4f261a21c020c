/* The program's heap: always at the same addresses, whatever the host does.
 *
 * Small requests come from size classes; each simulated thread fills its own chunks, so that objects of
 * two threads do not share a cache line by accident. Large requests get pages of their own. A second heap
 * of the same kind serves the runtime and the host's threads, so that the number of processors does not
 * move the program's objects. */
#include <errno.h>
#include <sys/mman.h>

#include "sg_alloc.h"
#include "sg_block.h"
#include "sg_fence.h"

#define CLASSES     SG_CLASSES
#define SMALL_LIMIT 65536u
#define CHUNK       65536u
#define PAGE        SG_PAGE
#define GROW        (32ull << 20)

typedef sg_block_header header;

/* A free large block. */
typedef struct span {
    header head;
    sg_free_block free;
    struct span *next; /* sorted by address */
    uint64_t size;
} span;

typedef struct local_heap {
    void *free[CLASSES];
    char *next, *end;
} local_heap;

typedef struct sg_heap {
    uint64_t base, top, mapped, limit;
    span *spans; /* free large blocks */
    local_heap *local;
    uint32_t locals;
    uint64_t *left; /* left of a budget shared with others; NULL: no such limit */
} heap;

/* The allocator works before the runtime's context exists: the C library allocates during start-up. */
static struct {
    heap program, own;
    heap *current;                  /* that of the running rank; NULL: the program has only one */
    void (*refuse)(uint64_t bytes); /* called when that runs out; does not return */
    uint64_t set_limit;             /* by the program itself */
    void (*met)(uint64_t bytes);    /* called when a request fails because of it */
    bool own_mode;
    bool huge; /* own memory uses huge pages */
} memory = {
    .set_limit = UINT64_MAX,
    .program = {.base = SG_HEAP_BASE, .top = SG_HEAP_BASE, .mapped = SG_HEAP_BASE, .limit = UINT64_MAX},
    .own = {.base = SG_OWN_HEAP_BASE,
            .top = SG_OWN_HEAP_BASE,
            .mapped = SG_OWN_HEAP_BASE,
            .limit = UINT64_MAX},
};

static void *map(void *at, size_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED_NOREPLACE : 0);
    void *got = mmap(at, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return got == MAP_FAILED || (at && got != at) ? NULL : got;
}

void sg_alloc_own_is_much(void)
{
    memory.huge = true;
    madvise((void *)memory.own.base, memory.own.mapped - memory.own.base, MADV_HUGEPAGE);
}

bool sg_alloc_own(bool own)
{
    bool before = memory.own_mode;
    memory.own_mode = own;
    return before;
}

/* The heap of the program, or of the running rank. */
static inline heap *programs(void)
{
    return memory.current != NULL ? memory.current : &memory.program;
}

void sg_alloc_heap(struct sg_heap *heap)
{
    memory.current = heap;
}

struct sg_heap *sg_heap_new(uint32_t rank)
{
    heap *h = sg_new(sizeof *h);
    h->base = h->top = h->mapped = SG_RANK_HEAP_BASE + rank * SG_RANK_HEAP_BYTES;
    h->limit = memory.program.limit < SG_RANK_HEAP_BYTES ? memory.program.limit : SG_RANK_HEAP_BYTES;
    return h;
}

uint64_t sg_alloc_share(struct sg_heap *heap, uint64_t *left, void (*refuse)(uint64_t bytes))
{
    struct sg_heap *h = heap != NULL ? heap : &memory.program;
    h->left = left;
    memory.refuse = refuse;
    return h->top - h->base;
}

void sg_alloc_set_limit(uint64_t limit, void (*met)(uint64_t bytes))
{
    memory.set_limit = limit;
    memory.met = met;
}

void sg_alloc_limit(uint64_t bytes)
{
    memory.program.limit = bytes;
}

void sg_alloc_ahead(uint64_t *low, uint64_t *high)
{
    const heap *h = programs();
    uint64_t end = h->limit < SG_STACK_BASE - h->base ? h->base + h->limit : SG_STACK_BASE;
    *low = h->top;
    *high = end > h->mapped ? end : h->mapped;
}

/* Fresh zeroed pages at the top of the heap, or NULL. */
static void *grow(heap *h, uint64_t size)
{
    if (h != &memory.own && h->top - h->base + size > memory.set_limit) {
        memory.met(size);
        return NULL;
    }
    if (h->top - h->base + size > h->limit) {
        if (sg != NULL) {
            sg->arena_exhausted = true;
            sg->arena_request = size;
        }
        return NULL;
    }
    if (h->left != NULL) {
        if (size > *h->left)
            memory.refuse(size);
        *h->left -= size;
    }
    if (h->top + size > h->mapped) {
        uint64_t more = h->top + size - h->mapped;
        more = more < GROW ? GROW : (more + PAGE - 1) & ~(uint64_t)(PAGE - 1);
        if (map((void *)h->mapped, more) == NULL)
            return NULL;
        if (h == &memory.own && memory.huge)
            madvise((void *)h->mapped, more, MADV_HUGEPAGE);
        h->mapped += more;
    }
    void *block = (void *)h->top;
    h->top += size;
    return block;
}

static uint32_t class_of(uint64_t size)
{
    if (size <= 128)
        return (uint32_t)((size + 15) / 16 - (size != 0));
    uint32_t log = 63 - (uint32_t)__builtin_clzll(size - 1); /* 2^log < size <= 2^(log+1) */
    return 8 + 4 * (log - 7) + (uint32_t)((size - 1) >> (log - 2) & 3);
}

static local_heap *local_of(heap *h)
{
    if (h->local == NULL) {
        h->local = map(NULL, SG_MAX_THREADS * sizeof(local_heap));
        if (h->local == NULL)
            return NULL;
    }
    const sg_thread *self = sg_self();
    return &h->local[h != &memory.own && self != NULL ? self->id : 0];
}

static bool is_free_block(const heap *h, const sg_free_block *block)
{
    uint64_t next = (uint64_t)(uintptr_t)block->next;
    return sg_is_sealed(sg_header_of(block), true) &&
           (next == 0 || (next > h->base && next < h->top && next % 16 == 0));
}

static void *allocate_small(heap *h, uint64_t size)
{
    local_heap *local = local_of(h);
    uint32_t c = class_of(size);
    if (local == NULL)
        return NULL;
    sg_free_block *block = local->free[c];
    if (block != NULL) {
        if (SG_UNLIKELY(!is_free_block(h, block)))
            sg_refuse_use(block);
        local->free[c] = block->next;
        return block;
    }
    uint64_t need = sizeof(header) + sg_class_size(c);
    if ((uint64_t)(local->end - local->next) < need) {
        uint64_t chunk = need > CHUNK / 4 ? (need + PAGE - 1) & ~(uint64_t)(PAGE - 1) : CHUNK;
        char *fresh = grow(h, chunk);
        if (fresh == NULL)
            return NULL;
        if (chunk != CHUNK) {
            *(header *)fresh = (header){.size_class = c, .offset = sizeof(header)};
            return fresh + sizeof(header);
        }
        local->next = fresh;
        local->end = fresh + chunk;
    }
    header *head = (header *)local->next;
    local->next += need;
    *head = (header){.size_class = c, .offset = sizeof(header)};
    return head + 1;
}

/* Best fit among the free spans, otherwise new pages. */
static void *allocate_large(heap *h, uint64_t size, bool *zeroed)
{
    uint64_t need = (size + sizeof(header) + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    span **best = NULL;
    for (span **at = &h->spans; *at != NULL; at = &(*at)->next)
        if ((*at)->size >= need && (best == NULL || (*at)->size < (*best)->size))
            best = at;
    char *start;
    if (best != NULL) {
        start = (char *)*best;
        span *rest = (*best)->next;
        if ((*best)->size > need) {
            span *tail = (span *)(start + need);
            tail->head = (header){.pages = 0};
            tail->size = (*best)->size - need;
            tail->next = rest;
            rest = tail;
        }
        *best = rest;
        *zeroed = false;
    } else {
        start = grow(h, need);
        *zeroed = true;
    }
    if (start == NULL)
        return NULL;
    *(header *)start = (header){.pages = need / PAGE, .size_class = CLASSES, .offset = sizeof(header)};
    return start + sizeof(header);
}

static header *header_of(const void *pointer)
{
    return sg_header_of(pointer);
}

/* Marks the block (or the aligned part of it) as in use, with `size` bytes. */
static void claim(header *head, uint64_t size, const void *caller)
{
    uint64_t slack = sg_capacity(head) + sizeof *head - head->offset - size,
             site = (uint64_t)(uintptr_t)caller;
    head->slack = slack < SG_SLACK_UNKNOWN ? slack : SG_SLACK_UNKNOWN;
    head->site = site <= UINT32_MAX ? (uint32_t)site : 0;
    sg_mark_end(head);
    sg_seal(head, false);
}

/* `caller`: return address of the program's call; NULL if the runtime itself allocates. */
static void *allocate(uint64_t size, bool *zeroed, const void *caller)
{
    heap *h = memory.own_mode ? &memory.own : programs();
    *zeroed = false;
    if (size > (1ull << 46))
        return errno = ENOMEM, NULL;
    void *block = size <= SMALL_LIMIT ? allocate_small(h, size) : allocate_large(h, size, zeroed);
    if (block == NULL)
        return errno = ENOMEM, NULL;
    header *head = header_of(block);
    claim(head, size, caller);
    sg_fence_shut(head, sizeof(header));
    sg_fence_open(block, size);
    sg_fence_shut((char *)block + size, sg_capacity(head) - size);
    if (!memory.own_mode && caller != NULL && sg != NULL) {
        sg_observe_allocated(block, size, caller, size > SMALL_LIMIT);
        sg_synchronise(); /* the block's previous owner is done with it */
    }
    return block;
}

static void release_large(heap *h, char *start, uint64_t size)
{
    span **at = &h->spans, *before = NULL;
    while (*at != NULL && (char *)*at < start) {
        before = *at;
        at = &(*at)->next;
    }
    span *fresh = (span *)start;
    fresh->size = size;
    fresh->next = *at;
    *at = fresh;
    if (fresh->next != NULL && start + size == (char *)fresh->next) {
        fresh->size += fresh->next->size;
        fresh->next = fresh->next->next;
    }
    if (before != NULL && (char *)before + before->size == start) {
        before->size += fresh->size;
        before->next = fresh->next;
    }
}

/* Ends the run if `pointer` is not the start of a block in use; `verb`: what the call before `site` does with
 * it. */
static void examine(const heap *h, void *pointer, const void *site, const char *verb)
{
    header *head = header_of(pointer);
    if (SG_UNLIKELY(((uint64_t)pointer & 15) != 0 || !sg_is_sealed(head, false) ||
                    !sg_is_whole(head, h->top)))
        sg_refuse_pointer(pointer, site, verb, h->base, h->top);
}

/* The heap that holds `pointer`; NULL: none of the running rank's. */
static heap *heap_of(const void *pointer)
{
    uint64_t at = (uint64_t)pointer;
    heap *h = at >= memory.own.base && at < memory.own.top ? &memory.own : programs();
    return at < h->base || at >= h->top ? NULL : h;
}

void sg_alloc_release(void *pointer, const void *site)
{
    if (pointer == NULL)
        return;
    heap *h = heap_of(pointer);
    if (h == NULL) {
        sg_refuse_foreign(pointer, site, "frees");
        return;
    }
    header *head = header_of(pointer), *first = sg_first_header(head);
    if (h != &memory.own) {
        examine(h, pointer, site, "frees");
        sg_observe_freed(pointer);
        first = sg_first_header(head);
    }
    sg_free_block *block = (sg_free_block *)(first + 1);
    sg_fence_shut(block, sg_capacity(first));
    if (head != first)
        sg_seal(head, true);
    sg_seal(first, true);
    block->site = site;
    if (first->size_class == CLASSES) {
        release_large(h, (char *)first, sg_capacity(first) + sizeof(header));
        return;
    }
    local_heap *local = local_of(h);
    block->next = local->free[first->size_class];
    local->free[first->size_class] = block;
}

bool sg_alloc_exceeds(void *pointer, size_t bytes, char text[96])
{
    const heap *h = heap_of(pointer);
    return h != NULL && h != &memory.own && sg_block_exceeded(pointer, bytes, h->base, h->top, text);
}

SG_API void free(void *pointer)
{
    sg_alloc_release(pointer, SG_CALLER);
}

SG_API void *malloc(size_t size)
{
    bool zeroed;
    return allocate(size, &zeroed, SG_CALLER);
}

static void *allocate_zeroed(size_t count, size_t size, const void *caller)
{
    size_t total;
    bool zeroed;
    if (__builtin_mul_overflow(count, size, &total))
        return errno = ENOMEM, NULL;
    void *block = allocate(total, &zeroed, caller);
    if (block != NULL && !zeroed)
        memset(block, 0, total);
    return block;
}

SG_API void *calloc(size_t count, size_t size)
{
    return allocate_zeroed(count, size, SG_CALLER);
}

void *sg_alloc_plain(size_t size, const void *site)
{
    bool zeroed;
    return allocate(size, &zeroed, site);
}

void *sg_alloc_for(size_t size, const void *site)
{
    return allocate_zeroed(1, size, site);
}

/* Usable bytes from `pointer` on. */
static size_t usable(const void *pointer)
{
    const header *head = header_of(pointer);
    return sg_capacity(head) + sizeof *head - head->offset;
}

SG_API size_t malloc_usable_size(void *pointer)
{
    const heap *h = pointer != NULL ? heap_of(pointer) : NULL;
    if (h == NULL)
        return 0;
    if (h != &memory.own)
        examine(h, pointer, SG_CALLER, "asks for the size of");
    claim(header_of(pointer), usable(pointer),
          (void *)(uintptr_t)header_of(pointer)->site); /* it may use all of them */
    return usable(pointer);
}

static void *reallocate(void *pointer, size_t size, const void *caller)
{
    bool zeroed;
    if (pointer == NULL)
        return allocate(size, &zeroed, caller);
    if (size == 0)
        return sg_alloc_release(pointer, caller), NULL;
    const heap *h = heap_of(pointer);
    if (h == NULL)
        sg_refuse_foreign(pointer, caller, "reallocates");
    else if (h != &memory.own)
        examine(h, pointer, caller, "reallocates");
    size_t old = usable(pointer);
    if (size <= old && (old <= SMALL_LIMIT || size > old / 2)) {
        sg_fence_open(pointer, size);
        claim(header_of(pointer), size, caller);
        sg_fence_shut((char *)pointer + size, old - size);
        return pointer;
    }
    void *block = allocate(size, &zeroed, caller);
    if (block == NULL)
        return NULL;
    sg_fence_open(pointer, old);
    memcpy(block, pointer, old < size ? old : size);
    sg_alloc_release(pointer, caller);
    return block;
}

SG_API void *realloc(void *pointer, size_t size)
{
    return reallocate(pointer, size, SG_CALLER);
}

SG_API void *reallocarray(void *pointer, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return errno = ENOMEM, NULL;
    return reallocate(pointer, total, SG_CALLER);
}

void *sg_alloc_aligned(size_t alignment, size_t size, const void *caller)
{
    bool zeroed;
    if (alignment <= 16)
        return allocate(size, &zeroed, caller);
    if ((alignment & (alignment - 1)) != 0 || size > (1ull << 46))
        return errno = EINVAL, NULL;
    char *block = allocate(size + alignment, &zeroed, NULL);
    if (block == NULL)
        return NULL;
    uint64_t aligned = ((uint64_t)block + alignment - 1) & ~(uint64_t)(alignment - 1);
    header *first = header_of(block), *head = header_of((void *)aligned);
    if (head != first) {
        *head = *first;
        head->offset = (uint32_t)(aligned - (uint64_t)first);
    }
    claim(head, size, caller);
    if (!memory.own_mode)
        sg_observe_allocated((void *)aligned, size, caller, size + alignment > SMALL_LIMIT);
    return (void *)aligned;
}

char *sg_alloc_string(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}
