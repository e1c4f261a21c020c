/* A hint at data races: two threads read a word and then write it, and the later one has not synchronised
 * with anybody since the earlier one's write. Only references that leave the private caches are seen, so
 * it costs nothing where memory is not shared, and misses races that cause no cache miss. No cycle depends
 * on it.
 *
 * What a thread may know of others' writes is a number: how many writes had been seen when it last
 * synchronised in any way (lock, barrier, task, atomic operation, wake-up, malloc). A later write cannot
 * be ordered before what the thread does now, whoever wrote it: this is exact. Synchronisation through
 * ordinary variables is guessed. A thread that rereads a word at the same place without having written it
 * is assumed to poll; and one that reads a word changed by another may have learned of everything that
 * this one did to other words before. A few threads that hand a word round need not poll it: each may
 * arrive when its turn has already come. So a word that the same threads write strictly in turn from its
 * first write to its last, each after reading what the previous one wrote, is not a race: threads that
 * race for a word sooner or later overwrite what they have not read, or write twice. */
#include <stdio.h>
#include <string.h>

#include "sg_observers.h"

enum {
    WORDS = 1 << 12, /* of the table; a word may replace another */
    READS = 8,       /* last words read by a processor */
    POLLS = 16,      /* reads of a processor that are remembered */
    PLACES = 64,     /* of the program that may race */
    SHOWN = 4,
    TURNS = 4,  /* threads that hand a word round; with more, some poll it */
    ENOUGH = 6, /* changes of writer that rule out chance */
};
#define UNREAD UINT64_MAX

typedef struct word {
    uint64_t number; /* address / 8 */
    uint64_t time;   /* of its last write */
    uint32_t writer; /* the last one */
    uint8_t bytes;   /* that it wrote, as bits */
} word;

/* Remembered reads: where, and of which word; hashed, so that few host instructions compare all of them. */
typedef struct poll {
    const void *site[POLLS];
    uint32_t word[POLLS]; /* 0: of none */
} poll;

/* Is a word written in turns? What a processor does to a line it owns is not seen, so a thread may have made
 * any number of writes in its turn. */
typedef struct turns {
    uint16_t before[TURNS]; /* its last writers, latest first */
    uint8_t writers;        /* how many of these are known */
    uint8_t period;         /* threads taking turns; 0 until one comes again */
    uint8_t changes;        /* of the writer, up to ENOUGH */
    bool broken;
} turns;

static word *words = NULL;
static turns *handed = NULL; /* by word */
static poll *polls = NULL;   /* by processor */
/* Where it may race, by the last word that showed it. */
static struct {
    const void *site;
    uint64_t number;
    int64_t times; /* how often, minus cases where somebody polled the word */
    bool several;  /* several words showed it */
} places[PLACES] = {0};
static uint32_t places_count = 0;

static uint32_t line_shift = 0; /* shift from words to lines */

typedef struct read_word {
    uint64_t number; /* of a word: address / 8 */
    uint64_t time;
} read_word;

static read_word (*words_read)[READS] = NULL; /* by processor */
static uint32_t *reads = NULL;                /* likewise */

static bool open_race(void)
{
    if (sg->processors < 2 || sg->alone || sg->ranks > 1 || (sg->config.ideal & SG_IDEAL_SYNC))
        return false;
    line_shift = (uint32_t)__builtin_ctzll(sg_line_bytes() / 8);
    words = sg_new(WORDS * sizeof(word));
    handed = sg_new(WORDS * sizeof(turns));
    polls = sg_new(sg->processors * sizeof *polls);
    words_read = sg_new(sg->processors * sizeof *words_read);
    reads = sg_new(sg->processors * sizeof *reads);
    return true;
}

static word *word_of(uint64_t number)
{
    return &words[(number * 0x9e3779b97f4a7c15ull >> 40) & (WORDS - 1)];
}

/* Words less than 32 GiB apart get different hashes. */
static uint32_t hash_of(uint64_t number)
{
    return (uint32_t)number ^ (uint32_t)(number >> 32) * 0x9e3779b1u;
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
    else if (places[at].number != number)
        places[at].several = true;
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

/* Up to when `t` may know of changes of the word. */
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
    poll *last = &polls[p->id];
    uint32_t at = (uint32_t)((uintptr_t)p->site * 0x9e3779b1u >> 28) & (POLLS - 1), hash = hash_of(number);
    if (SG_UNLIKELY(last->word[at] == hash) && last->site[at] == p->site) {
        p->thread->synced = sg->writes_seen;
        take_back(number);
    }
    last->site[at] = p->site;
    last->word[at] = hash;
    words_read[p->id][reads[p->id]++ % READS] = (read_word){number, sg->writes_seen};
}

/* When the processor last fetched the word's line; UNREAD if it has not read the word itself lately. */
static uint64_t last_read(const sg_processor *p, uint64_t number)
{
    const read_word *read = words_read[p->id];
    uint64_t fetched = UNREAD, line = number >> line_shift;
    for (uint32_t i = 1; i <= READS; i++) { /* latest first */
        const read_word *r = &read[(reads[p->id] - i) % READS];
        if (fetched == UNREAD && r->number >> line_shift == line)
            fetched = r->time;
        if (r->number == number)
            return fetched;
    }
    return UNREAD;
}

/* Thread `t` writes the word `w`, which it read at `time`. */
static void take_turn(const word *w, const sg_thread *t, uint64_t time)
{
    turns *h = &handed[w - words];
    uint8_t behind = 0;
    if (w->time <= t->synced) /* earlier writes are settled: a new round may begin */
        h->writers = 0;
    while (behind < h->writers && h->before[behind] != (uint16_t)t->id)
        behind++;
    if (behind == 0 && h->writers > 0)
        return;
    if (h->writers > 0 && time < w->time) /* it overwrites what another one wrote since */
        h->broken = true;
    if (behind < h->writers) { /* its turn again: after all others, and always after as many */
        if (behind + 1 != (h->period == 0 ? h->writers : h->period))
            h->broken = true;
        h->period = (uint8_t)(behind + 1);
    } else if (h->writers == TURNS) {
        h->broken = true;
    } else {
        h->writers++;
    }
    h->changes += h->changes < ENOUGH;
    memmove(&h->before[1], &h->before[0], (TURNS - 1) * sizeof h->before[0]);
    h->before[0] = (uint16_t)t->id;
}

/* Was every word seen at a place handed round in turn? */
static bool by_turns(uint32_t place)
{
    const word *w = word_of(places[place].number);
    const turns *h = &handed[w - words];
    return !places[place].several && w->number == places[place].number && !h->broken && h->period != 0 &&
           h->changes == ENOUGH;
}

static void note_reference(sg_processor *p, const sg_pending *r)
{
    uint64_t number = r->address >> 3, end = (r->address & 7) + r->size;
    if (r->category >= 0 || p->thread == NULL || end > 8)
        return;
    if (r->kind == SG_READ) {
        note_read(p, number);
        return;
    }
    uint64_t read = last_read(p, number);
    if (read == UNREAD)
        return; /* write-only words do not count: all may write the same value */
    word *w = word_of(number);
    uint8_t bytes = (uint8_t)((1u << end) - (1u << (r->address & 7)));
    if (w->number != number) {
        *w = (word){.number = number};
        handed[w - words] = (turns){0};
    }
    take_turn(w, p->thread, read);
    if (w->writer != p->thread->id && w->time > knows(p->thread, number) && (w->bytes & bytes) != 0)
        tell(p->site, number);
    w->time = ++sg->writes_seen;
    w->writer = p->thread->id;
    w->bytes = bytes;
    uint32_t hash = hash_of(number), *polled = polls[p->id].word;
    for (int i = 0; i < POLLS; i++)
        polled[i] = polled[i] == hash ? 0 : polled[i];
}

/* What the processor's private caches served is not seen, including atomic operations: a thread that
 * continues elsewhere, or again, may know of everything written before. */
static void note_installs(sg_processor *p, sg_thread *t)
{
    (void)p;
    t->synced = sg->writes_seen;
}

static void close_race(void)
{
    char text[300];
    uint32_t shown = 0;
    for (uint32_t i = 0; i < places_count; i++) {
        if (places[i].times <= 0 || by_turns(i) || ++shown > SHOWN)
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

const sg_observer sg_observer_race = {
    .name = "races",
    .takes_part = open_race,
    .installs = note_installs,
    .references = note_reference,
    .closes = close_race,
};
