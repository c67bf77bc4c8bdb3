// SPDX-License-Identifier: MIT
// A datagram of lines for each state. It is sent without waiting: a manager that does not read
// misses one, and the watchdog is asked three times in its time.
#include "notify.h"

#include "base/assert.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void send_state(const server_notify* self, const char* state) {
    if (self->socket < 0) return;
    (void)!send(self->socket, state, strlen(state), MSG_DONTWAIT | MSG_NOSIGNAL);
}

// "/run/systemd/notify", or "@name" of an abstract one.
static bool read_address(const char* name, struct sockaddr_un* address, socklen_t* size) {
    const size_t length = strlen(name);
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof address->sun_path) {
        errno = EINVAL;
        return false;
    }
    memcpy(address->sun_path, name, length);
    if (name[0] == '@') address->sun_path[0] = 0;
    *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (name[0] == '/'));
    return true;
}

// The time is for the process of WATCHDOG_PID, and for any without it.
static uint64_t read_watchdog(void) {
    const char* text = getenv("WATCHDOG_USEC");
    const char* process = getenv("WATCHDOG_PID");
    uint64_t us = 0, pid = 0;
    if (!text || !base_text_parse_u64(text, &us)) return 0;
    if (process && (!base_text_parse_u64(process, &pid) || pid != (uint64_t)getpid())) return 0;
    return us / 3;
}

bool server_notify_open(server_notify* self) {
    const char* name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address;
    socklen_t size;
    *self = (server_notify){.socket = -1};
    if (!name || !name[0]) return true;
    if (!read_address(name, &address, &size)) return false;
    self->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (self->socket < 0) return false;
    if (connect(self->socket, (const struct sockaddr*)&address, size) != 0) {
        const int error = errno;
        server_notify_close(self);
        errno = error;
        return false;
    }
    self->watchdog_us = read_watchdog();
    return true;
}

void server_notify_close(server_notify* self) {
    if (self->socket >= 0) close(self->socket);
    self->socket = -1;
}

void server_notify_ready(server_notify* self) {
    self->is_reloading = false;
    send_state(self, "READY=1");
}

void server_notify_reloading(server_notify* self, uint64_t now_us) {
    char state[64];
    self->is_reloading = true;
    (void)base_text_format(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, now_us);
    send_state(self, state);
}

void server_notify_stopping(server_notify* self) {
    if (self->is_stopping) return;
    self->is_stopping = true;
    send_state(self, "STOPPING=1");
}

void server_notify_alive(server_notify* self, uint64_t now_us) {
    if (self->watchdog_us == 0 || now_us - self->alive_us < self->watchdog_us) return;
    self->alive_us = now_us;
    send_state(self, "WATCHDOG=1");
}

void server_notify_extend(server_notify* self, uint64_t now_us) {
    char state[64];
    const uint64_t extend_us = SERVER_NOTIFY_EXTEND_MS * UINT64_C(1000);
    if (self->extended_us != 0 && now_us - self->extended_us < extend_us / 3) return;
    self->extended_us = now_us;
    (void)base_text_format(state, sizeof state, "EXTEND_TIMEOUT_USEC=%" PRIu64, extend_us);
    send_state(self, state);
}

bool server_notify_wants_status(const server_notify* self, uint64_t now_us) {
    return self->socket >= 0 &&
           now_us - self->status_us >= SERVER_NOTIFY_STATUS_MS * UINT64_C(1000);
}

void server_notify_status(server_notify* self, uint64_t now_us, const char* text) {
    char state[SERVER_NOTIFY_STATUS_BYTES + 8];
    self->status_us = now_us;
    if (strcmp(self->status, text) == 0) return;
    (void)base_text_copy(self->status, sizeof self->status, text);
    (void)base_text_format(state, sizeof state, "STATUS=%s", self->status);
    send_state(self, state);
}
