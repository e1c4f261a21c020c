/* The processes of a message-passing program. All of them run in one process of the host: each has its own
 * static data, heap, stacks and arguments, and an OpenMP of its own; the code is shared.
 *
 * Heaps, stacks and arguments of two ranks are at different addresses. Static data lies where the linker has
 * put it, the same in all ranks: when another rank begins to run, its data is put there (sg_image.c). So a
 * pointer to static data means something only while its rank runs. */
#ifndef SG_RANK_H
#define SG_RANK_H

#include "sg_runtime.h"

/* A function that the program wants to be called at the end of the rank. */
typedef struct sg_last_call {
    struct sg_last_call *next;
    void (*function)(void *);
    void *argument;
} sg_last_call;

#define SG_TALK_NOWHERE UINT32_MAX /* context: of no communicator */
#define SG_TALK_NOBODY  (-1)

/* A thread waits for a message. */
typedef struct sg_rank_wait {
    struct sg_rank_wait *next;
    const sg_thread *thread;
    bool sends;
    int32_t other, tag; /* -1: any */
    const char *what;   /* instead of all that; NULL: a message */
} sg_rank_wait;

struct sg_rank {
    uint32_t number;
    bool ended;
    sg_thread *main;
    sg_rank_wait *waits; /* of its threads, for messages */
    uint32_t first_processor;
    struct sg_image *image;  /* its static data */
    struct sg_heap *heap;    /* NULL: the program's first one */
    struct sg_omp *omp;      /* while it does not run: */
    sg_table locks, futexes; /* what belongs to addresses of its data */
    struct sg_file *files;
    struct sg_signals *signals;
    struct sg_mailbox *mailbox; /* sg_message.c */
    struct sg_mpi *mpi;         /* the MPI library */
    sg_last_call *last_calls;
    /* The MPI library, when the rank has ended by a call before `site`, or, if it is NULL, by the end of
     * main. */
    void (*name_end)(int status, const void *site);
    const char *end;          /* how it has ended too early; NULL: it has not */
    struct sg_hidden *hidden; /* sg_rank_libc.c; NULL: not used yet */
    sg_talk talk;             /* what messages cost the rank now is of this one */
    sg_talk accounted; /* the one before, and its place in the accounts of messages, from 1 on; 0: none */
    uint32_t account;
    uint64_t eager_bytes;      /* messages up to this size leave at once */
    uint64_t near_eager_bytes; /* likewise within the node */
    /* Its processor serves transfers of other ranks that the network interface cannot do by itself. */
    uint64_t serves_until; /* clock */
    uint64_t served;       /* cycles that have not been charged yet */
    uint64_t places[];     /* bit set of its processors, among all of the run */
} __attribute__((aligned(64)));

/* The rank of the running thread; NULL: the program passes no messages, or the simulation has not begun. */
static inline sg_rank *sg_rank_self(void)
{
    const sg_thread *t = sg_self();
    return t != NULL ? t->rank : NULL;
}

/* Before the program's constructors: the ranks of this run, if it has any, and a copy of untouched data. */
void sg_ranks_open(void);
/* In the main thread of rank 0, before its main: the others begin; `main` runs in each. */
void sg_ranks_start(int (*main)(int argc, char **argv, char **envp), int argc, char **argv, char **envp);
/* The running rank ends by a call before `site` (NULL: the end of main), the others go on; if `quick`,
 * without what it has registered for its end. Returns when it is the last, with the status of the program. */
int sg_rank_exit(int status, const void *site, bool quick);

/* From here on the running thread uses no static data of the program (`away`), so that another rank's may
 * stay in its place when it is this one's turn; or it does again. Returns what was. */
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

/* What a rank does may cost another one something from now on, which that one learns from its next call. */
void sg_ranks_serve(void);
/* References of ranks to each other's memory shall be seen soon, or, if `exact`, in the order of simulated
 * time, though they pass no messages. */
void sg_ranks_share(bool exact);
/* Whether they have memory that they share, so that the address of a reference says nothing of its rank. */
bool sg_ranks_have_shared(void);

/* ---- sg_rank_memory.c ---- */

/* From now on the ranks of a node have no more memory than the machine says, if it does. */
void sg_rank_memory_open(void);
/* The same of the heap of a program that is one process. */
void sg_rank_memory_alone(void);

/* ---- sg_image.c: static data ---- */

/* Static data of each rank. */
uint64_t sg_image_bytes(void);
/* Of these, those that take memory of the host from the beginning. */
uint64_t sg_image_filled_bytes(void);
/* Whether any of [low, high) is static data: it is mapped only while its rank runs. */
bool sg_image_holds(const char *low, const char *high);
/* Whether a library has static data there that all ranks share. */
bool sg_image_of_library(const void *address);

void sg_image_open(void);
struct sg_image *sg_image_new(uint32_t number);
/* Makes the data of `image` the program's instead of that of `before`. */
void sg_image_exchange(struct sg_image *before, struct sg_image *image);
/* Before all constructors: which of the program's variables are libraries'. */
void sg_image_note_libraries(void);
/* Keeps the values of the libraries' variables in the program, as they are after the constructors of rank 0.
 */
void sg_image_keep_libraries(void);
/* The data of an image gets the values that it has before the program's constructors; the libraries'
 * variables those that were kept. */
void sg_image_reset(struct sg_image *image);

#endif
