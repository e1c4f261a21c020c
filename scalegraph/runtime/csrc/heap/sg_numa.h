/* The memory nodes of the machine, as the program counts them. */
#ifndef SG_NUMA_H
#define SG_NUMA_H

#include <stdint.h>

void sg_numa_open(void);
uint32_t sg_numa_nodes(void);
/* mbind, set_mempolicy or get_mempolicy, by system call number; errors are negative. */
long sg_numa_call(long number, const long a[6]);

#endif
