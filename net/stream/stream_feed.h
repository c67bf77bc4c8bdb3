// SPDX-License-Identifier: MIT
/// A stream as a feed: what follows a match takes its records from a file or from here.
#pragma once

#include "log/log_feed.h"
#include "net/stream.h"

/// The header must be there (net_stream_follower_header, asserted). Each call of `next` polls the
/// follower when it has no record, at the time of the newest poll, so a loop until NOTHING takes all
/// that came. Lives as long as the follower; FAILED is not reported: see
/// net_stream_follower_info.text.
net_log_feed net_stream_follower_feed(net_stream_follower* follower);
