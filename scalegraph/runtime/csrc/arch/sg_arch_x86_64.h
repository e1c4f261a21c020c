/* Everything specific to x86-64 Linux: the stack switch, the thread pointer, raw calls. */
#ifndef SG_ARCH_X86_64_H
#define SG_ARCH_X86_64_H

#include <sys/auxv.h>
#include <sys/prctl.h>

/* The linker has placed a library's variable in the program: R_X86_64_COPY. */
#define SG_ARCH_COPIED 5

#ifdef SG_ARCH_DEFINE
__asm__(".text\n"
        ".p2align 4\n"
        ".globl sg_arch_switch\n"
        ".type sg_arch_switch, @function\n"
        "sg_arch_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size sg_arch_switch, .-sg_arch_switch\n");

void *sg_arch_new_stack(void *top, void (*entry)(void))
{
    uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)63);
    *--sp = 0; /* return address of entry: none */
    *--sp = (uint64_t)(uintptr_t)entry;
    for (int i = 0; i < 6; i++)
        *--sp = 0;
    return sp;
}
#endif

/* A system call that touches neither errno nor the thread pointer. */
static inline long sg_arch_syscall(long number, long a, long b, long c, long d)
{
    long result;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

static inline long sg_arch_syscall6(long number, const long a[6])
{
    long result;
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline void *sg_arch_thread_pointer(void)
{
    void *self;
    __asm__("movq %%fs:0, %0" : "=r"(self)); /* the ABI stores the pointer's own value there */
    return self;
}

/* `fast`: the kernel lets user code write the FS base (AT_HWCAP2, bit 1). */
static inline void sg_arch_set_thread_pointer(void *self, int fast)
{
    if (__builtin_expect(fast, 1))
        __asm__ volatile("wrfsbase %0" : : "r"(self) : "memory");
    else
        sg_arch_syscall(SYS_arch_prctl, 0x1002 /* ARCH_SET_FS */, (long)self, 0, 0);
}

static inline void *sg_arch_stack_pointer(void)
{
    void *sp;
    __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
    return sp;
}

static inline int sg_arch_sets_thread_pointer(void)
{
    return (getauxval(AT_HWCAP2) & 2 /* HWCAP2_FSGSBASE */) != 0;
}

/* The registers of a program interrupted by a signal. */
static inline uint64_t sg_arch_context_pc(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline void sg_arch_context_set_pc(ucontext_t *context, uint64_t pc)
{
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}

/* Is there a call right before `address`, at least 7 bytes into the code? Calls through registers and memory
 * have 2 to 7 bytes. */
static inline bool sg_arch_is_behind_call(uint64_t address)
{
    const uint8_t *behind = (const uint8_t *)(uintptr_t)address;
    if (behind[-5] == 0xe8)
        return true;
    for (int length = 2; length <= 7; length++)
        if (behind[-length] == 0xff && (behind[1 - length] >> 3 & 7) == 2)
            return true;
    return false;
}

static inline uint64_t sg_arch_context_sp(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

/* Makes instructions that read the time-stamp counter fault in this process. */
static inline void sg_arch_trap_counter(void)
{
    sg_arch_syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0);
}

/* Completes an instruction that reads the time-stamp counter (rdtsc, rdtscp) with the value of `clock`, on
 * `processor`; false if the interrupted instruction is another one. */
static inline bool sg_arch_read_counter(ucontext_t *context, uint64_t (*clock)(const void *site),
                                        uint32_t processor)
{
    greg_t *registers = context->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    bool ordered = code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9; /* rdtscp */
    if (!ordered && (code[0] != 0x0f || code[1] != 0x31))
        return false;
    uint64_t value = clock(code + (ordered ? 3 : 2));
    registers[REG_RAX] = (greg_t)(value & UINT32_MAX);
    registers[REG_RDX] = (greg_t)(value >> 32);
    if (ordered)
        registers[REG_RCX] = (greg_t)processor;
    registers[REG_RIP] += ordered ? 3 : 2;
    return true;
}

static inline long sg_arch_rename(const char *from, const char *to)
{
    return sg_arch_syscall(SYS_rename, (long)from, (long)to, 0, 0);
}

static inline long sg_arch_unlink(const char *path)
{
    return sg_arch_syscall(SYS_unlink, (long)path, 0, 0, 0);
}

/* Defines __wrap_NAME: calls ASK("NAME", caller) and continues to __real_NAME with the same arguments. */
#define SG_ARCH_FORWARD(name, ask)                                                                           \
    __asm__(".text\n"                                                                                        \
            ".globl __wrap_" #name "\n"                                                                      \
            ".type __wrap_" #name ", @function\n"                                                            \
            "__wrap_" #name ":\n"                                                                            \
            "    pushq %rdi\n    pushq %rsi\n    pushq %rdx\n    pushq %rcx\n"                               \
            "    pushq %r8\n    pushq %r9\n    pushq %rax\n"                                                 \
            "    movl $1f, %edi\n"                                                                           \
            "    movq 56(%rsp), %rsi\n"                                                                      \
            "    call " #ask "\n"                                                                            \
            "    popq %rax\n    popq %r9\n    popq %r8\n"                                                    \
            "    popq %rcx\n    popq %rdx\n    popq %rsi\n    popq %rdi\n"                                   \
            "    jmp __real_" #name "\n"                                                                     \
            ".size __wrap_" #name ", .-__wrap_" #name "\n"                                                   \
            ".section .rodata\n"                                                                             \
            "1:  .string \"" #name "\"\n"                                                                    \
            ".text\n");

#endif
