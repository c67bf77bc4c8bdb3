// SPDX-License-Identifier: MIT
/// A listener of a process that may have no descriptor left. Some are kept for that time: two
/// connections are answered, by which one asks how the server fares, further ones are closed at
/// once. What stayed in the kernel's queue would wake the thread without an end.
#pragma once

#include "base/file.h"
#include "base/report.h"
#include "net/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVER_ACCEPTOR_SPARES 3u

typedef struct server_acceptor {
    int listener; ///< that does not block; -1: none
    int spares[SERVER_ACCEPTOR_SPARES];
    uint32_t spare_count; ///< 0: the limit fell below what is open; look now and then
    uint64_t lacks;       ///< connections that came while no descriptor was left
} server_acceptor;

/// Once the listener is there.
static inline void server_acceptor_fill(server_acceptor* self) {
    while (self->spare_count < SERVER_ACCEPTOR_SPARES) {
        const int spare = fcntl(self->listener, F_DUPFD_CLOEXEC, 0);
        if (spare < 0) return;
        self->spares[self->spare_count++] = spare;
    }
}

static inline void server_acceptor_close(server_acceptor* self) {
    while (self->spare_count > 0)
        close(self->spares[--self->spare_count]);
    if (self->listener >= 0) close(self->listener);
}

/// Listen at ADDR:PORT, or the first free port of ADDR:FIRST-LAST; `bound` is that one.
/// @return false, with errno.
BASE_MUST_USE bool server_acceptor_listen(server_acceptor* self, const char* range,
                                          net_address* bound);

/// The first lack is reported. `from` NULL: there is no address. @return -1: no connection now.
static inline int server_acceptor_accept(server_acceptor* self, struct sockaddr* from,
                                         socklen_t* size, const base_reporter* reporter) {
    int fd = accept(self->listener, from, size);
    const int error = errno;
    if (fd < 0 && (error == EMFILE || error == ENFILE) && self->spare_count > 0) {
        if (self->lacks++ == 0)
            base_report(reporter, NULL, 0, "warning: connections are refused: %s",
                        base_error_text(error));
        close(self->spares[--self->spare_count]);
        fd = accept(self->listener, from, size);
        if (fd >= 0 && self->spare_count == 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    server_acceptor_fill(self);
    return fd;
}
