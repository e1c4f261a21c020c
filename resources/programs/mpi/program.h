/* Shared by the MPI programs of this folder: reading arguments, a deterministic input, the verdict of all
 * ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rank and number of ranks in MPI_COMM_WORLD. */
typedef struct process {
    int rank;
    int ranks;
} process;

static inline process begin(int *argc, char ***argv)
{
    process me;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &me.ranks);
    return me;
}

/* Argument `which` as an integer, or `missing` if there are fewer; -1 if it is not a number. */
static inline long number(int argc, char **argv, int which, long missing)
{
    if (argc <= which)
        return missing;
    char *rest;
    long value = strtol(argv[which], &rest, 10);
    return *argv[which] != '\0' && *rest == '\0' ? value : -1;
}

/* Is there an argument `which`, equal to `word`? */
static inline int given(int argc, char **argv, int which, const char *word)
{
    return argc > which && strcmp(argv[which], word) == 0;
}

/* Zeroed memory for `elements` of `size` bytes; without it the whole run ends. */
static inline void *memory(long elements, size_t size)
{
    void *place = calloc((size_t)elements + 1, size);
    if (place == NULL) {
        fprintf(stderr, "no memory for %ld elements of %zu bytes\n", elements, size);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return place;
}

/* Ends a run with invalid arguments: rank 0 prints the usage. Returns the exit code. */
static inline int refuse(process me, const char *usage)
{
    if (me.rank == 0)
        fprintf(stderr, "usage: %s\n", usage);
    MPI_Finalize();
    return 2;
}

/* Ends a run: the result is wrong if any rank found an error. Returns the exit code. */
static inline int finish(process me, int faults)
{
    int all = 0;
    MPI_Allreduce(&faults, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all != 0 && me.rank == 0)
        fprintf(stderr, "the result is wrong: %d faults\n", all);
    MPI_Finalize();
    return all != 0;
}

/* A number in [-0.5, 0.5), the same for the same `place` in every run. */
static inline double scattered(unsigned place)
{
    unsigned random = (place + 1u) * 2654435761u;
    random ^= random >> 15;
    random *= 2246822519u;
    random ^= random >> 13;
    random *= 3266489917u;
    random ^= random >> 16;
    return random / 4294967296.0 - 0.5;
}

/* First element of block `part` when `all` elements are distributed in `parts` blocks. */
static inline long block_begin(long all, long part, long parts)
{
    return all / parts * part + (part < all % parts ? part : all % parts);
}
