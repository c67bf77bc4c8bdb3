// SPDX-License-Identifier: MIT
// A trace lists the rows that clients say they applied. It is read whole and sorted by tick and
// entity, so that one replay proves all of it: the rows of each tick are compared with the server's
// world. A client may not see all components, and a log does not contain the interest rules, so any
// set of hidden classes is right. In the order of the file, ticks must not fall per client and
// entity.
#include "base/text.h"

#include "base/assert.h"
#include "log/log_read.h"
#include "net/replay.h"
#include "net/world_digest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_BYTES_MAX = 256 };
#define TRACE_ROWS_MAX (1u << 24)

typedef struct trace_row {
    uint64_t tick;
    uint64_t hash;
    uint32_t client;
    ecs_entity entity;
    uint32_t line;
} trace_row;

typedef struct trace {
    const base_allocator* allocator;
    const char* file;
    const base_reporter* reporter;
    trace_row* rows;
    uint32_t count, capacity;
    uint32_t at;  // next row to prove
    uint32_t bad; // line that does not hold; 0 for none
} trace;

// Read "NAME=" at *text. false when it is not there.
static bool take_key(const char** text, const char* name) {
    size_t size = strlen(name);
    while (**text == ' ')
        (*text)++;
    if (strncmp(*text, name, size) != 0 || (*text)[size] != '=') return false;
    *text += size + 1;
    return true;
}

static bool take_number(const char** text, int base, uint64_t* value) {
    char* end;
    bool is_digit =
        (**text >= '0' && **text <= '9') ||
        (base == 16 && ((**text >= 'a' && **text <= 'f') || (**text >= 'A' && **text <= 'F')));
    if (!is_digit) return false;
    errno = 0;
    unsigned long long number = strtoull(*text, &end, base);
    *value = number;
    *text = end;
    return errno == 0;
}

static bool read_row(const char* text, trace_row* row) {
    uint64_t client, index, generation;
    bool is_right = take_key(&text, "client") && take_number(&text, 10, &client) &&
                    take_key(&text, "entity") && take_number(&text, 10, &index) && *text++ == ':' &&
                    take_number(&text, 10, &generation) && take_key(&text, "tick") &&
                    take_number(&text, 10, &row->tick) && take_key(&text, "row") &&
                    take_number(&text, 16, &row->hash);
    if (!is_right || client > UINT32_MAX || index > ECS_INDEX_MAX) return false;
    if (generation > ECS_GENERATION_MAX) return false;
    row->client = (uint32_t)client;
    row->entity = ecs_entity_make((uint32_t)index, (uint32_t)generation);
    while (*text == ' ' || *text == '\r' || *text == '\n')
        text++;
    return *text == 0;
}

static net_result read_lines(trace* self, FILE* file) {
    char text[LINE_BYTES_MAX];
    for (uint32_t line = 1; fgets(text, sizeof text, file); line++) {
        if (text[0] == '\n' || text[0] == '#') continue;
        if (self->count == TRACE_ROWS_MAX) {
            base_report(self->reporter, self->file, line, "more than %u rows", TRACE_ROWS_MAX);
            return NET_ERR_MALFORMED;
        }
        if (!base_array_reserve(self->allocator, (void**)&self->rows, &self->capacity,
                                self->count + 1, sizeof *self->rows))
            return NET_ERR_MEMORY;
        trace_row* row = &self->rows[self->count++];
        *row = (trace_row){.line = line};
        if (!read_row(text, row)) {
            base_report(self->reporter, self->file, line,
                        "is not \"client=U entity=I:G tick=T row=HEX\"");
            return NET_ERR_MALFORMED;
        }
    }
    return ferror(file) ? NET_ERR_IO : NET_OK;
}

static net_result read_file(trace* self) {
    FILE* file = fopen(self->file, "re");
    if (!file) {
        base_report(self->reporter, self->file, 0, "cannot be opened: %s", strerror(errno));
        return NET_ERR_IO;
    }
    net_result result = read_lines(self, file);
    if (result == NET_ERR_IO) base_report(self->reporter, self->file, 0, "cannot be read");
    fclose(file);
    return result;
}

static int compare_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int compare_by_entity(const void* a, const void* b) {
    const trace_row* left = a;
    const trace_row* right = b;
    int order = compare_u64(left->client, right->client);
    if (order == 0) order = compare_u64(left->entity, right->entity);
    return order != 0 ? order : compare_u64(left->line, right->line);
}

static int compare_by_tick(const void* a, const void* b) {
    const trace_row* left = a;
    const trace_row* right = b;
    int order = compare_u64(left->tick, right->tick);
    if (order == 0) order = compare_u64(left->entity, right->entity);
    return order != 0 ? order : compare_u64(left->line, right->line);
}

static bool do_ticks_rise(trace* self) {
    if (self->count > 0) qsort(self->rows, self->count, sizeof *self->rows, compare_by_entity);
    for (uint32_t i = 1; i < self->count; i++) {
        const trace_row* before = &self->rows[i - 1];
        const trace_row* row = &self->rows[i];
        if (before->client != row->client || before->entity != row->entity) continue;
        if (row->tick >= before->tick) continue;
        base_report(self->reporter, self->file, row->line,
                    "client %u had entity %u:%u at tick %" PRIu64 " already, now at %" PRIu64,
                    row->client, ecs_entity_index(row->entity), ecs_entity_generation(row->entity),
                    before->tick, row->tick);
        return false;
    }
    if (self->count > 0) qsort(self->rows, self->count, sizeof *self->rows, compare_by_tick);
    return true;
}

static bool refuse_row(trace* self, const trace_row* row, const char* text) {
    base_report(self->reporter, self->file, row->line,
                "client %u, entity %u:%u, tick %" PRIu64 ": %s", row->client,
                ecs_entity_index(row->entity), ecs_entity_generation(row->entity), row->tick, text);
    self->bad = row->line;
    return false;
}

static bool prove_tick(void* context, net_match* match) {
    trace* self = context;
    ecs_tick tick = net_match_tick(match);
    for (; self->at < self->count && self->rows[self->at].tick <= tick; self->at++) {
        const trace_row* row = &self->rows[self->at];
        if (row->tick < tick) return refuse_row(self, row, "there is no such tick in the log");
        const net_schema* schema = net_match_schema(match);
        ecs_world* world = net_match_world(match);
        if (row->hash != 0 && net_world_digest_row_has_hash(schema, world, row->entity, row->hash))
            continue;
        bool is_there = net_world_digest_row_hash(schema, world, row->entity) != 0;
        return refuse_row(self, row,
                          is_there ? "the row differs from the server's"
                                   : "the server had no such entity");
    }
    return self->at < self->count;
}

net_result net_log_check_trace(net_log_reader* reader, const net_module* module,
                               const char* trace_file, const base_reporter* reporter,
                               uint64_t* rows_checked) {
    BASE_ASSERT(reader && module && trace_file && rows_checked);
    trace self = {
        .allocator = net_log_reader_allocator(reader), .file = trace_file, .reporter = reporter};
    *rows_checked = 0;
    net_result result = read_file(&self);
    if (result == NET_OK && !do_ticks_rise(&self)) result = NET_ERR_DIVERGED;
    net_verify_result verified;
    if (result == NET_OK && self.count > 0)
        result = net_log_verify(reader, module, 0, prove_tick, &self, reporter, &verified);
    if (result == NET_OK && self.bad == 0 && self.at < self.count)
        (void)refuse_row(&self, &self.rows[self.at], "there is no such tick in the log");
    if (result == NET_OK && self.bad != 0) result = NET_ERR_DIVERGED;
    *rows_checked = self.at;
    base_release(self.allocator, self.rows, self.capacity * sizeof *self.rows);
    return result;
}
