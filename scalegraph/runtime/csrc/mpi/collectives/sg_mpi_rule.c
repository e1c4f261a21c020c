/* Which algorithm a collective operation uses: MPICH's switch points, as a table. */
#include <stdlib.h>

#include "sg_mpi_collective.h"

typedef struct rule {
    enum sg_collective what;
    int64_t below_bytes; /* of the message, of all ranks together (allgather), or of a block (alltoall) */
    int below_ranks, least_ranks;
    bool power_of_two; /* only if the number of ranks is a power of two */
    bool simple;       /* only for operations that commute, with at least one item per rank */
    enum sg_algorithm algorithm;
} rule;

#define ANY INT64_MAX
#define ALL INT32_MAX

/* The first match applies. Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations
 * in MPICH", 2005, and MPICH's default control variables. */
static const rule rules[] = {
    {SG_BARRIER, ANY, ALL, 0, false, false, SG_DISSEMINATION},
    {SG_BCAST, 12288, ALL, 0, false, false, SG_BINOMIAL},
    {SG_BCAST, ANY, 8, 0, false, false, SG_BINOMIAL},
    {SG_BCAST, 524288, ALL, 0, true, false, SG_SCATTER_DOUBLING},
    {SG_BCAST, ANY, ALL, 0, false, false, SG_SCATTER_RING},
    {SG_REDUCE, 2049, ALL, 0, false, false, SG_BINOMIAL},
    {SG_REDUCE, ANY, ALL, 0, false, true, SG_RABENSEIFNER},
    {SG_REDUCE, ANY, ALL, 0, false, false, SG_BINOMIAL},
    {SG_ALLREDUCE, 2049, ALL, 0, false, false, SG_DOUBLING},
    {SG_ALLREDUCE, ANY, ALL, 0, false, true, SG_RABENSEIFNER},
    {SG_ALLREDUCE, ANY, ALL, 0, false, false, SG_DOUBLING},
    {SG_ALLGATHER, 524288, ALL, 0, true, false, SG_DOUBLING},
    {SG_ALLGATHER, 81920, ALL, 0, false, false, SG_BRUCK},
    {SG_ALLGATHER, ANY, ALL, 0, false, false, SG_RING},
    {SG_ALLTOALL, 257, ALL, 8, false, false, SG_BRUCK},
    {SG_ALLTOALL, 32769, ALL, 0, false, false, SG_LINEAR},
    {SG_ALLTOALL, ANY, ALL, 0, false, false, SG_PAIRWISE},
    {SG_REDUCE_SCATTER, 524288, ALL, 0, false, true, SG_HALVING},
    {SG_REDUCE_SCATTER, ANY, ALL, 0, false, true, SG_PAIRWISE},
    {SG_REDUCE_SCATTER, ANY, ALL, 0, false, false, SG_LINEAR},
    {SG_SCAN, ANY, ALL, 0, false, false, SG_DOUBLING},
};

static const char *const collectives[SG_COLLECTIVES] = {
    "barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall", "reduce_scatter", "scan",
};
static const char *const algorithms[SG_ALGORITHMS] = {
    "dissemination", "binomial", "scatter-doubling", "scatter-ring", "doubling", "rabenseifner",
    "ring",          "bruck",    "linear",           "pairwise",     "halving",  "hardware",
};

/* Available algorithms that no rule chooses. */
static const rule others[] = {{SG_ALLREDUCE, 0, 0, 0, false, true, SG_RING}};

enum { RULES = sizeof rules / sizeof rules[0] };

/* ---- choosing ---- */

static bool fits(const rule *r, int ranks, int64_t bytes, bool simple)
{
    return bytes < r->below_bytes && ranks < r->below_ranks && ranks >= r->least_ranks &&
           (!r->power_of_two || (ranks & (ranks - 1)) == 0) && (!r->simple || simple);
}

static bool starts(const char *text, const char *word)
{
    size_t n = strlen(word);
    return memcmp(text, word, n) == 0;
}

/* Can this algorithm do the operation for this many ranks? `ranks`, `simple` as for sg_rule. */
static bool can(enum sg_collective what, int algorithm, int ranks, bool simple)
{
    for (int i = 0; i < RULES + 1; i++) {
        const rule *r = i < RULES ? &rules[i] : &others[0];
        bool even = !r->power_of_two || (ranks & (ranks - 1)) == 0;
        if (r->what == what && (int)r->algorithm == algorithm && even && (!r->simple || simple))
            return true;
    }
    return false;
}

/* The algorithm the user has chosen, if it can do this; SG_ALGORITHMS: none. */
static enum sg_algorithm chosen(enum sg_collective what, int ranks, bool simple)
{
    const char *text = getenv("SCALEGRAPH_MPI_RULE");
    for (; text != NULL && *text != 0; text += strcspn(text, ","), text += *text == ',') {
        size_t n = strlen(collectives[what]);
        if (strcspn(text, "=,") != n || !starts(text, collectives[what]) || text[n] != '=')
            continue;
        for (int a = 0; a < SG_ALGORITHMS; a++)
            if (strcspn(text + n + 1, ",") == strlen(algorithms[a]) && starts(text + n + 1, algorithms[a]) &&
                can(what, a, ranks, simple))
                return (enum sg_algorithm)a;
    }
    return SG_ALGORITHMS;
}

enum sg_algorithm sg_rule(enum sg_collective what, int ranks, int64_t bytes, bool simple)
{
    enum sg_algorithm own = chosen(what, ranks, simple);
    if (own != SG_ALGORITHMS)
        return own;
    for (int i = 0; i < RULES; i++)
        if (rules[i].what == what && fits(&rules[i], ranks, bytes, simple))
            return rules[i].algorithm;
    return SG_LINEAR;
}

bool sg_rule_is_open(enum sg_collective what, int ranks)
{
    return chosen(what, ranks, true) == SG_ALGORITHMS;
}

enum sg_algorithm sg_choose(sg_schedule *s, enum sg_collective what, int64_t bytes, bool simple)
{
    int ranks = s->view->remote != NULL ? sg_comm_peers(s->view) : s->view->size;
    enum sg_algorithm how = sg_rule(what, ranks, bytes, simple);
    if (s->algorithm == SG_ALGORITHMS)
        s->algorithm = (uint8_t)how;
    return how;
}
