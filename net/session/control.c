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

static uint32_t character_code(const unsigned char* at, size_t bytes) {
    if (bytes == 1) return at[0];
    uint32_t code = at[0] & (0x7Fu >> bytes);
    for (size_t i = 1; i < bytes; i++)
        code = code << 6 | (at[i] & 0x3Fu);
    return code;
}

typedef struct code_range {
    uint32_t first, last;
} code_range;

static bool is_in(const code_range* ranges, size_t count, uint32_t code) {
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last) return true;
    return false;
}

// Characters that change how others are shown, or that show nothing: two names that differ by them
// look alike. They turn the direction of the text, have no width, or end a line.
static bool is_hidden(uint32_t code) {
    static const code_range HIDDEN[] = {
        {0x00, 0x1F},     {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
        {0x61C, 0x61C},   {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},
        {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},   {0x2800, 0x2800},
        {0x3164, 0x3164}, {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},
        {0xFFF0, 0xFFFB}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
    };
    return is_in(HIDDEN, BASE_COUNT(HIDDEN), code) || (code & 0xFFFE) == 0xFFFE;
}

// Every kind of space is written as the plain one.
static bool is_space(uint32_t code) {
    static const code_range SPACES[] = {{0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680},
                                        {0x2000, 0x200A}, {0x202F, 0x202F}, {0x205F, 0x205F},
                                        {0x3000, 0x3000}};
    return is_in(SPACES, BASE_COUNT(SPACES), code);
}

void net_control_clean_name(char name[NET_PLAYER_NAME_BYTES_MAX], const char* requested) {
    size_t length = 0, visible = 0;
    for (const unsigned char* at = (const unsigned char*)requested; *at;) {
        size_t bytes = character_bytes(at);
        uint32_t code = bytes ? character_code(at, bytes) : 0;
        const unsigned char* character = at;
        at += bytes ? bytes : 1;
        if (bytes == 0) continue;
        if (is_space(code)) {
            // One space between words, none before them; those after them are cut below.
            bool is_kept = length > 0 && name[length - 1] != ' ';
            if (is_kept && length + 1 < NET_PLAYER_NAME_BYTES_MAX) name[length++] = ' ';
            continue;
        }
        if (is_hidden(code)) continue;
        if (length + bytes >= NET_PLAYER_NAME_BYTES_MAX) break;
        memcpy(name + length, character, bytes);
        length += bytes;
        visible = length;
    }
    name[visible] = '\0';
    if (visible == 0) (void)base_text_copy(name, NET_PLAYER_NAME_BYTES_MAX, "player");
}
