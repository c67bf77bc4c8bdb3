// SPDX-License-Identifier: MIT
/// Private to replicate: what the encoded_rows files share.
#pragma once

#include "replicate/encoded_rows.h"

/// Encode the row of a key. *encoded is in no home afterwards.
net_encoded_row_result net_encoded_rows_encode(net_encoded_rows* encoded_rows,
                                               const net_encoded_row_key* key,
                                               net_encoded_row* encoded);
/// The same from rows. @return false when memory ran out.
BASE_MUST_USE bool net_encoded_rows_encode_rows(net_encoded_rows* encoded_rows,
                                                const net_row_template* row_template,
                                                const proto_packed_base* against,
                                                const uint32_t* row, net_encoded_row* encoded);
static inline void net_encoded_rows_begin_home(const net_encoded_rows* encoded_rows,
                                               uint32_t home) {
    encoded_rows->homes[home].stamp = encoded_rows->stamp;
    encoded_rows->homes[home].count = encoded_rows->homes[home].next = 0;
}
/// Put a row into a home that has room.
static inline void net_encoded_rows_put_cell(const net_encoded_rows* encoded_rows, uint32_t home,
                                             uint32_t key, const net_encoded_row* encoded) {
    net_encoded_row_home* into = &encoded_rows->homes[home];
    uint32_t cell = into->count++;
    into->keys[cell] = key;
    into->bits[cell] = encoded->bits;
    into->codes[cell] = encoded->code;
    if (encoded_rows->is_counted)
        encoded_rows->home_parts[(size_t)home * NET_ENCODED_ROW_CELLS + cell] =
            (net_encoded_row_parts){encoded->parts_first, encoded->head_bits};
}
