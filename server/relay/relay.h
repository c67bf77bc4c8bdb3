// SPDX-License-Identifier: MIT
/// The options of shoal-relay, read and checked.
#pragma once

#include "config.h"

/// A server_config_fn: a server that follows the match of another one.
BASE_MUST_USE base_options_result relay_config_read(server_config* config, int argc, char** argv,
                                                    const base_reporter* reporter);
