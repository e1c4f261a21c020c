/* MPI_Dims_create: grid sizes as close to each other as possible. */
#include <math.h>

#include "sg_mpi_topology.h"

/* The divisors of a number in ascending order; grid sizes in descending order. */
typedef struct search {
    int *divisors, count;
    int *sizes, *best, n;
    int difference; /* between the largest and smallest size of the best grid so far */
} search;

/* The largest possible value of the smallest of `n` sizes with this product. */
static int root(int product, int n)
{
    int r = (int)(pow(product, 1.0 / n) + 1e-9);
    return r > 0 ? r : 1;
}

/* Tries all sizes from index `at` with product `left`, none larger than `most`. */
static void try_sizes(search *s, int at, int left, int most)
{
    int after = s->n - at - 1;
    if (after == 0) {
        s->sizes[at] = left;
        int difference = s->sizes[0] - left;
        if (left <= most && difference < s->difference) {
            s->difference = difference;
            for (int i = 0; i < s->n; i++)
                s->best[i] = s->sizes[i];
        }
        return;
    }
    for (int i = 0; i < s->count && s->divisors[i] <= most; i++) {
        int size = s->divisors[i], largest = at > 0 ? s->sizes[0] : size;
        if (left % size != 0 || size < root(left, after + 1))
            continue;
        if (largest - root(left / size, after) >= s->difference)
            return; /* larger ones make the smallest even smaller */
        s->sizes[at] = size;
        try_sizes(s, at + 1, left / size, size);
    }
}

/* Chooses `n` sizes with product `left`, in descending order. */
static void balance(int left, int n, int *sizes)
{
    search s = {.best = sizes, .n = n, .difference = INT32_MAX};
    int small = 0;
    for (int d = 1; (int64_t)d * d <= left; d++)
        small += left % d == 0;
    s.divisors = sg_mpi_new(2 * (size_t)small * sizeof *s.divisors);
    s.sizes = sg_mpi_new((size_t)n * sizeof *s.sizes);
    for (int d = 1; (int64_t)d * d <= left; d++)
        if (left % d == 0)
            s.divisors[s.count++] = d;
    for (int i = small - 1; i >= 0; i--)
        if (s.divisors[i] != left / s.divisors[i])
            s.divisors[s.count++] = left / s.divisors[i];
    try_sizes(&s, 0, left, left);
    sg_mpi_free(s.divisors);
    sg_mpi_free(s.sizes);
}

SG_API int PMPI_Dims_create(int nodes, int n, int sizes[])
{
    SG_ENTER("Dims_create");
    if (n > 0)
        SG_NEEDS(sizes)
    if (nodes < 1 || n < 0)
        return sg_mpi_error(NULL, MPI_ERR_DIMS, "%d processes make no grid of %d dimensions", nodes, n);
    int left = nodes, given = 0, at = 0;
    for (int i = 0; i < n; given += sizes[i++] != 0)
        if (sizes[i] > 0 && left % sizes[i] == 0)
            left /= sizes[i];
        else if (sizes[i] != 0)
            return sg_mpi_error(NULL, MPI_ERR_DIMS, "%d processes cannot be divided by %d", nodes, sizes[i]);
    if (given == n)
        return left == 1 ? MPI_SUCCESS
                         : sg_mpi_error(NULL, MPI_ERR_DIMS, "the dimensions do not hold %d processes", nodes);
    int *made = sg_mpi_new((size_t)(n - given) * sizeof *made);
    balance(left, n - given, made);
    for (int i = 0; i < n; i++)
        if (sizes[i] == 0)
            sizes[i] = made[at++];
    sg_mpi_free(made);
    return MPI_SUCCESS;
}

SG_MPI_NAME(Dims_create)
