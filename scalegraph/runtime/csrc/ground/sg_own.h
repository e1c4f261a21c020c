/* The runtime's own memory and files, and the host's limits on them. */
#ifndef SG_OWN_H
#define SG_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- sg_own.c ---- */

/* Zeroed memory for the runtime itself, never freed. */
void *sg_new(size_t size);
/* Announces many small pieces of it that are used alternately: switches to huge pages. */
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
/* sscanf for the runtime itself: the program's own calls are charged. */
int sg_scan(const char *text, const char *format, ...) __attribute__((format(scanf, 2, 3)));

/* ---- sg_host_limit.c ---- */

/* "; your limit of ... is ...": which limit on the host's memory, or on threads (`of_threads`), stops a
 * run. */
const char *sg_host_limit(bool of_threads);
/* Free memory of the host in bytes; UINT64_MAX: unknown. */
uint64_t sg_host_free_bytes(void);

#endif
