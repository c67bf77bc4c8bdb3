// SPDX-License-Identifier: MIT
/// A log that cannot be run again, shown from its values: those of another build of the game, whose
/// components, fields or templates are others here. The values of each tick become rows of the
/// templates here, by names.
///
/// Threads: one. Memory: the rows of the log's entities (net/log_state.h) and a plan per template.
#pragma once

#include "net/log_state.h"
#include "present/scene.h"

typedef struct net_playback_values net_playback_values;

/// It uses the reader until it is destroyed. @return as net_log_state_create.
BASE_MUST_USE net_result net_playback_values_create(net_log_reader* reader,
                                                    const base_reporter* reporter,
                                                    net_playback_values** values);
/// Report to another one from now on.
void net_playback_values_report(net_playback_values* values, const base_reporter* reporter);
/// NULL does nothing.
void net_playback_values_destroy(net_playback_values* values);
/// The world of the templates, until net_playback_values_leave; what is only in the log or only
/// here is reported once. @return as net_rows_create.
BASE_MUST_USE net_result net_playback_values_enter(net_playback_values* values, ecs_world* world);
/// After the scene that was fed is destroyed, before the world is.
void net_playback_values_leave(net_playback_values* values);
/// Go to a tick, at most the last one. @return NET_OK; as net_log_state_seek.
BASE_MUST_USE net_result net_playback_values_to(net_playback_values* values, ecs_tick tick);
/// Go to the next tick. @return NET_OK; NET_ERR_DAMAGED (also: it has fewer ticks than when it was
///         opened), with net_playback_values_last lowered; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_playback_values_step(net_playback_values* values);
/// Feed the scene what the last step did; `is_first`: all entities.
/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_playback_values_feed(net_playback_values* values, net_scene* scene,
                                                  bool is_first);
/// Did the last step go over ticks whose values are unknown?
bool net_playback_values_has_jumped(const net_playback_values* values);
/// Another walk used the reader: go back. @return NET_OK; NET_ERR_DAMAGED.
BASE_MUST_USE net_result net_playback_values_return(net_playback_values* values);
ecs_tick net_playback_values_tick(const net_playback_values* values);
ecs_tick net_playback_values_last(const net_playback_values* values);
/// @return Values so far that had no place here and were clamped.
uint64_t net_playback_values_clamped(const net_playback_values* values);
