/* Writes what schedules say about themselves, as JSON: those linked with this program, or the one in a shared
 * object. Runs on the host, without a simulator. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "scalegraph_schedule.h"

#ifdef SG_SCHEDULE_KINDS
#define DECLARE(name) extern const schedule sg_schedule_##name;
SG_SCHEDULE_KINDS(DECLARE)
#define ENTRY(name) &sg_schedule_##name,
static const schedule *const shipped[] = {SG_SCHEDULE_KINDS(ENTRY) NULL};

/* Names under which the simulator's objects call the C library. */
void *__real_memset(void *to, int value, size_t size);
void *__real_memcpy(void *to, const void *from, size_t size);

void *__real_memset(void *to, int value, size_t size)
{
    return memset(to, value, size);
}

void *__real_memcpy(void *to, const void *from, size_t size)
{
    return memcpy(to, from, size);
}
#else
static const schedule *const shipped[] = {NULL};
#endif

static void show_text(const char *key, const char *text)
{
    printf("\"%s\": \"", key);
    for (; text != NULL && *text != 0; text++)
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            printf("\\u%04x", (unsigned)*text);
        else
            putchar(*text);
    printf("\"");
}

static void show(const schedule *s, const char *before)
{
    printf("%s{", before);
    show_text("name", s->name);
    printf(", ");
    show_text("family", s->family);
    printf(", ");
    show_text("title", s->title);
    printf(", ");
    show_text("reference", s->reference);
    printf(", \"parameters\": [");
    for (const schedule_parameter *p = s->parameters; p != NULL && p->name != NULL; p++) {
        printf("%s{", p == s->parameters ? "" : ", ");
        show_text("name", p->name);
        printf(", ");
        show_text("default", p->value);
        printf(", \"minimum\": %.17g, \"maximum\": %.17g, ", p->least, p->most);
        show_text("help", p->help);
        printf("}");
    }
    printf("]}");
}

int main(int argc, char **argv)
{
    const char *before = "[";
    for (const schedule *const *s = shipped; *s != NULL; s++, before = ",\n")
        show(*s, before);
    for (int i = 1; i < argc; i++, before = ",\n") {
        void *library = dlopen(argv[i], RTLD_NOW);
        const int *abi = library != NULL ? dlsym(library, "scalegraph_schedule_abi") : NULL;
        const schedule *own = library != NULL ? dlsym(library, "scalegraph_schedule") : NULL;
        if (abi == NULL || own == NULL || *abi != SCHEDULE_ABI) {
            fprintf(stderr, "%s\n", library == NULL ? dlerror() : "it does not end with SCHEDULE(..)");
            return 1;
        }
        show(own, before);
    }
    printf("]\n");
    return 0;
}
