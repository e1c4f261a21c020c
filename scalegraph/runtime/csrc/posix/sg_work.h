/* Work of C library functions that depends on their arguments (sg_work.c). */
#ifndef SG_WORK_H
#define SG_WORK_H

#include "sg_runtime.h"

/* Charges the work of a printf-like function that has written `written` characters with `format`. */
void sg_work_of_output(const char *format, int written, const void *site);
/* The same for the scanf family. */
void sg_work_of_input(const char *format, const void *site);
/* Charges a stream operation on `bytes`. */
void sg_work_of_stream(size_t bytes, const void *site);
/* Charges a sort of `count` elements beyond its comparisons and moves, with `surprises` mispredicted
 * branches. */
void sg_work_of_sort(size_t count, uint64_t surprises, const void *site);

#endif
