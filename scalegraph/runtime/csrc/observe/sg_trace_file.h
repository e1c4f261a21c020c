/* The trace file, and memory for the trace's own data. */
#ifndef SG_TRACE_FILE_H
#define SG_TRACE_FILE_H

#include "sg_runtime.h"

/* Zeroed memory at separate addresses, so that a traced run has all other memory in its usual place. */
void *sg_trace_new(size_t size);
/* The same, starting with `used` bytes of `old`. */
void *sg_trace_larger(const void *old, size_t used, size_t size);

/* `what`: bits of enum sg_traced. False if the file cannot be written, with a sentence on stderr and in the
 * result's warnings. */
bool sg_trace_file_open(uint32_t what);
void sg_trace_put(const sg_trace_record *record);
/* Bytes of the file so far. */
uint64_t sg_trace_file_bytes(void);
/* Has writing the file failed? */
bool sg_trace_file_failed(void);
/* Writes the rest, and completes the header. */
void sg_trace_file_close(enum sg_trace_state state, const sg_trace_header *known);

#endif
