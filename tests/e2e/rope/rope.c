// SPDX-License-Identifier: MIT
// A game around a library with a state of its own. The setting `way` says where that state is:
// where a log, a save and a reload find it (0 and 1), and where they do not (2 and 3).
// games/README.md, "Libraries with a state of their own", explains it.
#include "chain.h"

#include <base/hash.h>
#include <base/text.h>
#include <ecs/es.h>
#include <net/controls.h>

#include "rope.pb-c.h"

enum { WAY_BOX, WAY_HOOKS, WAY_CONTEXT, WAY_REBUILT };

ES_EVENT(push)
ES_MESSAGE(Rope__Push, input)
typedef struct rope_push {
    uint32_t link ES_RANGE(0, 15);
    int32_t force ES_CLAMP(-100, 100);
} rope_push;

ES_SETTINGS
typedef struct rope_settings {
    uint32_t way ES_SETTING(0.0, 0.0, 3.0,
                            "0 a boxed component, 1 the hooks, 2 the context, 3 made again");
} rope_settings;

// The value of component "rope": the library's world.
typedef struct rope_box {
    chain* chain; // NULL: not made yet
} rope_box;
typedef rope_box* rope_cell;
ES_TYPE(rope_cell, Rope)

ES_GAME_CONTEXT(rope)
typedef struct rope_game {
    ecs_component_id rope, at, number, client;
    ecs_template_id link, holder, player;
    rope_settings settings;
    ecs_query* put_back;
    chain* chain; // of the other ways
} rope_game;

#include "rope.es.h"

ES_GAME("Rope", 160, 90, .register_types = register_rope, .start = start,
        .player_join = player_join, .bot_think = bot_think, .restored = restored, .stop = stop,
        .save_state = save_state, .load_state = load_state);

// ---- a boxed component ----

static void box_create(const ecs_type_context* context, void* value) {
    (void)context;
    *(rope_box*)value = (rope_box){0}; // it cannot fail: the world is made when it is used
}

static void box_destroy(const ecs_type_context* context, void* value) {
    (void)context;
    chain_free(((rope_box*)value)->chain);
}

static bool read_image(chain** target, const void* image) {
    if (!*target) *target = chain_new();
    return *target && chain_image_read(*target, image);
}

static void box_assign(const ecs_type_context* context, void* target, const void* source) {
    (void)context;
    rope_box* to = target;
    const rope_box* from = source;
    if (from->chain) {
        uint8_t image[1024];
        BASE_ASSERT(chain_image_bytes() <= sizeof image);
        chain_image_write(from->chain, image);
        bool is_read = read_image(&to->chain, image);
        BASE_ASSERT(is_read);
        return;
    }
    chain_free(to->chain);
    to->chain = NULL;
}

static void box_write(const void* value, base_bytes* bytes) {
    const rope_box* box = value;
    const size_t size = box->chain ? chain_image_bytes() : 0;
    base_bytes_write_varint(bytes, size);
    uint8_t* image = base_bytes_extend(bytes, size);
    if (image && size > 0) chain_image_write(box->chain, image);
}

static bool box_read(const ecs_type_context* context, void* value, base_reader* reader) {
    (void)context;
    rope_box* box = value;
    const uint64_t size = base_reader_varint(reader);
    const void* image = size == chain_image_bytes() ? base_reader_skip(reader, (size_t)size) : NULL;
    if (size > 0 && !image) reader->failed = true; // damaged, or of another version of the library
    if (size > 0) return image && read_image(&box->chain, image);
    chain_free(box->chain);
    box->chain = NULL;
    return !reader->failed;
}

static uint64_t box_hash(const void* value, uint64_t seed) {
    const rope_box* box = value;
    return base_hash64_mix(seed, box->chain ? chain_hash(box->chain) : 0);
}

static bool box_format(const void* value, char* text, size_t bytes) {
    const rope_box* box = value;
    return base_text_format(text, bytes, "mm=%d",
                            box->chain ? (int)(chain_at(box->chain, 0) * 1000.0f) : 0);
}

static ecs_result register_rope(ecs_world* world, const base_reporter* reporter) {
    static const ecs_type_ops ops = {.create = box_create,
                                     .destroy = box_destroy,
                                     .assign = box_assign,
                                     .write = box_write,
                                     .read = box_read,
                                     .hash = box_hash,
                                     .format = box_format};
    static const ecs_type_desc desc = {
        .name = "Rope", .size = sizeof(rope_box), .align = _Alignof(rope_box), .ops = &ops};
    return ecs_type_register_as(world, &desc, ECS_TYPE_BOXED, reporter, NULL);
}

// ---- the hooks ----

static void drop(rope_game* game) {
    chain_free(game->chain);
    game->chain = NULL;
}

static void put_back_ecs_query(ES_CONTEXT chain* rope, int32_t number, float at) {
    chain_put(rope, (uint32_t)number, at);
}

// What is computed from the world goes: here all of it, because load_state brings it back. A rope
// that is made of places alone lacks speeds and pulls, and goes another way.
static void restored(ecs_world* world, rope_game* game) {
    if (game->settings.way == WAY_CONTEXT) return; // the first mistake
    drop(game);
    if (game->settings.way != WAY_REBUILT) return;
    game->chain = chain_new();
    if (game->chain) put_back_run(world, game->put_back, game->chain);
}

static void stop(ecs_world* world, rope_game* game) {
    (void)world;
    drop(game);
}

static ecs_result save_state(ecs_world* world, rope_game* game, base_bytes* bytes) {
    (void)world;
    if (game->settings.way != WAY_HOOKS || !game->chain) return ECS_OK;
    uint8_t* image = base_bytes_extend(bytes, chain_image_bytes());
    if (image) chain_image_write(game->chain, image);
    return ECS_OK;
}

static ecs_result load_state(ecs_world* world, rope_game* game, base_reader* reader) {
    (void)world;
    if (base_reader_left(reader) == 0) return ECS_OK; // of a tick before the first
    const void* image = base_reader_skip(reader, chain_image_bytes());
    return image && read_image(&game->chain, image) ? ECS_OK : ECS_ERR_MALFORMED;
}

// ---- a tick ----

// The library's world, made when it is used first. NULL when memory ran out.
static chain* chain_of(rope_game* game, rope_cell cell) {
    chain** place = game->settings.way == WAY_BOX ? &cell->chain : &game->chain;
    if (!*place) *place = chain_new();
    return *place;
}

static rope_cell cell_of(ecs_world* world, const rope_game* game) {
    const ecs_entity holder = ecs_singleton(world, game->holder);
    return *(rope_cell*)ecs_get_mut(world, holder, game->rope);
}

ES_TAG(server)
ES_ON_EVENT(push)
static void push_es_event_handler(const ecs_stage* stage, ES_CONTEXT rope_game* game,
                                  const rope_push* event, int32_t client) {
    chain* rope = chain_of(game, cell_of(stage->world, game));
    if (rope && client > 0) chain_push(rope, event->link, (float)event->force * 0.25f);
}

ES_TAG(server)
static void step_es(const ecs_stage* stage, ES_CONTEXT rope_game* game, rope_cell* rope) {
    chain* one = chain_of(game, *rope);
    if (one) chain_step(one, stage->dt);
}

ES_TAG(server)
static void show_es(const ecs_stage* stage, ES_CONTEXT rope_game* game, int32_t number, float* at) {
    const chain* rope = chain_of(game, cell_of(stage->world, game));
    if (rope) *at = chain_at(rope, (uint32_t)number);
}

static void start(ecs_world* world, rope_game* game, const net_game_start* start) {
    (void)start;
    (void)ecs_try_create(world, game->holder, NULL, 0);
    for (int32_t i = 0; i < CHAIN_LINKS; i++)
        (void)ecs_try_create(world, game->link, ECS_INITS({game->number, &i}));
}

static ecs_entity player_join(ecs_world* world, rope_game* game, const net_game_player* player) {
    const int32_t client = (int32_t)player->client;
    return ecs_try_create(world, game->player, ECS_INITS({game->client, &client}));
}

static void bot_think(const net_player_context* view, rope_push* push) {
    if (base_rng_below(view->rng, 40) != 0) return;
    push->link = base_rng_below(view->rng, CHAIN_LINKS);
    push->force = (int32_t)base_rng_below(view->rng, 201) - 100;
}
