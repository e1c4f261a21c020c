/* The file that receives the result of a run. */
#ifndef SG_WRITER_H
#define SG_WRITER_H

#include "sg_runtime.h"

typedef struct sg_writer {
    int file;
    bool failed;
    size_t used;
    uint64_t offset; /* of what is written next */
    char data[1 << 16];
} sg_writer;

/* A file that cannot be written is marked `failed`; further output is lost. */
void sg_writer_open(sg_writer *w, const char *path);
void sg_writer_flush(sg_writer *w);
void sg_writer_close(sg_writer *w);

#endif
