// SPDX-License-Identifier: MIT
/// A new log file, locked against other servers.
#pragma once

#include "base/report.h"
#include "net/result.h"

#include <errno.h>

/// What a failed call means: NET_ERR_DISK for a full or broken disk, otherwise NET_ERR_IO.
static inline net_result net_log_result_of(int error) {
    bool is_disk = error == ENOSPC || error == EDQUOT || error == EIO || error == EROFS;
    return is_disk ? NET_ERR_DISK : NET_ERR_IO;
}

/// Is the name still that of the open file?
BASE_MUST_USE bool net_log_lock_has_name(int fd, const char* name);
/// Create and lock the file `name`; *fd (-1 before) is its descriptor, also after an error when it
/// was opened. An earlier log with this name becomes NAME.N, with its queue; N is above all that
/// are there. A log that another server writes is not touched, and a link of that name is refused
/// (base/file.h). @return NET_OK; NET_ERR_DISK (errno says why), NET_ERR_IO (reported).
BASE_MUST_USE net_result net_log_lock_create(const char* name, const base_reporter* reporter,
                                             int* fd);
