/* Rows of the block table that are missing when the run begins. */
#ifndef SG_ROWS_H
#define SG_ROWS_H

/* Call when costs, branches and inlined hooks are set up: from then on sg->learn asks for rows. */
void sg_rows_open(void);

#endif
