// SPDX-License-Identifier: MIT
/// Players in browsers: a transport of WebSocket connections, and one that joins it to another.
#pragma once

#include "net/transport.h"

BASE_C_BEGIN

// ---- the transport ----

/// WebSocket connections (RFC 6455, framed by libwslay) as a net_transport of a server. It opens no
/// socket: the part that serves HTTP adds connections after their upgrade, and gives the functions
/// that read and write their bytes. proto/WIRE.md, "WebSocket", has every byte.
///
/// TCP delivers all or nothing in order, so old packets would wait in a queue while the line
/// stalls. A packet of the realtime channel is therefore given to a connection only when the system
/// has sent what it got before; else it is not sent, and its receiver finds it lost. So a stall is
/// followed by the newest packet.
///
/// A connection begins with the client's token. It counts here as it does over UDP: `admit`
/// decides. Encryption is that of TLS, by a proxy before the server.
///
/// Memory: of each connection the message that comes and what waits for the system,
/// NET_WEB_QUEUE_BYTES_MAX at most. libwslay allocates for pings and closes alone.
/// Threads: as net_transport; net_web_add with `service`.

#define NET_WEB_HELLO_MS_MAX 5000u   ///< from the upgrade to a token that counts
#define NET_WEB_HELLO_MS_MIN 500u    ///< so long no newcomer takes the place
#define NET_WEB_SILENT_MS_MAX 15000u ///< a connection without a message ends
#define NET_WEB_CLOSE_MS_MAX 5000u   ///< wait for the answer to a close
/// Of one connection: what the system did not take yet. A message beyond it is refused (FULL).
#define NET_WEB_QUEUE_BYTES_MAX (64u << 10)
/// Bytes that the system has not sent yet, above which a packet counts as lost.
#define NET_WEB_UNSENT_BYTES_MAX NET_STATE_BYTES_MAX
#define NET_WEB_FRAMES_PER_SECOND 480u ///< of one connection, pings too, twice as many at once
/// In a close frame: the reason of net_transport, as a number in decimal. Others are RFC 6455's.
#define NET_WEB_CLOSE_REASON 4000u

/// The first byte of a message. Both channels go both ways.
typedef enum net_web_kind {
    NET_WEB_CONTROL = NET_CHANNEL_CONTROL,
    NET_WEB_REALTIME = NET_CHANNEL_REALTIME,
    /// From a client, its first message: the text of its token, or nothing. From the server, its
    /// first one: the text of a token that counts when the client comes again.
    NET_WEB_HELLO,
} net_web_kind;

/// A connection's bytes. The user of the transport embeds it.
typedef struct net_web_stream {
    uint32_t slot; ///< the transport's
} net_web_stream;

/// Where bytes of connections come from and go to. No function waits. `read`, `write` and `unsent`
/// of different streams may run at the same time.
typedef struct net_web_io {
    void* context;
    /// List streams that have something to read, at most `capacity`. @return their number.
    uint32_t (*ready)(void* context, net_web_stream** streams, uint32_t capacity);
    /// @return bytes read; 0: none now; -1: it is closed or broken.
    long (*read)(void* context, net_web_stream* stream, uint8_t* bytes, size_t size);
    /// @return bytes taken, less than `size` when there is no room; -1: it is closed or broken.
    long (*write)(void* context, net_web_stream* stream, const uint8_t* bytes, size_t size);
    /// @return bytes that were taken and have not left yet.
    uint32_t (*unsent)(void* context, net_web_stream* stream);
    /// The transport uses the stream no more.
    void (*close)(void* context, net_web_stream* stream);
    /// A descriptor that is readable when a stream is; -1: none.
    int descriptor;
} net_web_io;

/// Does this token count for a connection from this address? It counts as used then.
/// @return NET_SECURE_END_NONE: *identity, and *resume, a token with which the same player comes
///         again; else why not. *later changes where it has one for later matches, too.
typedef net_secure_end (*net_web_admit_fn)(void* context, const net_address* from,
                                           const net_token* token, net_peer_identity* identity,
                                           net_token* resume, net_token* later);

typedef struct net_web_config {
    const base_allocator* allocator;
    uint32_t peers_max;  ///< connections at once, 1..NET_CLIENTS_MAX
    uint32_t slot_first; ///< of their numbers: with peers_max at most NET_PEER_SLOTS (asserted)
    uint32_t lanes;      ///< of the transport that it is joined to; 0: one
    uint32_t peers_per_address_max; ///< loopback apart; 0: no limit
    net_web_io io;
    net_web_admit_fn admit;
    void* admit_context;
    const net_entropy* entropy; ///< of tokens of the built-in key; NULL: the system's
} net_web_config;

typedef struct net_web_stats {
    uint64_t connections; ///< added
    uint64_t refused;     ///< by their token, their number or their first message
    uint64_t stale;       ///< packets that were not sent, because older ones had not left
    uint64_t too_fast;    ///< connections that ended since they sent too many frames
    uint64_t malformed;   ///< the same: what they sent was no message of ours
} net_web_stats;

/// @return NET_OK; NET_ERR_FULL (peers_max is not 1..NET_CLIENTS_MAX).
BASE_MUST_USE net_result net_transport_web_create(const net_web_config* config,
                                                  net_transport** transport);
/// A connection was upgraded; `first` are bytes that came with the request already, copied.
/// @return false: there is no place, or none for this address; the stream stays the caller's.
bool net_web_add(net_transport* transport, net_web_stream* stream, const net_address* from,
                 const uint8_t* first, size_t first_size);
void net_web_get_stats(const net_transport* transport, net_web_stats* stats);

// ---- two as one ----

/// Two transports of a server behind one: connections of `second` have the slots from `slot_first`
/// on. Lanes are those of `first`. Both stay the caller's and must outlive it.
BASE_MUST_USE net_transport* net_transport_join_create(const base_allocator* allocator,
                                                       net_transport* first, net_transport* second,
                                                       uint32_t slot_first);

BASE_C_END
