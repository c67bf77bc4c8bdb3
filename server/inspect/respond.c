// SPDX-License-Identifier: MIT
// A response, with the headers that each one has: the page loads nothing from elsewhere and is
// shown in no frame. What is of a match is kept nowhere; files of the page and the game are, and
// are asked for again by their tag.
#include "http.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/socket.h"

#include <string.h>

void http_limit(http_visit* visit, uint32_t times) {
    visit->until_us = net_loop_now_us() + times * visit->idle_us;
}

static bool add_header(struct MHD_Response* response, const char* name, const char* value) {
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

// `pages`: where the answer, a page, may open sockets, beside its own server.
static bool add_headers(struct MHD_Response* response, const char* type, const char* cache,
                        const base_option_list* pages) {
    char policy[512 + NET_STANDBYS_MAX * SERVER_HOST_BYTES_MAX] =
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
        "style-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; connect-src 'self'";
    for (uint32_t i = 0; pages && i < pages->count; i++) {
        const char* page = pages->values[i] + strlen("http");
        const size_t size = server_gate_origin(pages->values[i]) - strlen("http");
        (void)base_text_format(policy + strlen(policy), sizeof policy - strlen(policy), " ws%.*s",
                               (int)size, page);
    }
    const char* const headers[][2] = {
        {"Content-Security-Policy", policy},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
    };
    bool is_whole =
        add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type ? type : "application/json") &&
        add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, cache);
    for (uint32_t i = 0; i < BASE_COUNT(headers); i++)
        is_whole = is_whole && add_header(response, headers[i][0], headers[i][1]);
    return is_whole;
}

bool http_add_headers(struct MHD_Response* response, const char* type) {
    return add_headers(response, type, "no-store", NULL);
}

// Queue and release it. `is_whole`: it has its headers.
static enum MHD_Result queue(http_visit* visit, int status, struct MHD_Response* response,
                             bool is_whole) {
    enum MHD_Result result = MHD_NO;
    if (is_whole) result = MHD_queue_response(visit->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    BASE_ASSERT(status >= 100 && status < 600);
    if (result == MHD_YES) visit->inspect->responses[status / 100]++;
    return result;
}

enum MHD_Result http_respond(http_visit* visit, int status, const char* type,
                             struct MHD_Response* response) {
    if (!response) return MHD_NO;
    const base_option_list* pages = &visit->inspect->config.pages;
    const bool is_play = strcmp(visit->path, SERVER_PLAY_PATH) == 0;
    bool is_whole = add_headers(response, type, "no-store", is_play ? pages : NULL);
    // What comes after it may be the rest of what another reads as its body.
    if (visit->is_malformed) is_whole = is_whole && add_header(response, "Connection", "close");
    if (status == 401) is_whole = is_whole && add_header(response, "WWW-Authenticate", "Bearer");
    return queue(visit, status, response, is_whole);
}

bool http_takes_gzip(const http_visit* visit) {
    static const char word[] = "gzip";
    const char* text = MHD_lookup_connection_value(visit->connection, MHD_HEADER_KIND,
                                                   MHD_HTTP_HEADER_ACCEPT_ENCODING);
    const char* at = text ? strstr(text, word) : NULL;
    return at && strncmp(at + sizeof word - 1, ";q=0", 4) != 0;
}

enum MHD_Result http_respond_kept(http_visit* visit, const char* type, const char* tag,
                                  bool is_packed, struct MHD_Response* response) {
    const char* text = MHD_lookup_connection_value(visit->connection, MHD_HEADER_KIND,
                                                   MHD_HTTP_HEADER_IF_NONE_MATCH);
    const bool is_known = text && strstr(text, tag) != NULL;
    if (is_known && response) {
        MHD_destroy_response(response);
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    }
    if (!response) return MHD_NO;
    const bool is_whole =
        add_headers(response, type, "no-cache", NULL) &&
        add_header(response, MHD_HTTP_HEADER_ETAG, tag) &&
        add_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING) &&
        (!is_packed || is_known || add_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip"));
    return queue(visit, is_known ? 304 : 200, response, is_whole);
}

enum MHD_Result http_send(http_visit* visit, int status, const char* type, const void* bytes,
                          size_t size) {
    // MHD takes a plain pointer and does not write to it.
    return http_respond(
        visit, status, type,
        MHD_create_response_from_buffer(size, (void*)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY));
}

enum MHD_Result http_send_error(http_visit* visit, int status, const char* error) {
    char text[256];
    (void)base_text_format(text, sizeof text, "{\"error\":\"%s\"}", error);
    return http_send(visit, status, NULL, text, strlen(text));
}

server_inspect_counts server_inspect_get_counts(const server_inspect* self) {
    server_inspect_counts counts = {.connections = self->visit_count,
                                    .frames_lost = self->frames_lost,
                                    .lacks = self->lacks,
                                    .cuts = server_orders_cuts(self->orders)};
    for (uint32_t i = 0; i < BASE_COUNT(counts.responses); i++)
        counts.responses[i] = self->responses[i];
    return counts;
}
