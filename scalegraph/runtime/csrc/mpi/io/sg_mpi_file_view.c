/* Views: the bytes of a file that a rank sees, as runs of its filetype. */
#include <stdio.h>

#include "sg_mpi_external.h"
#include "sg_mpi_file.h"

static void add_run(char *at, size_t bytes, void *context)
{
    sg_file_view *v = context;
    sg_file_run *last = v->run_count > 0 ? &v->runs[v->run_count - 1] : NULL;
    int64_t place = (int64_t)at;
    v->data += (int64_t)bytes;
    if (last != NULL && last->at + last->bytes == place) {
        last->bytes += (int64_t)bytes;
        return;
    }
    if (v->run_count == v->run_room) {
        v->run_room = v->run_room > 0 ? 2 * v->run_room : 4;
        v->runs = sg_mpi_resize(v->runs, v->run_room * sizeof *v->runs);
    }
    v->runs[v->run_count++] = (sg_file_run){place, v->data - (int64_t)bytes, (int64_t)bytes};
}

/* Computes the runs of the filetype; false: it has none in the external representation. */
static bool lay_out(sg_file_view *v)
{
    const sg_type *t = v->filetype;
    int64_t outside = v->external ? sg_type_external_size(t) : t->size;
    v->unit = v->external ? sg_type_external_size(v->etype) : v->etype->size;
    v->extent = sg_type_extent(t);
    v->run_count = 0;
    v->data = 0;
    if (outside == t->size) {
        sg_type_runs(t, NULL, 1, add_run, v);
        return true;
    }
    v->extent = outside;
    add_run(NULL, (size_t)outside, v);
    return sg_type_flat(t, 2);
}

void sg_file_view_bytes(sg_file_view *v)
{
    *v = (sg_file_view){.etype = sg_type_of(MPI_BYTE), .filetype = sg_type_of(MPI_BYTE), .datarep = "native"};
    lay_out(v);
}

void sg_file_view_drop(sg_file_view *v)
{
    sg_type_drop(v->etype);
    sg_type_drop(v->filetype);
    sg_mpi_free(v->runs);
}

static const sg_file_run *run_with(const sg_file_view *v, int64_t before)
{
    uint32_t low = 0, high = v->run_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (v->runs[middle].before <= before)
            low = middle;
        else
            high = middle;
    }
    return &v->runs[low];
}

int64_t sg_file_place(const sg_file_view *v, int64_t at, int64_t *left)
{
    int64_t tile = at / v->data, rest = at % v->data;
    const sg_file_run *run = run_with(v, rest);
    bool endless = v->run_count == 1 && v->extent == v->data;
    *left = endless ? INT64_MAX : run->before + run->bytes - rest;
    return v->disp + tile * v->extent + run->at + rest - run->before;
}

int64_t sg_file_etypes_before(const sg_file_view *v, int64_t end)
{
    int64_t past = v->data > 0 ? end - v->disp - v->runs[0].at : 0, bytes = 0;
    if (past <= 0 || v->unit == 0)
        return 0;
    int64_t tile = v->extent > 0 ? past / v->extent : 0;
    for (uint32_t i = 0; i < v->run_count; i++) {
        int64_t inside = end - v->disp - tile * v->extent - v->runs[i].at;
        bytes += inside < 0 ? 0 : inside < v->runs[i].bytes ? inside : v->runs[i].bytes;
    }
    return (tile * v->data + bytes + v->unit - 1) / v->unit;
}

/* ---- MPI_File_set_view ---- */

static const char *representation(const char *name)
{
    static const char *const known[] = {"native", "internal", "external32"};
    for (size_t i = 0; name != NULL && i < sizeof known / sizeof known[0]; i++)
        if (strcasecmp(name, known[i]) == 0)
            return known[i];
    return NULL;
}

/* Checks the order of a type's runs. */
typedef struct order {
    bool negative, decreasing, overlapping;
    int64_t start, end; /* of the last one */
} order;

static void look(char *at, size_t bytes, void *context)
{
    order *o = context;
    int64_t place = (int64_t)at;
    o->negative |= place < 0;
    o->decreasing |= place < o->start;
    o->overlapping |= place < o->end;
    o->start = place;
    o->end = place + (int64_t)bytes;
}

static int check_order(sg_mpi_file *f, const sg_type *t, const char *name)
{
    order o = {.start = INT64_MIN, .end = INT64_MIN};
    sg_type_runs(t, NULL, 1, look, &o);
    const char *fault = o.negative     ? "has negative displacements"
                        : o.decreasing ? "has displacements that decrease"
                        : o.overlapping && (f->amode & MPI_MODE_RDONLY) == 0
                            ? "overlaps itself, and the file is open for writing"
                            : NULL;
    return fault == NULL ? MPI_SUCCESS : sg_file_error(f, MPI_ERR_IO, "the %s %s", name, fault);
}

static int check_view(sg_mpi_file *f, MPI_Offset disp, const sg_file_view *v)
{
    bool sequential = (f->amode & MPI_MODE_SEQUENTIAL) != 0;
    if (disp < 0 && disp != MPI_DISPLACEMENT_CURRENT)
        return sg_file_error(f, MPI_ERR_ARG, "the displacement of the view is %lld", (long long)disp);
    if (sequential != (disp == MPI_DISPLACEMENT_CURRENT))
        return sg_file_error(f, MPI_ERR_ARG,
                             sequential ? "the file was opened with MPI_MODE_SEQUENTIAL: the displacement "
                                          "must be MPI_DISPLACEMENT_CURRENT"
                                        : "MPI_DISPLACEMENT_CURRENT is for files that were opened with "
                                          "MPI_MODE_SEQUENTIAL");
    if (v->datarep == NULL)
        return sg_file_error(f, MPI_ERR_UNSUPPORTED_DATAREP,
                             "the data representation is not native, internal or external32");
    if (v->etype->size != 0 && v->filetype->size % v->etype->size != 0)
        return sg_file_error(
            f, MPI_ERR_ARG,
            "the %lld bytes of the filetype are not a multiple of the %lld bytes of the etype",
            (long long)v->filetype->size, (long long)v->etype->size);
    int error = check_order(f, v->etype, "etype");
    return error != MPI_SUCCESS ? error : check_order(f, v->filetype, "filetype");
}

static void replace(sg_mpi_file *f, const sg_file_view *v)
{
    sg_type_take(v->etype);
    sg_type_take(v->filetype);
    sg_file_view_drop(&f->view);
    f->view = *v;
    f->position = 0;
}

SG_FILE_CALL(set_view,
             (MPI_File file, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
              MPI_Info info),
             (file, disp, etype, filetype, datarep, info))
{
    SG_FILE(f, file)
    sg_file_view v = {.disp = disp, .datarep = representation(datarep)};
    int error = sg_file_type(f, etype, 0, &v.etype);
    if (error == MPI_SUCCESS)
        error = sg_file_type(f, filetype, 0, &v.filetype);
    if (error == MPI_SUCCESS)
        error = check_view(f, disp, &v);
    if (error != MPI_SUCCESS)
        return error;
    v.external = strcmp(v.datarep, "external32") == 0;
    if (!lay_out(&v)) {
        sg_mpi_free(v.runs);
        return sg_file_error(f, MPI_ERR_UNSUPPORTED_DATAREP,
                             "external32 is not served for a filetype with gaps whose values have another "
                             "size in the file than in memory");
    }
    error = sg_file_agree(f, v.unit, "the size of the etype");
    if (error != MPI_SUCCESS) {
        sg_mpi_free(v.runs);
        return error;
    }
    int64_t left, at = f->all->pointer * f->view.unit; /* nobody moves the pointer in between */
    if (disp == MPI_DISPLACEMENT_CURRENT)
        v.disp = f->view.data > 0 ? sg_file_place(&f->view, at, &left) : f->view.disp;
    replace(f, &v);
    if (info != MPI_INFO_NULL)
        sg_info_merge(&f->info, info);
    error = sg_file_meet(f);
    if (f->comm->rank == 0)
        f->all->pointer = 0;
    return error != MPI_SUCCESS ? error : sg_file_meet(f);
}

SG_FILE_CALL(get_view,
             (MPI_File file, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep),
             (file, disp, etype, filetype, datarep))
{
    SG_FILE(f, file)
    *disp = f->view.disp;
    *etype = sg_type_handle(sg_type_take(f->view.etype));
    *filetype = sg_type_handle(sg_type_take(f->view.filetype));
    snprintf(datarep, MPI_MAX_DATAREP_STRING, "%s", f->view.datarep);
    return MPI_SUCCESS;
}

SG_FILE_CALL(get_byte_offset, (MPI_File file, MPI_Offset offset, MPI_Offset *disp), (file, offset, disp))
{
    SG_FILE(f, file)
    int64_t left;
    if (offset < 0)
        return sg_file_error(f, MPI_ERR_ARG, "the offset is %lld", (long long)offset);
    int error = sg_file_seekable(f);
    if (error == MPI_SUCCESS)
        *disp = f->view.data > 0 ? sg_file_place(&f->view, offset * f->view.unit, &left) : f->view.disp;
    return error;
}

SG_FILE_CALL(get_type_extent, (MPI_File file, MPI_Datatype type, MPI_Aint *extent), (file, type, extent))
{
    SG_FILE(f, file)
    sg_type *t;
    int error = sg_file_type(f, type, 0, &t);
    if (error == MPI_SUCCESS)
        *extent = f->view.external && sg_type_flat(t, 2) ? sg_type_external_size(t) : sg_type_extent(t);
    return error;
}
