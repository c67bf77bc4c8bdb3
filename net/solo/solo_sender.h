// SPDX-License-Identifier: MIT
/// Solo code at the server: the snapshots of one client, by what this client acknowledged (SOLO.md,
/// "Solo code").
///
/// A snapshot is composed and measured as any other one; then it is coded again, and the shorter of
/// both codes is sent. So solo code costs processor time and memory, never bytes.
/// Memory:  half a megabyte for a client, all of it from the beginning.
#pragma once

#include "replicate/repl_state.h"
#include "replicate/snapshot_pieces.h"
#include "state/coder.h"

// As in state/coder.h.
net_solo_sender* net_solo_sender_create(const base_allocator* allocator);
void net_solo_sender_destroy(net_solo_sender* sender);
BASE_MUST_USE bool net_solo_sender_write(net_solo_sender* sender, net_repl_state* repl,
                                         uint16_t seq, uint32_t room_bits,
                                         proto_bit_writer* output);
/// Take the snapshot apart that was written, before its replication state learns of it: its head,
/// which *bit goes past, and all of a body in solo code. @return false: the body is in shared code.
bool net_solo_sender_take_apart(net_solo_sender* sender, net_repl_state* repl,
                                const net_piece_sink* sink, uint64_t* bit);
