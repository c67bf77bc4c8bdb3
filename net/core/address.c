// SPDX-License-Identifier: MIT
// Texts and names by getaddrinfo: ENet's own resolver knows one host, no ports and no IPv6.
#include "net/token.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum { HOST_BYTES_MAX = 256, NAMES_MAX = 32 };

static const uint8_t mapped_prefix[12] = {[10] = 0xFF, [11] = 0xFF};
static const uint8_t zeros[16];

// "HOST:PORT" or "[HOST]:PORT" in two parts. A bare IPv6 address would be ambiguous.
static bool split(const char* text, char host[HOST_BYTES_MAX], bool* is_literal, uint16_t* port) {
    const char* colon = text ? strrchr(text, ':') : NULL;
    if (!colon || colon == text) return false;
    const char* end = colon;
    *is_literal = text[0] == '[';
    if (*is_literal) {
        if (end[-1] != ']') return false;
        text++;
        end--;
    }
    size_t size = (size_t)(end - text);
    if (end <= text || size >= HOST_BYTES_MAX) return false;
    memcpy(host, text, size);
    host[size] = '\0';
    if ((strchr(host, ':') != NULL) != *is_literal) return false;
    uint64_t number = 0;
    if (!base_text_parse_u64(colon + 1, &number) || number > UINT16_MAX) return false;
    *port = (uint16_t)number;
    return true;
}

static uint32_t look_up(const char* host, int family, int flags, net_address* found,
                        uint32_t capacity) {
    struct addrinfo hints = {.ai_family = family, .ai_socktype = SOCK_DGRAM, .ai_flags = flags};
    struct addrinfo* list = NULL;
    uint32_t count = 0;
    if (getaddrinfo(host, NULL, &hints, &list) != 0) return 0;
    for (const struct addrinfo* at = list; at && count < capacity; at = at->ai_next)
        if (at->ai_family == AF_INET || at->ai_family == AF_INET6)
            found[count++] = net_address_read(at->ai_addr);
    freeaddrinfo(list);
    return count;
}

static uint32_t find_by_system(void* context, const char* host, net_address* found,
                               uint32_t capacity) {
    (void)context;
    return look_up(host, AF_UNSPEC, 0, found, capacity);
}

static const net_resolver by_system = {.find = find_by_system};

// All addresses of a text, in the resolver's order; without one names have none.
// @return their number.
static uint32_t find_all(const net_resolver* resolver, const char* text, net_address* found,
                         uint32_t capacity) {
    char host[HOST_BYTES_MAX];
    bool is_literal = false;
    uint16_t port = 0;
    if (!split(text, host, &is_literal, &port)) return 0;
    uint32_t count =
        look_up(host, is_literal ? AF_INET6 : AF_INET, AI_NUMERICHOST, found, capacity);
    if (count == 0 && !is_literal && resolver)
        count = resolver->find(resolver->context, host, found, capacity);
    for (uint32_t i = 0; i < count; i++)
        found[i].port = port;
    return count;
}

// @return the index of the next address of a family; `count`: there is none.
static uint32_t find_family(const net_address* all, uint32_t count, uint32_t from, bool is_ipv4) {
    while (from < count && net_address_is_ipv4(&all[from]) != is_ipv4)
        from++;
    return from;
}

// The order of RFC 8305, section 4.
net_result net_address_resolve(const net_resolver* resolver, const char* text, net_address* found,
                               uint32_t capacity, uint32_t* count) {
    net_address all[NAMES_MAX];
    const uint32_t all_count = find_all(resolver ? resolver : &by_system, text, all, NAMES_MAX);
    bool is_ipv4 = all_count > 0 && net_address_is_ipv4(&all[0]);
    uint32_t next[] = {find_family(all, all_count, 0, false), find_family(all, all_count, 0, true)};
    *count = 0;
    for (; *count < capacity && (next[0] < all_count || next[1] < all_count); is_ipv4 = !is_ipv4) {
        if (next[is_ipv4] == all_count) continue;
        found[(*count)++] = all[next[is_ipv4]];
        next[is_ipv4] = find_family(all, all_count, next[is_ipv4] + 1, is_ipv4);
    }
    return *count > 0 ? NET_OK : NET_ERR_ADDRESS;
}

static net_result find_one(const net_resolver* resolver, const char* text, net_address* address) {
    net_address all[NAMES_MAX];
    const uint32_t count = find_all(resolver, text, all, NAMES_MAX);
    if (count == 0) return NET_ERR_ADDRESS;
    const uint32_t first = find_family(all, count, 0, true);
    *address = all[first < count ? first : 0];
    return NET_OK;
}

net_result net_address_resolve_one(const net_resolver* resolver, const char* text,
                                   net_address* address) {
    return find_one(resolver ? resolver : &by_system, text, address);
}

net_result net_address_parse(const char* text, net_address* address) {
    return find_one(NULL, text, address);
}

bool net_address_print(const net_address* address, char* text, size_t text_bytes) {
    char host[INET6_ADDRSTRLEN] = "";
    unsigned port = address->port;
    if (net_address_is_ipv4(address)) {
        (void)inet_ntop(AF_INET, address->ip + sizeof mapped_prefix, host, sizeof host);
        return base_text_format(text, text_bytes, "%s:%u", host, port);
    }
    (void)inet_ntop(AF_INET6, address->ip, host, sizeof host);
    if (address->scope == 0) return base_text_format(text, text_bytes, "[%s]:%u", host, port);
    return base_text_format(text, text_bytes, "[%s%%%u]:%u", host, (unsigned)address->scope, port);
}

net_address net_address_ipv4(uint32_t host, uint16_t port) {
    net_address made = {.port = port};
    memcpy(made.ip, mapped_prefix, sizeof mapped_prefix);
    memcpy(made.ip + sizeof mapped_prefix, &host, sizeof host);
    return made;
}

bool net_address_is_ipv4(const net_address* address) {
    return memcmp(address->ip, mapped_prefix, sizeof mapped_prefix) == 0;
}

uint32_t net_address_ipv4_host(const net_address* address) {
    uint32_t host = 0;
    if (net_address_is_ipv4(address))
        memcpy(&host, address->ip + sizeof mapped_prefix, sizeof host);
    return host;
}

net_address net_address_read(const struct sockaddr* from) {
    if (from->sa_family == AF_INET) {
        struct sockaddr_in ipv4;
        memcpy(&ipv4, from, sizeof ipv4);
        return net_address_ipv4(ipv4.sin_addr.s_addr, ntohs(ipv4.sin_port));
    }
    struct sockaddr_in6 ipv6;
    memcpy(&ipv6, from, sizeof ipv6);
    net_address made = {.scope = ipv6.sin6_scope_id, .port = ntohs(ipv6.sin6_port)};
    memcpy(made.ip, &ipv6.sin6_addr, sizeof made.ip);
    return made;
}

uint32_t net_address_write(const net_address* from, bool is_ipv6, struct sockaddr_in6* to) {
    memset(to, 0, sizeof *to);
    if (!is_ipv6) {
        const struct sockaddr_in ipv4 = {.sin_family = AF_INET,
                                         .sin_port = htons(from->port),
                                         .sin_addr.s_addr = net_address_ipv4_host(from)};
        memcpy(to, &ipv4, sizeof ipv4);
        return sizeof ipv4;
    }
    to->sin6_family = AF_INET6;
    to->sin6_port = htons(from->port);
    to->sin6_scope_id = from->scope;
    memcpy(&to->sin6_addr, from->ip, sizeof from->ip);
    return sizeof *to;
}

bool net_address_equal(const net_address* a, const net_address* b) {
    return a->port == b->port && a->scope == b->scope && memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}

bool net_address_is_same_home(const net_address* a, const net_address* b) {
    return memcmp(a->ip, b->ip, net_address_is_ipv4(a) ? 16 : 8) == 0;
}

bool net_address_is_loopback(const net_address* address) {
    if (net_address_is_ipv4(address)) return address->ip[12] == 127;
    return memcmp(address->ip, zeros, 15) == 0 && address->ip[15] == 1;
}

bool net_address_is_private(const net_address* address) {
    const uint8_t* ip = address->ip;
    if (net_address_is_loopback(address)) return true;
    if (!net_address_is_ipv4(address))
        return (ip[0] == 0xFE && (ip[1] & 0xC0) == 0x80) || (ip[0] & 0xFE) == 0xFC;
    return ip[12] == 10 || (ip[12] == 172 && (ip[13] & 0xF0) == 16) ||
           (ip[12] == 192 && ip[13] == 168) || (ip[12] == 169 && ip[13] == 254);
}

bool net_address_is_wildcard(const net_address* address) {
    size_t first = net_address_is_ipv4(address) ? sizeof mapped_prefix : 0;
    return memcmp(address->ip + first, zeros, sizeof zeros - first) == 0;
}

bool net_address_is_multicast(const net_address* address) {
    if (!net_address_is_ipv4(address)) return address->ip[0] == 0xFF;
    return (address->ip[12] & 0xF0) == 0xE0 || net_address_ipv4_host(address) == UINT32_MAX;
}
