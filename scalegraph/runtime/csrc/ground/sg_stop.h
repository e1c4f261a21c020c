/* How a run is stopped, and the runtime's messages to the user. */
#ifndef SG_STOP_H
#define SG_STOP_H

#include "sg_format.h"

/* Ends the program: writes the result file and one sentence to stderr, then exits. */
void sg_stop(enum sg_status status, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* Adds a remark to the result's warnings, once. */
void sg_warn(const char *remark);
void sg_say(const char *message);
uint64_t sg_host_ns(void);

#endif
