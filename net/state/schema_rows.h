// SPDX-License-Identifier: MIT
/// Private to net: what else the schema holds.
#pragma once

#include "net/schema.h"

#include "state/rows.h"

/// The table of replicated templates that the schema was computed from; it lives as long as the
/// schema. Compositions are added to it on first use, which changes neither numbers nor hashes.
net_rows* net_schema_rows(const net_schema* schema);
/// Encode rows by these tables (borrowed; NULL: the built-in ones) and make them part of the schema
/// hash, as an item. Call it before the first row is encoded. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_schema_set_tables(net_schema* schema, const proto_tables* tables);
