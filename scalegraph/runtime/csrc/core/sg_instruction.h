/* Instructions of x86-64: how long one is, and what depends on where it is. */
#ifndef SG_INSTRUCTION_H
#define SG_INSTRUCTION_H

#include <stdint.h>

enum sg_instruction_kind {
    SG_INSTRUCTION_UNKNOWN, /* one that does not occur in compiled code, or must be where it is */
    SG_INSTRUCTION_PLAIN,   /* the next one follows */
    SG_INSTRUCTION_BRANCH,  /* conditional jump to `target` */
    SG_INSTRUCTION_JUMP,    /* jump to `target` */
    SG_INSTRUCTION_CALL,    /* any call */
    SG_INSTRUCTION_END      /* what follows is on the stack or in a register: return, indirect jump */
};

typedef struct sg_instruction {
    enum sg_instruction_kind kind;
    uint8_t length;
    uint8_t relative_at; /* offset of four bytes that are relative to the instruction's end; 0: none */
    uint8_t condition;   /* of a branch */
    uint64_t target;
} sg_instruction;

/* Decodes the instruction at `code`. */
sg_instruction sg_instruction_at(const uint8_t *code);

#endif
