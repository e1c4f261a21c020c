/* A buffered file; it must work in a signal handler, so no stdio. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "sg_arch.h"
#include "sg_writer.h"

void sg_writer_flush(sg_writer *w)
{
    size_t done = 0;
    while (done < w->used && !w->failed) {
        long n = sg_arch_syscall(SYS_write, w->file, (long)(w->data + done), (long)(w->used - done), 0);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            w->failed = true;
        else
            done += (size_t)n;
    }
    w->used = 0;
}

void sg_put(sg_writer *w, const void *data, size_t size)
{
    const char *from = data;
    if (w == NULL)
        return;
    w->offset += size;
    while (size > 0) {
        size_t n = sizeof w->data - w->used < size ? sizeof w->data - w->used : size;
        memcpy(w->data + w->used, from, n);
        w->used += n;
        from += n;
        size -= n;
        if (w->used == sizeof w->data)
            sg_writer_flush(w);
    }
}

static int create(const char *path)
{
    return (int)sg_arch_syscall(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                0644);
}

/* The program may have opened as many files as it may, or lowered the limit: we need one more. */
static void allow_more_files(void)
{
    struct rlimit limit;
    if (sg_arch_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        sg_arch_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&limit, 0);
    }
}

void sg_writer_open(sg_writer *w, const char *path)
{
    w->file = create(path);
    if (w->file == -EMFILE) {
        allow_more_files();
        w->file = create(path);
    }
    w->failed = w->file < 0;
    w->used = 0;
    w->offset = 0;
}

void sg_writer_close(sg_writer *w)
{
    if (w->file < 0)
        return;
    sg_writer_flush(w);
    sg_arch_syscall(SYS_close, w->file, 0, 0, 0);
}
