/* OpenMP allocators: one kind of memory, the program's heap, with alignment, pool size and fallback. */
#include "sg_omp.h"

enum trait {
    TRAIT_SYNC_HINT = 1,
    TRAIT_ALIGNMENT,
    TRAIT_ACCESS,
    TRAIT_POOL_SIZE,
    TRAIT_FALLBACK,
    TRAIT_FALLBACK_DATA,
    TRAIT_PINNED,
    TRAIT_PARTITION,
};
enum fallback { FALLBACK_DEFAULT = 11, FALLBACK_NULL, FALLBACK_ABORT, FALLBACK_ALLOCATOR };
enum { PREDEFINED_MOST = 8 }; /* handles of the predefined allocators */

typedef struct trait_value {
    int key;
    uintptr_t value;
} trait_value;

typedef struct allocator {
    size_t alignment, pool_size, used;
    uintptr_t fallback, fallback_data;
} allocator;

/* Precedes every block of memory. */
typedef struct header {
    void *block;
    size_t size;
    uintptr_t allocator;
} header;

static bool good_value(const trait_value *t)
{
    switch (t->key) {
    case TRAIT_ALIGNMENT:
        return t->value != 0 && (t->value & (t->value - 1)) == 0;
    case TRAIT_POOL_SIZE:
        return t->value != 0;
    case TRAIT_FALLBACK:
        return t->value >= FALLBACK_DEFAULT && t->value <= FALLBACK_ALLOCATOR;
    case TRAIT_PINNED:
        return t->value == 0; /* as in libgomp 12: memory cannot be pinned */
    default:
        return t->key >= TRAIT_SYNC_HINT && t->key <= TRAIT_PARTITION;
    }
}

SG_API uintptr_t omp_init_allocator(uintptr_t space, int count, const trait_value *traits)
{
    allocator made = {.alignment = 1, .pool_size = SIZE_MAX, .fallback = FALLBACK_DEFAULT};
    if (space > 4)
        return 0;
    for (int i = 0; i < count; i++) {
        const trait_value *t = &traits[i];
        if (!good_value(t))
            return 0;
        if (t->key == TRAIT_ALIGNMENT)
            made.alignment = t->value;
        else if (t->key == TRAIT_POOL_SIZE)
            made.pool_size = t->value;
        else if (t->key == TRAIT_FALLBACK)
            made.fallback = t->value;
        else if (t->key == TRAIT_FALLBACK_DATA)
            made.fallback_data = t->value;
    }
    allocator *a = malloc(sizeof *a);
    if (a != NULL)
        *a = made;
    return (uintptr_t)a;
}

SG_API void omp_destroy_allocator(uintptr_t handle)
{
    if (handle > PREDEFINED_MOST)
        free((void *)handle);
}

SG_API void omp_set_default_allocator(uintptr_t handle)
{
    sg_member(SG_CALLER)->task->icv.allocator = handle != 0 ? handle : 1;
}

SG_API uintptr_t omp_get_default_allocator(void)
{
    return sg_member(SG_CALLER)->task->icv.allocator;
}

/* Allocates from the pool of `handle` only; NULL: not enough. */
static void *from_pool(size_t alignment, size_t size, uintptr_t handle)
{
    allocator *a = handle > PREDEFINED_MOST ? (allocator *)handle : NULL;
    if (a != NULL && a->alignment > alignment)
        alignment = a->alignment;
    if (alignment < 2 * sizeof(void *))
        alignment = 2 * sizeof(void *);
    size_t whole = size + sizeof(header) + alignment;
    if (whole < size || (a != NULL && (size > a->pool_size || a->used > a->pool_size - size)))
        return NULL;
    void *block = malloc(whole);
    if (block == NULL)
        return NULL;
    if (a != NULL)
        a->used += size;
    uintptr_t at = ((uintptr_t)block + sizeof(header) + alignment - 1) & ~(alignment - 1);
    ((header *)at)[-1] = (header){block, size, handle};
    return (void *)at;
}

SG_API void *omp_aligned_alloc(size_t alignment, size_t size, uintptr_t handle)
{
    if (handle == 0)
        handle = sg_member(SG_CALLER)->task->icv.allocator;
    while (size > 0) {
        void *memory = from_pool(alignment, size, handle);
        const allocator *a = handle > PREDEFINED_MOST ? (const allocator *)handle : NULL;
        if (memory != NULL)
            return memory;
        if (a == NULL || a->fallback == FALLBACK_NULL)
            return NULL;
        if (a->fallback == FALLBACK_ABORT)
            sg_stop(SG_STATUS_OUT_OF_MEMORY,
                    "omp_alloc at 0x%llx: no %zu bytes left, and abort was asked for",
                    (unsigned long long)(uintptr_t)SG_CALLER, size);
        handle = a->fallback == FALLBACK_ALLOCATOR ? a->fallback_data : 1;
    }
    return NULL;
}

SG_API void *omp_alloc(size_t size, uintptr_t handle)
{
    return omp_aligned_alloc(1, size, handle);
}

SG_API void *omp_aligned_calloc(size_t alignment, size_t count, size_t size, uintptr_t handle)
{
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole))
        return NULL;
    void *memory = omp_aligned_alloc(alignment, whole, handle);
    if (memory != NULL) {
        memset(memory, 0, whole);
        sg_reference_range(memory, whole, SG_WRITE, SG_CALLER);
    }
    return memory;
}

SG_API void *omp_calloc(size_t count, size_t size, uintptr_t handle)
{
    return omp_aligned_calloc(1, count, size, handle);
}

SG_API void omp_free(void *memory, uintptr_t handle)
{
    (void)handle;
    if (memory == NULL)
        return;
    header h = ((header *)memory)[-1];
    if (h.allocator > PREDEFINED_MOST)
        ((allocator *)h.allocator)->used -= h.size;
    free(h.block);
}

SG_API void *omp_realloc(void *memory, size_t size, uintptr_t handle, uintptr_t free_handle)
{
    if (memory == NULL)
        return omp_alloc(size, handle);
    if (size == 0) {
        omp_free(memory, free_handle);
        return NULL;
    }
    header h = ((header *)memory)[-1];
    void *other = omp_alloc(size, handle != 0 ? handle : h.allocator);
    if (other != NULL) {
        size_t kept = size < h.size ? size : h.size;
        sg_reference_range(memory, kept, SG_READ, SG_CALLER);
        sg_reference_range(other, kept, SG_WRITE, SG_CALLER);
        memcpy(other, memory, kept);
        omp_free(memory, free_handle);
    }
    return other;
}

SG_API void *GOMP_alloc(size_t alignment, size_t size, uintptr_t handle)
{
    void *memory = omp_aligned_alloc(alignment, size, handle);
    if (memory == NULL && size > 0)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for %zu bytes of an allocate clause at 0x%llx", size,
                (unsigned long long)(uintptr_t)SG_CALLER);
    return memory;
}

SG_API void GOMP_free(void *memory, uintptr_t handle)
{
    omp_free(memory, handle);
}
