// SPDX-License-Identifier: MIT
// The table of verbs, and the way from a request to its answer.
//
// The rows stand where their functions stand: each file has a set, and this one lists the sets.
// What a request may hold is checked here once, by the verb's row, so that a verb finds only
// arguments that it has named.
#include "verbs.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

static const server_verb_set* const sets[] = {
    &server_metrics_verbs, &server_status_verbs, &server_client_verbs, &server_schema_verbs,
    &server_query_verbs,   &server_ledger_verbs, &server_stream_verbs, &server_steer_verbs,
};

uint32_t server_verb_count(void) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < BASE_COUNT(sets); i++)
        count += sets[i]->count;
    return count;
}

const server_verb* server_verb_at(uint32_t index) {
    for (uint32_t i = 0; i < BASE_COUNT(sets); i++) {
        if (index < sets[i]->count) return &sets[i]->verbs[index];
        index -= sets[i]->count;
    }
    BASE_ASSERT(false && "index");
    return NULL;
}

const server_verb* server_verb_find(const char* name) {
    for (uint32_t i = 0; i < server_verb_count(); i++)
        if (strcmp(server_verb_at(i)->name, name) == 0) return server_verb_at(i);
    return NULL;
}

// ---- arguments ----

/// One name of a verb's line of arguments.
typedef struct parameter {
    char name[SERVER_ARGUMENT_NAME_BYTES];
    bool is_optional, takes_rest;
} parameter;

// Read the parameter at *line and move past it. @return false at the end.
static bool next_parameter(const char** line, parameter* found) {
    *line += strspn(*line, " ");
    size_t size = strcspn(*line, " ");
    if (size == 0) return false;
    const char* name = *line;
    *line += size;
    *found = (parameter){.is_optional = name[0] == '['};
    if (found->is_optional) {
        BASE_ASSERT(size > 2 && name[size - 1] == ']');
        name++;
        size -= 2;
    }
    found->takes_rest = size > 3 && memcmp(name + size - 3, "...", 3) == 0;
    if (found->takes_rest) size -= 3;
    BASE_ASSERT(size > 0 && size < sizeof found->name);
    memcpy(found->name, name, size);
    return true;
}

static bool has_parameter(const server_verb* verb, const char* name) {
    const char* line = verb->arguments;
    parameter it;
    while (next_parameter(&line, &it))
        if (strcmp(it.name, name) == 0) return true;
    return false;
}

static bool refuse_argument(const server_verb* verb, const char* name,
                            const server_request* request) {
    return server_refuse(request, 400, "%s has no argument '%s'%s%s", verb->name, name,
                         verb->arguments[0] ? "; it takes " : "", verb->arguments);
}

static bool check_arguments(const server_verb* verb, const server_request* request) {
    for (uint32_t i = 0; i < request->argument_count; i++) {
        if (!has_parameter(verb, request->names[i]))
            return refuse_argument(verb, request->names[i], request);
        if (server_request_find(request, request->names[i]) == request->values[i]) continue;
        return server_refuse(request, 400, "'%s' is given twice", request->names[i]);
    }
    const char* line = verb->arguments;
    parameter it;
    while (next_parameter(&line, &it)) {
        if (it.is_optional || server_request_find(request, it.name)) continue;
        return server_refuse(request, 400, "'%s' is missing; %s takes %s", it.name, verb->name,
                             verb->arguments);
    }
    return true;
}

// ---- from a line, to an answer ----

static bool refuse_verb(const char* name, const server_request* request) {
    base_nearest nearest = base_nearest_begin(name);
    char hint[BASE_HINT_BYTES];
    for (uint32_t i = 0; i < server_verb_count(); i++)
        base_nearest_offer(&nearest, server_verb_at(i)->name);
    return server_refuse(request, 404, "there is no '%s'%s", name,
                         base_nearest_hint(&nearest, hint));
}

bool server_request_read(server_request* request, char* line) {
    line += strspn(line, " \t");
    char* rest = line + strcspn(line, " \t");
    if (*rest) *rest++ = 0;
    const server_verb* verb = server_verb_find(line);
    request->verb = line;
    request->argument_count = 0;
    if (!verb) return refuse_verb(line, request);
    const char* parameters = verb->arguments;
    parameter it;
    for (;;) {
        rest += strspn(rest, " \t");
        if (!*rest) return true;
        if (!next_parameter(&parameters, &it)) return refuse_argument(verb, rest, request);
        char* value = rest;
        rest += it.takes_rest ? strlen(rest) : strcspn(rest, " \t");
        if (*rest) *rest++ = 0;
        const uint32_t at = request->argument_count++;
        BASE_ASSERT(at < SERVER_ARGUMENTS_MAX);
        memcpy(request->given[at], it.name, sizeof it.name);
        request->names[at] = request->given[at];
        request->values[at] = value;
    }
}

// The rate of a stream: the argument "hz", or the verb's own.
static uint32_t rate_of(const server_verb* verb, const server_request* request) {
    const char* text = verb->stream_hz > 0 ? server_request_find(request, "hz") : NULL;
    uint64_t hz;
    if (!text || !base_text_parse_u64(text, &hz) || hz == 0) return verb->stream_hz;
    return hz < SERVER_STREAM_HZ_MAX ? (uint32_t)hz : SERVER_STREAM_HZ_MAX;
}

// Each order that did something is a line on stderr.
static void note(const server_subject* subject, const server_request* request) {
    char text[BASE_REPORT_BYTES_MAX] = "";
    size_t size = 0;
    for (uint32_t i = 0; i < request->argument_count && size < sizeof text; i++) {
        const bool is_secret = strcmp(request->names[i], "token") == 0;
        (void)base_text_format(text + size, sizeof text - size, " %s",
                               is_secret ? "TOKEN" : request->values[i]);
        size += strlen(text + size);
    }
    base_report(subject->reporter, NULL, 0, "note: operator: %s%s", request->verb, text);
}

void server_verb_run(server_subject* subject, const server_request* request) {
    BASE_ASSERT(subject && request->argument_count <= SERVER_ARGUMENTS_MAX);
    const server_verb* verb = server_verb_find(request->verb);
    server_answer_begin(request->answer, 200);
    if (!verb) {
        refuse_verb(request->verb, request);
    } else if (verb->right > request->right) {
        server_refuse(request, 403, "%s is for operators", verb->name);
    } else if (verb->is_change && request->is_question) {
        server_refuse(request, 405, "%s changes something: POST it", verb->name);
    } else if (check_arguments(verb, request)) {
        if (request->is_question) request->answer->stream_hz = rate_of(verb, request);
        verb->run(subject, request);
        if (verb->is_change && request->answer->status == 200) note(subject, request);
    }
}
