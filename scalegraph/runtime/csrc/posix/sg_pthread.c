/* The program's threads: creating, ending, joining, cancelling. */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include "sg_posix.h"
#include "sg_signal.h"

/* ---- thread end ---- */

/* Runs the destructors the compiler registered for C++ thread_local variables. */
void sg_posix_destroy_data(void)
{
    sg_posix *posix = sg_posix_of(sg_self());
    for (sg_destructor *d; (d = posix->destructors) != NULL;) {
        posix->destructors = d->next;
        d->function(d->object);
        free(d);
    }
}

int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *library);
SG_API int __cxa_thread_atexit_impl(void (*function)(void *), void *object, void *library)
{
    (void)library;
    sg_thread *t = sg_self();
    if (t == NULL)
        return 0; /* at program startup: objects of the first host thread live until the end */
    sg_destructor *d = malloc(sizeof *d), **first = &sg_posix_of(t)->destructors;
    if (d == NULL)
        return -1;
    *d = (sg_destructor){*first, function, object};
    *first = d;
    return 0;
}

/* The thread_local variables of the exiting thread are destroyed first. */
SG_API void exit(int status)
{
    void (*real)(int) = (void (*)(int))dlsym(RTLD_NEXT, "exit");
    const void *site = SG_CALLER;
    if (sg_self() != NULL)
        sg_posix_destroy_data();
    if (sg->rank_exit != NULL && sg_self() != NULL)
        status =
            sg->rank_exit(status, sg_posix_of(sg_self())->returned ? NULL : sg_fault_caller(site), false);
    real(status);
    __builtin_unreachable();
}

/* Is `t` the last thread to end? Main counts until it has ended; idle OpenMP workers do not. */
static bool is_last(const sg_thread *t)
{
    if (t->id != 0 && sg->thread[0]->state != SG_ENDED)
        return false;
    for (uint32_t i = 0; i < sg->threads; i++) {
        const sg_thread *other = sg->thread[i];
        bool docked =
            other->state == SG_BLOCKED && other->wait_category == SG_CATEGORY_IDLE_SERIAL && !other->timed;
        if (other != t && other->state != SG_UNUSED && other->state != SG_ENDED && !docked)
            return false;
    }
    return true;
}

static void finish(void) __attribute__((noreturn));
static void finish(void)
{
    sg_thread *t = sg_self();
    sg_posix *posix = t->posix;
    posix->cancel_disabled = true;
    sg_posix_destroy_data();
    sg_keys_destroy(posix);
    sg_mutex_abandon_all(t);
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_THREAD, sg->config.thread_cycles);
    sg_touch(sg_now, t->variable, SG_WRITE, SG_CATEGORY_PRIM_THREAD);
    if (is_last(t)) /* from here on no other thread ends first */
        exit(0);
    posix->ended = true;
    if (posix->joiner != NULL && (posix->joiner->state == SG_BLOCKED ||
                                  posix->joiner->interrupted)) /* otherwise it is already on its way */
        sg_wake(posix->joiner, sg_now->clock);
    sg_thread_end();
}

/* The buffer of pthread_cleanup_push is the first part of a jmp_buf: without the signal mask, which is not
 * saved. */
extern void jump(void *buffer, int value) __asm__("__real_longjmp") __attribute__((noreturn));

/* Called for each frame that pthread_exit leaves: jumps to the handler that pthread_cleanup_push registered
 * in it, and after the last frame to the thread's end. */
static _Unwind_Reason_Code leave_frame(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                       struct _Unwind_Exception *exception, struct _Unwind_Context *context,
                                       void *argument)
{
    sg_posix *posix = argument;
    (void)version, (void)class, (void)exception;
    __pthread_unwind_buf_t *cleanup = posix->cleanups;
    bool at_end = (actions & _UA_END_OF_STACK) != 0;
    if (cleanup != NULL && (at_end || (uintptr_t)cleanup < (uintptr_t)_Unwind_GetCFA(context)))
        jump(cleanup, 1);
    if (at_end)
        jump(posix->end, 1);
    return _URC_NO_REASON;
}

static void swallowed(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception)
{
    (void)reason, (void)exception;
    sg_stop(SG_STATUS_CRASHED, "the program caught the end of a thread (pthread_exit, cancellation) with "
                               "catch (...) and did not throw it on");
}

static void unwind(sg_posix *posix) __attribute__((noreturn));
static void unwind(sg_posix *posix)
{
    posix->exiting = true;
    posix->unwinding.exception_class = 0;
    posix->unwinding.exception_cleanup = swallowed;
    _Unwind_ForcedUnwind(&posix->unwinding, leave_frame, posix);
    jump(posix->end, 1); /* for frames without unwind tables */
}

void sg_posix_exit(void *result)
{
    sg_posix *posix = sg_posix_of(sg_self());
    if (posix->start == NULL && posix->start_c11 == NULL && sg_self()->id != 0)
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the program called pthread_exit at 0x%llx inside a parallel region of "
                "OpenMP, which the simulator does not support",
                (unsigned long long)(uintptr_t)sg_now->site);
    posix->result = result;
    posix->cancel_disabled = true;
    unwind(posix);
}

SG_API void pthread_exit(void *result)
{
    if (!sg_enter(SG_CALLER))
        exit(0);
    sg_posix_exit(result);
}

SG_API void __pthread_register_cancel(__pthread_unwind_buf_t *buffer)
{
    if (sg_self() == NULL)
        return;
    sg_posix *posix = sg_posix_of(sg_self());
    buffer->__pad[0] = posix->cleanups;
    posix->cleanups = buffer;
}

SG_API void __pthread_unregister_cancel(__pthread_unwind_buf_t *buffer)
{
    if (sg_self() != NULL)
        sg_posix_of(sg_self())->cleanups = buffer->__pad[0];
}

SG_API void __pthread_unwind_next(__pthread_unwind_buf_t *buffer)
{
    sg_posix *posix = sg_posix_of(sg_self());
    posix->cleanups = buffer->__pad[0];
    unwind(posix);
}

/* ---- creating ---- */

static void thread_main(void)
{
    sg_posix *posix = sg_self()->posix;
    sg_touch(sg_now, sg_self()->variable, SG_READ, SG_CATEGORY_PRIM_THREAD);
    if (_setjmp(posix->end) == 0) {
        if (posix->start != NULL)
            posix->result = posix->start(posix->argument);
        else
            posix->result = (void *)(intptr_t)posix->start_c11(posix->argument);
    }
    finish();
}

int sg_posix_main(int (*run)(void))
{
    sg_posix *posix = sg_posix_of(sg_self());
    if (_setjmp(posix->end) == 0) {
        int status = run();
        posix->returned = true;
        return status;
    }
    finish();
}

/* Frees detached threads that have ended: they could not free the stack they were running on. */
static void free_ended(void)
{
    for (uint32_t i = 1; i < sg->threads; i++) {
        sg_thread *t = sg->thread[i];
        if (t->state == SG_ENDED && t->posix->detached)
            sg_thread_free(t);
    }
}

/* Stack size that the program requests (0: none); *stack is NULL if it leaves the address to us. */
static size_t stack_asked(const pthread_attr_t *attributes, void **stack)
{
    size_t size, usual;
    pthread_attr_t plain;
    *stack = NULL;
    if (attributes == NULL)
        return 0;
    pthread_attr_getstack(attributes, stack, &size);
    if ((uintptr_t)*stack + size == 0) /* the C library's way of saying none */
        *stack = NULL;
    pthread_attr_init(&plain);
    pthread_attr_getstacksize(&plain, &usual);
    pthread_attr_destroy(&plain);
    pthread_attr_getstacksize(attributes, &size);
    return *stack == NULL && size == usual ? 0 : size;
}

static const uint64_t *places_asked(const pthread_attr_t *attributes)
{
    cpu_set_t set;
    uint64_t *places = NULL;
    if (attributes == NULL || pthread_attr_getaffinity_np(attributes, sizeof set, &set) != 0)
        return sg_self()->places;
    uint32_t found = 0, asked = (uint32_t)CPU_COUNT(&set);
    if (asked == CPU_SETSIZE) /* none requested */
        return sg_self()->places;
    places = sg_new(SG_MAX_PROCESSORS / 8);
    for (uint32_t i = 0; i < sg->processors && i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) {
            places[i / 64] |= 1ull << i % 64;
            found++;
        }
    return found > 0 ? places : NULL;
}

int sg_posix_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                    int (*start_c11)(void *), void *argument)
{
    void *stack;
    int detached = 0;
    size_t size = stack_asked(attributes, &stack);
    sg_charge_site(sg_now, SG_CATEGORY_PRIM_THREAD, sg->config.thread_cycles);
    free_ended();
    sg_thread *t = sg_thread_new_on(stack, size);
    if (t == NULL)
        return EINVAL;
    sg_regions_reset(t, sg_region_lent(sg_self()));
    sg_posix *posix = sg_posix_of(t);
    posix->start = start;
    posix->start_c11 = start_c11;
    posix->argument = argument;
    if (attributes != NULL && pthread_attr_getdetachstate(attributes, &detached) == 0)
        posix->detached = detached == PTHREAD_CREATE_DETACHED;
    memcpy(posix->name, sg_posix_of(sg_self())->name, sizeof posix->name);
    t->places = places_asked(attributes);
    t->site = sg_now->site;
    *handle = (pthread_t)(uintptr_t)t->thread_pointer;
    sg_reference_range(handle, sizeof *handle, SG_WRITE, sg_now->site);
    sg_touch(sg_now, t->variable, SG_WRITE, SG_CATEGORY_PRIM_THREAD);
    sg_thread_start(t, thread_main, sg_now->clock);
    return 0;
}

SG_API int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*start)(void *),
                          void *argument)
{
    if (!sg_enter(SG_CALLER) && !sg_begin_early(SG_CALLER))
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the program creates a thread after it has ended, which the simulator does not support");
    return sg_posix_create(handle, attributes, start, NULL, argument);
}

/* ---- joining ---- */

int sg_posix_join(pthread_t handle, void **result, uint64_t deadline)
{
    sg_thread *t = sg_thread_of(handle), *self = sg_self();
    if (t == NULL)
        return ESRCH;
    sg_posix *posix = sg_posix_of(t);
    if (posix->detached || (posix->joiner != NULL && posix->joiner != self))
        return EINVAL;
    if (t == self || sg_posix_of(self)->joiner == t)
        return EDEADLK;
    sg_posix_test_cancel();
    while (!posix->ended) {
        if (sg_now->clock >= deadline)
            return ETIMEDOUT;
        posix->joiner = self;
        sg_posix_wait(SG_CATEGORY_IDLE_WAIT, t->variable, (int32_t)t->id, deadline);
        posix->joiner = NULL;
        sg_posix_test_cancel();
    }
    sg_touch(sg_now, t->variable, SG_READ, SG_CATEGORY_PRIM_THREAD);
    if (result != NULL)
        *result = posix->result;
    if (t->id != 0)
        sg_thread_free(t);
    return 0;
}

SG_API int pthread_join(pthread_t handle, void **result)
{
    return sg_enter(SG_CALLER) ? sg_posix_join(handle, result, SG_NEVER) : ESRCH;
}

SG_API int pthread_tryjoin_np(pthread_t handle, void **result)
{
    const sg_thread *t = sg_enter(SG_CALLER) ? sg_thread_of(handle) : NULL;
    if (t != NULL && t->posix != NULL && !t->posix->ended) {
        sg_touch(sg_now, t->variable, SG_READ, SG_CATEGORY_PRIM_THREAD);
        if (!t->posix->ended)
            return EBUSY;
    }
    return t == NULL ? ESRCH : sg_posix_join(handle, result, SG_NEVER);
}

SG_API int pthread_timedjoin_np(pthread_t handle, void **result, const struct timespec *time)
{
    if (time != NULL && !sg_is_time(time))
        return EINVAL;
    return sg_enter(SG_CALLER) ? sg_posix_join(handle, result, time ? sg_deadline(time) : SG_NEVER) : ESRCH;
}

SG_API int pthread_clockjoin_np(pthread_t handle, void **result, clockid_t clock, const struct timespec *time)
{
    (void)clock; /* all clocks show the same time */
    return pthread_timedjoin_np(handle, result, time);
}

int sg_posix_detach(pthread_t handle)
{
    sg_thread *t = sg_thread_of(handle);
    if (t == NULL)
        return ESRCH;
    if (sg_posix_of(t)->detached)
        return EINVAL;
    t->posix->detached = true;
    return 0;
}

SG_API int pthread_detach(pthread_t handle)
{
    return sg_enter(SG_CALLER) ? sg_posix_detach(handle) : ESRCH;
}

/* ---- cancelling ---- */

void sg_posix_test_cancel(void)
{
    sg_posix *posix = sg_posix_of(sg_self());
    if (posix->cancelled && !posix->cancel_disabled)
        sg_posix_exit(PTHREAD_CANCELED);
}

bool sg_posix_wait(enum sg_category category, uint64_t object, int32_t holder, uint64_t deadline)
{
    sg_posix *posix = sg_posix_of(sg_self());
    if (posix->cancelled && !posix->cancel_disabled) { /* meanwhile; nobody would wake it */
        sg_queue_remove(sg_self());
        return false;
    }
    posix->waits = true;
    bool woken = sg_suspend_until(category, object, holder, deadline);
    posix->waits = false;
    return woken;
}

SG_API void pthread_testcancel(void)
{
    if (sg_enter(SG_CALLER))
        sg_posix_test_cancel();
}

SG_API int pthread_cancel(pthread_t handle)
{
    sg_thread *t = sg_enter(SG_CALLER) ? sg_thread_of(handle) : NULL;
    if (t == NULL)
        return ESRCH;
    sg_posix *posix = sg_posix_of(t);
    sg_touch(sg_now, t->variable, SG_WRITE, SG_CATEGORY_PRIM_THREAD);
    posix->cancelled = true;
    if ((t->state == SG_BLOCKED || t->interrupted) && posix->waits && !posix->cancel_disabled) {
        sg_queue_remove(t);
        sg_wake(t, sg_now->clock);
    }
    if (t == sg_self())
        sg_touch(sg_now, t->variable, SG_READ, SG_CATEGORY_PRIM_THREAD);
    return 0;
}

SG_API int pthread_setcancelstate(int state, int *old)
{
    if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
        return EINVAL;
    sg_posix *posix = sg_self() != NULL ? sg_posix_of(sg_self()) : NULL;
    if (old != NULL)
        *old = posix != NULL && posix->cancel_disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    if (posix != NULL && !posix->exiting)
        posix->cancel_disabled = state == PTHREAD_CANCEL_DISABLE;
    return 0;
}

SG_API int pthread_setcanceltype(int type, int *old)
{
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS && sg_enter(SG_CALLER))
        sg_stop(SG_STATUS_UNSUPPORTED,
                "the program asked for asynchronous cancellation at 0x%llx, which the simulator does not "
                "support: a thread is cancelled where it waits and at pthread_testcancel",
                (unsigned long long)(uintptr_t)SG_CALLER);
    if (old != NULL)
        *old = PTHREAD_CANCEL_DEFERRED;
    return type == PTHREAD_CANCEL_DEFERRED || type == PTHREAD_CANCEL_ASYNCHRONOUS ? 0 : EINVAL;
}

/* ---- names ---- */

SG_API int pthread_setname_np(pthread_t handle, const char *name)
{
    sg_thread *t = sg_enter(SG_CALLER) ? sg_thread_of(handle) : NULL;
    if (t == NULL)
        return ESRCH;
    if (strlen(name) >= sizeof t->posix->name)
        return ERANGE;
    memcpy(sg_posix_of(t)->name, name, strlen(name) + 1);
    return 0;
}

SG_API int pthread_getname_np(pthread_t handle, char *name, size_t size)
{
    sg_thread *t = sg_enter(SG_CALLER) ? sg_thread_of(handle) : NULL;
    if (t == NULL)
        return ESRCH;
    if (size < sizeof t->posix->name)
        return ERANGE;
    const char *own = sg_posix_of(t)->name;
    snprintf(name, size, "%s", own[0] != 0 ? own : program_invocation_short_name);
    return 0;
}
