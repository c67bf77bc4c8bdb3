// SPDX-License-Identifier: MIT
// A match asserts what its server keeps: numbers rise, payloads were checked, who leaves had
// joined. Records are foreign, so all of it is checked here.
#include "replay/log_entering.h"

#include "base/assert.h"

void net_log_entering_init(net_log_entering* entering, const base_allocator* allocator) {
    *entering = (net_log_entering){.allocator = allocator};
}

void net_log_entering_deinit(net_log_entering* self) {
    BASE_ARRAY_RELEASE(self->allocator, self->leaves, self->leave_capacity);
    BASE_ARRAY_RELEASE(self->allocator, self->joins, self->join_capacity);
    BASE_ARRAY_RELEASE(self->allocator, self->join_items, self->join_item_capacity);
    BASE_ARRAY_RELEASE(self->allocator, self->events, self->event_capacity);
    BASE_ARRAY_RELEASE(self->allocator, self->inputs, self->input_capacity);
    net_log_entering_init(self, self->allocator);
}

void net_log_entering_clear(net_log_entering* self, ecs_tick tick) {
    self->begin = (net_tick_inputs){.tick = tick};
}

static bool leaves_already(const net_tick_inputs* begin, uint32_t client) {
    for (uint32_t i = 0; i < begin->leave_count; i++)
        if (begin->leaves[i].client == client) return true;
    return false;
}

static net_result add_leave(net_log_entering* self, net_match* match, const net_log_item* item) {
    net_tick_inputs* begin = &self->begin;
    if (!net_match_player_name(match, item->client) || leaves_already(begin, item->client))
        return NET_ERR_MALFORMED;
    if (!BASE_ARRAY_RESERVE(self->allocator, self->leaves, self->leave_capacity,
                            begin->leave_count + 1))
        return NET_ERR_MEMORY;
    self->leaves[begin->leave_count++] =
        (net_tick_leave){.client = item->client, .reason = item->reason};
    begin->leaves = self->leaves;
    return NET_OK;
}

static net_result add_join(net_log_entering* self, net_match* match, const net_log_item* item) {
    net_tick_inputs* begin = &self->begin;
    const uint32_t count = begin->join_count;
    const uint32_t last = count > 0 ? begin->joins[count - 1].client : net_match_client_last(match);
    if (item->client <= last || item->client >= NET_SPECTATOR_FIRST ||
        net_match_players(match, NULL, 0) - begin->leave_count + count >= NET_CLIENTS_MAX)
        return NET_ERR_MALFORMED;
    if (!BASE_ARRAY_RESERVE(self->allocator, self->joins, self->join_capacity, count + 1) ||
        !BASE_ARRAY_RESERVE(self->allocator, self->join_items, self->join_item_capacity, count + 1))
        return NET_ERR_MEMORY;
    self->join_items[count] = *item;
    self->joins[count] = (net_game_player){.client = item->client,
                                           .is_bot = item->is_bot,
                                           .player_id = item->player_id,
                                           .user_data = item->payload,
                                           .user_bytes = item->payload_bytes};
    for (uint32_t i = 0; i <= count; i++) // the items may have moved
        self->joins[i].name = self->join_items[i].name;
    begin->joins = self->joins;
    begin->join_count++;
    return NET_OK;
}

static net_result add_event(net_log_entering* self, net_match* match, const net_log_item* item) {
    net_tick_inputs* begin = &self->begin;
    if (net_match_event_check(match, item->message, item->payload, item->payload_bytes) != NET_OK)
        return NET_ERR_MALFORMED;
    if (!BASE_ARRAY_RESERVE(self->allocator, self->events, self->event_capacity,
                            begin->event_count + 1))
        return NET_ERR_MEMORY;
    self->events[begin->event_count++] = (net_tick_event){.client = item->client,
                                                          .message = item->message,
                                                          .target = item->target,
                                                          .payload = item->payload,
                                                          .size = item->payload_bytes,
                                                          .number = item->number};
    begin->events = self->events;
    return NET_OK;
}

static net_result add_input(net_log_entering* self, net_match* match, const net_log_item* item) {
    net_tick_inputs* begin = &self->begin;
    if (!item->is_repeat &&
        net_match_input_check(match, item->payload, item->payload_bytes) != NET_OK)
        return NET_ERR_MALFORMED;
    if (!BASE_ARRAY_RESERVE(self->allocator, self->inputs, self->input_capacity,
                            begin->input_count + 1))
        return NET_ERR_MEMORY;
    net_tick_input* added = &self->inputs[begin->input_count++];
    *added = (net_tick_input){.client = item->client, .number = item->number};
    if (!item->is_repeat) {
        added->payload = item->payload;
        added->size = item->payload_bytes;
        added->seen = item->seen;
    }
    begin->inputs = self->inputs;
    return NET_OK;
}

net_result net_log_entering_add(net_log_entering* self, net_match* match,
                                const net_log_record* record) {
    static net_result (*const add[])(net_log_entering*, net_match*, const net_log_item*) = {
        [NET_LOG_ITEM_LEAVE] = add_leave,
        [NET_LOG_ITEM_JOIN] = add_join,
        [NET_LOG_ITEM_EVENT] = add_event,
        [NET_LOG_ITEM_INPUT] = add_input,
    };
    BASE_ASSERT(record->kind == NET_LOG_KIND_BEGIN && record->tick == self->begin.tick);
    net_result result = NET_OK;
    for (net_log_item_kind kind = NET_LOG_ITEM_LEAVE; kind <= NET_LOG_ITEM_INPUT; kind++) {
        size_t offset = 0;
        net_log_item item;
        while (result == NET_OK && net_log_item_next(record, kind, &offset, &item))
            result = add[kind](self, match, &item);
    }
    return result;
}
