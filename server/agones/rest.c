// SPDX-License-Identifier: MIT
// libcurl's multi interface: sockets that never block, moved once in each pass of the loop.
//
// The SDK server is a process beside ours, so proxies, redirects, names and TLS are out: a request
// goes to localhost or nowhere. Bodies of answers are dropped, but for the watch, whose bytes are
// kept from one poll until they are taken; one that sends more than SERVER_WATCH_LINE_BYTES_MAX in
// a poll is cut off.
#include "rest.h"
#include "watch.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/text.h"

#include <curl/curl.h>
#include <sys/socket.h>

typedef struct request {
    CURL* easy;
    char url[96];
    char body[SERVER_REST_BODY_BYTES];
    bool is_running;
} request;

typedef struct rest {
    base_owner owner;
    CURLM* multi;
    struct curl_slist* headers;
    request requests[SERVER_REST_SLOTS];
    base_bytes watched;
    bool is_taken; ///< `watched` was given out
    uint16_t port;
} rest;

static size_t drop(char* data, size_t one, size_t size, void* context) {
    (void)data, (void)context;
    return one * size;
}

static size_t keep(char* data, size_t one, size_t size, void* context) {
    rest* self = context;
    const size_t bytes = one * size;
    if (self->watched.size + bytes > SERVER_WATCH_LINE_BYTES_MAX) return 0; // ends the request
    base_bytes_write(&self->watched, data, bytes);
    return bytes;
}

// What a program runs when a segment of the log is closed must not inherit it.
static curl_socket_t open_socket(void* context, curlsocktype purpose, struct curl_sockaddr* at) {
    (void)context, (void)purpose;
    return socket(at->family, at->socktype | SOCK_CLOEXEC, at->protocol);
}

static void set_up(rest* self, server_rest_slot slot) {
    CURL* easy = self->requests[slot].easy;
    const bool is_watch = slot == SERVER_REST_WATCH;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &self->requests[slot]);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, self->headers);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)SERVER_REST_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, is_watch ? 0L : (long)SERVER_REST_TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, is_watch ? keep : drop);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, self);
}

static void begin_transfer(void* context, server_rest_slot slot, const char* method,
                           const char* path, const char* body) {
    rest* self = context;
    request* it = &self->requests[slot];
    BASE_ASSERT(slot < SERVER_REST_SLOTS && !it->is_running);
    const bool fits =
        base_text_format(it->url, sizeof it->url, "http://localhost:%u%s", self->port, path) &&
        base_text_copy(it->body, sizeof it->body, body ? body : "");
    BASE_ASSERT(fits);
    curl_easy_setopt(it->easy, CURLOPT_URL, it->url);
    if (body) {
        curl_easy_setopt(it->easy, CURLOPT_POSTFIELDS, it->body);
        curl_easy_setopt(it->easy, CURLOPT_CUSTOMREQUEST, method);
    }
    it->is_running = curl_multi_add_handle(self->multi, it->easy) == CURLM_OK;
    BASE_ASSERT(it->is_running);
}

static void cancel(void* context, server_rest_slot slot) {
    rest* self = context;
    request* it = &self->requests[slot];
    if (slot == SERVER_REST_WATCH) base_bytes_clear(&self->watched);
    if (!it->is_running) return;
    it->is_running = false;
    (void)curl_multi_remove_handle(self->multi, it->easy);
}

static void poll(void* context) {
    rest* self = context;
    int running;
    if (self->is_taken) base_bytes_clear(&self->watched);
    self->is_taken = false;
    (void)curl_multi_perform(self->multi, &running);
}

static bool next(void* context, server_rest_event* event) {
    rest* self = context;
    *event = (server_rest_event){.slot = SERVER_REST_WATCH};
    if (self->watched.size > 0 && !self->is_taken) {
        self->is_taken = true;
        event->data = (const char*)self->watched.data;
        event->size = self->watched.size;
        return true;
    }
    int left;
    CURLMsg* message;
    while ((message = curl_multi_info_read(self->multi, &left))) {
        char* private = NULL;
        long status = 0;
        if (message->msg != CURLMSG_DONE) continue;
        CURL* easy = message->easy_handle;
        const bool has_answer = message->data.result == CURLE_OK;
        event->is_unsent = message->data.result == CURLE_COULDNT_CONNECT;
        (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
        if (has_answer) (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        request* it = (request*)(void*)private;
        event->slot = (server_rest_slot)(it - self->requests);
        event->status = (uint32_t)status;
        (void)curl_multi_remove_handle(self->multi, easy); // `message` ends here
        it->is_running = false;
        return true;
    }
    return false;
}

static void destroy(void* context) {
    rest* self = context;
    for (uint32_t i = 0; i < SERVER_REST_SLOTS; i++) {
        cancel(self, (server_rest_slot)i);
        curl_easy_cleanup(self->requests[i].easy);
    }
    curl_multi_cleanup(self->multi);
    curl_slist_free_all(self->headers);
    base_owner_destroy(self);
    curl_global_cleanup();
}

bool server_rest_open(uint16_t port, server_rest* ops) {
    if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK) return false;
    rest* self = base_owner_create(NULL, sizeof *self);
    *ops = (server_rest){self, begin_transfer, cancel, poll, next, destroy};
    self->port = port;
    self->multi = curl_multi_init();
    self->headers = curl_slist_append(NULL, "Content-Type: application/json");
    base_bytes_init(&self->watched, &self->owner.allocator);
    bool is_whole = self->multi && self->headers;
    for (uint32_t i = 0; i < SERVER_REST_SLOTS; i++) {
        self->requests[i].easy = curl_easy_init();
        is_whole &= self->requests[i].easy != NULL;
        if (self->requests[i].easy) set_up(self, (server_rest_slot)i);
    }
    if (!is_whole) destroy(self);
    return is_whole;
}
