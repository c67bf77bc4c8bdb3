// SPDX-License-Identifier: MIT
// One request for each player and purpose. The newest record of a player counts: one that is asked
// for while another is on its way replaces it under a new number, and the host takes it because
// the match itself kept the one before.
#include "channel.h"
#include "tell.h"

#include "base/json.h"
#include "base/report.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define MS UINT64_C(1000)
#define S UINT64_C(1000000)

typedef enum request_kind { ASK, KEEP, MOVE, RESULT, REQUEST_KINDS } request_kind;
static const char* const words[REQUEST_KINDS] = {"ask", "keep", "transfer", "result"};

typedef struct request {
    request_kind kind;
    uint64_t number; // of a result: its tick
    uint32_t client;
    uint64_t player_id;
    uint64_t version;   // of the record that is kept, as far as it is known
    uint64_t since_us;  // it is needed, or was answered
    uint64_t due_us;    // sent then, again
    uint64_t wanted_us; // ASK: the join looked for it
    bool is_answered, is_warned;
    bool has_record;
    char to[NET_TRANSFER_TO_BYTES];
    uint32_t size, transfer_bytes;
    uint8_t bytes[NET_RECORD_BYTES_MAX], transfer[NET_TRANSFER_BYTES_MAX];
} request;
_Static_assert(NET_RESULT_BYTES_MAX <= NET_RECORD_BYTES_MAX &&
                   NET_TRANSFER_BYTES_MAX <= NET_RECORD_BYTES_MAX,
               "request.bytes");

struct server_channel {
    base_owner owner;
    server_channel_config config;
    uint64_t number;
    ecs_tick looked; // up to this tick
    bool has_looked;
    request** requests; // their addresses stay: joins borrow from them
    uint32_t count, capacity;
    server_channel_counters counters;
    base_bytes json;
};

server_channel* server_channel_create(const server_channel_config* config) {
    server_channel* self = base_owner_create(NULL, sizeof *self);
    self->config = *config;
    self->number = config->now_us;
    base_bytes_init(&self->json, &self->owner.allocator);
    return self;
}

void server_channel_destroy(server_channel* self) {
    base_owner_destroy(self);
}

server_channel_counters server_channel_count(const server_channel* self) {
    return self->counters;
}

// ---- requests

static request* find_request(const server_channel* self, request_kind kind, uint64_t number) {
    for (uint32_t i = 0; i < self->count; i++)
        if (self->requests[i]->kind == kind && self->requests[i]->number == number)
            return self->requests[i];
    return NULL;
}

static request* find_of_player(const server_channel* self, request_kind kind, uint64_t player_id) {
    for (uint32_t i = 0; i < self->count; i++)
        if (self->requests[i]->kind == kind && self->requests[i]->player_id == player_id)
            return self->requests[i];
    return NULL;
}

static request* add_request(server_channel* self, request_kind kind, uint64_t now_us) {
    request* added = base_allocate_zero(&self->owner.allocator, sizeof *added);
    added->kind = kind;
    added->number = ++self->number;
    added->since_us = now_us;
    BASE_ARRAY_RESERVE(&self->owner.allocator, self->requests, self->capacity, self->count + 1);
    self->requests[self->count++] = added;
    return added;
}

static void remove_request(server_channel* self, request* one) {
    for (uint32_t i = 0; i < self->count; i++)
        if (self->requests[i] == one) self->requests[i--] = self->requests[--self->count];
    base_release(&self->owner.allocator, one, sizeof *one);
}

static void send_request(server_channel* self, request* one, uint64_t now_us) {
    char text[SERVER_TELL_TEXT_BYTES(NET_RECORD_BYTES_MAX)];
    base_bytes* json = &self->json;
    sodium_bin2base64(text, sizeof text, one->bytes, one->size, SERVER_TELL_BASE64);
    base_bytes_clear(json);
    base_json_write(json, "{match=%s", self->config.match);
    if (one->kind == RESULT)
        base_json_write(json, "result=%s tick='%ju'", text, one->number);
    else
        base_json_write(json, "%s='%ju' player='%ju'", words[one->kind], one->number,
                        one->player_id);
    if (one->kind == KEEP) base_json_write(json, "version='%ju' record=%s", one->version, text);
    if (one->kind == MOVE) base_json_write(json, "to=%s bytes=%s", one->to, text);
    base_json_write(json, "}");
    self->config.send(self->config.context, json->data, json->size);
    one->due_us = now_us + SERVER_CHANNEL_AGAIN_MS * MS * (one->kind == RESULT ? 2 : 1);
}

// ---- joins

bool server_channel_admit(server_channel* self, uint64_t now_us, net_game_player* player) {
    request* one = NULL;
    for (uint32_t i = 0; i < self->count && !one; i++)
        if (self->requests[i]->kind == ASK && self->requests[i]->client == player->client)
            one = self->requests[i];
    if (!one) {
        one = add_request(self, ASK, now_us);
        one->client = player->client;
        one->player_id = player->player_id;
        send_request(self, one, now_us);
    }
    one->wanted_us = now_us;
    if (!one->is_answered && now_us - one->since_us < NET_RECORD_MS_MAX * MS) return false;
    self->counters.unknown += !one->has_record && !one->is_warned;
    one->is_warned = true;
    player->has_record = one->has_record;
    player->record_version = one->version;
    player->record = one->bytes;
    player->record_bytes = one->size;
    player->transfer = one->transfer;
    player->transfer_bytes = one->transfer_bytes;
    return true;
}

// ---- what the game asks for

static void add_effect(server_channel* self, const net_match_effect* effect, uint64_t now_us) {
    const request_kind kind = effect->is_transfer ? MOVE : KEEP;
    request* one = find_of_player(self, kind, effect->player_id);
    if (!one) one = add_request(self, kind, now_us);
    if (one->version < effect->record_version) one->version = effect->record_version;
    one->number = ++self->number; // an answer to the one before says nothing
    one->client = effect->client;
    one->player_id = effect->player_id;
    if (one->is_answered) one->since_us = now_us; // a game that asks again waits no longer
    one->due_us = 0;
    one->is_answered = one->is_warned = false;
    (void)base_text_copy(one->to, sizeof one->to, effect->to);
    one->size = effect->size;
    memcpy(one->bytes, effect->bytes, effect->size);
}

void server_channel_look(server_channel* self, const net_match_told* told, ecs_tick tick,
                         uint64_t now_us) {
    for (uint32_t i = 0; i < told->effect_count; i++) {
        const net_match_effect* effect = &told->effects[i];
        if (effect->tick <= tick &&
            (self->has_looked ? effect->tick > self->looked : !effect->is_transfer || tick <= 1))
            add_effect(self, effect, now_us);
    }
    if (told->result_tick != 0 && told->result_tick <= tick &&
        !find_request(self, RESULT, told->result_tick)) {
        request* one = add_request(self, RESULT, now_us);
        one->number = told->result_tick;
        one->size = told->result_bytes;
        memcpy(one->bytes, told->result, told->result_bytes);
    }
    self->has_looked = true;
    self->looked = tick;
}

static void fail_move(server_channel* self, request* one, const char* why) {
    base_report(self->config.reporter, NULL, 0,
                "warning: player %" PRIu64 " stays, and is not moved to %s: %s", one->player_id,
                one->to, why);
    self->counters.refused++;
    remove_request(self, one);
}

// The match that it goes to reads the record that is kept here.
static bool waits_for_keep(const server_channel* self, const request* one, uint64_t now_us) {
    const request* keep = find_of_player(self, KEEP, one->player_id);
    return keep && !keep->is_answered && now_us - one->since_us < NET_RECORD_MS_MAX * MS;
}

static void pass_request(server_channel* self, request* one, bool has_log, uint64_t now_us) {
    const uint64_t age_us = now_us - one->since_us;
    const bool is_logged = has_log || age_us >= SERVER_CHANNEL_UNLOGGED_S * S;
    const bool is_due = !one->is_answered && now_us >= one->due_us;
    if (one->kind == ASK && now_us - one->wanted_us >= SERVER_CHANNEL_UNASKED_MS * MS)
        remove_request(self, one);
    else if (one->kind == KEEP && one->is_answered && age_us >= NET_KEPT_S * S)
        remove_request(self, one);
    else if (one->kind == MOVE && one->due_us != 0 && age_us >= 2 * NET_RECORD_MS_MAX * MS)
        fail_move(self, one, "the host does not answer");
    else if (is_due && (one->kind == ASK ? age_us < NET_RECORD_MS_MAX * MS : is_logged) &&
             !(one->kind == MOVE && waits_for_keep(self, one, now_us)))
        send_request(self, one, now_us);
}

void server_channel_pass(server_channel* self, bool has_log, uint64_t now_us) {
    for (uint32_t i = self->count; i-- > 0;) // the last one fills a gap
        pass_request(self, self->requests[i], has_log, now_us);
}

bool server_channel_waits(const server_channel* self) {
    for (uint32_t i = 0; i < self->count; i++)
        if (self->requests[i]->kind != ASK && !self->requests[i]->is_answered) return true;
    return false;
}

// ---- answers

// `error` NULL: it was done.
static bool apply_ask(server_channel* self, request* one, const json_t* json, const char* error) {
    request read = *one;
    const bool has_bytes =
        server_tell_bytes(json, "bytes", read.transfer, sizeof read.transfer, &read.transfer_bytes);
    if (error) { // asked again until its time is over, with what is known
        read.is_answered = json_is_true(json_object_get(json, "is_final"));
        if (has_bytes) *one = read;
        return has_bytes;
    }
    if (!has_bytes || !server_tell_number(json, "version", &read.version) ||
        !server_tell_bytes(json, "record", read.bytes, sizeof read.bytes, &read.size))
        return false;
    read.has_record = read.is_answered = true;
    *one = read;
    self->counters.known++;
    return true;
}

static bool apply_keep(server_channel* self, request* one, const json_t* json, const char* error,
                       uint64_t now_us) {
    const bool is_conflict = error && strcmp(error, "conflict") == 0;
    const bool is_final = is_conflict || json_is_true(json_object_get(json, "is_final"));
    if (!error && !server_tell_number(json, "version", &one->version)) return false;
    if (error && !one->is_warned)
        base_report(self->config.reporter, NULL, 0,
                    "warning: the record of player %" PRIu64 " is not kept%s: %s", one->player_id,
                    is_final ? "" : " yet",
                    is_conflict ? "another match of the player kept one since it joined" : error);
    one->is_warned = error != NULL;
    one->is_answered = !error || is_final;
    one->due_us = now_us + SERVER_CHANNEL_LATER_MS * MS;
    if (one->is_answered) one->since_us = now_us;
    self->counters.kept += !error;
    self->counters.conflicts += is_conflict;
    return true;
}

static bool apply_move(server_channel* self, request* one, const json_t* json, const char* error) {
    const char* const address = json_string_value(json_object_get(json, "address"));
    const char* const token = json_string_value(json_object_get(json, "token"));
    const char* const page = json_string_value(json_object_get(json, "page"));
    if (error) {
        fail_move(self, one, error);
        return true;
    }
    if (!address || !token || !page) return false;
    self->counters.moved++;
    self->config.move(self->config.context, one->client, address, token, page);
    remove_request(self, one);
    return true;
}

static bool apply_answer(server_channel* self, const json_t* json, uint64_t now_us) {
    const char* error = json_string_value(json_object_get(json, "error"));
    uint64_t number;
    request_kind kind = ASK;
    while (kind < REQUEST_KINDS && !server_tell_number(json, words[kind], &number))
        kind++;
    request* one = kind < REQUEST_KINDS ? find_request(self, kind, number) : NULL;
    if (!one || one->is_answered) return kind < REQUEST_KINDS; // of one that is over
    switch (kind) {
    case ASK:
        return apply_ask(self, one, json, error);
    case KEEP:
        return apply_keep(self, one, json, error, now_us);
    case MOVE:
        return apply_move(self, one, json, error);
    default:
        one->is_answered = !error;
        return true;
    }
}

void server_channel_receive(server_channel* self, const void* text, size_t size, uint64_t now_us) {
    json_t* json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    self->counters.malformed += !apply_answer(self, json, now_us);
    json_decref(json);
}
