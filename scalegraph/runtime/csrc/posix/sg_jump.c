/* A longjmp out of a parallel region or to another thread's stack ends the run with a message. OpenMP defines
 * neither; here the rest of the team would hang, or lose a member silently. */
#include <setjmp.h>
#include <string.h>

#include "sg_arch.h"
#include "sg_omp.h"
#include "sg_signal.h"

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

/* Writes to `buffer` what setjmp saves here, `more` bytes further down the stack, and to `sp` the stack
 * pointer, held in no register at that point. */
static __attribute__((noinline)) void sample(jmp_buf buffer, size_t more, volatile uint64_t *sp)
{
    volatile char *room = __builtin_alloca(more);
    room[0] = 0;
    *sp = (uint64_t)(uintptr_t)sg_arch_stack_pointer();
    if (_setjmp(buffer) != 0)
        __builtin_trap();
}

static uint64_t turned(uint64_t word, unsigned bits)
{
    return bits == 0 ? word : word >> bits | word << (64 - bits);
}

/* The stack pointer that a longjmp to `buffer` will restore; 0: unknown. C libraries store it at different
 * offsets, some XORed with a per-thread secret, which glibc on x86-64 also rotates. Comparing two buffers
 * with known stack pointers reveals the offset and encoding: only that word differs in the right way. */
static uint64_t target_of(const void *buffer)
{
    enum { WORDS = sizeof(jmp_buf) / (sizeof(uint64_t)), NEAR = 64, FAR = 4096 + 64 };
    static const unsigned rotations[] = {0, 17};
    jmp_buf one = {0}, other = {0};
    volatile uint64_t sp_one, sp_other;
    uint64_t words[2][WORDS], kept[WORDS], found = 0;
    uint32_t matches = 0;
    sample(one, NEAR, &sp_one);
    sample(other, FAR, &sp_other);
    memcpy(words[0], one, sizeof words[0]);
    memcpy(words[1], other, sizeof words[1]);
    memcpy(kept, buffer, sizeof kept);
    for (uint32_t i = 0; i < WORDS; i++)
        for (uint32_t j = 0; j < sizeof rotations / sizeof *rotations; j++) {
            uint64_t key = turned(words[0][i], rotations[j]) ^ sp_one;
            if (key != (turned(words[1][i], rotations[j]) ^ sp_other))
                continue;
            found = turned(kept[i], rotations[j]) ^ key;
            matches++;
        }
    return matches == 1 ? found : 0;
}

static void check(const void *buffer, const void *site)
{
    const sg_thread *t = sg_self();
    if (t == NULL)
        return;
    const sg_team *team = t->team;
    uint64_t target = target_of(buffer);
    if (target != 0)
        sg_signals_left(target);
    if (target == 0 && team != NULL && team->level > 0)
        refuse(team, site, "where this C library does not let the simulator see");
    if (target == 0)
        return;
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
