/* The file of a trace, and memory for what a trace must remember. */
#ifndef SG_TRACE_FILE_H
#define SG_TRACE_FILE_H

#include "sg_runtime.h"

/* Zeroed memory at addresses of its own, so that a traced run finds all other memory where it always is. */
void *sg_trace_new(size_t size);
/* Such memory that begins with `used` bytes of `old`. */
void *sg_trace_larger(const void *old, size_t used, size_t size);

/* `what`: of enum sg_traced. False, and a sentence on stderr and among the result's warnings: the file cannot
 * be written. */
bool sg_trace_file_open(uint32_t what);
void sg_trace_put(const sg_trace_record *record);
/* Bytes of the file so far. */
uint64_t sg_trace_file_bytes(void);
/* Did the file become impossible to write? */
bool sg_trace_file_failed(void);
/* Writes what is left, and what the header lacked. */
void sg_trace_file_close(enum sg_trace_state state, const sg_trace_header *known);

#endif
