/* The functions of omp_lib: those of omp.h with Fortran names and arguments by reference. */
#include "sg_omp.h"

/* Without arguments: name_. */
#define PLAIN(type, name)                                                                                    \
    type name(void);                                                                                         \
    SG_API type name##_(void)                                                                                \
    {                                                                                                        \
        return name();                                                                                       \
    }
/* With one integer: name_ for default integers, name_8_ for 8 bytes. */
#define NUMBER(type, name)                                                                                   \
    type name(int);                                                                                          \
    SG_API type name##_(const int32_t *value)                                                                \
    {                                                                                                        \
        return name(*value);                                                                                 \
    }                                                                                                        \
    SG_API type name##_8_(const int64_t *value)                                                              \
    {                                                                                                        \
        return name((int)*value);                                                                            \
    }
/* With a lock argument. */
#define LOCK(type, name)                                                                                     \
    type name(void *);                                                                                       \
    SG_API type name##_(void *lock)                                                                          \
    {                                                                                                        \
        return name(lock);                                                                                   \
    }
#define LOCK_HINT(name)                                                                                      \
    void name(void *, int);                                                                                  \
    SG_API void name##_(void *lock, const int32_t *hint)                                                     \
    {                                                                                                        \
        name(lock, *hint);                                                                                   \
    }

PLAIN(int, omp_get_num_threads)
PLAIN(int, omp_get_thread_num)
PLAIN(int, omp_get_max_threads)
PLAIN(int, omp_get_num_procs)
PLAIN(int, omp_get_dynamic)
PLAIN(int, omp_get_nested)
PLAIN(int, omp_get_max_active_levels)
PLAIN(int, omp_get_supported_active_levels)
PLAIN(int, omp_get_thread_limit)
PLAIN(int, omp_get_level)
PLAIN(int, omp_get_active_level)
PLAIN(int, omp_get_cancellation)
PLAIN(int, omp_get_proc_bind)
PLAIN(int, omp_get_num_teams)
PLAIN(int, omp_get_team_num)
PLAIN(int, omp_get_max_teams)
PLAIN(int, omp_get_teams_thread_limit)
PLAIN(int, omp_get_max_task_priority)
PLAIN(int, omp_get_num_places)
PLAIN(int, omp_get_place_num)
PLAIN(int, omp_get_partition_num_places)
PLAIN(int, omp_get_default_device)
PLAIN(int, omp_get_num_devices)
PLAIN(int, omp_get_initial_device)
PLAIN(int, omp_get_device_num)
PLAIN(int, omp_in_parallel)
PLAIN(int, omp_in_final)
PLAIN(int, omp_in_explicit_task)
PLAIN(int, omp_is_initial_device)
PLAIN(double, omp_get_wtime)
PLAIN(double, omp_get_wtick)
PLAIN(uintptr_t, omp_get_default_allocator)

NUMBER(void, omp_set_num_threads)
NUMBER(void, omp_set_dynamic)
NUMBER(void, omp_set_nested)
NUMBER(void, omp_set_max_active_levels)
NUMBER(void, omp_set_num_teams)
NUMBER(void, omp_set_teams_thread_limit)
NUMBER(void, omp_set_default_device)
NUMBER(int, omp_get_ancestor_thread_num)
NUMBER(int, omp_get_team_size)
NUMBER(int, omp_get_place_num_procs)
NUMBER(int, omp_pause_resource_all)
NUMBER(void, omp_display_env)

LOCK(void, omp_init_lock)
LOCK(void, omp_destroy_lock)
LOCK(void, omp_set_lock)
LOCK(void, omp_unset_lock)
LOCK(int, omp_test_lock)
LOCK_HINT(omp_init_lock_with_hint)
LOCK(void, omp_init_nest_lock)
LOCK(void, omp_destroy_nest_lock)
LOCK(void, omp_set_nest_lock)
LOCK(void, omp_unset_nest_lock)
LOCK(int, omp_test_nest_lock)
LOCK_HINT(omp_init_nest_lock_with_hint)

void omp_set_schedule(unsigned kind, int chunk);
void omp_get_schedule(unsigned *kind, int *chunk);

SG_API void omp_set_schedule_(const int32_t *kind, const int32_t *chunk)
{
    omp_set_schedule((unsigned)*kind, *chunk);
}

SG_API void omp_set_schedule_8_(const int32_t *kind, const int64_t *chunk)
{
    omp_set_schedule((unsigned)*kind, *chunk > INT32_MAX ? INT32_MAX : (int)*chunk);
}

SG_API void omp_get_schedule_(int32_t *kind, int32_t *chunk)
{
    omp_get_schedule((unsigned *)kind, chunk);
}

SG_API void omp_get_schedule_8_(int32_t *kind, int64_t *chunk)
{
    int size;
    omp_get_schedule((unsigned *)kind, &size);
    *chunk = size;
}

/* ---- places ---- */

int omp_get_place_num_procs(int place);
void omp_get_place_proc_ids(int place, int *ids);
int omp_get_partition_num_places(void);
void omp_get_partition_place_nums(int *places);

static void widen(int64_t *to, const int *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i];
}

SG_API void omp_get_place_proc_ids_(const int32_t *place, int32_t *ids)
{
    omp_get_place_proc_ids(*place, ids);
}

SG_API void omp_get_place_proc_ids_8_(const int64_t *place, int64_t *ids)
{
    int count = omp_get_place_num_procs((int)*place), numbers[SG_MAX_PROCESSORS];
    omp_get_place_proc_ids((int)*place, numbers);
    widen(ids, numbers, count);
}

SG_API void omp_get_partition_place_nums_(int32_t *places)
{
    omp_get_partition_place_nums(places);
}

SG_API void omp_get_partition_place_nums_8_(int64_t *places)
{
    int numbers[SG_MAX_PROCESSORS];
    omp_get_partition_place_nums(numbers);
    widen(places, numbers, omp_get_partition_num_places());
}

/* ---- strings: Fortran pads with blanks and passes the length ---- */

void omp_display_affinity(const char *format);
size_t omp_capture_affinity(char *buffer, size_t size, const char *format);
size_t omp_get_affinity_format(char *buffer, size_t size);

enum { TEXT_MOST = 1024 };

static char *c_text(char *buffer, const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length > TEXT_MOST - 1)
        length = TEXT_MOST - 1;
    memcpy(buffer, text, length);
    buffer[length] = 0;
    return buffer;
}

static void fortran_text(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);
    memset(to, ' ', size);
    memcpy(to, text, length < size ? length : size);
}

SG_API void omp_set_affinity_format_(const char *format, size_t length)
{
    char text[TEXT_MOST];
    omp_set_affinity_format(c_text(text, format, length));
}

SG_API int32_t omp_get_affinity_format_(char *buffer, size_t size)
{
    char text[TEXT_MOST];
    size_t length = omp_get_affinity_format(text, sizeof text);
    fortran_text(buffer, size, text);
    return (int32_t)length;
}

SG_API void omp_display_affinity_(const char *format, size_t length)
{
    char text[TEXT_MOST];
    omp_display_affinity(c_text(text, format, length));
}

SG_API int32_t omp_capture_affinity_(char *buffer, const char *format, size_t size, size_t length)
{
    char text[TEXT_MOST], result[TEXT_MOST];
    size_t needed = omp_capture_affinity(result, sizeof result, c_text(text, format, length));
    fortran_text(buffer, size, result);
    return (int32_t)needed;
}

/* ---- the rest ---- */

int omp_pause_resource(int kind, int device);
uintptr_t omp_init_allocator(uintptr_t space, int count, const void *traits);
void omp_destroy_allocator(uintptr_t handle);
void omp_set_default_allocator(uintptr_t handle);
void omp_fulfill_event(uintptr_t event);

SG_API int omp_pause_resource_(const int32_t *kind, const int32_t *device)
{
    return omp_pause_resource(*kind, *device);
}

SG_API uintptr_t omp_init_allocator_(const uintptr_t *space, const int32_t *count, const void *traits)
{
    return omp_init_allocator(*space, *count, traits);
}

SG_API uintptr_t omp_init_allocator_8_(const uintptr_t *space, const int64_t *count, const void *traits)
{
    return omp_init_allocator(*space, (int)*count, traits);
}

SG_API void omp_destroy_allocator_(const uintptr_t *handle)
{
    omp_destroy_allocator(*handle);
}

SG_API void omp_set_default_allocator_(const uintptr_t *handle)
{
    omp_set_default_allocator(*handle);
}

SG_API void omp_fulfill_event_(uintptr_t event)
{
    omp_fulfill_event(event);
}
