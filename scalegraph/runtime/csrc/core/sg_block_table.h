/* The block table: what is known of a program before it runs. */
#ifndef SG_BLOCK_TABLE_H
#define SG_BLOCK_TABLE_H

#include <stddef.h>

#include "sg_format.h"

typedef struct sg_block_table {
    const sg_block *blocks;
    size_t count;
    const sg_timing *timing; /* of each block; NULL if the machine does not need it */
    const sg_load_row *loads;
    size_t loads_count;
    const sg_clock_row *clocks;
    size_t clocks_count;
} sg_block_table;

/* Maps the block table at `path`. */
sg_block_table sg_block_table_read(const char *path);

#endif
