/* Hooks inlined in the program's code: toolchain/csrc writes them, and their table in a section that
 * is not loaded. */
#include <elf.h>
#include <sys/mman.h>

#include "sg_arch.h"
#include "sg_inline.h"
#include "sg_runtime.h"

#define PURPOSE "the accounts of the simulation"
#define TABLE   ".debug_scalegraph"

/* The offsets that the assembler writes. */
_Static_assert(offsetof(sg_processor, time) == 0 && offsetof(sg_processor, time_limit) == 8 &&
                   offsetof(sg_processor, executed) == 24 && offsetof(sg_processor, slot_parts) == 32 &&
                   offsetof(sg_processor, fast) == 40,
               "toolchain/csrc/assembler.h has these offsets");

/* One per counted segment, merged by the linker from all objects. */
extern uint64_t __start_scalegraph_slots[] __attribute__((weak));
extern uint64_t __stop_scalegraph_slots[] __attribute__((weak));

static struct {
    const sg_inlined *table;
    size_t count;
    uint32_t *place_of; /* by offset of the return address of a block's hook */
    bool adapted;
} hooks = {0};

uint32_t sg_inline_slots(void)
{
    return (uint32_t)(__stop_scalegraph_slots - __start_scalegraph_slots);
}

/* ---- the table ---- */

static const Elf64_Shdr *section_of(const char *image, size_t size, const char *name)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    if (size < sizeof *head || head->e_shoff == 0 ||
        head->e_shoff + (uint64_t)head->e_shnum * sizeof(Elf64_Shdr) > size)
        return NULL;
    const Elf64_Shdr *section = (const Elf64_Shdr *)(image + head->e_shoff);
    const char *names = image + section[head->e_shstrndx].sh_offset;
    for (uint32_t i = 1; i < head->e_shnum; i++)
        if (strcmp(names + section[i].sh_name, name) == 0)
            return &section[i];
    return NULL;
}

/* A program that runs by itself may have lost the table: all that its hooks do is then called. */
static void read_table(void)
{
    size_t size = 0;
    const char *image = sg_map_file("/proc/self/exe", &size);
    const Elf64_Shdr *section = image == NULL ? NULL : section_of(image, size, TABLE);
    if (section != NULL && !(section->sh_flags & SHF_COMPRESSED) &&
        section->sh_offset + section->sh_size <= size) {
        hooks.table = (const sg_inlined *)(image + section->sh_offset);
        hooks.count = section->sh_size / sizeof(sg_inlined);
    } else if (!sg->alone) {
        sg_stop(SG_STATUS_INTERNAL,
                "the program's table of hooks (section " TABLE ") is missing or compressed: build it without "
                "strip and -gz");
    }
}

static bool is_in_text(const sg_inlined *h)
{
    return h->start >= sg->text_low && h->start <= sg->text_high;
}

static uint64_t end_of(const sg_inlined *h)
{
    return h->start + h->length;
}

/* Index of its segment in an account's executions. */
static uint32_t place_of(const sg_inlined *h)
{
    return sg->blocks_count + (uint32_t)((h->slot - (uintptr_t)__start_scalegraph_slots) / sizeof(uint64_t));
}

/* Sets, for each slot, the block it counts and its number of references. */
static void fill_slots(void)
{
    for (const sg_inlined *h = hooks.table; h < hooks.table + hooks.count; h++) {
        if (!is_in_text(h) || h->kind == SG_INLINED_LEFT_OUT)
            continue;
        sg_slot *slot = &sg->slots[place_of(h)];
        if (h->kind == SG_INLINED_BLOCK) {
            hooks.place_of[end_of(h) - sg->text_low] = place_of(h);
            slot->block = sg->block_index[end_of(h) - sg->text_low];
        } else if (h->kind == SG_INLINED_SEGMENT)
            slot->block = SG_NO_BLOCK;
        else
            *(h->kind == SG_INLINED_READ ? &slot->reads : &slot->writes) += 1;
    }
}

/* The hooks of a segment are consecutive in the table, starting with the one that counts. */
static void fill_behind(void)
{
    sg_behind behind = {0, 0};
    uint32_t slot = 0;
    for (const sg_inlined *h = hooks.table + hooks.count; h-- > hooks.table;) {
        if (!is_in_text(h) || h->kind == SG_INLINED_LEFT_OUT)
            continue;
        if (h->slot != slot)
            behind = (sg_behind){0, 0};
        slot = h->slot;
        sg->behind[end_of(h) - sg->text_low] = behind;
        behind.reads += h->kind == SG_INLINED_READ;
        behind.writes += h->kind == SG_INLINED_WRITE;
    }
}

void sg_inline_open(void)
{
    uint32_t slots = sg_inline_slots();
    sg->slots = sg_reserve(sg->executions_count * sizeof *sg->slots, PURPOSE);
    sg->behind = sg_reserve((sg->text_high - sg->text_low + 1) * sizeof *sg->behind, PURPOSE);
    for (uint32_t i = 0; i < sg->blocks_count; i++)
        sg->slots[i].block = i;
    if (slots == 0)
        return;
    read_table();
    hooks.place_of = sg_reserve((sg->text_high - sg->text_low + 1) * sizeof *hooks.place_of, PURPOSE);
    fill_slots();
    fill_behind();
    sg->uncosted = sg_reserve(slots * sizeof *sg->uncosted, PURPOSE);
    for (uint32_t i = sg->blocks_count; i < sg->executions_count; i++)
        if (sg->slots[i].block == SG_NO_BLOCK)
            sg->uncosted[sg->uncosted_count++] = i;
}

uint32_t sg_inline_place(const void *site)
{
    uintptr_t offset = (uintptr_t)site - sg->text_low;
    return hooks.place_of != NULL && offset <= sg->text_high - sg->text_low ? hooks.place_of[offset] : 0;
}

uint64_t *sg_inline_parts(const sg_speed *speed, uint32_t place)
{
    static uint64_t none = 0;
    if (place == 0)
        return &none;
    return (uint64_t *)((uintptr_t)speed->slot_parts + (uintptr_t)sg_inline_slot(place));
}

void sg_inline_crashed(sg_processor *p, uintptr_t site)
{
    uintptr_t last = 0; /* previous hook */
    for (const sg_inlined *h = hooks.table; h < hooks.table + hooks.count; h++)
        if (is_in_text(h) && end_of(h) <= site && end_of(h) > last)
            last = end_of(h);
    if (last != 0)
        sg_behind_take(p, sg->behind[last - sg->text_low]);
}

/* ---- processors ---- */

void sg_inline_count_apart(sg_processor *p, bool apart)
{
    uint64_t first = sg->blocks_count + (apart ? sg->executions_count : 0);
    p->executed_from =
        offsetof(sg_account, executions) + first * sizeof(uint64_t) - (uintptr_t)__start_scalegraph_slots;
    sg_account_set(p, p->account);
}

/* Biased, to be indexed by a slot's address. */
static const uint64_t *biased(const uint64_t *parts)
{
    return (const uint64_t *)((uintptr_t)parts - (uintptr_t)__start_scalegraph_slots);
}

const uint64_t *sg_inline_same_parts(uint64_t parts)
{
    uint32_t slots = sg_inline_slots();
    uint64_t *all = sg_new((slots + 1) * sizeof *all);
    for (uint32_t i = 0; i < slots; i++)
        all[i] = sg->slots[sg->blocks_count + i].block == SG_NO_BLOCK ? 0 : parts;
    return biased(all);
}

static const uint64_t *slot_parts(const uint64_t *parts)
{
    uint32_t slots = sg_inline_slots();
    uint64_t *of_slot = sg_new((slots + 1) * sizeof *of_slot);
    for (uint32_t i = 0; i < slots; i++) {
        uint32_t block = sg->slots[sg->blocks_count + i].block;
        if (block != SG_NO_BLOCK)
            of_slot[i] = parts[block];
    }
    return biased(of_slot);
}

bool sg_inline_open_code(bool writable)
{
    uintptr_t low = sg->text_low & ~(uintptr_t)4095, size = sg->text_high - low;
    return mprotect((void *)low, size, PROT_READ | PROT_EXEC | (writable ? PROT_WRITE : 0)) == 0;
}

/* Writes the geometry into the code of all references. False: the host does not allow it. */
static bool adapt(const sg_filter *filter)
{
    uint32_t mask = (uint32_t)filter->mask;
    if (filter->mask > UINT32_MAX >> 1 || !sg_inline_open_code(true))
        return false;
    for (const sg_inlined *h = hooks.table; h < hooks.table + hooks.count; h++) {
        if (!is_in_text(h) || (h->kind != SG_INLINED_READ && h->kind != SG_INLINED_WRITE))
            continue;
        *(uint8_t *)(h->start + h->shift_at) = (uint8_t)filter->shift;
        memcpy((void *)(h->start + h->mask_at), &mask, sizeof mask);
    }
    return sg_inline_open_code(false);
}

void sg_inline_begin(const sg_filter *first)
{
    sg_idle_processor.slot_parts = sg_inline_same_parts(1);
    for (uint32_t i = 0; i < sg->speeds; i++)
        sg->speed[i].slot_parts = slot_parts(sg->speed[i].parts);
    if (sg_inline_slots() == 0)
        return;
    uint64_t *nothing = sg_reserve((first->mask + 1) * sizeof *nothing, PURPOSE);
    sg_idle_processor.fast = nothing;
    bool adapted = hooks.adapted = hooks.count > 0 && adapt(first);
    for (uint32_t i = 0; i < sg->processors; i++) {
        sg_processor *p = &sg->processor[i];
        p->slot_parts = sg_speed_of(i)->slot_parts;
        /* an observer may have taken the filter away */
        p->fast = adapted && p->mask == first->mask && p->shift == first->shift ? p->filter : nothing;
    }
}

bool sg_inline_each(void (*visit)(const sg_inlined *hook))
{
    for (const sg_inlined *h = hooks.table; hooks.adapted && h < hooks.table + hooks.count; h++)
        if (is_in_text(h) && h->kind != SG_INLINED_LEFT_OUT)
            visit(h);
    return hooks.adapted;
}

uint64_t *sg_inline_slot(uint32_t place)
{
    return &__start_scalegraph_slots[place - sg->blocks_count];
}
