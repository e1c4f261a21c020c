/* Reader of the configuration file. Nothing is assumed: a key that is unknown, missing or given twice, a
 * number with anything behind it, a value out of its range are refused with one sentence. */
#include "sg_config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sg_net.h"

#define ENTRY(kind) &sg_net_##kind,
const sg_net_ops *const sg_net_table[] = {SG_NETWORKS(ENTRY)};
const unsigned sg_net_count = sizeof sg_net_table / sizeof *sg_net_table;

static const char *const op_names[] = SG_OP_NAMES;
static const char *const collect_names[] = {"classes", NULL};
/* In the order of enum sg_traced's bits. */
static const char *const traced_names[] = {"regions", "waits",  "locks",    "tasks",
                                           "chunks",  "shares", "counters", NULL};
/* In the order of enum sg_ideal's bits. */
static const char *const ideal_names[] = {"contention", "network", "cache", "sync", NULL};

enum kind { U32, U64, REAL, TEXT, NAME, NAMES, NETWORK };

typedef struct field {
    const char *key;
    enum kind kind;
    size_t offset;
    uint64_t least, most;       /* of a number; most = size of a text */
    const char *const *choices; /* of a name */
    int optional;
} field;

#define AT(member) offsetof(sg_config, member)
#define GIB        (1ull << 30)

/* Fields from the lists of sg_machine.h. */
#define MACHINE_U32(member, key, least, most)  {"machine." key, U32, AT(member), least, most, NULL, 0},
#define MACHINE_U64(member, key, least, most)  {"machine." key, U64, AT(member), least, most, NULL, 0},
#define MACHINE_REAL(member, key, least, most) {"machine." key, REAL, AT(member), least, most, NULL, 0},
#define MACHINE_NAME(member, key, enum_tag, ...)                                                             \
    {"machine." key, NAME, AT(member), 0, 0, (const char *const[])__VA_ARGS__, 0},
#define LEVEL_AT(member)                     offsetof(sg_cache_level, member)
#define LEVEL_U32(member, key, least, most)  {key, U32, LEVEL_AT(member), least, most, NULL, 0},
#define LEVEL_U64(member, key, least, most)  {key, U64, LEVEL_AT(member), least, most, NULL, 0},
#define LEVEL_REAL(member, key, least, most) {key, REAL, LEVEL_AT(member), least, most, NULL, 0},
#define LEVEL_NAME(member, key, enum_tag, ...)                                                               \
    {key, NAME, LEVEL_AT(member), 0, 0, (const char *const[])__VA_ARGS__, 0},

static const field fields[] = {
    {"run.processors", U32, AT(processors), 1, 4096, NULL, 0},
    {"run.ranks", U32, AT(ranks), 0, 4096, NULL, 1},
    {"run.arena_bytes", U64, AT(arena_bytes), 1 << 16, 1ull << 44, NULL, 0},
    {"run.stack_bytes", U64, AT(stack_bytes), 1 << 14, 64 * GIB, NULL, 0},
    {"run.quantum_cycles", U64, AT(quantum_cycles), 1, 1000000000, NULL, 0},
    {"run.result_path", TEXT, AT(result_path), 1, SG_MAX_PATH, NULL, 0},
    {"run.blocks_path", TEXT, AT(blocks_path), 1, SG_MAX_PATH, NULL, 0},
    {"run.schedule", TEXT, AT(schedule), 0, 64, NULL, 1},
    {"run.collect", NAMES, AT(collect), 0, 0, collect_names, 1},
    {"run.ideal", NAMES, AT(ideal), 0, 0, ideal_names, 1},
    {"run.scale_path", TEXT, AT(scale_path), 1, SG_MAX_PATH, NULL, 1},
    {"trace.file", TEXT, AT(trace_file), 1, SG_MAX_PATH, NULL, 1},
    {"trace.what", NAMES, AT(trace_what), 0, 0, traced_names, 1},
    {"trace.interval", U64, AT(trace_interval), 0, 1ull << 52, NULL, 1},
    {"trace.begin", U64, AT(trace_begin), 0, 1ull << 52, NULL, 1},
    {"trace.end", U64, AT(trace_end), 0, 1ull << 52, NULL, 1},
    {"trace.region", TEXT, AT(trace_region), 1, sizeof((sg_config *)0)->trace_region, NULL, 1},
    {"trace.limit", U64, AT(trace_limit), 0, 1ull << 52, NULL, 1},
    {"machine.network.kind", NETWORK, AT(network), 0, 0, NULL, 0},
    SG_MACHINE_FIELDS(MACHINE_U32, MACHINE_U64, MACHINE_REAL, MACHINE_NAME)};
#define FIELDS (sizeof fields / sizeof *fields)

static const field level_fields[] = {SG_LEVEL_FIELDS(LEVEL_U32, LEVEL_U64, LEVEL_REAL, LEVEL_NAME)};
#define LEVEL_FIELDS (sizeof level_fields / sizeof *level_fields)

/* What has been read so far. */
typedef struct reader {
    const char *path;
    int line;
    sg_config *config;
    char *error;
    size_t error_size;
    unsigned char seen[FIELDS];
    unsigned char seen_op[SG_OP_COUNT];
    unsigned char seen_level[SG_MAX_LEVELS][LEVEL_FIELDS];
} reader;

__attribute__((format(printf, 2, 3))) static int refuse(reader *r, const char *format, ...)
{
    char text[2 * SG_MAX_PATH];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (r->line > 0)
        snprintf(r->error, r->error_size, "%s:%d: %s", r->path, r->line, text);
    else
        snprintf(r->error, r->error_size, "%s: %s", r->path, text);
    return -1;
}

static int read_number(reader *r, const char *key, const char *text, uint64_t least, uint64_t most,
                       uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || *value < least || *value > most)
        return refuse(r, "%s: expected a whole number from %llu to %llu, got '%s'", key,
                      (unsigned long long)least, (unsigned long long)most, text);
    return 0;
}

static int read_real(reader *r, const char *key, const char *text, const field *f, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || !(*value >= (double)f->least) ||
        !(*value <= (double)f->most))
        return refuse(r, "%s: expected a number from %llu to %llu, got '%s'", key,
                      (unsigned long long)f->least, (unsigned long long)f->most, text);
    return 0;
}

static int read_name(reader *r, const char *key, const char *text, const char *const *choices,
                     unsigned *value)
{
    char known[256] = "";
    for (unsigned i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            *value = i;
            return 0;
        }
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", choices[i]);
    }
    return refuse(r, "%s: expected one of %s; got '%s'", key, known, text);
}

/* A list of names with commas between them: the sum of their bits. */
static int read_names(reader *r, const char *key, const char *text, const char *const *choices,
                      unsigned *value)
{
    char word[64];
    unsigned one;
    *value = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        if (length >= sizeof word)
            return refuse(r, "%s: '%.20s..' is too long for a name", key, text);
        memcpy(word, text, length);
        word[length] = '\0';
        if (read_name(r, key, word, choices, &one) != 0)
            return -1;
        *value |= 1u << one;
        if (text[length] == '\0')
            return 0;
        text += length + 1;
    }
}

static int read_network(reader *r, const char *key, const char *text, unsigned *value)
{
    const char *names[16] = {NULL};
    for (unsigned i = 0; i < sg_net_count && i < 15; i++)
        names[i] = sg_net_table[i]->name;
    return read_name(r, key, text, names, value);
}

/* Reads one value into the member at f->offset of `base`. */
static int read_field(reader *r, const field *f, const char *key, void *base, const char *text)
{
    char *at = (char *)base + f->offset;
    uint64_t number = 0;
    unsigned choice = 0;
    switch (f->kind) {
    case U32:
        if (read_number(r, key, text, f->least, f->most, &number) != 0)
            return -1;
        *(uint32_t *)at = (uint32_t)number;
        return 0;
    case U64:
        return read_number(r, key, text, f->least, f->most, (uint64_t *)at);
    case REAL:
        return read_real(r, key, text, f, (double *)at);
    case TEXT:
        if (strlen(text) < f->least || strlen(text) >= f->most)
            return refuse(r, "%s: expected a text of %llu to %llu bytes", key, (unsigned long long)f->least,
                          (unsigned long long)f->most - 1);
        strcpy(at, text);
        return 0;
    case NAME:
        if (read_name(r, key, text, f->choices, &choice) != 0)
            return -1;
        break;
    case NAMES:
        if (read_names(r, key, text, f->choices, &choice) != 0)
            return -1;
        break;
    case NETWORK:
        if (read_network(r, key, text, &choice) != 0)
            return -1;
        break;
    }
    *(unsigned *)at = choice; /* an enum without negative members */
    return 0;
}

static int once(reader *r, unsigned char *seen, const char *key)
{
    if (*seen)
        return refuse(r, "%s: is given a second time", key);
    *seen = 1;
    return 0;
}

static int read_op(reader *r, const char *key, const char *text)
{
    const char *name = key + strlen("machine.op.");
    for (unsigned i = 0; i < SG_OP_COUNT; i++) {
        uint64_t value;
        if (strcmp(op_names[i], name) != 0)
            continue;
        if (once(r, &r->seen_op[i], key) != 0 || read_number(r, key, text, 0, SG_MOST_OP_COST, &value) != 0)
            return -1;
        r->config->op_millicycles[i] = (uint32_t)value;
        return 0;
    }
    return refuse(r, "%s: unknown operation class", key);
}

static int read_level(reader *r, const char *key, const char *text)
{
    const char *rest = key + strlen("machine.level.");
    unsigned level = (unsigned)(rest[0] - '0');
    if (level < SG_MAX_LEVELS && rest[1] == '.') {
        for (unsigned i = 0; i < LEVEL_FIELDS; i++) {
            if (strcmp(level_fields[i].key, rest + 2) != 0)
                continue;
            if (once(r, &r->seen_level[level][i], key) != 0)
                return -1;
            return read_field(r, &level_fields[i], key, &r->config->level[level], text);
        }
    }
    return refuse(r, "%s: unknown key of a cache level", key);
}

/* The network may be named after its parameters, so they are checked when all is read. */
static int read_parameter(reader *r, const char *key, const char *text)
{
    const char *name = key + strlen("machine.network.");
    sg_config *c = r->config;
    for (uint32_t i = 0; i < c->parameters; i++)
        if (strcmp(c->parameter[i].name, name) == 0)
            return refuse(r, "%s: is given a second time", key);
    if (c->parameters == SG_MAX_PARAMETERS || strlen(name) >= sizeof c->parameter->name)
        return refuse(r, "%s: unknown network parameter", key);
    sg_parameter *p = &c->parameter[c->parameters++];
    strcpy(p->name, name);
    return read_number(r, key, text, 0, UINT64_MAX, &p->value);
}

static int starts(const char *key, const char *prefix)
{
    return strncmp(key, prefix, strlen(prefix)) == 0;
}

static int read_pair(reader *r, const char *key, const char *text)
{
    for (unsigned i = 0; i < FIELDS; i++) {
        if (strcmp(fields[i].key, key) != 0)
            continue;
        if (once(r, &r->seen[i], key) != 0)
            return -1;
        return read_field(r, &fields[i], key, r->config, text);
    }
    if (starts(key, "machine.op."))
        return read_op(r, key, text);
    if (starts(key, "machine.level."))
        return read_level(r, key, text);
    if (starts(key, "machine.network."))
        return read_parameter(r, key, text);
    return refuse(r, "unknown key '%s'", key);
}

static int check_network(reader *r)
{
    const sg_config *c = r->config;
    const sg_net_ops *ops = sg_net_table[c->network];
    for (uint32_t i = 0; i < c->parameters; i++) {
        const sg_net_parameter *p = ops->parameters;
        while (p->name && strcmp(p->name, c->parameter[i].name) != 0)
            p++;
        if (!p->name)
            return refuse(r, "machine.network.%s: the network '%s' has no such parameter",
                          c->parameter[i].name, ops->name);
        if (c->parameter[i].value < p->least || c->parameter[i].value > p->most)
            return refuse(r, "machine.network.%s: expected a whole number from %llu to %llu, got %llu",
                          p->name, (unsigned long long)p->least, (unsigned long long)p->most,
                          (unsigned long long)c->parameter[i].value);
    }
    for (const sg_net_parameter *p = ops->parameters; p->name; p++) {
        uint32_t i = 0;
        while (i < c->parameters && strcmp(c->parameter[i].name, p->name) != 0)
            i++;
        if (i == c->parameters)
            return refuse(r, "machine.network.%s: is missing; the network '%s' needs it", p->name, ops->name);
    }
    return 0;
}

static int check_complete(reader *r)
{
    sg_config *c = r->config;
    r->line = 0;
    for (unsigned i = 0; i < FIELDS; i++)
        if (!r->seen[i] && !fields[i].optional)
            return refuse(r, "%s: is missing", fields[i].key);
    for (unsigned i = 0; i < SG_OP_COUNT; i++)
        if (!r->seen_op[i])
            return refuse(r, "machine.op.%s: is missing", op_names[i]);
    for (unsigned level = 0; level < SG_MAX_LEVELS; level++)
        for (unsigned i = 0; i < LEVEL_FIELDS; i++)
            if (r->seen_level[level][i] != (level < c->levels))
                return refuse(r, "machine.level.%u.%s: %s; machine.levels is %u", level, level_fields[i].key,
                              level < c->levels ? "is missing" : "is one level too many", c->levels);
    if (c->processors > c->max_processors)
        return refuse(r, "run.processors: expected at most the machine's %u processors, got %u",
                      c->max_processors, c->processors);
    return check_network(r);
}

int sg_config_read(const char *path, sg_config *config, char *error, size_t error_size)
{
    reader r = {.path = path, .config = config, .error = error, .error_size = error_size};
    char line[SG_MAX_PATH + 256];
    memset(config, 0, sizeof *config);
    FILE *file = fopen(path, "r");
    if (!file)
        return refuse(&r, "cannot be opened: %s", strerror(errno));
    int status = 0;
    while (status == 0 && fgets(line, sizeof line, file)) {
        r.line++;
        size_t length = strlen(line);
        if (length == sizeof line - 1 && line[length - 1] != '\n') {
            status = refuse(&r, "expected a line of at most %zu bytes", sizeof line - 2);
            break;
        }
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = '\0';
        if (length == 0 || line[0] == '#')
            continue;
        char *space = strchr(line, ' ');
        if (space)
            *space = '\0';
        status = read_pair(&r, line, space ? space + 1 : line + length);
    }
    if (status == 0 && ferror(file)) {
        r.line = 0;
        status = refuse(&r, "cannot be read: %s", strerror(errno));
    }
    fclose(file);
    return status == 0 ? check_complete(&r) : status;
}
