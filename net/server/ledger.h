// SPDX-License-Identifier: MIT
/// Private to server: what is counted of sent bits while an operator asks (net/explain.h).
#pragma once

#include "net/explain.h"
#include "replicate/snapshot_pieces.h"

typedef struct net_server_lane net_server_lane; ///< server/server_state.h
typedef struct net_session net_session;         ///< server/session.h

/// Bits by what they say. One block of memory, and one for the entities of all tallies.
typedef struct net_tally {
    uint64_t (*components)[NET_COST_COUNT]; ///< [component]
    uint64_t* templates;                    ///< [template id]; 0: none, or made later
    uint64_t* clients;                      ///< [place of a session]
    uint32_t* numbers;                      ///< [place] the client that it was
    uint32_t* entities;                     ///< [index]; NULL: not counted
    uint32_t entity_end;                    ///< behind the highest index with bits
} net_tally;

/// What is counted now, by lane, and the seconds before.
typedef struct net_ledger {
    uint32_t component_count, template_count, place_count, entity_count;
    uint64_t asked_us, second_us;
    uint64_t sent_bytes; ///< of the transport, when the second began
    int64_t carried;     ///< bits that the transport has sent beyond ours; less: they wait in it
    net_tally lanes[NET_LANES_MAX];
    uint32_t lane_count;
    net_tally seconds[NET_LEDGER_SECONDS]; ///< [second % NET_LEDGER_SECONDS]
    uint64_t second_bits[NET_LEDGER_SECONDS];
    uint64_t second_count;
    // Entities are counted only while they are asked for.
    uint64_t entities_us;   ///< when that was last
    uint64_t entity_second; ///< the first second in which all of it was counted
    uint64_t* entity_sums;  ///< [index], over the known seconds; NULL: not counted
    uint32_t entity_end;    ///< of the sums
} net_ledger;

/// A piece of the captured packet.
typedef struct net_captured {
    net_piece piece;     ///< its row is not there any more
    uint32_t word_first; ///< of its component's words
} net_captured;

/// The packets of one client, while they are looked at.
typedef struct net_capture {
    uint32_t client;
    uint64_t asked_us;
    uint16_t seq;
    ecs_tick tick;
    bool is_solo;
    bool is_whole; ///< a packet was captured, and there was memory for all of it
    net_captured* pieces;
    uint32_t piece_count, piece_capacity;
    uint64_t* words;
    uint32_t word_count, word_capacity;
    net_packet_part* parts; ///< made when they are asked for
    uint32_t part_capacity;
    base_bytes texts;
    net_packet packet;
} net_capture;

/// Once per hand-over: a second may be over, or no one asks any more. Lanes get their sinks.
void net_server_turn_ledger(net_server* server);
/// Begin to count. @return false when memory ran out.
BASE_MUST_USE bool net_server_open_ledger(net_server* server);
/// Count entities from the next second on. @return false when memory ran out.
BASE_MUST_USE bool net_server_count_entities(net_server* server);
/// End the ledger and the capture, when there are any.
void net_server_close_ledger(net_server* server);
void net_server_close_capture(net_server* server);
/// Count bits that are in no snapshot, in the account and in what is asked for. Where the lane of
/// the session may count.
void net_server_count(net_server* server, net_session* session, const net_piece* piece);
/// A packet to the lane's session begins: with its header.
void net_server_begin_packet(net_server_lane* lane, net_session* session);
/// It ended; the piece counted last is the frame before its first one. `is_solo`: its rows are in
/// solo code.
void net_server_end_packet(net_server_lane* lane, uint16_t seq, bool is_solo);
