// SPDX-License-Identifier: MIT
// Messages of the control channel.
//
// They are rare and small, so each is encoded on the stack.
#include "session/control.h"

#include "base/assert.h"
#include "base/text.h"
#include "proto/codec.h"

#include <string.h>

net_result net_control_send(net_transport* transport, net_peer peer,
                            const ProtobufCMessage* message, size_t* bytes) {
    uint8_t buffer[NET_CONTROL_BYTES_MAX];
    *bytes = proto_encode(message, buffer, sizeof buffer);
    if (*bytes == 0) return NET_ERR_FULL;
    return transport->ops->send(transport, peer, NET_CHANNEL_CONTROL, buffer, *bytes);
}

const char* net_control_name(const ProtobufCMessage* message) {
    // Both envelopes begin alike: the base, then the case of their one oneof.
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

void net_control_clean_name(char name[NET_PLAYER_NAME_BYTES_MAX], const char* requested) {
    size_t length = 0;
    bool is_visible = false;
    for (const unsigned char* at = (const unsigned char*)requested; *at;) {
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
