/* What is at an address.
 *
 * The heap has a map: for each page either the large block that covers it, or a table of small blocks by
 * granules of 16 bytes, which no two blocks share. Symbols come from the executable's symbol table. A
 * freed block stays in the map until another replaces it; its record keeps its former extent. */
#include "sg_variable.h"

#include <elf.h>
#include <sys/mman.h>

#include "sg_array.h"
#include "sg_cells.h"
#include "sg_observers.h"
#include "sg_rank.h"

#define HEAP_SPAN   (1ull << 44) /* the largest run.arena_bytes */
#define CHUNK_SHIFT 26           /* one entry of the map's root */
#define CHUNK_PAGES (1u << (CHUNK_SHIFT - 12))
#define GRANULES    256u /* of 16 bytes, per page */
#define MOST_BLOCKS (1u << 25)
#define MOST        (1u << 20) /* variables */

/* A heap block, in use or freed. */
typedef struct block {
    uint64_t start, size;
    uint32_t variable;
    uint32_t next_free; /* IN_USE: not free */
} block;

#define IN_USE UINT32_MAX

typedef struct symbol {
    uint64_t start, end;
    uint32_t variable; /* 0: no events yet */
} symbol;

/* A variable looked up, and its extent; valid until a block is created. */
typedef struct recent {
    uint64_t start, size, births;
    sg_variable *variable;
} recent;

#define RECENT 64u /* by page */

/* Current and peak bytes of a variable used by a rank; a variable of several ranks gets the sum, whatever
 * order the host runs them in. */
typedef struct usage {
    uint64_t now, most;
} usage;

typedef struct usages {
    usage *of; /* by variable */
    uint32_t room;
} usages;

/* A page of the map: 0, number of a block << 1 | 1, or the address of a table of GRANULES numbers. */
struct sg_variables_state {
    uint64_t **chunk;
    block *blocks;
    uint32_t blocks_count, first_free;
    sg_variable *variables;
    usages *used; /* by rank */
    uint32_t count;
    uint32_t *by_site; /* variable of an allocation site */
    symbol *symbols;
    uint32_t symbols_count;
    uint64_t births;
    uint32_t *by_stack;   /* variable of a stack, by its number */
    uint8_t *own_of_line; /* of the runtime's own variables */
    uint64_t own_lines, own_line_bytes;
    uint32_t by_own[SG_OWN_COUNT];
    recent recent[RECENT];
};

static sg_variables_state *variables = NULL; /* NULL: not open yet */

static uint32_t new_variable(sg_variables_state *v, enum sg_variable_kind kind, uint32_t number,
                             uint64_t address)
{
    if (v->count == MOST)
        return 0;
    sg_variable *fresh = &v->variables[v->count];
    fresh->kind = kind;
    fresh->number = number;
    fresh->address = address;
    return v->count++;
}

/* ---- symbols ---- */

static bool is_object(const Elf64_Sym *s)
{
    return ELF64_ST_TYPE(s->st_info) == STT_OBJECT && s->st_size > 0 && s->st_shndx != SHN_UNDEF;
}

static bool precedes(const symbol *a, const symbol *b)
{
    return a->start != b->start ? a->start < b->start : a->end > b->end;
}

/* By address; of two that begin together the longer first; gaps after Sedgewick. */
static void sort(symbol *s, uint32_t count)
{
    static const uint32_t gaps[] = {146305, 36289, 8929, 2161, 505, 109, 19, 5, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (uint32_t i = gaps[g]; i < count; i++) {
            symbol moved = s[i];
            uint32_t at = i;
            for (; at >= gaps[g] && precedes(&moved, &s[at - gaps[g]]); at -= gaps[g])
                s[at] = s[at - gaps[g]];
            s[at] = moved;
        }
}

/* Of overlapping symbols, keeps the one that begins first. */
static uint32_t without_overlaps(symbol *s, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || s[i].start >= s[kept - 1].end)
            s[kept++] = s[i];
    return kept;
}

static void read_symbols(sg_variables_state *v)
{
    size_t size;
    const char *image = sg_map_file("/proc/self/exe", &size);
    if (image == NULL)
        return;
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    const Elf64_Shdr *section = (const Elf64_Shdr *)(image + head->e_shoff);
    for (int i = 0; i < head->e_shnum && head->e_shoff != 0; i++) {
        if (section[i].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *from = (const Elf64_Sym *)(image + section[i].sh_offset);
        size_t count = section[i].sh_size / sizeof *from;
        v->symbols = sg_reserve((count + 1) * sizeof(symbol), "the map of the program\'s variables");
        for (size_t k = 0; k < count; k++)
            if (is_object(&from[k]))
                v->symbols[v->symbols_count++] =
                    (symbol){from[k].st_value, from[k].st_value + from[k].st_size, 0};
    }
    munmap((void *)image, size);
    sort(v->symbols, v->symbols_count);
    v->symbols_count = without_overlaps(v->symbols, v->symbols_count);
}

static uint32_t symbol_at(sg_variables_state *v, uint64_t address, uint64_t *start, uint64_t *end)
{
    uint32_t low = 0, high = v->symbols_count;
    while (low < high) { /* the first that begins after the address */
        uint32_t middle = (low + high) / 2;
        if (v->symbols[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || address >= v->symbols[low - 1].end)
        return 0;
    symbol *s = &v->symbols[low - 1];
    *start = s->start;
    *end = s->end;
    if (s->variable == 0) {
        s->variable = new_variable(v, SG_KIND_GLOBAL, 0, s->start);
        v->variables[s->variable].bytes = s->end - s->start;
    }
    return s->variable;
}

/* ---- the heap ---- */

static uint64_t *page_of(sg_variables_state *v, uint64_t address, bool make)
{
    uint64_t offset = address - SG_HEAP_BASE;
    uint64_t **chunk = &v->chunk[offset >> CHUNK_SHIFT];
    if (*chunk == NULL) {
        if (!make)
            return NULL;
        *chunk = sg_new(CHUNK_PAGES * sizeof(uint64_t));
    }
    return &(*chunk)[offset >> 12 & (CHUNK_PAGES - 1)];
}

/* Writes a block's number (0: none) to the map. */
static void mark(sg_variables_state *v, uint64_t start, uint64_t size, uint32_t number, bool large)
{
    if (large) {
        for (uint64_t page = start & ~4095ull; page < start + size; page += 4096)
            *page_of(v, page, true) = (uint64_t)number << 1 | 1;
        return;
    }
    for (uint64_t at = start & ~15ull; at < start + size;) {
        uint64_t *page = page_of(v, at, true);
        if (*page == 0 || (*page & 1))
            *page = (uint64_t)(uintptr_t)sg_new(GRANULES * sizeof(uint32_t));
        uint32_t *table = (uint32_t *)(uintptr_t)*page;
        uint64_t end = (at & ~4095ull) + 4096;
        for (; at < start + size && at < end; at += 16)
            table[at >> 4 & (GRANULES - 1)] = number;
    }
}

static block *block_at(sg_variables_state *v, uint64_t address)
{
    const uint64_t *page = page_of(v, address, false);
    if (page == NULL || *page == 0)
        return NULL;
    uint64_t number = *page & 1 ? *page >> 1 : ((uint32_t *)(uintptr_t)*page)[address >> 4 & (GRANULES - 1)];
    block *b = &v->blocks[number];
    return number != 0 && address - b->start < b->size ? b : NULL;
}

static uint32_t variable_of_site(sg_variables_state *v, const void *caller)
{
    uint32_t site = (uint32_t)(sg_site_of(caller) - sg->sites);
    if (v->by_site[site] == 0)
        v->by_site[site] = new_variable(v, SG_KIND_HEAP, 0, site == 0 ? 0 : (uint64_t)(uintptr_t)caller);
    return v->by_site[site];
}

static usage *usage_of(sg_variables_state *v, uint32_t variable)
{
    usages *mine = &v->used[sg->rank != NULL ? sg->rank->number : 0];
    if (variable >= mine->room) {
        uint32_t room = variable < 8 ? 16 : 2 * variable;
        mine->of = sg_larger(mine->of, mine->room * sizeof(usage), room * sizeof(usage));
        mine->room = room;
    }
    return &mine->of[variable];
}

static void note_allocated(const void *pointer, uint64_t size, const void *caller, bool large)
{
    sg_variables_state *v = variables;
    uint64_t start = (uint64_t)(uintptr_t)pointer;
    if (start - SG_HEAP_BASE >= HEAP_SPAN || size == 0)
        return;
    uint32_t number = v->first_free;
    if (number != 0)
        v->first_free = v->blocks[number].next_free;
    else if (v->blocks_count < MOST_BLOCKS)
        number = v->blocks_count++;
    v->births++;
    mark(v, start, size, number, large);
    if (number == 0)
        return;
    uint32_t variable = variable_of_site(v, caller);
    v->blocks[number] = (block){start, size, variable, IN_USE};
    sg_variable *to = &v->variables[variable];
    to->blocks++;
    usage *used = usage_of(v, variable);
    used->now += size;
    if (used->most < used->now) {
        to->bytes += used->now - used->most;
        used->most = used->now;
    }
}

static void note_freed(const void *pointer)
{
    sg_variables_state *v = variables;
    uint64_t start = (uint64_t)(uintptr_t)pointer;
    if (start - SG_HEAP_BASE >= HEAP_SPAN)
        return;
    block *b = block_at(v, start);
    if (b == NULL || b->start != start || b->next_free != IN_USE)
        return;
    usage_of(v, b->variable)->now -= b->size; /* its old identity is known until the record is reused */
    b->next_free = v->first_free;
    v->first_free = (uint32_t)(b - v->blocks);
}

/* ---- the runtime's own ---- */

static void note_own(uint64_t address, uint64_t bytes, enum sg_own own)
{
    sg_variables_state *v = variables;
    uint64_t first = (address - SG_VARIABLE_BASE) / v->own_line_bytes;
    uint64_t end = first + bytes / v->own_line_bytes;
    SG_ARRAY_HOLD(v->own_of_line, v->own_lines, end - 1, 4096);
    memset(v->own_of_line + first, own, end - first);
}

static uint32_t own_of(const sg_variables_state *v, uint64_t address)
{
    uint64_t line = (address - SG_VARIABLE_BASE) / v->own_line_bytes;
    return line < v->own_lines ? v->own_of_line[line] : SG_OWN_VARIOUS;
}

bool sg_variable_is_of(uint64_t address, enum sg_own a, enum sg_own b)
{
    uint32_t own = own_of(variables, address);
    return address >= SG_VARIABLE_BASE && (own == a || own == b);
}

static uint32_t own_at(sg_variables_state *v, uint64_t address)
{
    uint32_t own = own_of(v, address);
    if (v->by_own[own] == 0)
        v->by_own[own] = new_variable(v, SG_KIND_RUNTIME, own, 0);
    return v->by_own[own];
}

static uint32_t stack_at(sg_variables_state *v, uint64_t address, uint64_t *start, uint64_t *end)
{
    uint64_t stride = sg_stack_stride(), number = (address - SG_STACK_BASE) / stride;
    if (number >= sg->most_threads)
        return 0;
    *start = SG_STACK_BASE + number * stride;
    *end = *start + stride;
    if (v->by_stack[number] == 0)
        v->by_stack[number] = new_variable(v, SG_KIND_STACK, (uint32_t)number, 0);
    return v->by_stack[number];
}

/* ---- queries ---- */

static void open_variables(void)
{
    sg_variables_state *v = sg_new(sizeof *v);
    v->chunk =
        sg_reserve((HEAP_SPAN >> CHUNK_SHIFT) * sizeof *v->chunk, "the map of the program\'s variables");
    v->blocks = sg_reserve(MOST_BLOCKS * sizeof *v->blocks, "the map of the program\'s variables");
    v->variables = sg_reserve(MOST * sizeof *v->variables, "the map of the program\'s variables");
    v->used = sg_new((sg->config.ranks + 1) * sizeof *v->used);
    v->by_site = sg_reserve((sg->text_high - sg->text_low) / 5 * sizeof *v->by_site + 64,
                            "the map of the program\'s variables");
    v->by_stack = sg_new(SG_MAX_THREADS * sizeof *v->by_stack);
    v->own_line_bytes = sg_line_bytes();
    v->blocks_count = 1;
    v->count = 0;
    new_variable(v, SG_KIND_OTHER, 0, 0);
    read_symbols(v);
    variables = v;
}

uint32_t sg_variable_at(uint64_t address, uint64_t *start, uint64_t *end)
{
    sg_variables_state *v = variables;
    *start = address;
    *end = address + 1;
    if (address - SG_HEAP_BASE < HEAP_SPAN && address < SG_STACK_BASE) {
        const block *b = block_at(v, address);
        if (b == NULL)
            return 0;
        *start = b->start;
        *end = b->start + b->size;
        return b->variable;
    }
    if (address >= SG_VARIABLE_BASE && address - SG_VARIABLE_BASE < sg->next_variable) {
        *start = address / v->own_line_bytes * v->own_line_bytes;
        *end = *start + v->own_line_bytes;
        return own_at(v, address);
    }
    if (address >= SG_STACK_BASE && address < SG_OWN_HEAP_BASE)
        return stack_at(v, address, start, end);
    return symbol_at(v, address, start, end);
}

sg_variable *sg_variable_number(uint32_t number)
{
    return &variables->variables[number];
}

/* The same, using recent lookups. */
static inline sg_variable *recent_at(sg_variables_state *v, uint64_t address)
{
    recent *r = &v->recent[address >> 12 & (RECENT - 1)];
    if (SG_LIKELY(address - r->start < r->size && r->births == v->births))
        return r->variable;
    uint64_t start, end;
    sg_variable *variable = sg_variable_number(sg_variable_at(address, &start, &end));
    if (address < SG_VARIABLE_BASE) /* ownership may change there */
        *r = (recent){start, end - start, v->births, variable};
    return variable;
}

static void note_reference(sg_processor *p, const sg_pending *r, const sg_outcome *o)
{
    sg_variable *to = recent_at(variables, r->address);
    (void)p;
    to->misses += o->count[SG_COUNTER_MISSES];
    to->remote += o->count[SG_COUNTER_REMOTE_READS] + o->count[SG_COUNTER_REMOTE_WRITES];
    to->upgrades += o->count[SG_COUNTER_UPGRADES];
    to->invalidations += o->count[SG_COUNTER_INVALIDATIONS];
    to->cycles += o->cycles;
}

uint64_t sg_variable_births(void)
{
    return variables->births;
}

uint64_t sg_variable_misses(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < variables->count; i++)
        sum += variables->variables[i].misses;
    return sum;
}

/* All of them, so that numbers stay valid. */
static uint64_t put_variables(struct sg_writer *w)
{
    sg_put(w, variables->variables, variables->count * sizeof(sg_variable));
    return variables->count;
}

static void report_cells(sg_cells *cells)
{
    sg_variable *first = variables->variables;
    sg_cells_add(cells, &variables, &first->misses, sizeof *first,
                 offsetof(sg_variable, cycles) + sizeof first->cycles - offsetof(sg_variable, misses),
                 variables->count);
}

static const sg_result_part parts[] = {{SG_SECTION_VARIABLES, sizeof(sg_variable), put_variables}};

const sg_observer sg_observer_variable = {
    .name = "variables",
    .open = open_variables,
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .allocated = note_allocated,
    .freed = note_freed,
    .owns = note_own,
    .referenced = note_reference,
    .cells = report_cells,
};
