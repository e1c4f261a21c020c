/* Data transfer between memory and a host file.
 *
 * A transfer costs as much as packing: its bytes, and each run in the file; data with gaps in memory is
 * packed as well. Devices are not simulated: the file is in its file system's memory. */
#include <errno.h>
#include <sys/stat.h>

#include "sg_mpi_external.h"
#include "sg_mpi_file.h"

int64_t sg_file_size(const sg_mpi_file *f)
{
    struct stat about = {0};
    return fstat(f->all->host, &about) == 0 ? (int64_t)about.st_size : 0;
}

int64_t sg_file_bytes(const sg_mpi_file *f, const sg_type *t, int64_t count)
{
    return count * (f->view.external ? sg_type_external_size(t) : t->size);
}

/* Transfers one run; returns the bytes moved, fewer at the end of the file or with *number set. */
static int64_t move_stretch(int host, char *data, int64_t bytes, int64_t place, bool writes, int *number)
{
    int64_t done = 0;
    while (done < bytes) {
        size_t more = (size_t)(bytes - done);
        ssize_t now = writes ? pwrite(host, data + done, more, place + done)
                             : pread(host, data + done, more, place + done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            *number = errno;
        if (now <= 0)
            break;
        done += now;
    }
    return done;
}

/* Transfers all runs from byte `at` of the view's data. */
static int64_t move_stretches(sg_mpi_file *f, int64_t at, char *data, int64_t bytes, bool writes, int *number)
{
    int64_t done = 0;
    uint64_t stretches = 0;
    sg_events_settle(); /* other ranks finish what they do earlier in simulated time */
    while (done < bytes && f->view.data > 0) {
        int64_t left, place = sg_file_place(&f->view, at + done, &left);
        if (left > bytes - done)
            left = bytes - done;
        int64_t moved = move_stretch(f->all->host, data + done, left, place, writes, number);
        stretches++;
        done += moved;
        if (moved < left)
            break;
    }
    sg_message_talk(f->comm->context, SG_TALK_NOBODY);
    sg_mpi_charge_pack((uint64_t)done, stretches);
    return done;
}

/* Converts items in memory to their form in the file. */
static void encode(const sg_mpi_file *f, const void *buffer, int64_t count, const sg_type *t, char *data)
{
    if (f->view.external)
        sg_type_to_external(t, buffer, count, data);
    else
        sg_type_pack(buffer, count, t, data);
}

/* Converts back as many as there are; returns the bytes of memory filled. */
static int64_t decode(const sg_mpi_file *f, const char *data, int64_t bytes, void *buffer, int64_t count,
                      const sg_type *t)
{
    if (!f->view.external)
        return (int64_t)sg_type_unpack(data, (size_t)bytes, buffer, count, t);
    int64_t each = sg_type_external_size(t), items = each > 0 ? bytes / each : 0;
    sg_type_from_external(t, data, items, buffer);
    return items * t->size;
}

int sg_file_transfer(sg_mpi_file *f, int64_t at, void *buffer, int64_t count, const sg_type *t, bool writes,
                     int64_t *moved, int64_t *passed)
{
    int64_t bytes = sg_file_bytes(f, t, count);
    bool direct = !f->view.external && sg_type_flat(t, count);
    char *data = direct ? (char *)buffer + t->true_lb : sg_mpi_resize(NULL, (size_t)bytes);
    int number = 0;
    if (writes && !direct)
        encode(f, buffer, count, t, data);
    *moved = *passed = move_stretches(f, at, data, bytes, writes, &number);
    if (!writes && !direct)
        *moved = decode(f, data, *passed, buffer, count, t);
    else if (bytes > 0 && *passed == bytes)
        *moved = count * t->size;
    if (!direct)
        sg_mpi_free(data);
    return number == 0 ? MPI_SUCCESS : sg_file_failed(f, f->all->name, writes ? "written" : "read", number);
}
