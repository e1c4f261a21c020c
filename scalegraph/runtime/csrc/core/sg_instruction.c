/* Instructions of x86-64 (Intel SDM, volume 2, chapter 2 and appendix A): only their lengths. The runtime is
 * part of the user's program, so it cannot load a library for this. What it does not know is unknown, never
 * guessed. */
#include "sg_instruction.h"

#include <stdbool.h>
#include <string.h>

/* What follows an opcode. */
enum {
    OPERAND = 1, /* a byte that says what the operands are, and an address */
    BYTE = 2,    /* a constant of one byte */
    WORD = 4,    /* a constant of four bytes, or two with the prefix 66 */
    UNKNOWN = 8
};

enum { TWO_BYTE = 0x0f };

typedef struct reader {
    const uint8_t *at;
    uint8_t rex;
    bool small; /* prefix 66 */
    bool odd;   /* prefix 67: addresses of 32 bits */
} reader;

static int form_of(uint8_t opcode)
{
    if (opcode < 0x40)
        return (opcode & 7) < 4 ? OPERAND : (opcode & 7) == 4 ? BYTE : (opcode & 7) == 5 ? WORD : UNKNOWN;
    switch (opcode) {
    case 0x50 ... 0x5f: /* push, pop */
    case 0x90 ... 0x99:
    case 0x9c ... 0x9f:
    case 0xa4 ... 0xa7: /* movs, cmps */
    case 0xaa ... 0xaf: /* stos, lods, scas */
    case 0xc3:          /* ret */
    case 0xc9:          /* leave */
        return 0;
    case 0x63:
    case 0x84 ... 0x8b:
    case 0x8d:
    case 0xd0 ... 0xd3:
    case 0xd8 ... 0xdf: /* x87 */
    case 0xf6 ... 0xf7:
    case 0xfe ... 0xff:
        return OPERAND;
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0 ... 0xc1:
    case 0xc6:
        return OPERAND | BYTE;
    case 0x69:
    case 0x81:
    case 0xc7:
        return OPERAND | WORD;
    case 0x6a:
    case 0xa8:
    case 0xb0 ... 0xb7:
        return BYTE;
    case 0x68:
    case 0xa9:
    case 0xb8 ... 0xbf:
        return WORD;
    default:
        return UNKNOWN;
    }
}

/* Opcodes behind 0f, and in the first map of VEX and EVEX. */
static int form_of_second(uint8_t opcode)
{
    switch (opcode) {
    case 0x77:          /* emms, vzeroupper */
    case 0xc8 ... 0xcf: /* bswap */
        return 0;
    case 0x0d:
    case 0x10 ... 0x1f:
    case 0x28 ... 0x2f:
    case 0x40 ... 0x6f:
    case 0x74 ... 0x76:
    case 0x7c ... 0x7f:
    case 0x90 ... 0x9f:
    case 0xa3:
    case 0xa5:
    case 0xab:
    case 0xad ... 0xb1:
    case 0xb3:
    case 0xb6 ... 0xb8:
    case 0xbb ... 0xc1:
    case 0xc3:
    case 0xc7:
    case 0xd0 ... 0xfe:
        return OPERAND;
    case 0x70 ... 0x73:
    case 0xa4:
    case 0xac:
    case 0xba:
    case 0xc2:
    case 0xc4 ... 0xc6:
        return OPERAND | BYTE;
    default:
        return UNKNOWN;
    }
}

static int form_in_map(uint32_t map, uint8_t opcode)
{
    return map == 1 ? form_of_second(opcode) : map == 2 ? OPERAND : map == 3 ? OPERAND | BYTE : UNKNOWN;
}

static void read_prefixes(reader *r)
{
    for (;; r->at++) {
        switch (*r->at) {
        case 0x66:
            r->small = true;
            break;
        case 0x67:
            r->odd = true;
            break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64: /* fs */
        case 0x65:
        case 0xf0: /* lock */
        case 0xf2:
        case 0xf3:
            break;
        default:
            if ((*r->at & 0xf0) == 0x40)
                r->rex = *r->at++;
            return;
        }
    }
}

/* Reads the opcode. */
static int read_form(reader *r, uint8_t *opcode)
{
    uint8_t first = *r->at++;
    *opcode = 0; /* none that is treated specially */
    const uint8_t *next = r->at;
    switch (first) {
    case TWO_BYTE:
        r->at += next[0] == 0x38 || next[0] == 0x3a ? 2 : 1;
        return next[0] == 0x38 ? OPERAND : next[0] == 0x3a ? OPERAND | BYTE : form_of_second(next[0]);
    case 0xc5: /* VEX */
        r->at += 2;
        return form_of_second(next[1]);
    case 0xc4:
        r->at += 3;
        return form_in_map(next[0] & 0x1f, next[2]);
    case 0x62: /* EVEX; conversions to integers without sign are its own */
        r->at += 4;
        return (next[0] & 7) == 1 && (next[3] & 0xfc) == 0x78 ? OPERAND : form_in_map(next[0] & 7, next[3]);
    default:
        *opcode = first;
        return form_of(first);
    }
}

/* Reads what says where the operands are. */
static void read_operands(reader *r, sg_instruction *in, const uint8_t *code)
{
    uint8_t mode = *r->at >> 6, base = *r->at & 7;
    r->at++;
    if (mode == 3)
        return;
    if (base == 4)
        base = *r->at++ & 7;
    else if (mode == 0 && base == 5)
        in->relative_at = (uint8_t)(r->at - code);
    if (mode == 2 || (mode == 0 && base == 5))
        r->at += 4;
    else if (mode == 1)
        r->at++;
}

static sg_instruction jump_at(const uint8_t *code, uint32_t opcode_bytes, bool near,
                              enum sg_instruction_kind kind)
{
    int32_t far = 0;
    memcpy(&far, code + opcode_bytes, near ? 0 : sizeof far);
    uint8_t length = (uint8_t)(opcode_bytes + (near ? 1 : 4));
    int64_t distance = near ? (int8_t)code[opcode_bytes] : far;
    return (sg_instruction){.kind = kind,
                            .length = length,
                            .condition = code[opcode_bytes - 1] & 15,
                            .target = (uint64_t)((int64_t)(uintptr_t)code + length + distance)};
}

/* Instructions that the operand's middle bits select. */
static int form_in_group(uint8_t opcode, uint8_t which, sg_instruction *in)
{
    switch (opcode) {
    case 0xc6 ... 0xc7:
        return which == 0 ? 0 : UNKNOWN;
    case 0xf6:
        return which < 2 ? BYTE : 0;
    case 0xf7:
        return which < 2 ? WORD : 0;
    case 0xff:
        if (which == 2)
            in->kind = SG_INSTRUCTION_CALL;
        if (which == 4)
            in->kind = SG_INSTRUCTION_END;
        return which == 3 || which == 5 ? UNKNOWN : 0;
    default:
        return 0;
    }
}

sg_instruction sg_instruction_at(const uint8_t *code)
{
    reader r = {.at = code};
    read_prefixes(&r);
    if (*r.at == 0xe8)
        return (sg_instruction){.kind = SG_INSTRUCTION_CALL};
    if (r.at == code && (*code & 0xf0) == 0x70)
        return jump_at(code, 1, true, SG_INSTRUCTION_BRANCH);
    if (r.at == code && *code == TWO_BYTE && (code[1] & 0xf0) == 0x80)
        return jump_at(code, 2, false, SG_INSTRUCTION_BRANCH);
    if (r.at == code && (*code == 0xe9 || *code == 0xeb))
        return jump_at(code, 1, *code == 0xeb, SG_INSTRUCTION_JUMP);
    uint8_t opcode = 0;
    int form = read_form(&r, &opcode);
    sg_instruction in = {.kind = opcode == 0xc3 ? SG_INSTRUCTION_END : SG_INSTRUCTION_PLAIN};
    if (form & OPERAND) {
        form |= form_in_group(opcode, *r.at >> 3 & 7, &in);
        read_operands(&r, &in, code);
    }
    bool wide = r.rex & 8;
    if (form & WORD)
        r.at += r.small && !wide ? 2 : wide && (opcode & 0xf8) == 0xb8 ? 8 : 4;
    if (form & BYTE)
        r.at++;
    in.length = (uint8_t)(r.at - code);
    if (form & UNKNOWN || (r.odd && in.relative_at != 0))
        in.kind = SG_INSTRUCTION_UNKNOWN;
    return in;
}
