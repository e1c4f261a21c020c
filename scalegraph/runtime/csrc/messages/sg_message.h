/* Messages between ranks: matching, waiting, and what both cost.
 *
 * A rank is named by its number among all ranks; a context keeps the messages of one communicator apart from
 * those of others. Messages of one sender in one context are matched in the order in which they were sent;
 * among several senders the earliest in simulated time comes first. Data is copied when it is sent, by the
 * sender, and handed out to the receiver, so nobody touches the static data of a rank that does not run.
 *
 * A short message (eager) leaves at once. A long one, or one that is sent synchronously, announces itself and
 * waits until the receiver has a place for it (rendezvous): announcement and answer are empty messages. */
#ifndef SG_MESSAGE_H
#define SG_MESSAGE_H

#include "sg_rank.h"

#define SG_ANY (-1) /* source or tag of a receive */

enum sg_send_mode { SG_SEND_STANDARD, SG_SEND_SYNCHRONOUS, SG_SEND_BUFFERED };

/* Of a send or a receive: when its rank can go on, and what it will have waited for until then. */
typedef struct sg_completion {
    uint64_t clock;      /* SG_NEVER: nobody knows yet */
    uint64_t met;        /* clock at which sender and receiver had both come */
    uint64_t contention; /* waiting for interfaces and links, of the time after that */
    sg_talk talk;        /* with whom */
    uint64_t
        released; /* clock at which the other side had done its part; 0: at `met`; SG_NEVER: it has none */
} sg_completion;

/* A thread that sleeps until something is complete, in the list of that; several threads of a process may
 * wait for the same. */
typedef struct sg_waiter {
    struct sg_waiter *next, **list; /* list: NULL when what was waited for no longer exists */
    sg_thread *thread;
} sg_waiter;

typedef struct sg_send {
    sg_completion completion;
    struct sg_message *message; /* not matched yet */
    sg_waiter *waiters;
} sg_send;

typedef struct sg_receive {
    sg_completion completion;
    sg_deferred later; /* to post it */
    sg_rank *rank;
    struct sg_receive *next, *before; /* posted ones */
    uint32_t context;
    int32_t source, tag; /* wanted, then of the message */
    int32_t from;        /* rank of the sender among all; wanted or SG_ANY, then of the message */
    size_t bytes;        /* of the message, whatever room there is for it */
    char *data;          /* its contents, within `message` */
    struct sg_message *message;
    uint64_t sent, left, posted; /* for observers, see sg_passed */
    sg_waiter *waiters;
    bool cancelled;
    bool finished;    /* see sg_receive_finish */
    bool buffered;    /* the message had come before the receive */
    const char *what; /* it waits for something else than a message: what, for a report */
} sg_receive;

/* What a message consists of, as its sender says, and where that was; the messages' users compare it. */
typedef struct sg_signature {
    uint64_t elements, hash; /* hash: of different basic elements */
    uint8_t code;            /* of all basic elements, if it is one; 0: not known */
    const char *call;
    const void *site;
} sg_signature;

typedef struct sg_message {
    struct sg_message *next, *before;
    sg_deferred later; /* to let it leave */
    sg_rank *from, *to;
    sg_send *send; /* of a rendezvous; NULL: the sender waits for nothing */
    uint32_t context;
    int32_t source, tag;
    size_t bytes;
    uint64_t began;         /* when its sender began to send it */
    uint64_t sent, arrival; /* of the message, or of its announcement */
    uint64_t contention;
    bool rendezvous;
    bool free; /* of a call whose messages take no time in this run */
    sg_signature signature;
    char data[];
} sg_message;

/* In this run, messages of the call at `site` take no time; NULL: no call is such. What-if sets it. */
extern bool (*sg_message_is_free)(const void *site);

/* Before the ranks begin. */
void sg_messages_open(void);
/* Memory of the library itself, that free() gives back to it. */
void *sg_message_memory(size_t size);
struct sg_mailbox *sg_mailbox_new(void);
/* Of a rank: messages that nobody has received yet and receives without a message, each in their order. */
struct sg_mailbox {
    sg_message *first, *last;
    sg_receive *posted, *newest;
    struct probe *probes; /* that wait */
};
/* Writes which ranks wait and for which others, when nobody can go on. */
void sg_messages_explain(char *text, size_t size);
/* Writes which messages no rank has received, when all of them have ended; nothing if there are none. */
void sg_messages_explain_left(char *text, size_t size);
/* Sends a copy of `data` to rank `to`; `source` is the sender's number in the communicator. The running
 * processor is charged what sending costs it. */
sg_send *sg_message_send(uint32_t to, uint32_t context, int32_t source, int32_t tag, const void *data,
                         size_t bytes, enum sg_send_mode mode);
/* The same with what the data consists of; NULL: nobody says. */
sg_send *sg_message_send_typed(uint32_t to, uint32_t context, int32_t source, int32_t tag, const void *data,
                               size_t bytes, enum sg_send_mode mode, const sg_signature *signature);
/* What the running processor does for a message: charges and reports it. */
void sg_message_charge(enum sg_category category, uint64_t cycles);
/* What messages cost the running rank from here on is of this communicator and this partner. */
static inline void sg_message_talk(uint32_t context, int32_t peer)
{
    sg_rank_self()->talk = (sg_talk){context, peer};
}

/* Posts a receive. `from` is the sender's number among all ranks, for reports; SG_ANY if `source` is. */
sg_receive *sg_message_receive(uint32_t context, int32_t source, int32_t from, int32_t tag);
/* Posts a receive of a message that sg_message_take has returned. */
sg_receive *sg_message_receive_taken(sg_message *message);

/* Is it complete at the processor's clock? Costs a little, so that a loop that asks makes time pass. */
bool sg_send_test(sg_send *send);
bool sg_receive_test(sg_receive *receive);
/* Wait until it is. What the waiting is charged to is known afterwards. */
void sg_send_wait(sg_send *send);
void sg_receive_wait(sg_receive *receive);
/* Charges what a complete receive costs the processor: once, before its data is used. */
void sg_receive_finish(sg_receive *receive);
void sg_send_free(sg_send *send);
void sg_receive_free(sg_receive *receive);
/* Takes a receive back that has not been matched; false: it has. */
bool sg_receive_cancel(sg_receive *receive);
/* The same for a send that waits for its receiver. */
bool sg_send_cancel(sg_send *send);
/* The running thread sleeps for this, too, from now on until it takes itself out again. */
void sg_waiter_add(sg_waiter **list, sg_waiter *w);
void sg_waiter_remove(sg_waiter *w);
/* What they sleep for ends: none of them is in its list any more. */
void sg_waiters_leave(sg_waiter **list);
/* They know at the clock `now` when it is complete. */
void sg_waiters_wake(const sg_waiter *list, const sg_completion *done, uint64_t now);
/* Waits until the earliest of them is complete: one that is known to come later only, but comes earlier than
 * those that are known now, ends the wait when it comes. Either list may be empty. `listed`: the caller has
 * put the running thread into the list of something else that may wake it. Other threads may wait for the
 * same and end it first: nothing of it may be used before it is looked up again. */
void sg_message_wait_first(sg_send *const *sends, size_t send_count, sg_receive *const *receives,
                           size_t receive_count, bool listed);

/* What waits for something else than a message: `side` of a transfer that has to wait for the other one. */
enum sg_side { SG_SENDER, SG_RECEIVER };
/* The running thread waits until sg_completion_wake; `what` says for what, if it is no message, for a report;
 * `other`: for whom. */
void sg_completion_suspend(enum sg_side side, int32_t other, int32_t tag, const char *what);
/* The same for several things: the first one that is known to be complete ends it; `known`, if not NULL: the
 * earliest of those of which that is known already. */
void sg_completion_suspend_any(const sg_completion *known);
/* `t`, if it waits for this, knows at the clock `now` when it is complete. */
void sg_completion_wake(sg_thread *t, const sg_completion *done, uint64_t now);
/* The thread `t`, which waits for the first of several things, goes on at `when` because of `done`, unless
 * another one comes before. */
void sg_completion_expect(sg_thread *t, const sg_completion *done, uint64_t when);
/* Charges the time until `done`, which is known. */
void sg_completion_wait(const sg_completion *done);

/* The first message that a receive would match, if it has arrived; waits for one if `wait`. */
sg_message *sg_message_probe(uint32_t context, int32_t source, int32_t tag, bool wait);
/* Takes a probed message out of the mailbox. */
void sg_message_take(sg_message *message);

/* ---- sg_transport.c: the time that a message takes ---- */

/* A message of `bytes` leaves `from` at `now` or as soon as the interfaces are free. */
typedef struct sg_journey {
    uint64_t free;       /* the sender's interface has taken all of it */
    uint64_t arrival;    /* all of it has arrived */
    uint64_t contention; /* of the time until then */
} sg_journey;

void sg_transport_open(void);
sg_journey sg_transport(const sg_rank *from, const sg_rank *to, uint64_t now, size_t bytes);
/* What the running processor does to send or to receive a message from or to a rank. */
void sg_transport_send(const sg_rank *to, size_t bytes);
/* `buffered`: the message has waited in the library's memory for its receive. */
void sg_transport_receive(const sg_rank *from, size_t bytes, bool buffered);
/* A copy within the program's memory: to pack and unpack. */
void sg_transport_copy(size_t bytes);
/* What the running processor does to give `bytes` to the network for collective operations. */
void sg_transport_give(size_t bytes);
/* How long a result takes to come out of that network, after the last part of it has been given. */
uint64_t sg_transport_collective(void);
/* Does a standard send of so many bytes wait until its receiver is ready? */
bool sg_transport_waits(const sg_rank *from, const sg_rank *to, size_t bytes);
/* Do they share a node, and thereby memory? */
bool sg_transport_near(const sg_rank *one, const sg_rank *other);

#endif
