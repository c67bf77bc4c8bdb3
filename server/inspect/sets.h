// SPDX-License-Identifier: MIT
/// The sets of verbs, each of the file that is named beside it.
#pragma once

#include "verbs.h"

extern const server_verb_set server_status_verbs;  ///< view_status.c
extern const server_verb_set server_client_verbs;  ///< view_clients.c
extern const server_verb_set server_schema_verbs;  ///< view_schema.c
extern const server_verb_set server_ledger_verbs;  ///< view_ledger.c
extern const server_verb_set server_query_verbs;   ///< view_query.c
extern const server_verb_set server_stream_verbs;  ///< view_stream.c
extern const server_verb_set server_metrics_verbs; ///< metrics.c
extern const server_verb_set server_steer_verbs;   ///< steer.c
