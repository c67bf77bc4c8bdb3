// SPDX-License-Identifier: MIT
// A log is sent again: two readers walk it. The replay applies its records and steps; the other
// reader is one tick ahead, so that a client is connected before the tick in which it joins, and
// gathers a hash of what entered the tick. The server hands over what its clients sent for the same
// tick. When both agree in every tick, the clients did here what the log's clients did.
#include "check/sim_match.h"

#include "log/log_read.h"

#include "net/log.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

#define SETTLE_STEPS_MAX 20000u ///< a server ends by itself long before

typedef struct resend {
    const net_log_resend_config* config;
    const base_reporter* reporter;
    net_log_resend_result* result;
    net_log_replay* replay;
    net_log_reader* ahead;
    net_log_cursor cursor;
    net_log_record record; // read ahead, of a later tick
    bool has_record;
    uint32_t client_last; // that joined
    net_sim_match* match;
    base_hasher begin; // of what enters the next tick, as the log has it
    net_result failure;
} resend;

// ---- what enters a tick, as a hash

static void add_number(base_hasher* hasher, uint64_t number) {
    base_hasher_add(hasher, &number, sizeof number);
}

static void add_bytes(base_hasher* hasher, const void* bytes, size_t size) {
    add_number(hasher, size);
    if (size > 0) base_hasher_add(hasher, bytes, size);
}

static void add_item(base_hasher* hasher, const net_log_item* item) {
    add_number(hasher, (uint64_t)item->kind);
    add_number(hasher, item->client);
    switch (item->kind) {
    case NET_LOG_ITEM_JOIN:
        add_bytes(hasher, item->name, strlen(item->name));
        add_number(hasher, item->is_bot);
        add_number(hasher, item->player_id);
        add_bytes(hasher, item->payload, item->payload_bytes);
        break;
    case NET_LOG_ITEM_INPUT:
        add_number(hasher, item->number);
        add_number(hasher, item->is_repeat);
        add_bytes(hasher, item->payload, item->payload_bytes);
        break;
    case NET_LOG_ITEM_EVENT:
        add_number(hasher, item->message);
        add_number(hasher, item->target);
        add_bytes(hasher, item->payload, item->payload_bytes);
        break;
    default: // a leave: why it left has no effect
        break;
    }
}

// The same items as the server's clients gave them.
static uint64_t hash_begin(const net_tick_inputs* begin) {
    base_hasher hasher;
    base_hasher_init(&hasher, begin->tick);
    net_log_item item;
    for (uint32_t position = 0; net_log_begin_next(begin, &position, &item);)
        add_item(&hasher, &item);
    return base_hasher_end(&hasher);
}

// ---- the log, one tick ahead

static bool is_connected(const resend* self, uint32_t client) {
    return self->config->client == 0 || self->config->client == client;
}

static void join(resend* self, const net_log_item* item) {
    const net_game_player player = {.client = item->client,
                                    .name = item->name,
                                    .is_bot = item->is_bot,
                                    .player_id = item->player_id,
                                    .user_data = item->payload,
                                    .user_bytes = item->payload_bytes};
    // The log is untrusted. The replay refuses the same record, one tick later.
    if (item->client <= self->client_last) {
        self->failure = NET_ERR_DAMAGED;
        base_report(self->reporter, self->ahead->file, 0,
                    "tick %" PRIu64 ": it has a join that no server writes", self->record.tick);
        return;
    }
    self->client_last = item->client;
    net_result result = net_sim_match_join(self->match, &player);
    if (result == NET_OK) self->result->clients++;
    // One that is refused here only misses its datagrams; the first tick that differs tells.
    if (result != NET_OK && result != NET_ERR_REFUSED && result != NET_ERR_FULL)
        self->failure = result;
}

static void read_begin(resend* self) {
    const net_log_record* record = &self->record;
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind <= NET_LOG_ITEM_INPUT; kind++) {
        size_t offset = 0;
        net_log_item item;
        while (self->failure == NET_OK && net_log_item_next(record, kind, &offset, &item)) {
            if (!is_connected(self, item.client)) continue;
            if (kind == NET_LOG_ITEM_LEAVE) net_sim_match_leave(self->match, item.client);
            if (kind == NET_LOG_ITEM_JOIN) join(self, &item);
            add_item(&self->begin, &item);
        }
    }
}

// Read what enters the tick. @return false when the log has no such tick.
static bool read_tick(resend* self, ecs_tick tick) {
    bool is_there = false;
    base_hasher_init(&self->begin, tick);
    while (self->has_record || net_log_cursor_next(self->ahead, &self->cursor, &self->record)) {
        self->has_record = self->record.kind == NET_LOG_KIND_BEGIN && self->record.tick > tick;
        if (self->has_record) break;
        if (self->record.kind == NET_LOG_KIND_END && self->record.tick == tick) break;
        if (self->record.kind != NET_LOG_KIND_BEGIN) continue;
        is_there = true;
        read_begin(self);
    }
    if (self->cursor.has_failed) self->failure = NET_ERR_DAMAGED;
    return is_there && self->failure == NET_OK;
}

// ---- the match

static bool step(void* context, const net_tick_inputs* begin) {
    resend* self = context;
    net_log_resend_result* result = self->result;
    if (result->differs_tick == 0 && hash_begin(begin) != base_hasher_end(&self->begin))
        result->differs_tick = begin->tick;
    net_log_tick tick;
    net_result stepped = net_log_replay_step(self->replay, &tick);
    if (stepped != NET_OK) {
        self->failure = stepped;
        return false;
    }
    if (tick.lost_first > 0) { // its clients cannot follow over a gap
        self->failure = NET_ERR_DAMAGED;
        return false;
    }
    result->ticks++;
    const ecs_world* world = net_match_world(net_log_replay_match(self->replay));
    if (tick.has_end && result->diverged_tick == 0 &&
        ecs_world_state_hash(world) != tick.state_hash)
        result->diverged_tick = tick.tick;
    return true;
}

static void run_resend(resend* self, ecs_tick last, net_log_resend_fn each, void* context) {
    for (ecs_tick tick = 1; tick <= last; tick++) {
        if (!read_tick(self, tick)) break;
        net_sim_match_step(self->match);
        if (self->failure != NET_OK || (each && !each(context, self->match))) return;
    }
    if (self->failure != NET_OK || self->config->until > 0) return;
    const net_server* server = net_sim_match_server(self->match);
    for (uint32_t i = 0; i < SETTLE_STEPS_MAX; i++) {
        if (net_server_get_phase(server) == NET_SERVER_ENDED) break;
        net_sim_match_step(self->match);
    }
}

static net_result open_match(resend* self, const net_module* module,
                             const base_allocator* allocator, ecs_tick last) {
    const net_sim_match_config config = {.allocator = allocator,
                                         .module = module,
                                         .match = net_log_replay_match(self->replay),
                                         .clients_max = NET_CLIENTS_MAX,
                                         .ticks_max = self->config->until > 0 ? 0 : last,
                                         .link = self->config->link,
                                         .reporter = self->reporter,
                                         .step = step,
                                         .step_context = self};
    return net_sim_match_create(&config, &self->match);
}

net_result net_log_resend(net_log_reader* reader, const net_module* module,
                          const net_log_resend_config* config, net_log_resend_fn each,
                          void* context, const base_reporter* reporter,
                          net_log_resend_result* result_out) {
    BASE_ASSERT(reader && module && config && result_out);
    const base_allocator* allocator = reader->allocator;
    *result_out = (net_log_resend_result){0};
    resend self = {.config = config, .reporter = reporter, .result = result_out};
    const net_log_info* info = net_log_reader_info(reader);
    ecs_tick whole = info->last_tick;
    if (info->first_tick > 1) {
        base_report(reporter, reader->file, 0,
                    "it begins with tick %" PRIu64 ": who had joined by then, and what they had "
                    "been sent, is not in it",
                    info->first_tick);
        return NET_ERR_UNKNOWN;
    }
    ecs_tick last = config->until > 0 && config->until < whole ? config->until : whole;
    net_result result = net_log_reader_create(allocator, reader->file, NULL, &self.ahead);
    if (self.ahead) result = net_log_replay_create(reader, module, 0, reporter, &self.replay);
    if (result == NET_OK) result = open_match(&self, module, allocator, last);
    if (result == NET_OK) {
        self.cursor = net_log_cursor_begin(self.ahead);
        run_resend(&self, last, each, context);
        result = self.failure;
        result_out->sent = net_sim_match_get_sent(self.match);
        if (result == NET_OK && result_out->diverged_tick > 0) result = NET_ERR_DIVERGED;
        if (result == NET_OK && config->client > 0 && result_out->clients == 0)
            result = NET_ERR_UNKNOWN;
    }
    net_sim_match_destroy(self.match);
    net_log_replay_destroy(self.replay);
    net_log_reader_destroy(self.ahead);
    return result;
}
