/* Region probes: what an instrumented source file includes (gcc -include sg_probe.h).
 *
 * SCALEGRAPH_SCOPE(id) declares a scope variable: the region `id` begins here and ends where the
 * enclosing block is left, whichever way. Region 0 is the program and needs no probe.
 * The probes cost no simulated time. */
#ifndef SG_PROBE_H
#define SG_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Enters region `id` on the calling processor. */
void __scalegraph_enter(unsigned id) __attribute__((nothrow));
/* Leaves region `id`, and every region inside it that was left by a jump. */
void __scalegraph_leave(unsigned id) __attribute__((nothrow));

/* Inlined before the compiler's own instrumentation runs, so that the variable needs no memory. */
static __inline__ __attribute__((always_inline, unused)) unsigned __scalegraph_begin(unsigned id)
{
    __scalegraph_enter(id);
    return id;
}

static __inline__ __attribute__((always_inline, unused)) void __scalegraph_end(const unsigned *id)
{
    __scalegraph_leave(*id);
}

#define SCALEGRAPH_PASTE2(a, b) a##b
#define SCALEGRAPH_PASTE(a, b)  SCALEGRAPH_PASTE2(a, b)
#define SCALEGRAPH_SCOPE(id)                                                                                 \
    const unsigned SCALEGRAPH_PASTE(__scalegraph_scope_, id)                                                 \
        __attribute__((cleanup(__scalegraph_end), unused)) = __scalegraph_begin(id)

#ifdef __cplusplus
}
#endif
#endif
