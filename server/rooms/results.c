// SPDX-License-Identifier: MIT
// The file has all results, and is the queue of what is not posted yet: a host that dies loses none
// of them. One may be posted twice, with the same key.
#include "store.h"
#include "tell.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "fleet/backoff.h"
#include "net/socket.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 8192u
#define POST_MS 5000L
#define REST_US UINT64_C(3600000000)
#define LINE_BEGIN "{\"match\":\"" // then its id

typedef struct results {
    base_owner owner;
    const base_reporter* reporter;
    const char* url; // NULL: nothing is posted
    CURL* easy;
    int file, sent_file;
    uint64_t size, sent; // bytes of the file; that are posted
    server_backoff backoff;
    uint64_t retry_us;
} results;

// A host that died may have left a part of a line.
static uint64_t find_end(int file) {
    struct stat state;
    char text[LINE_BYTES];
    if (fstat(file, &state) != 0) return 0;
    const off_t from = state.st_size > (off_t)sizeof text ? state.st_size - (off_t)sizeof text : 0;
    ssize_t size = pread(file, text, sizeof text, from);
    while (size > 0 && text[size - 1] != '\n')
        size--;
    return (uint64_t)from + (uint64_t)(size > 0 ? size : 0);
}

// All lines of one that was cut meanwhile are posted: which of them were is not known.
static void results_look(results* self) {
    struct stat state;
    if (fstat(self->file, &state) != 0 || (uint64_t)state.st_size >= self->size) return;
    self->size = find_end(self->file);
    self->sent = 0;
    (void)!pwrite(self->sent_file, &self->sent, sizeof self->sent, 0);
}

static void results_run(void* context, server_store_order* order) {
    results* self = context;
    char text[SERVER_TELL_TEXT_BYTES(SERVER_RECORD_BYTES_MAX)];
    base_bytes line;
    base_bytes_init(&line, NULL);
    base_json_write(&line, "{match=%s game=%s tick=%ju time=%ju result=%s}", order->record.writer,
                    order->record.game, order->number, (uint64_t)time(NULL),
                    sodium_bin2base64(text, sizeof text, order->record.bytes, order->record.size,
                                      SERVER_TELL_BASE64));
    base_bytes_write_u8(&line, '\n');
    BASE_ASSERT(line.size <= LINE_BYTES);
    results_look(self);
    const bool is_kept =
        pwrite(self->file, line.data, line.size, (off_t)self->size) == (ssize_t)line.size &&
        fdatasync(self->file) == 0;
    order->end = is_kept ? SERVER_STORE_DONE : SERVER_STORE_AWAY;
    if (is_kept)
        self->size += line.size; // what was written in part is written over by the next one
    else
        (void)base_text_copy(order->why, sizeof order->why, base_error_text(errno));
    base_bytes_deinit(&line);
}

static size_t ignore_answer(char* data, size_t one, size_t size, void* context) {
    (void)data, (void)context;
    return one * size;
}

// The processes of matches must not inherit it.
static curl_socket_t open_socket(void* context, curlsocktype purpose, struct curl_sockaddr* at) {
    (void)context, (void)purpose;
    return socket(at->family, at->socktype | SOCK_CLOEXEC, at->protocol);
}

// @return the status; 0: no answer.
static long results_post(const results* self, const char* line, size_t size) {
    char key[64];
    long status = 0;
    (void)base_text_format(key, sizeof key, "Idempotency-Key: %.*s", (int)SERVER_ROOM_ID_BYTES - 1,
                           line + sizeof LINE_BEGIN - 1);
    struct curl_slist* headers = curl_slist_append(NULL, "Content-Type: application/json");
    headers = curl_slist_append(headers, key);
    curl_easy_reset(self->easy); // connections stay
    curl_easy_setopt(self->easy, CURLOPT_URL, self->url);
    curl_easy_setopt(self->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(self->easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(self->easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(self->easy, CURLOPT_TIMEOUT_MS, POST_MS);
    curl_easy_setopt(self->easy, CURLOPT_WRITEFUNCTION, ignore_answer);
    curl_easy_setopt(self->easy, CURLOPT_POSTFIELDS, line);
    curl_easy_setopt(self->easy, CURLOPT_POSTFIELDSIZE, (long)size);
    if (curl_easy_perform(self->easy) == CURLE_OK)
        (void)curl_easy_getinfo(self->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    return status;
}

static uint64_t results_rest(void* context, uint64_t now_us) {
    results* self = context;
    char line[LINE_BYTES];
    results_look(self);
    if (!self->url || self->sent >= self->size) return now_us + REST_US;
    if (now_us < self->retry_us) return self->retry_us;
    const ssize_t size = pread(self->file, line, sizeof line, (off_t)self->sent);
    const char* end = size > 0 ? memchr(line, '\n', (size_t)size) : NULL;
    if (!end) return now_us + REST_US; // it cannot be read
    const long status = results_post(self, line, (size_t)(end - line));
    now_us = net_loop_now_us();
    if (status >= 200 && status < 300) {
        self->sent += (uint64_t)(end - line) + 1;
        (void)!pwrite(self->sent_file, &self->sent, sizeof self->sent, 0);
        server_backoff_up(&self->backoff, now_us);
        return now_us;
    }
    if (self->backoff.failures == 0)
        base_report(self->reporter, NULL, 0,
                    "warning: %s does not accept a result (status %ld): it is posted again",
                    self->url, status);
    self->retry_us = now_us + 1000 * server_backoff_failed(&self->backoff, now_us, 0);
    return self->retry_us;
}

static void results_close(void* context) {
    results* self = context;
    curl_easy_cleanup(self->easy);
    close(self->file);
    close(self->sent_file);
    base_owner_destroy(self);
}

server_store* server_results_open(const char* folder, const char* url,
                                  const base_reporter* reporter) {
    static const server_store_work work = {results_run, results_rest, results_close};
    char path[1024];
    results* self = base_owner_create(NULL, sizeof *self);
    self->reporter = reporter;
    self->url = url;
    self->easy = url ? curl_easy_init() : NULL;
    (void)base_text_format(path, sizeof path, "%s/results.jsonl", folder);
    self->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    (void)base_text_format(path, sizeof path, "%s/results.sent", folder);
    self->sent_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    self->size = self->file >= 0 ? find_end(self->file) : 0;
    if (pread(self->sent_file, &self->sent, sizeof self->sent, 0) != sizeof self->sent ||
        self->sent > self->size)
        self->sent = 0;
    return server_store_begin(&work, self);
}
