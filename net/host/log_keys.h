// SPDX-License-Identifier: MIT
/// The keys that sign logs, in files.
#pragma once

#include "net/log.h"

#include "base/report.h"

/// Make a pair of keys that sign logs: the secret one in `path`, which only this user can read, the
/// public one in `path`.pub. @return false: reported; no file is there that was not.
BASE_MUST_USE bool net_host_make_log_key(const char* path, net_log_public_key* key,
                                         const base_reporter* reporter);
/// @return false: reported; the key is zero then.
BASE_MUST_USE bool net_host_load_log_key(const char* path, net_log_secret_key* key,
                                         const base_reporter* reporter);
BASE_MUST_USE bool net_host_load_public_log_key(const char* path, net_log_public_key* key,
                                                const base_reporter* reporter);
