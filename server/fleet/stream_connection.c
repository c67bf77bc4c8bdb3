// SPDX-License-Identifier: MIT
// The library's threads say how its connection fares. When it gave that up, the thread here waits
// and makes the next one.
#include "stream_connection.h"

#include "backoff.h"

#include "base/text.h"
#include "core/worker.h"
#include "net/socket.h"
#include "net/stream.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>
#include <time.h>

_Static_assert(SERVER_BACKOFF_MS_MAX <= NET_STREAM_AGAIN_MS_MAX, "standbys count on it");

struct server_connection {
    natsOptions* options;
    bool has_one_server;
    void (*wake)(void* context);
    void* context;

    pthread_mutex_t mutex; // of all below
    pthread_cond_t changed;
    natsConnection* made; // not the caller's yet
    uint64_t count;       // of connections
    server_backoff backoff;
    bool is_refused; // by the newest answer, since the newest connection
    char reason[128];
    uint32_t users; // threads and connections that may call into this
    bool is_up;
    bool was_lost; // the one that is made now, before that was known here
    bool must_connect;
    bool is_closing;
};

// ---- what the library says ----

// A broker, or something that takes its place, answered.
static bool is_refusal(natsStatus status) {
    return status != NATS_NO_SERVER && status != NATS_TIMEOUT && status != NATS_IO_ERROR &&
           status != NATS_SYS_ERROR && status != NATS_CONNECTION_CLOSED &&
           status != NATS_STALE_CONNECTION;
}

// "(conn.c:1905): Authorization Violation". Of several brokers one may be down: what another one
// says counts more.
static void note_reason(server_connection* self, natsStatus status, const char* text) {
    const char* behind = text[0] == '(' ? strstr(text, "): ") : NULL;
    if (is_refusal(status))
        self->is_refused = true;
    else if (self->is_refused && !self->has_one_server)
        return;
    else
        self->is_refused = false;
    const char* words = status == NATS_NO_SERVER ? "" : behind ? behind + 3 : text;
    (void)base_text_copy(self->reason, sizeof self->reason, words);
}

static uint32_t wait_ms(server_connection* self) {
    return server_backoff_failed(&self->backoff, net_loop_now_us(), randombytes_random());
}

static void mark_up(server_connection* self) {
    self->is_up = true;
    self->count++;
    self->is_refused = false;
    self->reason[0] = 0;
    server_backoff_up(&self->backoff, net_loop_now_us());
}

// A subscription ended, the thread, or a connection: they may call into this no more.
static void leave(void* context) {
    server_connection* self = context;
    pthread_mutex_lock(&self->mutex);
    self->users--;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void note_up(natsConnection* connection, void* context) {
    (void)connection;
    server_connection* self = context;
    pthread_mutex_lock(&self->mutex);
    mark_up(self);
    pthread_mutex_unlock(&self->mutex);
    self->wake(self->context);
}

static void note_down(natsConnection* connection, void* context) {
    (void)connection;
    server_connection* self = context;
    pthread_mutex_lock(&self->mutex);
    self->is_up = false;
    self->was_lost = true;
    pthread_mutex_unlock(&self->mutex);
    self->wake(self->context);
}

static void note_closed(natsConnection* connection, void* context) {
    server_connection* self = context;
    const char* text = "";
    const natsStatus status = natsConnection_GetLastError(connection, &text);
    note_down(connection, context);
    pthread_mutex_lock(&self->mutex);
    note_reason(self, status, text);
    self->must_connect = true;
    pthread_mutex_unlock(&self->mutex);
    leave(self);
}

// Before an attempt of the library, on the thread that made the last one.
static int64_t choose_delay(natsConnection* connection, int attempts, void* context) {
    (void)connection, (void)attempts;
    server_connection* self = context;
    natsStatus status;
    const char* text = nats_GetLastError(&status);
    pthread_mutex_lock(&self->mutex);
    if (text) note_reason(self, status, text);
    const uint32_t ms = wait_ms(self);
    pthread_mutex_unlock(&self->mutex);
    return ms;
}

// By default the library prints them.
static void ignore_error(natsConnection* connection, natsSubscription* subscription,
                         natsStatus status, void* context) {
    (void)connection, (void)subscription, (void)status, (void)context;
}

// ---- the thread ----

// @return false: the time came.
static bool wait_for_change(server_connection* self, uint64_t until_us) {
    const struct timespec until = {.tv_sec = (time_t)(until_us / 1000000),
                                   .tv_nsec = (long)(until_us % 1000000 * 1000)};
    return pthread_cond_timedwait(&self->changed, &self->mutex, &until) == 0;
}

// @return false: it is closed.
static bool wait_for_turn(server_connection* self) {
    while (!self->must_connect && !self->is_closing)
        pthread_cond_wait(&self->changed, &self->mutex);
    const uint64_t until_us = net_loop_now_us() + wait_ms(self) * UINT64_C(1000);
    while (!self->is_closing && wait_for_change(self, until_us))
        ;
    return !self->is_closing;
}

static void connect_once(server_connection* self) {
    natsConnection* made = NULL;
    natsConnection* before = self->made; // that was not taken
    self->made = NULL;
    self->must_connect = self->was_lost = false;
    self->users++; // until note_closed
    pthread_mutex_unlock(&self->mutex);
    natsConnection_Destroy(before);
    const natsStatus status = natsConnection_Connect(&made, self->options);
    const char* text = nats_GetLastError(NULL);
    pthread_mutex_lock(&self->mutex);
    self->made = made;
    if (status != NATS_OK) {
        note_reason(self, status, text ? text : natsStatus_GetText(status));
        self->must_connect = true;
        self->users--;
    } else if (!self->was_lost) {
        mark_up(self);
    }
}

static void* run_connection(void* context) {
    server_connection* self = context;
    pthread_mutex_lock(&self->mutex);
    do {
        connect_once(self);
        pthread_mutex_unlock(&self->mutex);
        self->wake(self->context);
        pthread_mutex_lock(&self->mutex);
    } while (wait_for_turn(self));
    pthread_mutex_unlock(&self->mutex);
    natsConnection_Destroy(self->made);
    leave(self);
    return NULL;
}

// ---- the one that polls ----

bool server_connection_is_up(server_connection* self) {
    pthread_mutex_lock(&self->mutex);
    const bool is_up = self->is_up;
    pthread_mutex_unlock(&self->mutex);
    return is_up;
}

bool server_connection_look(server_connection* self, natsConnection** made, uint64_t* count,
                            char* reason, size_t reason_bytes) {
    pthread_mutex_lock(&self->mutex);
    *made = self->made;
    self->made = NULL;
    *count = self->count;
    (void)base_text_copy(reason, reason_bytes, self->reason);
    const bool is_up = self->is_up;
    pthread_mutex_unlock(&self->mutex);
    return is_up;
}

natsStatus server_connection_subscribe(server_connection* self, natsConnection* connection,
                                       const char* subject, const char* group,
                                       natsMsgHandler callback, void* context,
                                       natsSubscription** made) {
    pthread_mutex_lock(&self->mutex);
    self->users++;
    pthread_mutex_unlock(&self->mutex);
    natsStatus status =
        group ? natsConnection_QueueSubscribe(made, connection, subject, group, callback, context)
              : natsConnection_Subscribe(made, connection, subject, callback, context);
    if (status == NATS_OK) status = natsSubscription_SetOnCompleteCB(*made, leave, self);
    if (status != NATS_OK) leave(self);
    return status;
}

// ---- life ----

// @return false: a file cannot be read, or there is no memory.
static bool make_options(server_connection* self, const server_nats_address* address,
                         int64_t write_ms) {
    enum { CONNECT_MS = 2000, PING_MS = 2000, PINGS_MAX = 3 };
    const char* servers[SERVER_NATS_SERVERS_MAX];
    for (uint32_t i = 0; i < address->server_count; i++)
        servers[i] = address->servers[i];
    if (natsOptions_Create(&self->options) != NATS_OK) return false;
    natsOptions* options = self->options;
    (void)natsOptions_SetName(options, "shoal");
    (void)natsOptions_SetTimeout(options, CONNECT_MS);
    (void)natsOptions_SetMaxReconnect(options, -1);
    (void)natsOptions_SetCustomReconnectDelay(options, choose_delay, self);
    (void)natsOptions_SetPingInterval(options, PING_MS);
    (void)natsOptions_SetMaxPingsOut(options, PINGS_MAX);
    (void)natsOptions_SetSendAsap(options, true);
    (void)natsOptions_SetNoEcho(options, true); // of its own reports
    (void)natsOptions_SetWriteDeadline(options, write_ms);
    (void)natsOptions_SetErrorHandler(options, ignore_error, self);
    (void)natsOptions_SetDisconnectedCB(options, note_down, self);
    (void)natsOptions_SetClosedCB(options, note_closed, self);
    (void)natsOptions_SetReconnectedCB(options, note_up, self);
    return natsOptions_SetServers(options, servers, (int)address->server_count) == NATS_OK &&
           natsOptions_UseGlobalMessageDelivery(options, true) == NATS_OK &&
           (!address->is_secure || natsOptions_SetSecure(options, true) == NATS_OK) &&
           (!address->ca[0] ||
            natsOptions_LoadCATrustedCertificates(options, address->ca) == NATS_OK) &&
           (!address->credentials[0] || natsOptions_SetUserCredentialsFromFiles(
                                            options, address->credentials, NULL) == NATS_OK);
}

static void destroy(server_connection* self) {
    natsOptions_Destroy(self->options);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->mutex);
    base_release(NULL, self, sizeof *self);
}

server_connection* server_connection_create(const server_nats_address* address, int64_t write_ms,
                                            void (*wake)(void* context), void* context) {
    pthread_t thread;
    server_connection* self = base_allocate_zero(NULL, sizeof *self);
    self->has_one_server = address->server_count == 1;
    self->wake = wake;
    self->context = context;
    pthread_mutex_init(&self->mutex, NULL);
    net_condition_init(&self->changed);
    self->users = 1; // the thread
    if (make_options(self, address, write_ms) &&
        net_thread_start(&thread, run_connection, self) == 0) {
        (void)pthread_detach(thread); // it may wait for a broker when all is closed
        return self;
    }
    destroy(self);
    return NULL;
}

bool server_connection_close(server_connection* self) {
    enum { LEAVE_US = 3000000 };
    if (!self) return true;
    pthread_mutex_lock(&self->mutex);
    self->is_closing = true;
    pthread_cond_broadcast(&self->changed);
    const uint64_t until_us = net_loop_now_us() + LEAVE_US;
    while (self->users > 0 && wait_for_change(self, until_us))
        ;
    const bool has_left = self->users == 0;
    pthread_mutex_unlock(&self->mutex);
    if (has_left) destroy(self);
    return has_left;
}
