/* Schedules chosen in the environment:
 *     SCALEGRAPH_SCHEDULE          a schedule with its parameters, for all loops
 *     SCALEGRAPH_SCHEDULE_RUNTIME  the same, for loops with schedule(runtime)
 *     SCALEGRAPH_SCHEDULE_FILE     a file with schedules of loops, see sg_schedules_open */
#include <dlfcn.h>
#include <stdlib.h>

#include "sgn.h"

static const sg_chosen *for_all;
static const sg_chosen *for_runtime;

static const sg_chosen *read_variable(const char *name)
{
    char error[160];
    const char *text = getenv(name);
    if (text == NULL || *text == 0)
        return NULL;
    const sg_chosen *found = sg_schedules_read(text, error, sizeof error);
    if (found == NULL)
        sg_stop(SG_STATUS_UNSUPPORTED, "%s: %s", name, error);
    return found;
}

__attribute__((constructor)) static void prepare(void)
{
    const char *file = getenv("SCALEGRAPH_SCHEDULE_FILE");
    if (dlsym(RTLD_DEFAULT, "__kmpc_fork_call") != NULL)
        sg_stop(SG_STATUS_UNSUPPORTED,
                "schedules are served to programs of gcc and gfortran; this one uses LLVM's OpenMP");
    if (file != NULL && *file != 0)
        sg_schedules_open(file);
    for_all = read_variable("SCALEGRAPH_SCHEDULE");
    for_runtime = read_variable("SCALEGRAPH_SCHEDULE_RUNTIME");
    sg_schedules_of_openmp(0);
}

const sg_chosen *sgn_wanted(const void *site, bool runtime)
{
    const sg_chosen *found = sg_schedules_wanted(site, 0);
    if (found == NULL)
        found = for_all;
    return found == NULL && runtime ? for_runtime : found;
}
