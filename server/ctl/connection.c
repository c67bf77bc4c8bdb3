// SPDX-License-Identifier: MIT
// The client's side of server/inspect/control.h. What the server sends is limited and checked.
#include "ctl.h"

#include "base/assert.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int refuse_address(const base_reporter* reporter, const char* path, const char* what) {
    base_report(reporter, NULL, 0, "cannot reach a server at %s: %s", path, what);
    return NET_EXIT_CONNECT;
}

int ctl_connect(ctl_connection* self, const char* path, const base_reporter* reporter) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = CTL_ANSWER_S_MAX};
    *self = (ctl_connection){.descriptor = -1, .reporter = reporter};
    base_bytes_init(&self->answer, NULL);
    if (!base_text_copy(address.sun_path, sizeof address.sun_path, path))
        return refuse_address(reporter, path, "the path is longer than 107 bytes");
    self->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (self->descriptor < 0 ||
        connect(self->descriptor, (const struct sockaddr*)&address, sizeof address) != 0)
        return refuse_address(reporter, path, strerror(errno));
    (void)setsockopt(self->descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(self->descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return NET_EXIT_CLEAN;
}

void ctl_close(ctl_connection* self) {
    if (self->descriptor >= 0) close(self->descriptor);
    base_bytes_deinit(&self->answer);
}

static bool fail_connection(const ctl_connection* self, const char* what) {
    base_report(self->reporter, NULL, 0, "%s", what);
    return false;
}

static bool send_all(const ctl_connection* self, const char* text, size_t size) {
    while (size > 0) {
        const ssize_t sent = send(self->descriptor, text, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        text += sent;
        size -= (size_t)sent;
    }
    return true;
}

bool ctl_ask(ctl_connection* self, const char* line, ctl_value* object) {
    char piece[65536];
    BASE_ASSERT(!strchr(line, '\n'));
    base_bytes_clear(&self->answer);
    if (!send_all(self, line, strlen(line)) || !send_all(self, "\n", 1))
        return fail_connection(self, "the server hung up");
    do {
        const ssize_t size = recv(self->descriptor, piece, sizeof piece, 0);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return fail_connection(self, "the server does not answer");
        if (size == 0) return fail_connection(self, "the server hung up");
        base_bytes_write(&self->answer, piece, (size_t)size);
        if (self->answer.failed || self->answer.size > CTL_ANSWER_BYTES_MAX)
            return fail_connection(self, "the answer is too long");
    } while (self->answer.size == 0 || self->answer.data[self->answer.size - 1] != '\n');
    *object = ctl_json_check((const char*)self->answer.data, self->answer.size);
    return ctl_is_object(*object) || fail_connection(self, "the answer is no JSON object");
}
