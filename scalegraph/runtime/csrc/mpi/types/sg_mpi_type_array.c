/* Datatypes for parts of arrays: subarrays and distributed arrays; also types by size. */
#include <stdlib.h>

#include "sg_mpi_type.h"

/* A type around another one, whose only reference it holds. */
static sg_type *wrap(int64_t displacement, int64_t repeat, int64_t stride, int64_t count, sg_type *of,
                     bool keep)
{
    sg_type *t = sg_type_made(MPI_COMBINER_STRUCT, &(sg_piece){displacement, repeat, stride, count, of}, 1);
    if (!keep)
        sg_type_drop(of);
    return t;
}

/* Sets the whole array's bounds and creates the handle. */
static int finished(sg_type *t, int combiner, int64_t elements, sg_type *of, const int *integers, int count,
                    MPI_Datatype *result)
{
    t->combiner = combiner;
    t->lb = 0;
    t->ub = elements * sg_type_extent(of);
    t->fixed_lb = t->fixed_ub = true;
    sg_type_describe(t, integers, (uint32_t)count, NULL, 0, &of, 1);
    *result = (MPI_Datatype)sg_handle_new(SG_KIND_TYPE, t);
    return MPI_SUCCESS;
}

SG_API int PMPI_Type_create_subarray(int n, const int sizes[], const int parts[], const int starts[],
                                     int order, MPI_Datatype old, MPI_Datatype *result)
{
    SG_ENTER("Type_create_subarray");
    SG_NEEDS(result)
    if (n > 0)
        SG_NEEDS(sizes, parts, starts)
    sg_type *of = sg_type_of(old);
    if (of == NULL)
        return sg_mpi_error(NULL, MPI_ERR_TYPE, "the datatype does not exist");
    if (n < 1 || (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN))
        return sg_mpi_error(NULL, MPI_ERR_ARG, "%d dimensions in order %d make no array", n, order);
    for (int i = 0; i < n; i++)
        if (parts[i] < 1 || starts[i] < 0 || starts[i] + parts[i] > sizes[i])
            return sg_mpi_error(NULL, MPI_ERR_ARG,
                                "dimension %d has %d items; %d of them from item %d on are none", i, sizes[i],
                                parts[i], starts[i]);
    int *integers = sg_mpi_new((size_t)(3 * n + 2) * sizeof *integers);
    integers[0] = n;
    integers[3 * n + 1] = order;
    int64_t step = sg_type_extent(of), start = 0, elements = 1;
    sg_type *t = of;
    for (int k = 0; k < n; k++) { /* from the dimension with adjacent items outwards */
        int i = order == MPI_ORDER_C ? n - 1 - k : k;
        integers[1 + k] = sizes[k];
        integers[1 + n + k] = parts[k];
        integers[1 + 2 * n + k] = starts[k];
        t = k == 0 ? wrap(0, 1, 0, parts[i], of, true) : wrap(0, parts[i], step, 1, t, false);
        start += starts[i] * step;
        step *= sizes[i];
        elements *= sizes[i];
    }
    t = wrap(start, 1, 0, 1, t, false);
    finished(t, MPI_COMBINER_SUBARRAY, elements, of, integers, 3 * n + 2, result);
    sg_mpi_free(integers);
    return MPI_SUCCESS;
}

/* ---- distributed arrays ---- */

/* The items that process `at` of `processes` has in one dimension, `step` bytes apart; NULL: invalid
 * arguments. */
static sg_type *distributed(int size, int kind, int chunk, int processes, int at, int64_t step, sg_type *of)
{
    if (kind == MPI_DISTRIBUTE_NONE)
        processes = 1, at = 0, chunk = size;
    else if (kind == MPI_DISTRIBUTE_BLOCK && chunk == MPI_DISTRIBUTE_DFLT_DARG)
        chunk = (size + processes - 1) / processes;
    else if (kind == MPI_DISTRIBUTE_CYCLIC && chunk == MPI_DISTRIBUTE_DFLT_DARG)
        chunk = 1;
    if (chunk < 1 || (kind == MPI_DISTRIBUTE_BLOCK && (int64_t)chunk * processes < size))
        return NULL;
    int64_t first = (int64_t)at * chunk, round = (int64_t)chunk * processes, full = 0, rest = 0;
    if (first < size) {
        full = (size - first) / round;
        int64_t left = size - first - full * round;
        rest = left < chunk ? left : chunk;
        if (rest == chunk)
            full++, rest = 0;
    }
    sg_type *line = sg_type_made(MPI_COMBINER_STRUCT, &(sg_piece){0, chunk, step, 1, of}, 1);
    sg_type *end = sg_type_made(MPI_COMBINER_STRUCT, &(sg_piece){0, rest, step, 1, of}, 1);
    sg_piece pieces[2] = {{first * step, full, round * step, 1, line},
                          {(first + full * round) * step, 1, 0, 1, end}};
    sg_type *t = sg_type_made(MPI_COMBINER_STRUCT, pieces, rest > 0 ? 2 : 1);
    sg_type_drop(line);
    sg_type_drop(end);
    return t;
}

static int check_darray(int size, int rank, int n, const int processes[])
{
    int64_t all = 1;
    for (int i = 0; i < n; i++)
        all *= processes[i];
    if (n < 1 || all != size || rank < 0 || rank >= size)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "rank %d of %d processes in %d dimensions for %lld is none",
                            rank, size, n, (long long)all);
    return MPI_SUCCESS;
}

SG_API int PMPI_Type_create_darray(int size, int rank, int n, const int sizes[], const int kinds[],
                                   const int chunks[], const int processes[], int order, MPI_Datatype old,
                                   MPI_Datatype *result)
{
    SG_ENTER("Type_create_darray");
    SG_NEEDS(result)
    if (n > 0)
        SG_NEEDS(sizes, kinds, chunks, processes)
    sg_type *of = sg_type_of(old), *t = of;
    if (of == NULL)
        return sg_mpi_error(NULL, MPI_ERR_TYPE, "the datatype does not exist");
    int error = check_darray(size, rank, n, processes);
    if (error != MPI_SUCCESS)
        return error;
    int *integers = sg_mpi_new((size_t)(4 * n + 4) * sizeof *integers),
        *at = sg_mpi_new((size_t)n * sizeof *at);
    int number = rank;
    for (int i = n - 1; i >= 0; i--) { /* processes are numbered as in C, whatever the order of the array */
        at[i] = number % processes[i];
        number /= processes[i];
    }
    integers[0] = size, integers[1] = rank, integers[2] = n, integers[4 * n + 3] = order;
    int64_t step = sg_type_extent(of), elements = 1;
    for (int k = 0; k < n && t != NULL; k++) {
        int i = order == MPI_ORDER_C ? n - 1 - k : k;
        integers[3 + k] = sizes[k], integers[3 + n + k] = kinds[k];
        integers[3 + 2 * n + k] = chunks[k], integers[3 + 3 * n + k] = processes[k];
        sg_type *outer = distributed(sizes[i], kinds[i], chunks[i], processes[i], at[i], step, t);
        if (k > 0)
            sg_type_drop(t);
        t = outer;
        step *= sizes[i];
        elements *= sizes[i];
    }
    if (t == NULL)
        error = sg_mpi_error(NULL, MPI_ERR_ARG, "the distribution does not hold the array");
    else
        finished(t, MPI_COMBINER_DARRAY, elements, of, integers, 4 * n + 4, result);
    sg_mpi_free(integers);
    sg_mpi_free(at);
    return error;
}

/* ---- types by size and by precision ---- */

SG_API int PMPI_Type_match_size(int kind, int size, MPI_Datatype *result)
{
    SG_ENTER("Type_match_size");
    SG_NEEDS(result)
    static const struct {
        int kind, size;
        uint16_t handle;
    } known[] = {
        {MPI_TYPECLASS_INTEGER, 1, 0x2c1},  {MPI_TYPECLASS_INTEGER, 2, 0x2c9},
        {MPI_TYPECLASS_INTEGER, 4, 0x2d1},  {MPI_TYPECLASS_INTEGER, 8, 0x2d9},
        {MPI_TYPECLASS_INTEGER, 16, 0x2e1}, {MPI_TYPECLASS_REAL, 4, 0x2d2},
        {MPI_TYPECLASS_REAL, 8, 0x2da},     {MPI_TYPECLASS_REAL, 16, 0x2e2},
        {MPI_TYPECLASS_COMPLEX, 8, 0x2db},  {MPI_TYPECLASS_COMPLEX, 16, 0x2e3},
        {MPI_TYPECLASS_COMPLEX, 32, 0x2eb},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].kind == kind && known[i].size == size) {
            *result = (MPI_Datatype)(uintptr_t)known[i].handle;
            return MPI_SUCCESS;
        }
    return sg_mpi_error(NULL, MPI_ERR_ARG, "there is no type of class %d with %d bytes", kind, size);
}

/* A duplicate of a basic type that records how it was requested. */
static int precise(int combiner, uint16_t handle, const int *integers, uint32_t count, MPI_Datatype *result)
{
    if (handle == 0)
        return sg_mpi_error(NULL, MPI_ERR_ARG, "there is no type of this precision and range");
    sg_type *of = sg_type_predefined(handle);
    sg_type *t = sg_type_made(combiner, &(sg_piece){0, 1, 0, 1, of}, 1);
    sg_type_describe(t, integers, count, NULL, 0, NULL, 0);
    t->committed = true;
    t->class = of->class;
    *result = (MPI_Datatype)sg_handle_new(SG_KIND_TYPE, t);
    return MPI_SUCCESS;
}

SG_API int PMPI_Type_create_f90_integer(int digits, MPI_Datatype *result)
{
    SG_ENTER("Type_create_f90_integer");
    SG_NEEDS(result)
    uint16_t handle = digits <= 2    ? 0x2c1
                      : digits <= 4  ? 0x2c9
                      : digits <= 9  ? 0x2d1
                      : digits <= 18 ? 0x2d9
                                     : 0;
    return precise(MPI_COMBINER_F90_INTEGER, handle, &digits, 1, result);
}

static int bytes_of_real(int digits, int range)
{
    digits = digits == MPI_UNDEFINED ? 0 : digits;
    range = range == MPI_UNDEFINED ? 0 : range;
    if (digits <= 6 && range <= 37)
        return 4;
    return digits <= 15 && range <= 307 ? 8 : digits <= 33 && range <= 4931 ? 16 : 0;
}

SG_API int PMPI_Type_create_f90_real(int digits, int range, MPI_Datatype *result)
{
    SG_ENTER("Type_create_f90_real");
    SG_NEEDS(result)
    int bytes = bytes_of_real(digits, range);
    uint16_t handle = bytes == 4 ? 0x2d2 : bytes == 8 ? 0x2da : bytes == 16 ? 0x2e2 : 0;
    return precise(MPI_COMBINER_F90_REAL, handle, (int[]){digits, range}, 2, result);
}

SG_API int PMPI_Type_create_f90_complex(int digits, int range, MPI_Datatype *result)
{
    SG_ENTER("Type_create_f90_complex");
    SG_NEEDS(result)
    int bytes = bytes_of_real(digits, range);
    uint16_t handle = bytes == 4 ? 0x2db : bytes == 8 ? 0x2e3 : bytes == 16 ? 0x2eb : 0;
    return precise(MPI_COMBINER_F90_COMPLEX, handle, (int[]){digits, range}, 2, result);
}

SG_MPI_NAME(Type_create_subarray)
SG_MPI_NAME(Type_create_darray)
SG_MPI_NAME(Type_match_size)
SG_MPI_NAME(Type_create_f90_integer)
SG_MPI_NAME(Type_create_f90_real)
SG_MPI_NAME(Type_create_f90_complex)
