// SPDX-License-Identifier: MIT
// Messages of the control channel.
//
// They are rare and small, so each is encoded on the stack.
#include "session/control.h"

#include "base/assert.h"
#include "base/shown.h"
#include "base/text.h"
#include "proto/codec.h"

#include <string.h>

size_t net_control_encode(const ProtobufCMessage* message, uint8_t bytes[NET_CONTROL_BYTES_MAX]) {
    return proto_encode(message, bytes, NET_CONTROL_BYTES_MAX);
}

net_result net_control_send(net_transport* transport, net_peer peer,
                            const ProtobufCMessage* message, size_t* bytes) {
    uint8_t buffer[NET_CONTROL_BYTES_MAX];
    *bytes = net_control_encode(message, buffer);
    if (*bytes == 0) return NET_ERR_FULL;
    return transport->ops->send(transport, peer, NET_CHANNEL_CONTROL, buffer, *bytes);
}

const char* net_control_name(const ProtobufCMessage* message) {
    // Both envelopes begin with the same fields: the base, then the case of their only oneof.
    _Static_assert(offsetof(Shoal__Wire__ServerControl, kind_case) ==
                       offsetof(Shoal__Wire__ClientControl, kind_case),
                   "net_control_name reads either");
    BASE_ASSERT(message->descriptor == &shoal__wire__server_control__descriptor ||
                message->descriptor == &shoal__wire__client_control__descriptor);
    const Shoal__Wire__ServerControl* control = (const Shoal__Wire__ServerControl*)message;
    const ProtobufCFieldDescriptor* field =
        protobuf_c_message_descriptor_get_field(message->descriptor, (unsigned)control->kind_case);
    return field ? field->name : "empty";
}

typedef struct code_range {
    uint32_t first, last;
} code_range;

// Every kind of space is written as the plain one.
static bool is_space(uint32_t code) {
    static const code_range SPACES[] = {{0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680},
                                        {0x2000, 0x200A}, {0x202F, 0x202F}, {0x205F, 0x205F},
                                        {0x3000, 0x3000}};
    for (size_t i = 0; i < BASE_COUNT(SPACES); i++)
        if (code >= SPACES[i].first && code <= SPACES[i].last) return true;
    return false;
}

void net_control_clean_name(char name[NET_PLAYER_NAME_BYTES_MAX], const char* requested) {
    size_t length = 0, visible = 0;
    while (*requested) {
        const char* character = requested;
        uint32_t code;
        bool is_shown;
        size_t bytes = base_shown_next(character, &code, &is_shown);
        requested += bytes;
        if (!is_shown) continue;
        if (is_space(code)) {
            // One space between words, none before them; those after them are cut below.
            bool is_kept = length > 0 && name[length - 1] != ' ';
            if (is_kept && length + 1 < NET_PLAYER_NAME_BYTES_MAX) name[length++] = ' ';
            continue;
        }
        if (length + bytes >= NET_PLAYER_NAME_BYTES_MAX) break;
        memcpy(name + length, character, bytes);
        length += bytes;
        visible = length;
    }
    name[visible] = '\0';
    if (visible == 0) (void)base_text_copy(name, NET_PLAYER_NAME_BYTES_MAX, "player");
}
