// SPDX-License-Identifier: MIT
#include "mirror/packed_row.h"

#include <string.h>

static uint32_t bytes_of(const proto_layout* layout, uint32_t field) {
    uint32_t bits = layout->fields[field].quant.bits;
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

uint32_t net_packed_row_bytes(const proto_layout* layout) {
    uint32_t bytes = 0;
    for (uint32_t f = 0; f < layout->field_count; f++)
        bytes += bytes_of(layout, f);
    return bytes;
}

uint32_t net_packed_row_write(const proto_layout* layout, const uint64_t* row, uint8_t* packed) {
    const uint8_t* first = packed;
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const uint32_t bytes = bytes_of(layout, f);
        switch (bytes) {
        case 1:
            *packed = (uint8_t)row[f];
            break;
        case 2:
            memcpy(packed, &(uint16_t){(uint16_t)row[f]}, 2);
            break;
        case 4:
            memcpy(packed, &(uint32_t){(uint32_t)row[f]}, 4);
            break;
        default:
            memcpy(packed, &row[f], 8);
        }
        packed += bytes;
    }
    return (uint32_t)(packed - first);
}

void net_packed_row_read(const proto_layout* layout, const uint8_t* packed, uint64_t* row) {
    for (uint32_t f = 0; f < layout->field_count; f++) {
        const uint32_t bytes = bytes_of(layout, f);
        uint16_t two;
        uint32_t four;
        switch (bytes) {
        case 1:
            row[f] = *packed;
            break;
        case 2:
            memcpy(&two, packed, 2);
            row[f] = two;
            break;
        case 4:
            memcpy(&four, packed, 4);
            row[f] = four;
            break;
        default:
            memcpy(&row[f], packed, 8);
        }
        packed += bytes;
    }
}
