// SPDX-License-Identifier: MIT
// Saves of a match: players with what the module requested for them, known resources, then the past
// of lag compensation, then the world.
//
// Most of it is the same on every machine. Memory of plain structs are the last inputs and the past
// of lag compensation: the same where numbers of 8 bytes lie at multiples of 8 (x86-64, arm64,
// wasm32). The bytes may be foreign: every length is checked, and a test cuts them at each place.
#include "game/match_internal.h"

#include "base/assert.h"
#include "ecs/loader.h"
#include "ecs/save.h"

#include <string.h>

enum { REQUEST_IS_THERE = 2 }; // 1: it has a viewpoint

// The length comes first. The rewind is restored after the world, and the restore of a world uses
// all bytes that are left.
static bool save_rewind(const net_match* match, base_bytes* bytes) {
    size_t mark = bytes->size;
    base_bytes_write_u64(bytes, 0);
    if (match->rewind) net_rewind_save(match->rewind, match->world, bytes, match->config.workers);
    if (bytes->failed) return false;
    uint64_t size = bytes->size - mark - sizeof size;
    memcpy(bytes->data + mark, &size, sizeof size);
    return true;
}

// A server that begins here has to learn of all requests; a refresh is for one tick.
static void save_request(const net_match* match, uint32_t client, base_bytes* bytes) {
    const net_interest_request* request = net_interest_requests_find(&match->requests, client);
    base_bytes_write_u8(bytes, request ? REQUEST_IS_THERE | request->has_viewpoint : 0);
    if (!request) return;
    base_bytes_write_u64(bytes, request->groups);
    base_bytes_write(bytes, request->position, sizeof request->position);
    base_bytes_write(bytes, &request->radius, sizeof request->radius);
}

static net_result restore_request(net_match* match, uint32_t client, base_reader* bytes) {
    const uint8_t what = base_reader_u8(bytes);
    if (what == 0) return NET_OK; // and at the end of the bytes
    if (what < REQUEST_IS_THERE || what > (REQUEST_IS_THERE | 1)) return NET_ERR_MALFORMED;
    net_interest_request* request = net_interest_requests_add(&match->requests, client);
    if (!request) return NET_ERR_MEMORY;
    request->has_viewpoint = what & 1;
    request->groups = base_reader_u64(bytes);
    bool is_read = base_reader_read(bytes, request->position, sizeof request->position) &&
                   base_reader_read(bytes, &request->radius, sizeof request->radius);
    return is_read ? NET_OK : NET_ERR_MALFORMED;
}

net_result net_match_save(const net_match* match, base_bytes* bytes) {
    uint32_t input_bytes = net_match_input_bytes(match);
    base_bytes_write_u32(bytes, match->client_last);
    base_bytes_write_u32(bytes, match->player_count);
    for (uint32_t i = 0; i < match->player_count; i++) {
        const net_player* one = &match->players[i];
        base_bytes_write_u32(bytes, one->client);
        base_bytes_write_u32(bytes, one->entity);
        base_bytes_write_u8(bytes, one->has_input);
        base_bytes_write_u8(bytes, one->has_seen);
        base_bytes_write_u64(bytes, one->seen_tick);
        base_bytes_write_u64(bytes, one->seen);
        base_bytes_write(bytes, one->name, sizeof one->name);
        base_bytes_write(bytes, one->input, input_bytes);
        save_request(match, one->client, bytes);
    }
    ecs_resources_save(match->world, bytes);
    if (!save_rewind(match, bytes)) return NET_ERR_MEMORY;
    return !bytes->failed && ecs_world_save(match->world, bytes) == ECS_OK ? NET_OK
                                                                           : NET_ERR_MEMORY;
}

static net_result restore_players(net_match* match, base_reader* bytes) {
    uint32_t input_bytes = net_match_input_bytes(match);
    match->client_last = base_reader_u32(bytes);
    uint32_t count = base_reader_u32(bytes);
    if (count > base_reader_left(bytes)) return NET_ERR_MALFORMED;
    if (!BASE_ARRAY_RESERVE(&match->memory.allocator, match->players, match->player_capacity,
                            count))
        return NET_ERR_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        net_player* one = &match->players[i];
        memset(one, 0, sizeof *one);
        one->client = base_reader_u32(bytes);
        one->entity = base_reader_u32(bytes);
        one->has_input = base_reader_u8(bytes) != 0;
        one->has_seen = base_reader_u8(bytes) != 0;
        one->seen_tick = base_reader_u64(bytes);
        one->seen = base_reader_u64(bytes);
        if (!base_reader_read(bytes, one->name, sizeof one->name) ||
            !base_reader_read(bytes, one->input, input_bytes))
            return NET_ERR_MALFORMED;
        if (one->client == 0 || one->client > match->client_last ||
            (i > 0 && one->client <= one[-1].client))
            return NET_ERR_MALFORMED;
        net_result result = restore_request(match, one->client, bytes);
        if (result != NET_OK) return result;
    }
    match->player_count = count;
    return NET_OK;
}

static net_result restore_resources(net_match* match, base_reader* bytes) {
    ecs_result result = ecs_resources_restore(match->world, bytes);
    if (result == ECS_OK) return NET_OK;
    return result == ECS_ERR_MALFORMED ? NET_ERR_MALFORMED : NET_ERR_MEMORY;
}

net_result net_match_restore(net_match* match, const void* data, size_t size) {
    base_reader bytes = base_reader_make(data, size);
    match->player_count = match->requests.count = 0;
    match->memory.is_lacking = false;
    match->end = (net_match_end){0}; // the module decides it again, as it did
    net_result result = restore_players(match, &bytes);
    if (result == NET_OK) result = restore_resources(match, &bytes);
    uint64_t rewind_bytes = 0;
    if (!base_reader_read(&bytes, &rewind_bytes, sizeof rewind_bytes) ||
        rewind_bytes > base_reader_left(&bytes)) {
        rewind_bytes = 0;
        if (result == NET_OK) result = NET_ERR_MALFORMED;
    }
    base_reader past = base_reader_make((const uint8_t*)data + bytes.offset, (size_t)rewind_bytes);
    size_t left = base_reader_left(&bytes) - (size_t)rewind_bytes;
    ecs_result restored =
        ecs_world_restore(match->world, (const uint8_t*)data + bytes.offset + rewind_bytes, left);
    if (result == NET_OK && restored != ECS_OK)
        result = restored == ECS_ERR_MEMORY ? NET_ERR_MEMORY : NET_ERR_MALFORMED;
    if (result == NET_OK && match->rewind)
        result = net_rewind_restore(match->rewind, match->world, &past);
    if (result == NET_OK && match->memory.is_lacking) result = NET_ERR_MEMORY;
    if (result != NET_OK) match->player_count = match->requests.count = 0;
    return result;
}
