/* Calls that transfer data: read and write, at an offset or a pointer, individual or collective, blocking,
 * nonblocking or split. */
#include "sg_mpi_file.h"

#define DEFINE(name, parameters, call)                                                                       \
    SG_API int PMPI_File_##name parameters                                                                   \
    {                                                                                                        \
        SG_ENTER("File_" #name);                                                                             \
        return sg_file_result(call);                                                                         \
    }                                                                                                        \
    SG_MPI_NAME(File_##name)

#define MOVE(name, how, kind)                                                                                \
    DEFINE(name, (MPI_File file, kind * buffer, int count, MPI_Datatype type, MPI_Status *status),           \
           sg_file_move(file, how, 0, buffer, count, type, status, NULL))
#define MOVE_AT(name, how, kind)                                                                             \
    DEFINE(                                                                                                  \
        name,                                                                                                \
        (MPI_File file, MPI_Offset offset, kind * buffer, int count, MPI_Datatype type, MPI_Status *status), \
        sg_file_move(file, (how) | SG_FILE_AT, offset, buffer, count, type, status, NULL))
#define START(name, how, kind)                                                                               \
    DEFINE(name, (MPI_File file, kind * buffer, int count, MPI_Datatype type, MPI_Request *request),         \
           sg_file_move(file, how, 0, buffer, count, type, MPI_STATUS_IGNORE, request))
#define START_AT(name, how, kind)                                                                            \
    DEFINE(name,                                                                                             \
           (MPI_File file, MPI_Offset offset, kind * buffer, int count, MPI_Datatype type,                   \
            MPI_Request *request),                                                                           \
           sg_file_move(file, (how) | SG_FILE_AT, offset, buffer, count, type, MPI_STATUS_IGNORE, request))
#define END(name, kind)                                                                                      \
    DEFINE(name##_end, (MPI_File file, kind * buffer, MPI_Status * status),                                  \
           ((void)buffer, sg_file_end(file, "MPI_File_" #name "_begin", status)))
#define SPLIT(name, how, kind)                                                                               \
    DEFINE(name##_begin, (MPI_File file, kind * buffer, int count, MPI_Datatype type),                       \
           sg_file_move(file, (how) | SG_FILE_SPLIT, 0, buffer, count, type, MPI_STATUS_IGNORE, NULL))       \
    END(name, kind)
#define SPLIT_AT(name, how, kind)                                                                            \
    DEFINE(name##_begin, (MPI_File file, MPI_Offset offset, kind * buffer, int count, MPI_Datatype type),    \
           sg_file_move(file, (how) | SG_FILE_SPLIT | SG_FILE_AT, offset, buffer, count, type,               \
                        MPI_STATUS_IGNORE, NULL))                                                            \
    END(name, kind)

enum { ALL = SG_FILE_TOGETHER, ORDERED = SG_FILE_TOGETHER | SG_FILE_SHARED };

#define BOTH(verb, writes, kind)                                                                             \
    MOVE(verb, writes, kind)                                                                                 \
    MOVE(verb##_all, (writes) | ALL, kind)                                                                   \
    MOVE(verb##_shared, (writes) | SG_FILE_SHARED, kind)                                                     \
    MOVE(verb##_ordered, (writes) | ORDERED, kind)                                                           \
    MOVE_AT(verb##_at, writes, kind)                                                                         \
    MOVE_AT(verb##_at_all, (writes) | ALL, kind)                                                             \
    START(i##verb, writes, kind)                                                                             \
    START(i##verb##_all, (writes) | ALL, kind)                                                               \
    START(i##verb##_shared, (writes) | SG_FILE_SHARED, kind)                                                 \
    START_AT(i##verb##_at, writes, kind)                                                                     \
    START_AT(i##verb##_at_all, (writes) | ALL, kind)                                                         \
    SPLIT(verb##_all, (writes) | ALL, kind)                                                                  \
    SPLIT(verb##_ordered, (writes) | ORDERED, kind)                                                          \
    SPLIT_AT(verb##_at_all, (writes) | ALL, kind)

BOTH(read, 0, void)
BOTH(write, SG_FILE_WRITES, const void)
