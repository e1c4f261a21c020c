/* Trapezoid self-scheduling: chunks that shrink linearly from a first to a last size. */
#include "sg_central.h"

enum { FIRST, LAST };

static const schedule_parameter parameters[] = {
    {.name = "first", .value = "0.5*N/P", .least = 1, .most = 1e18, .help = "iterations of the first chunk"},
    {.name = "last", .value = "1", .least = 1, .most = 1e18, .help = "iterations of the last chunk"},
    {.name = NULL}};

static uint64_t size(schedule_loop *loop, schedule_member *member, uint64_t left)
{
    (void)member, (void)left;
    double first = loop->parameter[FIRST], last = loop->parameter[LAST];
    last = last < first ? last : first;
    double chunks = __builtin_ceil(2 * (double)loop->iterations / (first + last));
    double step = chunks > 1 ? (first - last) / (chunks - 1) : 0;
    int64_t taken = schedule_read(loop, &loop->shared[CENTRAL_A]);
    schedule_write(loop, &loop->shared[CENTRAL_A], taken + 1);
    double wanted = first - (double)taken * step;
    return (uint64_t)(wanted > last ? wanted : last);
}

static bool next(schedule_loop *loop, schedule_member *member, schedule_chunk *chunk)
{
    return central_next(loop, member, size, chunk);
}

SCHEDULE(.name = "TSS", .title = "trapezoid: chunks that shrink linearly", .reference = "Tzen, Ni, 1993",
         .parameters = parameters, CENTRAL_SCHEDULE);
