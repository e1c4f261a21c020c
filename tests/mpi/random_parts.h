/* Parts of random MPI programs. Each is correct and has only one possible result, on any number of ranks.
 * Received data changes a rank's state, and the data that it sends depends on that state. random_programs.py
 * draws the calls.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long word;

typedef struct world {
    MPI_Comm comm;
    int rank, size;
} world;

static word state;

static word mix(word x)
{
    x ^= x >> 31;
    x *= 0x9e3779b97f4a7c15ul;
    return x ^ x >> 29;
}

static void absorb(word x)
{
    state = mix(state + mix(x + 1));
}

static void absorb_bytes(const void *data, size_t bytes)
{
    const unsigned char *place = data;
    word sum = bytes;
    for (size_t i = 0; i < bytes; i++)
        sum = mix(sum + place[i]);
    absorb(sum);
}

/* Buffers in static data, of which each rank has its own: STATIC_BUFFERS bytes each, the rest in the heap. */
#ifdef STATIC_BUFFERS
enum { ROOMS = 16 };
static unsigned char rooms[ROOMS][STATIC_BUFFERS];
static int taken[ROOMS];

static void *take(size_t bytes)
{
    for (int i = 0; i < ROOMS; i++)
        if (!taken[i] && bytes <= STATIC_BUFFERS) {
            taken[i] = 1;
            return rooms[i];
        }
    return malloc(bytes);
}

static void give_back(void *place)
{
    size_t offset = (size_t)((unsigned char *)place - rooms[0]);
    if (offset < sizeof rooms)
        taken[offset / STATIC_BUFFERS] = 0;
    else
        free(place);
}

#define malloc take
#define free   give_back
#endif

static void *room(size_t bytes)
{
    unsigned char *place = malloc(bytes + 8);
    memset(place, 0x5a, bytes + 8);
    return place;
}

/* Bytes that depend on the state of this rank. */
static void *drawn(size_t bytes)
{
    unsigned char *place = room(bytes);
    word x = state;
    for (size_t i = 0; i < bytes; i++) {
        x = mix(x + i + 1);
        place[i] = (unsigned char)(x >> 11);
    }
    return place;
}

static world within(MPI_Comm comm)
{
    world w = {comm, -1, 0};
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &w.rank);
        MPI_Comm_size(comm, &w.size);
    }
    return w;
}

static int modulo(long value, int size)
{
    return (int)((value % size + size) % size);
}

/* ---- datatypes: 0 to 4 hold `count` longs, 5 structures, 6 bytes; a buffer for any of them has SPAN(count)
 * bytes */

enum { LONGS = 5 };
#define SPAN(count) ((size_t)(count) * 32 + 64)

static MPI_Datatype structure(void)
{
    int lengths[3] = {1, 1, 3};
    MPI_Aint places[3] = {0, 8, 16};
    MPI_Datatype parts[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, packed, made;
    MPI_Type_create_struct(3, lengths, places, parts, &packed);
    MPI_Type_create_resized(packed, 0, 24, &made);
    MPI_Type_free(&packed);
    return made;
}

static MPI_Datatype indexed(int count)
{
    int *lengths = room((size_t)count * sizeof(int)), *places = room((size_t)count * sizeof(int)), blocks = 0;
    MPI_Datatype made;
    for (int left = count; left > 0; blocks++) {
        lengths[blocks] = left > 1 && blocks % 2 ? 2 : 1;
        places[blocks] = 3 * blocks;
        left -= lengths[blocks];
    }
    MPI_Type_indexed(blocks, lengths, places, MPI_LONG, &made);
    free(lengths);
    free(places);
    return made;
}

static MPI_Datatype made_type(int kind, int count)
{
    MPI_Datatype made, part;
    if (kind == 0)
        MPI_Type_contiguous(count, MPI_LONG, &made);
    else if (kind == 1)
        MPI_Type_vector(count, 1, 2, MPI_LONG, &made);
    else if (kind == 2)
        made = indexed(count);
    else if (kind == 3)
        MPI_Type_create_hvector(count, 1, 24, MPI_LONG, &made);
    else if (kind == 4)
        MPI_Type_create_subarray(2, (int[]){count, 3}, (int[]){count, 1}, (int[]){0, 1}, MPI_ORDER_C,
                                 MPI_LONG, &made);
    else if (kind == 5) {
        part = structure();
        MPI_Type_contiguous(count, part, &made);
        MPI_Type_free(&part);
    } else
        MPI_Type_contiguous(8 * count, MPI_BYTE, &made);
    MPI_Type_commit(&made);
    return made;
}

/* ---- messages */

static void persistent(world w, void *out, MPI_Datatype st, int to, void *in, MPI_Datatype rt, int from,
                       int tag)
{
    MPI_Request both[2];
    MPI_Recv_init(in, 1, rt, from, tag, w.comm, &both[0]);
    MPI_Send_init(out, 1, st, to, tag, w.comm, &both[1]);
    for (int round = 0; round < 3; round++) {
        ((unsigned char *)out)[0] ^= (unsigned char)round;
        MPI_Startall(2, both);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        absorb_bytes(in, 8);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
}

static void buffered(world w, void *out, MPI_Datatype st, int to, void *in, MPI_Datatype rt, int from,
                     int tag)
{
    int bytes;
    void *attached;
    MPI_Pack_size(1, st, w.comm, &bytes);
    bytes += MPI_BSEND_OVERHEAD;
    attached = room((size_t)bytes);
    MPI_Buffer_attach(attached, bytes);
    MPI_Bsend(out, 1, st, to, tag, w.comm);
    MPI_Recv(in, 1, rt, from, tag, w.comm, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&attached, &bytes);
    free(attached);
}

static void probed(world w, int mode, void *in, MPI_Datatype rt, int from, int tag)
{
    MPI_Status status;
    MPI_Message message;
    int flag = 0, count;
    if (mode == 0) {
        MPI_Mprobe(from, tag, w.comm, &message, &status);
        MPI_Mrecv(in, 1, rt, &message, &status);
    } else if (mode == 1) {
        MPI_Probe(from, tag, w.comm, &status);
        MPI_Recv(in, 1, rt, from, tag, w.comm, &status);
    } else {
        while (!flag)
            MPI_Iprobe(from, MPI_ANY_TAG, w.comm, &flag, &status);
        MPI_Recv(in, 1, rt, from, status.MPI_TAG, w.comm, &status);
    }
    MPI_Get_elements(&status, rt, &count);
    absorb((word)count * 64 + (word)status.MPI_SOURCE);
    absorb((word)status.MPI_TAG);
}

/* Each rank sends to the rank `distance` after it and receives from the rank `distance` before it. */
static void shift(world w, int distance, int count, int send_kind, int receive_kind, int mode, int tag)
{
    int to = modulo(w.rank + (long)distance, w.size), from = modulo(w.rank - (long)distance, w.size),
        flag = 0;
    MPI_Datatype st = made_type(send_kind, count), rt = made_type(receive_kind, count);
    void *out = drawn(SPAN(count)), *in = room(SPAN(count));
    MPI_Request r[2];
    if (mode == 1 || mode == 3 || mode == 4 || mode == 6 || mode == 11)
        MPI_Irecv(in, 1, rt, from, tag, w.comm, &r[0]);
    if (mode == 0)
        MPI_Sendrecv(out, 1, st, to, tag, in, 1, rt, from, tag, w.comm, MPI_STATUS_IGNORE);
    else if (mode == 1 || mode == 11)
        MPI_Isend(out, 1, st, to, tag, w.comm, &r[1]);
    else if (mode == 2 || (mode >= 8 && mode <= 10))
        MPI_Isend(out, 1, st, to, tag, w.comm, &r[1]);
    else if (mode == 3)
        MPI_Send(out, 1, st, to, tag, w.comm);
    else if (mode == 4)
        MPI_Issend(out, 1, st, to, tag, w.comm, &r[1]);
    else if (mode == 5)
        persistent(w, out, st, to, in, rt, from, tag);
    else if (mode == 6) {
        MPI_Barrier(w.comm);
        MPI_Rsend(out, 1, st, to, tag, w.comm);
    } else if (mode == 7)
        MPI_Sendrecv_replace(out, 1, st, to, tag, from, tag, w.comm, MPI_STATUS_IGNORE);
    else
        buffered(w, out, st, to, in, rt, from, tag);
    if (mode == 1 || mode == 4)
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    if (mode == 3 || mode == 6)
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    if (mode == 2)
        MPI_Recv(in, 1, rt, from, tag, w.comm, MPI_STATUS_IGNORE);
    if (mode >= 8 && mode <= 10)
        probed(w, mode - 8, in, rt, from, tag);
    if (mode == 2 || (mode >= 8 && mode <= 10))
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    while (mode == 11 && !flag)
        MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    absorb_bytes(mode == 7 ? out : in, SPAN(count));
    MPI_Type_free(&st);
    MPI_Type_free(&rt);
    free(out);
    free(in);
}

/* Like `shift`, for longs with the predefined datatype. */
static void plain_shift(world w, int distance, int count, int mode, int tag)
{
    int to = modulo(w.rank + (long)distance, w.size), from = modulo(w.rank - (long)distance, w.size);
    size_t bytes = (size_t)count * sizeof(long);
    void *out = drawn(bytes), *in = room(bytes);
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (mode == 0)
        MPI_Sendrecv(out, count, MPI_LONG, to, tag, in, count, MPI_LONG, from, tag, w.comm,
                     MPI_STATUS_IGNORE);
    if (mode == 1 || mode == 2)
        MPI_Irecv(in, count, MPI_LONG, from, tag, w.comm, &r[0]);
    if (mode == 1)
        MPI_Send(out, count, MPI_LONG, to, tag, w.comm);
    if (mode >= 2)
        MPI_Isend(out, count, MPI_LONG, to, tag, w.comm, &r[1]);
    if (mode == 3)
        MPI_Recv(in, count, MPI_LONG, from, tag, w.comm, MPI_STATUS_IGNORE);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    absorb_bytes(in, bytes);
    free(out);
    free(in);
}

/* Pairs of neighbours exchange messages with blocking calls. */
static void pairs(world w, int count, int synchronous, int tag)
{
    int partner = w.rank ^ 1;
    void *out = drawn((size_t)count), *in = room((size_t)count);
    if (partner < w.size) {
        if (w.rank > partner)
            MPI_Recv(in, count, MPI_CHAR, partner, tag, w.comm, MPI_STATUS_IGNORE);
        if (synchronous)
            MPI_Ssend(out, count, MPI_CHAR, partner, tag, w.comm);
        else
            MPI_Send(out, count, MPI_CHAR, partner, tag, w.comm);
        if (w.rank < partner)
            MPI_Recv(in, count, MPI_CHAR, partner, tag, w.comm, MPI_STATUS_IGNORE);
    }
    absorb_bytes(in, (size_t)count);
    free(out);
    free(in);
}

/* All but the root send messages of different lengths; the root takes them as they come and adds them up. */
static void to_root(world w, int root, int messages, int mode, int tag)
{
    word sum = 0, one[8];
    root = modulo(root, w.size);
    for (int i = 0; i < messages && w.rank != root; i++) {
        for (int j = 0; j < 8; j++)
            one[j] = mix(state + (word)(8 * i + j));
        MPI_Send(one, 1 + (w.rank + i) % 8, MPI_UNSIGNED_LONG, root, tag, w.comm);
    }
    for (int i = 0; i < messages * (w.size - 1) && w.rank == root; i++) {
        MPI_Status status;
        MPI_Message message;
        int count, from = MPI_ANY_SOURCE;
        if (mode == 1) {
            MPI_Probe(MPI_ANY_SOURCE, tag, w.comm, &status);
            from = status.MPI_SOURCE;
        }
        if (mode == 2) {
            MPI_Mprobe(MPI_ANY_SOURCE, tag, w.comm, &message, &status);
            MPI_Mrecv(one, 8, MPI_UNSIGNED_LONG, &message, &status);
        } else
            MPI_Recv(one, 8, MPI_UNSIGNED_LONG, from, tag, w.comm, &status);
        MPI_Get_count(&status, MPI_UNSIGNED_LONG, &count);
        for (int j = 0; j < count; j++)
            sum += mix(one[j] + (word)status.MPI_SOURCE);
    }
    absorb(sum);
}

/* Messages with different tags from one rank, received in their order by MPI_ANY_TAG. No other part has these
 * tags: the next part may begin elsewhere while a root still receives from anywhere. */
static void in_order(world w, int distance, int messages)
{
    int to = modulo(w.rank + (long)distance, w.size), from = modulo(w.rank - (long)distance, w.size);
    MPI_Request *r = room((size_t)messages * sizeof *r);
    word *out = drawn((size_t)messages * sizeof *out), in;
    MPI_Status status;
    for (int i = 0; i < messages; i++)
        MPI_Isend(&out[i], 1, MPI_UNSIGNED_LONG, to, 1000 + (i * 7) % 11, w.comm, &r[i]);
    for (int i = 0; i < messages; i++) {
        MPI_Recv(&in, 1, MPI_UNSIGNED_LONG, from, MPI_ANY_TAG, w.comm, &status);
        absorb(in ^ (word)status.MPI_TAG);
    }
    MPI_Waitall(messages, r, MPI_STATUSES_IGNORE);
    free(r);
    free(out);
}

/* Many messages at once, completed in any order: what is received is added up with the number of its request.
 */
static void many(world w, int stride, int messages, int mode, int tag)
{
    MPI_Request *r = room((size_t)messages * 2 * sizeof *r);
    word *out = drawn((size_t)messages * sizeof *out), *in = room((size_t)messages * sizeof *in), sum = 0;
    int *done = room((size_t)messages * sizeof *done);
    for (int i = 0; i < messages; i++)
        MPI_Irecv(&in[i], 1, MPI_UNSIGNED_LONG, modulo(w.rank - (long)i * stride, w.size), tag, w.comm,
                  &r[i]);
    for (int i = 0; i < messages; i++)
        MPI_Isend(&out[i], 1, MPI_UNSIGNED_LONG, modulo(w.rank + (long)i * stride, w.size), tag, w.comm,
                  &r[messages + i]);
    for (int left = messages, some, flag = 1; left > 0; left -= some) {
        some = messages;
        if (mode == 0)
            MPI_Waitall(messages, r, MPI_STATUSES_IGNORE);
        else if (mode == 1 || mode == 3) {
            if (mode == 1)
                MPI_Waitany(messages, r, &done[0], MPI_STATUS_IGNORE);
            else
                MPI_Testany(messages, r, &done[0], &flag, MPI_STATUS_IGNORE);
            some = flag ? 1 : 0;
        } else if (mode == 2)
            MPI_Waitsome(messages, r, &some, done, MPI_STATUSES_IGNORE);
        else
            MPI_Testsome(messages, r, &some, done, MPI_STATUSES_IGNORE);
        for (int i = 0; i < some; i++) {
            int which = mode == 0 ? i : done[i];
            sum += mix(in[which] + (word)which);
        }
    }
    MPI_Waitall(messages, r + messages, MPI_STATUSES_IGNORE);
    absorb(sum);
    free(r);
    free(out);
    free(in);
    free(done);
}

/* One packed message with numbers of different types. */
static void packed(world w, int distance, int count, int tag)
{
    int to = modulo(w.rank + (long)distance, w.size), from = modulo(w.rank - (long)distance, w.size);
    int bytes, more, place = 0;
    MPI_Pack_size(count, MPI_INT, w.comm, &bytes);
    MPI_Pack_size(count, MPI_DOUBLE, w.comm, &more);
    bytes += more;
    void *numbers = drawn((size_t)count * 12), *out = room((size_t)bytes), *in = room((size_t)bytes);
    MPI_Pack(numbers, count, MPI_INT, out, bytes, &place, w.comm);
    MPI_Pack((char *)numbers + 4 * (size_t)count, count, MPI_DOUBLE, out, bytes, &place, w.comm);
    MPI_Sendrecv(out, place, MPI_PACKED, to, tag, in, bytes, MPI_PACKED, from, tag, w.comm,
                 MPI_STATUS_IGNORE);
    place = 0;
    MPI_Unpack(in, bytes, &place, numbers, count, MPI_INT, w.comm);
    MPI_Unpack(in, bytes, &place, (char *)numbers + 4 * (size_t)count, count, MPI_DOUBLE, w.comm);
    absorb_bytes(numbers, (size_t)count * 12);
    free(numbers);
    free(out);
    free(in);
}
