/* Limits that the program sets itself. They apply to the simulated process; the host's limits, which the
 * simulator needs, stay unchanged. The memory limit applies to the program's heap. */
#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "sg_alloc.h"
#include "sg_arch.h"
#include "sg_posix.h"

static struct rlimit set[RLIMIT_NLIMITS] = {{0, 0}};
static bool is_set[RLIMIT_NLIMITS] = {false};
static const void *set_at = NULL; /* call site of the memory limit */

static void tell_met(uint64_t bytes)
{
    char remark[240];
    const struct rlimit *limit = is_set[RLIMIT_AS] ? &set[RLIMIT_AS] : &set[RLIMIT_DATA];
    snprintf(
        remark, sizeof remark,
        "the program limits its memory to %llu bytes at 0x%llx (setrlimit): a request for %llu bytes was "
        "refused",
        (unsigned long long)limit->rlim_cur, (unsigned long long)(uintptr_t)set_at,
        (unsigned long long)bytes);
    if (sg != NULL)
        sg_warn(remark);
}

static long host(int resource, const struct rlimit *wanted, struct rlimit *before)
{
    return sg_arch_syscall(SYS_prlimit64, 0, resource, (long)wanted, (long)before);
}

static int change(int resource, const struct rlimit *wanted, struct rlimit *before, const void *site)
{
    struct rlimit now;
    long error = resource < 0 || resource >= RLIMIT_NLIMITS ? -EINVAL : 0;
    bool ours = error == 0 && sg != NULL && !sg->alone;
    if (error == 0)
        error = host(resource, ours ? NULL : wanted, &now);
    if (error == 0 && ours && is_set[resource])
        now = set[resource];
    if (error == 0 && ours && wanted != NULL) {
        if (wanted->rlim_cur > wanted->rlim_max)
            error = -EINVAL;
        else if (wanted->rlim_max > now.rlim_max)
            error = -EPERM;
    }
    if (error != 0) {
        errno = (int)-error;
        return -1;
    }
    if (ours && wanted != NULL) {
        set[resource] = *wanted;
        is_set[resource] = true;
        if (resource == RLIMIT_NOFILE) { /* the soft limit only, so that the run can still be reported */
            struct rlimit soft = {wanted->rlim_cur, now.rlim_max};
            host(resource, &soft, NULL);
        }
        if (resource == RLIMIT_AS || resource == RLIMIT_DATA) {
            set_at = site;
            sg_alloc_set_limit(wanted->rlim_cur == RLIM_INFINITY ? UINT64_MAX : wanted->rlim_cur, tell_met);
        }
    }
    if (before != NULL)
        *before = now;
    return 0;
}

SG_API int setrlimit(__rlimit_resource_t resource, const struct rlimit *wanted)
{
    return change((int)resource, wanted, NULL, SG_CALLER);
}

SG_API int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
    return change((int)resource, NULL, limit, SG_CALLER);
}

SG_API int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *wanted)
{
    return change((int)resource, (const struct rlimit *)wanted, NULL, SG_CALLER);
}

SG_API int getrlimit64(__rlimit_resource_t resource, struct rlimit64 *limit)
{
    return change((int)resource, NULL, (struct rlimit *)limit, SG_CALLER);
}

SG_API int prlimit(pid_t process, enum __rlimit_resource resource, const struct rlimit *wanted,
                   struct rlimit *before)
{
    if (process != 0 && process != getpid())
        return errno = EPERM, -1;
    return change((int)resource, wanted, before, SG_CALLER);
}
