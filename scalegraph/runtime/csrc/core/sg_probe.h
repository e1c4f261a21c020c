/* Region probes, prepended to an instrumented source file.
 *
 * SCALEGRAPH_SCOPE(id) declares a scope variable: region `id` of the file begins here and ends when the
 * enclosing block is left, by whatever path. The program itself is region 0 and needs no probe. If
 * SCALEGRAPH_SEPARATE is defined, a region's number is an address in the section .scalegraph.ids, which
 * the linker merges from all files: so the numbering belongs to the program. Probes cost only the
 * simulated time that the machine's `monitor` gives. */
#ifndef SG_PROBE_H
#define SG_PROBE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Enters region `id` on the calling processor. */
void __scalegraph_enter(unsigned id) __attribute__((nothrow));
/* The same for a statement that calls a function of a header; threads created there start in this region. */
void __scalegraph_enter_library(unsigned id) __attribute__((nothrow));
/* Leaves region `id`, and every region inside it that was left by a jump. */
void __scalegraph_leave(unsigned id) __attribute__((nothrow));

/* Inlined before the compiler's own instrumentation runs, so that the variable stays in a register. */
static __inline__ __attribute__((always_inline, unused)) unsigned __scalegraph_begin(unsigned id)
{
    __scalegraph_enter(id);
    return id;
}

static __inline__ __attribute__((always_inline, unused)) unsigned __scalegraph_begin_library(unsigned id)
{
    __scalegraph_enter_library(id);
    return id;
}

static __inline__ __attribute__((always_inline, unused)) void __scalegraph_end(const unsigned *id)
{
    __scalegraph_leave(*id);
}

#ifdef SCALEGRAPH_SEPARATE
extern const char __scalegraph_ids[] __attribute__((visibility("hidden")));
#define SCALEGRAPH_ID(id) ((unsigned)(unsigned long)&__scalegraph_ids[id])
#else
#define SCALEGRAPH_ID(id) ((unsigned)(id))
#endif

#define SCALEGRAPH_ENTER(id)         __scalegraph_enter(SCALEGRAPH_ID(id))
#define SCALEGRAPH_LEAVE(id)         __scalegraph_leave(SCALEGRAPH_ID(id))
#define SCALEGRAPH_LIBRARY_ENTER(id) __scalegraph_enter_library(SCALEGRAPH_ID(id))
#define SCALEGRAPH_SCOPE_OF(id, begin)                                                                       \
    const unsigned __scalegraph_scope_##id __attribute__((cleanup(__scalegraph_end), unused)) =              \
        begin(SCALEGRAPH_ID(id))
#define SCALEGRAPH_SCOPE(id)         SCALEGRAPH_SCOPE_OF(id, __scalegraph_begin)
#define SCALEGRAPH_LIBRARY_SCOPE(id) SCALEGRAPH_SCOPE_OF(id, __scalegraph_begin_library)

#ifdef __cplusplus
}
#endif
#endif
