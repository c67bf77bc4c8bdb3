// SPDX-License-Identifier: MIT
/// The log of a server's match, as a part of the program: it observes the match.
#pragma once

#include "program.h"

#include "net/log.h"

typedef struct server_log {
    net_log_writer* writer;   ///< NULL: no log
    net_log_reader* before;   ///< set by a part: it goes on with the match of this log
    net_log_tap tap;          ///< set by a part: it gets what the writer appends
    net_log_secret_key key;   ///< with --log key
    net_log_counters counted; ///< once the writer is closed
    bool has_file;            ///< false with a writer: the last seconds in memory are all of it
    bool is_lacking;          ///< the disk took none: the exit code says so
    char file[256]; ///< "none" without a log; with has_file false the name of what is saved
    char crash_file[264];
} server_log;

extern const server_part server_part_log;

/// NULL: this program is without logs.
server_log* server_log_of(const server_program* program);
/// Is a log with a file wanted?
bool server_log_is_wanted(const server_config* config);
/// An operator may change the match: the header of its log has to say so.
bool server_log_has_controls(const server_config* config);
