/* Activity of one resource of the simulated network: a ring, a link, a bus, a memory module. */
#ifndef SG_USAGE_H
#define SG_USAGE_H

#include <stdarg.h>
#include <stdint.h>

#define SG_USAGE_LINK   "link"
#define SG_USAGE_MODULE "module"

typedef struct sg_usage {
    const char *kind;   /* SG_USAGE_LINK: carries messages, SG_USAGE_MODULE: serves them */
    const char *format; /* of its name (sg_usage_name): most visitors need none */
    va_list *arguments;
    uint32_t node;  /* + 1; 0: it belongs to no node of a cluster */
    uint32_t units; /* working in parallel (slots of a ring): busy is at most units x the time */
    uint64_t transactions;
    uint64_t busy;    /* cycles, summed over units */
    uint64_t waiting; /* cycles that transactions waited for it */
} sg_usage;

typedef void sg_usage_visit(void *context, const sg_usage *usage);

#endif
