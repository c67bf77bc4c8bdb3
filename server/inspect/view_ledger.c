// SPDX-License-Identifier: MIT
// Where the sent bits go, and one packet taken apart.
#include "view.h"

#include "net/explain.h"

#include <inttypes.h>
#include <string.h>

enum { LEDGER_LINES_MAX = 256 };

// ---- the ledger ----

static const char* const ways[NET_LEDGER_BY_COUNT] = {
    [NET_LEDGER_BOTH] = "both",     [NET_LEDGER_COMPONENT] = "component",
    [NET_LEDGER_CAUSE] = "cause",   [NET_LEDGER_TEMPLATE] = "template",
    [NET_LEDGER_CLIENT] = "client", [NET_LEDGER_ENTITY] = "entity",
};

typedef struct ledger_lines {
    uint32_t count;
    net_ledger_line lines[LEDGER_LINES_MAX];
} ledger_lines;

static void keep_line(void* context, const net_ledger_line* line) {
    ledger_lines* self = context;
    if (self->count < LEDGER_LINES_MAX) self->lines[self->count++] = *line;
}

static void put_ledger(base_bytes* json, net_ledger_by by, const ledger_lines* found,
                       const net_ledger_span* span) {
    base_json_write(json, "{by=%s seconds=%u bits='%ju' history_bits=[", ways[by], span->seconds,
                    span->bits);
    for (uint32_t i = 0; i < NET_LEDGER_SECONDS; i++)
        base_json_write(json, "'%ju'", span->second_bits[i]);
    base_json_write(json, "] lines=[");
    for (uint32_t i = 0; i < found->count; i++) {
        const net_ledger_line* line = &found->lines[i];
        base_json_write(json, "{");
        if (by == NET_LEDGER_CLIENT && line->client)
            base_json_write(json, "name='%ju' player=%s", (uintmax_t)line->client, line->name);
        else if (by == NET_LEDGER_ENTITY && line->entity != ECS_ENTITY_NONE)
            base_json_write(json, "name=%s template=%s", VIEW_ENTITY(line->entity), line->name);
        else
            base_json_write(json, "name=%s", line->name);
        if (line->cause) base_json_write(json, "cause=%s", line->cause);
        base_json_write(json, "bits='%ju' bytes_s=%f share=%a}", line->bits,
                        span->seconds ? (double)line->bits / 8.0 / span->seconds : 0.0,
                        line->share);
    }
    base_json_write(json, "] cut=%i}", span->is_cut);
}

static bool find_way(const server_request* request, net_ledger_by* by) {
    const char* text = server_request_find(request, "by");
    *by = NET_LEDGER_COMPONENT;
    if (!text) return true;
    for (uint32_t i = 0; i < NET_LEDGER_BY_COUNT; i++) {
        if (strcmp(ways[i], text) != 0) continue;
        *by = (net_ledger_by)i;
        return true;
    }
    return server_refuse(
        request, 400, "'by' is component, template, cause, client, entity or both, not '%s'", text);
}

static void run_ledger(server_subject* subject, const server_request* request) {
    ledger_lines found = {.count = 0};
    net_ledger_by by;
    net_ledger_span span;
    if (!find_way(request, &by) ||
        (by != NET_LEDGER_CAUSE && by != NET_LEDGER_CLIENT && !view_may_look(subject, request)))
        return;
    net_server_ledger(subject->server, by, LEDGER_LINES_MAX, keep_line, &found, &span);
    put_ledger(request->answer->json, by, &found, &span);
}

// ---- a packet ----

static void run_packet(server_subject* subject, const server_request* request) {
    uint64_t client = 0;
    if (!server_request_number(request, "client", 1, UINT32_MAX, &client)) return;
    const net_packet* packet = net_server_packet(subject->server, (uint32_t)client);
    if (!packet) {
        server_refuse(request, 404,
                      "no packet was sent to client %" PRIu64 " since it is asked for: ask again",
                      client);
        return;
    }
    base_bytes* json = request->answer->json;
    base_json_write(json, "{client=%u seq=%u tick='%ju' bits=%u is_solo=%i parts=[", packet->client,
                    packet->seq, packet->tick, packet->bits, packet->is_solo);
    for (uint32_t i = 0; i < packet->part_count; i++) {
        const net_packet_part* part = &packet->parts[i];
        base_json_write(
            json, "{offset=%u bits=%u depth=%u name=%s cause=%s entity=%s component=%s value=%s}",
            part->first_bit, part->bits, part->depth, part->what, part->cause,
            part->entity == ECS_ENTITY_NONE ? "" : VIEW_ENTITY(part->entity), part->component,
            part->value);
    }
    base_json_write(json, "]}");
}

static const server_verb verbs[] = {
    {"ledger", "[by]", "where the bits of the last seconds went", SERVER_READER, false, 0,
     run_ledger},
    {"packet", "client", "the newest packet to a client, bit by bit", SERVER_OPERATOR, false, 0,
     run_packet},
};
const server_verb_set server_ledger_verbs = {verbs, BASE_COUNT(verbs)};
