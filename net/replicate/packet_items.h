// SPDX-License-Identifier: MIT
/// Private to replicate: which slots a packet carried, kept until the packet can no longer matter.
#pragma once

#include <stdint.h>

/// One record that was sent.
typedef struct net_packet_item {
    uint32_t slot;    ///< with NET_PACKET_ITEM_ROW, unless the record is a destroy
    uint16_t ordinal; ///< number of the send, per slot
    uint16_t classes; ///< that the client saw of the row
} net_packet_item;

#define NET_PACKET_ITEM_ROW 0x80000000u
