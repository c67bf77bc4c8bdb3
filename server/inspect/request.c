// SPDX-License-Identifier: MIT
// What verbs use of a request and of its answer.
#include "verbs.h"

#include "base/report.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

bool server_refuse(const server_request* request, int status, const char* format, ...) {
    char text[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)base_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    server_answer_begin(request->answer, status);
    base_json_write(request->answer->json, "{error=%s}", text);
    return false;
}

const char* server_request_find(const server_request* request, const char* name) {
    for (uint32_t i = 0; i < request->argument_count; i++)
        if (strcmp(request->names[i], name) == 0) return request->values[i];
    return NULL;
}

bool server_request_number(const server_request* request, const char* name, uint64_t min,
                           uint64_t max, uint64_t* value) {
    const char* text = server_request_find(request, name);
    uint64_t number;
    if (!text) return true;
    if (base_text_parse_u64(text, &number) && number >= min && number <= max) {
        *value = number;
        return true;
    }
    return server_refuse(request, 400,
                         "'%s' must be a number from %" PRIu64 " to %" PRIu64 ", not '%s'", name,
                         min, max, text);
}
