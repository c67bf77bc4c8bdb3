// SPDX-License-Identifier: MIT
// Saves of a match: players, known resources, then the past of lag compensation, then the world.
//
// The bytes are for this process, but every length is checked: a test cuts them at each place.
#include "game/match_internal.h"

#include "base/assert.h"
#include "ecs/loader.h"
#include "ecs/save.h"

#include <string.h>

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
        if (one->client > match->client_last || (i > 0 && one->client <= one[-1].client))
            return NET_ERR_MALFORMED;
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
    match->player_count = 0;
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
    if (result != NET_OK) match->player_count = 0;
    return result;
}
