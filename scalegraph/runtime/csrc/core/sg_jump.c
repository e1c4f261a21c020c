/* longjmp: out of a parallel region or to another thread's stack it ends the run with a sentence. OpenMP
 * defines neither; here the rest of the team would wait for ever, or its member be lost, without a word. */
#include <setjmp.h>

#include "sg_arch.h"
#include "sg_omp.h"

static bool is_on_stack(const sg_thread *t, uint64_t address)
{
    uint64_t low = (uint64_t)(uintptr_t)t->stack_low;
    return low != 0 && address >= low && address < low + t->stack_size + 4096;
}

static void refuse(const sg_team *team, const void *site, const char *what)
{
    sg_now->site = site;
    if (team == NULL || team->level == 0)
        sg_stop(SG_STATUS_UNSUPPORTED, "the longjmp at 0x%llx goes %s, which is undefined",
                (unsigned long long)(uintptr_t)site, what);
    sg_stop(SG_STATUS_UNSUPPORTED,
            "the longjmp at 0x%llx goes %s, in the parallel region at 0x%llx: OpenMP does not define what "
            "happens then",
            (unsigned long long)(uintptr_t)site, what, (unsigned long long)(uintptr_t)team->site);
}

static void check(const void *buffer, const void *site)
{
    const sg_thread *t = sg_self();
    uint64_t target = sg_arch_jump_target(buffer);
    if (t == NULL || target == 0)
        return;
    const sg_team *team = t->team;
    if (is_on_stack(t, target)) {
        if (team != NULL && team->level > 0 && t->member == 0 && target >= team->frame &&
            is_on_stack(t, (uint64_t)(uintptr_t)sg_arch_stack_pointer()))
            refuse(team, site, "out of its region");
        return;
    }
    for (uint32_t i = 0; i < sg->threads; i++)
        if (is_on_stack(sg->thread[i], target))
            refuse(team, site, "to the stack of another thread");
}

#define JUMP(name)                                                                                           \
    extern void real_##name(jmp_buf buffer, int value) __asm__("__real_" #name) __attribute__((noreturn));   \
    void __wrap_##name(jmp_buf buffer, int value) __attribute__((noreturn));                                 \
    SG_API void __wrap_##name(jmp_buf buffer, int value)                                                     \
    {                                                                                                        \
        check(buffer, SG_CALLER);                                                                            \
        real_##name(buffer, value);                                                                          \
    }

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
