/* Loop schedules in the simulator: which exist, which a loop gets, and their memory. */
#ifndef SG_SCHEDULES_H
#define SG_SCHEDULES_H

#include "scalegraph_schedule.h"
#include "sg_runtime.h"

/* c N^n P^p */
typedef struct sg_product {
    double factor;
    int iterations, members;
} sg_product;

/* A schedule with the user's parameters. */
typedef struct sg_chosen {
    const schedule *schedule;
    const char *text; /* as the user wrote it; NULL: a schedule of OpenMP */
    uint64_t chunk;   /* 0: not given */
    sg_product parameter[SCHEDULE_PARAMETERS];
} sg_chosen;

typedef struct sg_loop_memory sg_loop_memory;

/* A worksharing loop under a schedule, for as long as a member is in it. */
typedef struct sg_scheduled {
    const schedule *schedule;
    const sg_chosen *chosen;
    const void *site; /* which loop it is */
    schedule_loop loop;
    uint64_t address;       /* of the first shared number */
    sg_loop_memory *memory; /* NULL: the schedule needs only the line at `address` */
    int64_t line[1];        /* that line's number */
    uint64_t given;         /* iterations taken so far */
    uint32_t finished;      /* members that found no more */
    bool open;              /* somebody has arrived, */
    bool begun;             /* and has initialised the schedule's numbers, */
    sg_queue waiting;       /* for which the others wait */
    uint32_t account;       /* of the observer that accounts for loops */
    uint32_t number;        /* number of this execution within the loop, */
    uint64_t execution;     /* among all, */
    uint64_t opened;        /* and its start */
} sg_scheduled;

/* All schedules, and one by name; NULL: no schedule of this name. */
extern const schedule *const sg_schedule_list[];
extern const unsigned sg_schedule_count;
const schedule *sg_schedules_named(const char *name, size_t length);
/* Reads "name[,chunk][,parameter=value ..]" up to the end of `text`; NULL: `error` says what is wrong. The
 * result lives as long as the run. */
const sg_chosen *sg_schedules_read(const char *text, char *error, size_t size);
/* Sets the parameters of `loop` to their values for its iterations and members. */
void sg_schedules_values(const sg_chosen *chosen, schedule_loop *loop);
/* Loads a user's schedule from the shared object at `path`; ends the run if it is not one. */
const schedule *sg_schedules_load(const char *path);
/* Was it loaded? */
bool sg_schedules_is_own(const schedule *s);
/* Reads run.loops_path: which loops get which schedule. */
void sg_schedules_open(const char *path);
/* The user's choice for the loop entered at `site`; NULL: as the program says. */
const sg_chosen *sg_schedules_wanted(const void *site, uint32_t region);

/* One of OpenMP's own schedules. */
const sg_chosen *sg_schedules_of_openmp(unsigned kind);

/* Called before a loop. Not inline: frames between here and the program's code would grow, and shift its
 * stack. */
void sg_turn_reset(sg_loop_turn *turn);
/* The first member prepares `s`; `line` is the address of the construct's own line, `site` identifies the
 * loop. */
void sg_scheduled_open(sg_scheduled *s, const sg_chosen *chosen, uint64_t chunk, uint64_t iterations,
                       uint32_t members, uint64_t line, const void *site);
/* The next iterations first..last-1 for the running thread, which is member `number`. */
bool sg_scheduled_next(sg_scheduled *s, uint32_t number, uint64_t *first, uint64_t *last);
/* All members have left it, perhaps before its end. */
void sg_scheduled_close(sg_scheduled *s);

#endif
