/* Shared libraries that the program brings along, such as one of mathematics: as each process has static data
 * of its own natively, so has each rank, and the library's constructors run in each. The C library, the
 * dynamic linker and the compilers' libraries of C++ and Fortran are not among these: all ranks use one, and
 * what it keeps for a process is kept apart elsewhere (sg_rank_libc.c), or is the same for all ranks. */
#ifndef SG_LIBRARY_H
#define SG_LIBRARY_H

#include "sg_runtime.h"

/* Static data of a library that the program may change. */
typedef struct sg_library_data {
    struct sg_library_data *next;
    char *low, *high;
    const char *fresh; /* what is there before the library's constructors */
} sg_library_data;

/* Before all constructors, those of libraries included: what the libraries have. */
void sg_libraries_note(void);
/* A remark of the run names them: what they compute costs nothing. */
void sg_libraries_name(void);
/* NULL: there are no such libraries, or they have none. */
const sg_library_data *sg_libraries_data(void);
/* Runs their constructors, those of a library after those of what it needs. */
void sg_libraries_construct(int argc, char **argv, char **envp);
/* Whether one of them has `address`. */
bool sg_libraries_have(const void *address);
/* Whether one of them defines the variable `name`. */
bool sg_libraries_define(const char *name);

#endif
