/* MPI 3.1 for programs that ScaleGraph simulates. Handles and constants have the values of the standard ABI
 * (MPI 5.0). A call that is not supported ends the run with a message that names it. */
#ifndef SCALEGRAPH_MPI_H
#define SCALEGRAPH_MPI_H

#include <stdint.h>

#ifndef SCALEGRAPH_MPI_LIBRARY
/* This section marks a program as an MPI program; it takes no memory at run time. */
__asm__(".pushsection .scalegraph.mpi,\"\"\n.byte 1\n.popsection");
#endif

#if defined(__cplusplus)
extern "C" {
#endif

#define MPI_VERSION    3
#define MPI_SUBVERSION 1

#define MPI_ABI_VERSION    1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

#include "mpi_values.h"

typedef void (MPI_User_function)(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);

typedef int (MPI_Grequest_query_function)(void *extra_state, MPI_Status *status);
typedef int (MPI_Grequest_free_function)(void *extra_state);
typedef int (MPI_Grequest_cancel_function)(void *extra_state, int complete);

typedef int (MPI_Copy_function)(MPI_Comm comm, int keyval, void *extra_state, void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int (MPI_Delete_function)(MPI_Comm omm, int keyval, void *attribute_val, void *extra_state);
typedef int (MPI_Comm_copy_attr_function)(MPI_Comm comm, int keyval, void *extra_state, void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int (MPI_Comm_delete_attr_function)(MPI_Comm comm, int keyval, void *attribute_val, void *extra_state);
typedef int (MPI_Type_copy_attr_function)(MPI_Datatype datatype, int keyval, void *extra_state, void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int (MPI_Type_delete_attr_function)(MPI_Datatype datatype, int keyval, void *attribute_val, void *extra_state);
typedef int (MPI_Win_copy_attr_function)(MPI_Win win, int keyval, void *extra_state, void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int (MPI_Win_delete_attr_function)(MPI_Win win, int keyval, void *attribute_val, void *extra_state);

typedef int (MPI_Datarep_extent_function)(MPI_Datatype datatype, MPI_Aint *extent, void *extra_state);
typedef int (MPI_Datarep_conversion_function)(void *userbuf, MPI_Datatype datatype, int count, void *filebuf, MPI_Offset position, void *extra_state);

typedef void (MPI_Comm_errhandler_function)(MPI_Comm *comm, int *error_code, ...);
typedef void (MPI_File_errhandler_function)(MPI_File *file, int *error_code, ...);
typedef void (MPI_Win_errhandler_function)(MPI_Win *win, int *error_code, ...);

typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_Comm_errhandler_function MPI_Handler_function; /* removed in MPI 3.0, as are the calls of mpi_removed.h */

#define MPI_NULL_COPY_FN               ((MPI_Copy_function*)0x0)
#define MPI_DUP_FN                     ((MPI_Copy_function*)0x1)
#define MPI_NULL_DELETE_FN             ((MPI_Delete_function*)0x0)
#define MPI_COMM_NULL_COPY_FN          ((MPI_Comm_copy_attr_function*)0x0)
#define MPI_COMM_DUP_FN                ((MPI_Comm_copy_attr_function*)0x1)
#define MPI_COMM_NULL_DELETE_FN        ((MPI_Comm_delete_attr_function*)0x0)
#define MPI_TYPE_NULL_COPY_FN          ((MPI_Type_copy_attr_function*)0x0)
#define MPI_TYPE_DUP_FN                ((MPI_Type_copy_attr_function*)0x1)
#define MPI_TYPE_NULL_DELETE_FN        ((MPI_Type_delete_attr_function*)0x0)
#define MPI_WIN_NULL_COPY_FN           ((MPI_Win_copy_attr_function*)0x0)
#define MPI_WIN_DUP_FN                 ((MPI_Win_copy_attr_function*)0x1)
#define MPI_WIN_NULL_DELETE_FN         ((MPI_Win_delete_attr_function*)0x0)
#define MPI_CONVERSION_FN_NULL         ((MPI_Datarep_conversion_function*)0x0)

#define MPI_F_STATUS_IGNORE   ((MPI_Fint*)0)
#define MPI_F_STATUSES_IGNORE ((MPI_Fint*)0)

/* ROMIO's names from before MPI 2.0, which old programs use */

#define MPIO_Request MPI_Request
#define MPIO_Wait    MPI_Wait
#define MPIO_Test    MPI_Test

/* Each function has two names: a tool that replaces MPI_name calls ours as PMPI_name. */
#define SCALEGRAPH_MPI(name) MPI_##name
#include "mpi_calls.h"
#include "mpi_removed.h"
#undef SCALEGRAPH_MPI
#define SCALEGRAPH_MPI(name) PMPI_##name
#include "mpi_calls.h"
#include "mpi_removed.h"
#undef SCALEGRAPH_MPI

#if defined(__cplusplus)
}
#endif

#endif
