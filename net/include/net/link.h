// SPDX-License-Identifier: MIT
/// A bad network, seeded: loss (also in bursts), one-way delay, jitter, duplicates, reordering,
/// flipped bits, a rate with its queue, a hole for large datagrams, new source ports. One link is
/// one direction of one path. transport_sim uses it, and the socket layer below ENet does (--net).
///
/// The same seed and the same calls give the same deliveries, bit for bit, on every machine.
///
/// Memory: a fixed pool of NET_LINK_DATAGRAMS_MAX datagrams; further ones are lost and counted.
#pragma once

#include "base/alloc.h"
#include "base/report.h"
#include "base/rng.h"
#include "net/result.h"

BASE_C_BEGIN

#define NET_LINK_DATAGRAMS_MAX 4096u
#define NET_LINK_BYTES_MAX 1500u
#define NET_LINK_MS_MAX 10000.0
#define NET_LINK_OUTAGE_MS_MAX 3600000.0
#define NET_LINK_RATE_KBIT_MIN 1.0
#define NET_LINK_RATE_KBIT_MAX 10000000.0
#define NET_LINK_QUEUE_MS_MIN 1.0
#define NET_LINK_QUEUE_MS_DEFAULT 500.0
#define NET_LINK_BURST_MS_MIN 1.0
#define NET_LINK_MTU_BYTES_MIN 64.0
#define NET_LINK_REBIND_MS_MIN 100.0
#define NET_LINK_FLIPPED_BITS_MAX 3u ///< of one datagram

/// All zero: a perfect line.
typedef struct net_link_config {
    double loss_percent;      ///< 0..100
    double burst_ms;          ///< 0: each datagram is lost or not by itself; else losses come in
                              ///< bursts of this mean length (Gilbert-Elliott: a good state that
                              ///< loses nothing, a bad one that loses all), 1..10,000
    double delay_ms;          ///< one way, 0..10,000
    double jitter_ms;         ///< added uniformly in [0, jitter], 0..10,000
    double duplicate_percent; ///< delivered twice, the copy with its own jitter
    double reorder_percent;   ///< held back by one further delay of 1..(jitter + 10) ms
    double flip_percent;      ///< delivered with 1..NET_LINK_FLIPPED_BITS_MAX other bits
    double rate_kbit;         ///< 0: unlimited; else serialised at this rate (payload and 28 bytes
                              ///< of headers)
    double queue_ms;          ///< what comes while the queue in front of the rate is longer than
                              ///< this is lost, 1..10,000; 0: NET_LINK_QUEUE_MS_DEFAULT
    double mtu_bytes;         ///< longer UDP payloads vanish, 64..NET_LINK_BYTES_MAX; 0: none do
    double rebind_ms;         ///< net_link_rebind_is_due after this time, on average; 0: never
    double outage_at_ms;      ///< nothing passes from this time on, counted from the first datagram
    double outage_for_ms;     ///< duration of the outage; 0: no outage
    uint64_t seed;
} net_link_config;

/// Both directions, seen from the one that sends `up` and receives `down`.
typedef struct net_link_pair {
    net_link_config up, down;
} net_link_pair;

/// Parse "loss=5,burst=200,delay=80,jitter=20,duplicate=1,reorder=2,flip=1,rate=512,queue=2000,
/// mtu=1252,rebind=20000,outage_at=5000,outage_for=10000,seed=7": any subset in any order.
/// "up.loss=30" and "down.loss=30" set one direction and win over "loss=5". A preset may come
/// first, "4g" or "4g,loss=5": wifi, 4g, bad, satellite. What follows replaces its values.
/// @return NET_OK; NET_ERR_UNKNOWN (the report names the nearest key); NET_ERR_MALFORMED (range,
///         a key twice, no value, a preset that is not first). On failure `pair` is untouched.
BASE_MUST_USE net_result net_link_config_parse(const char* text, const base_reporter* reporter,
                                               net_link_pair* pair);

typedef struct net_link_stats {
    uint64_t sent;       ///< pushed
    uint64_t delivered;  ///< popped, twins included
    uint64_t lost;       ///< by chance, in a burst or an outage, or longer than mtu_bytes
    uint64_t duplicated; ///< twins made
    uint64_t reordered;  ///< held back
    uint64_t flipped;    ///< given other bits
    uint64_t overflowed; ///< lost because pool, queue or NET_LINK_BYTES_MAX were too small
} net_link_stats;

typedef struct net_link net_link;

/// Make a link. `allocator` NULL: the heap; the config must be one that net_link_config_parse could
/// give.
/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_link_create(const base_allocator* allocator,
                                         const net_link_config* config, net_link** link);
/// NULL is allowed.
void net_link_destroy(net_link* link);
/// Change the config. Datagrams on their way keep their arrival. Another seed starts its sequence
/// from the beginning.
void net_link_config_set(net_link* link, const net_link_config* config);
/// Send a datagram, copied. `tag` comes out with it (an address, a path).
void net_link_push(net_link* link, uint64_t now_us, uint64_t tag, const void* bytes, size_t size);
/// Get the next datagram that has arrived by now: the earliest, of equal ones the first sent. `tag`
/// may be NULL. Borrowed until net_link_pop. @return NULL when none has arrived.
const uint8_t* net_link_peek(net_link* link, uint64_t now_us, uint64_t* tag, size_t* size);
/// Remove the datagram that net_link_peek gave.
void net_link_pop(net_link* link);
/// Arrival of the next datagram; UINT64_MAX when none is on its way.
uint64_t net_link_next_us(const net_link* link);
/// Is the link in its outage?
bool net_link_is_out(const net_link* link, uint64_t now_us);
/// Should the sender change its source port now, as behind a NAT that forgot it? True once for each
/// time that is due: every rebind_ms, each interval 50..150 % of it.
bool net_link_rebind_is_due(net_link* link, uint64_t now_us);
const net_link_stats* net_link_get_stats(const net_link* link);

BASE_C_END
