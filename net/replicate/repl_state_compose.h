// SPDX-License-Identifier: MIT
/// Private to replicate: composing one snapshot, shared by repl_state_bases.c and
/// repl_state_records.c.
#pragma once

#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

typedef struct net_composer {
    net_repl_state* repl;
    net_snapshot_writer* writer;
    net_encoded_rows* encoded_rows;
    uint32_t now, words;
    uint32_t list_back, list_count; // rows in the list of the packet that is looked at
    uint64_t* single;               // slots of the present base without a second one
    uint64_t* doubled;              // all slots that are coded with a second base
    uint64_t* absolute;
} net_composer;

static inline void net_set_bit(uint64_t* set, uint32_t slot) {
    set[slot >> 6] |= UINT64_C(1) << (slot & 63);
}

/// Get the rows of the newest run: with the second base at this distance for the slots that are in
/// `doubled`. A slot whose base is forgotten goes to `single` or `absolute`.
/// @return true; false when memory ran out.
BASE_MUST_USE bool net_composer_add_records(net_composer* c, uint32_t age, uint32_t d);
/// The row of a slot in the snapshot.
void net_composer_take(net_composer* c, uint32_t slot, const net_encoded_row* encoded);
