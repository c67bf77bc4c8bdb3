// SPDX-License-Identifier: MIT
/// Records of a match in order, from a file that grows or from a stream.
#pragma once

#include "log/log_read.h"

typedef struct net_log_feed {
    void* context;
    const uint8_t* header; ///< the packed Header record
    size_t header_bytes;
    /// BEGIN, CONTROL, END, ALIVE, CLOSE in the order of a log. *record is borrowed until the next
    /// call. What FAILED is reported.
    net_log_feed_state (*next)(void* context, net_log_record* record);
} net_log_feed;

// ---- from a file ----

/// The log of a server of this machine, or of a folder that shows the files of another one. It is
/// followed while the server writes it, from segment to segment; of a server that is dead it has
/// what the queue saved. It ENDs after the close, or where a dead server left it.
typedef struct net_log_file_feed {
    base_owner owner;
    net_log_feed feed;
    base_reporter reporter;
    char file[4096];
    /// Its log, to run up to a tick of it before the first record is taken; its info has the ticks
    /// that were there when it was opened.
    net_log_reader* reader;
    net_log_cursor cursor;
    base_bytes header;
    net_log_order order; ///< of what was given
    uint32_t taken;      ///< records that were given after the end of the last whole tick
    uint32_t skip;       ///< of these, when the log was opened again
    bool is_live;
} net_log_file_feed;

/// @return NET_OK; what net_log_reader_create returns (reported).
BASE_MUST_USE net_result net_log_file_feed_create(const base_allocator* allocator, const char* file,
                                                  const base_reporter* reporter,
                                                  net_log_file_feed** feed);
/// NULL does nothing.
void net_log_file_feed_destroy(net_log_file_feed* feed);
/// Begin after the keyframe of this tick (which must be one); 0: with tick 1. Before the first
/// record is taken, and after the last use of the reader.
void net_log_file_feed_begin(net_log_file_feed* feed, ecs_tick tick);
