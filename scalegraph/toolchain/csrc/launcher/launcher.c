/* scalegraph-gcc without Python, for the common case: one C source to one object, with plain options.
 *
 *     launcher PLAN WORD...
 *
 * toolchain/launching.py writes PLAN: the compiler and its options for hooks, and stamps of all files on
 * which they depend. The exit code is LEFT if anything is out of the common case, and then nothing has
 * happened: the wrapper in Python does it all. So whatever is rare needs no code here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

enum { LEFT = 125, MOST = 1000 /* words */, WIDTH = 96 /* characters of a line of assembler */ };

extern char **environ;
static char scratch[4096], copy[8192], plain[8192];

static void tidy(void)
{
    if (scratch[0] == '\0')
        return;
    unlink(copy);
    unlink(plain);
    rmdir(scratch);
}

_Noreturn void leave(void)
{
    tidy();
    _exit(LEFT);
}

void *room(size_t bytes)
{
    void *made = calloc(1, bytes + 1);
    if (made == NULL)
        leave();
    return made;
}

void add(text *to, const char *from, size_t length)
{
    if (to->room - to->length < length) {
        to->room = (to->room + length) * 2;
        to->start = realloc(to->start, to->room);
        if (to->start == NULL)
            leave();
    }
    memcpy(to->start + to->length, from, length);
    to->length += length;
}

void say(text *to, const char *form, ...)
{
    char *said;
    va_list rest;
    va_start(rest, form);
    int length = vasprintf(&said, form, rest);
    va_end(rest);
    if (length < 0)
        leave();
    add(to, said, (size_t)length);
    free(said);
}

void *grown(void *items, int count, size_t size)
{
    if ((count & (count - 1)) == 0)
        items = realloc(items, (size_t)(count > 0 ? count : 1) * 2 * size);
    if (items == NULL)
        leave();
    return items;
}

static text read_file(const char *name)
{
    struct stat about;
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size > 1 << 28)
        leave();
    text made = {room((size_t)about.st_size), 0, (size_t)about.st_size + 1};
    for (ssize_t got = 1; got > 0 && made.length < made.room - 1; made.length += (size_t)got)
        if ((got = read(file, made.start + made.length, made.room - 1 - made.length)) < 0)
            leave();
    close(file);
    return made;
}

/* The words of a command. */
typedef struct {
    char *at[MOST];
    int count;
} words;

static void put(words *to, const char *word)
{
    if (to->count == MOST - 1)
        leave();
    to->at[to->count++] = (char *)word;
}

typedef struct {
    words compiler, hooks;
    const char *header;
} plan;

static plan read_plan(const char *name)
{
    plan made = {{{NULL}, 0}, {{NULL}, 0}, NULL};
    text given = read_file(name);
    add(&given, "", 1);
    for (char *line = strtok(given.start, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *value = strchr(line, ' ');
        if (value == NULL)
            leave();
        *value++ = '\0';
        if (strcmp(line, "stamp") == 0) {
            struct stat now;
            char *path;
            unsigned long inode = strtoul(value, &value, 10), size = strtoul(value, &value, 10);
            unsigned long changed = strtoul(value, &path, 10);
            if (stat(path + 1, &now) < 0 || now.st_ino != inode || (unsigned long)now.st_size != size ||
                (unsigned long)now.st_mtim.tv_sec * 1000000000 + (unsigned long)now.st_mtim.tv_nsec !=
                    changed)
                leave();
        } else if (strcmp(line, "path") == 0) {
            const char *path = getenv("PATH");
            if (path == NULL || strcmp(path, value) != 0)
                leave();
        } else if (strcmp(line, "word") == 0)
            put(&made.compiler, value);
        else if (strcmp(line, "hook") == 0)
            put(&made.hooks, value);
        else if (strcmp(line, "header") == 0)
            made.header = value;
    }
    if (made.header == NULL || made.compiler.count == 0)
        leave();
    return made;
}

static bool begins(const char *word, const char *const *with)
{
    while (*with != NULL && strncmp(word, *with, strlen(*with)) != 0)
        with++;
    return *with != NULL;
}

/* Options that change neither what is made nor where it goes; but for these. */
static const char *const plain_options[] = {"-O",    "-g", "-W",    "-D",        "-U",
                                            "-I",    "-f", "-m",    "-std=",     "-pthread",
                                            "-pipe", "-w", "-ansi", "-pedantic", NULL};
static const char *const other_options[] = {"-Wp,",
                                            "-Wa,",
                                            "-Wl,",
                                            "-fsanitize",
                                            "-fno-sanitize",
                                            "-flto",
                                            "-ffat-lto",
                                            "-fuse-linker",
                                            "-fwhole",
                                            "-fprofile",
                                            "-ftest",
                                            "-fsplit",
                                            "-finstrument",
                                            "-fopenacc",
                                            "-fplugin",
                                            "-fpie",
                                            "-fPIE",
                                            "-fpic",
                                            "-fPIC",
                                            "-fdiagnostics",
                                            "-fdump",
                                            "-fmodule",
                                            "-fdeps",
                                            "-fcall",
                                            "-fstack-usage",
                                            "-fsyntax-only",
                                            "-fpreprocessed",
                                            "-fdirectives-only",
                                            "-fcallgraph",
                                            "-mx32",
                                            "-m32",
                                            "-mllvm",
                                            "-gsplit",
                                            "-gnone",
                                            "-fverbose",
                                            "-fworking",
                                            "-fcompare",
                                            "-Werror",
                                            NULL};

/* Read the command line: options to *options*, the object and the source; leave unless all are plain. */
static void read_command(char **given, words *options, const char **object, const char **source)
{
    bool compiles = false;
    put(options, "-g");
    for (; *given != NULL; given++) {
        char *word = *given;
        if (strcmp(word, "-c") == 0)
            compiles = true;
        else if (strcmp(word, "-o") == 0 && given[1] != NULL && *object == NULL)
            *object = *++given;
        else if (strcmp(word, "-I") == 0 || strcmp(word, "-D") == 0 || strcmp(word, "-U") == 0) {
            put(options, word);
            if (given[1] == NULL)
                leave();
            put(options, *++given);
        } else if (word[0] == '-' && begins(word, plain_options) && !begins(word, other_options)) {
            if (strcmp(word, "-g0") != 0)
                put(options, word);
        } else {
            size_t length = strlen(word);
            if (word[0] == '-' || word[0] == '@' || length < 3 || strcmp(word + length - 2, ".c") != 0 ||
                *source)
                leave();
            *source = word;
        }
    }
    for (int i = 1; i < options->count; i++)
        if (strpbrk(options->at[i], "{}"))
            leave(); /* a macro that may hide a brace */
    if (!compiles || *object == NULL || *source == NULL || (*object)[0] == '-')
        leave();
    struct stat in, out;
    if (stat(*source, &in) == 0 && stat(*object, &out) == 0 && in.st_ino == out.st_ino &&
        in.st_dev == out.st_dev)
        leave();
    /* Names that would have to be quoted or made shorter. */
    if (strpbrk(*source, "\\\"\n ") || strstr(*source, "//") || strstr(*source, "/./") ||
        strncmp(*source, "./", 2) == 0)
        leave();
}

/* Add *from* as a string of JSON in ASCII, as Python writes it. */
static void quote(text *to, const char *from, size_t length)
{
    const unsigned char *at = (const unsigned char *)from, *end = at + length;
    add(to, "\"", 1);
    while (at < end) {
        static const char escaped[] = "\"\\\n\t\r\f\b", letters[] = "\"\\ntrfb";
        const char *found = *at != '\0' ? strchr(escaped, *at) : NULL;
        unsigned code = *at, more = code < 0x80 ? 0 : code < 0xe0 ? 1 : code < 0xf0 ? 2 : 3;
        if (found != NULL) {
            add(to, (char[]){'\\', letters[found - escaped]}, 2);
            at++;
            continue;
        }
        if (more == 0 && code >= ' ' && code < 0x7f) {
            add(to, (const char *)at++, 1);
            continue;
        }
        if (more > 0) {
            static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
            code &= 0x3fu >> more;
            for (unsigned i = 1; i <= more; i++) {
                if (at + i >= end || (at[i] & 0xc0) != 0x80)
                    leave();
                code = code << 6 | (at[i] & 0x3f);
            }
            if (*at < 0xc2 || *at > 0xf4 || code < least[more] || code > 0x10ffff || (code >> 11) == 0x1b)
                leave(); /* not UTF-8 */
        }
        if (code >= 0x10000)
            say(to, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10), 0xdc00 + (code & 0x3ff));
        else
            say(to, "\\u%04x", code);
        at += more + 1;
    }
    add(to, "\"", 1);
}

static void quote_word(text *to, const char *name, const char *word)
{
    say(to, "\"%s\": ", name);
    quote(to, word, strlen(word));
    add(to, ", ", 2);
}

/* Add *document*, compressed and in base64, to *to*; return its length there. */
static size_t pack(text *to, const text *document)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    void *library = dlopen("libz.so.1", RTLD_NOW);
    int (*compress2)(unsigned char *, unsigned long *, const unsigned char *, unsigned long, int);
    if (library == NULL)
        leave();
    *(void **)&compress2 = dlsym(library, "compress2");
    unsigned long length = document->length + document->length / 100 + 1000;
    unsigned char *packed = room(length + 3);
    if (compress2 == NULL ||
        compress2(packed, &length, (unsigned char *)document->start, document->length, 9) != 0)
        leave();
    size_t before = to->length;
    for (unsigned long i = 0; i < length; i += 3) {
        unsigned long left = length - i;
        unsigned bits = (unsigned)packed[i] << 16 | (left > 1 ? (unsigned)packed[i + 1] << 8 : 0) |
                        (left > 2 ? packed[i + 2] : 0);
        add(to,
            (char[]){letters[bits >> 18], letters[bits >> 12 & 63], left > 1 ? letters[bits >> 6 & 63] : '=',
                     left > 2 ? letters[bits & 63] : '='},
            4);
    }
    return to->length - before;
}

/* Add the record of the source to *to*: see instrument/units.py. */
static void record(text *to, const char *file, const text *source, const text *probes, const text *regions,
                   int count, const words *options)
{
    text document = {NULL, 0, 0}, packed = {NULL, 0, 0};
    char *directory = getcwd(NULL, 0);
    if (directory == NULL)
        leave();
    add(&document, "{", 1);
    quote_word(&document, "directory", directory);
    quote_word(&document, "file", file);
    say(&document, "\"text\": ");
    quote(&document, source->start, source->length);
    say(&document, ", \"instrumented\": ");
    quote(&document, probes->start, probes->length);
    say(&document, ", \"regions\": [%.*s], \"remarks\": [], \"language\": \"c\", \"options\": [",
        (int)regions->length, regions->length > 0 ? regions->start : "");
    for (int i = 0; i < options->count; i++) {
        add(&document, ", ", i > 0 ? 2 : 0);
        quote(&document, options->at[i], strlen(options->at[i]));
    }
    add(&document, "]}", 2);
    size_t length = pack(&packed, &document);
    say(to,
        "\n#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n__asm__(");
    say(to,
        "\".pushsection .scalegraph.ids,\\\"\\\",@progbits\\n\"\n\"__scalegraph_ids:\\n\"\n\".zero %d\\n\"\n",
        count);
    say(to,
        "\".popsection\\n\"\n\".pushsection .scalegraph.units,\\\"\\\",@progbits\\n\"\n\".long %d, "
        "%zu\\n\"\n",
        count, length);
    for (size_t at = 0; at < length; at += WIDTH)
        say(to, "\".ascii \\\"%.*s\\\"\\n\"\n", (int)(length - at < WIDTH ? length - at : WIDTH),
            packed.start + at);
    say(to, "\".popsection\\n\");\n#pragma GCC diagnostic pop\n");
}

static volatile sig_atomic_t working, ended;
static sigset_t usual; /* signals that the compiler does not ignore as we do */

/* End the compiler, too; what waits for it tidies up. */
static void end(int number)
{
    ended = number;
    if (working > 0)
        kill(working, SIGTERM);
}

static void heed_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGHUP};
    for (int i = 0; i < 2; i++)
        if (signal(numbers[i], end) == SIG_IGN)
            signal(numbers[i], SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (signal(SIGINT, SIG_IGN) != SIG_IGN) /* the compiler ends, and then we tidy up */
        sigaddset(&usual, SIGINT);
}

/* Run a command with its messages in *messages*, a file; return whether it succeeded. */
static bool run(words *command, int messages)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    int status;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    command->at[command->count] = NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, messages, 2);
    if (ended || posix_spawnp(&child, command->at[0], &actions, &attributes, command->at, environ) != 0)
        leave();
    working = child;
    if (ended)
        kill(child, SIGTERM);
    if (waitpid(child, &status, 0) != child)
        leave();
    working = 0;
    return status == 0;
}

static void put_all(words *to, const words *from)
{
    for (int i = 0; i < from->count; i++)
        put(to, from->at[i]);
}

static words compiling(const plan *p, const words *options)
{
    words made = p->compiler;
    put_all(&made, options);
    put_all(&made, &p->hooks);
    return made;
}

/* Write *probes* as the copy of *source* that is compiled, and return the options for it. */
static words written(const char *source, const text *probes)
{
    static char mapped[20000], named[20000], beside[4096];
    const char *folder = getenv("TMPDIR"), *slash = strrchr(source, '/'),
               *name = slash != NULL ? slash + 1 : source;
    char *directory = getcwd(NULL, 0);
    int long_ =
        snprintf(scratch, sizeof scratch, "%s/scalegraph-cc-XXXXXX", folder && *folder ? folder : "/tmp");
    if (long_ >= 2000 || strlen(source) >= 2000 || directory == NULL || mkdtemp(scratch) == NULL) {
        scratch[0] = '\0';
        leave();
    }
    sprintf(copy, "%s/%s", scratch, name);
    sprintf(plain, "%s/plain", scratch);
    sprintf(beside, "%.*s", slash != NULL ? (int)(slash - source) + (slash == source) : 1,
            slash != NULL ? source : ".");
    bool whole = source[0] == '/';
    snprintf(mapped, sizeof mapped, "-fdebug-prefix-map=%s=%s%s%s", copy, whole ? "" : directory,
             whole ? "" : "/", source);
    snprintf(named, sizeof named, "-fmacro-prefix-map=%s=%s", copy, source);
    int file = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    for (size_t at = 0; at < probes->length;) {
        ssize_t put_ = write(file, probes->start + at, probes->length - at);
        if (put_ < 0)
            leave();
        at += (size_t)put_;
    }
    close(file);
    words made = {{NULL}, 0};
    put(&made, "-iquote");
    put(&made, beside);
    put(&made, "-Wno-error");
    put(&made, mapped);
    put(&made, named);
    return made;
}

int main(int count, char **given)
{
    words options = {{NULL}, 0};
    const char *object = NULL, *source = NULL;
    if (count < 4)
        leave();
    heed_signals();
    read_command(given + 2, &options, &object, &source);
    plan p = read_plan(given[1]);
    text content = read_file(source), probes = {NULL, 0, 0}, all = read_file(p.header),
         regions = {NULL, 0, 0};
    if (memchr(content.start, '\0', content.length) || memchr(content.start, '\r', content.length) ||
        strstr(content.start, "scalegraph"))
        leave();
    reading r = read_source(content.start, (int)content.length);
    int number = instrument(&r, source, &probes, &regions);
    text whole = {NULL, 0, 0};
    say(&whole, "#define SCALEGRAPH_SEPARATE 1\n#line 1 \"/scalegraph/sg_probe.h\"\n");
    add(&whole, all.start, all.length);
    add(&whole, probes.start, probes.length);
    record(&whole, source, &content, &probes, &regions, number, &options);
    words more = written(source, &whole), command = compiling(&p, &options);
    put_all(&command, &more);
    const char *const end[] = {"-c", copy, "-o", object};
    for (int i = 0; i < 4; i++)
        put(&command, end[i]);
    setenv("LC_ALL", "C", 1);
    setenv("SCALEGRAPH_WRAPPER", "c", 1);
    int messages = memfd_create("messages", MFD_CLOEXEC);
    if (messages < 0 || !run(&command, messages))
        leave();
    bool worked = true;
    if (lseek(messages, 0, SEEK_END) > 0) { /* which must refer to the source as the user wrote it */
        command = compiling(&p, &options);
        const char *const again[] = {"-c", source, "-o", plain};
        for (int i = 0; i < 4; i++)
            put(&command, again[i]);
        worked = run(&command, 2);
        if (!worked)
            unlink(object);
    }
    tidy();
    return worked ? 0 : 1;
}
