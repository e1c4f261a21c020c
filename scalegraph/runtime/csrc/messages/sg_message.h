/* Messages between ranks: matching, waiting, and the cost of both.
 *
 * Ranks are numbered across the whole run; a context separates the messages of one communicator from those of
 * others. Messages from one sender in one context are matched in the order they were sent; among several
 * senders, the earliest in simulated time comes first. The sender copies the data when it sends and the
 * receiver gets the copy, so nobody touches the static data of a rank that is not running.
 *
 * A short (eager) message leaves at once. A long or synchronous one first announces itself and waits until
 * the receiver has a place for it (rendezvous); announcement and answer are empty messages. */
#ifndef SG_MESSAGE_H
#define SG_MESSAGE_H

#include "sg_rank.h"

#define SG_ANY (-1) /* source or tag of a receive */

enum sg_send_mode { SG_SEND_STANDARD, SG_SEND_SYNCHRONOUS, SG_SEND_BUFFERED };

/* When the rank of a send or receive can go on, and what it will have waited for by then. */
typedef struct sg_completion {
    uint64_t clock;      /* SG_NEVER: not known yet */
    uint64_t met;        /* clock at which both sender and receiver had arrived */
    uint64_t contention; /* part of the time after `met` spent waiting for interfaces and links */
    sg_talk talk;        /* the partner */
    uint64_t
        released; /* clock at which the other side had done its part; 0: at `met`; SG_NEVER: it has no part */
} sg_completion;

/* A sleeping thread, in the list of what it waits for. Several threads of a process may wait for the same
 * thing. */
typedef struct sg_waiter {
    struct sg_waiter *next, **list; /* list: NULL when what it waited for no longer exists */
    sg_thread *thread;
} sg_waiter;

typedef struct sg_send {
    sg_completion completion;
    struct sg_message *message; /* NULL once matched */
    sg_waiter *waiters;
} sg_send;

typedef struct sg_receive {
    sg_completion completion;
    sg_deferred later; /* for posting it later */
    sg_rank *rank;
    struct sg_receive *next, *before; /* in the list of posted receives */
    uint32_t context;
    int32_t source, tag; /* as requested; once matched, the message's */
    int32_t from;        /* the sender's global rank: as requested or SG_ANY; once matched, the message's */
    size_t bytes;        /* size of the message, even if the buffer is smaller */
    char *data;          /* its contents, within `message` */
    struct sg_message *message;
    uint64_t sent, left, posted; /* for observers, see sg_passed */
    sg_waiter *waiters;
    bool cancelled;
    bool finished;    /* see sg_receive_finish */
    bool buffered;    /* the message arrived before the receive was posted */
    const char *what; /* for reports: what it waits for, if not a message */
} sg_receive;

/* What a message consists of according to its sender, and where it was sent. Compared by the users of this
 * file. */
typedef struct sg_signature {
    uint64_t elements, hash; /* hash: of mixed basic elements */
    uint8_t code;            /* of the basic elements, if all are of one type; 0: unknown */
    const char *call;
    const void *site;
} sg_signature;

typedef struct sg_message {
    struct sg_message *next, *before;
    sg_deferred later; /* for its departure later */
    sg_rank *from, *to;
    sg_send *send; /* for rendezvous; NULL: the sender does not wait */
    uint32_t context;
    int32_t source, tag;
    size_t bytes;
    uint64_t began;         /* when its sender began to send it */
    uint64_t sent, arrival; /* of the message or its announcement */
    uint64_t contention;
    bool rendezvous;
    bool free; /* its call's messages take no time in this run */
    sg_signature signature;
    char data[];
} sg_message;

/* Whether messages of the call at `site` take no time in this run; NULL: none. Set by what-if. */
extern bool (*sg_message_is_free)(const void *site);

/* Call before the ranks begin. */
void sg_messages_open(void);
/* Memory for the library's own use; release it with free(). */
void *sg_message_memory(size_t size);
struct sg_mailbox *sg_mailbox_new(void);
/* A rank's unreceived messages and unmatched receives, each in order. */
struct sg_mailbox {
    sg_message *first, *last;
    sg_receive *posted, *newest;
    struct probe *probes; /* waiting ones */
};
/* Writes which ranks wait for which others, when nobody can go on. */
void sg_messages_explain(char *text, size_t size);
/* Writes which messages no rank has received after all have ended; nothing if there are none. */
void sg_messages_explain_left(char *text, size_t size);
/* Sends a copy of `data` to rank `to`; `source` is the sender's rank in the communicator. Charges the cost of
 * sending to the running processor. */
sg_send *sg_message_send(uint32_t to, uint32_t context, int32_t source, int32_t tag, const void *data,
                         size_t bytes, enum sg_send_mode mode);
/* The same, with the type signature of the data; NULL: unknown. */
sg_send *sg_message_send_typed(uint32_t to, uint32_t context, int32_t source, int32_t tag, const void *data,
                               size_t bytes, enum sg_send_mode mode, const sg_signature *signature);
/* Charges the running processor for handling a message, and reports it. */
void sg_message_charge(enum sg_category category, uint64_t cycles);
/* From here on, the running rank's message costs belong to this communicator and partner. */
static inline void sg_message_talk(uint32_t context, int32_t peer)
{
    sg_rank_self()->talk = (sg_talk){context, peer};
}

/* Posts a receive. `from` is the sender's global rank, for reports; SG_ANY if `source` is. */
sg_receive *sg_message_receive(uint32_t context, int32_t source, int32_t from, int32_t tag);
/* Posts a receive for a message taken with sg_message_take. */
sg_receive *sg_message_receive_taken(sg_message *message);

/* Is it complete at the processor's clock? Costs a few cycles, so that simulated time passes in a polling
 * loop. */
bool sg_send_test(sg_send *send);
bool sg_receive_test(sg_receive *receive);
/* Wait until it is complete. Only then is it known what the waiting is charged to. */
void sg_send_wait(sg_send *send);
void sg_receive_wait(sg_receive *receive);
/* Charges a complete receive to the processor; call once, before its data is used. */
void sg_receive_finish(sg_receive *receive);
void sg_send_free(sg_send *send);
void sg_receive_free(sg_receive *receive);
/* Cancels a receive; false if it has already been matched. */
bool sg_receive_cancel(sg_receive *receive);
/* The same for a send that waits for its receiver. */
bool sg_send_cancel(sg_send *send);
/* Adds the running thread to those that sleep for this, until it removes itself. */
void sg_waiter_add(sg_waiter **list, sg_waiter *w);
void sg_waiter_remove(sg_waiter *w);
/* What they sleep for ceases to exist: removes all of them from its list. */
void sg_waiters_leave(sg_waiter **list);
/* Tells all of them at clock `now` when it is complete. */
void sg_waiters_wake(const sg_waiter *list, const sg_completion *done, uint64_t now);
/* Waits until the first of them is complete. If one that completes earlier becomes known during the wait,
 * that one ends it. Either list may be empty. `listed`: the caller has put the running thread into another
 * list that may wake it. Other threads may wait for the same items and finish first, so look each item up
 * again before using it. */
void sg_message_wait_first(sg_send *const *sends, size_t send_count, sg_receive *const *receives,
                           size_t receive_count, bool listed);

/* Waiting for something other than a message: `side` of a transfer that must wait for the other side. */
enum sg_side { SG_SENDER, SG_RECEIVER };
/* Suspends the running thread until sg_completion_wake. `what` names what it waits for in reports, if not a
 * message; `other` is the rank it waits for. */
void sg_completion_suspend(enum sg_side side, int32_t other, int32_t tag, const char *what);
/* The same for several things: the first completion known ends the wait. `known`, if not NULL, is the
 * earliest completion already known. */
void sg_completion_suspend_any(const sg_completion *known);
/* Tells `t` at clock `now` when what it waits for is complete; does nothing if `t` is not waiting. */
void sg_completion_wake(sg_thread *t, const sg_completion *done, uint64_t now);
/* `t` waits for the first of several things: it goes on at `when` because of `done`, unless another comes
 * earlier. */
void sg_completion_expect(sg_thread *t, const sg_completion *done, uint64_t when);
/* Charges the time until `done`, whose clock is known. */
void sg_completion_wait(const sg_completion *done);

/* Returns the first message that has arrived and that a receive would match; if `wait`, waits for one. */
sg_message *sg_message_probe(uint32_t context, int32_t source, int32_t tag, bool wait);
/* Removes a probed message from the mailbox. */
void sg_message_take(sg_message *message);

/* ---- sg_transport.c: how long a message takes ---- */

/* When a message sent at `now`, or as soon as the interfaces are free, passes each point. */
typedef struct sg_journey {
    uint64_t free;       /* the sender's interface has taken all of it */
    uint64_t arrival;    /* all of it has arrived */
    uint64_t contention; /* part of that time lost to contention */
} sg_journey;

void sg_transport_open(void);
sg_journey sg_transport(const sg_rank *from, const sg_rank *to, uint64_t now, size_t bytes);
/* Charges the running processor for sending a message to a rank, or receiving one from it. */
void sg_transport_send(const sg_rank *to, size_t bytes);
/* `buffered`: the message waited in the library's memory for its receive. */
void sg_transport_receive(const sg_rank *from, size_t bytes, bool buffered);
/* Charges a copy within the program's memory, for packing and unpacking. */
void sg_transport_copy(size_t bytes);
/* Charges the running processor for handing `bytes` to the network for collective operations. */
void sg_transport_give(size_t bytes);
/* Returns the time from the last contribution until that network returns the result. */
uint64_t sg_transport_collective(void);
/* Does a standard send of this size wait until its receiver is ready? */
bool sg_transport_waits(const sg_rank *from, const sg_rank *to, size_t bytes);
/* Do they share a node, and so its memory? */
bool sg_transport_near(const sg_rank *one, const sg_rank *other);

#endif
