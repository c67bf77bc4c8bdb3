// SPDX-License-Identifier: MIT
/// The numbers of forms 3 and 4 of "Changes" that their writers and their readers share. The
/// standard is proto/LOG.md, "State deltas" and "Raw rows".
#pragma once

#include "ecs/limits.h"
#include "net/limits.h"

#define NET_LOG_FORM_DELTA 3u
#define NET_LOG_FORM_RAW 4u

/// Version of the row code that rows are written in (Header.row_code): WIRE.md's.
#define NET_LOG_ROW_CODE 4u
/// Templates of a log with rows, composed ones included.
#define NET_LOG_TEMPLATES_MAX 1024u
#define NET_LOG_DEFINITION_BYTES_MAX 65536u

/// A part of form 4 is ended when it is as long as this; a row and its head may follow.
#define NET_LOG_RAW_BYTES_MAX 131072u
#define NET_LOG_RAW_START 1u ///< flags: forget everything before; all entities follow
#define NET_LOG_RAW_ROWS 2u  ///< it has entities and values
#define NET_LOG_RAW_LAST 4u  ///< no further part of the tick follows

#define NET_LOG_ORDER_BITS 4u ///< of a Golomb order
#define NET_LOG_ORDER_MAX 15u
#define NET_LOG_END_ORDER 10u
#define NET_LOG_SUM_COUNT_ORDER 2u
#define NET_LOG_SUM_ID_ORDER 1u
#define NET_LOG_SUM_BITS 8u
#define NET_LOG_SUM_MASK 0xffu
#define NET_LOG_DEFINITION_ORDER 6u
#define NET_LOG_OTHER_COUNT_ORDER 2u
#define NET_LOG_TEMPLATE_ORDER 3u
#define NET_LOG_VALUE_INDEX_ORDER 7u
#define NET_LOG_VALUE_COMPONENT_ORDER 3u
#define NET_LOG_VALUE_BYTES_ORDER 4u

/// What a listed entity is.
typedef enum net_log_entry {
    NET_LOG_ENTRY_CHANGED,
    NET_LOG_ENTRY_WHOLE,
    NET_LOG_ENTRY_DESTROYED,
} net_log_entry;
