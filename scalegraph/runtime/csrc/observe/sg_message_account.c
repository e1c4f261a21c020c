/* What messages cost, by rank, communicator and partner: the message categories, split. Costs without a
 * partner (waiting for any of several, operations of a reduction) go under SG_TALK_NOBODY, those without a
 * communicator under SG_TALK_NOWHERE; so the parts add up to the categories. */
#include <stdio.h>

#include "sg_array.h"
#include "sg_observers.h"
#include "sg_rank.h"
#include "sg_table.h"

enum {
    FIRST = SG_CATEGORY_PRIM_SEND,
    MOST = 1 << 16, /* of cells; beyond that, partners new to a rank share a cell */
    OTHERS = -2,
    RECENT = 32, /* cells that a rank finds without a search, a power of two */
};

_Static_assert(SG_CATEGORY_IDLE_COLLECTIVE - FIRST + 1 ==
                   sizeof((sg_message_cost *)0)->cycles / sizeof(uint64_t),
               "the categories of messages stand together");

/* Cache of a rank's last lookup: the partner and its cell, + 1; 0: empty. */
typedef struct recent {
    int32_t peer;
    uint32_t cell;
} recent;

static struct {
    sg_table cells, communicators; /* indices in the two lists, + 1 */
    sg_message_cost *cell;
    recent (*recent)[RECENT]; /* by rank and slot_of() */
    sg_communicator *communicator;
    uint32_t cells_count, cells_room, communicators_count, communicators_room;
} accounts = {.cells_count = 0};

/* Collective operations use the next number. */
static uint32_t communicator_of(uint32_t context)
{
    return context == SG_TALK_NOWHERE ? context : context & ~1u;
}

static uint64_t key_of(uint32_t rank, sg_talk talk)
{
    return (uint64_t)(rank + 1) << 48 | (uint64_t)(uint16_t)(talk.peer + 2) << 32 |
           communicator_of(talk.context);
}

static sg_message_cost *cell_of(uint32_t rank, sg_talk talk)
{
    const sg_table_entry *known = sg_table_find(&accounts.cells, key_of(rank, talk));
    if (known != NULL)
        return &accounts.cell[known->number - 1];
    if (accounts.cells_count >= MOST && talk.peer >= 0)
        return cell_of(rank, (sg_talk){talk.context, OTHERS});
    SG_ARRAY_HOLD(accounts.cell, accounts.cells_room, accounts.cells_count, 64);
    sg_message_cost *cell = &accounts.cell[accounts.cells_count++];
    *cell = (sg_message_cost){.rank = rank, .peer = talk.peer};
    cell->communicator = communicator_of(talk.context);
    sg_table_make(&accounts.cells, key_of(rank, talk), 64)->number = accounts.cells_count;
    return cell;
}

/* The cell may be shared with other partners. */
static bool is_of(const recent *r, const sg_rank *rank)
{
    return r->cell != 0 && r->peer == rank->talk.peer &&
           accounts.cell[r->cell - 1].communicator == communicator_of(rank->talk.context);
}

/* Found by trial: ranks at power-of-two distances up to 1,024 in either direction get separate slots. */
#define SPREAD 0xf5c15ad9u

static uint32_t slot_of(const sg_rank *rank)
{
    uint32_t away = (uint32_t)rank->talk.peer - rank->number;
    return (away + 64 * communicator_of(rank->talk.context)) * SPREAD / (UINT32_MAX / RECENT + 1);
}

/* Partners recur: remembering the cell saves a search in cold host memory. */
static void find_cell(sg_rank *rank)
{
    if (accounts.recent == NULL)
        accounts.recent = sg_new(sg->ranks * sizeof *accounts.recent);
    recent *r = &accounts.recent[rank->number][slot_of(rank)];
    if (!is_of(r, rank))
        *r = (recent){rank->talk.peer, (uint32_t)(cell_of(rank->number, rank->talk) - accounts.cell) + 1};
    rank->account = r->cell;
    rank->accounted = rank->talk;
}

/* The cell for what `rank` does now. One message often has several costs in a row. */
static sg_message_cost *cell_now(sg_rank *rank)
{
    if (rank->account == 0 || rank->accounted.peer != rank->talk.peer ||
        rank->accounted.context != rank->talk.context)
        find_cell(rank);
    return &accounts.cell[rank->account - 1];
}

static bool is_of_messages(enum sg_category category)
{
    return (int)category >= FIRST && category <= SG_CATEGORY_IDLE_COLLECTIVE;
}

static void add(sg_rank *rank, enum sg_category category, uint64_t cycles)
{
    if (cycles > 0)
        cell_now(rank)->cycles[category - FIRST] += cycles;
}

static void note_talked(sg_processor *p, enum sg_category category, uint64_t cycles)
{
    (void)p;
    add(sg_rank_self(), category, cycles);
}

/* `t` has waited on `p` until now. */
static void note_waited(sg_processor *p, const sg_thread *t, enum sg_category category, uint64_t cycles)
{
    (void)p;
    if (t == NULL || t->rank == NULL || !is_of_messages(category))
        return;
    if (t->by_message) /* other threads of the rank may have communicated with others meanwhile */
        t->rank->talk = t->talk;
    add(t->rank, category, cycles);
}

static void note_message(const sg_passed *m)
{
    sg_message_cost *cell = cell_now(sg_rank_self());
    cell->messages++;
    cell->bytes += m->bytes;
}

static void note_communicator(uint32_t context, uint32_t size, const char *name, const void *site)
{
    sg_table_entry *entry =
        sg_table_make(&accounts.communicators, (uint64_t)communicator_of(context) + 1, 64);
    if (entry->number == 0) {
        SG_ARRAY_HOLD(accounts.communicator, accounts.communicators_room, accounts.communicators_count, 8);
        entry->number = ++accounts.communicators_count;
        accounts.communicator[entry->number - 1] =
            (sg_communicator){.address = (uint64_t)(uintptr_t)site, .communicator = communicator_of(context)};
    }
    sg_communicator *c = &accounts.communicator[entry->number - 1];
    if (size > c->size)
        c->size = size;
    if (name[0] != 0)
        snprintf(c->name, sizeof c->name, "%s", name);
}

/* ---- the result ---- */

/* Totals of `category` over the accounts of all processors of `rank`. */
static void totals_of(const sg_rank *rank, sg_message_cost *sum)
{
    for (uint32_t i = 0; i < sg->own_processors; i++) {
        const sg_processor *p = &sg->processor[rank->first_processor + i];
        for (uint32_t region = 0; region < p->accounts_size; region++)
            for (int k = FIRST; p->accounts[region] != NULL && k <= SG_CATEGORY_IDLE_COLLECTIVE; k++)
                sum->cycles[k - FIRST] += p->accounts[region]->rest.categories[k];
    }
}

/* Reports it if a rank's cells exceed its accounts; a remainder in no cell gets one of its own. */
static void check(char *fault, size_t size)
{
    sg_message_cost *rest = sg_new(sg->ranks * sizeof *rest);
    for (uint32_t i = 0; i < sg->ranks; i++)
        totals_of(sg->all_ranks[i], &rest[i]);
    for (uint32_t i = 0; i < accounts.cells_count; i++)
        for (int k = FIRST; k <= SG_CATEGORY_IDLE_COLLECTIVE; k++)
            rest[accounts.cell[i].rank].cycles[k - FIRST] -= accounts.cell[i].cycles[k - FIRST];
    for (uint32_t i = 0; i < sg->ranks; i++)
        for (int k = FIRST; k <= SG_CATEGORY_IDLE_COLLECTIVE; k++) {
            uint64_t left = rest[i].cycles[k - FIRST];
            if (left >> 63 != 0 && fault[0] == 0)
                snprintf(fault, size, "the messages of rank %u have more cycles than its accounts", i);
            else if (left != 0)
                cell_of(i, (sg_talk){SG_TALK_NOWHERE, SG_TALK_NOBODY})->cycles[k - FIRST] += left;
        }
}

/* By rank, and each rank's in order of creation: the order between ranks depends on the host. */
static uint64_t put_cells(struct sg_writer *w)
{
    uint32_t *end = sg_new((sg->ranks + 1) * sizeof *end);
    sg_message_cost *sorted =
        sg_reserve((accounts.cells_count + 1) * sizeof *sorted, "the accounts of messages");
    for (uint32_t i = 0; i < accounts.cells_count; i++)
        end[accounts.cell[i].rank + 1]++;
    for (uint32_t rank = 0; rank < sg->ranks; rank++)
        end[rank + 1] += end[rank];
    for (uint32_t i = 0; i < accounts.cells_count; i++)
        sorted[end[accounts.cell[i].rank]++] = accounts.cell[i];
    sg_put(w, sorted, accounts.cells_count * sizeof *sorted);
    return accounts.cells_count;
}

static uint64_t put_communicators(struct sg_writer *w)
{
    sg_put(w, accounts.communicator, accounts.communicators_count * sizeof *accounts.communicator);
    return accounts.communicators_count;
}

static bool takes_part(void)
{
    return sg->config.ranks > 0;
}

static const sg_result_part parts[] = {
    {SG_SECTION_MESSAGES, sizeof(sg_message_cost), put_cells},
    {SG_SECTION_COMMUNICATORS, sizeof(sg_communicator), put_communicators},
};

const sg_observer sg_observer_message = {
    .name = "accounts of messages",
    .takes_part = takes_part,
    .parts = parts,
    .parts_count = sizeof parts / sizeof *parts,
    .talked = note_talked,
    .waited = note_waited,
    .message = note_message,
    .communicator = note_communicator,
    .checks = check,
};
