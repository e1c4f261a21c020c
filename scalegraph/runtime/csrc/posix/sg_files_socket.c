/* Sockets between simulated threads: socket pairs, named sockets, and the loopback network. A socket
 * connected to another computer is left to the host. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "sg_arch.h"
#include "sg_files.h"

SG_API int socket(int domain, int type, int protocol)
{
    long file = sg_arch_syscall(SYS_socket, domain, type, protocol, 0);
    if (file >= 0 && (domain == AF_UNIX || domain == AF_INET || domain == AF_INET6))
        sg_files_own((int)file);
    return (int)sg_files_result(file);
}

/* Is the address on another computer? */
static bool is_elsewhere(const struct sockaddr *to)
{
    if (to->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)to)->sin_addr.s_addr) >> 24 != 127 &&
               ((const struct sockaddr_in *)to)->sin_addr.s_addr != INADDR_ANY;
    if (to->sa_family == AF_INET6) {
        const struct in6_addr *address = &((const struct sockaddr_in6 *)to)->sin6_addr;
        return !IN6_IS_ADDR_LOOPBACK(address) && !IN6_IS_ADDR_UNSPECIFIED(address) &&
               !(IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
    }
    return false;
}

/* Clock until which a call on the socket waits, as set by the program. */
static uint64_t deadline_of(int file, int option)
{
    struct timeval time = {0, 0};
    socklen_t size = sizeof time;
    if (getsockopt(file, SOL_SOCKET, option, &time, &size) != 0 || (time.tv_sec == 0 && time.tv_usec == 0))
        return SG_NEVER;
    const struct timespec span = {time.tv_sec, time.tv_usec * 1000};
    return sg_deadline_in(&span);
}

static bool is_stream(int file)
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

/* ---- connections ---- */

SG_API int connect(int file, const struct sockaddr *to, socklen_t size)
{
    const long a[6] = {file, (long)to, size, 0, 0, 0};
    if (sg_files_owns(file) && to != NULL && size >= sizeof(sa_family_t) && is_elsewhere(to))
        sg_files_disown(file);
    if (!sg_files_simulate(file, SG_CALLER))
        return (int)sg_files_result(sg_arch_syscall6(SYS_connect, a));
    sg_files_begin();
    for (;;) {
        bool waits;
        struct pollfd one = {file, POLLOUT, 0};
        long result = sg_files_attempt(file, &waits, SYS_connect, a);
        sg_files_happen();
        if (!waits || (result != -EINPROGRESS && result != -EAGAIN && result != -EALREADY))
            return (int)sg_files_result(result == -EISCONN ? 0 : result);
        /* -EAGAIN: others are queued before us, and only an accept changes that */
        nfds_t count = result == -EAGAIN ? 0 : 1;
        if (sg_files_wait((sg_file_wait){"connect", &one, count, SG_NEVER, true}) != 0)
            return (int)sg_files_result(-EINTR);
        int error = 0;
        socklen_t length = sizeof error;
        if (count == 1 && getsockopt(file, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error != 0)
            return (int)sg_files_result(-error);
    }
}

static int accept_one(int file, struct sockaddr *from, socklen_t *size, int flags, const void *site)
{
    const long a[6] = {file, (long)from, (long)size, flags, 0, 0};
    if (!sg_files_simulate(file, site))
        return (int)sg_files_result(sg_arch_syscall6(SYS_accept4, a));
    sg_files_begin();
    long made = sg_files_perform("accept", file, POLLIN, deadline_of(file, SO_RCVTIMEO), SYS_accept4, a);
    return sg_files_own((int)sg_files_result(made));
}

SG_API int accept(int file, struct sockaddr *restrict from, socklen_t *restrict size)
{
    return accept_one(file, from, size, 0, SG_CALLER);
}

SG_API int accept4(int file, struct sockaddr *restrict from, socklen_t *restrict size, int flags)
{
    return accept_one(file, from, size, flags, SG_CALLER);
}

SG_API int shutdown(int file, int how)
{
    bool ours = sg_files_simulate(file, SG_CALLER);
    if (ours)
        sg_files_begin();
    long result = sg_arch_syscall(SYS_shutdown, file, how, 0, 0);
    if (ours)
        sg_files_happen();
    return (int)sg_files_result(result);
}

SG_API int listen(int file, int most)
{
    long result = sg_arch_syscall(SYS_listen, file, most, 0, 0);
    if (sg_files_simulate(file, SG_CALLER))
        sg_files_happen();
    return (int)sg_files_result(result);
}

/* ---- receiving ---- */

static ssize_t receive(int file, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *length,
                       const void *site)
{
    const long a[6] = {file, (long)to, (long)size, flags, (long)from, (long)length};
    if (!sg_files_simulate(file, site))
        return sg_files_result(sg_arch_syscall6(SYS_recvfrom, a));
    sg_files_begin();
    uint64_t deadline = flags & MSG_DONTWAIT ? 0 : deadline_of(file, SO_RCVTIMEO);
    bool whole = (flags & MSG_WAITALL) != 0 && (flags & (MSG_DONTWAIT | MSG_PEEK)) == 0 && is_stream(file);
    long got = 0, done = 0;
    do {
        const long part[6] = {file, (long)to + done, (long)size - done, flags, (long)from, (long)length};
        got = sg_files_perform("recv", file, POLLIN, deadline, SYS_recvfrom, part);
        done += got > 0 ? got : 0;
    } while (whole && got > 0 && done < (long)size);
    if (done > 0)
        sg_reference_range(to, (size_t)done < size ? (size_t)done : size, SG_WRITE, site);
    return sg_files_result(done > 0 ? done : got);
}

SG_API ssize_t recv(int file, void *to, size_t size, int flags)
{
    return receive(file, to, size, flags, NULL, NULL, SG_CALLER);
}

ssize_t __recv_chk(int file, void *to, size_t size, size_t room, int flags);
SG_API ssize_t __recv_chk(int file, void *to, size_t size, size_t room, int flags)
{
    return receive(file, to, size < room ? size : room, flags, NULL, NULL, SG_CALLER);
}

SG_API ssize_t recvfrom(int file, void *restrict to, size_t size, int flags, struct sockaddr *restrict from,
                        socklen_t *restrict length)
{
    return receive(file, to, size, flags, from, length, SG_CALLER);
}

SG_API ssize_t recvmsg(int file, struct msghdr *message, int flags)
{
    const long a[6] = {file, (long)message, flags, 0, 0, 0};
    if (!sg_files_simulate(file, SG_CALLER))
        return sg_files_result(sg_arch_syscall6(SYS_recvmsg, a));
    sg_files_begin();
    uint64_t deadline = flags & MSG_DONTWAIT ? 0 : deadline_of(file, SO_RCVTIMEO);
    return sg_files_result(sg_files_perform("recvmsg", file, POLLIN, deadline, SYS_recvmsg, a));
}

/* ---- sending ---- */

static ssize_t send_to(int file, const void *from, size_t size, int flags, const struct sockaddr *to,
                       socklen_t length, const void *site)
{
    long done = 0, put;
    if (!sg_files_simulate(file, site)) {
        const long a[6] = {file, (long)from, (long)size, flags, (long)to, length};
        return sg_files_result(sg_arch_syscall6(SYS_sendto, a));
    }
    sg_files_begin();
    sg_reference_range(from, size, SG_READ, site);
    uint64_t deadline = flags & MSG_DONTWAIT ? 0 : deadline_of(file, SO_SNDTIMEO);
    bool waits = deadline != 0 && (sg_arch_syscall(SYS_fcntl, file, F_GETFL, 0, 0) & O_NONBLOCK) == 0;
    do {
        const long a[6] = {file, (long)from + done, (long)size - done, flags, (long)to, length};
        put = sg_files_perform("send", file, POLLOUT, deadline, SYS_sendto, a);
        done += put > 0 ? put : 0;
    } while (waits && put > 0 && done < (long)size);
    return sg_files_result(done > 0 ? done : put);
}

SG_API ssize_t send(int file, const void *from, size_t size, int flags)
{
    return send_to(file, from, size, flags, NULL, 0, SG_CALLER);
}

SG_API ssize_t sendto(int file, const void *from, size_t size, int flags, const struct sockaddr *to,
                      socklen_t length)
{
    return send_to(file, from, size, flags, to, length, SG_CALLER);
}

SG_API ssize_t sendmsg(int file, const struct msghdr *message, int flags)
{
    const long a[6] = {file, (long)message, flags, 0, 0, 0};
    if (!sg_files_simulate(file, SG_CALLER))
        return sg_files_result(sg_arch_syscall6(SYS_sendmsg, a));
    sg_files_begin();
    uint64_t deadline = flags & MSG_DONTWAIT ? 0 : deadline_of(file, SO_SNDTIMEO);
    return sg_files_result(sg_files_perform("sendmsg", file, POLLOUT, deadline, SYS_sendmsg, a));
}
