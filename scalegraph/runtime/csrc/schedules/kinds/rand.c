/* Chunks of random size between two limits; the same in every run. */
#include "sg_central.h"

enum { LEAST, MOST, SEED };

static const schedule_parameter parameters[] = {
    {.name = "least",
     .value = "0.01*N/P",
     .least = 1,
     .most = 1e18,
     .help = "iterations of the smallest chunk"},
    {.name = "most", .value = "0.5*N/P", .least = 1, .most = 1e18, .help = "iterations of the largest chunk"},
    {.name = "seed", .value = "1", .least = 0, .most = 1e9, .help = "beginning of the random numbers"},
    {.name = NULL}};

/* splitmix64: Steele, Lea, Flood, 2014. */
static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static uint64_t size(schedule_loop *loop, schedule_member *member, uint64_t left)
{
    (void)member, (void)left;
    uint64_t least = (uint64_t)loop->parameter[LEAST], most = (uint64_t)loop->parameter[MOST];
    int64_t taken = schedule_read(loop, &loop->shared[CENTRAL_A]);
    schedule_write(loop, &loop->shared[CENTRAL_A], taken + 1);
    most = most > least ? most : least;
    uint64_t draw =
        mixed((uint64_t)loop->parameter[SEED] + loop->executions * 0x100000001b3 + (uint64_t)taken);
    return least + draw % (most - least + 1);
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return central_next(loop, member, size, chunk);
}

SCHEDULE(.name = "RAND", .title = "chunks of random size", .reference = "Ciorba, Iwainsky, Buder, 2018",
         .parameters = parameters, CENTRAL_SCHEDULE);
