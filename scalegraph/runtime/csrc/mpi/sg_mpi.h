/* The MPI library over messages between ranks (messages/sg_message.h). What belongs to a rank hangs off its
 * sg_rank; objects are memory of the library itself, so any rank may examine them. */
#ifndef SG_MPI_H
#define SG_MPI_H

#include <mpi.h>

#include "sg_message.h"

/* A communicator as one rank sees it. */
typedef struct sg_comm {
    uint32_t context;      /* of point-to-point messages; that of collective operations is one greater */
    int rank, size;        /* of the rank, of the group */
    const uint32_t *world; /* rank in it -> rank among all */
} sg_comm;

/* Of a rank. */
typedef struct sg_mpi {
    bool initialized, finalized;
    int thread_level;
    sg_comm comm_world, comm_self;
} sg_mpi;

enum sg_request_kind { SG_REQUEST_SEND, SG_REQUEST_RECEIVE };

struct MPI_ABI_Request {
    uint64_t mark; /* SG_REQUEST_MARK */
    enum sg_request_kind kind;
    bool persistent, cancelled;
    sg_send *send;       /* NULL: complete, or not active */
    sg_receive *receive; /* likewise */
    void *buffer;
    int count, partner, tag;
    enum sg_send_mode mode;
    MPI_Datatype type;
    MPI_Comm comm;
    const sg_comm *in; /* the same */
};
#define SG_REQUEST_MARK 0x5347726571756573ull

/* Begins every call of the running rank: `site` is SG_CALLER. Ends the run when MPI does not run. */
sg_mpi *sg_mpi_enter(const char *call, const void *site);

/* The communicator of a handle; ends the run if it is none. */
sg_comm *sg_comm_of(MPI_Comm comm);
/* Bytes of the data of one element, without gaps. */
size_t sg_type_size(MPI_Datatype type);
/* Copies `count` elements from `buffer` to `to`, without gaps. */
void sg_type_pack(const void *buffer, size_t count, MPI_Datatype type, void *to);
/* Copies at most `bytes` from `from` into `count` elements of `buffer`; returns how many. */
size_t sg_type_unpack(const void *from, size_t bytes, void *buffer, size_t count, MPI_Datatype type);
/* The error handler of `comm` gets to know of an error: returns the class, or ends the run with the sentence.
 */
int sg_mpi_error(MPI_Comm comm, int error_class, const char *sentence, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- sg_mpi_point.c, for collective operations too ---- */

sg_send *sg_mpi_begin_send(const sg_comm *comm, uint32_t context, const void *buffer, int count,
                           MPI_Datatype type, int to, int tag, enum sg_send_mode mode);
sg_receive *sg_mpi_begin_receive(const sg_comm *comm, uint32_t context, int from, int tag);
void sg_mpi_end_send(sg_send *send);
/* Waits, then puts the data into `buffer`; `call` is of communicator `comm`. */
int sg_mpi_end_receive(sg_receive *receive, MPI_Comm comm, void *buffer, int count, MPI_Datatype type,
                       MPI_Status *status);

/* MPI_NAME is another name of PMPI_NAME, unless a tool defines it. */
#define SG_MPI_ALIAS(name)                                                                                   \
    extern __typeof__(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)));

#endif
