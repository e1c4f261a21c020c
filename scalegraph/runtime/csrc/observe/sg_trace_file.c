/* The trace file: a header and records of one size, written in large blocks. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "sg_arch.h"
#include "sg_trace_file.h"

#define CHUNK ((size_t)1 << 26)

enum { BUFFER = 1 << 20 };

/* Located at the start of its own memory. */
struct sg_trace_file {
    char *next, *end; /* of the memory */
    char *buffer;
    size_t used;
    int file;
    bool failed;
    sg_trace_header header;
};

static struct sg_trace_file *trace_file = NULL;

/* ---- memory ---- */

static void map(char *at, size_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    if (mmap(at, size, PROT_READ | PROT_WRITE, flags, -1, 0) != at)
        sg_stop(SG_STATUS_INTERNAL, "no memory for the trace");
}

void *sg_trace_new(size_t size)
{
    struct sg_trace_file *f = trace_file;
    size = (size + 63) & ~(size_t)63;
    while ((size_t)(f->end - f->next) < size) { /* chunks are contiguous */
        map(f->end, CHUNK);
        f->end += CHUNK;
    }
    void *block = f->next;
    f->next += size;
    return block;
}

void *sg_trace_larger(const void *old, size_t used, size_t size)
{
    void *fresh = sg_trace_new(size);
    return used == 0 ? fresh : memcpy(fresh, old, used);
}

/* ---- writing ---- */

/* Reports once why the trace ends; the run continues. */
static void fail(long error)
{
    char text[SG_MAX_PATH + 200];
    snprintf(text, sizeof text, "the trace %.3000s cannot be written: %s; the run goes on without it",
             sg->config.trace_file, strerror((int)-error));
    sg_say(text);
    sg_warn(text);
}

static void write_all(struct sg_trace_file *f, const char *data, size_t size)
{
    while (size > 0 && !f->failed) {
        long n = sg_arch_syscall(SYS_write, f->file, (long)data, (long)size, 0);
        if (n == -EINTR)
            continue;
        if (n <= 0) {
            f->failed = true;
            fail(n < 0 ? n : -EIO);
            return;
        }
        data += n;
        size -= (size_t)n;
    }
}

static void flush(struct sg_trace_file *f)
{
    write_all(f, f->buffer, f->used);
    f->used = 0;
}

bool sg_trace_file_open(uint32_t what)
{
    const sg_config *config = &sg->config;
    long file = sg_descriptor_high(sg_arch_syscall(SYS_openat, AT_FDCWD, (long)config->trace_file,
                                                   O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (file < 0) {
        fail(file);
        return false;
    }
    map((char *)SG_TRACE_BASE, CHUNK);
    struct sg_trace_file *f = trace_file = (struct sg_trace_file *)SG_TRACE_BASE;
    f->next = (char *)(f + 1);
    f->next += -(uintptr_t)f->next & 63;
    f->end = (char *)f + CHUNK;
    f->file = (int)file;
    f->buffer = sg_trace_new(BUFFER);
    f->header = (sg_trace_header){
        .version = SG_TRACE_VERSION,
        .endian = SG_ENDIAN_MARK,
        .processors = sg->processors,
        .record_size = sizeof(sg_trace_record),
        .what = what,
        .clock_hz = (uint64_t)(config->clock_hz + 0.5),
        .interval = config->trace_interval,
        .limit = config->trace_limit,
        .asked_begin = config->trace_begin,
        .asked_end = config->trace_end,
    };
    memcpy(f->header.magic, SG_TRACE_MAGIC, 8);
    memcpy(f->buffer, &f->header, sizeof f->header);
    f->used = sizeof f->header;
    return true;
}

void sg_trace_put(const sg_trace_record *record)
{
    struct sg_trace_file *f = trace_file;
    memcpy(f->buffer + f->used, record, sizeof *record);
    f->used += sizeof *record;
    f->header.records++;
    if (f->used > BUFFER - sizeof *record)
        flush(f);
}

uint64_t sg_trace_file_bytes(void)
{
    const struct sg_trace_file *f = trace_file;
    return sizeof f->header + f->header.records * sizeof(sg_trace_record);
}

bool sg_trace_file_failed(void)
{
    return trace_file->failed;
}

void sg_trace_file_close(enum sg_trace_state state, const sg_trace_header *known)
{
    struct sg_trace_file *f = trace_file;
    flush(f);
    /* After a failure, what is there can still be read: the file's size says how much. */
    f->header.state = f->failed ? SG_TRACE_STATE_FAILED : state;
    f->header.begin = known->begin;
    f->header.end = known->end;
    f->header.inexact = known->inexact;
    f->header.asked_regions = known->asked_regions;
    f->header.regions = known->regions;
    f->header.fractions = known->fractions;
    sg_arch_syscall(SYS_pwrite64, f->file, (long)&f->header, sizeof f->header, 0);
    sg_arch_syscall(SYS_close, f->file, 0, 0, 0);
}
