// SPDX-License-Identifier: MIT
// Saves of a match, as keyframes of logs have them, with a state of the module's own.
//
// An input is a list of records {u8 operation, u8 size, bytes}: 0 writes over the save from the u24
// in front of the bytes on, 1 gives the module these bytes as its state, 2 cuts the save there.
//
// Invariants for any input: the result is one that the contract names; the module reads no byte
// beyond its part, and one that it refuses refuses the save; a save that is accepted is the one
// that the match writes next; after a refusal the match takes a good save.
#include "match_stage.h"

#include "game/match.h"

enum { STATE_BYTES_MAX = 255 };

// The first byte of a state says what load_state does.
enum { READ_ALL, READ_LESS, READ_MORE, REFUSE, ACTIONS };

typedef struct own_state {
    uint8_t bytes[STATE_BYTES_MAX];
    size_t size;
    uint32_t restored;
} own_state;

static own_state own;

static void own_restored(ecs_world* world, void* context) {
    (void)world, (void)context;
    own.restored++;
}

static ecs_result own_save(ecs_world* world, void* context, base_bytes* bytes) {
    (void)world, (void)context;
    base_bytes_write(bytes, own.bytes, own.size);
    return ECS_OK;
}

static ecs_result own_load(ecs_world* world, void* context, base_reader* reader) {
    (void)world, (void)context;
    const size_t size = base_reader_left(reader);
    const uint8_t action = size > 0 ? base_reader_u8(reader) % ACTIONS : READ_ALL;
    if (size > STATE_BYTES_MAX || action == REFUSE) return ECS_ERR_MALFORMED;
    if (size > 0) own.bytes[0] = action;
    (void)base_reader_read(reader, own.bytes + 1, size > 1 ? size - 1 - (action == READ_LESS) : 0);
    own.size = size;
    if (action == READ_MORE) (void)base_reader_u64(reader);
    return ECS_OK;
}

static void edit(base_bytes* save, const fuzz_record* record) {
    if (record->size < 3) return;
    const size_t at =
        (size_t)(record->bytes[0] | record->bytes[1] << 8 | record->bytes[2] << 16) % save->size;
    if (record->operation % 3 == 2) {
        save->size = at;
        return;
    }
    const size_t left = save->size - at, size = record->size - 3;
    memcpy(save->data + at, record->bytes + 3, size < left ? size : left);
}

// A good save, and the match that it is of.
static net_match* make_match(base_bytes* good) {
    static net_game_module game;
    game = *swarm_module_get();
    game.restored = own_restored;
    game.save_state = own_save;
    game.load_state = own_load;
    net_module* module;
    FUZZ_CHECK(net_module_wrap(&game, swarm_templates(), "swarm.blk", NULL, &module) == NET_OK);
    net_match* match = stage_match(module, NET_ROLE_SERVER, NULL, NULL);
    for (uint32_t client = 1; client <= 3; client++)
        net_match_join(match,
                       &(net_game_player){.client = client, .name = "one", .player_id = client});
    const net_game_services* services = &match->services;
    FUZZ_CHECK(services->publish(services->context, "map", "ice") &&
               services->result(services->context, "won", 3) &&
               services->transfer(services->context, 1, "pong", "go", 2) &&
               services->keep_record(services->context, 2, "gold", 4));
    for (uint32_t i = 0; i < 5; i++)
        net_match_step(match);
    base_bytes_init(good, NULL);
    FUZZ_CHECK(net_match_save(match, good) == NET_OK);
    return match;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static net_match* match;
    static base_bytes good, save, again;
    if (!match) match = make_match(&good);
    own = (own_state){0};
    FUZZ_CHECK(net_match_restore(match, good.data, good.size) == NET_OK && own.restored == 1);
    fuzz_record record;
    const uint8_t* first = data;
    size_t left = size;
    while (fuzz_next(&first, &left, &record))
        if (record.operation % 3 == 1) {
            own.size = record.size < STATE_BYTES_MAX ? record.size : STATE_BYTES_MAX;
            memcpy(own.bytes, record.bytes, own.size);
        }
    base_bytes_clear(&save);
    FUZZ_CHECK(net_match_save(match, &save) == NET_OK);
    const uint8_t action = own.size > 0 ? own.bytes[0] % ACTIONS : READ_ALL;
    const bool is_refused = action > READ_LESS || (action == READ_LESS && own.size > 1);
    bool is_edited = false;
    while (fuzz_next(&data, &size, &record))
        if (record.operation % 3 != 1 && save.size > 0) {
            edit(&save, &record);
            is_edited = true;
        }
    const net_result result = net_match_restore(match, save.data, save.size);
    FUZZ_CHECK(result == NET_OK || result == NET_ERR_MALFORMED || result == NET_ERR_MODULE ||
               result == NET_ERR_MEMORY);
    FUZZ_CHECK(is_edited || result == (is_refused ? NET_ERR_MODULE : NET_OK));
    if (result == NET_OK) {
        base_bytes_clear(&again);
        const uint64_t hash = ecs_world_hash(net_match_world(match));
        FUZZ_CHECK(net_match_save(match, &again) == NET_OK);
        FUZZ_CHECK(net_match_restore(match, again.data, again.size) == NET_OK);
        FUZZ_CHECK(ecs_world_hash(net_match_world(match)) == hash);
    }
    return 0;
}
