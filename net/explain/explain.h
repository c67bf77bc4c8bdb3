// SPDX-License-Identifier: MIT
/// Private to explain: what net_explain_tap keeps of a server (net_server.tapped).
///
/// Each lane counts into numbers of its own: lanes share nothing that is written, so counts are the
/// same for any number of them.
#pragma once

#include "replicate/snapshot_pieces.h"
#include "server/server_state.h"

#include "net/explain.h"

/// Bits by what they say. One block of memory, and one for the entities of all tallies.
typedef struct net_tally {
    uint64_t (*components)[NET_COST_COUNT]; ///< [component]
    uint64_t* templates;                    ///< [template id]; 0: none, or made later
    uint64_t* clients;                      ///< [place of a session]
    uint32_t* numbers;                      ///< [place] the client that it was
    uint32_t* entities;                     ///< [index]; NULL: not counted
    uint32_t entity_end;                    ///< one past the highest index with bits
} net_tally;

/// What is counted now, by lane, and the seconds before.
typedef struct net_ledger {
    base_owner owner;
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
    base_owner owner;
    uint64_t asked_us;
    bool is_whole; ///< a packet was captured
    net_captured* pieces;
    uint32_t piece_count, piece_capacity;
    uint64_t* words;
    uint32_t word_count, word_capacity;
    net_packet_part* parts; ///< made when they are asked for
    uint32_t part_capacity;
    net_packet packet;
} net_capture;

/// Bits of a client by component and cause, from its first one on.
typedef struct net_account {
    uint32_t client;
    uint64_t (*bits)[NET_COST_COUNT]; ///< [component]; NULL: it is not open
} net_account;

/// Whose bits a lane writes.
typedef struct net_explain_lane {
    const net_server* server;
    uint32_t number;
    const net_session* session;
    net_account* account; ///< NULL: none
    bool is_captured;     ///< the packet is kept piece by piece
} net_explain_lane;

typedef struct net_explain {
    base_owner owner;
    net_explain_lane lanes[NET_LANES_MAX];
    net_ledger* ledger; ///< NULL: it was not asked for lately, as the next one
    net_capture* capture;
    uint32_t component_count; ///< and one for bits of none
    net_account* accounts;    ///< [place of a session]; NULL: nothing is accounted
    net_account rest;         ///< of greetings, of clients past the first that are gone
    net_account* gone;
    uint32_t gone_count, gone_capacity;
} net_explain;

static inline net_explain* net_explain_of(const net_server* server) {
    return server->tapped;
}

/// The session of a client that plays or watches; NULL: none.
net_session* net_explain_find_session(const net_server* server, uint32_t client);
/// Is the answer to a question of this time still wanted?
static inline bool net_explain_is_asked(const net_server* server, uint64_t asked_us) {
    return server->now_us < asked_us + NET_LEDGER_ASK_MS * UINT64_C(1000);
}

// ledger.c

void net_ledger_count(net_ledger* ledger, uint32_t lane, uint32_t place, const net_piece* piece);
void net_ledger_turn(net_server* server);
void net_ledger_close(net_server* server);

void net_accounts_open(net_server* server);
/// @return the account of the session, which is opened; `rest` before it has a replication state;
/// NULL: nothing is accounted. On its lane, or while no lane works.
net_account* net_account_of(const net_server* server, const net_session* session);
/// net_send_tap.leave
void net_account_end(void* context, const net_session* session);

// pieces.c

/// "change"... Static text.
const char* net_cost_name(net_cost cost);
/// In net_send_tap.snapshot: say what the bits of the snapshot are. @return true: its body is in
/// solo code.
bool net_pieces_read(net_repl_state* repl, const proto_bit_writer* output, uint64_t first_bit,
                     const net_piece_sink* sink);

// why.c

/// Set what the rules say of explanation->entity for explanation->client, which is there: from the
/// world itself. `is_in_scope` and `entered` are set.
void net_interest_explain(const net_interest* interest, const ecs_world* world,
                          net_explanation* explanation);
