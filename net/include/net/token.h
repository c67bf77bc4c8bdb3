// SPDX-License-Identifier: MIT
/// Who may come in: addresses, keys and tokens, what a server asks for, and bans.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "net/limits.h"
#include "net/result.h"

BASE_C_BEGIN

// ---- addresses ----

/// Addresses of both families, as text and as bytes. IPv4 is kept as IPv6 ("::ffff:a.b.c.d"), so
/// one comparison and one table serve both.

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

struct sockaddr;
struct sockaddr_in6;
/// The address that the kernel gave, of IPv4 or IPv6.
net_address net_address_read(const struct sockaddr* from);
/// Write it for a socket of IPv6, or of IPv4, as a sockaddr_in. @return its bytes.
uint32_t net_address_write(const net_address* from, bool is_ipv6, struct sockaddr_in6* to);

/// Same host, scope and port?
bool net_address_equal(const net_address* a, const net_address* b);
/// The same host, of IPv6 the same /64: one home has all the others.
bool net_address_is_same_home(const net_address* a, const net_address* b);
/// 127.0.0.0/8 or ::1.
bool net_address_is_loopback(const net_address* address);
/// Never routed on the internet: loopback, 10/8, 172.16/12, 192.168/16, link-local of both families
/// (169.254/16, fe80::/10) and unique local IPv6 (fc00::/7). A wildcard is not private.
bool net_address_is_private(const net_address* address);
/// 0.0.0.0 or ::, "every interface".
bool net_address_is_wildcard(const net_address* address);
/// Of no one host: multicast of both families (224/4, ff00::/8), and 255.255.255.255.
bool net_address_is_multicast(const net_address* address);

// ---- keys and tokens ----

/// Keys and connect tokens: how a back end (a matchmaker) lets one player into one server.
///
/// The back end and the server share a key. The back end makes a token and gives its text to a
/// player over a safe channel (https). The player's client shows the sealed part to the server,
/// which no third party can read or write. The rest of the token is the keys of the handshake, so
/// the text of a token is a secret of the player until the token expires.
///
/// A program that only makes tokens needs this header, libshoal_net and libsodium. Threads: the
/// functions have no state; any thread may call them. Chance is an argument (net_entropy).

#define NET_KEY_BYTES 32u
#define NET_KEYS_MAX 16u            ///< of a key ring
#define NET_KEY_TEXT_BYTES 69u      ///< "254 " and 64 digits, with the NUL
#define NET_KEY_ID_DEV 0u           ///< the built-in key, which is public
#define NET_KEY_ID_RESUME 255u      ///< sealed by the server itself: a client that comes back
#define NET_TOKEN_ADDRESSES_MAX 8u  ///< servers that accept one token
#define NET_TOKEN_USER_BYTES 256u   ///< of the back end, for the game: team, permissions...
#define NET_TOKEN_NONCE_BYTES 24u   ///< of XChaCha20-Poly1305
#define NET_TOKEN_SEALED_BYTES 512u ///< the private part with its tag
#define NET_TOKEN_TEXT_BYTES 1100u  ///< more than any token's text, with the NUL
#define NET_TOKEN_PROTOCOL UINT64_C(0x4C414F4853) ///< "SHOAL"; games that share keys choose others

/// Where keys and nonces come from. `fill` never fails.
typedef struct net_entropy {
    void (*fill)(void* context, void* bytes, size_t size);
    void* context;
} net_entropy;
/// The system's generator, through libsodium. Valid for the whole process.
const net_entropy* net_entropy_system(void);

/// A secret that the back end and its servers share.
typedef struct net_key {
    uint8_t id; ///< 1..254
    uint8_t bytes[NET_KEY_BYTES];
} net_key;

/// The current key first, then previous ones, whose tokens are still accepted.
typedef struct net_key_ring {
    net_key keys[NET_KEYS_MAX];
    uint32_t count;
} net_key_ring;

/// Make a key from chance. `id` is 1..254 (asserted).
void net_key_make(uint8_t id, const net_entropy* entropy, net_key* key);
/// Write "ID HEX64", a line of a key file. @return false when `text_bytes` is below
/// NET_KEY_TEXT_BYTES; nothing is written then.
bool net_key_print(const net_key* key, char* text, size_t text_bytes);
/// Overwrite a key, in a way that the compiler keeps.
void net_key_wipe(net_key* key);
/// Derive a secret of 16 to 64 bytes: BLAKE2b, keyed with the key, of `purpose`, a 0 byte and both
/// numbers (u64). The same key gives the same bytes, and nothing else says anything about
/// them.
void net_key_derive(const net_key* key, const char* purpose, uint64_t identity, uint64_t number,
                    void* secret, size_t size);

/// Read a key file: one "ID HEX64" a line, the current key first. Empty lines and what follows a #
/// are skipped. Reports name `file` and the line, never a key.
/// @return NET_OK; NET_ERR_TOKEN (reported: not of this form, an id twice or not 1..254, no key,
///         more than NET_KEYS_MAX). `ring` is empty then.
BASE_MUST_USE net_result net_key_ring_parse(net_key_ring* ring, const char* file, const char* text,
                                            size_t size, const base_reporter* reporter);
/// The key with an id; NULL when there is none.
const net_key* net_key_ring_find(const net_key_ring* ring, uint8_t id);
/// Overwrite all keys.
void net_key_ring_wipe(net_key_ring* ring);

/// What a token says.
typedef struct net_token_claims {
    uint64_t player_id;
    uint64_t protocol;      ///< 0: NET_TOKEN_PROTOCOL
    uint64_t expiry_unix_s; ///< a server refuses it 5 s later; 45 s of life are enough to connect
    /// Servers that accept it, when they know their own addresses. None: any server with the key.
    net_address addresses[NET_TOKEN_ADDRESSES_MAX];
    uint32_t address_count;
    uint8_t user_data[NET_TOKEN_USER_BYTES];
} net_token_claims;

/// A whole token, as a client has it. Wipe it after use.
typedef struct net_token {
    uint8_t key_id;
    uint64_t protocol;
    uint64_t expiry_unix_s;
    uint8_t nonce[NET_TOKEN_NONCE_BYTES];
    uint8_t sealed[NET_TOKEN_SEALED_BYTES];
    uint8_t client_key[NET_KEY_BYTES]; ///< client to server
    uint8_t server_key[NET_KEY_BYTES]; ///< server to client
    net_address addresses[NET_TOKEN_ADDRESSES_MAX];
    uint32_t address_count;
} net_token;

/// Make a token. Two tokens of the same claims differ.
/// @return NET_OK; NET_ERR_TOKEN (more addresses than NET_TOKEN_ADDRESSES_MAX).
BASE_MUST_USE net_result net_token_make(const net_key* key, const net_token_claims* claims,
                                        const net_entropy* entropy, net_token* token);
/// A token of the built-in key: servers without keys accept it from private addresses.
/// @return NET_OK; NET_ERR_TOKEN (more addresses than NET_TOKEN_ADDRESSES_MAX).
BASE_MUST_USE net_result net_token_make_dev(const net_token_claims* claims,
                                            const net_entropy* entropy, net_token* token);
/// Write a token as one word of base64 (the alphabet for URLs, without padding).
/// @return false when `text_bytes` is too small (NET_TOKEN_TEXT_BYTES always suffices); the text is
/// empty then.
bool net_token_print(const net_token* token, char* text, size_t text_bytes);
/// Read what net_token_print wrote; blanks around it are skipped. The sealed part is checked by the
/// server only.
/// @return NET_OK; NET_ERR_TOKEN (cut, changed, or of another version: ask for a new one). `token`
///         is unchanged then.
BASE_MUST_USE net_result net_token_parse(const char* text, net_token* token);
/// The same, and those that a server gave its client to come again, too (net/websocket.h).
BASE_MUST_USE net_result net_token_parse_any(const char* text, net_token* token);
/// Overwrite a token.
void net_token_wipe(net_token* token);

// ---- transfers ----

/// Where a player goes on, as its server told it over the encrypted session. Checked on both sides.
typedef struct net_transfer {
    char address[NET_TRANSFER_ADDRESS_BYTES]; ///< HOST:PORT
    char token[NET_TOKEN_TEXT_BYTES];         ///< its text; "": one of the built-in key
    char page[NET_TRANSFER_PAGE_BYTES];       ///< http or https, for browsers; "": there is none
    char why[NET_END_TEXT_BYTES];             ///< for a person; "": nothing is said
} net_transfer;

/// The transfers that one player followed. Begin with zeros.
typedef struct net_transfers {
    uint64_t count;
    uint64_t at_us[NET_TRANSFERS_MAX]; ///< ring by count
} net_transfers;
/// May the player follow one more now? Counts it then. @return false: there were NET_TRANSFERS_MAX
/// within NET_TRANSFERS_MS.
bool net_transfers_follow(net_transfers* transfers, uint64_t now_us);

// ---- security of a transport ----

/// What a server or a client needs to know about keys and untrusted addresses, and what came of
/// them. All datagrams are encrypted and authenticated; proto/WIRE.md, "Outer layer", has every
/// byte.

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
    X(REPLACED, "the same player joined elsewhere")                                                \
    X(FORGED, "too many forged datagrams") /* of earlier servers */                                \
    X(EXPIRED, "the token has expired: get a new one")                                             \
    X(ELSEWHERE, "the token is for another server: get one for this server")                       \
    X(TOKEN, "the server does not know this token: get a new one from where this one came")        \
    X(NO_TOKEN, "the server lets in only players with a token: get one from its operator")         \
    X(SILENT, "no answer")                                                                         \
    X(NOT_NOW, "the server waits to take the place of another one: connect to that one")

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

/// Who is at the other end of a connection, as far as it is known.
typedef struct net_peer_identity {
    net_address address;                ///< where its datagrams come from now
    uint64_t player;                    ///< of the token's back end; 0: unknown
    uint32_t key;                       ///< id of the key that sealed the token; 0: unknown
    uint32_t user_bytes;                ///< of `user`, without zeros at the end
    uint8_t user[NET_TOKEN_USER_BYTES]; ///< from the token: team, permissions...
} net_peer_identity;

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
    /// open each other's, one after the other or together, whatever their addresses are. 0, or
    /// without keys: only this server opens them.
    uint64_t identity;
    /// Server with keys: for so long a player whom a token of a back end let in over a transport of
    /// another encryption may join later matches of the servers that this token named. 0: not.
    uint64_t again_s;
    const net_token* token;            ///< client: NULL makes a token of the built-in key
    uint64_t dev_player_id;            ///< client without a token; 0: chance
    uint64_t protocol;                 ///< 0: NET_TOKEN_PROTOCOL
    const net_entropy* entropy;        ///< NULL: the system's, and a seeded one on the virtual wire
    uint64_t (*unix_s)(void* context); ///< server: seconds since 1970; NULL: the system's
    void* unix_context;
} net_security;

// ---- bans ----

/// The list of those who may not play here: networks, players and keys. From a text file, and by
/// calls while a server runs.
///
/// A file has one ban per line: `address 203.0.113.0/24 [reason]`, `address 2001:db8::/32`,
/// `player 123`, `key 3`. Empty lines and what follows a '#' at the start of a word are ignored.
///
/// Limits:  NET_BANS_MAX bans; lines of NET_BAN_LINE_BYTES_MAX bytes; files of
/// NET_BANS_FILE_BYTES_MAX.
/// Cost:    a question allocates nothing: a binary search, for an address one per length of prefix
/// that the list has.
/// Memory:  about 130 bytes per ban.
/// Threads: one at a time. The secure layer asks on the thread that services the transport.

#define NET_BANS_MAX 65536u
#define NET_BANS_FILE_BYTES_MAX (16u << 20)
#define NET_BAN_LINE_BYTES_MAX 256u     ///< with the NUL
#define NET_BAN_REASON_BYTES_MAX 96u    ///< with the NUL; a longer one is cut
#define NET_BAN_FAULTS_REPORTED_MAX 10u ///< of one file
/// A shorter prefix is a typing mistake that shuts the house.
#define NET_BAN_IPV4_BITS_MIN 8u
#define NET_BAN_IPV6_BITS_MIN 16u

typedef enum net_ban_kind { NET_BAN_ADDRESS, NET_BAN_PLAYER, NET_BAN_KEY } net_ban_kind;

/// Begin with net_ban_parse, net_ban_of_address, or a zeroed struct with `kind` and `id`.
typedef struct net_ban {
    net_ban_kind kind;
    uint32_t bits;  ///< ADDRESS: length of the prefix in `ip`, 0..128; an IPv4 /24 is 120
    uint8_t ip[16]; ///< ADDRESS: as in net_address; zero after the prefix
    uint64_t id;    ///< PLAYER, KEY
    char reason[NET_BAN_REASON_BYTES_MAX]; ///< "": none is given; the banned client prints it
} net_ban;

typedef struct net_bans net_bans;

/// Make an empty list (base_owner_destroy ends it). `allocator` NULL: the heap.
net_bans* net_bans_create(const base_allocator* allocator);

/// Read one line of the form above.
/// @return NET_OK; NET_ERR_UNKNOWN (an empty line or a comment: there is no ban); NET_ERR_MALFORMED
///         (`fault` says what is wrong and what is allowed).
BASE_MUST_USE net_result net_ban_parse(const char* line, net_ban* ban, char* fault,
                                       size_t fault_bytes);
/// The ban of one host. `reason` may be NULL.
net_ban net_ban_of_address(const net_address* address, const char* reason);
/// Write a ban as a line of a file, without its reason: "address 203.0.113.0/24".
void net_ban_print(const net_ban* ban, char* text, size_t text_bytes);

/// Add a ban, copied. One that is there already gets the new reason.
/// @return NET_OK; NET_ERR_FULL (NET_BANS_MAX).
BASE_MUST_USE net_result net_bans_add(net_bans* bans, const net_ban* ban);
/// Remove a ban of this kind and prefix or number. @return false when there is none.
bool net_bans_remove(net_bans* bans, const net_ban* ban);

/// Read the list from a file. What a file brought before is replaced; what net_bans_add brought
/// stays. Call it again at SIGHUP. With any fault the old list stays as it is.
/// @return NET_OK; NET_ERR_IO (reported: the file cannot be read, or is too long);
///         NET_ERR_MALFORMED (reported as FILE:LINE, with the valid form); NET_ERR_FULL (reported).
BASE_MUST_USE net_result net_bans_load(net_bans* bans, const char* file,
                                       const base_reporter* reporter);
/// The same from a text of `size` bytes; `file` is only for reports.
BASE_MUST_USE net_result net_bans_read(net_bans* bans, const char* text, size_t size,
                                       const char* file, const base_reporter* reporter);

/// Ask. Before a datagram is decrypted only the address is known, afterwards player and key.
/// @return the ban, borrowed until the next change; NULL: there is none. Player and key 0 are
/// unknown ones, never banned. `bans` NULL: an empty list.
const net_ban* net_bans_find_address(const net_bans* bans, const net_address* address);
const net_ban* net_bans_find_player(const net_bans* bans, uint64_t player);
const net_ban* net_bans_find_key(const net_bans* bans, uint64_t key);
/// The first of the three that applies.
const net_ban* net_bans_find(const net_bans* bans, const net_address* address, uint64_t player,
                             uint64_t key);
uint32_t net_bans_count(const net_bans* bans);

BASE_C_END
