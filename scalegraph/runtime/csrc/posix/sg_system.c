/* The files in which Linux describes the processors: /proc/cpuinfo, /proc/stat, /sys/devices/system/cpu and
 * node. A program that opens one gets what the simulated machine would report. They are written beside the
 * run's result on first use, and calls that name one are redirected. The definitions are weak: a program may
 * define functions with these names. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "sg_arch.h"
#include "sg_numa.h"
#include "sg_omp.h"

/* Not through the program's own close. */
static void close_file(int file)
{
    sg_arch_syscall(SYS_close, file, 0, 0, 0);
}

#define API __attribute__((visibility("default"), used, weak))

typedef struct sg_system {
    char root[SG_MAX_PATH];
    bool lists, details; /* what has been written: the lists of processors, the details of each */
} sg_system;

/* ---- writing ---- */

static int create(const char *name)
{
    char path[SG_MAX_PATH + 256];
    snprintf(path, sizeof path, "%s/%s", sg->system->root, name);
    return (int)sg_arch_syscall(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                0600);
}

static void make_directory(const char *name)
{
    char path[SG_MAX_PATH + 256];
    snprintf(path, sizeof path, "%s/%s", sg->system->root, name);
    mkdir(path, 0700);
}

__attribute__((format(printf, 2, 3))) static void put(const char *name, const char *format, ...)
{
    int file = create(name);
    if (file < 0)
        return;
    va_list list;
    va_start(list, format);
    vdprintf(file, format, list);
    va_end(list);
    close_file(file);
}

/* The processors in the same group as `of`, according to a group number. */
typedef struct sg_group_of {
    uint32_t (*number)(uint32_t processor, uint32_t size);
    uint32_t size, of;
} sg_group_of;

static bool is_in(const sg_group_of *group, uint32_t processor)
{
    return processor < sg->processors && group->number(processor, group->size) == group->of;
}

/* "0-3,8" */
static void put_list(const char *name, const sg_group_of *group)
{
    int file = create(name);
    const char *comma = "";
    for (uint32_t i = 0, end; file >= 0 && i < sg->processors; i = end) {
        for (end = i + 1; is_in(group, i) && is_in(group, end);)
            end++;
        if (is_in(group, i)) {
            dprintf(file, end - i > 1 ? "%s%u-%u" : "%s%u", comma, i, end - 1);
            comma = ",";
        }
    }
    if (file >= 0) {
        dprintf(file, "\n");
        close_file(file);
    }
}

/* "00000000,0000010f": 32 processors per word, the highest first. */
static void put_map(const char *name, const sg_group_of *group)
{
    int file = create(name);
    for (uint32_t word = (sg->processors + 31) / 32; file >= 0 && word-- > 0;) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < 32; i++)
            bits |= (uint32_t)is_in(group, 32 * word + i) << i;
        dprintf(file, "%08x%s", bits, word > 0 ? "," : "\n");
    }
    if (file >= 0)
        close_file(file);
}

/* ---- contents ---- */

static uint32_t by_size(uint32_t processor, uint32_t size)
{
    return processor / size;
}

static uint32_t by_node(uint32_t processor, uint32_t size)
{
    (void)size;
    return sg_mem_node_of(sg->mem, processor);
}

static uint32_t package_size(void)
{
    return sg_omp_place_size("sockets");
}

static const sg_group_of everybody = {by_size, SG_MAX_PROCESSORS, 0};

static void put_group(const char *directory, const char *list, const char *map, sg_group_of group)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", directory, list);
    put_list(name, &group);
    snprintf(name, sizeof name, "%s/%s", directory, map);
    put_map(name, &group);
}

static void put_number(const char *directory, const char *what, uint64_t value, const char *unit)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", directory, what);
    put(name, "%llu%s\n", (unsigned long long)value, unit);
}

static void describe_cache(uint32_t processor, uint32_t index)
{
    const sg_cache_level *level = &sg->config.level[index];
    uint32_t shared = level->shared_by > 0 ? level->shared_by : 1;
    uint32_t ways = level->ways > 0 ? level->ways : 1;
    char directory[64], name[96];
    snprintf(directory, sizeof directory, "cpu/cpu%u/cache/index%u", processor, index);
    make_directory(directory);
    put_number(directory, "level", index + 1, "");
    put_number(directory, "id", processor / shared, "");
    put_number(directory, "size", level->size_bytes / 1024, "K");
    put_number(directory, "coherency_line_size", level->line_bytes, "");
    put_number(directory, "ways_of_associativity", ways, "");
    put_number(directory, "number_of_sets", level->size_bytes / level->line_bytes / ways, "");
    snprintf(name, sizeof name, "%s/type", directory);
    put(name, index == 0 ? "Data\n" : "Unified\n");
    put_group(directory, "shared_cpu_list", "shared_cpu_map",
              (sg_group_of){by_size, shared, processor / shared});
}

static void describe_processor(uint32_t processor)
{
    uint32_t size = package_size();
    sg_group_of itself = {by_size, 1, processor}, package = {by_size, size, processor / size};
    char directory[64];
    snprintf(directory, sizeof directory, "cpu/cpu%u", processor);
    make_directory(directory);
    put_number(directory, "online", 1, "");
    snprintf(directory, sizeof directory, "cpu/cpu%u/topology", processor);
    make_directory(directory);
    put_number(directory, "core_id", processor % size, "");
    put_number(directory, "physical_package_id", processor / size, "");
    put_group(directory, "thread_siblings_list", "thread_siblings", itself);
    put_group(directory, "core_cpus_list", "core_cpus", itself);
    put_group(directory, "core_siblings_list", "core_siblings", package);
    put_group(directory, "package_cpus_list", "package_cpus", package);
    snprintf(directory, sizeof directory, "cpu/cpu%u/cache", processor);
    make_directory(directory);
    for (uint32_t i = 0; i < sg->config.levels; i++)
        describe_cache(processor, i);
}

static void describe_node(uint32_t node, uint32_t nodes)
{
    char directory[64], name[96], distances[8 * SG_POLICY_NODES] = "";
    size_t used = 0;
    snprintf(directory, sizeof directory, "node/node%u", node);
    make_directory(directory);
    put_group(directory, "cpulist", "cpumap", (sg_group_of){by_node, 0, node});
    for (uint32_t i = 0; i < nodes; i++)
        used += (size_t)snprintf(distances + used, sizeof distances - used, i == node ? "10 " : "20 ");
    snprintf(name, sizeof name, "%s/distance", directory);
    put(name, "%s\n", distances);
}

static void describe_lists(void)
{
    static const char *const of_processors[] = {"cpu/online", "cpu/possible", "cpu/present"};
    uint32_t nodes = sg_numa_nodes();
    for (int i = 0; i < 3; i++)
        put_list(of_processors[i], &everybody);
    put("cpu/offline", "\n");
    put("cpu/kernel_max", "%u\n", SG_MAX_PROCESSORS - 1);
    for (int i = 0; i < 2; i++)
        put(i == 0 ? "node/online" : "node/possible", nodes > 1 ? "0-%u\n" : "0\n", nodes - 1);
}

static void describe_all(void)
{
    for (uint32_t i = 0; i < sg->processors; i++)
        describe_processor(i);
    for (uint32_t i = 0; i < sg_numa_nodes(); i++)
        describe_node(i, sg_numa_nodes());
}

static void put_cpuinfo(void)
{
    const sg_config *config = &sg->config;
    uint32_t size = package_size();
    int file = create("cpuinfo");
    for (uint32_t i = 0; file >= 0 && i < sg->processors; i++) {
        uint32_t first = i / size * size, end = first + size < sg->processors ? first + size : sg->processors;
        dprintf(file,
                "processor\t: %u\nvendor_id\t: ScaleGraph\nmodel name\t: simulated processor\ncpu MHz\t\t: "
                "%.3f\ncache size\t: %llu KB\nphysical id\t: %u\nsiblings\t: %u\ncore id\t\t: %u\ncpu "
                "cores\t: %u\n\n",
                i, config->clock_hz / 1e6,
                (unsigned long long)config->level[config->levels - 1].size_bytes / 1024, i / size,
                end - first, i - first, end - first);
    }
    if (file >= 0)
        close_file(file);
}

/* Cycles a processor has been idle until `now`. */
static uint64_t idle_cycles(const sg_processor *p, uint64_t now)
{
    uint64_t idle = now > p->clock ? now - p->clock : 0;
    for (uint32_t region = 0; region < p->accounts_size; region++)
        for (int category = 0; p->accounts[region] != NULL && category < SG_CATEGORY_COUNT; category++)
            if (sg_category_group[category] == SG_GROUP_IDLE)
                idle += p->accounts[region]->rest.categories[category];
    return idle;
}

static void put_stat(void)
{
    uint64_t now = sg_now->clock, idle = 0;
    double tick = sg->config.clock_hz / (double)sysconf(_SC_CLK_TCK);
    int file = create("stat");
    if (file < 0)
        return;
    for (uint32_t i = 0; i < sg->processors; i++)
        idle += idle_cycles(&sg->processor[i], now);
    dprintf(file, "cpu  %.0f 0 0 %.0f 0 0 0 0 0 0\n", (double)(now * sg->processors - idle) / tick,
            (double)idle / tick);
    for (uint32_t i = 0; i < sg->processors; i++) {
        idle = idle_cycles(&sg->processor[i], now);
        dprintf(file, "cpu%u %.0f 0 0 %.0f 0 0 0 0 0 0\n", i, (double)(idle < now ? now - idle : 0) / tick,
                (double)idle / tick);
    }
    dprintf(file, "intr 0\nctxt 0\nbtime 0\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n");
    close_file(file);
}

/* ---- recognised paths ---- */

/* The part of `path` after the directory `prefix`; NULL: not in it. */
static const char *behind(const char *path, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(path, prefix, length) != 0 || (path[length] != 0 && path[length] != '/'))
        return NULL;
    return path + length;
}

static bool begin(void)
{
    if (sg->system == NULL) {
        sg->system = sg_new(sizeof *sg->system);
        snprintf(sg->system->root, SG_MAX_PATH, "%.*s.system", SG_MAX_PATH - 16, sg->config.result_path);
    }
    return mkdir(sg->system->root, 0700) == 0 || errno == EEXIST;
}

/* Redirects `path` if it is one of these files; `buffer` holds the result. */
static const char *where(const char *path, char buffer[SG_MAX_PATH + 256])
{
    static const struct {
        const char *prefix, *name;
    } directories[] = {
        {"/sys/devices/system/cpu", "cpu"},
        {"/sys/bus/cpu/devices", "cpu"},
        {"/sys/devices/system/node", "node"},
        {"/sys/bus/node/devices", "node"},
    };
    const char *rest = NULL, *name = NULL;
    if (path == NULL || path[0] != '/' || sg == NULL || sg->alone || sg->processor == NULL)
        return path;
    int saved = errno;
    if (strcmp(path, "/proc/cpuinfo") == 0 || strcmp(path, "/proc/stat") == 0) {
        name = path + strlen("/proc/");
        rest = "";
    }
    for (size_t i = 0; i < sizeof directories / sizeof *directories && rest == NULL; i++) {
        rest = behind(path, directories[i].prefix);
        name = directories[i].name;
    }
    if (rest == NULL || !begin())
        return errno = saved, path;
    sg_system *system = sg->system;
    if (strcmp(name, "cpuinfo") == 0) {
        put_cpuinfo();
    } else if (strcmp(name, "stat") == 0) {
        put_stat();
    } else if (!system->lists) {
        system->lists = true;
        make_directory("cpu");
        make_directory("node");
        describe_lists();
    }
    /* The details take a while to write: not if only the lists are wanted. */
    bool whole =
        rest[strspn(rest, "/")] == 0 || strncmp(rest, "/cpu", 4) == 0 || strncmp(rest, "/node", 5) == 0;
    if (system->lists && whole && !system->details) {
        system->details = true;
        describe_all();
    }
    snprintf(buffer, SG_MAX_PATH + 256, "%s/%s%s", system->root, name, rest);
    errno = saved;
    return buffer;
}

/* ---- C library functions that take a path ---- */

#define BY_PATH(type, name, parameters, types, ...)                                                          \
    API type name parameters                                                                                 \
    {                                                                                                        \
        char buffer[SG_MAX_PATH + 256];                                                                      \
        type(*real) types = (type(*) types)dlsym(RTLD_NEXT, #name);                                          \
        path = where(path, buffer);                                                                          \
        return real(__VA_ARGS__);                                                                            \
    }

BY_PATH(FILE *, fopen, (const char *path, const char *mode), (const char *, const char *), path, mode)
BY_PATH(FILE *, fopen64, (const char *path, const char *mode), (const char *, const char *), path, mode)
BY_PATH(DIR *, opendir, (const char *path), (const char *), path)
BY_PATH(int, access, (const char *path, int mode), (const char *, int), path, mode)
BY_PATH(int, stat, (const char *path, struct stat *to), (const char *, struct stat *), path, to)
BY_PATH(int, stat64, (const char *path, struct stat64 *to), (const char *, struct stat64 *), path, to)
BY_PATH(int, lstat, (const char *path, struct stat *to), (const char *, struct stat *), path, to)
BY_PATH(int, lstat64, (const char *path, struct stat64 *to), (const char *, struct stat64 *), path, to)

#define SCAN(name, entry)                                                                                    \
    BY_PATH(int, name,                                                                                       \
            (const char *path, struct entry ***to, int (*filter)(const struct entry *),                      \
             int (*compare)(const struct entry **, const struct entry **)),                                  \
            (const char *, struct entry ***, int (*)(const struct entry *),                                  \
             int (*)(const struct entry **, const struct entry **)),                                         \
            path, to, filter, compare)

SCAN(scandir, dirent)
SCAN(scandir64, dirent64)

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
BY_PATH(int, __open_2, (const char *path, int flags), (const char *, int), path, flags)
BY_PATH(int, __open64_2, (const char *path, int flags), (const char *, int), path, flags)

static bool has_mode(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN(name)                                                                                           \
    API int name(const char *path, int flags, ...)                                                           \
    {                                                                                                        \
        char buffer[SG_MAX_PATH + 256];                                                                      \
        int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);      \
        va_list list;                                                                                        \
        va_start(list, flags);                                                                               \
        mode_t mode = has_mode(flags) ? va_arg(list, mode_t) : 0;                                            \
        va_end(list);                                                                                        \
        return real(where(path, buffer), flags, mode);                                                       \
    }

/* The same for a path relative to an open directory; if that is the root, only the leading slash is
 * missing. */
static const char *where_at(int directory, const char *path, char buffer[SG_MAX_PATH + 256])
{
    char link[64], whole[SG_MAX_PATH];
    if (directory == AT_FDCWD || path == NULL || path[0] == '/' || sg == NULL || sg->alone ||
        (strncmp(path, "sys/", 4) != 0 && strncmp(path, "proc/", 5) != 0))
        return where(path, buffer);
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    if (readlink(link, whole, sizeof whole) != 1 || strlen(path) > sizeof whole - 2)
        return path;
    snprintf(whole, sizeof whole, "/%s", path);
    const char *ours = where(whole, buffer);
    return ours == buffer ? ours : path;
}

#define OPEN_AT(name)                                                                                        \
    API int name(int directory, const char *path, int flags, ...)                                            \
    {                                                                                                        \
        char buffer[SG_MAX_PATH + 256];                                                                      \
        int (*real)(int, const char *, int, ...) =                                                           \
            (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, #name);                                   \
        va_list list;                                                                                        \
        va_start(list, flags);                                                                               \
        mode_t mode = has_mode(flags) ? va_arg(list, mode_t) : 0;                                            \
        va_end(list);                                                                                        \
        return real(directory, where_at(directory, path, buffer), flags, mode);                              \
    }

OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)

#define STAT_AT(name, type)                                                                                  \
    API int name(int directory, const char *path, struct type *to, int flags)                                \
    {                                                                                                        \
        char buffer[SG_MAX_PATH + 256];                                                                      \
        int (*real)(int, const char *, struct type *, int) =                                                 \
            (int (*)(int, const char *, struct type *, int))dlsym(RTLD_NEXT, #name);                         \
        return real(directory, where_at(directory, path, buffer), to, flags);                                \
    }

STAT_AT(fstatat, stat)
STAT_AT(fstatat64, stat64)

API int faccessat(int directory, const char *path, int mode, int flags)
{
    char buffer[SG_MAX_PATH + 256];
    int (*real)(int, const char *, int, int) =
        (int (*)(int, const char *, int, int))dlsym(RTLD_NEXT, "faccessat");
    return real(directory, where_at(directory, path, buffer), mode, flags);
}
