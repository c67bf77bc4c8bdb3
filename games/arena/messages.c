// SPDX-License-Identifier: MIT
// Between the structs that systems see and the messages on the wire. from_wire clamps: whatever a
// stranger sends, the simulation gets values that it knows.

#include "arena.h"

#include "arena.pb-c.h"

static int32_t clamp(int32_t value, int32_t low, int32_t high) {
    return value < low ? low : value > high ? high : value;
}

static void input_to_wire(const void* payload, ProtobufCMessage* message) {
    const arena_input* input = payload;
    Arena__ArenaInput* wire = (Arena__ArenaInput*)message;
    wire->move_x = input->move_x;
    wire->move_y = input->move_y;
    wire->aim = (uint32_t)input->aim;
    wire->fire = input->is_firing;
    wire->ray = input->is_raying;
}

static bool input_from_wire(const ProtobufCMessage* message, void* payload) {
    const Arena__ArenaInput* wire = (const Arena__ArenaInput*)message;
    arena_input* input = payload;
    input->move_x = clamp(wire->move_x, -127, 127);
    input->move_y = clamp(wire->move_y, -127, 127);
    input->aim = (int32_t)(wire->aim & (ARENA_AIM_STEPS - 1));
    input->is_firing = wire->fire != 0;
    input->is_raying = wire->ray != 0;
    return true;
}

static void rally_to_wire(const void* payload, ProtobufCMessage* message) {
    (void)payload;
    (void)message;
}

static bool rally_from_wire(const ProtobufCMessage* message, void* payload) {
    (void)message;
    (void)payload;
    return true;
}

static void hit_to_wire(const void* payload, ProtobufCMessage* message) {
    const arena_hit* hit = payload;
    Arena__Hit* wire = (Arena__Hit*)message;
    wire->client = hit->client;
    wire->amount = (uint32_t)hit->amount;
    wire->is_fatal = hit->is_fatal;
    wire->x = (uint32_t)hit->x;
    wire->y = (uint32_t)hit->y;
}

static bool hit_from_wire(const ProtobufCMessage* message, void* payload) {
    const Arena__Hit* wire = (const Arena__Hit*)message;
    arena_hit* hit = payload;
    if (wire->amount > 4096 || wire->x > (uint32_t)ARENA_SIZE || wire->y > (uint32_t)ARENA_SIZE)
        return false;
    *hit = (arena_hit){wire->client, (int32_t)wire->amount, (int32_t)wire->x, (int32_t)wire->y,
                       wire->is_fatal != 0};
    return true;
}

static void ray_to_wire(const void* payload, ProtobufCMessage* message) {
    const arena_ray* ray = payload;
    Arena__Ray* wire = (Arena__Ray*)message;
    wire->target = ray->target;
    wire->from_x = ray->from_x;
    wire->from_y = ray->from_y;
    wire->to_x = ray->to_x;
    wire->to_y = ray->to_y;
}

static bool ray_from_wire(const ProtobufCMessage* message, void* payload) {
    const Arena__Ray* wire = (const Arena__Ray*)message;
    const int32_t low = -400, high = 4 * (int32_t)ARENA_SIZE + 400;
    *(arena_ray*)payload =
        (arena_ray){wire->target, clamp(wire->from_x, low, high), clamp(wire->from_y, low, high),
                    clamp(wire->to_x, low, high), clamp(wire->to_y, low, high)};
    return true;
}

static void killed_to_wire(const void* payload, ProtobufCMessage* message) {
    const arena_killed* killed = payload;
    Arena__Killed* wire = (Arena__Killed*)message;
    wire->victim = killed->victim;
    wire->killer = killed->killer;
    wire->victim_client = killed->victim_client;
    wire->killer_client = killed->killer_client;
    wire->victim_team = killed->victim_team;
    wire->killer_team = killed->killer_team;
}

static bool killed_from_wire(const ProtobufCMessage* message, void* payload) {
    const Arena__Killed* wire = (const Arena__Killed*)message;
    if (wire->victim_team > ARENA_TEAMS || wire->killer_team > ARENA_TEAMS) return false;
    *(arena_killed*)payload =
        (arena_killed){wire->victim,        wire->killer,      wire->victim_client,
                       wire->killer_client, wire->victim_team, wire->killer_team};
    return true;
}

static void flag_moved_to_wire(const void* payload, ProtobufCMessage* message) {
    const arena_flag_moved* moved = payload;
    Arena__FlagMoved* wire = (Arena__FlagMoved*)message;
    wire->flag = moved->flag;
    wire->carrier = moved->carrier;
    wire->team = moved->team;
    wire->by_team = moved->by_team;
    wire->by_client = moved->by_client;
    wire->what = moved->what;
}

static bool flag_moved_from_wire(const ProtobufCMessage* message, void* payload) {
    const Arena__FlagMoved* wire = (const Arena__FlagMoved*)message;
    if (wire->team > ARENA_TEAMS || wire->by_team > ARENA_TEAMS ||
        wire->what > ARENA_FLAG_IS_CAPTURED)
        return false;
    *(arena_flag_moved*)payload = (arena_flag_moved){wire->flag,    wire->carrier,   wire->team,
                                                     wire->by_team, wire->by_client, wire->what};
    return true;
}

static void round_over_to_wire(const void* payload, ProtobufCMessage* message) {
    const arena_round_over* over = payload;
    Arena__RoundOver* wire = (Arena__RoundOver*)message;
    wire->winner = over->winner;
    wire->points = over->points;
    wire->round = over->round;
}

static bool round_over_from_wire(const ProtobufCMessage* message, void* payload) {
    const Arena__RoundOver* wire = (const Arena__RoundOver*)message;
    if (wire->winner > ARENA_TEAMS) return false;
    *(arena_round_over*)payload = (arena_round_over){wire->winner, wire->points, wire->round};
    return true;
}

const net_message arena_messages[ARENA_MESSAGE_COUNT] = {
    [ARENA_MESSAGE_INPUT] = {"ArenaInput", &arena__arena_input__descriptor, "arena_input",
                             NET_MESSAGE_INPUT, false, input_to_wire, input_from_wire, false},
    [ARENA_MESSAGE_RALLY] = {"Rally", &arena__rally__descriptor, "rally", NET_MESSAGE_TO_SERVER,
                             true, rally_to_wire, rally_from_wire, false},
    [ARENA_MESSAGE_HIT] = {"Hit", &arena__hit__descriptor, "hit", NET_MESSAGE_TO_CLIENTS, false,
                           hit_to_wire, hit_from_wire, false},
    [ARENA_MESSAGE_RAY] = {"Ray", &arena__ray__descriptor, "ray", NET_MESSAGE_TO_CLIENTS, false,
                           ray_to_wire, ray_from_wire, true},
    [ARENA_MESSAGE_KILLED] = {"Killed", &arena__killed__descriptor, "killed",
                              NET_MESSAGE_TO_CLIENTS, true, killed_to_wire, killed_from_wire, true},
    [ARENA_MESSAGE_FLAG_MOVED] = {"FlagMoved", &arena__flag_moved__descriptor, "flag_moved",
                                  NET_MESSAGE_TO_CLIENTS, true, flag_moved_to_wire,
                                  flag_moved_from_wire, true},
    [ARENA_MESSAGE_ROUND_OVER] = {"RoundOver", &arena__round_over__descriptor, "round_over",
                                  NET_MESSAGE_TO_CLIENTS, true, round_over_to_wire,
                                  round_over_from_wire, false},
};
