// SPDX-License-Identifier: MIT
// A game whose one system fails in tick `at`, in the way `how`: 1 an assertion, 2 a bad access,
// 3 it never comes back, 4 it comes back when the file `go_on` exists, 10 it asks for a value of an
// entity that does not live, 12 it creates one while a query is walked. The other ways are no
// crash: 5 a client writes what the server sends, 6 the match ends, 7 client 2 is refused, 8
// client 1 is dropped, 9 memory that was not set decides, 11 a system writes what it declares as
// read, 14 what it counts in its context decides. Without `how` it is the health of its one entity;
// 20 is an access and 21 a loop of a system that draws, in its first frame; 22: that frame waits
// for WAITED_TICKS of the server; 23: as 3, but on the server alone. 30: bot_think makes a bad
// access, 31: it writes beyond its memory, 32: player_join makes a bad access, 33: the first player
// is asked for its health in each tick, also when it has left.
#include "base/assert.h"
#include "ecs/component.h"
#include "ecs/system.h"
#include "ecs/template.h"
#include "net/game.h"

#include "crash.pb-c.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct game {
    ecs_tick at;
    uint32_t how;
    const net_game_services* services;
    ecs_component_id health;
    uint32_t waited_ticks;
    uint32_t count;
    ecs_entity first;
} game;

enum {
    HOW_ASSERT = 1,
    HOW_ACCESS,
    HOW_FOREVER,
    HOW_SLOW,
    HOW_WRITE,
    HOW_END,
    HOW_REFUSE,
    HOW_DROP,
    HOW_UNSET,
    HOW_MISSING,
    HOW_SLIP,
    HOW_CREATE,
    HOW_PLAY, // players have a thing, and send inputs that no system hears
    HOW_COUNT,
    HOW_DRAW = 20,
    HOW_DRAW_FOREVER,
    HOW_DRAW_SLOWLY,
    HOW_SERVER_FOREVER,
    HOW_THINK = 30,
    HOW_FORGET,
    HOW_JOIN,
    HOW_LEFT,
    WAITED_TICKS = 45
};

static void spin(volatile uint64_t* counter) {
    while (*counter < UINT64_MAX)
        *counter = *counter + 1;
}

// The test says when the tick ends: late enough on a fast machine, early enough on a busy one.
static void wait_for_file(const char* path) {
    while (access(path, F_OK) != 0)
        continue;
}

static int32_t read_unset(void) {
    const size_t bytes = 1 << 20;
    volatile uint8_t* memory = malloc(bytes);
    const int32_t value = memory ? memory[1000] : 0;
    free((void*)(uintptr_t)memory);
    return value;
}

static uint32_t way(const game* self, const ecs_rows* rows) {
    return self->how ? self->how : (uint32_t) * (const int32_t*)rows->columns[0];
}

static void fail_run(const ecs_stage* stage, const ecs_rows* rows) {
    game* self = stage->context;
    volatile uint64_t counter = 0;
    if (rows->count == 0) return;
    const uint32_t how = way(self, rows);
    if (how == HOW_DRAW_SLOWLY && self->services && access("drawing", F_OK) == 0 &&
        ++self->waited_ticks == WAITED_TICKS)
        (void)mkdir("go_on", 0700);
    if (self->how == HOW_COUNT && ++self->count % 50 == 0)
        ++*(int32_t*)ecs_get_mut(stage->world, rows->entities[0], self->health);
    if (how == HOW_LEFT && self->services && self->first)
        (void)ecs_get(stage->world, self->first, self->health);
    if (stage->tick != self->at) return;
    if (how == HOW_ASSERT) BASE_ASSERT(stage->tick != self->at && "as the test wants");
    if (how == HOW_ACCESS) *(volatile int*)(uintptr_t)(16 + counter) = 1;
    if (how == HOW_FOREVER || (how == HOW_SERVER_FOREVER && self->services)) spin(&counter);
    if (how == HOW_SLOW) wait_for_file("go_on");
    if (how == HOW_MISSING) (void)ecs_get(stage->world, ecs_entity_make(77, 1), self->health);
    if (self->how == HOW_UNSET)
        *(int32_t*)ecs_get_mut(stage->world, rows->entities[0], self->health) += read_unset();
    ecs_entity made;
    if (how == HOW_CREATE)
        (void)!ecs_create(stage->world, ecs_template_find(stage->world, "thing"), NULL, 0, &made);
    if (self->how == HOW_SLIP) ++*(int32_t*)rows->columns[0];
    const net_game_services* services = self->services;
    if (services && self->how == HOW_END) services->end_match(services->context, "red wins");
    if (services && self->how == HOW_DROP) services->drop_player(services->context, 1, "it slept");
}

static void draw_run(const ecs_stage* stage, const ecs_rows* rows) {
    volatile uint64_t counter = 0;
    const uint32_t how = way(stage->context, rows);
    if (how == HOW_DRAW) *(volatile int*)(uintptr_t)(16 + counter) = 1;
    if (how == HOW_DRAW_FOREVER) spin(&counter);
    if (how != HOW_DRAW_SLOWLY) return;
    (void)mkdir("drawing", 0700);
    wait_for_file("go_on");
}

static void write_run(const ecs_stage* stage, const ecs_rows* rows) {
    const game* self = stage->context;
    int32_t* health = rows->columns[0];
    for (uint32_t i = 0; i < rows->count && self->how == HOW_WRITE; i++)
        health[i] = 1;
}

static ecs_result register_types(ecs_world* world, const base_reporter* reporter) {
    (void)reporter;
    static const ecs_field fields[] = {{.name = "buttons", .kind = ECS_FIELD_U32, .count = 1}};
    ecs_event_type type;
    return ecs_event_register(
        world,
        &(ecs_event_desc){
            .name = "crash_input", .size = sizeof(uint32_t), .fields = fields, .field_count = 1},
        &type);
}

static void input_to_wire(const void* payload, ProtobufCMessage* message) {
    ((Crash__Input*)message)->buttons = *(const uint32_t*)payload;
}

static bool input_from_wire(const ProtobufCMessage* message, void* payload) {
    *(uint32_t*)payload = ((const Crash__Input*)message)->buttons;
    return true;
}

static void bot_think(const net_player_context* player, void* input) {
    const game* self = player->context;
    volatile uint64_t zero = 0;
    *(uint32_t*)input = 2;
    if (self->how == HOW_THINK) *(volatile int*)(uintptr_t)(16 + zero) = 1;
    if (self->how == HOW_FORGET) ((volatile uint8_t*)player->memory)[NET_BOT_MEMORY_BYTES] = 1;
}

static ecs_entity player_join(ecs_world* world, void* context, const net_game_player* player) {
    game* self = context;
    ecs_entity made = ECS_ENTITY_NONE;
    if (self->how == HOW_REFUSE && player->client == 2)
        self->services->drop_player(self->services->context, 2, "two is a crowd");
    volatile uint64_t zero = 0;
    if (self->how == HOW_JOIN) *(volatile int*)(uintptr_t)(16 + zero) = 1;
    if (self->how == HOW_PLAY || self->how >= HOW_THINK)
        (void)!ecs_create(world, ecs_template_find(world, "thing"), NULL, 0, &made);
    if (player->client == 1) self->first = made;
    return made;
}

static void player_leave(ecs_world* world, void* context, uint32_t client, ecs_entity entity) {
    const game* self = context;
    (void)client;
    if (self->how == HOW_LEFT) (void)!ecs_destroy(world, entity);
}

static ecs_result register_systems(ecs_world* world, void** context,
                                   const base_reporter* reporter) {
    (void)reporter;
    game* self = ecs_world_context(world, sizeof *self);
    static const ecs_term terms[] = {{"health", "i", ECS_WRITE}};
    static const ecs_term drawn[] = {{"health", "i", ECS_READ}};
    static const char* const clients[] = {"gameClient"};
    static const char* const pictures[] = {"render"};
    *context = self;
    self->health = ecs_component_find(world, "health");
    ecs_result result = ecs_system_register(world, &(ecs_system_desc){.name = "write_on_purpose",
                                                                      .stage = "act",
                                                                      .run = write_run,
                                                                      .terms = terms,
                                                                      .term_count = 1,
                                                                      .tags = clients,
                                                                      .tag_count = 1,
                                                                      .context = self});
    if (result != ECS_OK) return result;
    result = ecs_system_register(world, &(ecs_system_desc){.name = "draw_on_purpose",
                                                           .stage = "render",
                                                           .run = draw_run,
                                                           .terms = drawn,
                                                           .term_count = 1,
                                                           .tags = pictures,
                                                           .tag_count = 1,
                                                           .context = self});
    if (result != ECS_OK) return result;
    return ecs_system_register(world, &(ecs_system_desc){.name = "fail_on_purpose",
                                                         .stage = "act",
                                                         .run = fail_run,
                                                         .terms = drawn,
                                                         .term_count = 1,
                                                         .context = self});
}

static void mirror_start(ecs_world* world, void* context, const net_game_start* with) {
    (void)world;
    game* self = context;
    self->at = (ecs_tick)with->settings[0];
    self->how = (uint32_t)with->settings[1];
    if (self->how < HOW_WRITE || (self->how >= HOW_SLIP && self->how < HOW_THINK))
        self->how = 0; // the server fails, not its clients
}

static void start(ecs_world* world, void* context, const net_game_start* with) {
    game* self = context;
    self->at = (ecs_tick)with->settings[0];
    self->how = (uint32_t)with->settings[1];
    self->services = with->services;
    ecs_entity made;
    (void)!ecs_create(world, ecs_template_find(world, "thing"), NULL, 0, &made);
}

static const net_message messages[] = {{.name = "Input",
                                        .descriptor = &crash__input__descriptor,
                                        .event = "crash_input",
                                        .kind = NET_MESSAGE_INPUT,
                                        .to_wire = input_to_wire,
                                        .from_wire = input_from_wire}};
static const net_setting settings[] = {{"at", 30, 1, 1e6, "tick"}, {"how", 0, 0, HOW_LEFT, "way"}};

static const net_game_module module = {
    .contract_version = NET_GAME_CONTRACT_VERSION,
    .size_bytes = sizeof(net_game_module),
    .core_version = ECS_CORE_VERSION,
    .name = "crash",
    .title = "A game that fails",
    .view_width = 1,
    .view_height = 1,
    .messages = messages,
    .message_count = 1,
    .message_bytes = sizeof(net_message),
    .settings = settings,
    .setting_count = 2,
    .setting_bytes = sizeof(net_setting),
    .action_bytes = sizeof(net_action),
    .register_types = register_types,
    .register_systems = register_systems,
    .start = start,
    .player_join = player_join,
    .player_leave = player_leave,
    .mirror_start = mirror_start,
    .bot_think = bot_think,
};

const net_game_module* net_game_module_get(void);
const net_game_module* net_game_module_get(void) {
    return &module;
}
