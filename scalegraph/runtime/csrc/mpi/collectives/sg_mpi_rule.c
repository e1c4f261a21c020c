/* Which algorithm a collective operation uses: MPICH's switch points, as data. */
#include <stdlib.h>

#include "sg_mpi_collective.h"

typedef struct rule {
    enum sg_collective what;
    int64_t below_bytes; /* of the message, or of all ranks together (allgather), or a block (alltoall) */
    int below_ranks, least_ranks;
    bool power_of_two; /* only for so many ranks */
    bool simple;       /* only for operations that commute, with an item for each rank */
    enum sg_algorithm algorithm;
} rule;

#define ANY INT64_MAX
#define ALL INT32_MAX

/* The first one that fits counts. Thakur, Rabenseifner, Gropp, "Optimization of collective communication
 * operations in MPICH", 2005, and MPICH's default control variables. */
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

/* Which algorithms there are for what, beside those of the rules. */
static const rule others[] = {{SG_ALLREDUCE, 0, 0, 0, false, true, SG_RING}};

enum { RULES = sizeof rules / sizeof rules[0] };

/* ---- what a rank has changed ---- */

struct sg_own_rules {
    int64_t below_bytes[RULES];
    int below_ranks[RULES];
    int chosen[SG_COLLECTIVES]; /* SG_ALGORITHMS: none */
};

#define POINT(name, text, rule, beyond, ranks) {"MPIR_CVAR_" name, text, rule, beyond, ranks}

const sg_switch_point sg_switch_points[] = {
    POINT("BCAST_SHORT_MSG_SIZE", "Broadcasts of fewer bytes are binomial", 1, 0, false),
    POINT("BCAST_MIN_PROCS", "Broadcasts among fewer ranks are binomial", 2, 0, true),
    POINT("BCAST_LONG_MSG_SIZE", "Broadcasts of fewer bytes gather by recursive doubling", 3, 0, false),
    POINT("REDUCE_SHORT_MSG_SIZE", "Reductions of up to so many bytes are binomial", 5, 1, false),
    POINT("ALLREDUCE_SHORT_MSG_SIZE", "Reductions of up to so many bytes double", 8, 1, false),
    POINT("ALLGATHER_LONG_MSG_SIZE", "Fewer bytes of all ranks are gathered by recursive doubling", 11, 0,
          false),
    POINT("ALLGATHER_SHORT_MSG_SIZE", "Fewer bytes of all ranks are gathered by Bruck's algorithm", 12, 0,
          false),
    POINT("ALLTOALL_SHORT_MSG_SIZE", "Blocks of up to so many bytes go by Bruck's algorithm", 14, 1, false),
    POINT("ALLTOALL_MEDIUM_MSG_SIZE", "Blocks of up to so many bytes go all at once", 15, 1, false),
    POINT("REDSCAT_COMMUTATIVE_LONG_MSG_SIZE", "Fewer bytes are reduced and scattered by halving", 17, 0,
          false),
};
const uint32_t sg_switch_point_count = sizeof sg_switch_points / sizeof sg_switch_points[0];

static struct sg_own_rules *own_rules(void)
{
    struct sg_mpi *m = sg_mpi_self();
    if (m->rules != NULL)
        return m->rules;
    m->rules = sg_mpi_new(sizeof *m->rules);
    for (int i = 0; i < RULES; i++) {
        m->rules->below_bytes[i] = rules[i].below_bytes;
        m->rules->below_ranks[i] = rules[i].below_ranks;
    }
    for (int i = 0; i < SG_COLLECTIVES; i++)
        m->rules->chosen[i] = SG_ALGORITHMS;
    return m->rules;
}

int64_t sg_switch_get(const sg_switch_point *point)
{
    const struct sg_own_rules *own = sg_mpi_self()->rules;
    const rule *r = &rules[point->rule];
    if (point->ranks)
        return own != NULL ? own->below_ranks[point->rule] : r->below_ranks;
    return (own != NULL ? own->below_bytes[point->rule] : r->below_bytes) - point->beyond;
}

void sg_switch_set(const sg_switch_point *point, int64_t value)
{
    if (point->ranks)
        own_rules()->below_ranks[point->rule] = (int)value;
    else
        own_rules()->below_bytes[point->rule] = value + point->beyond;
}

int sg_algorithm_get(enum sg_collective what)
{
    const struct sg_own_rules *own = sg_mpi_self()->rules;
    return own != NULL ? own->chosen[what] : SG_ALGORITHMS;
}

void sg_algorithm_set(enum sg_collective what, int algorithm)
{
    own_rules()->chosen[what] = algorithm;
}

const char *sg_algorithm_name(enum sg_algorithm algorithm)
{
    return algorithms[algorithm];
}

/* ---- the choice ---- */

static bool fits(int i, int ranks, int64_t bytes, bool simple)
{
    const struct sg_own_rules *own = sg_mpi_self()->rules;
    const rule *r = &rules[i];
    int64_t below_bytes = own != NULL ? own->below_bytes[i] : r->below_bytes;
    int below_ranks = own != NULL ? own->below_ranks[i] : r->below_ranks;
    return bytes < below_bytes && ranks < below_ranks && ranks >= r->least_ranks &&
           (!r->power_of_two || (ranks & (ranks - 1)) == 0) && (!r->simple || simple);
}

static bool starts(const char *text, const char *word)
{
    size_t n = strlen(word);
    return memcmp(text, word, n) == 0;
}

/* Whether an operation of so many ranks can be done so; `ranks`, `simple` as for sg_rule. */
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

bool sg_algorithm_does(enum sg_collective what, enum sg_algorithm algorithm)
{
    return can(what, (int)algorithm, 1, true);
}

/* The algorithm that the user has chosen, if it can do this; SG_ALGORITHMS: none. */
static enum sg_algorithm chosen(enum sg_collective what, int ranks, bool simple)
{
    const char *text = getenv("SCALEGRAPH_MPI_RULE");
    int own = sg_algorithm_get(what);
    if (own >= 0 && own < SG_ALGORITHMS && can(what, own, ranks, simple))
        return (enum sg_algorithm)own;
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
        if (rules[i].what == what && fits(i, ranks, bytes, simple))
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
