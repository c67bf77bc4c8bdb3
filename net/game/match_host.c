// SPDX-License-Identifier: MIT
// What a match says to its host. It is a part of the match, and of its saves: a match that goes on
// in another process says the same. Nothing of it changes the world.
//
// What the host does for one player is an effect with the tick in which the game asked for it. The
// program looks at them after each tick. A record is known for NET_KEPT_S, so that a match that
// continues after a crash can send it again; a transfer only until the next tick.
#include "game/match.h"

#include "base/assert.h"
#include "base/text.h"

#include <stddef.h>
#include <string.h>

const net_match_told* net_match_get_told(const net_match* match) {
    return match->told;
}

// ---- services

bool net_match_publish(void* context, const char* key, const char* value) {
    net_match_told* told = ((net_match*)context)->told;
    const size_t key_bytes = key ? strlen(key) : 0, value_bytes = value ? strlen(value) : 0;
    uint32_t at = 0;
    if (!told || key_bytes == 0 || key_bytes >= NET_VALUE_KEY_BYTES ||
        value_bytes >= NET_VALUE_BYTES || !base_text_is_utf8(key, key_bytes) ||
        (value && !base_text_is_utf8(value, value_bytes)))
        return false;
    while (at < told->value_count && strcmp(told->values[at].key, key) != 0)
        at++;
    net_match_value* row = &told->values[at];
    if (value_bytes == 0) {
        if (at < told->value_count) *row = told->values[--told->value_count];
        return true;
    }
    if (at == NET_VALUES_MAX) return false;
    if (at == told->value_count) {
        told->value_count++;
        *row = (net_match_value){0};
    }
    (void)base_text_copy(row->key, sizeof row->key, key);
    (void)base_text_copy(row->value, sizeof row->value, value);
    return true;
}

void net_match_open(void* context, bool is_open) {
    net_match_told* told = ((net_match*)context)->told;
    if (told) told->is_closed = !is_open;
}

static ecs_tick next_tick(const net_match* match) {
    return match->stepping ? match->stepping : ecs_world_tick(match->world) + 1;
}

bool net_match_result(void* context, const void* bytes, size_t size) {
    net_match* match = context;
    net_match_told* told = match->told;
    if (!told || told->result_tick != 0 || size > sizeof told->result) return false;
    told->result_tick = next_tick(match);
    told->result_bytes = (uint32_t)size;
    if (size > 0) memcpy(told->result, bytes, size);
    return true;
}

static void forget_effects(net_match_told* told, ecs_tick tick, uint32_t rate_hz) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < told->effect_count; i++) {
        const net_match_effect* one = &told->effects[i];
        if (one->tick + (one->is_transfer ? 0 : (ecs_tick)NET_KEPT_S * rate_hz) >= tick)
            told->effects[kept++] = *one;
    }
    told->effect_count = kept;
}

// The newest of a player counts. @return NULL: the client has no identity.
static net_match_effect* add_effect(net_match* match, uint32_t client, bool is_transfer) {
    net_match_told* told = match->told;
    const net_player* player = net_match_find_player(match, client);
    const net_player_kept* who = client == match->joining ? &match->joins_as
                                 : player                 ? &player->kept
                                                          : NULL;
    uint32_t at = 0;
    if (client == 0 || !who || who->player_id == 0) return NULL;
    forget_effects(told, next_tick(match), match->config.tick_rate_hz);
    while (at < told->effect_count && (told->effects[at].player_id != who->player_id ||
                                       told->effects[at].is_transfer != is_transfer))
        at++;
    if (at == NET_EFFECTS_MAX) return NULL;
    if (at == told->effect_count) {
        BASE_ARRAY_RESERVE(&match->owner.allocator, told->effects, told->effect_capacity, at + 1);
        told->effect_count++;
    }
    told->effects[at] = (net_match_effect){.is_transfer = is_transfer,
                                           .client = client,
                                           .player_id = who->player_id,
                                           .record_version = who->record_version,
                                           .tick = next_tick(match)};
    return &told->effects[at];
}

static bool fill_effect(net_match_effect* effect, const void* bytes, size_t size) {
    if (!effect) return false;
    effect->size = (uint32_t)size;
    if (size > 0) memcpy(effect->bytes, bytes, size);
    return true;
}

bool net_match_transfer(void* context, uint32_t client, const char* to, const void* bytes,
                        size_t size) {
    net_match* match = context;
    const size_t to_bytes = to ? strlen(to) : 0;
    if (!match->told || to_bytes == 0 || to_bytes >= NET_TRANSFER_TO_BYTES ||
        !base_text_is_utf8(to, to_bytes) || size > NET_TRANSFER_BYTES_MAX)
        return false;
    net_match_effect* effect = add_effect(match, client, true);
    if (effect) (void)base_text_copy(effect->to, sizeof effect->to, to);
    return fill_effect(effect, bytes, size);
}

bool net_match_keep_record(void* context, uint32_t client, const void* bytes, size_t size) {
    net_match* match = context;
    if (!match->told || size > NET_RECORD_BYTES_MAX) return false;
    return fill_effect(add_effect(match, client, false), bytes, size);
}

// ---- saves

void net_match_save_told(const net_match* match, base_bytes* bytes) {
    const net_match_told* told = match->told;
    if (!told) return;
    base_bytes_write_u32(bytes, told->value_count);
    base_bytes_write(bytes, told->values, told->value_count * sizeof *told->values);
    base_bytes_write_u8(bytes, told->is_closed);
    base_bytes_write_u64(bytes, told->result_tick);
    base_bytes_write_u32(bytes, told->result_bytes);
    base_bytes_write(bytes, told->result, told->result_bytes);
    base_bytes_write_u32(bytes, told->effect_count);
    for (uint32_t i = 0; i < told->effect_count; i++) {
        const net_match_effect* one = &told->effects[i];
        base_bytes_write(bytes, one, offsetof(net_match_effect, bytes));
        base_bytes_write(bytes, one->bytes, one->size);
    }
    for (uint32_t i = 0; i < match->player_count; i++) {
        base_bytes_write_u64(bytes, match->players[i].kept.player_id);
        base_bytes_write_u64(bytes, match->players[i].kept.record_version);
    }
}

static bool restore_value(base_reader* bytes, net_match_value* row) {
    return base_reader_read(bytes, row, sizeof *row) && row->key[0] != 0 &&
           memchr(row->key, 0, sizeof row->key) && memchr(row->value, 0, sizeof row->value);
}

_Static_assert(offsetof(net_match_effect, bytes) == 33 + NET_TRANSFER_TO_BYTES, "no gaps");

static bool restore_effect(base_reader* bytes, net_match_effect* one) {
    return base_reader_read(bytes, one, offsetof(net_match_effect, bytes)) &&
           one->is_transfer <= 1 && memchr(one->to, 0, sizeof one->to) &&
           one->size <= sizeof one->bytes && base_reader_read(bytes, one->bytes, one->size);
}

static bool restore_told(net_match* match, base_reader* bytes) {
    net_match_told* told = match->told;
    const uint32_t values = base_reader_u32(bytes);
    if (values > NET_VALUES_MAX) return false;
    while (told->value_count < values)
        if (!restore_value(bytes, &told->values[told->value_count++])) return false;
    const uint8_t is_closed = base_reader_u8(bytes);
    told->is_closed = is_closed != 0;
    told->result_tick = base_reader_u64(bytes);
    told->result_bytes = base_reader_u32(bytes);
    if (is_closed > 1 || told->result_bytes > sizeof told->result ||
        !base_reader_read(bytes, told->result, told->result_bytes))
        return false;
    const uint32_t effects = base_reader_u32(bytes);
    if (effects > NET_EFFECTS_MAX) return false;
    while (told->effect_count < effects && !bytes->failed) {
        BASE_ARRAY_RESERVE(&match->owner.allocator, told->effects, told->effect_capacity,
                           told->effect_count + 1);
        if (!restore_effect(bytes, &told->effects[told->effect_count++])) return false;
    }
    for (uint32_t i = 0; i < match->player_count; i++) {
        match->players[i].kept.player_id = base_reader_u64(bytes);
        match->players[i].kept.record_version = base_reader_u64(bytes);
    }
    return !bytes->failed;
}

bool net_match_restore_told(net_match* match, base_reader* bytes) {
    net_match_told* told = match->told;
    if (!told) return true;
    told->value_count = told->effect_count = told->result_bytes = 0;
    const bool is_right = restore_told(match, bytes);
    if (!is_right) told->value_count = told->effect_count = told->result_bytes = 0;
    return is_right;
}

void net_match_copy_told(net_match* match, const net_match* from) {
    base_bytes bytes;
    base_bytes_init(&bytes, match->config.allocator);
    net_match_save_told(from, &bytes);
    base_reader reader = base_reader_make(bytes.data, bytes.size);
    const bool is_right = net_match_restore_told(match, &reader);
    BASE_ASSERT(is_right);
    base_bytes_deinit(&bytes);
}
