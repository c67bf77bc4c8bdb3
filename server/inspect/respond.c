// SPDX-License-Identifier: MIT
// A response, with the headers that each one has: the page loads nothing from elsewhere, is shown
// in no frame, and is kept nowhere.
#include "http.h"

#include "base/assert.h"
#include "base/text.h"
#include "net/socket.h"

#include <string.h>

void http_limit(http_visit* visit, uint32_t times) {
    visit->until_us = net_loop_now_us() + times * visit->idle_us;
}

bool http_add_headers(struct MHD_Response* response, const char* type) {
    static const char* const headers[][2] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
         "style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; "
         "form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    };
    bool is_whole = MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                            type ? type : "application/json") == MHD_YES;
    for (uint32_t i = 0; i < BASE_COUNT(headers); i++)
        is_whole =
            is_whole && MHD_add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
    return is_whole;
}

enum MHD_Result http_respond(http_visit* visit, int status, const char* type,
                             struct MHD_Response* response) {
    if (!response) return MHD_NO;
    enum MHD_Result result = MHD_NO;
    bool is_whole = http_add_headers(response, type);
    if (status == 401)
        is_whole = is_whole && MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    if (is_whole) result = MHD_queue_response(visit->connection, (unsigned)status, response);
    MHD_destroy_response(response);
    BASE_ASSERT(status >= 100 && status < 600);
    if (result == MHD_YES) visit->inspect->responses[status / 100]++;
    return result;
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
