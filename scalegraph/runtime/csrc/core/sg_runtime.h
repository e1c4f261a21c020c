/* Shared by all files of the runtime: its state, accounts, observers and scheduler, and how a run ends. */
#ifndef SG_RUNTIME_H
#define SG_RUNTIME_H

#include "sg_account.h"
#include "sg_branch.h"
#include "sg_observer.h"
#include "sg_reference.h"
#include "sg_sched.h"
#include "sg_state.h"
#include "sg_sync.h"

/* ---- sg_own.c ---- */

/* Zeroed memory for the runtime itself, never freed. */
void *sg_new(size_t size);
/* Announces much of it, in small pieces used in turn: switches to huge pages. */
void sg_own_is_much(void);
/* The same, starting with `used` bytes copied from `old`, which may be NULL if `used` is 0. */
void *sg_larger(const void *old, size_t used, size_t size);
/* The same, allocated lazily; `purpose` is for the error message. */
void *sg_reserve(size_t size, const char *purpose);
/* Moves one of our descriptors to a high number, so that the program gets the descriptors it would get
 * without us. Returns the new number; passes negative values (errors) through. */
long sg_descriptor_high(long file);
/* Maps a whole file; returns NULL if it is empty or unreadable. */
const char *sg_map_file(const char *path, size_t *size);

/* ---- sg_host_limit.c ---- */

/* "; your limit of ... is ...": which limit on the host's memory, or on threads (`of_threads`), stops a
 * run. */
const char *sg_host_limit(bool of_threads);
/* Free memory of the host in bytes; UINT64_MAX: unknown. */
uint64_t sg_host_free_bytes(void);

/* ---- sg_alloc.c ---- */

/* While `own` is set, malloc serves the runtime (threads, directories), not the program's heap. Returns the
 * previous value. */
bool sg_alloc_own(bool own);
/* Zeroed memory from the program's heap (the running rank's, if there are ranks) for the call before `site`;
 * NULL: out of memory. */
void *sg_alloc_for(size_t size, const void *site);
void sg_alloc_limit(uint64_t bytes);
void sg_alloc_own_is_much(void);
/* Where the program's heap will grow. */
void sg_alloc_ahead(uint64_t *low, uint64_t *high);
/* Copies a string into the program's heap. */
char *sg_alloc_string(const char *text);

/* ---- sg_stop.c ---- */

/* Ends the program: writes the result file and one sentence to stderr, then exits. */
void sg_stop(enum sg_status status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
void sg_stop_deadlock(void) __attribute__((noreturn));
void sg_stop_timeout(void) __attribute__((noreturn));
/* Adds a remark to the result's warnings, once. */
void sg_warn(const char *remark);
void sg_say(const char *message);
uint64_t sg_host_ns(void);

/* ---- sg_writer.c, sg_result.c ---- */

/* Writes to the result file; does nothing if `w` is NULL. */
void sg_put(struct sg_writer *w, const void *data, size_t size);
/* Writes the result file. `message` is one plain sentence or "". */
void sg_result_write(enum sg_status status, const char *message, int signal_number);
/* Normal end of the program: pads every account and checks the totals. */
void sg_finish(void);
/* sg_context.c: from now on the hooks do nothing. */
void sg_finish_hooks(void);

/* ---- sg_fault.c ---- */

void sg_fault_open(void);
/* `site`, or, if a library made the call, the newest return address on the stack in the program. */
const void *sg_fault_caller(const void *site);

/* ---- sg_process.c, sg_map.c: system calls ---- */

/* The program sends a signal or maps memory; arguments as for the system call; errors are negative. */
long sg_signal_call(long process, long number);
long sg_map_call(const long a[6]);
long sg_remap_call(const long a[6]);
long sg_attach_call(const long a[6]);
/* sg_fault.c: the program raises a signal in itself at p->site. */
void sg_fault_raise(int number);

/* ---- sg_numa.c ---- */

void sg_numa_open(void);
/* Memory nodes of the machine, as the program counts them. */
uint32_t sg_numa_nodes(void);
/* mbind, set_mempolicy or get_mempolicy, by system call number; errors are negative. */
long sg_numa_call(long number, const long a[6]);

/* ---- sg_omp_team.c ---- */

void sg_omp_open(void);
/* sscanf for the runtime itself: the program's own calls are charged. */
int sg_scan(const char *text, const char *format, ...) __attribute__((format(scanf, 2, 3)));

#endif
