/* State that the C library keeps per process: random numbers, the text that strtok still has to split, and
 * the position of getopt. Each rank has its own, which starts as in a new process. A program without ranks
 * uses the C library's. */
#include <dlfcn.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "sg_rank.h"

#define STATE_BYTES 128 /* size of the C library's own generator state before initstate */

struct sg_hidden {
    struct random_data random;
    struct drand48_data drand48;
    int32_t state[STATE_BYTES / sizeof(int32_t)];
    char *tokens;     /* of strtok */
    bool has_options; /* getopt has begun */
};

static struct sg_hidden *hidden(void)
{
    sg_rank *rank = sg_rank_self();
    if (rank == NULL)
        return NULL;
    if (rank->hidden == NULL) {
        rank->hidden = sg_new(sizeof *rank->hidden);
        initstate_r(1, (char *)rank->hidden->state, STATE_BYTES, &rank->hidden->random);
    }
    return rank->hidden;
}

/* Calls the C library's function `name` with `arguments`. */
#define REAL(type, name, parameters, arguments) ((type(*) parameters)dlsym(RTLD_NEXT, #name)) arguments

/* ---- random numbers ---- */

SG_API long random(void)
{
    struct sg_hidden *h = hidden();
    int32_t number;
    if (h == NULL)
        return REAL(long, random, (void), ());
    random_r(&h->random, &number);
    return number;
}

SG_API int rand(void)
{
    return (int)random();
}

SG_API void srandom(unsigned seed)
{
    struct sg_hidden *h = hidden();
    if (h == NULL)
        REAL(void, srandom, (unsigned), (seed));
    else
        srandom_r(seed, &h->random);
}

SG_API void srand(unsigned seed)
{
    srandom(seed);
}

SG_API char *initstate(unsigned seed, char *state, size_t size)
{
    struct sg_hidden *h = hidden();
    if (h == NULL)
        return REAL(char *, initstate, (unsigned, char *, size_t), (seed, state, size));
    char *before = (char *)(h->random.state - 1);
    return initstate_r(seed, state, size, &h->random) == 0 ? before : NULL;
}

SG_API char *setstate(char *state)
{
    struct sg_hidden *h = hidden();
    if (h == NULL)
        return REAL(char *, setstate, (char *), (state));
    char *before = (char *)(h->random.state - 1);
    return setstate_r(state, &h->random) == 0 ? before : NULL;
}

/* The drand48 functions that draw a number, with their own or a given state. */
#define DRAW(type, name, given)                                                                              \
    SG_API type name(void)                                                                                   \
    {                                                                                                        \
        struct sg_hidden *h = hidden();                                                                      \
        type number;                                                                                         \
        if (h == NULL)                                                                                       \
            return REAL(type, name, (void), ());                                                             \
        name##_r(&h->drand48, &number);                                                                      \
        return number;                                                                                       \
    }                                                                                                        \
    SG_API type given(unsigned short state[3])                                                               \
    {                                                                                                        \
        struct sg_hidden *h = hidden();                                                                      \
        type number;                                                                                         \
        if (h == NULL)                                                                                       \
            return REAL(type, given, (unsigned short[3]), (state));                                          \
        given##_r(state, &h->drand48, &number);                                                              \
        return number;                                                                                       \
    }

DRAW(double, drand48, erand48)
DRAW(long, lrand48, nrand48)
DRAW(long, mrand48, jrand48)

SG_API void srand48(long seed)
{
    struct sg_hidden *h = hidden();
    if (h == NULL)
        REAL(void, srand48, (long), (seed));
    else
        srand48_r(seed, &h->drand48);
}

SG_API unsigned short *seed48(unsigned short seed[3])
{
    struct sg_hidden *h = hidden();
    if (h == NULL)
        return REAL(unsigned short *, seed48, (unsigned short[3]), (seed));
    seed48_r(seed, &h->drand48);
    return h->drand48.__old_x;
}

SG_API void lcong48(unsigned short parameters[7])
{
    struct sg_hidden *h = hidden();
    if (h == NULL)
        REAL(void, lcong48, (unsigned short[7]), (parameters));
    else
        lcong48_r(parameters, &h->drand48);
}

/* ---- strings and arguments ---- */

SG_API char *strtok(char *restrict text, const char *restrict separators)
{
    struct sg_hidden *h = hidden();
    if (h == NULL)
        return REAL(char *, strtok, (char *, const char *), (text, separators));
    return strtok_r(text, separators, &h->tokens);
}

/* The C library's hidden getopt state belongs to the rank that called last: a rank that begins resets it. */
static void begin_options(void)
{
    struct sg_hidden *h = hidden();
    if (h == NULL || h->has_options)
        return;
    h->has_options = true;
    if (optind == 1)
        optind = 0;
}

SG_API int getopt(int argc, char *const argv[], const char *options)
{
    begin_options();
    return REAL(int, getopt, (int, char *const *, const char *), (argc, argv, options));
}

#define OPTIONS int argc, char *const argv[], const char *options, const struct option *names, int *which
#define TYPES   int, char *const *, const char *, const struct option *, int *

SG_API int getopt_long(OPTIONS)
{
    begin_options();
    return REAL(int, getopt_long, (TYPES), (argc, argv, options, names, which));
}

SG_API int getopt_long_only(OPTIONS)
{
    begin_options();
    return REAL(int, getopt_long_only, (TYPES), (argc, argv, options, names, which));
}
