// SPDX-License-Identifier: MIT
// Addresses by getaddrinfo: ENet's own resolver knows one host and no ports. IPv4 only, as ENet.
#include "transport/address.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum { HOST_BYTES_MAX = 256 };

net_result net_address_parse(const char* text, net_address* address) {
    const char* colon = text ? strrchr(text, ':') : NULL;
    if (!colon || colon == text || (size_t)(colon - text) >= HOST_BYTES_MAX) return NET_ERR_ADDRESS;
    char host[HOST_BYTES_MAX];
    memcpy(host, text, (size_t)(colon - text));
    host[colon - text] = '\0';
    uint64_t port = 0;
    if (!base_text_parse_u64(colon + 1, &port) || port > UINT16_MAX) return NET_ERR_ADDRESS;
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM};
    struct addrinfo* found = NULL;
    if (getaddrinfo(host, NULL, &hints, &found) != 0 || !found) return NET_ERR_ADDRESS;
    struct sockaddr_in first;
    memcpy(&first, found->ai_addr, sizeof first);
    freeaddrinfo(found);
    *address = (net_address){.host = first.sin_addr.s_addr, .port = (uint16_t)port};
    return NET_OK;
}

bool net_address_is_loopback(net_address address) {
    return ntohl(address.host) >> 24 == 127;
}

bool net_address_print(net_address address, char* text, size_t text_bytes) {
    uint32_t host = ntohl(address.host);
    return base_text_format(text, text_bytes, "%u.%u.%u.%u:%u", host >> 24, host >> 16 & 255,
                            host >> 8 & 255, host & 255, (unsigned)address.port);
}
