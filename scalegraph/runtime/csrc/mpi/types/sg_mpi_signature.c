/* Type signatures: a code if all basic elements are of one type, otherwise a hash of their codes in order. */
#include <stdio.h>

#include "sg_mpi_signature.h"

/* Codes are classes, or these for basic types without a class. C and Fortran types with the same values
 * match. */
enum { ANY = 255, MIXED = 254, WIDE = 200, REAL2, COMPLEX4, LOGICAL16 };

/* A sequence of codes as digits of a number in a large base, and the base to the power of its length. */
typedef struct digest {
    uint64_t hash, power;
} digest;

static const uint64_t base = 0x9e3779b97f4a7c15u;

static digest join(digest first, digest second)
{
    return (digest){first.hash * second.power + second.hash, first.power * second.power};
}

static digest times(digest one, uint64_t count)
{
    digest all = {0, 1};
    for (; count > 0; count >>= 1, one = join(one, one))
        if (count & 1)
            all = join(all, one);
    return all;
}

static uint8_t basic_code(const sg_type *t)
{
    if (t->class != SG_CLASS_NONE)
        return t->class;
    switch (t->number) {
    case 0x207: /* MPI_PACKED */
        return ANY;
    case 0x21e: /* MPI_CHARACTER */
        return SG_CLASS_I8;
    case 0x2ca:
        return REAL2;
    case 0x2d3:
        return COMPLEX4;
    case 0x2e0:
        return LOGICAL16;
    default:
        return WIDE;
    }
}

static uint8_t code_of(sg_type *t)
{
    if (t->code != 0)
        return t->code;
    if (t->basic)
        return t->code = basic_code(t);
    uint8_t code = 0;
    for (uint32_t i = 0; i < t->part_count && code != ANY; i++) {
        const sg_piece *part = &t->parts[i];
        if (part->repeat * part->count == 0 || part->type->elements == 0)
            continue;
        uint8_t own = code_of(part->type);
        code = own == ANY || code == 0 || code == own ? own : MIXED;
    }
    return t->code = code != 0 ? code : ANY;
}

/* Digest of the first `elements` of `items` items; *elements: the number left over. */
static digest first_of(sg_type *t, uint64_t items, uint64_t *elements)
{
    uint64_t each = (uint64_t)t->elements;
    if (each == 0 || items == 0 || *elements == 0)
        return (digest){0, 1};
    uint64_t whole = *elements / each < items ? *elements / each : items;
    digest all = {0, 1}, one = {0, 1};
    *elements -= whole * each;
    if (code_of(t) != MIXED) {
        uint64_t rest = whole < items ? *elements : 0;
        *elements -= rest;
        return times((digest){code_of(t), base}, whole * each + rest);
    }
    uint64_t inside = each;
    for (uint32_t i = 0; whole > 0 && i < t->part_count; i++)
        one = join(one,
                   first_of(t->parts[i].type, (uint64_t)(t->parts[i].repeat * t->parts[i].count), &inside));
    all = times(one, whole);
    for (uint32_t i = 0; whole < items && *elements > 0 && i < t->part_count; i++)
        all = join(all,
                   first_of(t->parts[i].type, (uint64_t)(t->parts[i].repeat * t->parts[i].count), elements));
    return all;
}

sg_signature sg_signature_of(sg_type *t, int64_t count)
{
    const struct sg_mpi *m = sg_mpi_self();
    sg_signature s = {.elements = (uint64_t)(t->elements * count), .call = m->call, .site = m->site};
    uint64_t all = s.elements;
    s.code = code_of(t);
    if (s.code == MIXED)
        s.hash = first_of(t, (uint64_t)count, &all).hash;
    return s;
}

bool sg_signature_fits(const sg_signature *sent, sg_type *t, int64_t count)
{
    uint8_t code = code_of(t);
    uint64_t elements = sent->elements, room = (uint64_t)(t->elements * count), hash;
    if (sent->code == 0 || sent->code == ANY || code == ANY || elements == 0 || room == 0)
        return true;
    if (code != MIXED && sent->code != MIXED)
        return code == sent->code;
    if (elements > room)
        return true; /* reported as a different error */
    hash = sent->code == MIXED ? sent->hash : times((digest){sent->code, base}, elements).hash;
    return hash == first_of(t, (uint64_t)count, &elements).hash;
}

bool sg_signature_same(const sg_signature *one, const sg_signature *other)
{
    bool any = one->code == 0 || other->code == 0 || one->code == ANY || other->code == ANY;
    return any || one->elements == 0 || other->elements == 0 ||
           (one->code == other->code && one->hash == other->hash);
}

const char *sg_signature_name(const sg_signature *s)
{
    if (s->code == MIXED)
        return "elements of several types";
    for (uintptr_t handle = 0x200; handle < 0x300; handle++) {
        sg_type *t = sg_type_predefined(handle);
        if (t != NULL && t->basic && code_of(t) == s->code && handle > 0x203)
            return t->label;
    }
    return "another type";
}

void sg_signature_check(const sg_signature *sent, int32_t from, sg_type *t, int64_t count, const char *call,
                        const void *site)
{
    if (sg_signature_fits(sent, t, count) || !sg_mpi_first_time(sent->site, site))
        return;
    sg_signature wanted = sg_signature_of(t, count);
    char text[300];
    snprintf(text, sizeof text, "rank %u: %s at 0x%llx receives %s, but rank %d sent %s with %s at 0x%llx",
             sg_mpi_number(), call, (unsigned long long)(uintptr_t)site, sg_signature_name(&wanted), from,
             sg_signature_name(sent), sent->call, (unsigned long long)(uintptr_t)sent->site);
    sg_warn(text);
}
