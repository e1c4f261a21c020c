/* Files: handles, views, and transfers between memory and a file of the host.
 *
 * All ranks of a file use one open file of the host. A transfer is done at once, when the rank that calls has
 * its turn in simulated time; it costs the copy (sg_mpi_file_transfer.c). */
#ifndef SG_MPI_FILE_H
#define SG_MPI_FILE_H

#include "sg_mpi_request.h"
#include "sg_mpi_window.h"

/* A stretch of a filetype: where it is in the file, and how many bytes of data come before it. */
typedef struct sg_file_run {
    int64_t at, before, bytes;
} sg_file_run;

/* Which bytes of the file a rank sees: the stretches of its filetype, again and again. */
typedef struct sg_file_view {
    int64_t disp;
    sg_type *etype, *filetype;
    const char *datarep;
    bool external;     /* data is converted */
    int64_t unit;      /* bytes of an etype in the file */
    int64_t data;      /* bytes of a filetype's data in the file */
    int64_t extent;    /* from one filetype to the next */
    sg_file_run *runs; /* of a filetype */
    uint32_t run_count, run_room;
} sg_file_view;

/* What all ranks of a file share. */
typedef struct sg_file_all {
    uint32_t references;
    int host; /* open file of the host */
    int amode;
    char *name;
    int64_t pointer;  /* the shared one, in etypes */
    uint64_t line;    /* of simulated memory, that stands for the pointer */
    sg_rank *pointed; /* in whose memory it is */
} sg_file_all;

typedef struct sg_mpi_file {
    sg_file_all *all;
    sg_comm *comm; /* of its own */
    int amode;
    uintptr_t handle;
    MPI_Errhandler handler;
    MPI_Info info;
    sg_file_view view;
    int64_t position; /* of the rank's own pointer: bytes of the view's data before it */
    bool atomic;
    const char *split; /* the call that has begun a split collective operation; NULL: none */
    MPI_Status split_status;
    const char *call; /* that opened it, and where */
    const void *site;
} sg_mpi_file;

/* How a call moves data. */
enum {
    SG_FILE_WRITES = 1,
    SG_FILE_AT = 2,       /* from an offset; else from the rank's pointer, unless: */
    SG_FILE_SHARED = 4,   /* from the shared pointer */
    SG_FILE_TOGETHER = 8, /* collective; with the shared pointer: in the order of the ranks */
    SG_FILE_SPLIT = 16,   /* another call ends it */
};

/* ---- sg_mpi_file.c ---- */

static inline sg_mpi_file *sg_file_of(MPI_File handle)
{
    return sg_handle_get(SG_KIND_FILE, (uintptr_t)handle);
}
/* Files that the rank has not closed, for the end of MPI. */
void sg_files_name_left(const struct sg_mpi *m);

/* A call whose body follows: a failure there becomes what the error handler has made of it. */
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

/* The error handler of the file decides (NULL: that of MPI_FILE_NULL). The result is never MPI_SUCCESS: what
 * the handler has made of the error is what sg_file_result returns for it. */
int sg_file_error(sg_mpi_file *f, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
int sg_file_missing(MPI_File handle);
int sg_file_result(int error);
/* The host could not do it: `number` is its error. */
int sg_file_failed(sg_mpi_file *f, const char *name, const char *what, int number);
/* The type of an argument, or an error. */
int sg_file_type(sg_mpi_file *f, MPI_Datatype handle, int64_t count, sg_type **type);
/* The file is not for pointers of shared use alone (MPI_MODE_SEQUENTIAL), or an error. */
int sg_file_seekable(sg_mpi_file *f);
/* It is open for writing, or an error. */
int sg_file_writable(sg_mpi_file *f);

/* ---- sg_mpi_file_meet.c: what ranks of a file do together ---- */

int sg_file_meet(sg_mpi_file *f);
/* All have the same number here, or an error; they meet. */
int sg_file_agree(sg_mpi_file *f, int64_t number, const char *what);
/* Sets the shared pointer, or moves it on by so many etypes; returns what it was. */
int64_t sg_file_pointer_move(sg_mpi_file *f, int64_t etypes);
int64_t sg_file_pointer_set(sg_mpi_file *f, int64_t etypes);

/* ---- sg_mpi_file_view.c ---- */

/* The view that a file has when it is opened: its bytes. */
void sg_file_view_bytes(sg_file_view *v);
void sg_file_view_drop(sg_file_view *v);
/* Where byte `at` of the data is in the file; *left: how many follow it there. */
int64_t sg_file_place(const sg_file_view *v, int64_t at, int64_t *left);
/* How many etypes of the view begin before byte `end` of the file. */
int64_t sg_file_etypes_before(const sg_file_view *v, int64_t end);

/* ---- sg_mpi_file_transfer.c ---- */

/* Bytes of the file, by fstat. */
int64_t sg_file_size(const sg_mpi_file *f);
/* Bytes that `count` items are in the file. */
int64_t sg_file_bytes(const sg_mpi_file *f, const sg_type *t, int64_t count);
/* Moves items between memory and the file, from byte `at` of the view's data on. *moved: bytes of memory;
 * *passed: bytes of the file. */
int sg_file_transfer(sg_mpi_file *f, int64_t at, void *buffer, int64_t count, const sg_type *t, bool writes,
                     int64_t *moved, int64_t *passed);

/* ---- sg_mpi_file_move.c ---- */

/* What all calls that move data do; `request` is NULL for blocking ones. */
int sg_file_move(MPI_File file, int how, MPI_Offset offset, const void *buffer, int count, MPI_Datatype type,
                 MPI_Status *status, MPI_Request *request);
/* Ends a split collective operation that the call `began` has begun. */
int sg_file_end(MPI_File file, const char *began, MPI_Status *status);

#endif
