/* C library streams on simulated files: they read and write through the simulated read and write, so that
 * threads wait in simulated time. */
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

#include "sg_files.h"

static int file_of(void *cookie)
{
    return (int)(intptr_t)cookie;
}

static const void *place(void)
{
    return sg_self() != NULL ? sg_now->site : NULL;
}

static ssize_t take(void *cookie, char *to, size_t size)
{
    return sg_files_read(file_of(cookie), to, size, place());
}

/* A stream has no other way to report that nothing was written. */
static ssize_t give(void *cookie, const char *from, size_t size)
{
    ssize_t put = sg_files_write(file_of(cookie), from, size, place());
    return put < 0 ? 0 : put;
}

static int end(void *cookie)
{
    return close(file_of(cookie));
}

extern FILE *real_fdopen(int file, const char *mode) __asm__("__real_fdopen");
FILE *__wrap_fdopen(int file, const char *mode);
SG_API FILE *__wrap_fdopen(int file, const char *mode)
{
    if (!sg_files_owns(file) || sg == NULL || sg->finished)
        return real_fdopen(file, mode);
    bool reads = strchr(mode, 'r') != NULL || strchr(mode, '+') != NULL;
    bool writes = strchr(mode, 'r') == NULL || strchr(mode, '+') != NULL;
    FILE *stream = fopencookie((void *)(intptr_t)file, mode,
                               (cookie_io_functions_t){reads ? take : NULL, writes ? give : NULL, NULL, end});
    if (stream != NULL)
        __fsetlocking(stream,
                      FSETLOCKING_BYCALLER); /* a thread waiting inside must not block the host's threads */
    return stream;
}
