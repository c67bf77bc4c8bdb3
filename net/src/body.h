// SPDX-License-Identifier: MIT
/// The numbers of a state body that writer (view_body.c) and reader (mirror_body.c) share. The standard
/// is WIRE.md, "State body".
#pragma once

#include "ecs/entity.h"
#include "net/limits.h"

#define NET_BODY_BYTES_MAX 4096u ///< no body is longer, whatever carries it
#define NET_BODY_ORDER_BITS 4u   ///< Golomb order of a list's index gaps, 0..15
#define NET_BODY_ORDER_MAX 15u
#define NET_BODY_AGE_BITS 8u
#define NET_BODY_AGE_SETTLED 255u ///< base: the newest row with a tick <= packet tick - 255
#define NET_BODY_PARTS_BITS 3u    ///< part count - 1
#define NET_BODY_LIST_ORDER 0u    ///< of the counts of destroys, creates and runs
#define NET_BODY_RUN_ORDER 1u     ///< of a run's count - 1
