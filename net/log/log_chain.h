// SPDX-License-Identifier: MIT
/// The running hash of a log's blocks: BLAKE2b with 32 bytes, from segment to segment. Checksums
/// find what rots; this finds what a person changed, once its value is signed or known elsewhere.
/// Format: proto/LOG.md, "Running hash".
#pragma once

#include "log/log_index.h"
#include "log/log_read.h"

/// Go on with a block, of which the bytes may lie in two pieces. Index blocks do not count.
void net_log_chain_add(net_log_chain* chain, const void* data, size_t size, const void* rest,
                       size_t rest_size);
/// Finish `chain->total`.
void net_log_chain_end(net_log_chain* chain);
/// Compute the hash of each file that ends with an index, and compare. *has_all: each file has the
/// right one. @return false when one differs (reported).
BASE_MUST_USE bool net_log_chain_check(net_log_reader* reader, bool* has_all);
