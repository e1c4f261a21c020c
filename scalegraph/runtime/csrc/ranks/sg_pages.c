/* Moves host pages from one place to another, by mremap, which splits and joins memory areas each time, or by
 * userfaultfd (Linux 6.8), which only moves page-table entries: one entry per large page. */
#include "sg_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "sg_arch.h"

/* From linux/userfaultfd.h; older headers lack some of them. */
enum {
    USER_MODE_ONLY = 1,  /* so that it works without root */
    MAY_MOVE = 1 << 16,  /* a feature */
    WRITE_PROTECTED = 2, /* a registration mode that leaves missing pages to the kernel */
    WITH_HOLES = 2,      /* a hole in the source remains a hole */
    COLLAPSE = 25,       /* MADV_COLLAPSE */
};
#define API       0xaaull
#define HANDSHAKE 0xc018aa3fl
#define REGISTER  0xc020aa00l
#define MOVE      0xc028aa05l

static long mover = -1; /* the userfaultfd; -1: use mremap */

static long control(long request, uint64_t *argument)
{
    return sg_arch_syscall(SYS_ioctl, mover, request, (long)argument, 0);
}

static void give_up(void)
{
    sg_arch_syscall(SYS_close, mover, 0, 0, 0);
    mover = -1;
}

/* Returns how many bytes have been moved. */
static size_t move_entries(uint64_t from, uint64_t to, size_t size)
{
    size_t done = 0;
    for (int tries = 0; tries < 1000; tries++) { /* the kernel may refuse temporarily */
        uint64_t request[5] = {to + done, from + done, size - done, WITH_HOLES, 0};
        long error = control(MOVE, request);
        if (error == 0)
            return size;
        if (error != -EAGAIN)
            break;
        if ((int64_t)request[4] > 0)
            done += request[4];
    }
    return done;
}

bool sg_pages_move(uint64_t from, uint64_t to, size_t size, bool enlarged)
{
    bool by_entries = enlarged && mover >= 0;
    size_t done = by_entries ? move_entries(from, to, size) : 0;
    if (done == size)
        return true;
    if (by_entries) /* for example, a page is shared with a child of this process */
        give_up();
    from += done;
    to += done;
    long left = (long)(size - done);
    const long a[6] = {(long)from, left, left, MREMAP_MAYMOVE | MREMAP_FIXED, (long)to, 0};
    return sg_arch_syscall6(SYS_mremap, a) == (long)to;
}

void sg_pages_copy(char *to, const char *from, size_t bytes)
{
    static const char zero[SG_PAGES_BYTES] = {0};
    for (size_t i = 0; i < bytes; i += sizeof zero) {
        size_t size = bytes - i < sizeof zero ? bytes - i : sizeof zero;
        if (memcmp(from + i, zero, size) != 0)
            memcpy(to + i, from + i, size);
    }
}

const char *sg_pages_keep(const char *from, size_t bytes, const char *purpose)
{
    char *kept = sg_reserve(bytes, purpose);
    sg_pages_copy(kept, from, bytes);
    return kept;
}

static bool open_mover(void)
{
    uint64_t offer[3] = {API, MAY_MOVE, 0};
    if (mover >= 0)
        return true;
    mover = sg_descriptor_high(sg_arch_syscall(SYS_userfaultfd, O_CLOEXEC | USER_MODE_ONLY, 0, 0, 0));
    if (mover < 0)
        return false;
    if (control(HANDSHAKE, offer) == 0)
        return true;
    give_up();
    return false;
}

static bool advise(uint64_t at, size_t size, long advice)
{
    return sg_arch_syscall(SYS_madvise, (long)at, (long)size, advice, 0) == 0;
}

static bool enroll(uint64_t at, size_t size)
{
    uint64_t range[4] = {at, size, WRITE_PROTECTED, 0};
    return control(REGISTER, range) == 0;
}

bool sg_pages_enlarge(uint64_t place, uint64_t home, size_t size, uint32_t count)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    const long a[6] = {(long)place, (long)size, PROT_READ | PROT_WRITE, flags, -1, 0};
    if (!open_mover())
        return false;
    if (sg_arch_syscall6(SYS_mmap, a) == (long)place && advise(place, size, MADV_HUGEPAGE) &&
        advise(home, size * count, MADV_HUGEPAGE) && advise(home, size * count, COLLAPSE) &&
        enroll(place, size) && enroll(home, size * count))
        return true;
    advise(home, size * count, MADV_NOHUGEPAGE); /* mostly empty */
    give_up();
    return false;
}
