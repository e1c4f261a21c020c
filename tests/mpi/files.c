/* MPI-IO: each rank writes the result of every call to its own file (said.RANK). Any MPI library must leave
 * the same files. An argument chooses one group of calls. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RW = MPI_MODE_CREATE | MPI_MODE_RDWR, ITEMS = 6 };
static int rank, ranks;
static FILE *report; /* the rank's own file */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(report, format, arguments);
    va_end(arguments);
}

/* The name of an error's class; its number differs between libraries. */
static const char *named(int error)
{
    static const struct {
        int class_of;
        const char *name;
    } known[] = {
        {MPI_SUCCESS, "ok"},
        {MPI_ERR_FILE, "FILE"},
        {MPI_ERR_NO_SUCH_FILE, "NO_SUCH_FILE"},
        {MPI_ERR_FILE_EXISTS, "FILE_EXISTS"},
        {MPI_ERR_AMODE, "AMODE"},
        {MPI_ERR_ACCESS, "ACCESS"},
        {MPI_ERR_READ_ONLY, "READ_ONLY"},
        {MPI_ERR_UNSUPPORTED_OPERATION, "UNSUPPORTED_OPERATION"},
        {MPI_ERR_UNSUPPORTED_DATAREP, "UNSUPPORTED_DATAREP"},
        {MPI_ERR_ARG, "ARG"},
        {MPI_ERR_COUNT, "COUNT"},
        {MPI_ERR_TYPE, "TYPE"},
        {MPI_ERR_IO, "IO"},
        {MPI_ERR_COMM, "COMM"},
        {MPI_ERR_NOT_SAME, "NOT_SAME"},
        {MPI_ERR_BAD_FILE, "BAD_FILE"},
    };
    int class_of = -1;
    MPI_Error_class(error, &class_of);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].class_of == class_of)
            return known[i].name;
    return "other";
}

#define SAY(call) say("%d %s: %s\n", rank, #call, named(call))

static void show(const char *what, const int *values, int count, MPI_Status *status)
{
    char text[400];
    int got = -1, used;
    if (status != NULL)
        MPI_Get_count(status, MPI_INT, &got);
    used = snprintf(text, sizeof text, "%d %s (%d):", rank, what, got);
    for (int i = 0; i < count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %d", values[i]);
    say("%s\n", text);
}

static void fill(int *values, int base)
{
    for (int i = 0; i < ITEMS; i++)
        values[i] = base + 100 * rank + i;
}

static MPI_File opened(const char *name, int mode)
{
    MPI_File file;
    int error = MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file);
    if (error != MPI_SUCCESS) {
        say("%d cannot open %s: %s\n", rank, name, named(error));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return file;
}

static long long offset_of(MPI_File file, MPI_Offset at)
{
    MPI_Offset byte = -1;
    MPI_File_get_byte_offset(file, at, &byte);
    return byte;
}

static long long position(MPI_File file)
{
    MPI_Offset at = -1;
    MPI_File_get_position(file, &at);
    return at;
}

static long long size_of(MPI_File file)
{
    MPI_Offset size = -1;
    MPI_File_get_size(file, &size);
    return size;
}

/* Interleaved integers, accessed through a vector type that starts at the rank's own offset; memory has gaps,
 * too. */
static void views(void)
{
    int out[2 * ITEMS], in[2 * ITEMS], blocks[2] = {1, 2};
    MPI_Aint places[2] = {4, 12}, extent;
    MPI_Datatype every, spaced, mixed, etype, filetype, wide;
    MPI_File file = opened("views.dat", RW);
    MPI_Status status;
    MPI_Offset disp;
    char datarep[MPI_MAX_DATAREP_STRING];

    MPI_Type_vector(ITEMS, 1, ranks, MPI_INT, &every);
    MPI_Type_create_resized(every, 0, 4 * ITEMS * ranks, &wide);
    MPI_Type_vector(ITEMS, 1, 2, MPI_INT, &spaced);
    MPI_Type_create_hindexed(2, blocks, places, MPI_INT, &mixed);
    MPI_Type_commit(&wide);
    MPI_Type_commit(&spaced);
    MPI_Type_commit(&mixed);
    MPI_Type_free(&every);
    for (int i = 0; i < 2 * ITEMS; i++)
        out[i] = 1000 * rank + i;
    SAY(MPI_File_set_view(file, 4 * rank, MPI_INT, wide, "native", MPI_INFO_NULL));
    SAY(MPI_File_write(file, out, 1, spaced, &status));
    show("written", out, 0, &status);
    SAY(MPI_File_write_all(file, out, ITEMS, MPI_INT, &status));
    say("%d at %lld, %lld %lld %lld\n", rank, position(file), offset_of(file, 0), offset_of(file, 5),
        offset_of(file, 7));
    MPI_File_get_view(file, &disp, &etype, &filetype, datarep);
    MPI_File_get_type_extent(file, MPI_DOUBLE, &extent);
    say("%d view %lld %s %d %ld\n", rank, (long long)disp, datarep, etype == MPI_INT, (long)extent);
    MPI_Type_free(&filetype);
    MPI_File_seek(file, 1, MPI_SEEK_SET);
    memset(in, 255, sizeof in);
    SAY(MPI_File_read(file, in, 1, spaced, &status));
    show("read", in, 2 * ITEMS, &status);
    memset(in, 255, sizeof in);
    SAY(MPI_File_read_at_all(file, 3, in, 4, MPI_INT, &status));
    show("read", in, ITEMS, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_set_view(file, 2, MPI_INT, mixed, "internal", MPI_INFO_NULL));
    memset(in, 255, sizeof in);
    SAY(MPI_File_read_at(file, 1, in, 5, MPI_INT, &status));
    show("mixed", in, ITEMS, &status);
    say("%d %lld %lld %lld %lld\n", rank, offset_of(file, 0), offset_of(file, 1), offset_of(file, 2),
        offset_of(file, 3));
    MPI_Type_free(&wide);
    MPI_Type_free(&spaced);
    MPI_Type_free(&mixed);
    SAY(MPI_File_close(&file));
    say("%d %d\n", rank, file == MPI_FILE_NULL);
}

/* A matrix in blocks of rows and columns. */
static void arrays(void)
{
    int sizes[2] = {2 * ranks, 8}, part[2] = {2, 3}, start[2] = {2 * rank, 4}, values[64], all[256];
    int dims[2] = {ranks, 1}, how[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
    int by[2] = {1, MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Datatype block, spread;
    MPI_File file = opened("arrays.dat", RW);
    MPI_Status status;

    MPI_Type_create_subarray(2, sizes, part, start, MPI_ORDER_C, MPI_INT, &block);
    MPI_Type_create_darray(ranks, rank, 2, sizes, how, by, dims, MPI_ORDER_C, MPI_INT, &spread);
    MPI_Type_commit(&block);
    MPI_Type_commit(&spread);
    for (int i = 0; i < 64; i++)
        values[i] = 100 * rank + i;
    SAY(MPI_File_set_view(file, 8, MPI_INT, spread, "native", MPI_INFO_NULL));
    SAY(MPI_File_write_all(file, values, 16, MPI_INT, &status));
    show("darray", values, 0, &status);
    SAY(MPI_File_set_view(file, 8, MPI_INT, block, "native", MPI_INFO_NULL));
    SAY(MPI_File_read_at_all(file, 0, all, 6, MPI_INT, &status));
    show("subarray", all, 6, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_write_at_all(file, 2, values, 4, MPI_INT, &status));
    MPI_Type_free(&block);
    MPI_Type_free(&spread);
    MPI_File_close(&file);
}

static void pointers(void)
{
    int out[ITEMS], in[3 * ITEMS];
    MPI_File file = opened("pointers.dat", RW);
    MPI_Status status;
    MPI_Offset at;

    fill(out, 0);
    MPI_File_set_view(file, 24 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    SAY(MPI_File_write(file, out, ITEMS, MPI_INT, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    say("%d at %lld of %lld bytes\n", rank, position(file), size_of(file));
    SAY(MPI_File_seek(file, -2, MPI_SEEK_CUR));
    memset(in, 255, sizeof in);
    MPI_File_read(file, in, 1, MPI_INT, &status);
    show("one", in, 2, &status);
    SAY(MPI_File_seek(file, -2, MPI_SEEK_END));
    memset(in, 255, sizeof in);
    MPI_File_read(file, in, ITEMS, MPI_INT, &status);
    show("at the end", in, 3, &status);
    say("%d then at %lld\n", rank, position(file));
    SAY(MPI_File_seek(file, -1, MPI_SEEK_SET));
    SAY(MPI_File_seek(file, 0, 77));
    SAY(MPI_File_seek_shared(file, 3, MPI_SEEK_SET));
    MPI_File_get_position_shared(file, &at);
    say("%d shared at %lld\n", rank, (long long)at);
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_seek_shared(file, 2, MPI_SEEK_CUR));
    MPI_File_get_position_shared(file, &at);
    say("%d shared at %lld\n", rank, (long long)at);
    MPI_File_close(&file);
    file = opened("pointers.dat", MPI_MODE_WRONLY | MPI_MODE_APPEND);
    MPI_File_get_position_shared(file, &at);
    say("%d appends at %lld, shared %lld\n", rank, position(file), (long long)at);
    MPI_File_close(&file);
}

static void shared(void)
{
    int out[ITEMS], in[ITEMS], same[2] = {7, 7};
    MPI_File file = opened("shared.dat", RW);
    MPI_Status status;
    MPI_Offset at;
    MPI_Request request;

    fill(out, 0);
    MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    SAY(MPI_File_write_ordered(file, out, rank + 1, MPI_INT, &status));
    show("ordered", out, 0, &status);
    SAY(MPI_File_write_shared(file, same, 2, MPI_INT, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_position_shared(file, &at);
    say("%d shared at %lld\n", rank, (long long)at);
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_iwrite_shared(file, same, 2, MPI_INT, &request));
    MPI_Wait(&request, &status);
    show("started", same, 0, &status);
    /* otherwise rank 0 may begin its ordered part before others have written with the shared pointer */
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_write_ordered_begin(file, out, 2, MPI_INT));
    SAY(MPI_File_write_ordered_end(file, out, &status));
    show("in two parts", out, 0, &status);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    memset(in, 255, sizeof in);
    SAY(MPI_File_read_ordered(file, in, rank + 1, MPI_INT, &status));
    show("ordered", in, rank + 1, &status);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    SAY(MPI_File_read_ordered_begin(file, in, 1, MPI_INT));
    SAY(MPI_File_read_ordered_end(file, in, &status));
    show("in two parts", in, 1, &status);
    MPI_File_seek_shared(file, ranks * (ranks + 1) / 2, MPI_SEEK_SET);
    SAY(MPI_File_read_shared(file, in, 2, MPI_INT, &status));
    show("shared", in, 2, &status);
    SAY(MPI_File_iread_shared(file, in, 2, MPI_INT, &request));
    MPI_Wait(&request, &status);
    show("started", in, 2, &status);
    MPI_File_close(&file);
}

static void split(void)
{
    int out[ITEMS], in[ITEMS];
    MPI_File file = opened("split.dat", RW);
    MPI_Status status;

    fill(out, 0);
    MPI_File_set_view(file, 48 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    SAY(MPI_File_write_all_begin(file, out, ITEMS, MPI_INT));
    SAY(MPI_File_write_all_end(file, out, &status));
    show("all", out, 0, &status);
    SAY(MPI_File_write_at_all_begin(file, ITEMS, out, ITEMS, MPI_INT));
    SAY(MPI_File_write_at_all_begin(file, ITEMS, out, ITEMS, MPI_INT));
    SAY(MPI_File_write_at_all_end(file, out, &status));
    SAY(MPI_File_write_at_all_end(file, out, &status));
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    memset(in, 255, sizeof in);
    SAY(MPI_File_read_all_begin(file, in, 3, MPI_INT));
    SAY(MPI_File_read_all_end(file, in, &status));
    show("all", in, 4, &status);
    SAY(MPI_File_read_at_all_begin(file, 10, in, 2, MPI_INT));
    SAY(MPI_File_read_at_all_end(file, in, &status));
    show("at", in, 3, &status);
    say("%d at %lld\n", rank, position(file));
    MPI_File_close(&file);
}

static void started(void)
{
    int out[4][ITEMS], in[4][ITEMS];
    MPI_File file = opened("started.dat", RW);
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Datatype every;

    for (int k = 0; k < 4; k++)
        fill(out[k], 1000 * k);
    MPI_Type_vector(4 * ITEMS, 1, ranks, MPI_INT, &every);
    MPI_Type_commit(&every);
    MPI_File_set_view(file, 4 * rank, MPI_INT, every, "native", MPI_INFO_NULL);
    SAY(MPI_File_iwrite(file, out[0], ITEMS, MPI_INT, &requests[0]));
    SAY(MPI_File_iwrite_at(file, ITEMS, out[1], ITEMS, MPI_INT, &requests[1]));
    SAY(MPI_File_iwrite_at_all(file, 2 * ITEMS, out[2], ITEMS, MPI_INT, &requests[2]));
    SAY(MPI_Waitall(3, requests, statuses));
    MPI_File_seek(file, 3 * ITEMS, MPI_SEEK_SET);
    SAY(MPI_File_iwrite_all(file, out[3], ITEMS, MPI_INT, &requests[3]));
    SAY(MPI_Wait(&requests[3], &statuses[3]));
    for (int k = 0; k < 4; k++)
        show("written", out[k], 0, &statuses[k]);
    MPI_File_sync(file);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    memset(in, 255, sizeof in);
    SAY(MPI_File_iread(file, in[0], 2, MPI_INT, &requests[0]));
    SAY(MPI_File_iread_at(file, 4, in[1], 2, MPI_INT, &requests[1]));
    SAY(MPI_Waitall(2, requests, statuses));
    SAY(MPI_File_iread_at_all(file, 3 * ITEMS, in[2], 3, MPI_INT, &requests[2]));
    SAY(MPI_Wait(&requests[2], &statuses[2]));
    SAY(MPI_File_iread_all(file, in[3], 2, MPI_INT, &requests[3]));
    SAY(MPI_Wait(&requests[3], &statuses[3]));
    for (int k = 0; k < 4; k++)
        show("read", in[k], 3, &statuses[k]);
    MPI_Type_free(&every);
    MPI_File_close(&file);
}

static void properties(void)
{
    int mode = 0, flag = -1, size = 0, same = -1;
    char word[5] = "word";
    MPI_File file = opened("properties.dat", RW | MPI_MODE_EXCL);
    MPI_Group group, world;
    MPI_Info info, known;
    MPI_Status status;

    MPI_File_get_amode(file, &mode);
    MPI_File_get_group(file, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    MPI_Group_size(group, &size);
    say("%d %d %d %d\n", rank, mode == (RW | MPI_MODE_EXCL), size, same == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    SAY(MPI_File_set_size(file, 100));
    say("%d has %lld\n", rank, size_of(file));
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_preallocate(file, 60));
    say("%d has %lld\n", rank, size_of(file));
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_preallocate(file, 160));
    say("%d has %lld\n", rank, size_of(file));
    /* set_atomicity and set_info do not stop rank 0 from writing on */
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_get_atomicity(file, &flag));
    say("%d atomic %d\n", rank, flag);
    SAY(MPI_File_set_atomicity(file, 1));
    MPI_File_get_atomicity(file, &flag);
    say("%d atomic %d\n", rank, flag != 0);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    SAY(MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    SAY(MPI_File_get_info(file, &known));
    MPI_Info_free(&known);
    SAY(MPI_File_write_at(file, 200 + 4 * rank, word, 4, MPI_CHAR, &status));
    SAY(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    say("%d has %lld\n", rank, size_of(file));
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_set_size(file, 202));
    MPI_File_close(&file);
    file = opened("gone.dat", RW | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_write_at(file, 0, word, 4, MPI_CHAR, &status);
    SAY(MPI_File_close(&file));
    SAY(MPI_File_open(MPI_COMM_WORLD, "gone.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    SAY(MPI_File_open(MPI_COMM_SELF, "gone.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    if (rank == 0)
        SAY(MPI_File_delete("gone.dat", MPI_INFO_NULL));
}

static int calls;

static void note(MPI_File *file, int *error, ...)
{
    (void)file;
    say("%d handler: %s\n", rank, named(*error));
    *error = MPI_SUCCESS;
    calls++;
}

static void errors(void)
{
    int values[ITEMS] = {0};
    MPI_File file;
    MPI_Status status;
    MPI_Datatype loose, pair;
    MPI_Errhandler handler;

    SAY(MPI_File_open(MPI_COMM_WORLD, "errors.dat", MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    SAY(MPI_File_open(MPI_COMM_WORLD, "errors.dat", MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    SAY(MPI_File_open(MPI_COMM_WORLD, "errors.dat", MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    SAY(MPI_File_open(MPI_COMM_WORLD, "errors.dat", MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file));
    SAY(MPI_File_open(MPI_COMM_WORLD, "errors.dat", RW | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &file));
    file = opened("errors.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY);
    SAY(MPI_File_read_at(file, 0, values, 1, MPI_INT, &status));
    SAY(MPI_File_write_at(file, -1, values, 1, MPI_INT, &status));
    SAY(MPI_File_write_at(file, 0, values, -1, MPI_INT, &status));
    SAY(MPI_File_write_at(file, 0, values, 1, MPI_DATATYPE_NULL, &status));
    MPI_Type_contiguous(3, MPI_INT, &loose);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    SAY(MPI_File_write_at(file, 0, values, 1, loose, &status));
    SAY(MPI_File_set_view(file, -4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    SAY(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    SAY(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "curious", MPI_INFO_NULL));
    SAY(MPI_File_set_view(file, 0, pair, MPI_INT, "native", MPI_INFO_NULL));
    SAY(MPI_File_set_view(file, 0, pair, pair, "native", MPI_INFO_NULL));
    SAY(MPI_File_write_at(file, 0, values, 3, MPI_INT, &status));
    SAY(MPI_File_set_size(file, -1));
    SAY(MPI_File_write_all_end(file, values, &status));
    SAY(MPI_File_write(file, values, 1, pair, &status));
    MPI_File_create_errhandler(note, &handler);
    SAY(MPI_File_set_errhandler(file, handler));
    SAY(MPI_File_read_at(file, 0, values, 1, pair, &status));
    SAY(MPI_File_call_errhandler(file, MPI_ERR_FILE));
    MPI_File_close(&file);
    file = opened("errors.dat", MPI_MODE_RDONLY);
    SAY(MPI_File_write_at(file, 0, values, 1, MPI_INT, &status));
    SAY(MPI_File_set_size(file, 0));
    MPI_File_close(&file);
    file = opened("errors.dat", MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    SAY(MPI_File_write_at(file, 0, values, 1, MPI_INT, &status));
    SAY(MPI_File_seek(file, 0, MPI_SEEK_SET));
    SAY(MPI_File_write_ordered(file, values, 1, MPI_INT, &status));
    SAY(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    SAY(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    SAY(MPI_File_write_ordered(file, &rank, 1, MPI_INT, &status));
    MPI_File_close(&file);
    SAY(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    SAY(MPI_File_open(MPI_COMM_WORLD, "none.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    SAY(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    MPI_Errhandler_free(&handler);
    say("%d %d calls\n", rank, calls);
    MPI_Type_free(&loose);
    MPI_Type_free(&pair);
}

/* Big-endian in the file, whatever the machine is. */
static void external(void)
{
    int values[ITEMS], back[ITEMS];
    double real = rank + 0.5, again = 0;
    MPI_File file = opened("external.dat", RW);
    MPI_Status status;

    fill(values, 0);
    SAY(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    SAY(MPI_File_write_at_all(file, ITEMS * rank, values, ITEMS, MPI_INT, &status));
    show("external", values, 0, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(back, 255, sizeof back);
    SAY(MPI_File_read_at(file, ITEMS * rank, back, ITEMS, MPI_INT, &status));
    show("external", back, ITEMS, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    SAY(MPI_File_set_view(file, 24 * ranks, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
    SAY(MPI_File_write_at(file, 8 * rank, &real, 1, MPI_DOUBLE, &status));
    SAY(MPI_File_read_at(file, 8 * rank, &again, 1, MPI_DOUBLE, &status));
    say("%d %g\n", rank, again);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } groups[] = {
        {"views", views},           {"arrays", arrays}, {"pointers", pointers},
        {"shared", shared},         {"split", split},   {"started", started},
        {"properties", properties}, {"errors", errors}, {"external", external},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char name[40];
    snprintf(name, sizeof name, "said.%d", rank);
    report = fopen(name, "w");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (argc < 2 || strcmp(argv[1], groups[i].name) == 0)
            groups[i].run();
    fclose(report);
    MPI_Finalize();
    return 0;
}
