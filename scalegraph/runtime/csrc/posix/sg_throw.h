/* What the C++ library and sg_throw.c know of the exception that a thread handles or nobody catches; programs
 * without C++ lack these functions. */
#ifndef SG_THROW_H
#define SG_THROW_H

#include "sg_runtime.h"

typedef struct sg_type {
    const void *functions;
    const char *name;
} sg_type;

/* The header of an exception in libstdc++, before the thrown object. */
typedef struct sg_exception {
    const void *primary; /* of one that std::rethrow_exception threw: the object; otherwise its type */
    const void *fields[9];
    uint64_t class; /* for the unwinder: its lowest byte is 1 in the first case */
    const void *unwinding[3];
} sg_exception;

_Static_assert(sizeof(sg_exception) == 112, "as libstdc++ has it on machines of 64 bits");

typedef struct sg_exceptions {
    const sg_exception *caught;
    unsigned uncaught;
} sg_exceptions;

extern const sg_exceptions *__cxa_get_globals(void) __attribute__((weak));
extern const sg_type *__cxa_current_exception_type(void) __attribute__((weak));
extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status) __attribute__((weak));
/* Where the program threw it; NULL: in a library, or unknown. */
extern const void *sg_thrown_at(const void *object, const void *type) __attribute__((weak));

#endif
