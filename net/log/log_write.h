// SPDX-License-Identifier: MIT
/// Creating a writer with a special configuration, for tests: small queues, no thread, faulty
/// files.
#pragma once

#include "log/log_file.h"
#include "net/log_writer.h"

/// As net_log_writer_create; file and identity of the config are filled in.
BASE_MUST_USE net_result net_log_writer_create_with(const net_log_file_config* config,
                                                    const net_match* match, const char* file,
                                                    const char* build, uint64_t now_unix_ms,
                                                    const base_reporter* reporter,
                                                    net_log_writer** writer);
