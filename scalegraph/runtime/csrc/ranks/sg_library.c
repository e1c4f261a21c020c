/* The loaded libraries and their dynamic sections. */
#include "sg_library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#include "sg_pages.h"

#define PAGE SG_PAGES_BYTES

typedef void constructor(int, char **, char **);

typedef struct library {
    struct library *next;
    const char *path;
    uintptr_t base, begin, end;
    const ElfW(Dyn) * dynamic;
    struct library *then; /* constructed after this one */
    bool in_order;
} library;

static library *libraries = NULL, **end_of_libraries = &libraries; /* in the order of loading */
static sg_library_data *all_data = NULL;

/* File name prefixes of libraries that all ranks share. */
static const char *const common[] = {
    "ld-linux",     "linux-vdso",   "libc.so",    "libm.so",    "libmvec.so",  "libpthread.so",  "libdl.so",
    "librt.so",     "libutil.so",   "libresolv.", "libnsl",     "libnss",      "libanl.so",      "libgcc_s.",
    "libatomic.so", "libstdc++.so", "libc++",     "libunwind.", "libgfortran", "libquadmath.so", "libgomp.so",
    "libomp.so",    "libflang",     "libFortran", "libasan.",   "libtsan.",    "libubsan.",      "liblsan.",
};

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static bool is_common(const char *path)
{
    const char *name = file_name(path);
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strncmp(name, common[i], strlen(common[i])) == 0)
            return true;
    return false;
}

/* ---- their data ---- */

static void add_data(char *low, char *high)
{
    if (low >= high)
        return;
    sg_library_data *data = sg_new(sizeof *data);
    const char *fresh = sg_pages_keep(low, (size_t)(high - low), "the data of libraries");
    *data = (sg_library_data){all_data, low, high, fresh};
    all_data = data;
}

/* Adds the pages from `low` to `high`, except those made read-only after loading. */
static void add_segment(uintptr_t low, uintptr_t high, uintptr_t fixed, uintptr_t fixed_end)
{
    bool has_fixed = fixed < fixed_end && low < fixed_end && fixed < high;
    low &= ~(PAGE - 1);
    if (!has_fixed) {
        add_data((char *)low, (char *)high);
        return;
    }
    add_data((char *)low, (char *)(fixed & ~(PAGE - 1)));
    add_data((char *)(fixed_end & ~(PAGE - 1)), (char *)high);
}

static void add_library(const struct dl_phdr_info *info)
{
    library *l = sg_new(sizeof *l);
    *l = (library){.path = info->dlpi_name, .base = info->dlpi_addr, .begin = UINTPTR_MAX};
    *end_of_libraries = l;
    end_of_libraries = &l->next;
    uintptr_t fixed = 0, fixed_end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_GNU_RELRO) {
            fixed = l->base + segment->p_vaddr;
            fixed_end = fixed + segment->p_memsz;
        } else if (segment->p_type == PT_DYNAMIC) {
            l->dynamic = (const ElfW(Dyn) *)(l->base + segment->p_vaddr);
        }
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t low = l->base + segment->p_vaddr, high = low + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        l->begin = low < l->begin ? low : l->begin;
        l->end = high > l->end ? high : l->end;
        if (segment->p_flags & PF_W)
            add_segment(low, high, fixed, fixed_end);
    }
}

static int note(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    bool program = (*(int *)count)++ == 0; /* it comes first */
    if (!program && info->dlpi_name[0] != '\0' && !is_common(info->dlpi_name))
        add_library(info);
    return 0;
}

const sg_library_data *sg_libraries_data(void)
{
    return all_data;
}

bool sg_libraries_have(const void *address)
{
    for (const library *l = libraries; l != NULL; l = l->next)
        if ((uintptr_t)address >= l->begin && (uintptr_t)address < l->end)
            return true;
    return false;
}

bool sg_libraries_define(const char *name)
{
    for (const library *l = libraries; l != NULL; l = l->next) {
        void *handle = dlopen(l->path, RTLD_LAZY | RTLD_NOLOAD);
        void *found = handle == NULL ? NULL : dlsym(handle, name);
        if (handle != NULL)
            dlclose(handle);
        if ((uintptr_t)found >= l->begin && (uintptr_t)found < l->end)
            return true;
    }
    return false;
}

void sg_libraries_name(void)
{
    enum { NAMED = 3 };
    char text[400] = "the code of ";
    size_t used = strlen(text), count = 0, named = 0;
    for (const library *l = libraries; l != NULL; l = l->next)
        count++;
    if (count == 0)
        return;
    for (const library *l = libraries; l != NULL && named < NAMED; l = l->next, named++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.80s",
                                 named == 0           ? ""
                                 : named + 1 == count ? " and "
                                                      : ", ",
                                 file_name(l->path));
    if (count > named)
        used += (size_t)snprintf(text + used, sizeof text - used, " and %zu more", count - named);
    snprintf(text + used, sizeof text - used, " has no hooks: what it computes takes no simulated time");
    sg_warn(text);
}

/* ---- their constructors ---- */

/* An address from the dynamic section; the dynamic linker has already added the base to some of them. */
static uintptr_t address_of(const library *l, const ElfW(Dyn) * entry)
{
    uintptr_t value = entry->d_un.d_ptr;
    return value >= l->begin && value < l->end && l->base != 0 ? value : l->base + value;
}

static const ElfW(Dyn) * entry_of(const library *l, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = l->dynamic; d != NULL && d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return d;
    return NULL;
}

static bool is_named(const library *l, const char *name)
{
    const ElfW(Dyn) *own = entry_of(l, DT_SONAME), *texts = entry_of(l, DT_STRTAB);
    if (own != NULL && texts != NULL &&
        strcmp((const char *)address_of(l, texts) + own->d_un.d_val, name) == 0)
        return true;
    return strcmp(file_name(l->path), file_name(name)) == 0;
}

static library *first_constructed = NULL, **end_of_order = &first_constructed;

/* Appends a library to the order of construction, after its dependencies. */
static void put_in_order(library *l)
{
    if (l->in_order)
        return;
    l->in_order = true;
    const ElfW(Dyn) *texts = entry_of(l, DT_STRTAB);
    for (const ElfW(Dyn) *d = l->dynamic; texts != NULL && d != NULL && d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED)
            for (library *other = libraries; other != NULL; other = other->next)
                if (is_named(other, (const char *)address_of(l, texts) + d->d_un.d_val))
                    put_in_order(other);
    *end_of_order = l;
    end_of_order = &l->then;
}

void sg_libraries_note(void)
{
    int count = 0;
    dl_iterate_phdr(note, &count);
    for (library *l = libraries; l != NULL; l = l->next)
        put_in_order(l);
}

static void construct(const library *l, int argc, char **argv, char **envp)
{
    const ElfW(Dyn) *first = entry_of(l, DT_INIT), *array = entry_of(l, DT_INIT_ARRAY);
    const ElfW(Dyn) *size = entry_of(l, DT_INIT_ARRAYSZ);
    if (first != NULL)
        ((constructor *)address_of(l, first))(argc, argv, envp);
    if (array == NULL || size == NULL)
        return;
    constructor *const *functions = (constructor *const *)address_of(l, array);
    for (size_t i = 0; i < size->d_un.d_val / sizeof *functions; i++)
        functions[i](argc, argv, envp);
}

void sg_libraries_construct(int argc, char **argv, char **envp)
{
    for (const library *l = first_constructed; l != NULL; l = l->then)
        construct(l, argc, argv, envp);
}
