/* Reads the configuration file. Nothing is assumed: an unknown, missing or repeated key, a number with
 * trailing text and a value out of range are each rejected with one sentence. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sg_net.h"
#include "sg_start.h"
#include "sg_wire.h"

static const char *const op_names[] = SG_OP_NAMES;
static const char *const collect_names[] = {"classes", "samples", "long samples", NULL};
/* In the order of enum sg_traced's bits. */
static const char *const traced_names[] = {"regions", "waits",    "locks",    "tasks", "chunks",
                                           "shares",  "counters", "messages", NULL};
/* In the order of enum sg_ideal's bits. */
static const char *const ideal_names[] = {"contention", "network", "cache", "sync", "messages", NULL};

enum kind { U32, U64, REAL, TEXT, NAME, NAMES, NETWORK, INTERCONNECT, SPEEDS };

typedef struct field {
    const char *key;
    enum kind kind;
    size_t offset;
    uint64_t least, most;       /* of a number; for a text, most = its size */
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
    {"run.processors", U32, AT(processors), 1, 16384, NULL, 0},
    {"run.ranks", U32, AT(ranks), 0, 16384, NULL, 1},
    {"run.arena_bytes", U64, AT(arena_bytes), 1 << 16, 1ull << 44, NULL, 0},
    {"run.stack_bytes", U64, AT(stack_bytes), 1 << 14, 64 * GIB, NULL, 0},
    {"run.quantum_cycles", U64, AT(quantum_cycles), 1, 1000000000, NULL, 0},
    {"run.result_path", TEXT, AT(result_path), 1, SG_MAX_PATH, NULL, 0},
    {"run.blocks_path", TEXT, AT(blocks_path), 1, SG_MAX_PATH, NULL, 0},
    {"run.rows_path", TEXT, AT(rows_path), 1, SG_MAX_PATH, NULL, 1},
    {"run.schedule", TEXT, AT(schedule), 0, sizeof((sg_config *)0)->schedule, NULL, 1},
    {"run.loops_path", TEXT, AT(loops_path), 1, SG_MAX_PATH, NULL, 1},
    {"run.collect", NAMES, AT(collect), 0, 0, collect_names, 1},
    {"run.sample_after", U64, AT(sample_after), 0, 1ull << 52, NULL, 1},
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
    {"machine.interconnect.kind", INTERCONNECT, AT(wire), 0, 0, NULL, 1},
    {"machine.nodes.speeds", SPEEDS, AT(node_speed), 1, 1000000, NULL, 1},
    SG_MACHINE_FIELDS(MACHINE_U32, MACHINE_U64, MACHINE_REAL, MACHINE_NAME)};
#define FIELDS (sizeof fields / sizeof *fields)

/* Defaults for what a file may leave out. */
static const char *const defaults[][2] = {SG_MACHINE_DEFAULTS};

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

/* A comma-separated list of names: adds up their bits. */
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

static int read_interconnect(reader *r, const char *key, const char *text, unsigned *value)
{
    const char *names[24] = {NULL};
    for (unsigned i = 1; i < sg_wire_count && i < 24; i++)
        names[i - 1] = sg_wire_table[i]->name;
    int status = read_name(r, key, text, names, value);
    ++*value; /* after SG_WIRE_NONE */
    return status;
}

/* Comma-separated integers. */
static int read_speeds(reader *r, const field *f, const char *text)
{
    sg_config *c = r->config;
    char word[24];
    for (;; text++) {
        size_t length = strcspn(text, ",");
        uint64_t value;
        if (c->node_speeds == SG_MAX_SPEEDS || length >= sizeof word)
            return refuse(r, "%s: expected at most %u numbers", f->key, SG_MAX_SPEEDS);
        memcpy(word, text, length);
        word[length] = '\0';
        if (read_number(r, f->key, word, f->least, f->most, &value) != 0)
            return -1;
        c->node_speed[c->node_speeds++] = (uint32_t)value;
        text += length;
        if (*text == '\0')
            return 0;
    }
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
    case INTERCONNECT:
        if (read_interconnect(r, key, text, &choice) != 0)
            return -1;
        break;
    case SPEEDS:
        return read_speeds(r, f, text);
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

/* The network kind may follow its parameters, so these are checked at the end. */
static int read_parameter(reader *r, const char *key, const char *name, const char *text, sg_parameters *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->parameter[i].name, name) == 0)
            return refuse(r, "%s: is given a second time", key);
    if (all->count == SG_MAX_PARAMETERS || strlen(name) >= sizeof all->parameter->name)
        return refuse(r, "%s: unknown network parameter", key);
    sg_parameter *p = &all->parameter[all->count++];
    strcpy(p->name, name);
    return read_number(r, key, text, 0, UINT64_MAX, &p->value);
}

static const char network_prefix[] = "machine.network.", wire_prefix[] = "machine.interconnect.";

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
    if (starts(key, network_prefix))
        return read_parameter(r, key, key + strlen(network_prefix), text, &r->config->network_parameters);
    if (starts(key, wire_prefix))
        return read_parameter(r, key, key + strlen(wire_prefix), text, &r->config->wire_parameters);
    return refuse(r, "unknown key '%s'", key);
}

/* Does `all` hold each parameter of the kind `name` exactly once, in range? */
static int check_parameters(reader *r, const char *prefix, const char *name, const sg_net_parameter *known,
                            const sg_parameters *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const sg_net_parameter *p = known;
        const sg_parameter *is = &all->parameter[i];
        while (p->name && strcmp(p->name, is->name) != 0)
            p++;
        if (!p->name)
            return refuse(r, "%s%s: the network '%s' has no such parameter", prefix, is->name, name);
        if (is->value < p->least || is->value > p->most)
            return refuse(r, "%s%s: expected a whole number from %llu to %llu, got %llu", prefix, p->name,
                          (unsigned long long)p->least, (unsigned long long)p->most,
                          (unsigned long long)is->value);
    }
    for (const sg_net_parameter *p = known; p->name; p++) {
        uint32_t i = 0;
        while (i < all->count && strcmp(all->parameter[i].name, p->name) != 0)
            i++;
        if (i == all->count && !p->optional)
            return refuse(r, "%s%s: is missing; the network '%s' needs it", prefix, p->name, name);
    }
    return 0;
}

static int check_networks(reader *r)
{
    static const sg_net_parameter none[] = {{NULL, 0, 0, 0}};
    const sg_config *c = r->config;
    const sg_net_ops *ops = sg_net_table[c->network];
    const sg_topology *wire = sg_wire_table[c->wire];
    if (check_parameters(r, network_prefix, ops->name, ops->parameters, &c->network_parameters) != 0)
        return -1;
    return check_parameters(r, wire_prefix, wire ? wire->name : "none", wire ? wire->parameters : none,
                            &c->wire_parameters);
}

static int read_level_defaults(reader *r)
{
    static const char *const level_defaults[][2] = {SG_LEVEL_DEFAULTS};
    char key[96];
    for (unsigned level = 0; level < r->config->levels; level++)
        for (unsigned d = 0; d < sizeof level_defaults / sizeof *level_defaults; d++)
            for (unsigned i = 0; i < LEVEL_FIELDS; i++) {
                if (r->seen_level[level][i] || strcmp(level_fields[i].key, level_defaults[d][0]) != 0)
                    continue;
                snprintf(key, sizeof key, "machine.level.%u.%s", level, level_defaults[d][0]);
                if (read_level(r, key, level_defaults[d][1]) != 0)
                    return -1;
            }
    return 0;
}

/* Fills in the defaults. */
static int read_defaults(reader *r)
{
    for (unsigned d = 0; d < sizeof defaults / sizeof *defaults; d++)
        for (unsigned i = 0; i < FIELDS; i++)
            if (!r->seen[i] && strcmp(fields[i].key, defaults[d][0]) == 0 &&
                read_pair(r, defaults[d][0], defaults[d][1]) != 0)
                return -1;
    return read_level_defaults(r);
}

static int check_complete(reader *r)
{
    sg_config *c = r->config;
    r->line = 0;
    if (read_defaults(r) != 0)
        return -1;
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
    return check_networks(r);
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
