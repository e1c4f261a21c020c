/* The program's signals: which it handles, which its threads block, which are pending. All simulated threads
 * share one host thread, so this is all kept here, per thread and, if there are ranks, per rank; a handler is
 * called as a function on the stack of the thread that gets the signal. Only signals raised by the processor
 * itself (an invalid memory access) come from the host. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include "sg_alloc.h"
#include "sg_arch.h"
#include "sg_bare.h"
#include "sg_signal.h"

enum { SIGNALS = 64 };

struct sg_signals {
    struct sigaction action[SIGNALS + 1];
    sg_signal_info *pending; /* for any thread that does not block them */
};

static uint64_t bit(int number)
{
    return 1ull << (number - 1);
}

uint64_t sg_signal_bits(const sigset_t *set)
{
    uint64_t bits;
    memcpy(&bits, set, sizeof bits);
    return bits & ~(bit(SIGKILL) | bit(SIGSTOP));
}

static void to_set(uint64_t bits, sigset_t *set)
{
    sigemptyset(set);
    memcpy(set, &bits, sizeof bits);
}

static bool is_number(int number)
{
    return number >= 1 && number <= SIGNALS;
}

/* Signals raised by the processor; the host's own table decides who gets them. */
static bool is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL || number == SIGTRAP;
}

/* Is the program running in the simulation? */
static bool is_simulated(void)
{
    return sg != NULL && !sg->alone && !sg->finished;
}

static void deliver(void);

static struct sg_signals *table(void)
{
    if (sg->signals == NULL) {
        sg->signals = sg_new(sizeof *sg->signals);
        sg->deliver_signals = deliver;
    }
    return sg->signals;
}

/* ---- pending signals ---- */

static void add_pending(sg_signal_info **list, int number, int code, union sigval value)
{
    sg_signal_info **at = list;
    for (; *at != NULL; at = &(*at)->next)
        if (number < SIGRTMIN && (*at)->info.si_signo == number)
            return; /* standard signals are not queued */
    bool own = sg_alloc_own(true);
    sg_signal_info *fresh = malloc(sizeof *fresh);
    sg_alloc_own(own);
    if (fresh == NULL)
        return;
    *fresh = (sg_signal_info){.next = NULL};
    fresh->info.si_signo = number;
    fresh->info.si_code = code;
    fresh->info.si_pid = getpid();
    fresh->info.si_uid = getuid();
    fresh->info.si_value = value;
    *at = fresh;
}

/* Takes the pending signal of `set` with the smallest number; false: none. */
static bool take_from(sg_signal_info **list, uint64_t set, siginfo_t *info)
{
    sg_signal_info **best = NULL;
    for (sg_signal_info **at = list; *at != NULL; at = &(*at)->next)
        if ((set & bit((*at)->info.si_signo)) != 0 &&
            (best == NULL || (*at)->info.si_signo < (*best)->info.si_signo))
            best = at;
    if (best == NULL)
        return false;
    sg_signal_info *taken = *best;
    *best = taken->next;
    *info = taken->info;
    free(taken);
    return true;
}

bool sg_signal_take(uint64_t set, siginfo_t *info)
{
    return take_from(&sg_posix_of(sg_self())->pending, set, info) || take_from(&table()->pending, set, info);
}

static uint64_t bits_pending(const sg_signal_info *list)
{
    uint64_t bits = 0;
    for (; list != NULL; list = list->next)
        bits |= bit(list->info.si_signo);
    return bits;
}

uint64_t sg_signal_pending(sg_thread *t)
{
    return bits_pending(sg_posix_of(t)->pending) | bits_pending(table()->pending);
}

uint64_t sg_signals_of(const sg_rank *rank)
{
    const struct sg_signals *signals = rank == NULL || rank == sg->rank ? sg->signals : rank->signals;
    uint64_t bits = signals != NULL ? bits_pending(signals->pending) : 0;
    for (uint32_t i = 0; i < sg->threads; i++)
        if (sg->thread[i]->posix != NULL && sg->thread[i]->rank == rank)
            bits |= bits_pending(sg->thread[i]->posix->pending);
    return bits;
}

static bool is_alive(const sg_thread *t)
{
    return t->state != SG_UNUSED && t->state != SG_ENDED && t->rank == sg->rank;
}

/* `t` has a signal that it does not block: it must handle it as soon as possible. */
static void notify(sg_thread *t)
{
    if (!t->signalled) {
        t->signalled = true;
        sg->signals_due++;
    }
    if (t != sg_self())
        sg_interrupt(t);
    sg_refresh_limit(sg_now);
}

/* ---- handling ---- */

static bool is_ignored(int number)
{
    const struct sigaction *action = &table()->action[number];
    bool usually = number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT ||
                   number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
    return (action->sa_handler == SIG_IGN && number != SIGKILL) || (action->sa_handler == SIG_DFL && usually);
}

/* Handles one signal in the running thread. Returns whether the interrupted call is restarted. */
static bool handle(siginfo_t *info)
{
    int number = info->si_signo;
    struct sigaction action = table()->action[number];
    sg_posix *posix = sg_posix_of(sg_self());
    if (is_ignored(number))
        return true;
    if (action.sa_handler == SIG_DFL)
        sg_fault_end(number);
    if (action.sa_flags & (int)SA_RESETHAND)
        table()->action[number].sa_handler = SIG_DFL;
    uint64_t before = posix->blocked;
    posix->blocked |= sg_signal_bits(&action.sa_mask) | (action.sa_flags & SA_NODEFER ? 0 : bit(number));
    sg_handling handling = {posix->handling, before, (uint64_t)(uintptr_t)__builtin_frame_address(0)};
    posix->handling = &handling;
    const void *site = sg_now->site;
    ucontext_t context = {.uc_flags = 0};
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(number, info, &context);
    else
        action.sa_handler(number);
    posix->handling = handling.outer;
    posix->blocked = before;
    sg_self()->broken = true;
    sg_now->site = site;
    return (action.sa_flags & SA_RESTART) != 0;
}

/* Handles the running thread's pending, unblocked signals. */
static void deliver(void)
{
    sg_thread *t = sg_self();
    siginfo_t info;
    if (t == NULL || !t->signalled)
        return;
    t->signalled = false;
    sg->signals_due--;
    t->restarts = true;
    t->broken = false;
    while (sg_signal_take(~sg_posix_of(t)->blocked, &info))
        t->restarts &= handle(&info);
    t->broken &= t->interrupted; /* otherwise no wait could have been ended by a handler */
    sg_refresh_limit(sg_now);
}

/* Changes the set of signals that the running thread blocks. */
void sg_signal_block(uint64_t blocked)
{
    sg_thread *t = sg_self();
    sg_posix_of(t)->blocked = blocked;
    if (sg->signals != NULL && (sg_signal_pending(t) & ~blocked) != 0) {
        notify(t);
        deliver();
    }
}

void sg_signals_left(uint64_t target)
{
    sg_posix *posix = sg_self()->posix;
    for (; posix != NULL && posix->handling != NULL && target > posix->handling->frame;
         posix->handling = posix->handling->outer)
        posix->blocked = posix->handling->before;
}

/* ---- sending ---- */

/* Is `t` in sigwait or a similar call for `number`? */
static bool awaits(const sg_thread *t, int number)
{
    return t->posix != NULL && (t->posix->awaited & bit(number)) != 0;
}

static void send_to(sg_thread *t, int number, int code, union sigval value)
{
    sg_posix *posix = sg_posix_of(t);
    if (is_ignored(number) && (posix->blocked & bit(number)) == 0 && !awaits(t, number))
        return;
    add_pending(&posix->pending, number, code, value);
    if (awaits(t, number)) {
        posix->awaited = 0;
        sg_wake(t, sg_now->clock);
    } else if ((posix->blocked & bit(number)) == 0) {
        notify(t);
    }
    sg_files_notify();
}

/* The thread that gets a signal sent to the process: first one in sigwait, then main, as on Linux, then any
 * that does not block it. */
static sg_thread *receiver(int number)
{
    sg_thread *main = sg->rank != NULL ? sg->rank->main : sg->thread[0];
    for (uint32_t i = 0; i < sg->threads; i++)
        if (is_alive(sg->thread[i]) && awaits(sg->thread[i], number))
            return sg->thread[i];
    if (is_alive(main) && (sg_posix_of(main)->blocked & bit(number)) == 0)
        return main;
    for (uint32_t i = 0; i < sg->threads; i++) {
        sg_thread *t = sg->thread[i];
        if (is_alive(t) && (sg_posix_of(t)->blocked & bit(number)) == 0)
            return t;
    }
    return NULL;
}

static void send_to_all(int number, int code, union sigval value)
{
    sg_thread *t = number == SIGKILL ? sg_self() : receiver(number);
    if (t != NULL) {
        send_to(t, number, code, value);
        return;
    }
    add_pending(&table()->pending, number, code, value);
    sg_files_notify();
}

/* A signal must not reach a thread in its past: the sender waits until the others have caught up. */
static void send(sg_thread *t, int number, int code, union sigval value)
{
    table();
    sg_turn_of_all(sg_now);
    if (t != NULL)
        send_to(t, number, code, value);
    else
        send_to_all(number, code, value);
    deliver();
}

void sg_signal_raise(int number)
{
    send(sg_self(), number, SI_TKILL, (union sigval){0});
}

/* sg_fault.c only knows it by this pointer. */
__attribute__((constructor)) static void announce(void)
{
    sg_fault_deliver = sg_signal_raise;
}

void sg_signal_process(int number, int code, union sigval value)
{
    send(NULL, number, code, value);
}

bool sg_signal_is_handled(int number)
{
    sighandler_t handler = sg->signals != NULL ? sg->signals->action[number].sa_handler : SIG_DFL;
    return handler != SIG_DFL && handler != SIG_IGN;
}

int __wrap_pthread_kill(pthread_t handle, int number);
SG_API int __wrap_pthread_kill(pthread_t handle, int number)
{
    sg_thread *t = sg_enter(SG_CALLER) ? sg_thread_of(handle) : NULL;
    if (t == NULL)
        return ESRCH;
    if (number < 0 || number > SIGNALS)
        return EINVAL;
    if (number != 0 && t->state != SG_ENDED)
        send(t, number, SI_TKILL, (union sigval){0});
    return 0;
}

int __wrap_pthread_sigqueue(pthread_t handle, int number, const union sigval value);
SG_API int __wrap_pthread_sigqueue(pthread_t handle, int number, const union sigval value)
{
    sg_thread *t = sg_enter(SG_CALLER) ? sg_thread_of(handle) : NULL;
    if (t == NULL)
        return ESRCH;
    if (number < 0 || number > SIGNALS)
        return EINVAL;
    if (number != 0 && t->state != SG_ENDED)
        send(t, number, SI_QUEUE, value);
    return 0;
}

/* ---- handlers ---- */

/* A fault for which the program has a handler. Skipped visits of a sampled run execute a copy of the code,
 * which exceptions cannot leave: the handler sees the place in the code itself. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    struct sigaction action = table()->action[number];
    sg_arch_context_set_pc(context, sg_bare_origin(sg_arch_context_pc(context)));
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
        sg_fault_watch(number); /* of another rank: the fault comes again */
    else if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(number, info, context);
    else
        action.sa_handler(number);
}

/* The host calls handlers of these signals immediately, in the middle of the thread. It must not keep the
 * signal blocked while other threads run. */
static void tell_host(int number, const struct sigaction *action)
{
    struct sigaction given = *action;
    given.sa_flags |= SA_NODEFER | SA_SIGINFO;
    given.sa_sigaction = on_fault;
    if (action->sa_handler == SIG_DFL)
        sg_fault_watch(number);
    else
        sg_fault_action(number, action->sa_handler == SIG_IGN ? action : &given, NULL);
}

SG_API int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict before)
{
    if (!is_simulated())
        return sg_fault_action(number, action, before);
    if (!is_number(number) || (action != NULL && (number == SIGKILL || number == SIGSTOP)))
        return errno = EINVAL, -1;
    struct sigaction old = table()->action[number];
    if (action != NULL) {
        table()->action[number] = *action;
        if (is_fault(number))
            tell_host(number, action);
    }
    if (before != NULL)
        *before = old;
    return 0;
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

SG_API sighandler_t signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, SA_RESTART);
}

SG_API sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, (int)SA_RESETHAND | SA_NODEFER);
}

/* ---- masks ---- */

static int change_mask(int how, const sigset_t *set, sigset_t *before)
{
    uint64_t blocked = sg_posix_of(sg_self())->blocked, old = blocked;
    if (set != NULL) {
        uint64_t bits = sg_signal_bits(set);
        if (how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
            return EINVAL;
        blocked = how == SIG_BLOCK ? blocked | bits : how == SIG_UNBLOCK ? blocked & ~bits : bits;
    }
    if (before != NULL)
        to_set(old, before);
    if (blocked != old)
        sg_signal_block(blocked);
    return 0;
}

static int host_mask(int how, const sigset_t *set, sigset_t *before)
{
    int (*real)(int, const sigset_t *, sigset_t *) =
        (int (*)(int, const sigset_t *, sigset_t *))dlsym(RTLD_NEXT, "pthread_sigmask");
    return real(how, set, before);
}

SG_API int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    if (!is_simulated() || !sg_enter(SG_CALLER))
        return host_mask(how, set, before);
    return change_mask(how, set, before);
}

SG_API int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    bool ours = is_simulated() && sg_enter(SG_CALLER);
    int error = ours ? change_mask(how, set, before) : host_mask(how, set, before);
    return error == 0 ? 0 : (errno = error, -1);
}

SG_API int sigpending(sigset_t *set)
{
    if (!is_simulated() || !sg_enter(SG_CALLER)) {
        to_set(0, set);
        return 0;
    }
    to_set(sg_signal_pending(sg_self()), set);
    return 0;
}
