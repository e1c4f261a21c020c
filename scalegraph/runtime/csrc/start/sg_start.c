/* Start and end of a simulated program. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/personality.h>

#include "sg_alloc.h"
#include "sg_arch.h"
#include "sg_inline.h"
#include "sg_library.h"
#include "sg_numa.h"
#include "sg_observers.h"
#include "sg_omp.h"
#include "sg_rank.h"
#include "sg_rows.h"
#include "sg_signal.h"
#include "sg_start.h"
#include "sg_wire.h"

extern int real_main(int argc, char **argv, char **envp) __asm__("__real_main");

#define AGAIN "SCALEGRAPH_EXEC"

#ifdef SG_RUNTIME_DIGEST
/* Records which simulator a program was linked with, in a section that takes no memory. */
__asm__(".pushsection .scalegraph.runtime,\"\",@progbits\n"
        ".ascii \"" SG_RUNTIME_DIGEST "\"\n"
        ".popsection\n");

#include "sg_standalone.h" /* generated when the library is built, see runtime/library.py */
#else
static const char standalone_config[] = "";
#endif

/* Returns the path of the configuration for a program that runs by itself, without the simulator: a build's
 * own tools and tests. It gets one processor of a common machine; no costs are reported. */
static const char *standalone(char path[64])
{
    int file = memfd_create("scalegraph", MFD_CLOEXEC);
    size_t size = sizeof standalone_config - 1;
    if (file < 0 || write(file, standalone_config, size) != (ssize_t)size)
        return NULL;
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return path;
}

/* Restarts the program without address randomisation, once. Where that is forbidden, only the libraries'
 * addresses stay random. */
static void fix_addresses(char **argv)
{
    int persona = personality(0xffffffff);
    if (getenv(AGAIN) != NULL) {
        unsetenv(AGAIN);
        return;
    }
    if (persona == -1 || (persona & ADDR_NO_RANDOMIZE) ||
        personality((unsigned long)persona | ADDR_NO_RANDOMIZE) == -1)
        return;
    setenv(AGAIN, "1", 1);
    char *const *environment = environ;
    static char self[4096] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        sg_arch_syscall(SYS_execve, (long)self, (long)argv, (long)environment, 0);
    unsetenv(AGAIN);
}

/* Runs at exit, after all the program's own handlers: only now is the exit code known. */
static void note_exit(int status, void *unused)
{
    (void)unused;
    if (sg != NULL)
        sg->exit_code = status & 255;
}

static void open_runtime(char **argv)
{
    char error[512] = "";
    const char *path = getenv("SCALEGRAPH_CONFIG");
    char own[64];
    bool alone = path == NULL;
    if (alone && (path = standalone(own)) == NULL) {
        sg_say("this program was built for the simulator; start it with `scalegraph simulate` "
               "(SCALEGRAPH_CONFIG is not set)");
        sg_arch_syscall(SYS_exit_group, SG_EXIT_STATUS, 0, 0, 0);
    }
    if (!alone)
        fix_addresses(argv);
    sg = sg_new(sizeof(sg_context));
    sg->alone = alone;
    sg->report = sg_result_write;
    sg->deadlock = sg_stop_deadlock;
    sg->timeout = sg_stop_timeout;
    sg->host_start_ns = sg_host_ns();
    sg_alloc_own(true);
    if (sg_config_read(path, &sg->config, error, sizeof error) != 0)
        sg_stop(SG_STATUS_INTERNAL, "%s", error);
    if (alone) {
        close((int)strtol(strrchr(path, '/') + 1, NULL, 10));
        sg->config.result_path[0] = sg->config.blocks_path[0] = '\0';
    }
    if (sg->config.processors < 1 || sg->config.processors > SG_MAX_PROCESSORS)
        sg_stop(SG_STATUS_INTERNAL, "%s: run.processors is %u, expected 1 to %u", path, sg->config.processors,
                SG_MAX_PROCESSORS);
    sg->processors = sg->config.processors;
    sg->most_threads = sg->processors > SG_FEW_PROCESSORS ? SG_MAX_THREADS : SG_FEW_THREADS;
    sg->check = getenv("SG_CHECK") != NULL;
    sg->mem = sg_mem_create(&sg->config, error, sizeof error);
    if (sg->mem == NULL)
        sg_stop(SG_STATUS_INTERNAL, "%s", error);
    if (sg->config.wire != SG_WIRE_NONE) {
        sg->wire = sg_wire_create(&sg->config, error, sizeof error);
        if (sg->wire == NULL)
            sg_stop(SG_STATUS_INTERNAL, "%s", error);
    }
    sg->line_bytes = sg_mem_line_bytes(sg->mem);
    sg->uncached = sg_mem_is_free(&sg->config);
    sg_cost_open();
    sg_observers_open();
    sg_ranks_open();
    sg_sched_open();
    sg_numa_open();
    sg_posix_open();
    sg_observers_begin();
    sg_branch_open();
    sg_inline_begin(sg->uncached ? sg_uncached_begin() : sg_mem_filter(sg->mem, 0));
    sg_rows_open();
    sg_fault_open();
    sg_omp_open();
    sg_libraries_name();
    on_exit(note_exit, NULL);
    sg_alloc_own(false);
    if (sg->config.arena_bytes > 0)
        sg_alloc_limit(sg->config.arena_bytes);
}

/* First constructor and last destructor: those of the compiler's instrumentation call hooks. */
#pragma GCC diagnostic ignored "-Wprio-ctor-dtor"
__attribute__((constructor(1))) static void begin(int argc, char **argv, char **envp)
{
    (void)argc;
    (void)envp;
    if (sg == NULL)
        open_runtime(argv);
}

/* The process's arguments, for callers that do not receive them: a library's constructor runs before ours. */
static char **own_arguments(void)
{
    enum { MOST = 4096, TEXT = 1 << 17 };
    char **pointers = sg_new(MOST * sizeof *pointers), *text = sg_new(TEXT);
    int file =
        (int)sg_arch_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
    size_t size = 0, count = 0;
    for (long got; file >= 0 && size < TEXT - 1; size += (size_t)got)
        if ((got = sg_arch_syscall(SYS_read, file, (long)(text + size), (long)(TEXT - 1 - size), 0)) <= 0)
            break;
    if (file >= 0)
        sg_arch_syscall(SYS_close, file, 0, 0, 0);
    for (size_t at = 0; at < size && count < MOST - 1; at += strlen(text + at) + 1)
        pointers[count++] = text + at;
    return pointers;
}

static bool begin_early(const void *site)
{
    if (sg == NULL)
        open_runtime(own_arguments());
    if (sg->finished)
        return false;
    sg_sched_begin();
    sg_now->site = site;
    sg_mutex_begin();
    return true;
}

/* Runs before all constructors, even those of libraries. */
static void announce(int argc, char **argv, char **envp)
{
    (void)argc, (void)argv, (void)envp;
    sg_begin_early = begin_early;
    sg_libraries_note();
    sg_image_note_libraries();
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) = announce;

__attribute__((destructor(1))) static void end(void)
{
    if (sg != NULL)
        sg_finish();
}

/* ---- main runs as processor 0 ---- */

static struct {
    int argc;
    char **argv, **envp;
} arguments = {0};

static int call_main(void)
{
    return real_main(arguments.argc, arguments.argv, arguments.envp);
}

static void run_main(void)
{
    if (sg->ranks > 0)
        sg_ranks_start(real_main, sg_posix_main, arguments.argc, arguments.argv, arguments.envp);
    else
        sg_rank_memory_alone();
    exit(sg_posix_main(call_main));
}

static void *argument_memory(uint64_t at, size_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    void *memory = mmap((void *)at, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory != (void *)at)
        sg_stop(SG_STATUS_INTERNAL, "no memory for the arguments of the program");
    return memory;
}

/* The length of the environment shifts the host's stack, so the arguments are copied: outside the heap, where
 * the length of the program's name would shift its data, and with that name last. The pointers to the
 * environment follow them, as on a stack. */
static void copy_arguments(int argc, char **argv, char **envp)
{
    size_t pointers = (size_t)argc + 1, size = 0;
    for (int i = 0; i < argc; i++)
        size += strlen(argv[i]) + 1;
    for (char **e = envp; *e != NULL; e++)
        pointers++;
    char **copy = argument_memory(SG_ARGUMENT_BASE, (pointers + 1) * sizeof(char *));
    char *at = argument_memory(SG_ARGUMENT_BASE + SG_ARGUMENT_POINTERS, size + 1);
    for (int i = 1; i <= argc; i++) {
        const char *text = argv[i % argc];
        copy[i % argc] = strcpy(at, text);
        at += strlen(text) + 1;
    }
    arguments.argc = argc;
    arguments.argv = copy;
    arguments.envp = memcpy(copy + argc + 1, envp, (pointers - (size_t)argc) * sizeof(char *));
}

int __wrap_main(int argc, char **argv, char **envp);

SG_API int __wrap_main(int argc, char **argv, char **envp)
{
    copy_arguments(argc, argv, envp);
    if (sg_self() != NULL)
        sg_sched_continue(run_main);
    sg_sched_enter(run_main);
}

/* ---- ends that skip the destructors ---- */

#define QUICK_END(name)                                                                                      \
    extern void real_##name(int status) __asm__("__real_" #name) __attribute__((noreturn));                  \
    void __wrap_##name(int status) __attribute__((noreturn));                                                \
    SG_API void __wrap_##name(int status)                                                                    \
    {                                                                                                        \
        if (sg->rank_exit != NULL && sg_self() != NULL)                                                      \
            status = sg->rank_exit(status, sg_fault_caller(SG_CALLER), true);                                \
        sg->exit_code = status & 255;                                                                        \
        sg_finish();                                                                                         \
        real_##name(status);                                                                                 \
    }

QUICK_END(_exit)
QUICK_END(_Exit)
QUICK_END(quick_exit)
