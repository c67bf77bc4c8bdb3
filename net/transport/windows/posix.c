// SPDX-License-Identifier: MIT
// POSIX's calls on Winsock, as far as a client needs them (posix.h).
#define _CRT_RAND_S
#include "posix.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#undef close

// What the callers look for in errno.
static int fail_call(void) {
    const int error = WSAGetLastError();
    errno = error == WSAEWOULDBLOCK ? EAGAIN
            : error == WSAENOTSOCK  ? ENOTSOCK
            : error == WSAEINTR     ? EINTR
            : error == WSAENOBUFS   ? ENOBUFS
            : error == WSAEMSGSIZE  ? EMSGSIZE
                                    : EIO;
    return -1;
}

int recvmmsg(int descriptor, struct mmsghdr* messages, unsigned count, int flags,
             struct timespec* timeout) {
    (void)flags, (void)timeout;
    unsigned got = 0;
    while (got < count) {
        struct msghdr* header = &messages[got].msg_hdr;
        const int capacity = (int)header->msg_iov->iov_len;
        const int size = recvfrom((SOCKET)descriptor, header->msg_iov->iov_base, capacity, 0,
                                  header->msg_name, &header->msg_namelen);
        if (size < 0 && WSAGetLastError() == WSAEMSGSIZE) {
            messages[got++].msg_len = (unsigned)capacity + 1; // cut: its true size is not told
        } else if (size >= 0) {
            messages[got++].msg_len = (unsigned)size;
        } else if (WSAGetLastError() == WSAECONNRESET) {
            continue; // an earlier datagram found no receiver: a loss
        } else {
            break;
        }
    }
    return got > 0 ? (int)got : fail_call();
}

int sendmmsg(int descriptor, struct mmsghdr* messages, unsigned count, int flags) {
    (void)flags;
    unsigned sent = 0;
    for (; sent < count; sent++) {
        const struct msghdr* header = &messages[sent].msg_hdr;
        const struct iovec* piece = header->msg_iov; // one: there are no segments
        if (sendto((SOCKET)descriptor, piece->iov_base, (int)piece->iov_len, 0, header->msg_name,
                   header->msg_namelen) < 0)
            break;
    }
    return sent > 0 ? (int)sent : fail_call();
}

int net_windows_fcntl(int descriptor, int command, ...) {
    if (command != F_SETFL) return 0;
    va_list arguments;
    va_start(arguments, command);
    u_long is_nonblocking = (va_arg(arguments, int) & O_NONBLOCK) != 0;
    va_end(arguments);
    return ioctlsocket((SOCKET)descriptor, FIONBIO, &is_nonblocking) == 0 ? 0 : fail_call();
}

int net_windows_close(int descriptor) {
    if (closesocket((SOCKET)descriptor) == 0) return 0;
    return WSAGetLastError() == WSAENOTSOCK ? _close(descriptor) : fail_call();
}

ssize_t getrandom(void* bytes, size_t size, unsigned flags) {
    (void)flags;
    uint8_t* at = bytes;
    for (size_t i = 0; i < size; i++) {
        unsigned number;
        if (rand_s(&number) != 0) return -1;
        at[i] = (uint8_t)number;
    }
    return (ssize_t)size;
}

char* realpath(const char* path, char* real) {
    if (!_fullpath(real, path, 4096)) return NULL;
    for (char* at = real; *at; at++)
        if (*at == '\\') *at = '/';
    return real;
}

ssize_t readlink(const char* path, char* target, size_t bytes) {
    (void)path;
    const DWORD size = GetModuleFileNameA(NULL, target, (DWORD)bytes);
    for (DWORD i = 0; i < size; i++)
        if (target[i] == '\\') target[i] = '/';
    return (ssize_t)size;
}

int memfd_create(const char* name, unsigned flags) {
    (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
}

void* dlopen(const char* file, int flags) {
    (void)flags;
    return (void*)LoadLibraryA(file);
}

void* dlsym(void* library, const char* name) {
    FARPROC found = GetProcAddress((HMODULE)library, name);
    void* address;
    memcpy(&address, &found, sizeof address);
    return address;
}

int dlclose(void* library) {
    return FreeLibrary((HMODULE)library) ? 0 : -1;
}

const char* dlerror(void) {
    return "the system cannot load it";
}
