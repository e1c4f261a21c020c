/* Reads the block table, after checking that it belongs to this program. */
#include "sg_block_table.h"

#include <elf.h>
#include <sys/mman.h>

#include "sg_runtime.h"

/* Adler-32 checksum of the program's code in the file: a debugger may have changed it in memory. */
static uint32_t code_checksum(void)
{
    size_t size;
    const char *image = sg_map_file("/proc/self/exe", &size);
    if (image == NULL)
        sg_stop(SG_STATUS_INTERNAL, "the program cannot read its own executable");
    const Elf64_Phdr *segment = (const Elf64_Phdr *)(image + ((const Elf64_Ehdr *)image)->e_phoff);
    while (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
        segment++; /* the one that holds this function */
    const uint8_t *code = (const uint8_t *)image + segment->p_offset;
    uint32_t a = 1, b = 0;
    for (uint64_t left = segment->p_filesz; left > 0;) {
        uint64_t run = left < 5552 ? left : 5552; /* no overflow of 32 bits */
        for (left -= run; run > 0; run--)
            b += a += *code++;
        a %= 65521;
        b %= 65521;
    }
    munmap((void *)image, size);
    return b << 16 | a;
}

/* Finds the records of a section of the block table at `path`, `size` bytes at `data`. */
static const void *records_of(const char *path, const char *data, size_t size, const sg_section *section,
                              size_t record)
{
    if (section->record_size != record || section->offset > size ||
        section->count > (size - section->offset) / record)
        sg_stop(SG_STATUS_INTERNAL, "the block table %s has a wrong record size or is cut short", path);
    return data + section->offset;
}

sg_block_table sg_block_table_read(const char *path)
{
    size_t size;
    const char *data = sg_map_file(path, &size);
    if (data == NULL || size < sizeof(sg_header) + sizeof(sg_section))
        sg_stop(SG_STATUS_INTERNAL, "the block table %s cannot be read or is cut short", path);
    const sg_header *header = (const sg_header *)data;
    const sg_section *section = (const sg_section *)(data + sizeof(sg_header));
    if (memcmp(header->magic, SG_BLOCKS_MAGIC, 8) != 0 || header->version != SG_FORMAT_VERSION ||
        header->endian != SG_ENDIAN_MARK)
        sg_stop(SG_STATUS_INTERNAL, "%s is not a block table of format version %u", path, SG_FORMAT_VERSION);
    if (header->sections < 2 || size < sizeof(sg_header) + header->sections * sizeof(sg_section))
        sg_stop(SG_STATUS_INTERNAL, "the block table %s has no blocks or is cut short", path);
    if (header->flags != code_checksum())
        sg_stop(SG_STATUS_INTERNAL, "the block table %s was made for another executable than this one", path);
    sg_block_table found = {.blocks = records_of(path, data, size, section, sizeof(sg_block)),
                            .count = section->count};
    const sg_section *last = &section[header->sections - 1];
    found.clocks = records_of(path, data, size, last, sizeof(sg_clock_row));
    found.clocks_count = last->count;
    if (header->sections < 4)
        return found;
    if (section[1].count != section->count)
        sg_stop(SG_STATUS_INTERNAL, "the block table %s does not time each block", path);
    found.timing = records_of(path, data, size, &section[1], sizeof(sg_timing));
    found.loads = records_of(path, data, size, &section[2], sizeof(sg_load_row));
    found.loads_count = section[2].count;
    return found;
}
