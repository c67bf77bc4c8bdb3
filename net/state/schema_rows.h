// SPDX-License-Identifier: MIT
/// Private to net: what else the schema holds.
#pragma once

#include "net/schema.h"

#include "state/rows.h"

/// The table of replicated templates that the schema was computed from; it lives as long as the
/// schema. Compositions are added to it on first use, which changes neither numbers nor hashes.
net_rows* net_schema_rows(const net_schema* schema);
