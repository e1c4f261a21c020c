/* Start and end of a run. */
#ifndef SG_START_H
#define SG_START_H

#include "sg_config.h"

/* ---- sg_config.c ---- */

/* Reads `path` into `config`. Returns 0, or -1 with one sentence in `error`. */
int sg_config_read(const char *path, sg_config *config, char *error, size_t error_size);

/* ---- sg_result.c ---- */

/* Writes the result file. `message` is one plain sentence or "". */
void sg_result_write(enum sg_status status, const char *message, int signal_number);
/* Normal end of the program: pads every account and checks the totals. */
void sg_finish(void);

/* ---- sg_stuck.c: see sg_context ---- */

void sg_stop_deadlock(void) __attribute__((noreturn));
void sg_stop_timeout(void) __attribute__((noreturn));

#endif
