/* printf and scanf on strings and input streams: charges the work they do. */
#include <stdarg.h>
#include <stdio.h>

#include "sg_work.h"

#define PRINT(name, parameters, last, call)                                                                  \
    int __wrap_##name parameters;                                                                            \
    SG_API int __wrap_##name parameters                                                                      \
    {                                                                                                        \
        va_list list;                                                                                        \
        va_start(list, last);                                                                                \
        int result = call;                                                                                   \
        va_end(list);                                                                                        \
        sg_work_of_output(format, result, SG_CALLER);                                                        \
        return result;                                                                                       \
    }

#define SCAN(name, parameters, call)                                                                         \
    int __wrap_##name parameters;                                                                            \
    SG_API int __wrap_##name parameters                                                                      \
    {                                                                                                        \
        va_list list;                                                                                        \
        va_start(list, format);                                                                              \
        int result = call;                                                                                   \
        va_end(list);                                                                                        \
        sg_work_of_input(format, SG_CALLER);                                                                 \
        return result;                                                                                       \
    }

PRINT(sprintf, (char *to, const char *format, ...), format, vsprintf(to, format, list))
PRINT(snprintf, (char *to, size_t size, const char *format, ...), format, vsnprintf(to, size, format, list))
PRINT(__sprintf_chk, (char *to, int flag, size_t size, const char *format, ...), format,
      ((void)flag, vsnprintf(to, size, format, list)))
PRINT(__snprintf_chk, (char *to, size_t size, int flag, size_t room, const char *format, ...), format,
      ((void)flag, (void)room, vsnprintf(to, size, format, list)))

SCAN(sscanf, (const char *text, const char *format, ...), vsscanf(text, format, list))
SCAN(__isoc99_sscanf, (const char *text, const char *format, ...), vsscanf(text, format, list))
SCAN(fscanf, (FILE * stream, const char *format, ...), vfscanf(stream, format, list))
SCAN(__isoc99_fscanf, (FILE * stream, const char *format, ...), vfscanf(stream, format, list))
SCAN(scanf, (const char *format, ...), vscanf(format, list))
SCAN(__isoc99_scanf, (const char *format, ...), vscanf(format, list))
