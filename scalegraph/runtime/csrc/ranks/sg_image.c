/* Static data of the ranks: the writable segments of the program and of the libraries it brings along
 * (sg_library.c), one copy per rank.
 *
 * A small segment is copied when another rank begins to run. For a large one each rank has its own pages,
 * which are moved into place and back together with the host's page-table entries, so that no page is faulted
 * in again. A segment of medium size is copied until its pages are large. Our own data is elsewhere
 * (toolchain/linking.py) and is shared. */
#include <link.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "sg_arch.h"
#include "sg_array.h"
#include "sg_library.h"
#include "sg_pages.h"
#include "sg_rank.h"

#define PAGE  SG_PAGES_BYTES
#define TABLE SG_PAGES_TABLE
/* Up to these sizes copying is faster than moving small pages and large pages (benchmarks/README.md). */
#define COPIED       16384ull
#define COPIED_FIRST 65536ull
/* A large page takes 0.1 ms to make, up to 3 ms if the host must free memory first; an exchange then takes 2
 * instead of 10 microseconds (benchmarks/README.md). Large pages are worth it after this many exchanges per
 * rank, if they take no more than this much memory and this fraction of the host's, and if a rank's data
 * needs no more than two. */
#define WORTH_LARGE  16ull
#define MOST_LARGE   (1ull << 30)
#define PART_LARGE   16
#define PURPOSE      "the static data of the ranks"
#define DATA_ADDRESS 0x3000000ull /* toolchain/linking.py */

typedef struct part {
    char *at;
    size_t size, whole; /* whole: in whole pages, if pages are exchanged */
    bool pages;
    bool copied;       /* for now, although the ranks have pages */
    bool large;        /* its pages are large */
    uint64_t home;     /* where rank 0's pages are while others run, then rank 1's .. */
    const char *fresh; /* its contents before its constructors run */
} part;

struct sg_image {
    uint32_t number;
    char *copy[]; /* of the parts that are copied */
};

static struct {
    part *part;
    uint32_t parts, room;
    uint64_t homes;     /* address of the next part's homes */
    uint64_t exchanges; /* between ranks, so far */
} program = {.homes = SG_IMAGE_BASE};

extern char __data_start[] __attribute__((weak));

static void *map(uint64_t at, size_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *got = mmap((void *)at, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return got == (void *)at ? got : NULL;
}

/* Gives every rank pages for `p`: whole page tables if nothing else uses the last one. */
static void make_homes(part *p)
{
    uint64_t end = (uint64_t)p->at + p->size, page = (end + PAGE - 1) & ~(PAGE - 1);
    uint64_t table = (end + TABLE - 1) & ~(TABLE - 1);
    bool whole = (uint64_t)p->at % TABLE == 0 && (table == page || map(page, table - page) != NULL);
    p->whole = (whole ? table : page) - (uint64_t)p->at;
    p->home = program.homes;
    program.homes += (p->whole * sg->ranks + TABLE - 1) & ~(TABLE - 1);
    if (program.homes > SG_RANK_HEAP_BASE || map(p->home, p->whole * sg->ranks) == NULL)
        sg_stop(SG_STATUS_INTERNAL, "no memory for %s", PURPOSE);
    madvise((void *)p->home, p->whole * sg->ranks, MADV_NOHUGEPAGE); /* mostly empty */
}

/* `fresh`: the initial contents; NULL: what is there now. */
static void add_part(char *low, char *high, const char *fresh)
{
    if (low >= high)
        return;
    SG_ARRAY_HOLD(program.part, program.room, program.parts, 4);
    part *p = &program.part[program.parts++];
    *p = (part){.at = low, .size = (size_t)(high - low), .fresh = fresh};
    p->pages = p->size > COPIED;
    if (p->pages) {
        p->at = (char *)((uintptr_t)low & ~(PAGE - 1));
        p->size = (size_t)(high - p->at);
        p->copied = p->size <= COPIED_FIRST;
        make_homes(p);
    }
    if (fresh == NULL)
        p->fresh = sg_pages_keep(p->at, p->size, PURPOSE);
}

/* Adds the program's writable segments that lie where the linker was told to put its data. */
static int add_segments(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        char *low = (char *)(info->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) && (uintptr_t)low >= DATA_ADDRESS)
            add_part(low, low + segment->p_memsz, NULL);
    }
    return 1; /* the program itself comes first */
}

/* Bytes in its non-zero pages. */
static uint64_t filled_bytes(const part *p)
{
    static const char zero[PAGE] = {0};
    uint64_t bytes = 0;
    for (size_t i = 0; i < p->size; i += PAGE) {
        size_t size = p->size - i < PAGE ? p->size - i : PAGE;
        bytes += memcmp(p->fresh + i, zero, size) != 0 ? size : 0;
    }
    return bytes;
}

uint64_t sg_image_filled_bytes(void)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < program.parts; i++)
        bytes += filled_bytes(&program.part[i]);
    return bytes;
}

uint64_t sg_image_bytes(void)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < program.parts; i++)
        bytes += program.part[i].size;
    return bytes;
}

void sg_image_open(void)
{
    if ((uintptr_t)__data_start < DATA_ADDRESS || (uintptr_t)__data_start >= DATA_ADDRESS + PAGE)
        sg_stop(SG_STATUS_UNSUPPORTED, "the program places its static data itself or has more than 27 MiB of "
                                       "code, therefore its ranks cannot have data of their own");
    dl_iterate_phdr(add_segments, NULL);
    const part *last = &program.part[program.parts - 1];
    sg_mem_alias(sg->mem, DATA_ADDRESS, (uint64_t)last->at + last->size - DATA_ADDRESS, sg->own_processors);
    for (const sg_library_data *data = sg_libraries_data(); data != NULL; data = data->next)
        add_part(data->low, data->high, data->fresh);
}

struct sg_image *sg_image_new(uint32_t number)
{
    struct sg_image *image = sg_new(sizeof *image + program.parts * sizeof(char *));
    image->number = number;
    for (uint32_t i = 0; i < program.parts; i++)
        if (!program.part[i].pages)
            image->copy[i] = sg_new(program.part[i].size);
    return image;
}

bool sg_image_holds(const char *low, const char *high)
{
    for (uint32_t i = 0; i < program.parts; i++)
        if (low < program.part[i].at + program.part[i].size && program.part[i].at < high)
            return true;
    return false;
}

static int holds_static_data(struct dl_phdr_info *info, size_t size, void *address)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) &&
            (uintptr_t)address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz)
            return 1;
    }
    return 0;
}

bool sg_image_of_library(const void *address)
{
    const char *at = address;
    return !sg_image_holds(at, at + 1) && dl_iterate_phdr(holds_static_data, (void *)at) != 0;
}

static void move(const part *p, uint64_t from, uint64_t to)
{
    if (!sg_pages_move(from, to, p->whole, p->large))
        sg_stop(SG_STATUS_INTERNAL, "no memory for %s", PURPOSE);
}

static uint64_t home_of(const part *p, const struct sg_image *image)
{
    return p->home + p->whole * image->number;
}

static bool may_be_large(const part *p)
{
    struct sysinfo host;
    uint64_t bytes = p->whole * sg->ranks;
    if ((uint64_t)p->at % TABLE != 0 || p->whole % TABLE != 0 || p->whole > 2 * TABLE || bytes > MOST_LARGE)
        return false;
    return sysinfo(&host) == 0 && bytes <= (uint64_t)host.totalram * host.mem_unit / PART_LARGE;
}

/* Makes the pages of `p` large; all of them are at home. */
static void enlarge(part *p)
{
    if (!may_be_large(p))
        return;
    if (p->copied)
        munmap(p->at, p->whole);
    p->copied = false;
    p->large = sg_pages_enlarge((uint64_t)p->at, p->home, p->whole, sg->ranks);
}

static void leave(const part *p, const struct sg_image *image)
{
    if (p->copied)
        memcpy((char *)home_of(p, image), p->at, p->size);
    else
        move(p, (uint64_t)p->at, home_of(p, image));
}

static void enter(const part *p, const struct sg_image *image)
{
    if (p->copied)
        memcpy(p->at, (const char *)home_of(p, image), p->size);
    else
        move(p, home_of(p, image), (uint64_t)p->at);
}

/* The first image takes over what is already in place: `before` is NULL. */
void sg_image_exchange(struct sg_image *before, struct sg_image *image)
{
    bool due = ++program.exchanges == WORTH_LARGE * sg->ranks;
    for (uint32_t i = 0; i < program.parts; i++) {
        part *p = &program.part[i];
        if (p->pages) {
            if (before != NULL)
                leave(p, before);
            else
                sg_pages_copy((char *)home_of(p, image), p->at, p->size);
            if (due)
                enlarge(p);
            enter(p, image);
        } else if (before != NULL) {
            memcpy(before->copy[i], p->at, p->size);
            memcpy(p->at, image->copy[i], p->size);
        }
    }
}

/* ---- library variables that the linker placed in the program: std::cout, optind ---- */

/* The library initialises them, some only once, while rank 0 runs the program's constructors; a library whose
 * constructors run in each rank initialises them each time. */
typedef struct copied {
    struct copied *next;
    const char *name;
    char *at;
    size_t size;
    char value[];
} copied;
static copied *all_copied = NULL;

extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));

static ElfW(Addr) dynamic_value(ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = _DYNAMIC; d != NULL && d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return d->d_un.d_ptr;
    return 0;
}

void sg_image_note_libraries(void)
{
    const ElfW(Rela) *r = (const ElfW(Rela) *)dynamic_value(DT_RELA);
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)dynamic_value(DT_SYMTAB);
    const char *names = (const char *)dynamic_value(DT_STRTAB);
    for (size_t left = dynamic_value(DT_RELASZ) / sizeof *r; left > 0; left--, r++) {
        if (ELF64_R_TYPE(r->r_info) != SG_ARCH_COPIED || r->r_offset < DATA_ADDRESS) /* vtables */
            continue;
        const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(r->r_info)];
        copied *c = sg_new(sizeof *c + symbol->st_size);
        *c = (copied){all_copied, names + symbol->st_name, (char *)r->r_offset, symbol->st_size};
        memcpy(c->value, c->at, c->size);
        all_copied = c;
    }
}

void sg_image_keep_libraries(void)
{
    for (copied *c = all_copied; c != NULL; c = c->next)
        if (!sg_libraries_define(c->name))
            memcpy(c->value, c->at, c->size);
}

void sg_image_reset(struct sg_image *image)
{
    for (uint32_t i = 0; i < program.parts; i++) {
        const part *p = &program.part[i];
        (void)image;
        if (p->pages)
            sg_pages_copy(p->at, p->fresh, p->size);
        else
            memcpy(p->at, p->fresh, p->size);
    }
    for (const copied *c = all_copied; c != NULL; c = c->next)
        memcpy(c->at, c->value, c->size);
}
