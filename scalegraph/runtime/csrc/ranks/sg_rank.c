/* How ranks begin, take turns and end. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "sg_alloc.h"
#include "sg_arch.h"
#include "sg_library.h"
#include "sg_lockstep.h"
#include "sg_message.h"
#include "sg_omp.h"
#include "sg_rank.h"

/* The program's main and its arguments. */
static struct {
    int (*run)(int argc, char **argv, char **envp);
    int (*in_frame)(int (*run)(void));
    int argc;
    char **argv, **envp;
    char **given;           /* the original arguments: rank 0 may change its own before the others begin */
    size_t pointers, texts; /* bytes of the pointers and of the strings in argv */
    size_t room;            /* for both, per rank */
} program = {.run = NULL};

/* ---- turns ---- */

static void leave(sg_rank *rank)
{
    rank->omp = sg->omp;
    rank->locks = sg->locks;
    rank->futexes = sg->futexes;
    rank->files = sg->files;
    rank->signals = sg->signals;
}

static void enter(sg_rank *rank)
{
    sg->omp = rank->omp;
    sg->locks = rank->locks;
    sg->futexes = rank->futexes;
    sg->files = rank->files;
    sg->signals = rank->signals;
    sg_alloc_heap(rank->heap);
    sg->rank = rank;
}

/* Called by the scheduler when a thread of `rank` runs next; `away`: it needs no static data. */
static void turn_to(sg_rank *rank, bool away)
{
    if (sg->rank != rank) {
        leave(sg->rank);
        enter(rank);
    }
    if (away || sg->mapped == rank)
        return;
    sg_image_exchange(sg->mapped->image, rank->image);
    sg->mapped = rank;
}

/* Exchanging data takes the host some microseconds, so it is not done at each reference. Ranks on different
 * nodes share no memory, and their messages are handled in order of simulated time anyway. Ranks of one node
 * interact in caches and memory, so they run ahead of each other by this much only. Threads of a rank run in
 * exact order. */
#define AHEAD_IN_NODE 20000ull
#define AHEAD         (1ull << 40)

/* From this many ranks, turns are faster with large host pages. */
#define MANY 64u

static uint64_t run_quantum = 0; /* as configured */

static bool have_shared = false;

bool sg_ranks_have_shared(void)
{
    return have_shared;
}

void sg_ranks_serve(void)
{
    sg->defers = false;
    sg_settle();
}

void sg_ranks_share(bool exact)
{
    have_shared |= exact;
    uint64_t ahead = exact ? 0 : AHEAD_IN_NODE;
    sg_ranks_serve();
    if (run_quantum == 0 || sg->slack >> SG_KEY_BITS <= ahead) /* they run ahead no further than this */
        return;
    sg->slack = ahead << SG_KEY_BITS;
    if (!sg->grouped)
        sg->config.quantum_cycles = exact ? run_quantum : ahead;
    sg_refresh_limit(sg_now);
}

static void let_run_ahead(void)
{
    if (sg->ranks < 2)
        return;
    run_quantum = sg->config.quantum_cycles;
    bool apart = sg->config.node_processors == sg->own_processors;
    uint64_t ahead = apart ? AHEAD : AHEAD_IN_NODE;
    sg->slack = ahead << SG_KEY_BITS;
    sg->grouped = sg->own_processors > 1;
    if (!sg->grouped)
        sg->config.quantum_cycles = ahead;
    sg->defers = apart && sg->own_processors == 1 && !sg->lockstep;
}

/* With thousands of threads, stacks are smaller so that all fit. */
static void share_stacks(void)
{
    const uint64_t room = SG_OWN_HEAP_BASE - SG_STACK_BASE;
    bool many = sg->ranks > 4096 || sg->processors * sg_stack_stride() > room;
    while (many && sg->most_threads * sg_stack_stride() > room)
        sg->config.stack_bytes /= 2;
}

static void give_places(sg_thread *t)
{
    t->places = t->rank->places;
}

void sg_ranks_open(void)
{
    static const sg_observer ranks = {.name = "ranks", .thread_begins = give_places};
    sg->ranks = sg->config.ranks;
    sg->own_processors = sg->processors;
    share_stacks();
    if (sg->ranks == 0)
        return;
    sg->lockstep = sg->config.lockstep != 0;
    if (sg->processors % sg->ranks != 0)
        sg_stop(SG_STATUS_INTERNAL, "%u processors cannot be shared out to %u ranks", sg->processors,
                sg->ranks);
    sg->own_processors = sg->processors / sg->ranks;
    let_run_ahead();
    if (sg->ranks >= MANY) {
        sg_alloc_own_is_much();
        sg_own_is_much();
    }
    sg->turn_to = turn_to;
    sg->rank_exit = sg_rank_exit;
    sg_image_open();
    sg_messages_open();
    sg->all_ranks = sg_new(sg->ranks * sizeof(sg_rank *));
    size_t places = (sg->processors + 63) / 64 * sizeof(uint64_t);
    for (uint32_t i = 0; i < sg->ranks; i++) {
        sg_rank *rank = sg->all_ranks[i] = sg_new(sizeof *rank + places);
        rank->number = i;
        rank->first_processor = i * sg->own_processors;
        rank->eager_bytes = sg->config.eager_bytes;
        rank->near_eager_bytes = sg->config.message_near_eager_bytes;
        if (rank->near_eager_bytes == 0)
            rank->near_eager_bytes = rank->eager_bytes;
        for (uint32_t p = rank->first_processor; p < rank->first_processor + sg->own_processors; p++)
            rank->places[p / 64] |= 1ull << p % 64;
    }
    sg_observer_register(&ranks);
    sg->rank = sg->mapped = sg->all_ranks[0]; /* the constructors run as this rank */
}

/* ---- start ---- */

extern void (*const __init_array_start[])(int, char **, char **);
extern void (*const __init_array_end[])(int, char **, char **);

/* Runs the constructors of the program and its libraries, which rank 0 ran before the simulation: they cost
 * nothing here either. */
static void construct(int argc, char **argv)
{
    sg_processor *p = sg_now;
    sg_now = &sg_idle_processor;
    sg_libraries_construct(argc, argv, program.envp);
    for (void (*const *f)(int, char **, char **) = __init_array_start; f < __init_array_end; f++)
        (*f)(argc, argv, program.envp);
    sg_now = p;
}

#define ARGUMENTS (SG_ARGUMENT_BASE + 2 * SG_ARGUMENT_POINTERS)

/* Allocates memory for the arguments of all ranks. */
static void map_arguments(void)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    program.room = (program.pointers + program.texts + 8191) & ~4095ull;
    if (mmap((void *)ARGUMENTS, sg->ranks * program.room, PROT_READ | PROT_WRITE, flags, -1, 0) !=
        (void *)ARGUMENTS)
        sg_stop(SG_STATUS_INTERNAL, "no memory for the arguments of the ranks");
}

/* Copies the arguments of rank 0 for the running rank, at the same distance from its heap. */
static char **own_arguments(const sg_rank *rank)
{
    size_t count = (size_t)program.argc + 1;
    char *at = (char *)ARGUMENTS + rank->number * program.room;
    char **argv = (char **)at, *text = at + count * sizeof *argv;
    for (int i = 0; i < program.argc; i++) {
        argv[i] = strcpy(text, program.given[i]);
        text += strlen(text) + 1;
    }
    return argv;
}

static char **arguments_of_rank = NULL; /* of the rank that begins now */

static int call_main(void)
{
    return program.run(program.argc, arguments_of_rank, program.envp);
}

static void rank_main(void)
{
    char **argv = own_arguments(sg_rank_self());
    sg_image_reset(sg->rank->image);
    construct(program.argc, argv);
    arguments_of_rank = argv;
    exit(program.in_frame(call_main));
}

/* Sets up a rank's own state before its first turn. */
static void prepare(sg_rank *rank)
{
    struct sg_omp *omp = sg->omp;
    rank->image = sg_image_new(rank->number);
    rank->mailbox = sg_mailbox_new();
    if (rank->number == 0)
        return;
    rank->heap = sg_heap_new(rank->number);
    sg_omp_renew();
    rank->omp = sg->omp;
    sg->omp = omp;
}

/* The least host memory each rank takes: the kernel's and the C library's part of a thread, pages of its
 * stack and heap, and the simulator's records of it. */
#define LEAST_BYTES (48ull << 10)

static void check_host_memory(void)
{
    uint64_t each = LEAST_BYTES + sg_image_filled_bytes(), all = each * sg->ranks;
    uint64_t free = sg_host_free_bytes();
    if (all > free)
        sg_stop(SG_STATUS_OUT_OF_MEMORY,
                "%u ranks need at least %llu MiB of the host's memory, %llu KiB each with their initialized "
                "static data, but %llu MiB are free: run fewer ranks, or initialize less data",
                sg->ranks, (unsigned long long)(all >> 20), (unsigned long long)(each >> 10),
                (unsigned long long)(free >> 20));
}

void sg_ranks_start(int (*run)(int argc, char **argv, char **envp), int (*in_frame)(int (*run)(void)),
                    int argc, char **argv, char **envp)
{
    program.run = run;
    program.in_frame = in_frame;
    program.argc = argc;
    program.argv = argv;
    program.envp = envp;
    program.pointers = ((size_t)argc + 1) * sizeof *argv;
    program.given = sg_new(program.pointers);
    for (int i = 0; i < argc; i++) {
        size_t size = strlen(argv[i]) + 1;
        program.given[i] = memcpy(sg_new(size), argv[i], size);
        program.texts += size;
    }
    check_host_memory();
    map_arguments();
    sg_image_keep_libraries();
    for (uint32_t i = 0; i < sg->ranks; i++)
        prepare(sg->all_ranks[i]);
    sg_rank_memory_open();
    sg_rank *first = sg->all_ranks[0];
    first->main = sg_self();
    first->main->places = first->places;
    if (sg->lockstep)
        sg_step_open();
    sg_image_exchange(NULL, first->image);
    sg_thread_prepare(sg->ranks - 1);
    for (uint32_t i = 1; i < sg->ranks; i++) {
        sg_rank *rank = sg->all_ranks[i];
        sg_thread *t = rank->main = sg_thread_new();
        sg_thread_adopt_data(t);
        t->rank = rank;
        t->places = rank->places;
        sg_thread_start(t, rank_main, 0);
    }
}

/* ---- end ---- */

static void run_last_calls(sg_rank *rank)
{
    for (sg_last_call *call; (call = rank->last_calls) != NULL;) {
        rank->last_calls = call->next;
        call->function(call->argument);
    }
}

int sg_rank_exit(int status, const void *site, bool quick)
{
    static int first_failure = 0;
    static uint32_t ended = 0;
    sg_rank *rank = sg_rank_self();
    if (rank->ended)
        return first_failure;
    sg_settle();
    if (!quick)
        run_last_calls(rank);
    if (rank->name_end != NULL)
        rank->name_end(status, site);
    rank->ended = true;
    if (status != 0 && first_failure == 0)
        first_failure = status;
    if (++ended < sg->ranks)
        sg_thread_end();
    turn_to(sg->all_ranks[0], false); /* now the functions that its libraries registered before main */
    return first_failure;
}

/* The C library calls functions registered here once, when the process ends; a rank calls its own. Functions
 * registered by libraries that all ranks share stay with the C library. */
typedef int register_function(void (*)(void *), void *, void *);
extern void *__dso_handle __attribute__((visibility("hidden")));

int __cxa_atexit(void (*function)(void *), void *argument, void *library);
SG_API int __cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    bool ours = library == NULL || library == (void *)&__dso_handle || sg_libraries_have(library);
    if (sg == NULL || sg->rank == NULL || !ours) {
        register_function *real = (register_function *)dlsym(RTLD_NEXT, "__cxa_atexit");
        return real(function, argument, library);
    }
    sg_last_call *call = sg_new(sizeof *call);
    *call = (sg_last_call){sg->rank->last_calls, function, argument};
    sg->rank->last_calls = call;
    return 0;
}
