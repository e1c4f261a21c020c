/* The MPI library's state for each rank: memory, handles, and how a call begins. */
#include <stdlib.h>

#include "sg_alloc.h"
#include "sg_mpi.h"
#include "sg_message.h"
#include "sg_rank.h"

#define PLACE_BITS      20
#define GENERATION_BITS 7
#define PLACES          (1u << PLACE_BITS)

/* ---- memory ---- */

static void *checked(void *memory)
{
    if (memory == NULL)
        sg_stop(SG_STATUS_OUT_OF_MEMORY, "no memory for the MPI library of the simulation");
    return memory;
}

void *sg_mpi_new(size_t size)
{
    bool before = sg_alloc_own(true);
    void *memory = calloc(1, size > 0 ? size : 1);
    sg_alloc_own(before);
    return checked(memory);
}

void *sg_mpi_resize(void *memory, size_t size)
{
    bool before = sg_alloc_own(true);
    memory = realloc(memory, size > 0 ? size : 1);
    sg_alloc_own(before);
    return checked(memory);
}

void *sg_mpi_copy(const void *data, size_t size)
{
    void *memory = sg_mpi_resize(NULL, size);
    if (size > 0)
        memcpy(memory, data, size);
    return memory;
}

char *sg_mpi_string(const char *text)
{
    return sg_mpi_copy(text, strlen(text) + 1);
}

void sg_mpi_free(void *memory)
{
    free(memory);
}

/* ---- the rank ---- */

struct sg_mpi *sg_mpi_self(void)
{
    sg_rank *rank = sg_rank_self();
    if (rank == NULL)
        sg_stop(
            SG_STATUS_UNSUPPORTED,
            "the program called MPI at 0x%llx, but it has no processes: 'scalegraph simulate PROGRAM -p N' "
            "starts them",
            (unsigned long long)(uintptr_t)sg_now->site);
    if (rank->mpi == NULL) {
        rank->mpi = sg_mpi_new(sizeof *rank->mpi);
        rank->mpi->main_thread = rank->main;
    }
    if (sg_self()->call != NULL) { /* another thread may have made a call since */
        rank->mpi->call = sg_self()->call;
        rank->mpi->site = sg_self()->call_site;
    }
    return rank->mpi;
}

uint32_t sg_mpi_number(void)
{
    return sg_rank_self()->number;
}

uint32_t sg_mpi_count(void)
{
    return sg->ranks;
}

int sg_mpi_node(void)
{
    return (int)(sg_rank_self()->first_processor / sg_config_node_processors(&sg->config));
}

struct sg_mpi *sg_mpi_enter_always(const char *call, const void *site)
{
    sg_now->site = site;
    sg_self()->call = call;
    sg_self()->call_site = site;
    struct sg_mpi *m = sg_mpi_self();
    sg_rank *rank = sg_rank_self();
    rank->talk = (sg_talk){SG_TALK_NOWHERE, SG_TALK_NOBODY};
    if (SG_UNLIKELY(rank->served > 0)) {
        sg_charge_site(sg_now, SG_CATEGORY_PRIM_RECEIVE, rank->served);
        rank->served = 0;
    }
    return m;
}

struct sg_mpi *sg_mpi_enter(const char *call, const void *site)
{
    struct sg_mpi *m = sg_mpi_enter_always(call, site);
    if (SG_UNLIKELY(!m->initialised))
        sg_mpi_fatal("it was called before MPI_Init");
    if (SG_UNLIKELY(m->finalised))
        sg_mpi_fatal("it was called after MPI_Finalize");
    return m;
}

/* ---- handles ---- */

static uint32_t new_place(struct sg_mpi *m)
{
    uint32_t at = m->free_place;
    if (at != 0) {
        m->free_place = m->places[at].next_free;
        return at;
    }
    if (m->place_count == m->place_room) {
        uint32_t room = m->place_room > 0 ? 2 * m->place_room : 32;
        m->places = sg_mpi_resize(m->places, room * sizeof *m->places);
        m->place_room = room;
        if (m->place_count == 0)
            m->places[m->place_count++] = (sg_place){0}; /* index 0 ends the free list */
    }
    if (m->place_count >= PLACES)
        sg_mpi_fatal("the process has more than a million objects of MPI, such as requests");
    m->places[m->place_count] = (sg_place){0};
    return m->place_count++;
}

uintptr_t sg_handle_new(enum sg_kind kind, void *object)
{
    struct sg_mpi *m = sg_mpi_self();
    uint32_t at = new_place(m);
    sg_place *place = &m->places[at];
    place->object = object;
    place->kind = (uint8_t)kind;
    return (uintptr_t)kind << (PLACE_BITS + GENERATION_BITS) | (uintptr_t)place->generation << PLACE_BITS |
           at;
}

void *sg_handle_get(enum sg_kind kind, uintptr_t handle)
{
    const struct sg_mpi *m = sg_mpi_self();
    uint32_t at = handle & (PLACES - 1);
    if (handle >> (PLACE_BITS + GENERATION_BITS) != kind || at >= m->place_count)
        return NULL;
    const sg_place *place = &m->places[at];
    bool same =
        place->kind == kind && place->generation == (handle >> PLACE_BITS & ((1u << GENERATION_BITS) - 1));
    return same ? place->object : NULL;
}

void sg_handle_free(uintptr_t handle)
{
    struct sg_mpi *m = sg_mpi_self();
    uint32_t at = handle & (PLACES - 1);
    sg_place *place = &m->places[at];
    place->object = NULL;
    place->kind = 0;
    place->generation = (place->generation + 1) & ((1u << GENERATION_BITS) - 1);
    place->next_free = m->free_place;
    m->free_place = at;
}

uint32_t sg_handles_of(enum sg_kind kind)
{
    const struct sg_mpi *m = sg_mpi_self();
    uint32_t count = 0;
    for (uint32_t i = 1; i < m->place_count; i++)
        count += m->places[i].object != NULL && m->places[i].kind == kind;
    return count;
}

/* ---- costs ---- */

enum { COPY_BYTES_A_CYCLE = 8, CYCLES_A_PIECE = 2 };

void sg_mpi_charge_pack(uint64_t bytes, uint64_t pieces)
{
    sg_message_charge(SG_CATEGORY_PRIM_PACK, bytes / COPY_BYTES_A_CYCLE + pieces * CYCLES_A_PIECE);
}

/* Two loads, the operation and a store per element, at the machine's costs. */
void sg_mpi_charge_op(uint64_t elements, bool floating)
{
    const uint32_t *cost = sg->config.op_millicycles;
    uint64_t each =
        2ull * cost[SG_OP_LOAD] + cost[SG_OP_STORE] + cost[floating ? SG_OP_FP_ADD : SG_OP_INT_ALU];
    sg_message_charge(SG_CATEGORY_PRIM_PACK, elements * each / 1000);
}
