/* One-sided communication: windows, accesses to other ranks' memory, and epochs.
 *
 * The time at which an access reaches its target is known when it is issued, and it takes effect then: the
 * next rank that runs in this library at that clock or later performs everything that has reached its target,
 * in order of simulated time (sg_mpi_remote.c). Within a node, the issuing processor references the target's
 * memory directly, and the access is done at once. */
#ifndef SG_MPI_WINDOW_H
#define SG_MPI_WINDOW_H

#include "sg_mpi_request.h"
#include "sg_sync.h"
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
    sg_attached *regions; /* attached to a dynamic window */
    uint32_t region_count;
    uint64_t line; /* cache line in simulated memory that represents the lock */
    uint32_t shared;
    bool exclusive;
    int holder;       /* rank in the window that got the lock last */
    const void *site; /* where it got it */
    struct sg_lock_request *waiting;
} sg_exposure;

/* A window's state shared by all its ranks. */
typedef struct sg_window_all {
    uint32_t references;
    sg_exposure of[];
} sg_window_all;

/* A rank's view of another rank of the window. */
typedef struct sg_target {
    int lock;             /* MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE; 0: none */
    bool checked;         /* MPI_MODE_NOCHECK: the lock was not taken */
    bool started;         /* in the current MPI_Win_start epoch */
    uint64_t last;        /* when the latest access reaches it */
    uint64_t completions; /* of all accesses to it, at the target */
} sg_target;

typedef struct sg_window {
    sg_window_all *all;
    sg_comm *comm; /* a duplicate for the window's own messages */
    int flavor, model, unit;
    MPI_Aint size;
    uintptr_t handle;
    MPI_Errhandler handler;
    MPI_Info info;
    sg_attribute *attributes;
    char name[MPI_MAX_OBJECT_NAME];
    char *memory; /* allocated by MPI; NULL: none */
    sg_table targets;
    struct sg_remote *first, *last; /* incomplete accesses, in order of issue */
    bool fenced, all_locked, all_checked;
    bool used;              /* since the last fence */
    uint64_t fences;        /* number so far */
    uint64_t completions;   /* of all accesses to all ranks, at the target */
    sg_members *started;    /* by MPI_Win_start; NULL: no such epoch */
    sg_members *posted;     /* by MPI_Win_post */
    sg_receive **completed; /* messages that their accesses are complete */
    uint32_t locks;         /* number held by MPI_Win_lock */
    const char *call;       /* that created it, and its site */
    const void *site;
} sg_window;

enum sg_access_kind { SG_PUT, SG_GET, SG_ACCUMULATE, SG_GET_ACCUMULATE, SG_COMPARE_AND_SWAP };

/* Something that reaches another rank at a given time. */
typedef struct sg_event {
    uint64_t time, order;
    void (*happens)(struct sg_event *event);
} sg_event;

typedef struct sg_remote {
    sg_event event;
    struct sg_remote *next;
    uint32_t references; /* from the window's list and a request */
    enum sg_access_kind kind;
    int target; /* rank in the window */
    sg_rank *from, *to;
    char *data; /* packed, from the origin; for a compare-and-swap: the new value, then the expected one */
    size_t bytes;
    char *answer; /* packed, from the target */
    size_t answer_bytes;
    void *result; /* buffer for the answer */
    int64_t result_count;
    sg_type *result_type; /* NULL: no answer */
    char *at;             /* in the target's memory */
    int64_t count;
    sg_type *type;
    uintptr_t op;
    sg_talk talk;
    bool applied, complete;
    sg_completion here, there; /* completion at the origin, and at the target as known to the origin */
} sg_remote;

/* ---- sg_mpi_window.c ---- */

static inline sg_window *sg_window_of(MPI_Win handle)
{
    return sg_handle_get(SG_KIND_WINDOW, (uintptr_t)handle);
}
int sg_window_missing(MPI_Win handle);
int sg_window_error(sg_window *w, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
sg_target *sg_window_target(sg_window *w, int rank);
/* Reports windows that the rank has not freed, at the end of MPI. */
void sg_windows_name_left(const struct sg_mpi *m);
/* Synchronises all ranks of the window. */
int sg_window_meet(sg_window *w);

#define SG_WINDOW(name, handle)                                                                              \
    sg_window *name = sg_window_of(handle);                                                                  \
    if (name == NULL)                                                                                        \
        return sg_window_missing(handle);

/* ---- sg_mpi_remote.c: accesses reach their targets ---- */

/* Takes its turn, then performs everything that has reached its target by the running processor's clock. */
void sg_events_settle(void);
/* Schedules `event` at its time. */
void sg_event_add(sg_event *event);
/* The processor of `rank` must serve others at `time`, besides its own work; returns when it is done. */
uint64_t sg_serve(sg_rank *rank, uint64_t time, uint64_t cycles);
/* Software cost of a message of this size at a target; 0 if the network interface handles it. */
uint64_t sg_serve_cycles(size_t bytes);
/* Charges the running processor for issuing a transfer of this size to another node. */
void sg_charge_issue(size_t bytes, bool software);
/* Issues an access. */
void sg_access_begin(sg_remote *a, sg_target *target);
/* Waits until it is complete here, or also there; then stores its result. */
void sg_access_wait(sg_remote *a, bool there);
/* Is it complete here at the processor's clock? Not charged. */
bool sg_access_done(const sg_remote *a);
void sg_access_drop(sg_remote *a);
/* Waits for all accesses of the window to a target, or to all targets (-1). */
void sg_window_complete(sg_window *w, int target, bool there);

/* ---- sg_mpi_apply.c: what an access does to memory ---- */

void sg_access_apply(sg_remote *a);
/* Calls `visit` for runs of values of one type, one extent apart. */
void sg_each_value(const sg_type *t, char *base, int64_t count,
                   void (*visit)(const sg_type *t, char *at, int64_t count, void *context), void *context);
/* Does an accumulate with this operation accept values of the type? */
bool sg_accumulates(uintptr_t op, const sg_type *t);
/* Does the memory of these items, starting at `at`, lie in what a rank exposes? */
bool sg_exposes(const sg_exposure *e, bool dynamic, char *at, int64_t count, const sg_type *t);

/* ---- sg_mpi_conflict.c ---- */

/* The running rank accesses another rank's memory: reports who else does so, unordered with this access. */
void sg_conflict_check(const sg_window *w, const sg_remote *a, const sg_target *t);
/* Forgets the accesses to memory that is no longer exposed. */
void sg_conflict_forget(const sg_exposure *e);

/* ---- sg_mpi_lock.c ---- */

/* Takes a target's shared lock on the first access after MPI_Win_lock_all. */
void sg_lock_lazily(sg_window *w, int rank, sg_target *target);

#endif
