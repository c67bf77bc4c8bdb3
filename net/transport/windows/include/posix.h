// SPDX-License-Identifier: MIT
/// What net/socket, net/core and net/game call of POSIX, on Winsock. The headers beside this one
/// have the names that those files include, and all of them are this one.
///
/// Sockets are int: Windows returns handles far below 2^31. A batch of datagrams is a loop, since
/// Winsock has no recvmmsg. Sockets are not blocking because ENet makes them so; MSG_DONTWAIT is
/// nothing of its own here.
#pragma once

#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>

#include <ws2tcpip.h>
// Words of 16-bit times, which are names of ours.
#undef near
#undef far
#undef small

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define MSG_DONTWAIT 0
#define MSG_NOSIGNAL 0
#ifndef MSG_TRUNC
#define MSG_TRUNC 0
#endif
#define SOCK_CLOEXEC 0
#define SOCK_NONBLOCK 0
#define O_CLOEXEC O_NOINHERIT
#define O_NONBLOCK O_BINARY
#define F_GETFL 3
#define F_SETFL 4
#define GRND_NONBLOCK 1
#define RTLD_NOW 0
#define RTLD_LOCAL 0
#define MFD_CLOEXEC 0
// The rights of others are no bits of a mode here.
#undef S_IWOTH
#define S_IWOTH 0
#ifndef S_ISVTX
#define S_ISVTX 0
#endif

struct iovec {
    void* iov_base;
    size_t iov_len;
};
struct msghdr {
    void* msg_name;
    socklen_t msg_namelen;
    struct iovec* msg_iov;
    size_t msg_iovlen;
    void* msg_control;
    size_t msg_controllen;
};
struct mmsghdr {
    struct msghdr msg_hdr;
    unsigned msg_len;
};
struct cmsghdr {
    size_t cmsg_len;
    int cmsg_level, cmsg_type;
};
#define CMSG_LEN(size) (sizeof(struct cmsghdr) + (size))
#define CMSG_SPACE(size) CMSG_LEN(((size) + 7u) & ~(size_t)7u)
#undef CMSG_DATA
#undef CMSG_FIRSTHDR
#define CMSG_DATA(header) ((uint8_t*)((struct cmsghdr*)(header) + 1))
#define CMSG_FIRSTHDR(message) ((struct cmsghdr*)(message)->msg_control)

int recvmmsg(int descriptor, struct mmsghdr* messages, unsigned count, int flags,
             struct timespec* timeout);
int sendmmsg(int descriptor, struct mmsghdr* messages, unsigned count, int flags);
/// F_GETFL returns 0; F_SETFL knows O_NONBLOCK.
int net_windows_fcntl(int descriptor, int command, ...);
/// A socket or a file.
int net_windows_close(int descriptor);
ssize_t getrandom(void* bytes, size_t size, unsigned flags);
char* realpath(const char* path, char* real);
ssize_t readlink(const char* path, char* target, size_t bytes);
/// There are no files in memory: -1.
int memfd_create(const char* name, unsigned flags);
void* dlopen(const char* file, int flags);
void* dlsym(void* library, const char* name);
int dlclose(void* library);
const char* dlerror(void);

#define fcntl net_windows_fcntl
#define close net_windows_close
#define poll WSAPoll
#define setsockopt(descriptor, level, option, value, size)                                         \
    setsockopt((SOCKET)(descriptor), level, option, (const char*)(value), size)
