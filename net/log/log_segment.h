// SPDX-License-Identifier: MIT
/// Names of a log's segments. The one that is written is FILE; those that were closed are
/// FILE.seg0001, FILE.seg0002, ...
#pragma once

#include "base/alloc.h"
#include "net/result.h"

#define NET_LOG_SEGMENTS_MAX 100000u ///< of one log

/// The name of a closed segment. @return false when it gets too long.
BASE_MUST_USE bool net_log_segment_name(char* target, size_t target_bytes, const char* log_file,
                                        uint32_t number);
/// The numbers of the closed segments beside `log_file`, rising; the caller releases the array of
/// `capacity`. @return NET_OK, also when there are none; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_log_segment_list(const base_allocator* allocator, const char* log_file,
                                              uint32_t** numbers, uint32_t* count,
                                              uint32_t* capacity);
