// SPDX-License-Identifier: MIT
// One sorted array. An address is asked for once per length of prefix that the list has: the prefix
// of that length is looked up like any other item.
#include "net/token.h"

#include "base/assert.h"
#include "base/search.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BITS 128u
#define MAPPED_BITS 96u // of ::ffff:0:0/96

typedef struct net_bans_item {
    net_ban ban;
    bool is_of_file;
} net_bans_item;

struct net_bans {
    base_owner owner;
    net_bans_item* items; // sorted by compare_bans
    uint32_t count, capacity;
    uint32_t lengths[129]; // items with this length of prefix
};

static int compare_u64(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

// Order: kind, length, prefix, number. 0: the same ban, whatever its reason.
static int compare_bans(const net_ban* a, const net_ban* b) {
    int order = compare_u64(a->kind, b->kind);
    if (order == 0) order = compare_u64(a->bits, b->bits);
    if (order == 0) order = memcmp(a->ip, b->ip, sizeof a->ip);
    return order ? order : compare_u64(a->id, b->id);
}

net_bans* net_bans_create(const base_allocator* allocator) {
    return base_owner_create(allocator, sizeof(net_bans));
}

// The place of a ban, or the place to insert it.
static uint32_t find_place(const net_bans* bans, const net_ban* ban) {
    base_search search = base_search_begin(bans->count);
    while (base_search_next(&search))
        base_search_step(&search, compare_bans(&bans->items[search.middle].ban, ban) < 0);
    return search.low;
}

static const net_ban* find_ban(const net_bans* bans, const net_ban* ban) {
    uint32_t place = find_place(bans, ban);
    bool is_there = place < bans->count && compare_bans(&bans->items[place].ban, ban) == 0;
    return is_there ? &bans->items[place].ban : NULL;
}

static void cut_prefix(uint8_t ip[16], uint32_t bits) {
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t kept = bits > 8 * i ? bits - 8 * i : 0;
        if (kept < 8) ip[i] = (uint8_t)(ip[i] & ~(0xFFu >> kept));
    }
}

net_ban net_ban_of_address(const net_address* address, const char* reason) {
    net_ban ban = {.kind = NET_BAN_ADDRESS, .bits = BITS};
    memcpy(ban.ip, address->ip, sizeof ban.ip);
    (void)base_text_copy(ban.reason, sizeof ban.reason, reason ? reason : "");
    return ban;
}

void net_ban_print(const net_ban* ban, char* text, size_t text_bytes) {
    if (ban->kind != NET_BAN_ADDRESS) {
        (void)base_text_format(text, text_bytes, "%s %" PRIu64,
                               ban->kind == NET_BAN_PLAYER ? "player" : "key", ban->id);
        return;
    }
    net_address address = {.port = 0};
    memcpy(address.ip, ban->ip, sizeof address.ip);
    bool is_ipv4 = ban->bits >= MAPPED_BITS && net_address_is_ipv4(&address);
    char host[NET_ADDRESS_TEXT_BYTES];
    (void)net_address_print(&address, host, sizeof host);
    // "1.2.3.4:0" or "[::1]:0"
    char* from = host[0] == '[' ? host + 1 : host;
    char* end = strrchr(host, ':') - (host[0] == '[');
    (void)base_text_format(text, text_bytes, "address %.*s/%u", (int)(end - from), from,
                           is_ipv4 ? ban->bits - MAPPED_BITS : ban->bits);
}

net_result net_bans_add(net_bans* bans, const net_ban* ban) {
    BASE_ASSERT(ban->kind <= NET_BAN_KEY && ban->bits <= BITS);
    uint32_t place = find_place(bans, ban);
    bool is_there = place < bans->count && compare_bans(&bans->items[place].ban, ban) == 0;
    if (!is_there) {
        if (bans->count == NET_BANS_MAX) return NET_ERR_FULL;
        BASE_ARRAY_RESERVE(&bans->owner.allocator, bans->items, bans->capacity, bans->count + 1);
        memmove(&bans->items[place + 1], &bans->items[place],
                (bans->count - place) * sizeof *bans->items);
        bans->count++;
        if (ban->kind == NET_BAN_ADDRESS) bans->lengths[ban->bits]++;
    }
    bans->items[place] = (net_bans_item){.ban = *ban};
    return NET_OK;
}

bool net_bans_remove(net_bans* bans, const net_ban* ban) {
    uint32_t place = find_place(bans, ban);
    if (place == bans->count || compare_bans(&bans->items[place].ban, ban) != 0) return false;
    if (ban->kind == NET_BAN_ADDRESS) bans->lengths[ban->bits]--;
    bans->count--;
    memmove(&bans->items[place], &bans->items[place + 1],
            (bans->count - place) * sizeof *bans->items);
    return true;
}

const net_ban* net_bans_find_address(const net_bans* bans, const net_address* address) {
    if (!bans) return NULL;
    net_ban asked = {.kind = NET_BAN_ADDRESS};
    memcpy(asked.ip, address->ip, sizeof asked.ip);
    // From the longest: the reason of the most exact ban counts.
    for (uint32_t bits = BITS + 1; bits-- > 0;) {
        if (bans->lengths[bits] == 0) continue;
        asked.bits = bits;
        cut_prefix(asked.ip, bits);
        const net_ban* found = find_ban(bans, &asked);
        if (found) return found;
    }
    return NULL;
}

static const net_ban* find_number(const net_bans* bans, net_ban_kind kind, uint64_t id) {
    if (!bans || id == 0) return NULL;
    const net_ban asked = {.kind = kind, .id = id};
    return find_ban(bans, &asked);
}

const net_ban* net_bans_find_player(const net_bans* bans, uint64_t player) {
    return find_number(bans, NET_BAN_PLAYER, player);
}

const net_ban* net_bans_find_key(const net_bans* bans, uint64_t key) {
    return find_number(bans, NET_BAN_KEY, key);
}

const net_ban* net_bans_find(const net_bans* bans, const net_address* address, uint64_t player,
                             uint64_t key) {
    const net_ban* found = net_bans_find_address(bans, address);
    if (!found) found = net_bans_find_player(bans, player);
    return found ? found : net_bans_find_key(bans, key);
}

uint32_t net_bans_count(const net_bans* bans) {
    return bans ? bans->count : 0;
}

// ---- as text
//
// A file is read whole into a new array first, so a fault in any line leaves the old list as it is.

static const char FORMS[] =
    "write \"address 203.0.113.0/24\", \"address 2001:db8::/32\", \"player 123\" or \"key 3\"";

// In functions with these two parameters.
#define FAULT(...) ((void)base_text_format(fault, fault_bytes, __VA_ARGS__), NET_ERR_MALFORMED)

// Cut the next word off. @return NULL: the line ends, or a comment begins.
static char* take_word(char** at) {
    char* begin = *at;
    while (base_text_is_blank(*begin))
        begin++;
    if (*begin == '\0' || *begin == '#') return NULL;
    char* end = begin;
    while (*end && !base_text_is_blank(*end))
        end++;
    *at = *end ? end + 1 : end;
    *end = '\0';
    return begin;
}

// Short prefixes such as ::/16 contain all of IPv4.
static bool has_all_ipv4(const uint8_t ip[16], uint32_t bits) {
    static const uint8_t MAPPED[16] = {[10] = 0xFF, [11] = 0xFF};
    for (uint32_t bit = 0; bit < bits && bit < MAPPED_BITS; bit++)
        if ((ip[bit / 8] ^ MAPPED[bit / 8]) & 0x80u >> bit % 8) return false;
    return bits < MAPPED_BITS + NET_BAN_IPV4_BITS_MIN;
}

static net_result parse_address(char* word, net_ban* ban, char* fault, size_t fault_bytes) {
    char* slash = strchr(word, '/');
    if (slash) *slash = '\0';
    struct in_addr four;
    bool is_ipv4 = inet_pton(AF_INET, word, &four) == 1;
    if (is_ipv4) {
        net_address address = net_address_ipv4(four.s_addr, 0);
        memcpy(ban->ip, address.ip, sizeof ban->ip);
    } else if (inet_pton(AF_INET6, word, ban->ip) != 1) {
        return FAULT("\"%s\" is not an IPv4 or IPv6 address: %s", word, FORMS);
    }
    const uint32_t most = is_ipv4 ? 32 : 128;
    const uint32_t least = is_ipv4 ? NET_BAN_IPV4_BITS_MIN : NET_BAN_IPV6_BITS_MIN;
    uint64_t bits = most;
    if (slash && (!base_text_parse_u64(slash + 1, &bits) || bits < least || bits > most))
        return FAULT("\"/%s\" is not a prefix length: /%u to /%u", slash + 1, least, most);
    ban->bits = (uint32_t)bits + (is_ipv4 ? MAPPED_BITS : 0);
    uint8_t network[sizeof ban->ip];
    memcpy(network, ban->ip, sizeof network);
    cut_prefix(network, ban->bits);
    if (memcmp(network, ban->ip, sizeof network) != 0)
        return FAULT("%s has bits after /%u: write the network, or a longer prefix", word,
                     (uint32_t)bits);
    if (has_all_ipv4(ban->ip, ban->bits))
        return FAULT("%s/%u contains all IPv4 addresses", word, (uint32_t)bits);
    return NET_OK;
}

// The rest of the line, with one space between two words.
static void parse_reason(char* at, net_ban* ban) {
    size_t size = 0;
    for (char* word; (word = take_word(&at)) != NULL; size = strlen(ban->reason))
        (void)base_text_format(ban->reason + size, sizeof ban->reason - size, "%s%s",
                               size ? " " : "", word);
    for (char* c = ban->reason; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
}

net_result net_ban_parse(const char* line, net_ban* ban, char* fault, size_t fault_bytes) {
    static const char* const kinds[] = {
        [NET_BAN_ADDRESS] = "address", [NET_BAN_PLAYER] = "player", [NET_BAN_KEY] = "key"};
    char copy[NET_BAN_LINE_BYTES_MAX];
    if (!base_text_copy(copy, sizeof copy, line))
        return FAULT("the line is longer than %u bytes", NET_BAN_LINE_BYTES_MAX - 1);
    char* at = copy;
    const char* kind = take_word(&at);
    if (!kind) return NET_ERR_UNKNOWN;
    *ban = (net_ban){.kind = NET_BAN_ADDRESS};
    while (ban->kind <= NET_BAN_KEY && strcmp(kind, kinds[ban->kind]) != 0)
        ban->kind++;
    if (ban->kind > NET_BAN_KEY) return FAULT("\"%s\": %s", kind, FORMS);
    char* what = take_word(&at);
    if (!what) return FAULT("missing value after '%s': %s", kind, FORMS);
    if (ban->kind != NET_BAN_ADDRESS && (!base_text_parse_u64(what, &ban->id) || ban->id == 0))
        return FAULT("\"%s\" is not the number of a %s: 1 to 18446744073709551615", what, kind);
    const net_result result =
        ban->kind == NET_BAN_ADDRESS ? parse_address(what, ban, fault, fault_bytes) : NET_OK;
    if (result == NET_OK) parse_reason(at, ban);
    return result;
}

// ---- all lines

typedef struct reading {
    const base_allocator* allocator;
    net_bans_item* items;
    uint32_t count, capacity, faults;
} reading;

static net_result push_ban(reading* of, const net_ban* ban, bool is_of_file) {
    // Twice the limit: doubles go at the end.
    if (of->count == 2 * NET_BANS_MAX) return NET_ERR_FULL;
    BASE_ARRAY_RESERVE(of->allocator, of->items, of->capacity, of->count + 1);
    of->items[of->count++] = (net_bans_item){*ban, is_of_file};
    return NET_OK;
}

static void report_fault(reading* of, const char* file, uint32_t line, const char* fault,
                         const base_reporter* reporter) {
    if (++of->faults <= NET_BAN_FAULTS_REPORTED_MAX) base_report(reporter, file, line, "%s", fault);
}

static net_result read_lines(reading* of, const char* text, size_t size, const char* file,
                             const base_reporter* reporter) {
    const char* const end = text + size;
    uint32_t number = 0;
    for (const char* at = text; at < end; number++) {
        const char* stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        char line[NET_BAN_LINE_BYTES_MAX + 1], fault[2 * NET_BAN_LINE_BYTES_MAX];
        size_t bytes =
            (size_t)(stop - at) < sizeof line - 1 ? (size_t)(stop - at) : sizeof line - 1;
        memcpy(line, at, bytes);
        line[bytes] = '\0';
        at = stop + 1;
        net_ban ban;
        if (memchr(line, '\0', bytes)) {
            report_fault(of, file, number + 1, "the line contains a NUL: this is not text",
                         reporter);
            continue;
        }
        net_result result = net_ban_parse(line, &ban, fault, sizeof fault);
        if (result == NET_ERR_MALFORMED) report_fault(of, file, number + 1, fault, reporter);
        if (result == NET_OK) result = push_ban(of, &ban, true);
        if (result == NET_ERR_FULL) return result;
    }
    return of->faults ? NET_ERR_MALFORMED : NET_OK;
}

// Of equal ones the one that a call added is first: it stays.
static int compare_items(const void* a, const void* b) {
    const net_bans_item *x = a, *y = b;
    int order = compare_bans(&x->ban, &y->ban);
    return order ? order : (int)x->is_of_file - (int)y->is_of_file;
}

static void sort_and_unite(reading* of) {
    if (of->count == 0) return;
    qsort(of->items, of->count, sizeof *of->items, compare_items);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < of->count; i++) {
        if (compare_bans(&of->items[kept - 1].ban, &of->items[i].ban) != 0)
            of->items[kept++] = of->items[i];
    }
    of->count = kept;
}

net_result net_bans_read(net_bans* bans, const char* text, size_t size, const char* file,
                         const base_reporter* reporter) {
    reading of = {.allocator = &bans->owner.allocator};
    net_result result = NET_OK;
    for (uint32_t i = 0; i < bans->count && result == NET_OK; i++)
        if (!bans->items[i].is_of_file) result = push_ban(&of, &bans->items[i].ban, false);
    if (result == NET_OK) result = read_lines(&of, text, size, file, reporter);
    if (result == NET_OK) sort_and_unite(&of);
    if (result == NET_OK && of.count > NET_BANS_MAX) result = NET_ERR_FULL;
    if (result == NET_ERR_FULL)
        base_report(reporter, file, 0, "more than %u bans: unite them in shorter prefixes",
                    NET_BANS_MAX);
    if (of.faults > NET_BAN_FAULTS_REPORTED_MAX)
        base_report(reporter, file, 0, "%u more lines with faults",
                    of.faults - NET_BAN_FAULTS_REPORTED_MAX);
    if (result != NET_OK) {
        BASE_ARRAY_RELEASE(of.allocator, of.items, of.capacity);
        return result;
    }
    BASE_ARRAY_RELEASE(of.allocator, bans->items, bans->capacity);
    bans->items = of.items;
    bans->count = of.count;
    bans->capacity = of.capacity;
    memset(bans->lengths, 0, sizeof bans->lengths);
    for (uint32_t i = 0; i < of.count; i++)
        if (of.items[i].ban.kind == NET_BAN_ADDRESS) bans->lengths[of.items[i].ban.bits]++;
    return NET_OK;
}

net_result net_bans_load(net_bans* bans, const char* file, const base_reporter* reporter) {
    base_bytes text = {.allocator = &bans->owner.allocator};
    net_result result = net_file_read(file, NET_BANS_FILE_BYTES_MAX, reporter, &text);
    if (result == NET_OK)
        result = net_bans_read(bans, (const char*)text.data, text.size, file, reporter);
    base_bytes_deinit(&text);
    return result;
}
