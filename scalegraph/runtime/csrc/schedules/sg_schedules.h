/* Schedules of worksharing loops in the simulator: which there are, which a loop gets, and their memory. */
#ifndef SG_SCHEDULES_H
#define SG_SCHEDULES_H

#include "scalegraph_schedule.h"
#include "sg_runtime.h"

/* c N^n P^p */
typedef struct sg_product {
    double factor;
    int iterations, members;
} sg_product;

/* A schedule with what the user gave it. */
typedef struct sg_chosen {
    const schedule *schedule;
    const char *text; /* as the user wrote it; NULL: a schedule of OpenMP */
    uint64_t chunk;   /* 0: not given */
    sg_product parameter[SCHEDULE_PARAMETERS];
} sg_chosen;

typedef struct sg_loop_memory sg_loop_memory;

/* A worksharing loop under a schedule, as long as a member is in it. */
typedef struct sg_scheduled {
    const schedule *schedule;
    const sg_chosen *chosen;
    const void *site; /* which loop it is */
    schedule_loop loop;
    uint64_t address;       /* of the first shared number */
    sg_loop_memory *memory; /* NULL: the schedule has no more than the line at `address` */
    int64_t line[1];        /* that line's number */
    uint64_t given;         /* iterations that were taken so far */
    uint32_t finished;      /* members that found no more */
    bool open;              /* somebody has come, */
    bool begun;             /* and has made the schedule's numbers ready, */
    sg_queue waiting;       /* for which the others wait */
    uint32_t account;       /* of the observer that accounts for loops */
    uint32_t number;        /* the same: of this execution among those of the loop, */
    uint64_t execution;     /* among all, */
    uint64_t opened;        /* and when it began */
} sg_scheduled;

/* Number of schedules, and one of them; NULL: there is none of this name. */
extern const schedule *const sg_schedule_list[];
extern const unsigned sg_schedule_count;
const schedule *sg_schedules_named(const char *name, size_t length);
/* Reads "name[,chunk][,parameter=value ..]" up to the end of `text`; NULL: `error` says what is wrong. The
 * answer stays as long as the run. */
const sg_chosen *sg_schedules_read(const char *text, char *error, size_t size);
/* Gives the parameters of `loop` the values that they have with its iterations and members. */
void sg_schedules_values(const sg_chosen *chosen, schedule_loop *loop);
/* Loads the user's own schedule from the shared object at `path`; ends the run if it is none. */
const schedule *sg_schedules_load(const char *path);
/* Was it loaded? */
bool sg_schedules_is_own(const schedule *s);
/* Reads run.loops_path: which loops are to have which schedule. */
void sg_schedules_open(const char *path);
/* What the user wants for the loop that is entered at `site`; NULL: what the program says. */
const sg_chosen *sg_schedules_wanted(const void *site, uint32_t region);

/* One of the schedules that OpenMP knows. */
const sg_chosen *sg_schedules_of_openmp(unsigned kind);

/* In front of a loop. Not inline: frames on the way to the program's code would grow, and its stack move. */
void sg_turn_reset(sg_loop_turn *turn);
/* The first member prepares `s`; `line` is the address of the construct's own line, `site` says which loop it
 * is. */
void sg_scheduled_open(sg_scheduled *s, const sg_chosen *chosen, uint64_t chunk, uint64_t iterations,
                       uint32_t members, uint64_t line, const void *site);
/* The next iterations first..last-1 for the running thread, which is member `number`. */
bool sg_scheduled_next(sg_scheduled *s, uint32_t number, uint64_t *first, uint64_t *last);
/* All members have left it, maybe before its end. */
void sg_scheduled_close(sg_scheduled *s);

#endif
