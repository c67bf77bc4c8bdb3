// SPDX-License-Identifier: MIT
/// Private to net: what else the schema holds.
#pragma once

#include "state/rows.h"

#include "net/match.h"

/// The table of replicated templates that the schema was computed from; it lives as long as the
/// schema. Compositions are added to it on first use, which changes neither numbers nor hashes.
net_rows* net_schema_rows(const net_schema* schema);
/// The schema of another world with the same templates, and of the same messages: hash, items and
/// row templates are those of `like`, which must outlive it, on the same thread.
net_schema* net_schema_create_like(const base_allocator* allocator, ecs_world* world,
                                   const net_schema* like);
