// SPDX-License-Identifier: MIT
// ENet decodes safely but believes much. A datagram that our own
// sender never writes is refused before ENet sees it. That removes whole classes of attack:
//
//   compressed datagrams                     a decompressor is an attack surface and an amplifier
//   acknowledged command without a sent time leaves a peer acknowledging its disconnect forever
//   unreliable ones of any kind              never used: packets go past ENet
//   commands without payload                 memory that no limit counts
//   more than 32 commands                    ENet never packs more; pings are answered one by one
//   reliable commands far ahead              every insertion walks the list of those before it
//   large or many fragments                  the receiver allocates what the first one claims
//   a connect beside other commands          a new peer sends a connect alone
//
// The format is ENet 1.3's; numbers are big-endian. Datagram: u16 {sent time 15, compressed 14,
// session 13..12, peer 11..0}, u16 time if flagged, commands. Command: u8 {acknowledge 7,
// unsequenced 6, number 3..0}, u8 channel, u16 sequence, then by number.
#include "transport/datagram_filter.h"

#include "net/limits.h"
#include "net/transport.h"

#include "base/assert.h"

#include <string.h>

enum {
    HAS_SENT_TIME = 0x8000,
    IS_COMPRESSED = 0x4000,
    WANTS_ACKNOWLEDGE = 0x80,
    COMMANDS_MAX = 32,  // ENET_PROTOCOL_MAXIMUM_PACKET_COMMANDS of any sender
    FRAGMENTS_MAX = 32, // NET_CONTROL_BYTES_MAX needs 15
    AHEAD_MAX = 256,    // reliable commands
    THROTTLE_INTERVAL_MS = 5000,
    THROTTLE_SCALE = 32,
};

typedef enum command_number {
    ACKNOWLEDGE = 1,
    CONNECT,
    VERIFY_CONNECT,
    DISCONNECT,
    PING,
    SEND_RELIABLE,
    SEND_UNRELIABLE,
    SEND_FRAGMENT,
    SEND_UNSEQUENCED,
    BANDWIDTH_LIMIT,
    THROTTLE_CONFIGURE,
    SEND_UNRELIABLE_FRAGMENT,
    COMMAND_COUNT,
} command_number;

static const uint8_t command_bytes[COMMAND_COUNT] = {
    [ACKNOWLEDGE] = 8,
    [CONNECT] = 48,
    [VERIFY_CONNECT] = 44,
    [DISCONNECT] = 8,
    [PING] = 4,
    [SEND_RELIABLE] = 6,
    [SEND_FRAGMENT] = 24,
    [BANDWIDTH_LIMIT] = 12,
    [THROTTLE_CONFIGURE] = 16, // the others: 0, refused
};

static uint16_t read_u16(const uint8_t* bytes) {
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static uint32_t read_u32(const uint8_t* bytes) {
    return (uint32_t)read_u16(bytes) << 16 | read_u16(bytes + 2);
}

static void write_u32(uint8_t* bytes, uint32_t value) {
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}

uint32_t net_filter_peer(const uint8_t* bytes, size_t size) {
    return size < 2 ? NET_FILTER_NO_PEER : read_u16(bytes) & 0xFFFu;
}

static bool is_far_ahead(uint16_t sequence, const net_filter_context* context) {
    return (int16_t)(sequence - context->reliable_sequence) > AHEAD_MAX;
}

// Bytes of payload after the command; SIZE_MAX when the command is not one of ours.
static size_t payload_size(const uint8_t* command, const net_filter_context* context) {
    bool is_acknowledged = command[0] & WANTS_ACKNOWLEDGE;
    uint8_t channel = command[1];
    size_t size = 0;
    switch (command[0] & 0x0F) {
    case SEND_RELIABLE:
        size = read_u16(command + 4);
        if (channel != NET_CHANNEL_CONTROL || !is_acknowledged || size == 0) return SIZE_MAX;
        return is_far_ahead(read_u16(command + 2), context) ? SIZE_MAX : size;
    case SEND_FRAGMENT:
        size = read_u16(command + 6);
        if (channel != NET_CHANNEL_CONTROL || !is_acknowledged || size == 0) return SIZE_MAX;
        if (is_far_ahead(read_u16(command + 2), context)) return SIZE_MAX;
        uint16_t start = read_u16(command + 4);
        uint32_t count = read_u32(command + 8), number = read_u32(command + 12);
        uint32_t total = read_u32(command + 16), offset = read_u32(command + 20);
        return (!is_far_ahead(start, context) && count >= 1 && count <= FRAGMENTS_MAX &&
                number < count && total <= NET_CONTROL_BYTES_MAX && offset < total &&
                read_u16(command + 6) <= total - offset)
                   ? size
                   : SIZE_MAX;
    case ACKNOWLEDGE:
        return is_acknowledged ? SIZE_MAX : 0;
    default:
        return 0;
    }
}

// The other side proposes, we decide.
static void overwrite_parameters(uint8_t* command) {
    switch (command[0] & 0x0F) {
    case CONNECT:
    case VERIFY_CONNECT:
        write_u32(command + 8, NET_MTU_BYTES);
        write_u32(command + 20, 0); // incoming and outgoing bandwidth: unlimited
        write_u32(command + 24, 0);
        break;
    case BANDWIDTH_LIMIT:
        write_u32(command + 4, 0);
        write_u32(command + 8, 0);
        break;
    case THROTTLE_CONFIGURE:
        write_u32(command + 4, THROTTLE_INTERVAL_MS);
        write_u32(command + 8, THROTTLE_SCALE);
        write_u32(command + 12, 0);
        break;
    default:
        break;
    }
}

bool net_filter_check(uint8_t* bytes, size_t size, const net_filter_context* context) {
    if (size < 2 || size > NET_DATAGRAM_BYTES_MAX) return false;
    uint16_t head = read_u16(bytes);
    if (head & IS_COMPRESSED) return false;
    bool is_timed = head & HAS_SENT_TIME, is_stranger = (head & 0xFFF) == NET_FILTER_NO_PEER;
    size_t at = is_timed ? 4 : 2;
    if (size <= at) return false;
    if (is_stranger && (!context->is_server || size != 4u + command_bytes[CONNECT])) return false;
    for (uint32_t count = 0; at < size; count++) {
        if (count == COMMANDS_MAX || size - at < 4) return false;
        uint8_t* command = bytes + at;
        uint8_t number = command[0] & 0x0F;
        if (number >= COMMAND_COUNT || command_bytes[number] == 0) return false;
        if (size - at < command_bytes[number]) return false;
        if (is_stranger != (number == CONNECT)) return false;
        if (command[0] & WANTS_ACKNOWLEDGE && !is_timed) return false;
        size_t payload = payload_size(command, context);
        if (payload > size - at - command_bytes[number]) return false;
        overwrite_parameters(command);
        at += command_bytes[number] + payload;
    }
    return true;
}

// A reliable command is a repeat when the channel has delivered its number, or when a command of
// this number came before and waits. Of the waiting ones a bit each is kept. It says "came", not
// "is kept by ENet", so a repeat is rationed and never refused: the first one may have been lost
// inside ENet, and its acknowledgement on the way. A ping, a disconnect and the settings of
// bandwidth and throttle want an acknowledgement too, and bring nothing: they cost the same.

enum { WINDOW = 256 }; // the filter refuses commands further ahead

// @return true when the command came for the first time.
static bool window_take(net_repeat_ration* ration, uint16_t sequence) {
    uint16_t ahead = (uint16_t)(sequence - ration->sequence);
    if (ahead == 0 || ahead > WINDOW) return false;
    uint8_t place = (uint8_t)sequence;
    uint64_t bit = UINT64_C(1) << place % 64;
    bool is_new = !(ration->seen[place / 64] & bit);
    ration->seen[place / 64] |= bit;
    return is_new;
}

bool net_repeat_ration_pass(net_repeat_ration* ration, const uint8_t* bytes, size_t size,
                            const net_filter_context* context, uint64_t now_us) {
    static const net_budget_rate rate = {1000000 / NET_REPEATS_PER_SECOND, NET_REPEATS_PER_SECOND};
    uint32_t repeats = 0;
    uint16_t moved = (uint16_t)(context->reliable_sequence - ration->sequence);
    if (moved >= WINDOW) memset(ration->seen, 0, sizeof ration->seen);
    for (uint16_t i = 1; moved < WINDOW && i <= moved; i++) {
        uint8_t delivered = (uint8_t)(ration->sequence + i);
        ration->seen[delivered / 64] &= ~(UINT64_C(1) << delivered % 64);
    }
    ration->sequence = context->reliable_sequence;
    for (size_t at = read_u16(bytes) & HAS_SENT_TIME ? 4 : 2; at < size;) {
        const uint8_t* command = bytes + at;
        const uint8_t number = command[0] & 0x0F;
        const bool is_message = number == SEND_RELIABLE || number == SEND_FRAGMENT;
        const size_t payload = payload_size(command, context);
        BASE_ASSERT(payload <= size - at - command_bytes[number]); // it was checked
        at += command_bytes[number] + payload;
        if (command[0] & WANTS_ACKNOWLEDGE)
            repeats += !(is_message && window_take(ration, read_u16(command + 2)));
    }
    return repeats == 0 || net_budget_take_all(&ration->repeats, rate, repeats, now_us);
}
