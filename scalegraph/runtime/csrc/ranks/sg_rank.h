/* The processes of a message-passing program. All of them run in one host process: each has its own static
 * data, heap, stacks, arguments and OpenMP state; the code is shared.
 *
 * Heaps, stacks and arguments of different ranks have different addresses. Static data lies where the linker
 * put it, at the same address in all ranks: when another rank begins to run, its data is moved there
 * (sg_image.c). So a pointer to static data is valid only while its rank runs. */
#ifndef SG_RANK_H
#define SG_RANK_H

#include "sg_runtime.h"

/* A function the program has registered to be called when the rank ends. */
typedef struct sg_last_call {
    struct sg_last_call *next;
    void (*function)(void *);
    void *argument;
} sg_last_call;

#define SG_TALK_NOWHERE UINT32_MAX /* context: outside any communicator */
#define SG_TALK_NOBODY  (-1)

/* A thread waiting for a message. */
typedef struct sg_rank_wait {
    struct sg_rank_wait *next;
    const sg_thread *thread;
    bool sends;
    int32_t other, tag; /* -1: any */
    const char *what;   /* what it waits for if not a message; NULL: a message */
} sg_rank_wait;

struct sg_rank {
    uint32_t number;
    bool ended;
    sg_thread *main;
    sg_rank_wait *waits; /* threads waiting for messages */
    uint32_t first_processor;
    struct sg_image *image;  /* its static data */
    struct sg_heap *heap;    /* NULL: the program's original heap */
    struct sg_omp *omp;      /* saved while another rank runs: */
    sg_table locks, futexes; /* keyed by addresses in its data */
    struct sg_file *files;
    struct sg_signals *signals;
    struct sg_mailbox *mailbox; /* sg_message.c */
    struct sg_mpi *mpi;         /* the MPI library */
    sg_last_call *last_calls;
    /* Set by the MPI library; called when the rank has ended by a call before `site`, or by the end of main
     * (NULL). */
    void (*name_end)(int status, const void *site);
    const char *end;          /* how it ended prematurely; NULL: it did not */
    struct sg_hidden *hidden; /* sg_rank_libc.c; NULL: not used yet */
    sg_talk talk;             /* partner of its message costs at present */
    sg_talk accounted;        /* the previous one, and its index in the message accounts, from 1; 0: none */
    uint32_t account;
    uint64_t eager_bytes;      /* largest message that leaves at once */
    uint64_t near_eager_bytes; /* the same within the node */
    /* Its processor handles transfers of other ranks that the network interface cannot do by itself. */
    uint64_t serves_until; /* clock */
    uint64_t served;       /* cycles not charged yet */
    uint64_t places[];     /* bit set of its processors, in the whole run */
} __attribute__((aligned(64)));

/* The rank of the running thread; NULL: the program passes no messages, or the simulation has not begun. */
static inline sg_rank *sg_rank_self(void)
{
    const sg_thread *t = sg_self();
    return t != NULL ? t->rank : NULL;
}

/* Creates the ranks of this run, if any, and a copy of the initial data; call before the program's
 * constructors. */
void sg_ranks_open(void);
/* Called in the main thread of rank 0 before its main: starts the other ranks; `main` runs in each,
 * called by `in_frame`. */
void sg_ranks_start(int (*main)(int argc, char **argv, char **envp), int (*in_frame)(int (*run)(void)),
                    int argc, char **argv, char **envp);
/* Ends the running rank, by a call before `site` or by the end of main (NULL); the others go on. `quick`:
 * without calling its registered functions. Returns only in the last rank, with the program's exit status. */
int sg_rank_exit(int status, const void *site, bool quick);

/* From here on the running thread does not use the program's static data (`away`), so another rank's data may
 * stay in place during its turns; or it uses it again. Returns the previous value. */
static inline bool sg_rank_go_away(void)
{
    bool before = sg_self()->away;
    sg_self()->away = true;
    return before;
}

static inline void sg_rank_return(bool away)
{
    sg_self()->away = away;
    sg->turn_to(sg_self()->rank, away);
}

/* From now on, what a rank does may cost another rank time, which that rank learns at its next call. */
void sg_ranks_serve(void);
/* References of ranks to each other's memory must become visible soon, or, if `exact`, in order of simulated
 * time, even though the ranks exchange no messages. */
void sg_ranks_share(bool exact);
/* Do ranks share memory, so that a reference's address does not identify its rank? */
bool sg_ranks_have_shared(void);

/* ---- sg_rank_memory.c ---- */

/* From now on the ranks of a node have only as much memory as the machine declares, if it does. */
void sg_rank_memory_open(void);
/* The same for the heap of a single-process program. */
void sg_rank_memory_alone(void);

/* ---- sg_image.c: static data ---- */

/* Bytes of static data per rank. */
uint64_t sg_image_bytes(void);
/* The part of these that takes host memory from the start. */
uint64_t sg_image_filled_bytes(void);
/* Is any of [low, high) static data, mapped only while its rank runs? */
bool sg_image_holds(const char *low, const char *high);
/* Is `address` static data of a library that all ranks share? */
bool sg_image_of_library(const void *address);

void sg_image_open(void);
struct sg_image *sg_image_new(uint32_t number);
/* Replaces the program's data of `before` by that of `image`. */
void sg_image_exchange(struct sg_image *before, struct sg_image *image);
/* Finds the program's variables that belong to libraries; call before all constructors. */
void sg_image_note_libraries(void);
/* Saves the libraries' variables in the program as they are after the constructors of rank 0. */
void sg_image_keep_libraries(void);
/* Resets an image to its contents before the program's constructors, and the libraries' variables to the
 * saved values. */
void sg_image_reset(struct sg_image *image);

#endif
