/* Work of the C library that depends on what a function is given (sg_work.c). */
#ifndef SG_WORK_H
#define SG_WORK_H

#include "sg_runtime.h"

/* Charges what a function of the printf family executes that has written `written` characters by `format`. */
void sg_work_of_output(const char *format, int written, const void *site);
/* The same of the scanf family. */
void sg_work_of_input(const char *format, const void *site);
/* Charges a call of a stream that moves `bytes`. */
void sg_work_of_stream(size_t bytes, const void *site);
/* Charges what a sort of `count` elements executes besides its comparisons and the lines that it moves, and
 * `surprises` branches that no processor foresees. */
void sg_work_of_sort(size_t count, uint64_t surprises, const void *site);

#endif
