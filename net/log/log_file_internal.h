// SPDX-License-Identifier: MIT
/// Private to the log's file: its threads and life (log_file.c), its blocks and the disk
/// (log_pump.c).
#pragma once

#include "log/log_block.h"
#include "log/log_file.h"
#include "log/log_queue.h"

#include <pthread.h>
#include <stdatomic.h>

struct net_log_file {
    net_log_file_config config;
    int fd;
    net_log_queue queue;
    net_log_draft draft;  // of the simulation's thread
    uint64_t next_number; // of the simulation's thread
    bool has_close;       // of the simulation's thread: the end record was pushed

    // Of the log's thread.
    net_log_packer packer;
    uint8_t* payload;
    uint32_t payload_bytes;
    net_log_block block;   // in the making
    uint64_t cursor;       // in the queue: next record to look at
    uint64_t block_cursor; // in the queue: end of the block's records
    uint64_t next_ordinal;
    ecs_tick synced_tick;
    bool is_stopped;

    _Atomic uint64_t bytes;
    _Atomic int failure_state;
    char failure[256];

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    pthread_cond_t room;
    bool is_stopping;  // under the mutex, as are the next two
    bool is_done;      // the thread does nothing more with the disk
    bool is_abandoned; // the thread frees the file
    bool is_finished;
};

/// Did logging stop?
bool net_log_file_has_failed(const net_log_file* file);
/// Write prologue and header block, and sync. @return NET_OK; NET_ERR_DISK (reported).
BASE_MUST_USE net_result net_log_file_write_start(net_log_file* file, const void* header,
                                                  size_t header_bytes,
                                                  const base_reporter* reporter);
/// The last bytes reach the disk, and the file is still the one of its name. A failure is noted.
void net_log_file_end_disk(net_log_file* file);
