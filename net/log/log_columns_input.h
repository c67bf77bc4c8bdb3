// SPDX-License-Identifier: MIT
/// The inputs of a block by column; a part of log_columns.h.
#pragma once

#include "log/log_range.h"
#include "log/log_record.h"

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
