// SPDX-License-Identifier: MIT
// Messages of the control channel.
//
// They are rare and small, so each is packed on the stack. Only a schema answer can grow: it is cut to
// what NET_CONTROL_BYTES_MAX holds, which still names the first difference in sorted order if it lies
// within, and the refusal is given either way.
#include "session/control.h"

#include "base/assert.h"
#include "base/text.h"
#include "proto/codec.h"

#include <string.h>

#define ANSWER_ITEMS_MAX 256u
// An entry takes at most 2 + 6 + 2 + NET_PLAYER_NAME_BYTES_MAX + 2 bytes, who went 5.
#define ROSTER_ITEMS_MAX 256u
_Static_assert(ROSTER_ITEMS_MAX*(12 + NET_PLAYER_NAME_BYTES_MAX + 5) + 16 <= NET_CONTROL_BYTES_MAX,
               "a message of the roster must fit");

static net_result send_message(net_transport* transport, net_peer peer,
                               const ProtobufCMessage* message) {
    uint8_t bytes[NET_CONTROL_BYTES_MAX];
    size_t size = proto_encode(message, bytes, sizeof bytes);
    if (size == 0) return NET_ERR_FULL;
    return transport->ops->send(transport, peer, NET_CHANNEL_CONTROL, bytes, size);
}

// protobuf-c's strings are not const; packing only reads them.
static char* borrowed(const char* text) {
    return (char*)(uintptr_t)text;
}

// Bytes of the UTF-8 character at `at`; 0 when there is none.
static size_t character_bytes(const unsigned char* at) {
    size_t count = at[0] < 0x80                    ? 1
                   : at[0] >= 0xC2 && at[0] < 0xE0 ? 2
                   : at[0] >= 0xE0 && at[0] < 0xF0 ? 3
                   : at[0] >= 0xF0 && at[0] < 0xF5 ? 4
                                                   : 0;
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xC0) != 0x80) return 0;
    }
    // Overlong forms, surrogates, and what lies beyond U+10FFFF.
    if (count == 3 && ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] >= 0xA0)))
        return 0;
    if (count == 4 && ((at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] >= 0x90)))
        return 0;
    return count;
}

static bool is_control_character(const unsigned char* at) {
    return at[0] < 0x20 || at[0] == 0x7F || (at[0] == 0xC2 && at[1] < 0xA0);
}

void net_control_clean_name(char name[NET_PLAYER_NAME_BYTES_MAX], const char* wish) {
    size_t length = 0;
    bool is_visible = false;
    for (const unsigned char* at = (const unsigned char*)wish; *at;) {
        size_t bytes = character_bytes(at);
        if (bytes == 0 || is_control_character(at)) {
            at += bytes ? bytes : 1;
            continue;
        }
        if (length + bytes >= NET_PLAYER_NAME_BYTES_MAX) break;
        memcpy(name + length, at, bytes);
        length += bytes;
        is_visible = is_visible || *at != ' ';
        at += bytes;
    }
    name[length] = '\0';
    if (!is_visible) (void)base_text_copy(name, NET_PLAYER_NAME_BYTES_MAX, "player");
}

net_result net_control_send_hello(net_transport* transport, net_peer peer, uint64_t schema_hash,
                                  const char* game, const char* name, bool is_bot,
                                  uint32_t rate_bytes_max, const uint8_t* resume) {
    Shoal__Wire__Hello hello = SHOAL__WIRE__HELLO__INIT;
    hello.protocol = NET_PROTOCOL_VERSION;
    hello.schema_hash = schema_hash;
    hello.game = borrowed(game);
    hello.name = borrowed(name);
    hello.is_bot = is_bot;
    hello.rate_bytes_max = rate_bytes_max;
    uint8_t secret[NET_RESUME_BYTES];
    if (resume) {
        memcpy(secret, resume, sizeof secret);
        hello.resume = (ProtobufCBinaryData){sizeof secret, secret};
    }
    Shoal__Wire__ClientControl control = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_HELLO;
    control.hello = &hello;
    return send_message(transport, peer, &control.base);
}

net_result net_control_send_answer(net_transport* transport, net_peer peer,
                                   const net_schema* schema) {
    uint32_t count = 0;
    const net_schema_item* items = net_schema_items(schema, &count);
    if (count > ANSWER_ITEMS_MAX) count = ANSWER_ITEMS_MAX;
    Shoal__Wire__SchemaItem wire[ANSWER_ITEMS_MAX];
    Shoal__Wire__SchemaItem* pointers[ANSWER_ITEMS_MAX];
    size_t budget = NET_CONTROL_BYTES_MAX - 64;
    uint32_t fitting = 0;
    for (; fitting < count; fitting++) {
        shoal__wire__schema_item__init(&wire[fitting]);
        wire[fitting].name = borrowed(items[fitting].name);
        wire[fitting].hash = items[fitting].hash;
        size_t bytes = shoal__wire__schema_item__get_packed_size(&wire[fitting]) + 4;
        if (bytes > budget) break;
        budget -= bytes;
        pointers[fitting] = &wire[fitting];
    }
    Shoal__Wire__SchemaAnswer answer = SHOAL__WIRE__SCHEMA_ANSWER__INIT;
    answer.n_items = fitting;
    answer.items = pointers;
    Shoal__Wire__ClientControl control = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_SCHEMA_ANSWER;
    control.schema_answer = &answer;
    return send_message(transport, peer, &control.base);
}

net_result net_control_send_welcome(net_transport* transport, net_peer peer,
                                    const Shoal__Wire__Welcome* welcome) {
    Shoal__Wire__Welcome copy = *welcome;
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_WELCOME;
    control.welcome = &copy;
    return send_message(transport, peer, &control.base);
}

net_result net_control_send_roster(net_transport* transport, net_peer peer,
                                   Shoal__Wire__RosterEntry* came, uint32_t came_count,
                                   uint32_t* went, uint32_t went_count) {
    Shoal__Wire__RosterEntry* pointers[ROSTER_ITEMS_MAX];
    while (came_count > 0 || went_count > 0) {
        Shoal__Wire__Roster roster = SHOAL__WIRE__ROSTER__INIT;
        roster.n_went = went_count < ROSTER_ITEMS_MAX ? went_count : ROSTER_ITEMS_MAX;
        roster.went = went;
        roster.n_came = came_count < ROSTER_ITEMS_MAX ? came_count : ROSTER_ITEMS_MAX;
        roster.came = pointers;
        for (uint32_t i = 0; i < roster.n_came; i++)
            pointers[i] = &came[i];
        Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
        control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_ROSTER;
        control.roster = &roster;
        net_result result = send_message(transport, peer, &control.base);
        if (result != NET_OK) return result;
        came += roster.n_came;
        came_count -= (uint32_t)roster.n_came;
        went += roster.n_went;
        went_count -= (uint32_t)roster.n_went;
    }
    return NET_OK;
}

net_result net_control_send_refused(net_transport* transport, net_peer peer,
                                    Shoal__Wire__RefusedReason reason, const char* text,
                                    const char* game) {
    Shoal__Wire__Refused refused = SHOAL__WIRE__REFUSED__INIT;
    refused.reason = reason;
    refused.text = borrowed(text);
    refused.game = borrowed(game);
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_REFUSED;
    control.refused = &refused;
    return send_message(transport, peer, &control.base);
}

net_result net_control_send_question(net_transport* transport, net_peer peer) {
    Shoal__Wire__SchemaQuestion question = SHOAL__WIRE__SCHEMA_QUESTION__INIT;
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_SCHEMA_QUESTION;
    control.schema_question = &question;
    return send_message(transport, peer, &control.base);
}

net_result net_control_send_varsize(net_transport* transport, net_peer peer,
                                    const net_varsize_message* message, size_t* bytes) {
    _Static_assert(NET_VARSIZE_BYTES_MAX + NET_VARSIZE_FRAME_BYTES_MAX <= NET_CONTROL_BYTES_MAX,
                   "a value must fit one message");
    Shoal__Wire__VarsizeValue value = SHOAL__WIRE__VARSIZE_VALUE__INIT;
    value.entity = message->handle;
    value.component = message->number;
    value.version = message->version;
    value.since = message->since;
    value.is_default = message->is_default;
    value.value = (ProtobufCBinaryData){message->size, (uint8_t*)(uintptr_t)message->bytes};
    Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_VARSIZE;
    control.varsize = &value;
    *bytes = proto_encoded_bytes(&control.base);
    return send_message(transport, peer, &control.base);
}

net_result net_control_send_varsize_ack(net_transport* transport, net_peer peer, uint64_t* versions,
                                        uint32_t version_count, const net_varsize_lost* lost,
                                        uint32_t lost_count) {
    BASE_ASSERT(version_count <= NET_VARSIZE_FLIGHT_MAX && lost_count <= NET_VARSIZE_LOST_PER_ACK);
    Shoal__Wire__VarsizeLost entries[NET_VARSIZE_LOST_PER_ACK];
    Shoal__Wire__VarsizeLost* pointers[NET_VARSIZE_LOST_PER_ACK];
    for (uint32_t i = 0; i < lost_count; i++) {
        shoal__wire__varsize_lost__init(&entries[i]);
        entries[i].entity = lost[i].handle;
        entries[i].component = lost[i].number;
        entries[i].version = lost[i].version;
        pointers[i] = &entries[i];
    }
    Shoal__Wire__VarsizeAck ack = SHOAL__WIRE__VARSIZE_ACK__INIT;
    ack.n_versions = version_count;
    ack.versions = versions;
    ack.n_lost = lost_count;
    ack.lost = pointers;
    Shoal__Wire__ClientControl control = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_VARSIZE_ACK;
    control.varsize_ack = &ack;
    return send_message(transport, peer, &control.base);
}

net_result net_control_send_goodbye(net_transport* transport, net_peer peer, bool is_server,
                                    uint64_t tick, uint32_t reason) {
    Shoal__Wire__Goodbye goodbye = SHOAL__WIRE__GOODBYE__INIT;
    goodbye.tick = tick;
    goodbye.reason = reason;
    if (is_server) {
        Shoal__Wire__ServerControl control = SHOAL__WIRE__SERVER_CONTROL__INIT;
        control.kind_case = SHOAL__WIRE__SERVER_CONTROL__KIND_GOODBYE;
        control.goodbye = &goodbye;
        return send_message(transport, peer, &control.base);
    }
    Shoal__Wire__ClientControl control = SHOAL__WIRE__CLIENT_CONTROL__INIT;
    control.kind_case = SHOAL__WIRE__CLIENT_CONTROL__KIND_GOODBYE;
    control.goodbye = &goodbye;
    return send_message(transport, peer, &control.base);
}
