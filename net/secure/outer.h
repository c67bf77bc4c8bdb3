// SPDX-License-Identifier: MIT
/// Little-endian fields of datagrams with fixed places: the writer's half of base/bytes.h, without
/// memory of its own.
#pragma once

#include "secure/token.h"

#include "net/token.h"

#include <string.h>

enum { NET_SECURE_ADDRESS_BYTES = 18 };

/// Where the next field goes. The caller knows that there is room.
typedef struct net_secure_cursor {
    uint8_t* at;
} net_secure_cursor;

static inline void net_secure_put(net_secure_cursor* to, const void* bytes, size_t size) {
    memcpy(to->at, bytes, size);
    to->at += size;
}

static inline void net_secure_put_number(net_secure_cursor* to, uint64_t value, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i++)
        *to->at++ = (uint8_t)(value >> 8 * i);
}

static inline uint64_t net_secure_get_number(const uint8_t* at, uint32_t bytes) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/// ip 16, port u16. A scope means nothing to others, so it does not travel.
static inline void net_secure_put_address(net_secure_cursor* to, const net_address* address) {
    net_secure_put(to, address->ip, sizeof address->ip);
    net_secure_put_number(to, address->port, 2);
}

static inline net_address net_secure_get_address(const uint8_t* at) {
    net_address address = {.port = (uint16_t)net_secure_get_number(at + 16, 2)};
    memcpy(address.ip, at, sizeof address.ip);
    return address;
}

/// The datagrams of the outer layer, byte by byte. proto/WIRE.md, "Outer layer", is the standard.

/// The low three bits of the first byte. The fourth is the key phase of a session's datagrams; the
/// fifth is set in those of packets, which have types of their own; the others are zero.
typedef enum net_outer_type {
    NET_OUTER_REQUEST,    ///< client: here is my token
    NET_OUTER_CHALLENGE,  ///< server: prove that you are where you say
    NET_OUTER_RESPONSE,   ///< client: here is the proof, and the token again
    NET_OUTER_DATA,       ///< inside of a session: a datagram of ENet
    NET_OUTER_CLOSE,      ///< inside of a session: a reason
    NET_OUTER_ACCEPT,     ///< inside of a session: it begins; a resume token
    NET_OUTER_DENY,       ///< server: no, and why
    NET_OUTER_PATH,       ///< inside of a session: is this address yours? And the answer
    NET_OUTER_INPUT = 16, ///< inside of a session, to the server: a packet of the realtime channel
    NET_OUTER_STATE,      ///< the same, to the client
} net_outer_type;

enum {
    NET_OUTER_TYPE_MASK = 23,
    NET_OUTER_PHASE = 8,
    NET_OUTER_HELLO_BYTES = 1200, ///< of requests and responses: more than all answers together
    NET_OUTER_RANDOM_BYTES = 16,
    NET_OUTER_SERVER_RANDOM_BYTES = 24,
    NET_OUTER_TAG_BYTES = 16,
    NET_OUTER_COOKIE_BYTES = 16,
    NET_OUTER_CHALLENGE_BYTES = 1 + 24 + 48 + 16,
    NET_OUTER_NOTICE_BYTES = 21, ///< of a DENY without a signature
    NET_OUTER_DENY_BYTES = NET_OUTER_NOTICE_BYTES + 16,
    NET_OUTER_HEAD_BYTES = 11, ///< of a session's datagrams that are no packets
    NET_OUTER_INPUT_BYTES = 5, ///< head: type, low halves of session and number
    NET_OUTER_STATE_BYTES = 3, ///< head: type, low 16 bits of the number
    NET_OUTER_RESUME_BYTES = 8 + 24 + NET_TOKEN_SEALED_BYTES + 2 * NET_KEY_BYTES,
    NET_OUTER_ACCEPT_BYTES = NET_OUTER_HEAD_BYTES + 16 + NET_OUTER_RESUME_BYTES + 16,
    NET_OUTER_PATH_BYTES = NET_OUTER_HEAD_BYTES + 8 + 16,
    NET_OUTER_CLOSE_BYTES = NET_OUTER_HEAD_BYTES + 1 + 16,
};

/// REQUEST and RESPONSE begin alike.
typedef struct net_outer_hello {
    uint8_t client_random[NET_OUTER_RANDOM_BYTES];
    net_token token; ///< without its keys and addresses, which are not set
} net_outer_hello;

/// What a challenge gives and a response brings back.
typedef struct net_outer_proof {
    uint8_t server_random[NET_OUTER_SERVER_RANDOM_BYTES];
    uint64_t time_us; ///< of the server's clock
    uint8_t cookie[NET_OUTER_COOKIE_BYTES];
} net_outer_proof;

/// Write a whole REQUEST.
void net_outer_request_write(const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                             const net_token* token, uint8_t bytes[NET_OUTER_HELLO_BYTES]);
/// Read a REQUEST or RESPONSE of the right size, type and version.
void net_outer_hello_read(const uint8_t bytes[NET_OUTER_HELLO_BYTES], net_outer_hello* hello);
/// Are the bytes after the fields zero?
bool net_outer_hello_is_padded(const uint8_t bytes[NET_OUTER_HELLO_BYTES]);

/// Write a CHALLENGE; `client_random` of the request is covered by its tag.
void net_outer_challenge_write(const net_outer_proof* proof,
                               const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                               const uint8_t nonce[24], const uint8_t server_key[NET_KEY_BYTES],
                               uint8_t bytes[NET_OUTER_CHALLENGE_BYTES]);
/// @return false when it answers another request or is forged.
bool net_outer_challenge_read(const uint8_t bytes[NET_OUTER_CHALLENGE_BYTES],
                              const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                              const uint8_t server_key[NET_KEY_BYTES], net_outer_proof* proof);

void net_outer_response_write(const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                              const net_token* token, const net_outer_proof* proof,
                              uint8_t bytes[NET_OUTER_HELLO_BYTES]);
net_outer_proof net_outer_response_proof(const uint8_t bytes[NET_OUTER_HELLO_BYTES]);
/// Did the owner of the token write all of it?
bool net_outer_response_is_signed(const uint8_t bytes[NET_OUTER_HELLO_BYTES],
                                  const uint8_t client_key[NET_KEY_BYTES]);

/// Write a DENY. With `server_key` NULL it is only a notice. @return its size.
size_t net_outer_deny_write(net_secure_end reason,
                            const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                            const uint8_t* server_key, uint8_t bytes[NET_OUTER_DENY_BYTES]);
/// Read a DENY of an attempt. *is_signed says whether the server wrote it; `server_key` may be
/// NULL. @return false when it is not about this attempt. *version is that of the server.
bool net_outer_deny_read(const uint8_t* bytes, size_t size,
                         const uint8_t client_random[NET_OUTER_RANDOM_BYTES],
                         const uint8_t* server_key, net_secure_end* reason, uint32_t* version,
                         bool* is_signed);

/// The resume token in an ACCEPT; it is of the protocol of the session.
void net_outer_resume_write(const net_token* resume, uint8_t bytes[NET_OUTER_RESUME_BYTES]);
void net_outer_resume_read(const uint8_t bytes[NET_OUTER_RESUME_BYTES], uint64_t protocol,
                           net_token* resume);
