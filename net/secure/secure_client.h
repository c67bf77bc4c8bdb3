// SPDX-License-Identifier: MIT
/// The client's end of the outer layer: bytes and addresses in, bytes and addresses out. It knows
/// neither sockets nor ENet.
#pragma once

#include "secure/crypt.h"
#include "secure/secure_server.h"

#define NET_SECURE_ADDRESSES_MAX 8u                ///< of a name, tried in turn
#define NET_SECURE_ANSWER_US_MAX UINT64_C(5000000) ///< an attempt fails after so long a silence
#define NET_SECURE_RESEND_US UINT64_C(250000)      ///< between two addresses; the first wait
#define NET_SECURE_RESEND_STEP_US UINT64_C(50000)  ///< when all were asked, each wait is longer
#define NET_SECURE_RESEND_US_MAX UINT64_C(1000000)
#define NET_SECURE_OFFER_US_MAX                                                                    \
    UINT64_C(2000000) ///< the challenge of another server counts for so long

typedef enum net_secure_client_state {
    NET_SECURE_CLIENT_IDLE,
    NET_SECURE_CLIENT_ASKING,  ///< sends requests
    NET_SECURE_CLIENT_PROVING, ///< sends responses
    NET_SECURE_CLIENT_OPEN,
    NET_SECURE_CLIENT_ENDED,
} net_secure_client_state;

/// What a client can show: a token, or the resume token of its last session.
typedef struct net_secure_credential {
    bool is_there;
    bool is_denied; ///< in this attempt
    net_token token;
} net_secure_credential;

/// Another server that would accept the session, as its challenge says.
typedef struct net_secure_offer {
    bool is_there, is_news;
    net_address server;
    uint64_t at_us;
    const net_secure_credential* shown;
    net_outer_proof proof;
} net_secure_offer;

/// The fields are private to secure_client.c and its tests.
typedef struct net_secure_client {
    net_entropy entropy;
    uint64_t protocol;
    bool has_token; ///< else tokens of the built-in key are made
    uint64_t dev_player_id;
    net_secure_credential resume, token; ///< in the order in which they are shown
    net_secure_client_state state;
    net_secure_end end;
    net_secure_end answer; ///< why the attempt fails when no other answer comes; NONE: for silence
    bool is_news;          ///< net_secure_client_take_notice gives `answer`
    net_address addresses[NET_SECURE_ADDRESSES_MAX];
    uint32_t address_count, sent_count;
    uint64_t answered_us, send_us, wait_us;
    uint8_t random[NET_OUTER_RANDOM_BYTES];
    const net_secure_credential* shown; ///< the one that the server answered
    net_address server;
    net_outer_proof proof;
    net_address asked[NET_STANDBYS_MAX]; ///< other servers, beside the open session
    uint32_t asked_count;
    net_secure_offer offer;
    uint8_t hello[NET_OUTER_HELLO_BYTES];
    uint32_t session;
    net_crypt_sender sender;
    net_crypt_receiver receiver;
    net_secure_stats stats;
} net_secure_client;

/// `entropy` must not be NULL (asserted); a client needs no more memory.
void net_secure_client_init(net_secure_client* client, const net_security* security);
/// Overwrite all keys.
void net_secure_client_deinit(net_secure_client* client);

/// Begin to connect to one server with 1..NET_SECURE_ADDRESSES_MAX addresses (asserted). A session
/// that was open is forgotten; its resume token is kept and shown first. When one of the addresses
/// has made an offer lately, the attempt goes on from that.
void net_secure_client_begin(net_secure_client* client, const net_secure_clock* clock,
                             const net_address* addresses, uint32_t count);
/// Ask another server, while a session is open, whether it takes that over. It is asked with
/// NET_STANDBYS_MAX others at most: a further one takes the place of the oldest.
/// @return the size of a datagram to send, in `out`; 0: no session is open, or it is the one there.
size_t net_secure_client_ask(net_secure_client* client, const net_address* other,
                             uint8_t out[NET_OUTER_HELLO_BYTES]);
/// One of those has answered that it does: begin with its address now. @return each answer once.
bool net_secure_client_take_offer(net_secure_client* client);
/// The server of the newest offer; NULL: there is none that counts still.
const net_address* net_secure_client_offer(const net_secure_client* client,
                                           const net_secure_clock* clock);
/// Call it in each service. @return the size of a datagram to send, in `out`; 0: none.
size_t net_secure_client_service(net_secure_client* client, const net_secure_clock* clock,
                                 uint8_t out[NET_OUTER_HELLO_BYTES], net_address* to);

/// What came of a datagram.
typedef struct net_secure_answer {
    const uint8_t* inner; ///< into the bytes of the datagram
    size_t inner_size;    ///< 0: nothing for ENet
    bool is_packet;       ///< `inner` is a packet of the realtime channel, not ENet's
    size_t reply_size;    ///< 0: no answer
    net_address reply_to;
    uint8_t reply[NET_OUTER_HELLO_BYTES];
} net_secure_answer;

/// Receive a datagram from the wire. It is decrypted in place.
void net_secure_client_receive(net_secure_client* client, const net_secure_clock* clock,
                               const net_address* from, uint8_t* bytes, size_t size,
                               net_secure_answer* answer);
/// Why the attempt under way may fail. The server says so without a signature, so anyone may have
/// written it, and the attempt goes on. @return each reason once; NET_SECURE_END_NONE: no news.
net_secure_end net_secure_client_take_notice(net_secure_client* client);
/// Seal a datagram of ENet (DATA) or a packet of the realtime channel (INPUT) to the server into
/// `out`, which has room for NET_SECURE_OVERHEAD_BYTES more.
/// @return the size; 0 when no session is open.
size_t net_secure_client_send(net_secure_client* client, uint64_t now_us, net_outer_type type,
                              const void* bytes, size_t size, uint8_t* out, net_address* to);
