// SPDX-License-Identifier: MIT
/// Addresses of both families, as text and as bytes. IPv4 is kept as IPv6 ("::ffff:a.b.c.d"), so
/// one comparison and one table serve both.
#pragma once

#include "net/result.h"

BASE_C_BEGIN

/// Enough for every text of net_address_print: "[v6%scope]:port" and the NUL.
#define NET_ADDRESS_TEXT_BYTES 72u

typedef struct net_address {
    uint8_t ip[16]; ///< network order
    uint32_t scope; ///< link-local IPv6: number of the interface; else 0
    uint16_t port;  ///< host order
} net_address;

/// How a name becomes addresses: in tests a table, in programs the system.
typedef struct net_resolver {
    /// Write the addresses of a host name, the best first; their ports are ignored. May block.
    /// @return their number, at most `capacity`; 0: there are none.
    uint32_t (*find)(void* context, const char* host, net_address* found, uint32_t capacity);
    void* context;
} net_resolver;

/// Read "1.2.3.4:7" or "[::1]:7"; names are not looked up.
/// @return NET_OK; NET_ERR_ADDRESS (not of this form, port above 65,535): `address` is unchanged.
BASE_MUST_USE net_result net_address_parse(const char* text, net_address* address);
/// The same with names. Of a name it takes the first IPv4 address, or the first IPv6 one when there
/// is no IPv4. May block. A NULL resolver is the system's.
/// @return NET_OK; NET_ERR_ADDRESS (not of this form, port above 65,535, unknown name): `address`
///         is unchanged.
BASE_MUST_USE net_result net_address_resolve_one(const net_resolver* resolver, const char* text,
                                                 net_address* address);
/// The same with every address of a name, at most `capacity`, in the order in which a client tries
/// them: the resolver's, with the families in turn (RFC 8305).
/// @return NET_OK (*count is 1 or more); NET_ERR_ADDRESS (*count is 0).
BASE_MUST_USE net_result net_address_resolve(const net_resolver* resolver, const char* text,
                                             net_address* found, uint32_t capacity,
                                             uint32_t* count);
/// Write "1.2.3.4:7", "[::1]:7" or "[fe80::1%2]:7". @return false when it was cut.
bool net_address_print(const net_address* address, char* text, size_t text_bytes);

/// Make an IPv4 address; `host` is in network order, as ENet and the kernel have it.
net_address net_address_ipv4(uint32_t host, uint16_t port);
bool net_address_is_ipv4(const net_address* address);
/// The host in network order; 0 for IPv6.
uint32_t net_address_ipv4_host(const net_address* address);

/// Same host, scope and port?
bool net_address_equal(const net_address* a, const net_address* b);
/// 127.0.0.0/8 or ::1.
bool net_address_is_loopback(const net_address* address);
/// Never routed on the internet: loopback, 10/8, 172.16/12, 192.168/16, link-local of both families
/// (169.254/16, fe80::/10) and unique local IPv6 (fc00::/7). A wildcard is not private.
bool net_address_is_private(const net_address* address);
/// 0.0.0.0 or ::, "every interface".
bool net_address_is_wildcard(const net_address* address);

BASE_C_END
