/* Copies data between memory and messages as datatypes describe it. */
#include "sg_mpi_type.h"

/* A copy's position in the message. */
typedef struct cursor {
    char *packed;
    size_t left;   /* bytes left in the message */
    size_t pieces; /* number copied */
    bool into_message;
} cursor;

static void copy_run(cursor *c, char *memory, size_t bytes)
{
    if (bytes > c->left)
        bytes = c->left;
    if (c->into_message)
        memcpy(c->packed, memory, bytes);
    else
        memcpy(memory, c->packed, bytes);
    c->packed += bytes;
    c->left -= bytes;
    c->pieces++;
}

void sg_type_runs(const sg_type *t, char *base, int64_t count,
                  void (*run)(char *at, size_t bytes, void *context), void *context)
{
    if (t->size == 0 || count <= 0)
        return;
    if (sg_type_flat(t, count)) {
        run(base + t->true_lb, (size_t)(t->size * count), context);
        return;
    }
    for (int64_t i = 0; i < count; i++, base += sg_type_extent(t)) {
        if (t->dense) {
            run(base + t->true_lb, (size_t)t->size, context);
            continue;
        }
        for (uint32_t k = 0; k < t->part_count; k++) {
            const sg_piece *part = &t->parts[k];
            char *at = base + part->displacement;
            for (int64_t r = 0; r < part->repeat; r++, at += part->stride)
                sg_type_runs(part->type, at, part->count, run, context);
        }
    }
}

static void copy(cursor *c, const sg_type *t, char *base, int64_t count)
{
    if (t->size == 0 || count <= 0)
        return;
    if (sg_type_flat(t, count)) {
        copy_run(c, base + t->true_lb, (size_t)(t->size * count));
        return;
    }
    int64_t extent = sg_type_extent(t);
    for (int64_t i = 0; i < count && c->left > 0; i++, base += extent) {
        if (t->dense) {
            copy_run(c, base + t->true_lb, (size_t)t->size);
            continue;
        }
        for (uint32_t k = 0; k < t->part_count && c->left > 0; k++) {
            const sg_piece *part = &t->parts[k];
            char *at = base + part->displacement;
            for (int64_t r = 0; r < part->repeat && c->left > 0; r++, at += part->stride)
                copy(c, part->type, at, part->count);
        }
    }
}

void sg_type_pack(const void *buffer, int64_t count, const sg_type *t, void *to)
{
    cursor c = {to, (size_t)(t->size * count), 0, true};
    copy(&c, t, (char *)(uintptr_t)buffer, count);
    if (c.pieces > 1)
        sg_mpi_charge_pack((size_t)(t->size * count), c.pieces);
}

size_t sg_type_unpack(const void *from, size_t bytes, void *buffer, int64_t count, const sg_type *t)
{
    cursor c = {(char *)(uintptr_t)from, bytes, 0, false};
    copy(&c, t, buffer, count);
    if (c.pieces > 1)
        sg_mpi_charge_pack(bytes - c.left, c.pieces);
    return bytes - c.left;
}

void sg_type_copy(const void *from, int64_t from_count, const sg_type *from_type, void *to, int64_t to_count,
                  const sg_type *to_type)
{
    size_t bytes = (size_t)(from_count * from_type->size), room = (size_t)(to_count * to_type->size);
    if (bytes > room)
        bytes = room;
    if (bytes == 0)
        return;
    if (sg_type_flat(from_type, from_count) && sg_type_flat(to_type, to_count)) {
        memmove((char *)to + to_type->true_lb, (const char *)from + from_type->true_lb, bytes);
        sg_mpi_charge_pack(bytes, 1);
        return;
    }
    char *packed = sg_mpi_new((size_t)(from_count * from_type->size));
    sg_type_pack(from, from_count, from_type, packed);
    sg_type_unpack(packed, bytes, to, to_count, to_type);
    sg_mpi_free(packed);
}

int64_t sg_type_elements(const sg_type *t, int64_t bytes)
{
    if (t->basic || t->size == 0)
        return bytes == 0 ? 0 : bytes == t->size ? 1 : -1;
    int64_t elements = 0;
    for (uint32_t i = 0; i < t->part_count; i++) {
        const sg_piece *part = &t->parts[i];
        int64_t items = part->repeat * part->count, size = part->type->size;
        if (size * items <= bytes) {
            bytes -= size * items;
            elements += items * part->type->elements;
            continue;
        }
        int64_t rest = sg_type_elements(part->type, bytes % size);
        return rest < 0 ? -1 : elements + bytes / size * part->type->elements + rest;
    }
    return bytes == 0 ? elements : -1;
}

void sg_type_visit(const sg_type *t, char *base, int64_t count,
                   void (*visit)(const sg_type *basic, char *at, void *context), void *context)
{
    int64_t extent = sg_type_extent(t);
    for (int64_t i = 0; i < count; i++, base += extent) {
        if (t->basic) {
            visit(t, base, context);
            continue;
        }
        for (uint32_t k = 0; k < t->part_count; k++) {
            const sg_piece *part = &t->parts[k];
            char *at = base + part->displacement;
            for (int64_t r = 0; r < part->repeat; r++, at += part->stride)
                sg_type_visit(part->type, at, part->count, visit, context);
        }
    }
}
