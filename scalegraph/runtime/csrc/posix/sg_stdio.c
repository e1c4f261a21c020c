/* C library streams shared by several threads. A stream's own lock belongs to the host's threads, of which
 * only one runs: while a C library call holds it, no other simulated thread can run. flockfile lasts longer:
 * it is a lock of the simulated machine, and other threads that use the stream wait for it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sg_observer.h"
#include "sg_posix.h"
#include "sg_sync.h"
#include "sg_work.h"

typedef struct sg_file {
    struct sg_file *next;
    FILE *stream;
    sg_lock *lock;
    uint32_t depth; /* how often its holder has locked it */
} sg_file;

static sg_file *file_of(FILE *stream)
{
    sg_file *file = sg->files;
    while (file != NULL && file->stream != stream)
        file = file->next;
    return file;
}

static sg_file *file_for(FILE *stream)
{
    sg_file *file = file_of(stream);
    if (file == NULL) {
        file = sg_new(sizeof *file);
        *file = (sg_file){sg->files, stream, sg_lock_new(0), 0};
        sg->files = file;
    }
    return file;
}

static bool is_mine(const sg_file *file)
{
    return sg_lock_holder(file->lock) == sg_self_id();
}

SG_API void flockfile(FILE *stream)
{
    if (!sg_enter(SG_CALLER))
        return;
    sg_file *file = file_for(stream);
    if (!is_mine(file))
        sg_lock_acquire(file->lock);
    file->depth++;
}

SG_API int ftrylockfile(FILE *stream)
{
    if (!sg_enter(SG_CALLER))
        return 0;
    sg_file *file = file_for(stream);
    if (!is_mine(file) && !sg_lock_try(file->lock))
        return -1;
    file->depth++;
    return 0;
}

SG_API void funlockfile(FILE *stream)
{
    sg_file *file = sg_enter(SG_CALLER) ? file_of(stream) : NULL;
    if (file != NULL && is_mine(file) && --file->depth == 0)
        sg_lock_release(file->lock);
}

/* Waits while another thread has locked `stream`. */
static void wait_for(FILE *stream, const void *site)
{
    if (SG_UNLIKELY(sg != NULL && sg->ranks > 1) && sg_enter(site))
        sg_turn_of_all(sg_now); /* output of the ranks appears in order of simulated time */
    if (SG_LIKELY(sg->files == NULL) || !sg_enter(site))
        return;
    sg_file *file = file_of(stream);
    if (file != NULL && sg_lock_holder(file->lock) >= 0 && !is_mine(file)) {
        sg_lock_acquire(file->lock);
        sg_lock_release(file->lock);
    }
}

/* Records that `bytes` went to `stream`, or none if the call failed. Returns `result`. */
static int told(FILE *stream, int result, uint64_t bytes)
{
    if (stream == stdout && result >= 0 && sg->ranks > 1)
        sg_observe_prints(bytes);
    return result;
}

#define WRAP(type, name, parameters, stream, call)                                                           \
    type __wrap_##name parameters;                                                                           \
    extern type real_##name parameters __asm__("__real_" #name);                                             \
    SG_API type __wrap_##name parameters                                                                     \
    {                                                                                                        \
        wait_for(stream, SG_CALLER);                                                                         \
        sg_work_of_stream(0, SG_CALLER);                                                                     \
        return real_##name call;                                                                             \
    }

/* Defines a function that writes `bytes`. */
#define WRAP_WRITE(name, parameters, stream, call, bytes)                                                    \
    int __wrap_##name parameters;                                                                            \
    extern int real_##name parameters __asm__("__real_" #name);                                              \
    SG_API int __wrap_##name parameters                                                                      \
    {                                                                                                        \
        wait_for(stream, SG_CALLER);                                                                         \
        sg_work_of_stream(bytes, SG_CALLER);                                                                 \
        return told(stream, real_##name call, bytes);                                                        \
    }

/* Define functions that write formatted output and return its length; `call` takes the va_list. */
#define WRAP_LIST(name, parameters, last, stream, call)                                                      \
    int __wrap_##name parameters;                                                                            \
    SG_API int __wrap_##name parameters                                                                      \
    {                                                                                                        \
        va_list list;                                                                                        \
        wait_for(stream, SG_CALLER);                                                                         \
        va_start(list, last);                                                                                \
        int result = call;                                                                                   \
        va_end(list);                                                                                        \
        sg_work_of_output(format, result, SG_CALLER);                                                        \
        return told(stream, result, (uint64_t)result);                                                       \
    }

WRAP_WRITE(puts, (const char *text), stdout, (text), strlen(text) + 1)
WRAP_WRITE(putchar, (int value), stdout, (value), 1)
WRAP_WRITE(fputs, (const char *text, FILE *stream), stream, (text, stream), strlen(text))
WRAP_WRITE(fputc, (int value, FILE *stream), stream, (value, stream), 1)
WRAP_WRITE(putc, (int value, FILE *stream), stream, (value, stream), 1)
WRAP(int, getchar, (void), stdin, ())
WRAP(int, fgetc, (FILE * stream), stream, (stream))
WRAP(int, getc, (FILE * stream), stream, (stream))
WRAP(char *, fgets, (char *text, int size, FILE *stream), stream, (text, size, stream))

int __wrap_vprintf(const char *format, va_list list);
extern int real_vprintf(const char *format, va_list list) __asm__("__real_vprintf");
SG_API int __wrap_vprintf(const char *format, va_list list)
{
    wait_for(stdout, SG_CALLER);
    int result = real_vprintf(format, list);
    sg_work_of_output(format, result, SG_CALLER);
    return told(stdout, result, (uint64_t)result);
}

int __wrap_vfprintf(FILE *stream, const char *format, va_list list);
extern int real_vfprintf(FILE *stream, const char *format, va_list list) __asm__("__real_vfprintf");
SG_API int __wrap_vfprintf(FILE *stream, const char *format, va_list list)
{
    wait_for(stream, SG_CALLER);
    int result = real_vfprintf(stream, format, list);
    sg_work_of_output(format, result, SG_CALLER);
    return told(stream, result, (uint64_t)result);
}

WRAP_LIST(printf, (const char *format, ...), format, stdout, real_vprintf(format, list))
WRAP_LIST(fprintf, (FILE * stream, const char *format, ...), format, stream,
          real_vfprintf(stream, format, list))
WRAP_LIST(__printf_chk, (int flag, const char *format, ...), format, stdout,
          ((void)flag, real_vprintf(format, list)))
WRAP_LIST(__fprintf_chk, (FILE * stream, int flag, const char *format, ...), format, stream,
          ((void)flag, real_vfprintf(stream, format, list)))

/* These two move the program's memory. */

size_t __wrap_fread(void *to, size_t size, size_t count, FILE *stream);
extern size_t real_fread(void *to, size_t size, size_t count, FILE *stream) __asm__("__real_fread");
SG_API size_t __wrap_fread(void *to, size_t size, size_t count, FILE *stream)
{
    wait_for(stream, SG_CALLER);
    size_t done = real_fread(to, size, count, stream);
    sg_work_of_stream(0, SG_CALLER);
    sg_reference_range(to, size * done, SG_WRITE, SG_CALLER);
    return done;
}

size_t __wrap_fwrite(const void *from, size_t size, size_t count, FILE *stream);
extern size_t real_fwrite(const void *from, size_t size, size_t count, FILE *stream) __asm__("__real_fwrite");
SG_API size_t __wrap_fwrite(const void *from, size_t size, size_t count, FILE *stream)
{
    sg_reference_range(from, size * count, SG_READ, SG_CALLER);
    wait_for(stream, SG_CALLER);
    size_t done = real_fwrite(from, size, count, stream);
    sg_work_of_stream(0, SG_CALLER);
    told(stream, 0, size * done);
    return done;
}
