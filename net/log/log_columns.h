// SPDX-License-Identifier: MIT
/// A range coder with models that learn: for columns of numbers that are nearly known. The standard
/// is proto/LOG.md, "Range code".
///
/// Shape:   one function codes in both directions: it returns what was coded. When it reads, its
///          argument has no meaning, so writer and reader of a column are the same lines.
/// Memory:  the caller's; nothing is allocated.
/// Threads: one thread at a time.
#pragma once

#include "base/macros.h"
#include "log/log_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// How likely a bit is 1. net_log_model_begin before its first use.
typedef struct net_log_model {
    uint16_t one;  ///< of 65,536
    uint16_t seen; ///< bits so far, up to a limit
} net_log_model;

/// A number of 64 bits: its length, then its bits below the first.
#define NET_LOG_LENGTH_MODELS 128u ///< a tree of 7 bits
#define NET_LOG_BITS_MODELS 704u   ///< trees of lengths 2..8, and the first 3 bits of longer ones
typedef struct net_log_number_models {
    net_log_model length[NET_LOG_LENGTH_MODELS];
    net_log_model bits[NET_LOG_BITS_MODELS];
} net_log_number_models;

typedef struct net_log_range {
    bool is_reading;
    bool failed; ///< writing: it does not fit; reading: no writer writes this
    uint8_t* target;
    const uint8_t* source;
    size_t size;     ///< written; reading: taken, with bytes after the end
    size_t capacity; ///< of target, or the bytes of source
    uint32_t range;
    uint32_t code; ///< reading
    uint64_t low;  ///< writing
    uint8_t held;  ///< the byte before those that a carry may change
    uint64_t held_count;
} net_log_range;

void net_log_range_write(net_log_range* range, uint8_t* target, size_t capacity);
void net_log_range_read(net_log_range* range, const uint8_t* source, size_t size);
/// End what was begun. Writing: range->size has the bytes. @return false: it failed; reading also:
/// bytes are left.
BASE_MUST_USE bool net_log_range_end(net_log_range* range);

/// Make models new that lie side by side.
void net_log_model_begin(void* models, size_t bytes);
/// @return the bit.
uint32_t net_log_range_bit(net_log_range* range, net_log_model* model, uint32_t bit);
/// A symbol of `bits` bits; `tree` has 1 << bits models.
uint32_t net_log_range_tree(net_log_range* range, net_log_model* tree, uint32_t bits,
                            uint32_t symbol);
uint64_t net_log_range_number(net_log_range* range, net_log_number_models* models, uint64_t number);

/// A difference of both signs as a number: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
static inline uint64_t net_log_fold(uint64_t difference) {
    return difference << 1 ^ (0 - (difference >> 63));
}
static inline uint64_t net_log_unfold(uint64_t number) {
    return number >> 1 ^ (0 - (number & 1));
}

// ---- columns of inputs ----

// The inputs of a block by column; a part of log_columns.h.

/// Fields of an input message that have columns; messages with others are stored as they are.
#define NET_LOG_INPUT_FIELDS 15u
#define NET_LOG_INPUT_CLIENTS NET_CLIENTS_MAX ///< of one block
#define NET_LOG_INPUT_SLOTS 8192u             ///< of the table of clients, a power of two
#define NET_LOG_MOVED_MAX 3u                  ///< fields that changed before, as context

/// What a client's last input was.
typedef struct net_log_input_client {
    uint32_t client;
    uint32_t number;
    bool is_known;
    uint8_t history; ///< bits: were its last payloads the same as the one before?
    uint64_t seen;
    uint64_t values[NET_LOG_INPUT_FIELDS];
} net_log_input_client;

typedef struct net_log_input_models {
    net_log_model is_same_list, is_repeat, is_same_seen[2], is_same[4], is_odd, is_new_field;
    net_log_model is_next[2][2]; ///< of numbers, by repeat and whether the client is known
    net_log_model has_moved[NET_LOG_INPUT_FIELDS][NET_LOG_MOVED_MAX + 1];
    net_log_model type[4], is_difference[NET_LOG_INPUT_FIELDS];
    net_log_number_models list_count, list_client, number[2], seen[2], odd_bytes;
} net_log_input_models;

typedef struct net_log_inputs {
    net_log_input_models models;
    /// By field and whether it is a difference; begun with the field's first value.
    net_log_number_models values[NET_LOG_INPUT_FIELDS][2];
    net_log_input_client clients[NET_LOG_INPUT_CLIENTS];
    uint32_t client_count;
    uint16_t slots[NET_LOG_INPUT_SLOTS];  ///< 0: free, else 1 + its place in clients
    uint16_t list[NET_LOG_INPUT_CLIENTS]; ///< places of the clients of the last list
    uint32_t list_count;
    uint32_t field_count;
    uint8_t types[NET_LOG_INPUT_FIELDS];
    uint32_t number; ///< of the input before
    uint64_t seen;
} net_log_inputs;

void net_log_inputs_begin(net_log_inputs* inputs);
/// Code the inputs of a begin record: read with `from`, or written to `to` as its items. `rest` is
/// what is not in columns: written to with `from`, else read from.
void net_log_inputs_write(net_log_inputs* inputs, net_log_range* range, const net_log_record* from,
                          proto_pb_writer* rest);
void net_log_inputs_read(net_log_inputs* inputs, net_log_range* range, base_reader* rest,
                         proto_pb_writer* to);
