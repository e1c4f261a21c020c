/* Files: handles, views, and transfers between memory and a host file.
 *
 * All ranks share one open host file. A transfer is done at once, in the calling rank's turn in simulated
 * time; it costs as much as the copy (sg_mpi_file_transfer.c). */
#ifndef SG_MPI_FILE_H
#define SG_MPI_FILE_H

#include "sg_mpi_request.h"
#include "sg_mpi_window.h"

/* A contiguous run of a filetype: its offset in the file, and the bytes of data before it. */
typedef struct sg_file_run {
    int64_t at, before, bytes;
} sg_file_run;

/* Which bytes of the file a rank sees: the runs of its filetype, repeated. */
typedef struct sg_file_view {
    int64_t disp;
    sg_type *etype, *filetype;
    const char *datarep;
    bool external;     /* data is converted to external32 */
    int64_t unit;      /* size of an etype in the file */
    int64_t data;      /* size of a filetype's data in the file */
    int64_t extent;    /* distance between filetypes */
    sg_file_run *runs; /* of one filetype */
    uint32_t run_count, run_room;
} sg_file_view;

/* State shared by all ranks of a file. */
typedef struct sg_file_all {
    uint32_t references;
    int host; /* descriptor of the host file */
    int amode;
    char *name;
    int64_t pointer;  /* the shared pointer, in etypes */
    uint64_t line;    /* cache line in simulated memory that represents the pointer */
    sg_rank *pointed; /* rank whose memory holds it */
} sg_file_all;

typedef struct sg_mpi_file {
    sg_file_all *all;
    sg_comm *comm; /* a duplicate for the file's own messages */
    int amode;
    uintptr_t handle;
    MPI_Errhandler handler;
    MPI_Info info;
    sg_file_view view;
    int64_t position; /* individual pointer: bytes of the view's data before it */
    bool atomic;
    const char *split; /* the call that began a split collective operation; NULL: none */
    MPI_Status split_status;
    const char *call; /* that opened it, and its site */
    const void *site;
} sg_mpi_file;

/* How a call moves data. */
enum {
    SG_FILE_WRITES = 1,
    SG_FILE_AT = 2,       /* at an explicit offset; otherwise at the individual pointer, unless: */
    SG_FILE_SHARED = 4,   /* at the shared pointer */
    SG_FILE_TOGETHER = 8, /* collective; with the shared pointer: in order of ranks */
    SG_FILE_SPLIT = 16,   /* completed by another call */
};

/* ---- sg_mpi_file.c ---- */

static inline sg_mpi_file *sg_file_of(MPI_File handle)
{
    return sg_handle_get(SG_KIND_FILE, (uintptr_t)handle);
}
/* Reports files that the rank has not closed, at the end of MPI. */
void sg_files_name_left(const struct sg_mpi *m);

/* Defines a call, whose body follows; an error in it goes to the error handler, and its result is returned.
 */
#define SG_FILE_CALL(name, parameters, arguments)                                                            \
    static int file_##name parameters;                                                                       \
    SG_API int PMPI_File_##name parameters                                                                   \
    {                                                                                                        \
        SG_ENTER("File_" #name);                                                                             \
        return sg_file_result(file_##name arguments);                                                        \
    }                                                                                                        \
    SG_MPI_NAME(File_##name)                                                                                 \
    static int file_##name parameters

#define SG_FILE(name, handle)                                                                                \
    sg_mpi_file *name = sg_file_of(handle);                                                                  \
    if (name == NULL)                                                                                        \
        return sg_file_missing(handle);

/* ---- sg_mpi_file_error.c ---- */

/* Raises an error with the file's error handler (NULL: that of MPI_FILE_NULL). Never returns MPI_SUCCESS:
 * sg_file_result returns for this error what the handler has made of it. */
int sg_file_error(sg_mpi_file *f, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
int sg_file_missing(MPI_File handle);
int sg_file_result(int error);
/* Raises the error for a failed host operation; `number` is its errno. */
int sg_file_failed(sg_mpi_file *f, const char *name, const char *what, int number);
/* Gets the type of an argument, or raises an error. */
int sg_file_type(sg_mpi_file *f, MPI_Datatype handle, int64_t count, sg_type **type);
/* Raises an error if the file only allows the shared pointer (MPI_MODE_SEQUENTIAL). */
int sg_file_seekable(sg_mpi_file *f);
/* Raises an error if it is not open for writing. */
int sg_file_writable(sg_mpi_file *f);

/* ---- sg_mpi_file_meet.c: what the ranks of a file do together ---- */

int sg_file_meet(sg_mpi_file *f);
/* Synchronises the ranks; raises an error unless all pass the same number. */
int sg_file_agree(sg_mpi_file *f, int64_t number, const char *what);
/* Sets the shared pointer, or advances it by `etypes`; returns its previous value. */
int64_t sg_file_pointer_move(sg_mpi_file *f, int64_t etypes);
int64_t sg_file_pointer_set(sg_mpi_file *f, int64_t etypes);

/* ---- sg_mpi_file_view.c ---- */

/* The view of a newly opened file: plain bytes. */
void sg_file_view_bytes(sg_file_view *v);
void sg_file_view_drop(sg_file_view *v);
/* File offset of byte `at` of the data; *left: contiguous bytes from there. */
int64_t sg_file_place(const sg_file_view *v, int64_t at, int64_t *left);
/* Number of etypes of the view that begin before byte `end` of the file. */
int64_t sg_file_etypes_before(const sg_file_view *v, int64_t end);

/* ---- sg_mpi_file_transfer.c ---- */

/* Size of the file, from fstat. */
int64_t sg_file_size(const sg_mpi_file *f);
/* Bytes that `count` items take in the file. */
int64_t sg_file_bytes(const sg_mpi_file *f, const sg_type *t, int64_t count);
/* Transfers items between memory and the file, starting at byte `at` of the view's data. *moved: bytes of
 * memory; *passed: bytes of the file. */
int sg_file_transfer(sg_mpi_file *f, int64_t at, void *buffer, int64_t count, const sg_type *t, bool writes,
                     int64_t *moved, int64_t *passed);

/* ---- sg_mpi_file_move.c ---- */

/* Common part of all calls that transfer data; `request` is NULL for blocking ones. */
int sg_file_move(MPI_File file, int how, MPI_Offset offset, const void *buffer, int count, MPI_Datatype type,
                 MPI_Status *status, MPI_Request *request);
/* Ends a split collective operation begun by the call `began`. */
int sg_file_end(MPI_File file, const char *began, MPI_Status *status);

#endif
