// SPDX-License-Identifier: MIT
/// A log that cannot be run again, shown from its values: those of another build of the game, whose
/// components, fields or templates are others here. The values of each tick become rows of the
/// templates here, by names.
///
/// Threads: one. Memory: the rows of the log's entities (net/log.h) and a plan per template.
#pragma once

#include "net/log.h"
#include "present/scene.h"
#include "proto/layout.h"

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

// ---- values as those of another component ----

// Values of a log as values of a component here: fields by name, elements by position, kinds and
// ranges converted. A field that is not here is left out, one that is only here keeps what it had.
//
// What has no place is clamped: a number outside of a kind or of a range becomes its nearest
// number, NaN becomes 0 in a whole number. An entity becomes only an entity.
// Memory:  the caller's. Threads: any.

typedef struct net_log_convert_step {
    uint16_t from;            ///< position in the values of the log's component
    uint32_t offset;          ///< in the object here
    ecs_field_kind kind;      ///< here
    const proto_quant* quant; ///< the words that the value becomes; NULL: it has none of its own
} net_log_convert_step;

typedef enum net_log_convert_news_kind {
    NET_LOG_CONVERT_LEFT_OUT,  ///< a field of the log that is not here
    NET_LOG_CONVERT_DEFAULT,   ///< a field here that the log does not have
    NET_LOG_CONVERT_CONVERTED, ///< another kind
    NET_LOG_CONVERT_NO_WAY,    ///< kinds of which one cannot become the other
    NET_LOG_CONVERT_COUNT,     ///< another number of elements
} net_log_convert_news_kind;

/// What a plan does to a field.
typedef void (*net_log_convert_news)(void* context, net_log_convert_news_kind kind,
                                     const char* field);

/// Plan for a component of fixed size. `row`: the fields of its words, one per element, as the
/// layout has them; NULL: it has no word for each. `steps` has room for one per element here.
/// `news` may be NULL. @return how many steps.
uint32_t net_log_convert_plan(const net_log_component* from, const ecs_field* fields,
                              uint32_t field_count, const proto_row_field* row,
                              net_log_convert_step* steps, net_log_convert_news news,
                              void* context);
/// Convert values of the log's component into the object. @return how many were clamped.
uint32_t net_log_convert_apply(const net_log_convert_step* steps, uint32_t count,
                               const net_log_value* values, void* object);
