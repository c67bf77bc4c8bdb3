// SPDX-License-Identifier: MIT
/// Private to replicate: sizes of codes, and what measuring and writing of creates share.
#pragma once

#include "base/bytes.h"
#include "replicate/snapshot_writer.h"

static inline uint32_t net_log2(uint32_t value) {
    return 31u - (uint32_t)__builtin_clz(value);
}
/// Bits of a value in an exponential Golomb code of this order.
static inline uint32_t net_golomb_bits(uint32_t value, uint32_t order) {
    return 2 * net_log2(value + (1u << order)) + 1 - order;
}
/// The code itself, of a value that takes less than 64 bits.
static inline uint64_t net_golomb_code(uint32_t value, uint32_t order) {
    uint32_t u = value + (1u << order), low_bits = net_log2(u), zeros = low_bits - order;
    uint64_t low = u & ((UINT64_C(1) << low_bits) - 1);
    return UINT64_C(1) << zeros | low << (zeros + 1);
}
/// What a create record need not repeat: the index that follows the previous create's, and its
/// template.
typedef struct net_create_state {
    uint32_t index_next;
    const net_row_template* row_template;
} net_create_state;

static inline const net_row_template* net_template_of(const net_history* history,
                                                      ecs_entity handle) {
    return net_history_find(history, ecs_entity_index(handle))->row_template;
}
