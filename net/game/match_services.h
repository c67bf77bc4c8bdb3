// SPDX-License-Identifier: MIT
/// What a server takes from its match besides net/match.h.
#pragma once

#include "interest/interest_requests.h"
#include "net/match.h"

/// What the module requested about interest. Empty on a client's world and for modules without
/// `interest`.
net_interest_requests* net_match_interest_requests(net_match* match);
