/* The program's code without its hooks, see sg_bare.h.
 *
 * Between hooks, compiled code is a few instructions long, so jumping over hooks is bound by the host's
 * instruction cache: a hook takes 45 bytes. The copy has no calls: nobody's return address is in it, so that
 * threads are switched, exceptions are thrown and sites are recognised in the program's own code only. */
#include "sg_bare.h"

#include <sys/mman.h>

#include "sg_array.h"
#include "sg_instruction.h"
#include "sg_runtime.h"

#define PURPOSE "the code without hooks"
#define PAGE    4096u
#define LOWEST  0x10000u    /* Linux: vm.mmap_min_addr is at most this */
#define HIGHEST 0x7ff00000u /* jumps reach 2 GiB */
#define APART   0x04000000u /* of places that are tried */

/* What is known of an address of the program: nothing, the hook that begins there and is not copied yet, or
 * where the instruction was copied to. */
#define HOOK   0x80000000u
#define COPIED 1u

/* The copy has at most this many times the bytes: a jump of two bytes becomes one of six; a count is shorter
 * than its hook. */
#define LARGER 3u
#define CALL   5u /* bytes of a hook's call, its last instruction */

typedef struct jump {
    uint32_t at; /* offset of the distance in the copy */
    uint64_t target;
} jump;

static struct {
    uint8_t *code;
    size_t size;
    uint32_t *at;    /* by offset in the program */
    uint32_t *order; /* offsets of what was copied, in its order */
    size_t order_count, order_room;
    const sg_inlined **hooks;
    uint32_t hooks_count;
    size_t hooks_room;
    jump *jumps;
    size_t jumps_count, jumps_room;
    bool far; /* something is out of reach */
} bare = {0};

static uint32_t *known(uint64_t address)
{
    return &bare.at[address - sg->text_low];
}

static bool is_in_text(uint64_t address)
{
    return address >= sg->text_low && address < sg->text_high;
}

static void put(const void *bytes, size_t count)
{
    memcpy(bare.code + bare.size, bytes, count);
    bare.size += count;
}

/* Writes the distance from the end of the instruction, `behind` bytes further on, to `target`. */
static bool put_distance(uint64_t target, uint32_t behind)
{
    int64_t distance = (int64_t)(target - (uintptr_t)(bare.code + bare.size + sizeof(int32_t) + behind));
    int32_t small = (int32_t)distance;
    put(&small, sizeof small);
    return small == distance;
}

/* Writes an opcode, and later where it jumps to. */
static void put_jump(const uint8_t *opcode, size_t count, uint64_t target)
{
    put(opcode, count);
    SG_ARRAY_HOLD(bare.jumps, bare.jumps_room, bare.jumps_count, 1024);
    bare.jumps[bare.jumps_count++] = (jump){(uint32_t)bare.size, target};
    bare.size += sizeof(int32_t);
}

static void leave(uint64_t address)
{
    put_jump((const uint8_t[]){0xe9}, 1, address);
}

/* Writes decq slot(%rip); js to the block's call. */
static void put_count(const sg_inlined *h)
{
    put((const uint8_t[]){0x48, 0xff, 0x0d}, 3);
    bare.far |= !put_distance(h->slot, 0);
    put_jump((const uint8_t[]){0x0f, 0x88}, 2, h->start + h->length - CALL);
}

/* What is at `address` is copied next. */
static void begin_copy(uint64_t address)
{
    *known(address) = (uint32_t)bare.size + COPIED;
    SG_ARRAY_HOLD(bare.order, bare.order_room, bare.order_count, 1024);
    bare.order[bare.order_count++] = (uint32_t)(address - sg->text_low);
}

/* Copies the instruction at `address`. False: the copy ends here. */
static bool put_instruction(uint64_t address, const sg_instruction *in)
{
    size_t begin = bare.size;
    begin_copy(address);
    switch (in->kind) {
    case SG_INSTRUCTION_BRANCH:
        put_jump((const uint8_t[]){0x0f, 0x80 | in->condition}, 2, in->target);
        return true;
    case SG_INSTRUCTION_JUMP:
        leave(in->target);
        return false;
    case SG_INSTRUCTION_PLAIN:
    case SG_INSTRUCTION_END:
        put((const void *)address, in->length);
        if (in->relative_at == 0)
            return in->kind == SG_INSTRUCTION_PLAIN;
        int32_t old = 0;
        memcpy(&old, (const void *)(address + in->relative_at), sizeof old);
        bare.size = begin + in->relative_at;
        bool reaches =
            put_distance(address + in->length + (uint64_t)(int64_t)old, in->length - in->relative_at - 4u);
        bare.size = begin + in->length;
        if (reaches)
            return in->kind == SG_INSTRUCTION_PLAIN;
        bare.size = begin;
        break;
    default:
        break;
    }
    *known(address) = 0;
    bare.order_count--;
    leave(address);
    return false;
}

/* Does the instruction only set the register in which a hook gets its address (%rdi)? Forms: mov from a
 * register, from memory, of a constant; lea. */
static bool sets_argument(const uint8_t *code)
{
    return ((*code & 0xfb) == 0x48 && code[1] == 0x89 && (code[2] & 0xc7) == 0xc7) ||
           ((*code & 0xfc) == 0x48 && (code[1] == 0x8b || code[1] == 0x8d) && (code[2] & 0x38) == 0x38) ||
           *code == 0xbf;
}

/* Copies what follows a hook, without hooks, until control leaves. What prepares a hook's call goes, too: as
 * a call, a hook leaves nothing in that register. */
static void copy_from(uint64_t address)
{
    size_t argument = 0; /* where the copy of what prepares the call begins; 0: nowhere */
    for (;;) {
        uint32_t found = is_in_text(address) ? *known(address) : 0;
        if (found & HOOK) {
            const sg_inlined *h = bare.hooks[found & ~HOOK];
            if (argument != 0 && (h->kind == SG_INLINED_READ || h->kind == SG_INLINED_WRITE))
                bare.size = argument;
            argument = h->kind == SG_INLINED_SEGMENT ? argument : 0;
            begin_copy(address);
            if (h->kind == SG_INLINED_BLOCK)
                put_count(h);
            address += h->length;
        } else if (found != 0 || !is_in_text(address)) {
            leave(address);
            return;
        } else {
            sg_instruction in = sg_instruction_at((const uint8_t *)address);
            argument = sets_argument((const uint8_t *)address) ? bare.size : 0;
            if (!put_instruction(address, &in))
                return;
            address += in.length;
        }
    }
}

static void add_hook(const sg_inlined *h)
{
    SG_ARRAY_HOLD(bare.hooks, bare.hooks_room, bare.hooks_count, 1024);
    bare.hooks[bare.hooks_count] = h;
    *known(h->start) = HOOK | bare.hooks_count++;
}

/* Memory at `at`, if it is free. */
static uint8_t *map_at(uint64_t at, size_t size)
{
    void *made = mmap((void *)at, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (made == (void *)at)
        return made;
    if (made != MAP_FAILED)
        munmap(made, size);
    return NULL;
}

/* Memory that the program's jumps reach: below it, or else anywhere. */
static uint8_t *map_near(size_t size)
{
    uint64_t low = sg->text_low & ~(uint64_t)(PAGE - 1);
    uint8_t *made = low >= size + LOWEST ? map_at(low - size, size) : NULL;
    for (uint64_t at = HIGHEST - size; made == NULL && at > LOWEST + APART; at -= APART)
        made = map_at(at, size);
    return made;
}

static void lead_jumps(void)
{
    size_t size = bare.size;
    for (const jump *j = bare.jumps; j < bare.jumps + bare.jumps_count; j++) {
        uint32_t found = is_in_text(j->target) ? *known(j->target) : 0;
        bare.size = j->at;
        bare.far |= !put_distance(found != 0 ? (uintptr_t)bare.code + found - COPIED : j->target, 0);
    }
    bare.size = size;
}

bool sg_bare_make(void)
{
    size_t text = sg->text_high - sg->text_low, room = (LARGER * text + PAGE - 1) & ~(size_t)(PAGE - 1);
    bare.code = map_near(room);
    if (bare.code == NULL)
        return false;
    bare.at = sg_reserve(text * sizeof *bare.at, PURPOSE);
    sg_inline_each(add_hook);
    for (uint32_t i = 0; i < bare.hooks_count; i++)
        if (*known(bare.hooks[i]->start) == (HOOK | i))
            copy_from(bare.hooks[i]->start);
    lead_jumps();
    return !bare.far && mprotect(bare.code, room, PROT_READ | PROT_EXEC) == 0;
}

const uint8_t *sg_bare_entry(const sg_inlined *hook)
{
    return bare.code + *known(hook->start) - COPIED;
}

uintptr_t sg_bare_origin(uintptr_t at)
{
    uintptr_t place = at - (uintptr_t)bare.code;
    size_t low = 0, high = bare.order_count;
    if (bare.code == NULL || place >= bare.size)
        return at;
    while (high - low > 1) { /* the last one that begins at `place` or before */
        size_t middle = (low + high) / 2;
        if (bare.at[bare.order[middle]] <= place + COPIED)
            low = middle;
        else
            high = middle;
    }
    return sg->text_low + bare.order[low];
}
