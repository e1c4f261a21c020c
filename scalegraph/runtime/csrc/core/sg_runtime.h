/* What all files of the runtime share: its state, accounts, observers and scheduler, and how a run ends. */
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

/* Zeroed memory of the runtime itself, never given back. */
void *sg_new(size_t size);
/* There will be much of it, in small pieces that are used in turn: from now on in huge pages. */
void sg_own_is_much(void);
/* Such memory that begins with `used` bytes of `old`, which may be NULL if there are none. */
void *sg_larger(const void *old, size_t used, size_t size);
/* Such memory that costs nothing until it is used; `purpose`: for the sentence that there is none. */
void *sg_reserve(size_t size, const char *purpose);
/* Gives a descriptor of ours a high number, which it returns, so that the program gets the descriptors that
 * it gets without; what is negative, an error, stays so. */
long sg_descriptor_high(long file);
/* Maps a whole file; returns NULL when it is empty or cannot be read. */
const char *sg_map_file(const char *path, size_t *size);

/* ---- sg_host_limit.c ---- */

/* "; your limit of ... is ...": which limit of the host's memory, or `of_threads`, is in the way of a run. */
const char *sg_host_limit(bool of_threads);
/* Bytes of memory that the host can still give; UINT64_MAX: it does not say. */
uint64_t sg_host_free_bytes(void);

/* ---- sg_alloc.c ---- */

/* While `own`, malloc serves the runtime (threads, directories), not the program's heap. Returns what was. */
bool sg_alloc_own(bool own);
/* Zeroed memory of the program's heap, of the running rank's if there are ranks, for the program's call
 * before `site`; NULL: there is no more. */
void *sg_alloc_for(size_t size, const void *site);
void sg_alloc_limit(uint64_t bytes);
void sg_alloc_own_is_much(void);
/* Where the program's heap will grow. */
void sg_alloc_ahead(uint64_t *low, uint64_t *high);
/* Stack-like copy into the program's heap. */
char *sg_alloc_string(const char *text);

/* ---- sg_stop.c ---- */

/* Ends the program: result file, one sentence on stderr, exit. */
void sg_stop(enum sg_status status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
void sg_stop_deadlock(void) __attribute__((noreturn));
void sg_stop_timeout(void) __attribute__((noreturn));
/* Adds a remark to the result's warnings, once. */
void sg_warn(const char *remark);
void sg_say(const char *message);
uint64_t sg_host_ns(void);

/* ---- sg_writer.c, sg_result.c ---- */

/* Writes into the result file; nothing when `w` is NULL. */
void sg_put(struct sg_writer *w, const void *data, size_t size);
/* Writes the result file. `message` is one plain sentence or "". */
void sg_result_write(enum sg_status status, const char *message, int signal_number);
/* The end of a program that ends by itself: pads every account and checks the identity. */
void sg_finish(void);
/* sg_context.c: from now on the hooks do nothing. */
void sg_finish_hooks(void);

/* ---- sg_fault.c ---- */

void sg_fault_open(void);
/* `site`, or, if a library has called, the newest place on the stack that is in the program. */
const void *sg_fault_caller(const void *site);

/* ---- sg_process.c, sg_map.c: system calls ---- */

/* The program sends a signal, or maps memory, with the arguments of the system call; an error is negative. */
long sg_signal_call(long process, long number);
long sg_map_call(const long a[6]);
long sg_remap_call(const long a[6]);
long sg_attach_call(const long a[6]);
/* sg_fault.c: the program raises a signal in itself at p->site. */
void sg_fault_raise(int number);

/* ---- sg_numa.c ---- */

void sg_numa_open(void);
/* Nodes of memory of the machine, as the program counts them. */
uint32_t sg_numa_nodes(void);
/* mbind, set_mempolicy or get_mempolicy by the number of the system call; an error is negative. */
long sg_numa_call(long number, const long a[6]);

/* ---- sg_omp_team.c ---- */

void sg_omp_open(void);
/* sscanf, as the runtime itself uses it: that of the program is charged. */
int sg_scan(const char *text, const char *format, ...) __attribute__((format(scanf, 2, 3)));

#endif
