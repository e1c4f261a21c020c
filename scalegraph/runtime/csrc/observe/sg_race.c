/* What a thread knows of the writes of others is told by numbers: how many writes had been seen when it last
 * synchronised in any way (lock, barrier, task, atomic operation, wake-up, malloc). A write that came later
 * cannot be ordered before what the thread does now, whatever its partner was: that much is exact. What is
 * not known are synchronisations by ordinary variables: a thread that reads the same word in the same place
 * again without having written it is taken to poll for one, and one that reads a word that another thread has
 * changed may have learned of all that this one did before to other words. */
#include "sg_race.h"

#include <stdio.h>

enum {
    WORDS = 1 << 12, /* of the table; a word takes the place of another one */
    POLLS = 16,      /* reads of a processor that are remembered */
    PLACES = 64,     /* of the program that may race */
    SHOWN = 4,
};

typedef struct word {
    uint64_t number; /* address / 8 */
    uint64_t time;   /* of its last write */
    uint32_t writer; /* the last one */
    uint8_t bytes;   /* that it wrote, as bits */
} word;

typedef struct poll {
    const void *site;
    uint64_t number;
} poll;

static word *words;
static poll (*polls)[POLLS];
/* Where it may race, by the word that showed it last. */
static struct {
    const void *site;
    uint64_t number;
    int64_t times; /* that it did, less those that somebody polled the word */
} places[PLACES];
static uint32_t places_count;

sg_race_state sg_race;

void sg_race_open(void)
{
    if (sg->processors < 2 || sg->alone || (sg->config.ideal & SG_IDEAL_SYNC))
        return;
    words = sg_new(WORDS * sizeof(word));
    polls = sg_new(sg->processors * sizeof *polls);
    sg_race.read = sg_new(sg->processors * sizeof *sg_race.read);
    sg_race.reads = sg_new(sg->processors * sizeof *sg_race.reads);
    sg_race.on = true;
}

static word *word_of(uint64_t number)
{
    return &words[(number * 0x9e3779b97f4a7c15ull >> 40) & (WORDS - 1)];
}

static void tell(const void *site, uint64_t number)
{
    uint32_t at = 0;
    while (at < places_count && places[at].site != site)
        at++;
    if (at == PLACES)
        return;
    if (at == places_count)
        places_count++;
    places[at].site = site;
    places[at].number = number;
    places[at].times++;
}

/* Somebody polls this word: changing it may be a way to synchronise. */
static void take_back(uint64_t number)
{
    for (uint32_t i = 0; i < places_count; i++)
        if (places[i].number == number)
            places[i].times--;
}

/* Thread `t` sees what another one wrote to the word at `time`. */
static void learn(sg_thread *t, uint64_t number, uint64_t time)
{
    if (t->learned_number == number) {
        t->learned = time > t->learned ? time : t->learned;
    } else if (time > t->learned) {
        t->learned_else = t->learned;
        t->learned = time;
        t->learned_number = number;
    } else if (time > t->learned_else) {
        t->learned_else = time;
    }
}

/* Until when `t` may know of changes of the word. */
static uint64_t knows(const sg_thread *t, uint64_t number)
{
    uint64_t learned = t->learned_number == number ? t->learned_else : t->learned;
    return learned > t->synced ? learned : t->synced;
}

static void note_read(const sg_processor *p, uint64_t number)
{
    const word *w = word_of(number);
    if (w->number == number && w->writer != p->thread->id)
        learn(p->thread, number, w->time);
    uint32_t hash = (uint32_t)((uintptr_t)p->site * 0x9e3779b1u >> 28);
    poll *last = &polls[p->id][hash & (POLLS - 1)];
    if (SG_UNLIKELY(last->number == number) && last->site == p->site) {
        p->thread->synced = sg_race.writes;
        take_back(number);
    }
    *last = (poll){p->site, number};
    sg_race.read[p->id][sg_race.reads[p->id]++ % SG_RACE_READS] = number;
}

static bool has_read(const sg_processor *p, uint64_t number)
{
    const uint64_t *read = sg_race.read[p->id];
    for (int i = 0; i < SG_RACE_READS; i++)
        if (read[i] == number)
            return true;
    return false;
}

void sg_race_note(const sg_processor *p, const sg_pending *r)
{
    uint64_t number = r->address >> 3, end = (r->address & 7) + r->size;
    if (p->thread == NULL || end > 8)
        return;
    if (r->kind == SG_READ) {
        note_read(p, number);
        return;
    }
    if (!has_read(p, number))
        return; /* what is only written is not counted: it may be the same value from all */
    word *w = word_of(number);
    uint8_t bytes = (uint8_t)((1u << end) - (1u << (r->address & 7)));
    if (w->number != number)
        *w = (word){.number = number};
    else if (w->writer != p->thread->id && w->time > knows(p->thread, number) && (w->bytes & bytes) != 0)
        tell(p->site, number);
    w->time = ++sg_race.writes;
    w->writer = p->thread->id;
    w->bytes = bytes;
    for (int i = 0; i < POLLS; i++)
        if (polls[p->id][i].number == number)
            polls[p->id][i].number = 0;
}

void sg_race_close(void)
{
    char text[300];
    uint32_t shown = 0;
    for (uint32_t i = 0; i < places_count; i++) {
        if (places[i].times <= 0 || ++shown > SHOWN)
            continue;
        snprintf(text, sizeof text,
                 "a possible data race at 0x%llx: threads read and write the same memory there without "
                 "synchronisation",
                 (unsigned long long)(uintptr_t)places[i].site);
        sg_warn(text);
    }
    if (shown > SHOWN)
        sg_warn("there are possible data races in more places");
}
