/* Everything specific to aarch64 Linux: the stack switch, the thread pointer, raw calls. */
#ifndef SG_ARCH_AARCH64_H
#define SG_ARCH_AARCH64_H

/* The linker has placed a library's variable in the program: R_AARCH64_COPY. */
#define SG_ARCH_COPIED 1024

#ifdef SG_ARCH_DEFINE
/* Integers x19 to x28, the frame pointer, the link register, and the lower halves of v8 to v15. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sg_arch_switch\n"
        ".type sg_arch_switch, @function\n"
        "sg_arch_switch:\n"
        "    stp x29, x30, [sp, #-160]!\n"
        "    stp x19, x20, [sp, #16]\n"
        "    stp x21, x22, [sp, #32]\n"
        "    stp x23, x24, [sp, #48]\n"
        "    stp x25, x26, [sp, #64]\n"
        "    stp x27, x28, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #16]\n"
        "    ldp x21, x22, [sp, #32]\n"
        "    ldp x23, x24, [sp, #48]\n"
        "    ldp x25, x26, [sp, #64]\n"
        "    ldp x27, x28, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    ldp x29, x30, [sp], #160\n"
        "    ret\n"
        ".size sg_arch_switch, .-sg_arch_switch\n");

void *sg_arch_new_stack(void *top, void (*entry)(void))
{
    uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)63) - 20;
    for (int i = 0; i < 20; i++)
        sp[i] = 0; /* including the frame pointer: `entry` has no caller */
    sp[1] = (uint64_t)(uintptr_t)entry;
    return sp;
}
#endif

static inline long sg_arch_syscall6(long number, const long a[6])
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a[0];
    register long x1 __asm__("x1") = a[1];
    register long x2 __asm__("x2") = a[2];
    register long x3 __asm__("x3") = a[3];
    register long x4 __asm__("x4") = a[4];
    register long x5 __asm__("x5") = a[5];
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}

/* A system call that touches neither errno nor the thread pointer. */
static inline long sg_arch_syscall(long number, long a, long b, long c, long d)
{
    return sg_arch_syscall6(number, (const long[6]){a, b, c, d, 0, 0});
}

static inline void *sg_arch_thread_pointer(void)
{
    void *self;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(self)); /* volatile: a thread switch changes it */
    return self;
}

/* Always possible for user code: `fast` does not matter here. */
static inline void sg_arch_set_thread_pointer(void *self, int fast)
{
    (void)fast;
    __asm__ volatile("msr tpidr_el0, %0" : : "r"(self) : "memory");
}

static inline int sg_arch_sets_thread_pointer(void)
{
    return 1;
}

static inline void *sg_arch_stack_pointer(void)
{
    void *sp;
    __asm__ volatile("mov %0, sp" : "=r"(sp));
    return sp;
}

/* The registers of a program interrupted by a signal. */
static inline uint64_t sg_arch_context_pc(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

static inline void sg_arch_context_set_pc(ucontext_t *context, uint64_t pc)
{
    context->uc_mcontext.pc = pc;
}

/* Is there a call right before `address`, at least 7 bytes into the code? */
static inline bool sg_arch_is_behind_call(uint64_t address)
{
    if (address % 4 != 0)
        return false;
    uint32_t before = ((const uint32_t *)(uintptr_t)address)[-1];
    return (before & 0xfc000000) == 0x94000000 || (before & 0xfffffc1f) == 0xd63f0000; /* bl, blr */
}

static inline uint64_t sg_arch_context_sp(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

/* The calls that the kernel of this architecture has under newer names only. */
/* The kernel cannot trap reads of the counter here: a program that reads cntvct_el0 sees the host's. */
static inline void sg_arch_trap_counter(void)
{
}

static inline bool sg_arch_read_counter(ucontext_t *context, uint64_t (*clock)(const void *site),
                                        uint32_t processor)
{
    (void)context;
    (void)clock;
    (void)processor;
    return false;
}

static inline long sg_arch_rename(const char *from, const char *to)
{
    return sg_arch_syscall(SYS_renameat2, -100 /* AT_FDCWD */, (long)from, -100, (long)to);
}

static inline long sg_arch_unlink(const char *path)
{
    return sg_arch_syscall(SYS_unlinkat, -100 /* AT_FDCWD */, (long)path, 0, 0);
}

/* Defines __wrap_NAME: calls ASK("NAME", caller) and continues to __real_NAME with the same arguments. */
#define SG_ARCH_FORWARD(name, ask)                                                                           \
    __asm__(".text\n"                                                                                        \
            ".p2align 2\n"                                                                                   \
            ".globl __wrap_" #name "\n"                                                                      \
            ".type __wrap_" #name ", @function\n"                                                            \
            "__wrap_" #name ":\n"                                                                            \
            "    stp x29, x30, [sp, #-208]!\n"                                                               \
            "    stp x0, x1, [sp, #16]\n    stp x2, x3, [sp, #32]\n"                                         \
            "    stp x4, x5, [sp, #48]\n    stp x6, x7, [sp, #64]\n"                                         \
            "    stp q0, q1, [sp, #80]\n    stp q2, q3, [sp, #112]\n"                                        \
            "    stp q4, q5, [sp, #144]\n    stp q6, q7, [sp, #176]\n"                                       \
            "    adrp x0, 1f\n    add x0, x0, :lo12:1f\n"                                                    \
            "    mov x1, x30\n"                                                                              \
            "    bl " #ask "\n"                                                                              \
            "    ldp q6, q7, [sp, #176]\n    ldp q4, q5, [sp, #144]\n"                                       \
            "    ldp q2, q3, [sp, #112]\n    ldp q0, q1, [sp, #80]\n"                                        \
            "    ldp x6, x7, [sp, #64]\n    ldp x4, x5, [sp, #48]\n"                                         \
            "    ldp x2, x3, [sp, #32]\n    ldp x0, x1, [sp, #16]\n"                                         \
            "    ldp x29, x30, [sp], #208\n"                                                                 \
            "    b __real_" #name "\n"                                                                       \
            ".size __wrap_" #name ", .-__wrap_" #name "\n"                                                   \
            ".section .rodata\n"                                                                             \
            "1:  .string \"" #name "\"\n"                                                                    \
            ".text\n");

#endif
