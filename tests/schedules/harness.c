/* Plays a loop under a schedule without a simulator: members take turns by their own clocks, each iteration
 * takes the ticks that `cost` says. Prints each allocation.
 *
 *     harness ITERATIONS MEMBERS EXECUTIONS CHUNK COST [NAME=VALUE ..]
 *
 * COST: equal, rising (iteration i takes i + 1 ticks), head (the first fifth takes 50 ticks, others 1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scalegraph_schedule.h"

extern const schedule scalegraph_schedule;

static uint64_t now;

static int64_t read_number(schedule_loop *loop, const int64_t *at)
{
    (void)loop;
    return *at;
}

static void write_number(schedule_loop *loop, int64_t *at, int64_t value)
{
    (void)loop;
    *at = value;
}

static int64_t add(schedule_loop *loop, int64_t *at, int64_t value)
{
    (void)loop;
    *at += value;
    return *at - value;
}

static int64_t apply(schedule_loop *loop, int64_t *at, int64_t (*function)(int64_t, const void *),
                     const void *argument)
{
    (void)loop;
    int64_t before = *at;
    *at = function(before, argument);
    return before;
}

static void lock(schedule_loop *loop, int64_t *at)
{
    (void)loop;
    if (*at != 0)
        abort(); /* members take turns, so a lock found taken was never released */
    *at = 1;
}

static void unlock(schedule_loop *loop, int64_t *at)
{
    (void)loop;
    *at = 0;
}

static void work(schedule_loop *loop, uint64_t instructions)
{
    (void)loop, (void)instructions;
}

static uint64_t ticks(schedule_loop *loop)
{
    (void)loop;
    return now;
}

static const schedule_host host = {read_number, write_number, add, apply, lock, unlock, work, ticks};

typedef struct player {
    schedule_member member;
    schedule_chunk chunk;
    uint64_t position, left, running, took, clock;
    bool finished;
} player;

static uint64_t cost_of(const char *cost, uint64_t i, uint64_t n)
{
    if (strcmp(cost, "rising") == 0)
        return i + 1;
    return strcmp(cost, "head") == 0 && i < n / 5 ? 50 : 1;
}

static bool step(schedule_loop *loop, player *p, const char *cost, uint64_t execution)
{
    const schedule *s = &scalegraph_schedule;
    now = p->clock;
    if (p->running > 0 && s->done != NULL)
        s->done(loop, &p->member, &p->chunk, p->running, p->took);
    p->running = 0;
    if (p->left == 0) {
        if (!s->next(loop, &p->member, &p->chunk))
            return false;
        p->position = p->chunk.first;
        p->left = p->chunk.count;
        printf("%llu %u %d %llu %llu %llu %llu %d\n", (unsigned long long)execution, p->member.number,
               (int)p->chunk.owner, (unsigned long long)p->chunk.first, (unsigned long long)p->chunk.count,
               (unsigned long long)p->chunk.step, (unsigned long long)p->chunk.control, p->chunk.state);
    }
    bool single = p->chunk.single || p->chunk.step != 1;
    p->running = single ? 1 : p->left;
    p->took = 0;
    for (uint64_t i = 0; i < p->running; i++, p->position += p->chunk.step)
        p->took += cost_of(cost, p->position, loop->iterations);
    p->left -= p->running;
    p->clock += p->took;
    return true;
}

static void execute(schedule_loop *loop, player *players, const char *cost, uint64_t execution)
{
    const schedule *s = &scalegraph_schedule;
    uint32_t finished = 0;
    if (s->begin != NULL)
        s->begin(loop);
    for (uint32_t i = 0; i < loop->members; i++) {
        players[i] = (player){.member.number = i};
        if (s->enter != NULL)
            s->enter(loop, &players[i].member);
    }
    while (finished < loop->members) {
        player *first = NULL;
        for (uint32_t i = 0; i < loop->members; i++)
            if (!players[i].finished && (first == NULL || players[i].clock < first->clock))
                first = &players[i];
        if (!step(loop, first, cost, execution)) {
            first->finished = true;
            finished++;
        }
    }
    if (s->end != NULL)
        s->end(loop);
}

int main(int argc, char **argv)
{
    const schedule *s = &scalegraph_schedule;
    schedule_loop loop = {.iterations = strtoull(argv[1], NULL, 10),
                          .members = (uint32_t)atoi(argv[2]),
                          .chunk = strtoull(argv[4], NULL, 10),
                          .line_words = 16,
                          .host = &host};
    for (int i = 6; i < argc; i++)
        for (unsigned j = 0; s->parameters != NULL && s->parameters[j].name != NULL; j++)
            if (strncmp(argv[i], s->parameters[j].name, strcspn(argv[i], "=")) == 0)
                loop.parameter[j] = atof(strchr(argv[i], '=') + 1);
    uint32_t shared = s->shared_words != NULL ? s->shared_words(&loop) : 1;
    loop.area_words = s->member_words != NULL ? (s->member_words(&loop) + 15) / 16 * 16 : 16;
    loop.shared = calloc(shared, sizeof *loop.shared);
    loop.area = calloc((uint64_t)loop.members * loop.area_words, sizeof *loop.area);
    player *players = calloc(loop.members, sizeof *players);
    for (int i = 0; i < atoi(argv[3]); i++, loop.executions++) {
        if (s->shared_words == NULL)
            *loop.shared = 0; /* number of a new construct */
        execute(&loop, players, argv[5], loop.executions);
    }
    free(loop.shared);
    free(loop.area);
    free(players);
    return 0;
}
