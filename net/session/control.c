// SPDX-License-Identifier: MIT
// Messages of the control channel.
//
// They are rare and small, so each is encoded on the stack.
#include "session/control.h"

#include "proto/codec.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/shown.h"
#include "base/text.h"

#include <string.h>

Shoal__Wire__ServerControl net_control_wrap(const ProtobufCMessageDescriptor* envelope,
                                            const ProtobufCMessage* message) {
    // Both envelopes begin with the same fields: the base, then their only oneof.
    _Static_assert(sizeof(Shoal__Wire__ServerControl) == sizeof(Shoal__Wire__ClientControl) &&
                       offsetof(Shoal__Wire__ServerControl, kind_case) ==
                           offsetof(Shoal__Wire__ClientControl, kind_case),
                   "one stands for the other");
    Shoal__Wire__ServerControl control;
    protobuf_c_message_init(envelope, &control);
    const ProtobufCFieldDescriptor* field = envelope->fields;
    while (field->descriptor != message->descriptor)
        field++;
    control.kind_case = (Shoal__Wire__ServerControl__KindCase)field->id;
    control.welcome = (void*)(uintptr_t)message; // as all members of the union
    return control;
}

net_result net_control_send(net_transport* transport, net_peer peer,
                            const ProtobufCMessage* message, size_t* bytes) {
    uint8_t buffer[NET_CONTROL_BYTES_MAX];
    *bytes = proto_encode(message, buffer, sizeof buffer);
    if (*bytes == 0) return NET_ERR_FULL;
    return transport->ops->send(transport, peer, NET_CHANNEL_CONTROL, buffer, *bytes);
}

const char* net_control_name(const ProtobufCMessage* message) {
    BASE_ASSERT(message->descriptor == &shoal__wire__server_control__descriptor ||
                message->descriptor == &shoal__wire__client_control__descriptor);
    const Shoal__Wire__ServerControl* control = (const Shoal__Wire__ServerControl*)message;
    const ProtobufCFieldDescriptor* field =
        protobuf_c_message_descriptor_get_field(message->descriptor, (unsigned)control->kind_case);
    return field ? field->name : "empty";
}

size_t net_control_write_addresses(const net_address* addresses, uint32_t count, uint8_t* bytes) {
    BASE_ASSERT(count <= NET_STANDBYS_MAX);
    for (uint32_t i = 0; i < count; i++, bytes += NET_CONTROL_ADDRESS_BYTES) {
        memcpy(bytes, addresses[i].ip, sizeof addresses[i].ip);
        bytes[16] = (uint8_t)addresses[i].port;
        bytes[17] = (uint8_t)(addresses[i].port >> 8);
    }
    return (size_t)count * NET_CONTROL_ADDRESS_BYTES;
}

bool net_control_read_addresses(const uint8_t* bytes, size_t size,
                                net_address addresses[NET_STANDBYS_MAX], uint32_t* count) {
    *count = 0;
    if (size % NET_CONTROL_ADDRESS_BYTES != 0 ||
        size > (size_t)NET_STANDBYS_MAX * NET_CONTROL_ADDRESS_BYTES)
        return false;
    for (; size > 0; size -= NET_CONTROL_ADDRESS_BYTES, bytes += NET_CONTROL_ADDRESS_BYTES) {
        net_address* read = &addresses[(*count)++];
        *read = (net_address){.port = (uint16_t)(bytes[16] | bytes[17] << 8)};
        memcpy(read->ip, bytes, sizeof read->ip);
    }
    return true;
}

// One word of printable ASCII.
static bool copy_word(char* to, size_t bytes, const char* word) {
    for (const char* at = word; *at; at++)
        if (*at <= ' ' || *at > '~') return false;
    return base_text_copy(to, bytes, word);
}

static bool is_address(const char* text) {
    const char* port = strrchr(text, ':');
    uint64_t number;
    return port && port != text && !strchr(text, ',') && base_text_parse_u64(port + 1, &number) &&
           number > 0 && number <= UINT16_MAX;
}

static bool is_page(const char* text) {
    return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

bool net_control_read_transfer(const Shoal__Wire__Goodbye* goodbye, net_transfer* transfer) {
    if (!copy_word(transfer->address, sizeof transfer->address, goodbye->address) ||
        !copy_word(transfer->token, sizeof transfer->token, goodbye->token) ||
        !copy_word(transfer->page, sizeof transfer->page, goodbye->page) ||
        !is_address(transfer->address) || (transfer->page[0] && !is_page(transfer->page)))
        return false;
    (void)base_shown_copy(transfer->why, sizeof transfer->why, goodbye->text);
    return true;
}

bool net_transfers_follow(net_transfers* transfers, uint64_t now_us) {
    uint64_t* place = &transfers->at_us[transfers->count % NET_TRANSFERS_MAX];
    if (transfers->count >= NET_TRANSFERS_MAX &&
        now_us - *place < NET_TRANSFERS_MS * UINT64_C(1000))
        return false;
    *place = now_us;
    transfers->count++;
    return true;
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

// A name has a stem and a number: "Ada" is number 1 of the stem "Ada", "Ada (2)" number 2. One pass
// finds out whether the name is taken, a second one which numbers of its stem are.

#define NUMBER_BYTES 7u // " (4103)"

typedef struct stem {
    size_t bytes;
    uint32_t number; // 1: the name has none
} stem;

// Names are compared by the hash of their stem in lower case. Two stems with one hash cost the
// later player a number, no more.
static uint64_t hash_stem(const char* name, size_t bytes) {
    char lower[NET_PLAYER_NAME_BYTES_MAX];
    BASE_ASSERT(bytes < sizeof lower);
    for (size_t i = 0; i < bytes; i++) {
        char c = name[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return base_hash64(lower, bytes, 0);
}

// "Ada (12)" is "Ada" and 12. A number that net_name_distinguish would not write is a part of the
// stem.
static stem stem_of(const char* name) {
    const size_t bytes = strlen(name);
    const stem whole = {bytes, 1};
    if (bytes < 5 || name[bytes - 1] != ')') return whole;
    size_t digits = 0;
    uint32_t number = 0, unit = 1;
    for (size_t at = bytes - 2; at > 0 && name[at] >= '0' && name[at] <= '9' && digits < 4; at--) {
        number += (uint32_t)(name[at] - '0') * unit;
        unit *= 10;
        digits++;
    }
    size_t open = bytes - 2 - digits;
    bool is_number = digits > 0 && name[open + 1] != '0' && number >= 2 && open >= 2 &&
                     name[open] == '(' && name[open - 1] == ' ';
    return is_number ? (stem){open - 1, number} : whole;
}

// The longest whole characters of a clean name with room for a number.
static size_t cut(const char* name, size_t bytes) {
    const size_t bytes_max = NET_PLAYER_NAME_BYTES_MAX - 1 - NUMBER_BYTES;
    if (bytes <= bytes_max) return bytes;
    bytes = bytes_max;
    while (bytes > 0 && ((unsigned char)name[bytes] & 0xC0) == 0x80)
        bytes--;
    while (bytes > 1 && name[bytes - 1] == ' ')
        bytes--;
    return bytes;
}

net_name_key net_name_distinguish(char name[NET_PLAYER_NAME_BYTES_MAX], const net_name_key* others,
                                  uint32_t count) {
    _Static_assert(NET_NAMES_MAX + 1 <= 9999, "a number has four digits");
    BASE_ASSERT(count <= NET_NAMES_MAX);
    const stem of = stem_of(name);
    net_name_key key = {hash_stem(name, of.bytes), of.number};
    bool is_taken = false;
    for (uint32_t i = 0; i < count && !is_taken; i++)
        is_taken = others[i].stem == key.stem && others[i].number == key.number;
    if (!is_taken) return key;
    const size_t bytes = cut(name, of.bytes);
    if (bytes < of.bytes) key.stem = hash_stem(name, bytes);
    uint64_t numbers[(NET_NAMES_MAX + 2) / 64 + 1] = {3}; // 0 and 1 are not written
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t number = others[i].number;
        if (others[i].stem != key.stem || number > NET_NAMES_MAX + 1) continue;
        numbers[number / 64] |= UINT64_C(1) << number % 64;
    }
    key.number = 2;
    while (numbers[key.number / 64] >> key.number % 64 & 1)
        key.number++;
    char made[NET_PLAYER_NAME_BYTES_MAX];
    base_text_format(made, sizeof made, "%.*s (%u)", (int)bytes, name, key.number);
    memcpy(name, made, sizeof made);
    return key;
}

// The players, in a sorted array: client numbers rise, so new players are mostly appended.

void net_roster_init(net_roster* roster, const base_allocator* allocator) {
    *roster = (net_roster){.allocator = allocator};
}

// The place of `client`, or the place to insert it.
static uint32_t find_place(const net_roster* roster, uint32_t client) {
    base_search search = base_search_begin(roster->count);
    while (base_search_next(&search))
        base_search_step(&search, roster->players[search.middle].client < client);
    return search.low;
}

static bool is_at(const net_roster* roster, uint32_t place, uint32_t client) {
    return place < roster->count && roster->players[place].client == client;
}

// All at once: a message may name 2,000 of them.
static void remove_clients(net_roster* roster, const uint32_t* clients, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t place = find_place(roster, clients[i]);
        if (is_at(roster, place, clients[i])) roster->players[place].is_gone = true;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < roster->count; i++)
        if (!roster->players[i].is_gone) roster->players[kept++] = roster->players[i];
    roster->count = kept;
}

static bool is_taken(const net_roster* roster, uint32_t place, const char* name, uint32_t hash) {
    for (uint32_t i = 0; i < roster->count; i++) {
        const net_roster_player* other = &roster->players[i];
        if (i != place && other->name_hash == hash && strcmp(other->name, name) == 0) return true;
    }
    return false;
}

static uint32_t hash_of(const char* name) {
    return (uint32_t)base_hash64(name, strlen(name), 0);
}

// Two players must not look the same: the later one gets its client number after the name.
static void give_name(net_roster* roster, uint32_t place, const char* requested) {
    net_roster_player* player = &roster->players[place];
    net_control_clean_name(player->name, requested);
    player->name_hash = hash_of(player->name);
    if (!is_taken(roster, place, player->name, player->name_hash)) return;
    char number[16], shortened[NET_PLAYER_NAME_BYTES_MAX];
    (void)base_text_format(number, sizeof number, "#%u", player->client);
    (void)base_shown_copy(shortened, sizeof shortened - strlen(number), player->name);
    (void)base_text_format(player->name, sizeof player->name, "%s%s", shortened, number);
    player->name_hash = hash_of(player->name);
}

static net_result add_client(net_roster* roster, const Shoal__Wire__RosterEntry* entry) {
    if (entry->client == 0) return NET_ERR_MALFORMED;
    uint32_t place = find_place(roster, entry->client);
    if (!is_at(roster, place, entry->client)) {
        if (roster->count == NET_CLIENTS_MAX) return NET_ERR_MALFORMED;
        BASE_ARRAY_RESERVE(roster->allocator, roster->players, roster->capacity, roster->count + 1);
        memmove(&roster->players[place + 1], &roster->players[place],
                (roster->count - place) * sizeof *roster->players);
        roster->count++;
    }
    net_roster_player* player = &roster->players[place];
    *player = (net_roster_player){.client = entry->client, .is_bot = entry->is_bot};
    give_name(roster, place, entry->name);
    return NET_OK;
}

net_result net_roster_take(net_roster* roster, const Shoal__Wire__Roster* change) {
    if (change->n_went > 0) remove_clients(roster, change->went, change->n_went);
    for (size_t i = 0; i < change->n_came; i++) {
        net_result result = add_client(roster, change->came[i]);
        if (result != NET_OK) return result;
    }
    return NET_OK;
}

const net_roster_player* net_roster_find(const net_roster* roster, uint32_t client) {
    uint32_t place = find_place(roster, client);
    return is_at(roster, place, client) ? &roster->players[place] : NULL;
}
