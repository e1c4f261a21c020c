/* The file that receives the result of a run. */
#ifndef SG_WRITER_H
#define SG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sg_writer {
    int file;
    bool failed;
    size_t used;
    uint64_t offset; /* of what is written next */
    char data[1 << 16];
} sg_writer;

/* Writes to the file; does nothing if `w` is NULL. */
void sg_put(sg_writer *w, const void *data, size_t size);
/* A file that cannot be written is marked `failed`; further output is lost. */
void sg_writer_open(sg_writer *w, const char *path);
void sg_writer_flush(sg_writer *w);
void sg_writer_close(sg_writer *w);

#endif
