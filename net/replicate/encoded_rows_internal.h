// SPDX-License-Identifier: MIT
/// Private to replicate: what the encoded_rows files share.
#pragma once

#include "replicate/encoded_rows.h"

#include <string.h>

/// Encode the row of a key. *encoded is in no home afterwards.
net_encoded_row_result net_encoded_rows_encode(net_encoded_rows* encoded_rows,
                                               const net_encoded_row_key* key,
                                               net_encoded_row* encoded);
/// The same for wishes with keys that all differ: sets what became of each.
void net_encoded_rows_encode_wishes(net_encoded_rows* encoded_rows, net_encoded_row_wish* wishes,
                                    uint32_t count);
/// The same for rows of one template, PROTO_ROW_JOBS_MAX at most.
/// @return false when memory ran out.
BASE_MUST_USE bool net_encoded_rows_encode_many(net_encoded_rows* encoded_rows,
                                                const net_row_template* row_template,
                                                const proto_row_job* jobs, uint32_t count,
                                                net_encoded_row* encoded);
static inline void net_encoded_rows_begin_home(const net_encoded_rows* encoded_rows,
                                               uint32_t home) {
    net_encoded_row_home* begun = &encoded_rows->homes[home];
    begun->stamp = encoded_rows->stamp;
    memset(begun->cells, 0, sizeof begun->cells);
}
/// Put a row into a cell of a begun home.
static inline void net_encoded_rows_put_cell(const net_encoded_rows* encoded_rows, uint32_t home,
                                             uint32_t cell, const net_encoded_row* encoded) {
    encoded_rows->homes[home].cells[cell] = net_encoded_row_cell(encoded);
    if (encoded_rows->is_counted)
        encoded_rows->home_parts[(size_t)home * NET_ENCODED_ROW_CELLS + cell] =
            (net_encoded_row_parts){encoded->parts_first, encoded->head_bits};
}
