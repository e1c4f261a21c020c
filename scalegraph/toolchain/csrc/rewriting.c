/* Puts the hooks in line: see assembler.c. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "assembler.h"

#define TABLE ".debug_scalegraph"
#define PROBE "__sanitizer_cov_trace_pc"
#define CALL  "\tcall\t"
#define TSAN  "__tsan_"

enum kind { BLOCK = 1, READ, WRITE, SEGMENT, LEFT_OUT };
enum {
    MOST = 30000 /* references of a segment */,
    DEEPEST = 256 /* sections on the stack */,
    BUCKETS = 4096
};

/* Data written after the code, for each group of sections that the linker keeps or drops together. */
typedef struct group {
    span name;
    text slots, table;
    bool used;
    struct group *next, *later; /* in its bucket; in the order of first use */
} group;

static group *buckets[BUCKETS], *first_used, **last_used = &first_used;
static group *sections[DEEPEST], *previous;
static unsigned depth, number, slot, references; /* slot 0: none */
static bool inside_asm;
static text out;

/* In forms, \1 stands for the current number and \2 for the current slot's. */
#define FROM ".Lsg_from\1"
#define SLOT ".Lsg_slot\2"

/* Code whose bytes do not depend on addresses is written as bytes, since the assembler takes five times as
 * long for instructions. The first one stays an instruction: only these get the line that precedes them.
 * Offsets in sg_processor, see csrc/core/sg_inline.c: the clock is first, then 8: limit, 24: executed, 32:
 * parts of slots, 40: fast. The calls take five bytes, over which the jumps go. */
#define BLOCK_CODE                                                                                           \
    FROM ":\n\tmovq\tsg_now(%rip), %rcx\n" /* movq 24(%rcx), %rax; movq 32(%rcx), %rdx */                    \
         "\t.ascii\t\"\\110\\213\\101\\030\\110\\213\\121\\040\"\n"                                          \
         "\tincq\t" SLOT "(%rax)\n\tmovq\t" SLOT "(%rdx), %rdx\n" /* addq (%rcx), %rdx */                    \
         "\t.ascii\t\"\\110\\003\\021\\110\\211\\021"             /* movq %rdx, (%rcx) */                    \
         "\\110\\073\\121\\010\\166\\005\"\n"                     /* cmpq 8(%rcx), %rdx; jbe */              \
        CALL PROBE "_late\n"
#define SEGMENT_CODE FROM ":\n\tmovq\tsg_now(%rip), %rdx\n\tmovq\t24(%rdx), %rdx\n\tincq\t" SLOT "(%rdx)\n"
/* The constants of the shift and the mask depend on the machine: they are patched when the program starts. */
#define REFERENCE_CODE                                                                                       \
    FROM ":\n\tmovq\tsg_now(%rip), %rdx\n"                                                                   \
         "\t.ascii\t\"\\110\\213\\122\\050\\110\\211\\370" /* movq 40(%rdx), %rdx; movq %rdi, %rax */        \
         "\\110\\301\\350\\006\\211\\301"                  /* shrq $6, %rax; movl %eax, %ecx */              \
         "\\201\\341\\000\\000\\000\\000"                  /* andl $0, %ecx */                               \
         "\\110\\213\\024\\312\\110\\061\\302"             /* movq (%rdx,%rcx,8), %rdx; xorq %rax, %rdx */
#define IS_READ "\\110\\301\\342\\002\\164\\005\"\n"       /* shlq $2, %rdx; je */
#define IS_WRITTEN                                                                                           \
    "\\110\\301\\302\\002\\110\\203\\372\\003\\164\\005\"\n" /* rolq $2, %rdx; cmpq $3, %rdx; je */
#define PATCHED "17, 22"                                     /* where the shift and the mask are */
enum { BLOCK_SIZE = 46, SEGMENT_SIZE = 18, READ_SIZE = 44, WRITE_SIZE = 48, LEFT_OUT_SIZE = 5 };
#define LEFT_OUT_CODE FROM ":\n\t.byte\t0x0f, 0x1f, 0x44, 0, 0\n" /* a no-op that readers recognise */

static void write_form(text *to, const char *form)
{
    for (;;) {
        size_t plain = strcspn(form, "\1\2");
        add(to, form, plain);
        if (form[plain] == '\0')
            return;
        char digits[16];
        add(to, digits, (size_t)sprintf(digits, "%u", form[plain] == '\1' ? number : slot));
        form += plain + 1;
    }
}

static bool begins(span line, const char *with)
{
    size_t length = strlen(with);
    return line.length >= length && memcmp(line.start, with, length) == 0;
}

static bool is(span word, const char *what)
{
    return word.length == strlen(what) && begins(word, what);
}

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

static size_t word_length(span line)
{
    size_t length = 0;
    while (length < line.length && is_word(line.start[length]))
        length++;
    return length;
}

static group *group_of(span name)
{
    unsigned hash = 0;
    for (size_t i = 0; i < name.length; i++)
        hash = hash * 31 + (unsigned char)name.start[i];
    group **at = &buckets[hash % BUCKETS];
    for (; *at != NULL; at = &(*at)->next)
        if ((*at)->name.length == name.length && memcmp((*at)->name.start, name.start, name.length) == 0)
            return *at;
    *at = need(calloc(1, sizeof(group)));
    (*at)->name = name;
    return *at;
}

static group *here(void)
{
    group *g = sections[depth];
    if (!g->used) {
        g->used = true;
        *last_used = g;
        last_used = &g->later;
    }
    return g;
}

static void enter(group *g, bool push)
{
    slot = 0;
    previous = sections[depth];
    if (push && ++depth == DEEPEST) {
        fputs("scalegraph: assembler: too many nested sections\n", stderr);
        exit(1);
    }
    sections[depth] = g;
}

/* The group that the directive *line* names: .section name,"flags",type,group,comdat with G among the flags.
 */
static span named_group(span line)
{
    size_t at = 0;
    while (at < line.length && !isspace((unsigned char)line.start[at]) && !begins(after(line, at), ",\""))
        at++;
    if (!begins(after(line, at), ",\""))
        return (span){"", 0};
    span flags = after(line, at + 2);
    const char *end = memchr(flags.start, '"', flags.length);
    if (end == NULL || memchr(flags.start, 'G', (size_t)(end - flags.start)) == NULL)
        return (span){"", 0};
    span rest = after(flags, (size_t)(end + 1 - flags.start));
    for (int commas = 0; commas < 2; commas++) {
        const char *comma = memchr(rest.start, ',', rest.length);
        if (comma == NULL)
            return (span){"", 0};
        rest = after(rest, (size_t)(comma + 1 - rest.start));
    }
    const char *comma = memchr(rest.start, ',', rest.length);
    return (span){rest.start, comma != NULL ? (size_t)(comma - rest.start) : rest.length};
}

/* Track section directives. */
static void directive(span line)
{
    span word = after(line, 1);
    size_t length = 0;
    while (length < word.length && !isspace((unsigned char)word.start[length]))
        length++;
    span rest = after(word, length);
    word.length = length;
    if (is(word, ".section") || is(word, ".pushsection"))
        enter(group_of(begins(rest, "\t") ? named_group(after(rest, 1)) : (span){"", 0}),
              is(word, ".pushsection"));
    else if (is(word, ".text") || is(word, ".data") || is(word, ".bss"))
        enter(group_of((span){"", 0}), false);
    else if (is(word, ".popsection") && depth > 0) {
        depth--;
        slot = 0;
    } else if (is(word, ".previous"))
        enter(previous, false);
    else if (is(word, ".cfi_startproc"))
        slot = 0;
}

static void record(enum kind kind, int size, const char *patched)
{
    char end[32];
    text *table = &here()->table;
    write_form(table, "\t.quad\t" FROM "\n\t.long\t");
    add(table, end, (size_t)sprintf(end, "%d, ", size));
    write_form(table, slot != 0 ? SLOT : "0");
    add(table, end, (size_t)sprintf(end, ", %d\n\t.short\t", kind));
    write_form(table, patched);
    add(table, "\n", 1);
}

static void fresh_slot(void)
{
    slot = number;
    references = 0;
    write_form(&here()->slots, SLOT ":\n\t.quad\t0\n");
}

static void block(void)
{
    number++;
    fresh_slot();
    write_form(&out, BLOCK_CODE);
    record(BLOCK, BLOCK_SIZE, "0, 0");
}

static void reference(span name, bool reads)
{
    if (slot == 0 || references == MOST) {
        number++;
        fresh_slot();
        write_form(&out, SEGMENT_CODE);
        record(SEGMENT, SEGMENT_SIZE, "0, 0");
    }
    number++;
    write_form(&out, REFERENCE_CODE);
    write_form(&out, reads ? IS_READ CALL : IS_WRITTEN CALL);
    add(&out, name.start, name.length);
    add(&out, "_late\n", 6);
    record(reads ? READ : WRITE, reads ? READ_SIZE : WRITE_SIZE, PATCHED);
    references++;
}

/* Replace a hook that does nothing. */
static void left_out(const char *which)
{
    unsigned current = slot;
    number++;
    slot = 0;
    write_form(&out, LEFT_OUT_CODE);
    record(LEFT_OUT, LEFT_OUT_SIZE, which);
    slot = current;
}

/* Process the call of the hook *name* in *line*. */
static void hook(span name, span line)
{
    span what = after(name, begins(name, TSAN) ? strlen(TSAN) : 0);
    if (begins(what, "volatile_"))
        what = after(what, strlen("volatile_"));
    bool reads = begins(what, "read"), writes = begins(what, "write");
    span size = after(what, reads ? 4 : writes ? 5 : what.length);
    if (is(name, PROBE))
        block();
    else if (size.length == 1 && strchr("1248", size.start[0]) != NULL)
        reference(name, reads);
    else if (is(what, "func_entry") || is(what, "func_exit"))
        left_out(is(what, "func_entry") ? "0, 0" : "1, 0");
    else {
        add(&out, line.start, line.length + 1);
        slot = 0;
    }
}

/* The name of the hook that *line* calls, empty if it calls none. */
static span called(span line)
{
    if (!begins(line, CALL "__"))
        return (span){"", 0};
    span name = after(line, strlen(CALL));
    span rest = after(name, word_length(name));
    name.length = word_length(name);
    if (!is(name, PROBE) && !(begins(name, TSAN) && name.length > strlen(TSAN)))
        return (span){"", 0};
    if (begins(rest, "@PLT"))
        rest = after(rest, 4);
    while (rest.length > 0 && isspace((unsigned char)rest.start[0]))
        rest = after(rest, 1);
    return rest.length == 0 || rest.start[0] == '#' ? name : (span){"", 0};
}

/* Whether *line* is an instruction after which a segment ends. */
static bool ends_segment(span line)
{
    static const char *const words[] = {"j",       "loop", "call", "ret", "notrack", "bnd",
                                        "syscall", "int",  "ud2",  "hlt", "iret",    "xbegin"};
    if (line.length < 2 || line.start[0] != '\t' || strchr("jlcrnbsiuhxJLCRNBSIUHX", line.start[1]) == NULL)
        return false;
    span word = after(line, 1);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word.length >= strlen(words[i]) && strncasecmp(word.start, words[i], strlen(words[i])) == 0)
            return true;
    if (word.length < 4 || strncasecmp(word.start, "rep", 3) != 0)
        return false;
    size_t at = 3;
    while (at < word.length && (isspace((unsigned char)word.start[at]) || word.start[at] == ';'))
        at++;
    return at > 3 && word.length - at >= 3 && strncasecmp(word.start + at, "ret", 3) == 0;
}

/* Whether *line* is a label that code may jump to: not one of debug information, exceptions or sections. */
static bool is_target(span line)
{
    static const char *const others[] = {"VL",   "BB",   "BE",   "BI",    "FB", "FE",  "EHB",  "EHE", "CFI",
                                         "LSDA", "text", "cold", "etext", "VU", "HOT", "COLD", "FSB"};
    while (line.length > 0 && isspace((unsigned char)line.start[0]))
        line = after(line, 1);
    size_t length = 0;
    while (length < line.length &&
           (is_word(line.start[length]) || line.start[length] == '.' || line.start[length] == '$'))
        length++;
    if (length == 0 || length == line.length || line.start[length] != ':')
        return false;
    span name = {line.start, length};
    if (!begins(name, ".L"))
        return true;
    name = after(name, 2);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (begins(name, others[i]) && word_length(name) == name.length)
            return false;
    return true;
}

/* Process one line of the compiler's output, which a newline follows. */
static void process(span line)
{
    span name = inside_asm ? (span){"", 0} : called(line);
    if (name.length > 0) {
        hook(name, line);
        return;
    }
    add(&out, line.start, line.length + 1);
    if (begins(line, "#APP"))
        inside_asm = true;
    else if (begins(line, "#NO_APP")) {
        inside_asm = false;
        slot = 0;
    } else if (begins(line, "#"))
        return;
    else if (begins(line, "\t."))
        directive(line);
    else if (inside_asm || ends_segment(line) || is_target(line))
        slot = 0;
}

static bool in_other_syntax(const char *source)
{
    static const char *const words[] = {"\t.intel_syntax", "\t.code32", "\t.code16"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (const char *at = source; (at = strstr(at, words[i])) != NULL; at++)
            if (!is_word(at[strlen(words[i])]))
                return true;
    return false;
}

/* Write the data of all groups after the code. */
static void finish(void)
{
    for (group *g = first_used; g != NULL; g = g->later) {
        bool named = g->name.length > 0;
        text *const parts[] = {&g->slots, &g->table};
        static const char *const heads[] = {"\t.section\t" SLOTS ",\"aw", "\t.section\t" TABLE ",\""};
        for (int part = 0; part < 2; part++) {
            if (parts[part]->length == 0)
                continue;
            add(&out, heads[part], strlen(heads[part]));
            write_form(&out, named ? "G\",@progbits," : "\",@progbits");
            add(&out, g->name.start, g->name.length);
            write_form(&out, named ? ",comdat\n\t.balign 8\n" : "\n\t.balign 8\n");
            add(&out, parts[part]->start, parts[part]->length);
        }
    }
}

span rewritten(span source)
{
    if (in_other_syntax(source.start) || strstr(source.start, SLOTS) != NULL ||
        strstr(source.start, PROBE) == NULL)
        return (span){"", 0};
    sections[0] = previous = group_of((span){"", 0});
    out = (text){need(malloc(source.length * 5)), 0, source.length * 5};
    while (source.length > 0) {
        const char *end = memchr(source.start, '\n', source.length);
        process((span){source.start, (size_t)(end - source.start)});
        source = after(source, (size_t)(end + 1 - source.start));
    }
    finish();
    return (span){out.start, out.length};
}
