// SPDX-License-Identifier: MIT
// Bans as text. A file is read whole into a new array first, so a fault in any line leaves the old
// list as it is.
#include "core/bans.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define MAPPED_BITS 96u

static const char FORMS[] =
    "write \"address 203.0.113.0/24\", \"address 2001:db8::/32\", \"player 123\" or \"key 3\"";

// ---- one line

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

// Cut the next word off. @return NULL: the line ends, or a comment begins.
static char* take_word(char** at) {
    char* begin = *at;
    while (is_blank(*begin))
        begin++;
    if (*begin == '\0' || *begin == '#') return NULL;
    char* end = begin;
    while (*end && !is_blank(*end))
        end++;
    *at = *end ? end + 1 : end;
    *end = '\0';
    return begin;
}

static bool has_bits_behind(const uint8_t ip[16], uint32_t bits) {
    for (uint32_t bit = bits; bit < 128; bit++)
        if (ip[bit / 8] & 0x80u >> bit % 8) return true;
    return false;
}

// Short prefixes such as ::/16 contain all of IPv4.
static bool has_all_ipv4(const uint8_t ip[16], uint32_t bits) {
    static const uint8_t MAPPED[16] = {[10] = 0xFF, [11] = 0xFF};
    for (uint32_t bit = 0; bit < bits && bit < MAPPED_BITS; bit++)
        if ((ip[bit / 8] ^ MAPPED[bit / 8]) & 0x80u >> bit % 8) return false;
    return bits < MAPPED_BITS + NET_BAN_IPV4_BITS_MIN;
}

static bool parse_address(char* word, net_ban* ban, char* fault, size_t fault_bytes) {
    char* slash = strchr(word, '/');
    if (slash) *slash = '\0';
    struct in_addr four;
    bool is_ipv4 = inet_pton(AF_INET, word, &four) == 1;
    if (is_ipv4) {
        net_address address = net_address_ipv4(four.s_addr, 0);
        memcpy(ban->ip, address.ip, sizeof ban->ip);
    } else if (inet_pton(AF_INET6, word, ban->ip) != 1) {
        (void)base_text_format(fault, fault_bytes, "\"%s\" is not an IPv4 or IPv6 address: %s",
                               word, FORMS);
        return false;
    }
    const uint32_t most = is_ipv4 ? 32 : 128;
    const uint32_t least = is_ipv4 ? NET_BAN_IPV4_BITS_MIN : NET_BAN_IPV6_BITS_MIN;
    uint64_t bits = most;
    if (slash && (!base_text_parse_u64(slash + 1, &bits) || bits < least || bits > most)) {
        (void)base_text_format(fault, fault_bytes, "\"/%s\" is not a prefix length: /%u to /%u",
                               slash + 1, least, most);
        return false;
    }
    ban->bits = (uint32_t)bits + (is_ipv4 ? MAPPED_BITS : 0);
    if (has_bits_behind(ban->ip, ban->bits)) {
        (void)base_text_format(fault, fault_bytes,
                               "%s has bits after /%u: write the network, or a longer prefix", word,
                               (uint32_t)bits);
        return false;
    }
    if (has_all_ipv4(ban->ip, ban->bits)) {
        (void)base_text_format(fault, fault_bytes, "%s/%u contains all IPv4 addresses", word,
                               (uint32_t)bits);
        return false;
    }
    return true;
}

static bool parse_number(const char* word, net_ban* ban, char* fault, size_t fault_bytes) {
    if (base_text_parse_u64(word, &ban->id) && ban->id != 0) return true;
    (void)base_text_format(fault, fault_bytes,
                           "\"%s\" is not the number of a %s: 1 to 18446744073709551615", word,
                           ban->kind == NET_BAN_PLAYER ? "player" : "key");
    return false;
}

static void parse_reason(char* at, net_ban* ban) {
    size_t size = 0;
    for (char* word; (word = take_word(&at)) != NULL;) {
        (void)base_text_format(ban->reason + size, sizeof ban->reason - size, "%s%s",
                               size ? " " : "", word);
        size = strlen(ban->reason);
    }
    for (char* c = ban->reason; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
    // No half of a character at the end.
    while (size > 0 && size + 1 == sizeof ban->reason &&
           ((unsigned char)ban->reason[size - 1] & 0x80))
        ban->reason[--size] = '\0';
}

net_result net_ban_parse(const char* line, net_ban* ban, char* fault, size_t fault_bytes) {
    char copy[NET_BAN_LINE_BYTES_MAX];
    if (!base_text_copy(copy, sizeof copy, line)) {
        (void)base_text_format(fault, fault_bytes, "the line is longer than %u bytes",
                               NET_BAN_LINE_BYTES_MAX - 1);
        return NET_ERR_MALFORMED;
    }
    char* at = copy;
    const char* kind = take_word(&at);
    if (!kind) return NET_ERR_UNKNOWN;
    *ban = (net_ban){.kind = NET_BAN_ADDRESS};
    if (strcmp(kind, "player") == 0)
        ban->kind = NET_BAN_PLAYER;
    else if (strcmp(kind, "key") == 0)
        ban->kind = NET_BAN_KEY;
    else if (strcmp(kind, "address") != 0) {
        (void)base_text_format(fault, fault_bytes, "\"%s\": %s", kind, FORMS);
        return NET_ERR_MALFORMED;
    }
    char* what = take_word(&at);
    if (!what) {
        (void)base_text_format(fault, fault_bytes, "missing value after '%s': %s", kind, FORMS);
        return NET_ERR_MALFORMED;
    }
    bool is_right = ban->kind == NET_BAN_ADDRESS ? parse_address(what, ban, fault, fault_bytes)
                                                 : parse_number(what, ban, fault, fault_bytes);
    if (!is_right) return NET_ERR_MALFORMED;
    parse_reason(at, ban);
    return NET_OK;
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
    int order = net_bans_compare(&x->ban, &y->ban);
    return order ? order : (int)x->is_of_file - (int)y->is_of_file;
}

static void sort_and_unite(reading* of) {
    if (of->count == 0) return;
    qsort(of->items, of->count, sizeof *of->items, compare_items);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < of->count; i++) {
        if (net_bans_compare(&of->items[kept - 1].ban, &of->items[i].ban) != 0)
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
    if (result == NET_OK)
        net_bans_replace(bans, of.items, of.count, of.capacity);
    else
        BASE_ARRAY_RELEASE(of.allocator, of.items, of.capacity);
    return result;
}

net_result net_bans_load(net_bans* bans, const char* file, const base_reporter* reporter) {
    base_bytes text = {.allocator = &bans->owner.allocator};
    net_result result = net_file_read(file, NET_BANS_FILE_BYTES_MAX, reporter, &text);
    if (result == NET_OK)
        result = net_bans_read(bans, (const char*)text.data, text.size, file, reporter);
    base_bytes_deinit(&text);
    return result;
}
