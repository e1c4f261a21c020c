/* The program's heap: always at the same addresses, whatever the host does.
 *
 * Small requests come from size classes; each simulated thread fills its own chunks, so that
 * the objects of two threads do not share a cache line by accident. Large requests get pages of
 * their own. A second heap of the same kind serves the runtime and the host's threads, so that the
 * number of processors does not move the program's objects. */
#include <errno.h>
#include <sys/mman.h>

#include "sg_alloc.h"
#include "sg_fence.h"

#define CLASSES     52
#define SMALL_LIMIT 65536u
#define CHUNK       65536u
#define PAGE        4096u
#define GROW        (32ull << 20)

/* In front of every block. */
typedef struct header {
    uint64_t capacity;
    uint32_t size_class; /* CLASSES for a large block */
    uint32_t offset;     /* from the start of the block to the pointer handed out */
} header;

_Static_assert(sizeof(header) == 16, "blocks are aligned to 16 bytes");

typedef struct span {
    struct span *next; /* by address */
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
    uint64_t *left; /* bytes of a memory that it shares with others; NULL: there is no such limit */
} heap;

/* The allocator works before the runtime's context exists: the C library allocates while it starts. */
static struct {
    heap program, own;
    heap *current;                  /* that of the rank that runs; NULL: the program's only one */
    void (*refuse)(uint64_t bytes); /* when that is not enough; does not return */
    bool own_mode;
    bool huge; /* own memory has huge pages */
} memory = {
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

/* The heap of the program, or of the rank that runs. */
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

static uint64_t class_size(uint32_t c)
{
    if (c < 8)
        return 16 * (c + 1);
    uint32_t log = 7 + (c - 8) / 4;
    return (1ull << log) + (((c - 8) % 4 + 1) << (log - 2));
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

static void *allocate_small(heap *h, uint64_t size)
{
    local_heap *local = local_of(h);
    uint32_t c = class_of(size);
    if (local == NULL)
        return NULL;
    void *block = local->free[c];
    if (block != NULL) {
        local->free[c] = *(void **)block;
        return block;
    }
    uint64_t need = sizeof(header) + class_size(c);
    if ((uint64_t)(local->end - local->next) < need) {
        uint64_t chunk = need > CHUNK / 4 ? (need + PAGE - 1) & ~(uint64_t)(PAGE - 1) : CHUNK;
        char *fresh = grow(h, chunk);
        if (fresh == NULL)
            return NULL;
        if (chunk != CHUNK) {
            *(header *)fresh = (header){class_size(c), c, sizeof(header)};
            return fresh + sizeof(header);
        }
        local->next = fresh;
        local->end = fresh + chunk;
    }
    header *head = (header *)local->next;
    local->next += need;
    *head = (header){class_size(c), c, sizeof(header)};
    return head + 1;
}

/* Best fit among the free spans, else fresh pages. */
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
    *(header *)start = (header){need - sizeof(header), CLASSES, sizeof(header)};
    return start + sizeof(header);
}

/* `caller`: code address behind the program's call, NULL when the runtime itself asks. */
static void *allocate(uint64_t size, bool *zeroed, const void *caller)
{
    heap *h = memory.own_mode ? &memory.own : programs();
    *zeroed = false;
    if (size > (1ull << 46))
        return errno = ENOMEM, NULL;
    void *block = size <= SMALL_LIMIT ? allocate_small(h, size) : allocate_large(h, size, zeroed);
    if (block == NULL)
        return errno = ENOMEM, NULL;
    sg_fence_shut((char *)block - sizeof(header), sizeof(header));
    sg_fence_open(block, size);
    sg_fence_shut((char *)block + size, ((header *)block - 1)->capacity - size);
    if (!memory.own_mode && caller != NULL && sg != NULL) {
        sg_observe_allocated(block, size, caller, size > SMALL_LIMIT);
        sg_synchronise(); /* who had the block before is done with it */
    }
    return block;
}

static header *header_of(void *pointer)
{
    return (header *)pointer - 1;
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

SG_API void free(void *pointer)
{
    if (pointer == NULL)
        return;
    uint64_t at = (uint64_t)pointer;
    heap *h = at >= memory.own.base && at < memory.own.top ? &memory.own : programs();
    if (at < h->base || at >= h->top)
        return;
    if (h != &memory.own)
        sg_observe_freed(pointer);
    header *head = header_of(pointer);
    char *start = (char *)pointer - head->offset;
    head = (header *)start;
    sg_fence_shut(head + 1, head->capacity);
    if (head->size_class == CLASSES) {
        release_large(h, start, head->capacity + sizeof(header));
        return;
    }
    local_heap *local = local_of(h);
    void *block = head + 1;
    *(void **)block = local->free[head->size_class];
    local->free[head->size_class] = block;
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

void *sg_alloc_for(size_t size, const void *site)
{
    return allocate_zeroed(1, size, site);
}

/* Bytes that may be used from `pointer` on. */
static size_t usable(void *pointer)
{
    header *head = header_of(pointer);
    header *first = (header *)((char *)pointer - head->offset);
    return first->capacity + sizeof(header) - head->offset;
}

SG_API size_t malloc_usable_size(void *pointer)
{
    return pointer == NULL ? 0 : usable(pointer);
}

static void *reallocate(void *pointer, size_t size, const void *caller)
{
    bool zeroed;
    if (pointer == NULL)
        return allocate(size, &zeroed, caller);
    if (size == 0)
        return free(pointer), NULL;
    size_t old = usable(pointer);
    if (size <= old && (old <= SMALL_LIMIT || size > old / 2)) {
        sg_fence_open(pointer, size);
        sg_fence_shut((char *)pointer + size, old - size);
        return pointer;
    }
    void *block = allocate(size, &zeroed, caller);
    if (block == NULL)
        return NULL;
    sg_fence_open(pointer, old);
    memcpy(block, pointer, old < size ? old : size);
    free(pointer);
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

static void *allocate_aligned(size_t alignment, size_t size, const void *caller)
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
    if (aligned != (uint64_t)block) {
        header *first = header_of(block), *head = header_of((void *)aligned);
        *head = (header){first->capacity, first->size_class, (uint32_t)(aligned - (uint64_t)first)};
    }
    if (!memory.own_mode)
        sg_observe_allocated((void *)aligned, size, caller, size + alignment > SMALL_LIMIT);
    return (void *)aligned;
}

SG_API void *memalign(size_t alignment, size_t size)
{
    return allocate_aligned(alignment, size, SG_CALLER);
}

SG_API int posix_memalign(void **pointer, size_t alignment, size_t size)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    int saved = errno;
    void *block = allocate_aligned(alignment, size, SG_CALLER);
    errno = saved;
    if (block == NULL)
        return ENOMEM;
    *pointer = block;
    return 0;
}

SG_API void *aligned_alloc(size_t alignment, size_t size)
{
    return allocate_aligned(alignment, size, SG_CALLER);
}

SG_API void *valloc(size_t size)
{
    return allocate_aligned(PAGE, size, SG_CALLER);
}

SG_API void *pvalloc(size_t size)
{
    return allocate_aligned(PAGE, (size + PAGE - 1) & ~(size_t)(PAGE - 1), SG_CALLER);
}

/* C++ allocates through its library, which is not the place that a user searches for: operator new here,
 * unless the program has its own. */
extern void sg_throw_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak, noreturn));

static void *allocate_object(size_t size, const void *caller)
{
    bool zeroed;
    void *block = allocate(size, &zeroed, caller);
    if (block == NULL && sg_throw_bad_alloc != NULL)
        sg_throw_bad_alloc();
    return block;
}

void *sg_operator_new(size_t size) __asm__("_Znwm");
void *sg_operator_new_array(size_t size) __asm__("_Znam");

__attribute__((weak)) SG_API void *sg_operator_new(size_t size)
{
    return allocate_object(size, SG_CALLER);
}

__attribute__((weak)) SG_API void *sg_operator_new_array(size_t size)
{
    return allocate_object(size, SG_CALLER);
}

char *sg_alloc_string(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy == NULL ? NULL : memcpy(copy, text, size);
}
