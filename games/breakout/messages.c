// SPDX-License-Identifier: MIT
// Between the structs that systems see and the messages on the wire. from_wire clamps: whatever a
// stranger sends, the simulation gets values that it knows.

#include "breakout.h"

#include "breakout.pb-c.h"

static void pad_input_to_wire(const void* payload, ProtobufCMessage* message) {
    const breakout_input* input = payload;
    Breakout__PadInput* wire = (Breakout__PadInput*)message;
    wire->move = input->move;
    wire->launch = input->is_launching;
}

static bool pad_input_from_wire(const ProtobufCMessage* message, void* payload) {
    const Breakout__PadInput* wire = (const Breakout__PadInput*)message;
    breakout_input* input = payload;
    input->move = wire->move < -127 ? -127 : wire->move > 127 ? 127 : wire->move;
    input->is_launching = wire->launch != 0;
    return true;
}

static void cheer_to_wire(const void* payload, ProtobufCMessage* message) {
    const breakout_cheer* cheer = payload;
    ((Breakout__Cheer*)message)->emote = cheer->emote;
}

static bool cheer_from_wire(const ProtobufCMessage* message, void* payload) {
    const Breakout__Cheer* wire = (const Breakout__Cheer*)message;
    if (wire->emote >= BREAKOUT_EMOTES) return false;
    ((breakout_cheer*)payload)->emote = wire->emote;
    return true;
}

static void brick_hit_to_wire(const void* payload, ProtobufCMessage* message) {
    const breakout_brick_hit* hit = payload;
    Breakout__BrickHit* wire = (Breakout__BrickHit*)message;
    wire->brick = hit->brick;
    wire->client = hit->client;
    wire->score = (uint32_t)hit->score;
    wire->hits_left = (uint32_t)hit->hits_left;
    wire->x = hit->x;
    wire->y = hit->y;
}

static bool brick_hit_from_wire(const ProtobufCMessage* message, void* payload) {
    const Breakout__BrickHit* wire = (const Breakout__BrickHit*)message;
    breakout_brick_hit* hit = payload;
    if (wire->score > INT32_MAX || wire->hits_left > BREAKOUT_HITS_MAX) return false;
    hit->brick = wire->brick;
    hit->client = wire->client;
    hit->score = (int32_t)wire->score;
    hit->hits_left = (int32_t)wire->hits_left;
    hit->x = wire->x;
    hit->y = wire->y;
    return true;
}

static void level_cleared_to_wire(const void* payload, ProtobufCMessage* message) {
    const breakout_level_cleared* cleared = payload;
    Breakout__LevelCleared* wire = (Breakout__LevelCleared*)message;
    wire->level = (uint32_t)cleared->level;
    wire->score = (uint32_t)cleared->score;
}

static bool level_cleared_from_wire(const ProtobufCMessage* message, void* payload) {
    const Breakout__LevelCleared* wire = (const Breakout__LevelCleared*)message;
    breakout_level_cleared* cleared = payload;
    if (wire->level > INT32_MAX || wire->score > INT32_MAX) return false;
    cleared->level = (int32_t)wire->level;
    cleared->score = (int32_t)wire->score;
    return true;
}

static void life_lost_to_wire(const void* payload, ProtobufCMessage* message) {
    const breakout_life_lost* lost = payload;
    Breakout__LifeLost* wire = (Breakout__LifeLost*)message;
    wire->lives = (uint32_t)lost->lives;
    wire->score = (uint32_t)lost->score;
}

static bool life_lost_from_wire(const ProtobufCMessage* message, void* payload) {
    const Breakout__LifeLost* wire = (const Breakout__LifeLost*)message;
    breakout_life_lost* lost = payload;
    if (wire->lives > INT32_MAX || wire->score > INT32_MAX) return false;
    lost->lives = (int32_t)wire->lives;
    lost->score = (int32_t)wire->score;
    return true;
}

static void cheered_to_wire(const void* payload, ProtobufCMessage* message) {
    const breakout_cheered* cheered = payload;
    Breakout__Cheered* wire = (Breakout__Cheered*)message;
    wire->client = cheered->client;
    wire->emote = cheered->emote;
}

static bool cheered_from_wire(const ProtobufCMessage* message, void* payload) {
    const Breakout__Cheered* wire = (const Breakout__Cheered*)message;
    breakout_cheered* cheered = payload;
    if (wire->emote >= BREAKOUT_EMOTES) return false;
    cheered->client = wire->client;
    cheered->emote = wire->emote;
    return true;
}

const net_message breakout_messages[BREAKOUT_MESSAGE_COUNT] = {
    [BREAKOUT_MESSAGE_PAD_INPUT] = {"PadInput", &breakout__pad_input__descriptor, "pad_input",
                                    NET_MESSAGE_INPUT, false, pad_input_to_wire,
                                    pad_input_from_wire, false},
    [BREAKOUT_MESSAGE_CHEER] = {"Cheer", &breakout__cheer__descriptor, "cheer",
                                NET_MESSAGE_TO_SERVER, true, cheer_to_wire, cheer_from_wire, false},
    [BREAKOUT_MESSAGE_BRICK_HIT] = {"BrickHit", &breakout__brick_hit__descriptor, "brick_hit",
                                    NET_MESSAGE_TO_CLIENTS, false, brick_hit_to_wire,
                                    brick_hit_from_wire, false},
    [BREAKOUT_MESSAGE_LEVEL_CLEARED] = {"LevelCleared", &breakout__level_cleared__descriptor,
                                        "level_cleared", NET_MESSAGE_TO_CLIENTS, true,
                                        level_cleared_to_wire, level_cleared_from_wire, false},
    [BREAKOUT_MESSAGE_LIFE_LOST] = {"LifeLost", &breakout__life_lost__descriptor, "life_lost",
                                    NET_MESSAGE_TO_CLIENTS, true, life_lost_to_wire,
                                    life_lost_from_wire, false},
    [BREAKOUT_MESSAGE_CHEERED] = {"Cheered", &breakout__cheered__descriptor, "cheered",
                                  NET_MESSAGE_TO_CLIENTS, true, cheered_to_wire, cheered_from_wire,
                                  false},
};
