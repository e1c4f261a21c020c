/* One-sided communication: windows, accesses to the memory of other ranks, and epochs.
 *
 * An access reaches its target at a time that is known when it is issued. It is done then: whoever runs next
 * in this library, with a clock of that time or later, does all that has reached its target, in the order of
 * simulated time (sg_mpi_remote.c). Within a node an access is references to the target's memory by the
 * processor that issues it, and is done at once. */
#ifndef SG_MPI_WINDOW_H
#define SG_MPI_WINDOW_H

#include "sg_mpi_request.h"
#include "sg_table.h"

struct sg_lock_request;

typedef struct sg_attached {
    const char *base;
    int64_t size;
} sg_attached;

/* What one rank of a window exposes to all, and who has locked it. */
typedef struct sg_exposure {
    char *base;
    int64_t size, unit;
    sg_attached *regions; /* attached, of a dynamic window */
    uint32_t region_count;
    uint64_t line; /* of simulated memory, that stands for the lock */
    uint32_t shared;
    bool exclusive;
    int holder;       /* rank in the window that got the lock last */
    const void *site; /* where */
    struct sg_lock_request *waiting;
} sg_exposure;

/* Of a window, what all its ranks share. */
typedef struct sg_window_all {
    uint32_t references;
    sg_exposure of[];
} sg_window_all;

/* A rank's view of another rank of the window. */
typedef struct sg_target {
    int lock;             /* MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE; 0: none */
    bool checked;         /* the lock was not taken: MPI_MODE_NOCHECK */
    bool started;         /* in the running epoch of MPI_Win_start */
    uint64_t last;        /* when the latest access reaches it */
    uint64_t completions; /* of all accesses to it, there */
} sg_target;

typedef struct sg_window {
    sg_window_all *all;
    sg_comm *comm; /* of its own */
    int flavor, model, unit;
    MPI_Aint size;
    uintptr_t handle;
    MPI_Errhandler handler;
    MPI_Info info;
    sg_attribute *attributes;
    char name[MPI_MAX_OBJECT_NAME];
    char *memory; /* that MPI has allocated; NULL: none */
    sg_table targets;
    struct sg_remote *first, *last; /* accesses that are not complete, in the order of their issue */
    bool fenced, all_locked, all_checked;
    bool used;              /* an access was issued since the last fence */
    uint64_t fences;        /* so far */
    uint64_t completions;   /* of all accesses to all ranks, there */
    sg_members *started;    /* of MPI_Win_start; NULL: no such epoch */
    sg_members *posted;     /* of MPI_Win_post */
    sg_receive **completed; /* messages that they have done their accesses */
    uint32_t locks;         /* held by MPI_Win_lock */
    const char *call;       /* that made it, and where */
    const void *site;
} sg_window;

enum sg_access_kind { SG_PUT, SG_GET, SG_ACCUMULATE, SG_GET_ACCUMULATE, SG_COMPARE_AND_SWAP };

/* Something that reaches another rank at a time. */
typedef struct sg_event {
    uint64_t time, order;
    void (*happens)(struct sg_event *event);
} sg_event;

typedef struct sg_remote {
    sg_event event;
    struct sg_remote *next;
    uint32_t references; /* the window's list, a request */
    enum sg_access_kind kind;
    int target; /* rank in the window */
    sg_rank *from, *to;
    char *data; /* packed, from the origin; of a compare-and-swap: the new value, then the old one */
    size_t bytes;
    char *answer; /* packed, from the target */
    size_t answer_bytes;
    void *result; /* where that goes */
    int64_t result_count;
    sg_type *result_type; /* NULL: there is no answer */
    char *at;             /* in the target's memory */
    int64_t count;
    sg_type *type;
    uintptr_t op;
    sg_talk talk;
    bool applied, complete;
    sg_completion here, there; /* complete at the origin, and at the target with the origin knowing it */
} sg_remote;

/* ---- sg_mpi_window.c ---- */

static inline sg_window *sg_window_of(MPI_Win handle)
{
    return sg_handle_get(SG_KIND_WINDOW, (uintptr_t)handle);
}
int sg_window_missing(MPI_Win handle);
int sg_window_error(sg_window *w, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
sg_target *sg_window_target(sg_window *w, int rank);
/* Windows that the rank has not freed, for the end of MPI. */
void sg_windows_name_left(const struct sg_mpi *m);
/* All ranks of the window meet. */
int sg_window_meet(sg_window *w);

#define SG_WINDOW(name, handle)                                                                              \
    sg_window *name = sg_window_of(handle);                                                                  \
    if (name == NULL)                                                                                        \
        return sg_window_missing(handle);

/* ---- sg_mpi_remote.c: accesses reach their targets ---- */

/* All that has reached its target by the running processor's clock is done, after it got its turn. */
void sg_events_settle(void);
/* `event` will happen at its time. */
void sg_event_add(sg_event *event);
/* The processor of `rank` has to do something for others at `time`, besides what it does: when it is done. */
uint64_t sg_serve(sg_rank *rank, uint64_t time, uint64_t cycles);
/* Software of messages at a target, for so many bytes; 0 if the network interface does it. */
uint64_t sg_serve_cycles(size_t bytes);
/* What the running processor does to issue a transfer of so many bytes to another node. */
void sg_charge_issue(size_t bytes, bool software);
/* Issues an access. */
void sg_access_begin(sg_remote *a, sg_target *target);
/* Waits until it is complete here, or there too; gives its result to the program then. */
void sg_access_wait(sg_remote *a, bool there);
/* Whether it is complete here at the processor's clock; costs nothing. */
bool sg_access_done(const sg_remote *a);
void sg_access_drop(sg_remote *a);
/* Waits for all accesses of the window to a target, or to all (-1). */
void sg_window_complete(sg_window *w, int target, bool there);

/* ---- sg_mpi_apply.c: what an access does to memory ---- */

void sg_access_apply(sg_remote *a);
/* Calls `visit` with runs of values of one type, one extent apart. */
void sg_each_value(const sg_type *t, char *base, int64_t count,
                   void (*visit)(const sg_type *t, char *at, int64_t count, void *context), void *context);
/* Whether an accumulate of the operation takes values of the type. */
bool sg_accumulates(uintptr_t op, const sg_type *t);
/* Whether memory belongs to what a rank exposes; the type's items begin at `at`. */
bool sg_exposes(const sg_exposure *e, bool dynamic, char *at, int64_t count, const sg_type *t);

/* ---- sg_mpi_conflict.c ---- */

/* The running rank accesses memory of another one: names who else does, with nothing that orders the two. */
void sg_conflict_check(const sg_window *w, const sg_remote *a, const sg_target *t);
/* Nobody accesses that memory any more. */
void sg_conflict_forget(const sg_exposure *e);

/* ---- sg_mpi_lock.c ---- */

/* Takes the shared lock of a target when it is accessed first after MPI_Win_lock_all. */
void sg_lock_lazily(sg_window *w, int rank, sg_target *target);

#endif
