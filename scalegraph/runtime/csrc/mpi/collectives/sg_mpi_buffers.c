/* Checks of the buffers of collective operations: they must exist and not overlap. */
#include "sg_mpi_calls.h"
#include "sg_mpi_signature.h"
#include "sg_rank.h"

int sg_collective_type(MPI_Comm comm, const void *buffer, MPI_Datatype handle, int64_t count, sg_type **type)
{
    sg_comm *c = sg_comm_of(comm);
    return c == NULL ? sg_comm_missing(comm) : sg_buffer_argument(c, buffer, handle, count, type);
}

int sg_collective_types(MPI_Comm comm, const void *buffer, MPI_Datatype handle, const int counts[],
                        const int places[], sg_type **type)
{
    SG_NEEDS(counts, places)
    sg_comm *c = sg_comm_of(comm);
    if (c == NULL)
        return sg_comm_missing(comm);
    int error = sg_type_argument(c, handle, 0, type), most = 0;
    for (int i = 0; error == MPI_SUCCESS && i < sg_comm_peers(c); i++) {
        if (counts[i] < 0)
            return sg_mpi_error(c, MPI_ERR_COUNT, "the count of rank %d is %d", i, counts[i]);
        most = counts[i] > most ? counts[i] : most;
    }
    return error != MPI_SUCCESS || most * (*type)->size == 0 ? error : sg_buffer_given(c, buffer, *type);
}

/* ---- overlap ---- */

/* Memory range of the items; false: no data, or with gaps that may hold other data. */
static bool stretch(const void *buffer, int64_t count, const sg_type *t, uintptr_t *begin, uintptr_t *end)
{
    if (t == NULL || count * t->size == 0 || !sg_type_flat(t, count))
        return false;
    *begin = (uintptr_t)buffer + (uintptr_t)t->true_lb;
    *end = *begin + (uintptr_t)(count * t->size);
    return true;
}

int sg_collective_apart(sg_comm *c, const void *out, int64_t out_count, const sg_type *sent, const void *in,
                        int64_t in_count, const sg_type *got)
{
    uintptr_t begin, end, other, other_end;
    if (out == MPI_IN_PLACE || in == MPI_IN_PLACE || sent == NULL || got == NULL)
        return MPI_SUCCESS;
    if (out_count * sent->size == 0 || in_count * got->size == 0)
        return MPI_SUCCESS;
    sg_signature own = sg_signature_of((sg_type *)(uintptr_t)sent, out_count);
    sg_signature_check(&own, (int32_t)sg_mpi_number(), (sg_type *)(uintptr_t)got, in_count, own.call,
                       own.site);
    if ((char *)(uintptr_t)out + sent->true_lb == (char *)(uintptr_t)in + got->true_lb)
        return sg_mpi_error(c, MPI_ERR_BUFFER,
                            "data is sent from and received into the same buffer; MPI_IN_PLACE says that");
    if (!stretch(out, out_count, sent, &begin, &end) || !stretch(in, in_count, got, &other, &other_end))
        return MPI_SUCCESS;
    if (end <= other || other_end <= begin)
        return MPI_SUCCESS;
    uintptr_t from = begin > other ? begin : other, to = end < other_end ? end : other_end;
    return sg_mpi_error(
        c, MPI_ERR_BUFFER,
        "the buffer that is sent from and the one that is received into overlap in %llu bytes",
        (unsigned long long)(to - from));
}

int sg_blocks_apart(sg_comm *c, const void *out, int64_t out_count, const sg_type *sent, const void *in,
                    const int counts[], const int places[], const sg_type *got)
{
    int error = MPI_SUCCESS;
    if (out == MPI_IN_PLACE || sent == NULL || got == NULL || out_count == 0)
        return MPI_SUCCESS;
    for (int i = 0; error == MPI_SUCCESS && i < sg_comm_peers(c); i++)
        error = sg_collective_apart(c, out, out_count, sent, sg_item(in, places[i], got), counts[i], got);
    return error;
}

void sg_own_block(sg_schedule *s, int64_t sent_bytes, int64_t expected_bytes)
{
    if (sent_bytes == expected_bytes || s->error != MPI_SUCCESS)
        return;
    s->error = sg_mpi_error(s->comm, sent_bytes > expected_bytes ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT,
                            "the rank sends %lld bytes to itself, but expects %lld", (long long)sent_bytes,
                            (long long)expected_bytes);
}

int sg_reduction_buffers(sg_comm *c, int root, const void *out, int64_t out_count, const void *in,
                         int64_t in_count, const sg_type *t)
{
    bool all = root == SG_NO_ROOT, here = c->remote == NULL && (all || root == c->rank);
    bool gives = root != MPI_ROOT && root != MPI_PROC_NULL, takes = all || here || root == MPI_ROOT;
    bool in_place = here && out == MPI_IN_PLACE;
    int error = MPI_SUCCESS;
    if (gives && !in_place && out_count * t->size > 0)
        error = sg_buffer_given(c, out, t);
    if (error == MPI_SUCCESS && takes && in_count * t->size > 0)
        error = sg_buffer_given(c, in, t);
    if (error == MPI_SUCCESS && gives && takes)
        error = sg_collective_apart(c, out, out_count, t, in, in_count, t);
    return error;
}

/* ---- static data ---- */

static bool is_static(const void *buffer, int64_t count, const sg_type *t)
{
    if (t == NULL || count * t->size == 0)
        return false;
    int64_t others = (count - 1) * sg_type_extent(t);
    const char *low = (const char *)buffer + t->true_lb + (others < 0 ? others : 0);
    const char *high = (const char *)buffer + t->true_ub + (others > 0 ? others : 0);
    return sg_image_holds(low, high);
}

bool sg_schedule_needs_data(const sg_schedule *s)
{
    if (s->finish != NULL || (s->op != NULL && s->op->name == NULL))
        return true; /* the program's own function may use any data */
    for (uint32_t i = 0; i < s->count; i++) {
        const sg_step *step = &s->steps[i];
        bool copies = step->kind == SG_STEP_COPY;
        if (is_static(step->from, step->count, step->type) ||
            is_static(step->to, copies ? step->to_count : step->count, copies ? step->to_type : step->type))
            return true;
    }
    return false;
}
