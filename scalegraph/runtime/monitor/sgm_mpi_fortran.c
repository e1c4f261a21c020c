/* MPI calls from Fortran under Open MPI: its bindings convert what differs from C (handles, MPI_IN_PLACE,
 * statuses, an omitted `ierror`), and call the functions PMPI_*. The monitor's are found first. They must
 * leave alone the library's own calls, such as its file I/O: a call is Fortran's if it comes from one of the
 * bindings' libraries. */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "sgm_mpi.h"

#ifdef OPEN_MPI

enum { PARTS = 16 };

/* mpif.h and `use mpi`; `use mpi_f08` */
static const char *const bindings[] = {"libmpi_mpifh.", "libmpi_usempi"};

static struct {
    uintptr_t begin, end;
} parts[PARTS];
static int part_count;
static bool are_known;
static int64_t lock;

static bool is_binding(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    for (size_t one = 0; one < sizeof bindings / sizeof *bindings; one++)
        if (strncmp(name, bindings[one], strlen(bindings[one])) == 0)
            return true;
    return false;
}

static int add_parts(struct dl_phdr_info *library, size_t bytes, void *unused)
{
    (void)bytes;
    (void)unused;
    if (!is_binding(library->dlpi_name))
        return 0;
    for (int at = 0; at < library->dlpi_phnum && part_count < PARTS; at++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[at];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0)
            continue;
        uintptr_t begin = library->dlpi_addr + part->p_vaddr;
        parts[part_count].begin = begin;
        parts[part_count++].end = begin + part->p_memsz;
    }
    return 0;
}

bool sgm_is_fortran(const void *caller)
{
    if (!SGM_LIKELY(__atomic_load_n(&are_known, __ATOMIC_ACQUIRE))) {
        sgm_mpi_lock(&lock);
        if (!are_known)
            dl_iterate_phdr(add_parts, NULL);
        __atomic_store_n(&are_known, true, __ATOMIC_RELEASE);
        sgm_mpi_unlock(&lock);
    }
    for (int one = 0; one < part_count; one++)
        if ((uintptr_t)caller >= parts[one].begin && (uintptr_t)caller < parts[one].end)
            return true;
    return false;
}

#endif
