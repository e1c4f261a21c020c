/* Signals: a crash of the program becomes a result with its location; SIGTERM becomes a timeout. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "sg_alloc.h"
#include "sg_arch.h"
#include "sg_bare.h"
#include "sg_inline.h"
#include "sg_omp.h"
#include "sg_signal.h"
#include "sg_throw.h"

#define ALTERNATE_STACK (256u << 10)
#define GUARD           4096u

static const char *name_of(int number)
{
    switch (number) {
    case SIGSEGV:
        return "SIGSEGV (invalid memory access)";
    case SIGBUS:
        return "SIGBUS (invalid memory access)";
    case SIGFPE:
        return "SIGFPE (arithmetic fault)";
    case SIGILL:
        return "SIGILL (illegal instruction)";
    case SIGABRT:
        return "SIGABRT (abort)";
    case SIGTERM:
        return "SIGTERM (terminated)";
    case SIGKILL:
        return "SIGKILL (killed)";
    default:
        return strsignal(number);
    }
}

int sg_fault_action(int number, const struct sigaction *action, struct sigaction *before)
{
    typedef int function(int, const struct sigaction *, struct sigaction *);
    function *real = (function *)dlsym(RTLD_NEXT, "sigaction");
    return real(number, action, before);
}

static void set_action(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_flags = flags};
    if (handler != NULL)
        action.sa_sigaction = handler;
    sg_fault_action(number, &action, NULL);
}

/* ---- exceptions of C++ ---- */

/* Where the exception that the running thread handles was thrown. */
static const void *place_of_throw(const sg_type *type, const void *otherwise)
{
    const sg_exception *head = __cxa_get_globals != NULL ? __cxa_get_globals()->caught : NULL;
    const void *place = NULL;
    if (head != NULL && sg_thrown_at != NULL)
        place = sg_thrown_at((head->class & 255) == 1 ? head->primary : head + 1, type);
    return place != NULL ? place : otherwise;
}

/* Describes the exception that the running thread handles or nobody catches, and where it was thrown; false:
 * none. */
static bool tell_exception(char *text, size_t size, const sg_processor *p)
{
    const sg_type *type = __cxa_current_exception_type != NULL ? __cxa_current_exception_type() : NULL;
    if (type == NULL)
        return false;
    const char *name = type->name + (type->name[0] == '*');
    char *plain = __cxa_demangle != NULL ? __cxa_demangle(name, NULL, NULL, NULL) : NULL;
    const void *place = place_of_throw(type, p->site);
    snprintf(text, size, "an exception of type %s, thrown at 0x%llx", plain != NULL ? plain : name,
             (unsigned long long)(uintptr_t)place);
    return true;
}

/* The C++ library aborts when nobody catches an exception; when the program itself aborts, `context` is
 * missing. */
static void tell_end(char *message, size_t size, int number, const sg_processor *p, const ucontext_t *context)
{
    char exception[400];
    const sg_team *team = p->thread != NULL ? p->thread->team : NULL;
    bool any = number == SIGABRT && tell_exception(exception, sizeof exception, p);
    if (any && context != NULL && team != NULL && team->level > 0)
        snprintf(
            message, size,
            "%s, was not caught in the parallel region at 0x%llx, which no exception may leave (SIGABRT on "
            "processor %u)",
            exception, (unsigned long long)(uintptr_t)team->site, p->id);
    else if (any && context != NULL)
        snprintf(message, size, "%s, was not caught (SIGABRT on processor %u)", exception, p->id);
    else
        snprintf(message, size, "the program ended with %s on processor %u at 0x%llx%s%s", name_of(number),
                 p->id, (unsigned long long)(uintptr_t)p->site, any ? " while it handled " : "",
                 any ? exception : "");
}

/* Number of the thread whose guard page holds `address`, or -1. */
static int guard_of(uint64_t address)
{
    for (uint32_t i = 0; i < sg->threads; i++) {
        uint64_t low = (uint64_t)(uintptr_t)sg->thread[i]->stack_low;
        if (low != 0 && address >= low && address < low + GUARD)
            return (int)i;
    }
    return -1;
}

/* End of the program's own code: ours comes after it, and has left addresses of its functions on the
 * stack. */
static uint64_t end_of_code(void)
{
    const uint64_t longest = 4096; /* of a block, roughly */
    uint64_t last = sg->blocks_count > 1 ? sg->block_address[sg->blocks_count - 1] : 0;
    return last != 0 && last + longest < sg->text_high ? last + longest : sg->text_high;
}

/* Is `value` a return address in the program's own code? Libraries leave other addresses of it on the stack:
 * functions, starts of segments. */
static bool is_return_address(uint64_t value)
{
    return value > sg->text_low + 7 && value < end_of_code() && sg_arch_is_behind_call(value);
}

/* The newest return address on the stack that lies in the program, for faults inside a library. */
static const void *caller_on_stack(const sg_processor *p, uint64_t sp)
{
    if (p->thread == NULL || p->thread->stack_low == NULL)
        return p->site;
    uint64_t low = (uint64_t)(uintptr_t)p->thread->stack_low + GUARD, high = low + p->thread->stack_size;
    if (sp < low || sp >= high || sp % 8 != 0)
        return p->site;
    for (uint64_t at = sp; at < high && at < sp + 16384; at += 8) {
        uint64_t value = *(const uint64_t *)at;
        if (is_return_address(value))
            return (const void *)value;
    }
    return p->site;
}

const void *sg_fault_caller(const void *site)
{
    uint64_t at = (uint64_t)(uintptr_t)site;
    if (at > sg->text_low && at < end_of_code())
        return site;
    return caller_on_stack(sg_now, (uint64_t)(uintptr_t)__builtin_frame_address(0) & ~7ull);
}

/* Writes "rank 2: " if the program passes messages; returns its length. */
static size_t name_rank(const sg_processor *p, char *text, size_t size)
{
    *text = '\0';
    return sg->ranks == 0 ? 0 : (size_t)snprintf(text, size, "rank %u: ", p->id / sg->own_processors);
}

/* Reports that signal `number` ends the program, then lets the signal take its default action. An address of
 * UINT64_MAX means that the processor reports none. */
static void crash(int number, uint64_t address, const ucontext_t *context)
{
    enum sg_status status = SG_STATUS_CRASHED;
    sg_processor *p = sg_now;
    char text[832], *message = text + name_rank(p, text, 32);
    const size_t size = 800;
    uint64_t at = context != NULL ? sg_bare_origin(sg_arch_context_pc(context)) : 0;
    int guard = number == SIGSEGV || number == SIGBUS ? guard_of(address) : -1;
    if (p->coroutine != NULL) {
        if (at >= sg->text_low && at < sg->text_high) {
            p->site = (const void *)(at + 1); /* sites are return addresses */
            sg_inline_crashed(p, at);
        } else if (context != NULL)
            p->site = caller_on_stack(p, sg_arch_context_sp(context));
    }
    uint64_t site = (uint64_t)(uintptr_t)p->site;
    if (guard >= 0) {
        status = SG_STATUS_STACK_OVERFLOW;
        snprintf(message, size,
                 "thread %d ran over its stack of %llu bytes at 0x%llx: raise the stack size of the run, or "
                 "make the recursion or the automatic arrays smaller",
                 guard, (unsigned long long)sg->thread[guard]->stack_size, (unsigned long long)site);
    } else if (sg->arena_exhausted) {
        status = SG_STATUS_OUT_OF_MEMORY;
        snprintf(message, size,
                 "the program asked for %llu bytes more than the %llu bytes of memory the run may use, then "
                 "ended with %s",
                 (unsigned long long)sg->arena_request, (unsigned long long)sg->config.arena_bytes,
                 name_of(number));
    } else {
        tell_end(message, size, number, p, context);
        size_t used = strlen(message);
        if ((number == SIGSEGV || number == SIGBUS) && address != UINT64_MAX)
            snprintf(message + used, size - used, ", address 0x%llx", (unsigned long long)address);
    }
    sg->finished = true;
    sg->report(status, text, number);
    sg_say(text);
    if (_IO_ftrylockfile(stdout) == 0)
        fflush(stdout);
    set_action(number, NULL, 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    long self = sg_arch_syscall(SYS_getpid, 0, 0, 0, 0), thread = sg_arch_syscall(SYS_gettid, 0, 0, 0, 0);
    sg_arch_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&set, 0, 8);
    sg_arch_syscall(SYS_tgkill, self, thread, number, 0);
    sg_arch_syscall(SYS_exit_group, 128 + number, 0, 0, 0);
}

/* Did the program read the time-stamp counter? It counts cycles of the simulated machine. */
static bool reads_counter(int number, const siginfo_t *info, ucontext_t *context)
{
    if (number != SIGSEGV || info->si_code != SI_KERNEL || sg->finished)
        return false;
    if (sg_now->coroutine != NULL)
        sg_charge(sg_now, SG_CATEGORY_BUSY_INT, 1); /* a counter read in a loop must move */
    return sg_arch_read_counter(context, sg_clock_now, sg_now->id);
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    if (reads_counter(number, info, context))
        return;
    set_action(number, NULL, 0); /* a fault in here must not recurse */
    if (!sg->finished)
        crash(number, info->si_code == SI_KERNEL ? UINT64_MAX : (uint64_t)(uintptr_t)info->si_addr, context);
}

/* Asks the running processor to stop at its next block; outside blocks, stops right here. */
static void on_stop(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)context;
    if (sg->finished)
        return;
    if (number == SIGALRM) {
        sg->timeout();
    }
    sg->stop_signal = number;
    sg_now->limit = 0;
    struct itimerval soon = {.it_value = {.tv_usec = 300000}};
    sg_arch_syscall(SYS_setitimer, ITIMER_REAL, (long)&soon, 0, 0);
    set_action(SIGALRM, on_stop, SA_SIGINFO | SA_ONSTACK);
}

/* A resource limit set by the user. */
static void on_limit(int number, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    if (sg->finished)
        return;
    sg_stop(number == SIGXCPU ? SG_STATUS_TIMEOUT : SG_STATUS_CRASHED, "the run has reached %s",
            number == SIGXCPU
                ? "its limit of processor time (ulimit -t, RLIMIT_CPU): raise that, or make the "
                  "problem smaller"
                : "the limit of a file's size (ulimit -f, RLIMIT_FSIZE): raise that, or write less");
}

void sg_fault_watch(int number)
{
    set_action(number, on_crash, SA_SIGINFO | SA_ONSTACK | SA_NODEFER);
}

void sg_fault_end(int number)
{
    crash(number, 0, NULL);
    __builtin_unreachable();
}

void sg_fault_open(void)
{
    sg_alloc_caller = sg_fault_caller;
    stack_t stack = {.ss_sp = sg_new(ALTERNATE_STACK + (1u << 18)), .ss_size = ALTERNATE_STACK};
    sigaltstack(&stack, NULL);
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        sg_fault_watch(fatal[i]);
    if (sg->alone)
        return; /* there, SIGTERM is not a time limit, and child processes read the host's counter */
    sg_arch_trap_counter();
    set_action(SIGTERM, on_stop, SA_SIGINFO | SA_ONSTACK | SA_RESTART);
    set_action(SIGXCPU, on_limit, SA_SIGINFO | SA_ONSTACK);
    set_action(SIGXFSZ, on_limit, SA_SIGINFO | SA_ONSTACK);
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    sg_fault_action(SIGPIPE, &ignored, NULL); /* failing calls raise it in their thread: sg_files.c */
}

/* ---- the program's own calls that end it: the host thread that would get the signal sleeps ---- */

void __wrap_abort(void) __attribute__((noreturn));
int __wrap_raise(int number);
void __wrap___assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
    __attribute__((noreturn));
void __wrap___stack_chk_fail(void) __attribute__((noreturn));

void (*sg_fault_deliver)(int number) = NULL;

void sg_fault_raise(int number)
{
    if (sg_now->coroutine != NULL && !sg->alone && sg_fault_deliver != NULL) {
        sg_fault_deliver(number);
        return;
    }
    struct sigaction now;
    if (number == SIGKILL)
        crash(number, 0, NULL);
    sg_fault_action(number, NULL, &now);
    if ((now.sa_flags & SA_SIGINFO) && (now.sa_sigaction == on_crash || now.sa_sigaction == on_stop))
        crash(number, 0, NULL);
    sg_arch_syscall(SYS_tgkill, sg_arch_syscall(SYS_getpid, 0, 0, 0, 0),
                    sg_arch_syscall(SYS_gettid, 0, 0, 0, 0), number, 0);
}

SG_API void __wrap_abort(void)
{
    sg_now->site = SG_CALLER;
    sg_fault_raise(SIGABRT);
    crash(SIGABRT, 0, NULL);
    __builtin_unreachable();
}

SG_API int __wrap_raise(int number)
{
    sg_now->site = SG_CALLER;
    if (number < 1 || number > 64)
        return errno = EINVAL, -1;
    sg_fault_raise(number);
    return 0;
}

SG_API void __wrap___assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    fflush(NULL);
    fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name, file, line,
            function, assertion);
    sg_now->site = SG_CALLER;
    sg_fault_raise(SIGABRT);
    crash(SIGABRT, 0, NULL);
    __builtin_unreachable();
}

SG_API void __wrap___stack_chk_fail(void)
{
    fflush(NULL);
    fputs("*** stack smashing detected ***: terminated\n", stderr);
    crash(SIGABRT, 0, NULL);
    __builtin_unreachable();
}
