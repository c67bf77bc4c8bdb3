// SPDX-License-Identifier: MIT
// Queries of the inspector. An input is the text.
//
// Invariants: a fault names a column of the text; what was read, written again, reads the same.
#include "fuzz.h"

#include "inspect/query.h"

#include <math.h>

static size_t put_condition(const server_query_condition* it, char* text, size_t size) {
    static const char* const orders[] = {"<", "<=", ">", ">=", "=", "!="};
    size_t at = (size_t)snprintf(text, size, "%s%s", it->name, orders[it->order]);
    switch (it->kind) {
    case SERVER_QUERY_NUMBER:
        return at + (size_t)snprintf(text + at, size - at, "%.21Lg", it->number);
    case SERVER_QUERY_BOOL:
        return at +
               (size_t)snprintf(text + at, size - at, "%s", it->number != 0 ? "true" : "false");
    case SERVER_QUERY_ENTITY:
        if (it->entity == ECS_ENTITY_NONE)
            return at + (size_t)snprintf(text + at, size - at, "none");
        return at + (size_t)snprintf(text + at, size - at, "%u:%u", ecs_entity_index(it->entity),
                                     ecs_entity_generation(it->entity));
    case SERVER_QUERY_TEXT:
        break;
    }
    text[at++] = '"';
    for (const char* from = it->text; *from; from++) {
        if (*from == '"' || *from == '\\') text[at++] = '\\';
        text[at++] = *from;
    }
    text[at++] = '"';
    return at;
}

static void put_query(const server_query* query, char* text, size_t size) {
    static const char* const uses[] = {"", "?", "!", "template="};
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < query->term_count; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s%s", i ? "," : "",
                               uses[query->terms[i].use], query->terms[i].name);
    for (uint32_t i = 0; i < query->condition_count; i++) {
        at += (size_t)snprintf(text + at, size - at, i ? " and " : " where ");
        at += put_condition(&query->conditions[i], text + at, size - at);
        text[at] = '\0';
    }
}

static void check_same(const server_query* a, const server_query* b) {
    FUZZ_CHECK(a->term_count == b->term_count && a->condition_count == b->condition_count);
    for (uint32_t i = 0; i < a->term_count; i++)
        FUZZ_CHECK(a->terms[i].use == b->terms[i].use &&
                   strcmp(a->terms[i].name, b->terms[i].name) == 0);
    for (uint32_t i = 0; i < a->condition_count; i++) {
        const server_query_condition *x = &a->conditions[i], *y = &b->conditions[i];
        FUZZ_CHECK(strcmp(x->name, y->name) == 0 && x->order == y->order && x->kind == y->kind &&
                   x->number == y->number && x->entity == y->entity &&
                   strcmp(x->text, y->text) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    char text[SERVER_QUERY_BYTES_MAX + 2], again[8 * SERVER_QUERY_BYTES_MAX];
    char fault[SERVER_QUERY_FAULT_BYTES] = "";
    server_query query, read;
    if (size >= sizeof text) size = sizeof text - 1;
    memcpy(text, data, size);
    text[size] = '\0';
    unsigned column = 0;
    if (!server_query_parse(text, &query, fault)) {
        FUZZ_CHECK(sscanf(fault, "column %u:", &column) == 1);
        FUZZ_CHECK(column >= 1 && column <= strlen(text) + 1);
        return 0;
    }
    FUZZ_CHECK(query.term_count <= SERVER_QUERY_TERMS_MAX);
    FUZZ_CHECK(query.condition_count <= SERVER_QUERY_CONDITIONS_MAX);
    for (uint32_t i = 0; i < query.condition_count; i++)
        if (!isfinite((double)query.conditions[i].number)) return 0;
    put_query(&query, again, sizeof again);
    if (strlen(again) > SERVER_QUERY_BYTES_MAX) return 0; // escapes and digits made it longer
    FUZZ_CHECK(server_query_parse(again, &read, fault));
    check_same(&query, &read);
    return 0;
}
