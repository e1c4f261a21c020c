/* The OpenMP runtime of the simulated machine: teams and worksharing. Private to sg_omp_*.c. */
#ifndef SG_OMP_H
#define SG_OMP_H

#include "sg_runtime.h"

enum sg_schedule { SG_STATIC, SG_DYNAMIC, SG_GUIDED };

/* One worksharing construct of a team: loop, sections or single. The constructs of a team form a list;
 * each member walks along it, so that with `nowait` members may be in different constructs. */
struct sg_work {
    sg_work *next;
    uint32_t passed;  /* members that went on to the next construct */
    bool prepared;    /* the first member to arrive has filled it in */
    uint64_t address; /* line of its shared counter */
    /* loops: iterations are numbered 0..total-1, whatever their type and direction */
    enum sg_schedule schedule;
    uint64_t start, end, step, total, chunk;
    uint64_t position; /* next iteration to hand out */
    bool ordered;
    uint64_t ordered_turn; /* first iteration of the chunk whose turn it is */
    sg_queue ordered_waiting;
    /* single copyprivate, and memory that the compiler asked for */
    void *copy;
    bool copied;
    sg_queue copy_waiting;
    void *memory;
    size_t memory_size;
};

struct sg_team {
    uint32_t size;
    uint32_t level, active_level;
    sg_team *parent;
    uint32_t parent_member;
    void (*function)(void *);
    void *data;
    const void *site;
    uint32_t region;
    sg_barrier *barrier;
    uint64_t address;     /* line of the descriptor that the members read */
    sg_work *works;       /* head of the list, before the first construct */
    struct sg_pool *pool; /* tasks */
};

typedef struct sg_omp {
    sg_team initial;
    sg_team team;          /* the one active team; nested teams have one member */
    sg_barrier **barriers; /* by number of members */
    sg_thread **worker;    /* by member of the team; the first place is not used */
    sg_work *spare;
    uint32_t threads;          /* next team's size, omp_set_num_threads */
    enum sg_schedule schedule; /* schedule(runtime) */
    uint64_t chunk;
    bool monotonic;
    bool dynamic;
    int max_active_levels;
    sg_lock *critical, *atomic;
    bool capped;
} sg_omp;

/* A loop as the compiler describes it, brought to the common form. */
typedef struct sg_loop {
    enum sg_schedule schedule;
    uint64_t start, end, step, total, chunk;
    bool ordered;
} sg_loop;

/* Runs function(data) on a team. `loop` and `sections` prepare the first worksharing construct. */
uint32_t sg_parallel(void (*function)(void *), void *data, unsigned threads, const sg_loop *loop,
                     uint64_t sections, const void *site);
void sg_team_barrier(const void *site);

/* Goes on to the team's next construct; *first is set for the first member that arrives there. */
sg_work *sg_work_enter(sg_thread *t, bool *first);
void sg_work_prepare(sg_work *work, const sg_loop *loop);
sg_work *sg_work_new(void);
void sg_work_pass(sg_thread *t, sg_work *work);

/* Reads "kind[,chunk]" as in OMP_SCHEDULE. */
void sg_schedule_parse(const char *text, sg_omp *omp);

/* ---- sg_omp_task.c ---- */
void sg_tasks_finish(void);

#endif
