// SPDX-License-Identifier: MIT
/// Private to explain: a snapshot taken apart.
#pragma once

#include "replicate/snapshot_pieces.h"

/// "change"... Static text.
const char* net_cost_name(net_cost cost);
/// In net_send_tap.snapshot: say what the bits of the snapshot are. @return true: its body is in
/// solo code.
bool net_pieces_read(net_repl_state* repl, const proto_bit_writer* output, uint64_t first_bit,
                     const net_piece_sink* sink);
