/* Leagues of teams on the host, and target constructs, which also run on the host, as in libgomp without a
 * device: there is only one memory, so mapping does nothing. */
#include <errno.h>

#include "sg_omp.h"

/* ---- teams: run one after the other ---- */

static uint32_t limit_threads(sg_thread *t, uint32_t limit)
{
    sg_icv *icv = &t->task->icv;
    uint32_t old = icv->thread_limit;
    if (limit == 0)
        limit = sg->omp->teams_thread_limit;
    if (limit != 0)
        icv->thread_limit = limit;
    return old;
}

SG_API void GOMP_teams_reg(void (*function)(void *), void *data, unsigned teams, unsigned threads,
                           unsigned flags)
{
    (void)flags;
    sg_thread *t = sg_member(SG_CALLER);
    sg_team *root = t->team->root;
    uint32_t before = limit_threads(t, threads);
    if (teams == 0)
        teams = sg->omp->teams != 0 ? sg->omp->teams : 3; /* libgomp's number */
    root->league_size = teams;
    for (root->league_rank = 0; root->league_rank < teams; root->league_rank++)
        function(data);
    root->league_size = 1;
    root->league_rank = 0;
    t->task->icv.thread_limit = before;
}

SG_API void GOMP_teams(unsigned teams, unsigned threads)
{
    (void)teams; /* a league of one */
    limit_threads(sg_member(SG_CALLER), threads);
}

/* Called before each team of a league; false: none left. */
SG_API bool GOMP_teams4(unsigned least, unsigned most, unsigned threads, bool first)
{
    (void)most;
    sg_thread *t = sg_member(SG_CALLER);
    sg_team *root = t->team->root;
    if (first) {
        limit_threads(t, threads);
        root->league_size = least > 0 ? least : 1;
        root->league_rank = 0;
        return true;
    }
    if (root->league_rank + 1 == root->league_size)
        return false;
    root->league_rank++;
    return true;
}

/* ---- target ---- */

enum { MAP_KIND = 0xff, MAP_FIRSTPRIVATE = 0x0c, MAP_ALIGNMENT_SHIFT = 8 };

/* Size of the firstprivate copies laid out one after the other; unless `block` is NULL, copies them there and
 * stores their addresses in `addresses`. */
static size_t firstprivate(size_t count, void **addresses, const size_t *sizes, const unsigned short *kinds,
                           char *block)
{
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if ((kinds[i] & MAP_KIND) != MAP_FIRSTPRIVATE)
            continue;
        size_t alignment = (size_t)1 << (kinds[i] >> MAP_ALIGNMENT_SHIFT);
        used = (used + alignment - 1) & ~(alignment - 1);
        if (block != NULL && sizes[i] > 0) {
            memcpy(block + used, addresses[i], sizes[i]);
            addresses[i] = block + used;
        }
        used += sizes[i];
    }
    return used;
}

enum { BLOCK_ALIGNMENT = 64 };

/* Finds the thread_limit clause among a target construct's arguments; 0: none. An argument holds a device, a
 * purpose, and a value, which may be in the next word instead. */
static uint32_t thread_limit_of(void **arguments)
{
    enum { DEVICE = 0x7f, NEXT_WORD = 0x80, PURPOSE = 0xff00, THREAD_LIMIT = 0x200, VALUE_SHIFT = 16 };
    while (arguments != NULL && *arguments != NULL) {
        intptr_t word = (intptr_t)*arguments++;
        intptr_t value = word & NEXT_WORD ? (intptr_t)*arguments++ : word >> VALUE_SHIFT;
        if ((word & DEVICE) == 0 && (word & PURPOSE) == THREAD_LIMIT)
            return value > INT32_MAX ? INT32_MAX : (uint32_t)value;
    }
    return 0;
}

static void run_on_host(void (*function)(void *), size_t count, void **addresses, const size_t *sizes,
                        const unsigned short *kinds, uint32_t limit)
{
    sg_thread *t = sg_self();
    size_t size = kinds != NULL ? firstprivate(count, addresses, sizes, kinds, NULL) : 0;
    char block[size + BLOCK_ALIGNMENT];
    uintptr_t start = ((uintptr_t)block + BLOCK_ALIGNMENT - 1) & ~(uintptr_t)(BLOCK_ALIGNMENT - 1);
    if (size > 0)
        firstprivate(count, addresses, sizes, kinds, (char *)start);
    sg_team_enter_initial(t);
    if (limit != 0)
        t->task->icv.thread_limit = limit;
    function(addresses);
    sg_team_leave_initial(t);
}

SG_API void GOMP_target_ext(int device, void (*function)(void *), size_t count, void **addresses,
                            size_t *sizes, unsigned short *kinds, unsigned flags, void **depend,
                            void **arguments)
{
    (void)device, (void)flags;
    sg_thread *t = sg_member(SG_CALLER);
    if (depend != NULL)
        sg_depend_wait(t, depend);
    run_on_host(function, count, addresses, sizes, kinds, thread_limit_of(arguments));
}

SG_API void GOMP_target(int device, void (*function)(void *), const void *unused, size_t count,
                        void **addresses, size_t *sizes, unsigned char *kinds)
{
    (void)device, (void)unused, (void)sizes, (void)kinds;
    sg_member(SG_CALLER);
    run_on_host(function, count, addresses, NULL, NULL, 0);
}

SG_API void GOMP_target_data_ext(int device, size_t count, void **addresses, size_t *sizes,
                                 unsigned short *kinds)
{
    (void)device, (void)count, (void)addresses, (void)sizes, (void)kinds;
}

SG_API void GOMP_target_data(int device, const void *unused, size_t count, void **addresses, size_t *sizes,
                             unsigned char *kinds)
{
    (void)device, (void)unused, (void)count, (void)addresses, (void)sizes, (void)kinds;
}

SG_API void GOMP_target_end_data(void)
{
}

SG_API void GOMP_target_update(int device, const void *unused, size_t count, void **addresses, size_t *sizes,
                               unsigned char *kinds)
{
    (void)device, (void)unused, (void)count, (void)addresses, (void)sizes, (void)kinds;
}

SG_API void GOMP_target_update_ext(int device, size_t count, void **addresses, size_t *sizes,
                                   unsigned short *kinds, unsigned flags, void **depend)
{
    (void)device, (void)count, (void)addresses, (void)sizes, (void)kinds, (void)flags;
    sg_thread *t = sg_member(SG_CALLER);
    if (depend != NULL)
        sg_depend_wait(t, depend);
}

SG_API void GOMP_target_enter_exit_data(int device, size_t count, void **addresses, size_t *sizes,
                                        unsigned short *kinds, unsigned flags, void **depend)
{
    (void)device, (void)count, (void)addresses, (void)sizes, (void)kinds, (void)flags;
    sg_thread *t = sg_member(SG_CALLER);
    if (depend != NULL)
        sg_depend_wait(t, depend);
}

SG_API void GOMP_offload_register(const void *table, int kind, const void *data)
{
    (void)table, (void)kind, (void)data;
}

SG_API void GOMP_offload_unregister(const void *table, int kind, const void *data)
{
    (void)table, (void)kind, (void)data;
}

SG_API void GOMP_offload_register_ver(unsigned version, const void *table, int kind, const void *data)
{
    (void)version, (void)table, (void)kind, (void)data;
}

SG_API void GOMP_offload_unregister_ver(unsigned version, const void *table, int kind, const void *data)
{
    (void)version, (void)table, (void)kind, (void)data;
}

/* ---- omp_target_*: the only device is the host ---- */

enum { HOST = 0 };

SG_API int omp_get_num_devices(void)
{
    return 0;
}

SG_API int omp_get_initial_device(void)
{
    return HOST;
}

SG_API int omp_get_device_num(void)
{
    return HOST;
}

SG_API int omp_is_initial_device(void)
{
    return 1;
}

SG_API void *omp_target_alloc(size_t size, int device)
{
    return device == HOST ? malloc(size) : NULL;
}

SG_API void omp_target_free(void *memory, int device)
{
    if (device == HOST)
        free(memory);
}

SG_API int omp_target_is_present(const void *memory, int device)
{
    (void)memory;
    return device == HOST;
}

/* The C library's function as called by the program: its references are simulated. */
void *sg_program_memcpy(void *to, const void *from, size_t size) __asm__("__wrap_memcpy");

SG_API int omp_target_memcpy(void *to, const void *from, size_t size, size_t to_offset, size_t from_offset,
                             int to_device, int from_device)
{
    if (to_device != HOST || from_device != HOST)
        return EINVAL;
    sg_program_memcpy((char *)to + to_offset, (const char *)from + from_offset, size);
    return 0;
}

/* Copies a box of a multidimensional array; sizes are in elements. */
static void copy_box(char *to, const char *from, size_t element, int dimensions, const size_t *volume,
                     const size_t *to_offset, const size_t *from_offset, const size_t *to_size,
                     const size_t *from_size)
{
    size_t to_row = element, from_row = element;
    for (int i = 1; i < dimensions; i++) {
        to_row *= to_size[i];
        from_row *= from_size[i];
    }
    to += to_offset[0] * to_row;
    from += from_offset[0] * from_row;
    if (dimensions == 1) {
        sg_program_memcpy(to, from, volume[0] * element);
        return;
    }
    for (size_t i = 0; i < volume[0]; i++)
        copy_box(to + i * to_row, from + i * from_row, element, dimensions - 1, volume + 1, to_offset + 1,
                 from_offset + 1, to_size + 1, from_size + 1);
}

SG_API int omp_target_memcpy_rect(void *to, const void *from, size_t element, int dimensions,
                                  const size_t *volume, const size_t *to_offset, const size_t *from_offset,
                                  const size_t *to_size, const size_t *from_size, int to_device,
                                  int from_device)
{
    if (to == NULL && from == NULL)
        return INT32_MAX; /* number of dimensions supported */
    if (to_device != HOST || from_device != HOST || dimensions < 1)
        return EINVAL;
    copy_box(to, from, element, dimensions, volume, to_offset, from_offset, to_size, from_size);
    return 0;
}

SG_API int omp_target_associate_ptr(const void *host, const void *memory, size_t size, size_t offset,
                                    int device)
{
    (void)host, (void)memory, (void)size, (void)offset, (void)device;
    return EINVAL;
}

SG_API int omp_target_disassociate_ptr(const void *memory, int device)
{
    (void)memory, (void)device;
    return EINVAL;
}
