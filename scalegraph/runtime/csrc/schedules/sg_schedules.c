/* Which schedules exist, how users write them, and which loop gets which. */
#include "sg_schedules.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sg_schedule_list.h" /* generated from the files in kinds/ */

#define DECLARE(name) extern const schedule sg_schedule_##name;
SG_SCHEDULE_KINDS(DECLARE)
#define ENTRY(name) &sg_schedule_##name,
const schedule *const sg_schedule_list[] = {SG_SCHEDULE_KINDS(ENTRY) NULL};
const unsigned sg_schedule_count = sizeof sg_schedule_list / sizeof *sg_schedule_list - 1;

/* User additions: their own schedules, and rules for loops. */
typedef struct loop_rule {
    uint64_t first, last; /* return addresses of its calls; 0, 0: all loops */
    uint32_t region;      /* or its region; 0: by addresses */
    const sg_chosen *chosen;
} loop_rule;

enum { MOST_OWN = 16 };

static const schedule *own[MOST_OWN] = {NULL};
static unsigned own_count = 0;
static loop_rule *rules = NULL;
static unsigned rules_count = 0;

static bool is_named(const schedule *s, const char *name, size_t length)
{
    return strlen(s->name) == length && strncasecmp(s->name, name, length) == 0;
}

bool sg_schedules_is_own(const schedule *s)
{
    for (unsigned i = 0; i < own_count; i++)
        if (own[i] == s)
            return true;
    return false;
}

const schedule *sg_schedules_named(const char *name, size_t length)
{
    for (unsigned i = 0; i < own_count; i++)
        if (is_named(own[i], name, length))
            return own[i];
    for (unsigned i = 0; i < sg_schedule_count; i++)
        if (is_named(sg_schedule_list[i], name, length))
            return sg_schedule_list[i];
    return NULL;
}

const sg_chosen *sg_schedules_of_openmp(unsigned kind)
{
    static const char *const names[] = {"static", "dynamic", "guided", "static"};
    static sg_chosen chosen[4] = {{.schedule = NULL}};
    if (chosen[kind].schedule == NULL)
        chosen[kind].schedule = sg_schedules_named(names[kind], strlen(names[kind]));
    return &chosen[kind];
}

/* ---- parsing ---- */

/* One factor: a number, N or P, with its power. */
static bool read_factor(const char **at, bool over, sg_product *product)
{
    int power = 1;
    double number = 0;
    char letter = (char)toupper((unsigned char)**at), *end;
    if (letter == 'N' || letter == 'P') {
        ++*at;
    } else {
        number = strtod(*at, &end);
        if (end == *at)
            return false;
        *at = end;
    }
    if (**at == '^') {
        power = (int)strtol(*at + 1, &end, 10);
        if (end == *at + 1 || power < -8 || power > 8)
            return false;
        *at = end;
    }
    power = over ? -power : power;
    if (letter == 'N')
        product->iterations += power;
    else if (letter == 'P')
        product->members += power;
    else
        for (int i = 0; i < abs(power); i++)
            product->factor = power > 0 ? product->factor * number : product->factor / number;
    return true;
}

/* A product such as 2*N/P^2, up to a comma or the end. */
static bool read_product(const char **at, sg_product *product)
{
    *product = (sg_product){.factor = 1};
    for (bool over = false;; over = *(*at)++ == '/') {
        if (!read_factor(at, over, product))
            return false;
        if (**at != '*' && **at != '/')
            return **at == ',' || **at == 0;
    }
}

static bool read_parameter(const char **at, sg_chosen *chosen)
{
    size_t length = strcspn(*at, "=,");
    const schedule_parameter *p = chosen->schedule->parameters;
    for (unsigned i = 0; p != NULL && p[i].name != NULL; i++)
        if (strlen(p[i].name) == length && strncasecmp(p[i].name, *at, length) == 0 && (*at)[length] == '=') {
            *at += length + 1;
            return read_product(at, &chosen->parameter[i]);
        }
    return false;
}

static void set_defaults(sg_chosen *chosen)
{
    const schedule_parameter *p = chosen->schedule->parameters;
    for (unsigned i = 0; p != NULL && p[i].name != NULL; i++) {
        const char *value = p[i].value;
        if (i >= SCHEDULE_PARAMETERS || !read_product(&value, &chosen->parameter[i]))
            sg_stop(SG_STATUS_INTERNAL,
                    "schedule %s: the default of `%s` is `%s`, expected a product of numbers, N and P",
                    chosen->schedule->name, p[i].name, p[i].value);
    }
}

const sg_chosen *sg_schedules_read(const char *text, char *error, size_t size)
{
    size_t length = strcspn(text, ",");
    const schedule *found = sg_schedules_named(text, length);
    if (found == NULL) {
        snprintf(error, size, "there is no schedule `%.*s`", (int)length, text);
        return NULL;
    }
    sg_chosen *chosen = sg_new(sizeof *chosen);
    char *copy = sg_new(strlen(text) + 1);
    chosen->schedule = found;
    chosen->text = memcpy(copy, text, strlen(text));
    set_defaults(chosen);
    for (const char *at = text + length; *at == ',';) {
        const char *part = ++at;
        char *end;
        errno = 0;
        unsigned long long chunk = strtoull(at, &end, 10);
        if (isdigit((unsigned char)*at) && (*end == ',' || *end == 0) && errno == 0 && chunk <= INT64_MAX) {
            chosen->chunk = chunk;
            at = end;
        } else if (!read_parameter(&at, chosen)) {
            snprintf(error, size, "`%.*s`: expected a chunk size or parameter=value of schedule %s",
                     (int)strcspn(part, ","), part, found->name);
            return NULL;
        }
    }
    return chosen;
}

static double value_of(const sg_product *p, const schedule_parameter *declared, const schedule_loop *loop)
{
    double value = p->factor;
    for (int i = 0; i < abs(p->iterations); i++)
        value = p->iterations > 0 ? value * (double)loop->iterations : value / (double)loop->iterations;
    for (int i = 0; i < abs(p->members); i++)
        value = p->members > 0 ? value * loop->members : value / loop->members;
    value = value > declared->least ? value : declared->least; /* also if N is 0 */
    return value < declared->most ? value : declared->most;
}

void sg_schedules_values(const sg_chosen *chosen, schedule_loop *loop)
{
    const schedule_parameter *declared = chosen->schedule->parameters;
    for (unsigned i = 0; declared != NULL && declared[i].name != NULL; i++)
        loop->parameter[i] = value_of(&chosen->parameter[i], &declared[i], loop);
}

/* ---- run.loops_path ---- */

const schedule *sg_schedules_load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        sg_stop(SG_STATUS_INTERNAL, "the schedule cannot be loaded: %s", dlerror());
    const int *abi = dlsym(library, "scalegraph_schedule_abi");
    const schedule *found = dlsym(library, "scalegraph_schedule");
    if (abi == NULL || found == NULL || *abi != SCHEDULE_ABI || own_count == MOST_OWN)
        sg_stop(SG_STATUS_INTERNAL,
                "%s: expected a file that ends with SCHEDULE(..) of this version's scalegraph_schedule.h",
                path);
    return own[own_count++] = found;
}

static void add_rule(const char *path, int number, loop_rule rule, const char *text)
{
    char error[160];
    const sg_chosen *chosen = sg_schedules_read(text, error, sizeof error);
    if (chosen == NULL)
        sg_stop(SG_STATUS_INTERNAL, "%s:%d: %s", path, number, error);
    loop_rule *more = realloc(rules, (rules_count + 1) * sizeof *rules);
    if (more == NULL)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the schedules of loops");
    rules = more;
    rule.chosen = chosen;
    rules[rules_count++] = rule;
}

/* Lines: `plugin PATH`, `all SCHEDULE`, `region ID SCHEDULE`, `FIRST LAST SCHEDULE` (hexadecimal
 * addresses). */
void sg_schedules_open(const char *path)
{
    static bool opened = false; /* by another process of the program */
    if (opened)
        return;
    opened = true;
    FILE *file = fopen(path, "r");
    char line[4096];
    if (file == NULL)
        sg_stop(SG_STATUS_INTERNAL, "%s: %s", path, strerror(errno));
    for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        uint64_t first, last;
        uint32_t region;
        int at = 0;
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "plugin ", 7) == 0)
            sg_schedules_load(line + 7);
        else if (strncmp(line, "all ", 4) == 0)
            add_rule(path, number, (loop_rule){0}, line + 4);
        else if (sg_scan(line, "region %" SCNu32 " %n", &region, &at) == 1 && at > 0)
            add_rule(path, number, (loop_rule){.region = region}, line + at);
        else if (sg_scan(line, "%" SCNx64 " %" SCNx64 " %n", &first, &last, &at) == 2 && at > 0)
            add_rule(path, number, (loop_rule){.first = first, .last = last}, line + at);
        else
            sg_stop(SG_STATUS_INTERNAL,
                    "%s:%d: expected plugin, all, region, or two addresses and a schedule", path, number);
    }
    fclose(file);
}

const sg_chosen *sg_schedules_wanted(const void *site, uint32_t region)
{
    const sg_chosen *all = NULL;
    uint64_t address = (uint64_t)(uintptr_t)site;
    for (unsigned i = 0; i < rules_count; i++) {
        const loop_rule *rule = &rules[i];
        if (rule->region != 0 ? rule->region == region : address >= rule->first && address < rule->last)
            return rule->chosen;
        if (rule->region == 0 && rule->last == 0)
            all = rule->chosen;
    }
    return all;
}
