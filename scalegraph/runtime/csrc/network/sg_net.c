/* Code shared by all networks. */
#include "sg_net.h"

#include <stdarg.h>
#include <stdio.h>

void sg_usage_tell(const sg_calendar *c, size_t count, uint64_t scale, const char *kind,
                   sg_usage_visit *visit, void *context, const char *format, ...)
{
    char name[48];
    va_list list;
    va_start(list, format);
    vsnprintf(name, sizeof name, format, list);
    va_end(list);
    sg_usage usage = {.kind = kind, .name = name, .units = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        usage.transactions += c[i].transactions;
        usage.busy += c[i].occupied;
        usage.waiting += c[i].waited;
    }
    usage.busy /= scale;
    usage.waiting /= scale;
    visit(context, &usage);
}
