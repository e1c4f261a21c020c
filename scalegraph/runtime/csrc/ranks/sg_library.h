/* Shared libraries that the program brings along, such as a mathematics library. Natively each process has
 * its own static data of them, so here each rank has, and their constructors run in each rank. The C library,
 * the dynamic linker and the C++ and Fortran runtime libraries are excluded: all ranks share one copy, and
 * their per-process state is either kept apart elsewhere (sg_rank_libc.c) or the same for all ranks. */
#ifndef SG_LIBRARY_H
#define SG_LIBRARY_H

#include "sg_runtime.h"

/* A library's writable static data. */
typedef struct sg_library_data {
    struct sg_library_data *next;
    char *low, *high;
    const char *fresh; /* its contents before the library's constructors run */
} sg_library_data;

/* Records the libraries' data; call before all constructors, including those of libraries. */
void sg_libraries_note(void);
/* Names them in a note of the run: their computation costs nothing. */
void sg_libraries_name(void);
/* NULL: there are no such libraries, or they have no data. */
const sg_library_data *sg_libraries_data(void);
/* Runs their constructors, each library's after those of its dependencies. */
void sg_libraries_construct(int argc, char **argv, char **envp);
/* Does `address` lie in one of them? */
bool sg_libraries_have(const void *address);
/* Does one of them define the variable `name`? */
bool sg_libraries_define(const char *name);

#endif
