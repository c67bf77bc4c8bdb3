// SPDX-License-Identifier: MIT
/// What a server or a client needs to know about keys and untrusted addresses, and what came of
/// them. All datagrams are encrypted and authenticated; proto/WIRE.md, "Outer layer", has every
/// byte.
#pragma once

#include "net/token.h"

BASE_C_BEGIN

#define NET_SECURE_VERSION 1u         ///< of the outer layer, in the second byte of each attempt
#define NET_SECURE_OVERHEAD_BYTES 27u ///< of a datagram inside of a session
#define NET_SECURE_TOLERANCE_S 5u     ///< by which the clocks of back end and server may differ

/// Why the outer layer ended a connection, or did not begin one.
#define NET_SECURE_END_LIST(X)                                                                     \
    X(NONE, "it is open, or it was lost")                                                          \
    X(CLOSED, "the other side closed the connection")                                              \
    X(VERSION, "the server speaks another version: use the same release")                          \
    X(FULL, "the server is full: try later")                                                       \
    X(BANNED, "the server does not accept this player")                                            \
    X(REPLACED, "the same client came back on a new connection")                                   \
    X(FORGED, "too many forged datagrams") /* of earlier servers */                                \
    X(EXPIRED, "the token has expired: get a new one")                                             \
    X(ELSEWHERE, "the token is for another server: get one for this server")                       \
    X(TOKEN, "the server does not know this token: get a new one from where this one came")        \
    X(NO_TOKEN, "the server lets in only players with a token: get one from its operator")         \
    X(SILENT, "no answer")

typedef enum net_secure_end {
#define NET_SECURE_END_ENUM(name, text) NET_SECURE_END_##name,
    NET_SECURE_END_LIST(NET_SECURE_END_ENUM)
#undef NET_SECURE_END_ENUM
} net_secure_end;

/// One sentence for a person. Static text, also for numbers that are no net_secure_end.
const char* net_secure_end_text(uint32_t end);

/// What the outer layer of a server counts. First what succeeded, then every reason for which a
/// datagram had no effect or a session ended.
#define NET_SECURE_COUNT_LIST(X)                                                                   \
    X(CHALLENGES, "challenges")     /* answers to a request */                                     \
    X(ACCEPTED, "accepted")         /* sessions that began */                                      \
    X(RESUMED, "resumed")           /* of them with a resume token */                              \
    X(MOVED, "moved")               /* sessions that got a new address */                          \
    X(DENIED, "denied")             /* answers that say no */                                      \
    X(BAD_SIZE, "bad_size")         /* of no datagram of ours */                                   \
    X(BAD_TYPE, "bad_type")         /* a first byte of no meaning here */                          \
    X(BAD_VERSION, "bad_version")   /* of the outer layer */                                       \
    X(BAD_PROTOCOL, "bad_protocol") /* a token for another game */                                 \
    X(BAD_PADDING, "bad_padding")   /* bytes that must be zero */                                  \
    X(TOKEN_EXPIRED, "token_expired")                                                              \
    X(ADDRESS_BUDGET, "address_budget") /* requests of one address: 10 a second */                 \
    X(REQUEST_BUDGET, "request_budget") /* requests of all: 20,000 a second */                     \
    /* answers: 2,000 a second, of them 500 that say no, and 10 to one address */                  \
    X(REPLY_BUDGET, "reply_budget")                                                                \
    X(KEY_UNKNOWN, "key_unknown")                                                                  \
    X(KEY_REFUSED, "key_refused") /* the built-in key, from where it is not accepted */            \
    X(TOKEN_FORGED, "token_forged")                                                                \
    X(TOKEN_ELSEWHERE, "token_elsewhere") /* for another server */                                 \
    X(TOKEN_USED, "token_used")           /* by another address before */                          \
    X(TOKENS_FULL, "tokens_full")         /* no room to remember one more token */                 \
    X(COOKIE_FORGED, "cookie_forged")     /* or for another address, or too old */                 \
    X(RESPONSE_FORGED, "response_forged")                                                          \
    X(RESPONSE_OLD, "response_old")       /* not newer than a session of the same player */        \
    X(RESPONSE_BUDGET, "response_budget") /* responses of one address: 10 a second */              \
    X(COOKIE_SPENT, "cookie_spent")       /* of a response that got no answer before */            \
    X(SPENT_FULL, "spent_full")           /* changes of the cookie secret: too much to remember */ \
    X(SESSIONS_FULL, "sessions_full")                                                              \
    X(SESSION_UNKNOWN, "session_unknown")                                                          \
    X(REPLAYED, "replayed") /* a number that came before, or is too old */                         \
    X(DATA_FORGED, "data_forged")                                                                  \
    X(OTHER_ADDRESS, "other_address") /* to a client, not from its server */                       \
    X(DATA_BUDGET, "data_budget")     /* of one session: 480 a second */                           \
    X(MOVE_BUDGET, "move_budget")     /* a new address too soon after the last */                  \
    X(UNOPENED, "unopened")           /* sessions that never began to talk */                      \
    X(LINGERED, "lingered")           /* sessions whose connection ended */                        \
    X(SILENT, "silent")               /* sessions without a datagram for a minute */               \
    X(REPLACED, "replaced")           /* sessions whose client came back */                        \
    X(FORGERY_LIMIT, "forgery_limit") /* sessions with 2^36 forged datagrams under one key */      \
    X(CLOSED, "closed")               /* sessions that a side closed */

typedef enum net_secure_count {
#define NET_SECURE_COUNT_ENUM(name, text) NET_SECURE_##name,
    NET_SECURE_COUNT_LIST(NET_SECURE_COUNT_ENUM)
#undef NET_SECURE_COUNT_ENUM
        NET_SECURE_COUNTS
} net_secure_count;

typedef struct net_secure_stats {
    uint64_t counts[NET_SECURE_COUNTS];
} net_secure_stats;

/// Write the counts that are not 0: " accepted=3 token_used=1". NUL-terminated and cut to
/// `text_bytes`, which must not be 0.
void net_secure_stats_text(const net_secure_stats* stats, char* text, size_t text_bytes);

/// Who a token names.
typedef struct net_secure_who {
    uint64_t player_id;
    uint8_t key_id; ///< of the key that sealed the first token, also after a resumption
} net_secure_who;

/// Who a session belongs to.
typedef struct net_secure_identity {
    net_address address; ///< where its datagrams come from now
    uint64_t player_id;
    uint8_t key_id;
    uint8_t user_data[NET_TOKEN_USER_BYTES];
} net_secure_identity;

/// What the owner of a server or of a client decides. All pointers may be NULL; what they point to
/// is copied, except for the contexts of functions.
typedef struct net_security {
    /// Server: keys of the back end. Without one the built-in key is accepted, from private
    /// addresses only, and never beside keys.
    const net_key_ring* keys;
    bool allow_dev_key;           ///< server: the built-in key from any address
    const net_address* addresses; ///< server: where clients reach it; a token must name one of them
    uint32_t address_count;       ///< at most NET_TOKEN_ADDRESSES_MAX
    /// Server: whose resume tokens it opens. Servers with one identity and one first key of `keys`
    /// open each other's, one after the other or together. 0: made of `addresses`. Without keys
    /// only this server opens them.
    uint64_t identity;
    const net_token* token;            ///< client: NULL makes a token of the built-in key
    uint64_t dev_player_id;            ///< client without a token; 0: chance
    uint64_t protocol;                 ///< 0: NET_TOKEN_PROTOCOL
    const net_entropy* entropy;        ///< NULL: the system's, and a seeded one on the virtual wire
    uint64_t (*unix_s)(void* context); ///< seconds since 1970; NULL: the system's
    void* unix_context;
} net_security;

BASE_C_END
