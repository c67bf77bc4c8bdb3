// SPDX-License-Identifier: MIT
// Verification never trusts a stored value: it runs the systems and compares. The hash of a tick
// shows that the runs differ; the change lists of both runs, side by side, show where.
#include "base/text.h"

#include "base/assert.h"
#include "ecs/change.h"
#include "ecs/entity.h"
#include "ecs/save.h"
#include "log/log_changes.h"
#include "log/log_compare.h"
#include "log/log_header.h"
#include "log/log_piece.h"
#include "log/log_replay.h"
#include "log/log_sums.h"
#include "log/log_untracked.h"

#include <inttypes.h>

typedef struct verification {
    net_log_reader* reader;
    net_log_replay* replay;
    net_match* match;
    net_verify_result* result;
    uint8_t* changes; // of the replayed tick, NET_LOG_CHANGES_BYTES_MAX
    net_log_sums sums;
} verification;

static bool name_component(const verification* verify, uint32_t component, char* name) {
    size_t size;
    const uint8_t* header = net_log_reader_header(verify->reader, &size);
    if (net_log_header_component(header, size, component, name)) return true;
    ecs_world* world = net_match_world(verify->match);
    const ecs_component* here = component <= ecs_component_count(world)
                                    ? ecs_component_get(world, (ecs_component_id)component)
                                    : NULL;
    return here && base_text_copy(name, ECS_NAME_BYTES_MAX, here->name);
}

// The tracked component at a position of an entity's template, as the change list counts them.
static bool name_position(const verification* verify, ecs_entity entity, uint32_t position,
                          char* name) {
    ecs_world* world = net_match_world(verify->match);
    if (!ecs_is_alive(world, entity)) return false;
    const ecs_template* template_ = ecs_template_get(world, ecs_entity_template(world, entity));
    for (uint32_t i = 0; template_ && i < template_->component_count; i++) {
        if (!(template_->components[i].flags & ECS_COMPONENT_TRACKED)) continue;
        if (position-- > 0) continue;
        const ecs_component* component =
            ecs_component_get(world, template_->components[i].component);
        return base_text_copy(name, ECS_NAME_BYTES_MAX, component->name);
    }
    return false;
}

// The state that the log has of the tick, beside the world. @return false: it has none.
static bool locate_by_state(const verification* verify, ecs_tick tick) {
    net_log_state* state;
    if (net_log_state_create(verify->reader, NULL, &state) != NET_OK) return false;
    if (net_log_state_seek(state, tick) == NET_OK && net_log_state_tick(state) == tick)
        (void)net_log_compare(state, verify->match, verify->result);
    net_log_state_destroy(state);
    return true;
}

// Sums of a log without values.
static bool locate_by_sums(const verification* verify, const net_log_tick* tick) {
    const ecs_world* world = net_match_world(verify->match);
    net_log_rows rows;
    net_log_piece part;
    net_log_rows_init(&rows, NULL, NULL);
    net_log_piece_init(&part, NULL);
    bool is_read = net_log_piece_read_raw(&part, &rows, tick->tick, tick->changes,
                                          tick->changes_bytes) == NET_OK;
    uint64_t sums[ECS_COMPONENTS_MAX + 1] = {0};
    net_log_sums_of(world, verify->sums.untracked_values, sums);
    for (uint32_t i = 0; is_read && i < part.sum_count; i++) {
        uint32_t id = part.sums[i].component;
        if ((sums[id] & NET_LOG_SUM_MASK) == part.sums[i].sum) continue;
        if (name_component(verify, id, verify->result->component)) break;
    }
    net_log_piece_deinit(&part);
    net_log_rows_deinit(&rows);
    return is_read;
}

static void locate(const verification* verify, const net_log_tick* tick) {
    net_verify_result* result = verify->result;
    uint32_t form = tick->changes_bytes > 0 ? tick->changes[0] : 0;
    if (form == NET_LOG_FORM_RAW && locate_by_sums(verify, tick) &&
        strcmp(result->component, "-") != 0)
        return;
    if (form == NET_LOG_FORM_DELTA || form == NET_LOG_FORM_RAW) {
        (void)locate_by_state(verify, tick->tick);
        return;
    }
    proto_pb_writer wire = {.data = verify->changes, .capacity = NET_LOG_CHANGES_BYTES_MAX};
    net_log_changes_write(&wire, net_match_world(verify->match));
    net_log_change change;
    uint32_t position;
    if (!net_log_changes_differ(tick->changes, tick->changes_bytes, wire.data, wire.size, &change,
                                &position))
        return;
    result->entity = change.entity;
    char* name = result->component;
    bool is_named = position != UINT32_MAX  ? name_position(verify, change.entity, position, name)
                    : change.component != 0 ? name_component(verify, change.component, name)
                                            : false;
    if (!is_named) (void)base_text_copy(name, sizeof result->component, "-");
}

static net_result diverge(const verification* verify, ecs_tick tick, const net_log_tick* where) {
    net_verify_result* result = verify->result;
    result->is_diverged = true;
    result->diverged_tick = tick;
    (void)base_text_copy(result->component, sizeof result->component, "-");
    if (where) locate(verify, where);
    return NET_ERR_DIVERGED;
}

// Does state that nothing tracks differ? The log has its sums.
static bool differs_untracked(verification* verify, const net_log_tick* tick) {
    if (verify->sums.untracked_values == 0) return false;
    net_log_sums_take(&verify->sums, tick->tick, tick->changes, tick->changes_bytes);
    const ecs_component_id component =
        net_log_sums_differ(&verify->sums, net_match_world(verify->match));
    if (component == ECS_COMPONENT_NONE) return false;
    (void)diverge(verify, tick->tick, NULL);
    (void)name_component(verify, component, verify->result->component);
    return true;
}

static net_result check_tick(verification* verify, const net_log_tick* tick) {
    const ecs_world* world = net_match_world(verify->match);
    verify->result->state_hash = ecs_world_state_hash(world);
    if (!tick->has_end) return NET_OK;
    if (verify->result->state_hash != tick->state_hash) return diverge(verify, tick->tick, tick);
    if (differs_untracked(verify, tick)) return NET_ERR_DIVERGED;
    uint64_t world_hash = tick->has_world_hash ? ecs_world_hash(world) : tick->world_hash;
    if (tick->has_world_hash && world_hash == 0) return NET_ERR_MEMORY;
    if (world_hash != tick->world_hash) return diverge(verify, tick->tick, NULL);
    verify->result->ticks++;
    return NET_OK;
}

// The close record has the hashes after the last tick.
static net_result check_close(const verification* verify) {
    const net_log_record* close = net_log_replay_close(verify->replay);
    if (!close) return NET_OK;
    if (close->has_world_hash && verify->result->world_hash == 0) return NET_ERR_MEMORY;
    bool is_same = close->state_hash == verify->result->state_hash;
    if (close->has_world_hash) is_same = is_same && close->world_hash == verify->result->world_hash;
    return is_same ? NET_OK : diverge(verify, close->tick, NULL);
}

static net_result run(verification* verify, ecs_tick until, net_verify_tick_fn each,
                      void* context) {
    ecs_tick last_whole = net_log_reader_info(verify->reader)->last_tick;
    ecs_tick last = until > 0 ? until : last_whole;
    ecs_world* world = net_match_world(verify->match);
    net_result result = NET_OK;
    bool goes_on = true;
    verify->result->state_hash = ecs_world_state_hash(world); // of a log without ticks
    while (result == NET_OK && goes_on && net_match_tick(verify->match) < last) {
        net_log_tick tick;
        result = net_log_replay_step(verify->replay, &tick);
        if (result == NET_OK) result = check_tick(verify, &tick);
        if (result == NET_OK && each) goes_on = each(context, verify->match);
    }
    if (result == NET_ERR_CLOSED) {
        result = NET_OK;
        // Behind damage the last keyframe may be all that follows.
        verify->result->state_hash = ecs_world_state_hash(world);
    }
    verify->result->world_hash = ecs_world_hash(world);
    if (result != NET_OK || !goes_on || net_match_tick(verify->match) != last_whole) return result;
    if (until > 0 || !net_log_reader_info(verify->reader)->is_closed) return result;
    net_log_tick none;
    result = net_log_replay_step(verify->replay, &none);
    return result == NET_ERR_CLOSED ? check_close(verify) : result;
}

net_result net_log_verify(net_log_reader* reader, const net_module* module, ecs_tick until,
                          net_verify_tick_fn each, void* context, const base_reporter* reporter,
                          net_verify_result* result_out) {
    BASE_ASSERT(reader && module && result_out);
    const base_allocator* allocator = net_log_reader_allocator(reader);
    *result_out = (net_verify_result){0};
    verification verify = {.reader = reader, .result = result_out};
    verify.changes = base_allocate(allocator, NET_LOG_CHANGES_BYTES_MAX);
    if (!verify.changes) return NET_ERR_MEMORY;
    net_log_sums_init(&verify.sums, allocator, net_log_reader_info(reader)->untracked_values);
    net_result result = net_log_replay_create(reader, module, reporter, &verify.replay);
    if (result == NET_OK) {
        verify.match = net_log_replay_match(verify.replay);
        result = run(&verify, until, each, context);
    }
    // What the log has no values of, or none so exact.
    const bool lacks_values = result == NET_ERR_DIVERGED && result_out->entity == ECS_ENTITY_NONE;
    if (lacks_values) net_log_find_untracked(reader, module, verify.replay, result_out);
    net_log_replay_destroy(verify.replay);
    net_log_sums_deinit(&verify.sums);
    base_release(allocator, verify.changes, NET_LOG_CHANGES_BYTES_MAX);
    return result;
}

static void count_items(const net_log_record* record, net_log_stats* stats) {
    size_t offset = 0;
    net_log_item item;
    while (net_log_item_next(record, NET_LOG_ITEM_INPUT, &offset, &item))
        stats->input_repeats += item.is_repeat;
    stats->leaves += record->item_count[NET_LOG_ITEM_LEAVE];
    stats->joins += record->item_count[NET_LOG_ITEM_JOIN];
    stats->client_events += record->item_count[NET_LOG_ITEM_EVENT];
    stats->inputs += record->item_count[NET_LOG_ITEM_INPUT];
    stats->server_events += record->item_count[NET_LOG_ITEM_SERVER_EVENT];
    stats->changes_bytes += record->changes_bytes;
}

net_result net_log_read_stats(net_log_reader* reader, net_log_stats* stats) {
    BASE_ASSERT(reader && stats);
    *stats = (net_log_stats){0};
    net_log_cursor cursor = net_log_cursor_begin(reader);
    net_log_record record;
    while (net_log_cursor_next(reader, &cursor, &record)) {
        uint64_t* const counts[] = {&stats->others, &stats->begins, &stats->ends, &stats->closes,
                                    &stats->states};
        uint64_t* const bytes[] = {&stats->other_bytes, &stats->begin_bytes, &stats->end_bytes,
                                   &stats->close_bytes, &stats->state_bytes};
        BASE_ASSERT(record.kind < BASE_COUNT(counts));
        *counts[record.kind] += 1;
        *bytes[record.kind] += record.size;
        if (record.kind == NET_LOG_KIND_STATE) stats->changes_bytes += record.changes_bytes;
        if (record.kind == NET_LOG_KIND_BEGIN || record.kind == NET_LOG_KIND_END)
            count_items(&record, stats);
    }
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}
