// SPDX-License-Identifier: MIT
/// A game that is checked, and a match that goes on with another version of it.
#pragma once

#include "net/match.h"
#include "net/server.h"

/// Say what the module's file and declarations alone show (check/check.h), each as a warning: the
/// match runs all the same. `match` is a server's, before or between ticks.
/// @return as net_check_declared.
BASE_MUST_USE net_result net_host_check_game(net_match* match, const base_reporter* reporter);
/// When the files of the server's module changed, let its match go on with them: *module and
/// *match are the new ones then, and *old is the module before, which the caller closes when no
/// other match is of it. Between ticks, while the server is RUNNING. A fault changes nothing. What
/// became of it is reported. @return whether another match goes on.
bool net_host_reload(net_server* server, net_module** module, net_match** match, net_module** old,
                     const base_reporter* reporter);
