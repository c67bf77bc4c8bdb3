// SPDX-License-Identifier: MIT
/// Bandwidth accounts of sessions that are over.
#pragma once

#include "server/session.h"

/// Keep the account of a session whose replication state is about to go.
void net_server_keep_account(net_server* server, const net_session* session);
/// Free all accounts. For net_server_destroy.
void net_server_close_accounts(net_server* server);
