// SPDX-License-Identifier: MIT
// Verification never trusts a stored value: it runs the systems and compares. The hash of a tick
// shows that the runs differ; the state of the log, or its sums, beside the world show where.
#include "base/text.h"

#include "base/assert.h"
#include "ecs/change.h"
#include "ecs/entity.h"
#include "ecs/save.h"
#include "log/log_compare.h"
#include "log/log_header.h"
#include "log/log_replay.h"
#include "log/log_sums.h"
#include "log/log_untracked.h"

#include <inttypes.h>

typedef struct verification {
    net_log_reader* reader;
    net_log_replay* replay;
    net_match* match;
    net_verify_result* result;
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

// The state that the log has of the tick, beside the world. @return false: it has none.
static bool locate_by_state(const verification* verify, ecs_tick tick) {
    net_log_state* state;
    if (net_log_state_create(verify->reader, NULL, &state) != NET_OK) return false;
    if (net_log_state_seek(state, tick) == NET_OK && net_log_state_tick(state) == tick)
        (void)net_log_compare(state, verify->match, verify->result);
    net_log_state_destroy(state);
    return true;
}

// A log without values has sums.
static bool locate_by_sums(const verification* verify) {
    const ecs_component_id component =
        net_log_sums_differ(&verify->sums, net_match_world(verify->match));
    return component != ECS_COMPONENT_NONE &&
           name_component(verify, component, verify->result->component);
}

static net_result diverge(const verification* verify, ecs_tick tick, const net_log_tick* where) {
    net_verify_result* result = verify->result;
    result->is_diverged = true;
    result->diverged_tick = tick;
    (void)base_text_copy(result->component, sizeof result->component, "-");
    if (where && !locate_by_state(verify, where->tick)) (void)locate_by_sums(verify);
    return NET_ERR_DIVERGED;
}

// Does state that nothing tracks differ? The log has its sums.
static bool differs_untracked(const verification* verify, const net_log_tick* tick) {
    if (verify->sums.untracked_values == 0 || !locate_by_sums(verify)) return false;
    char name[sizeof verify->result->component];
    memcpy(name, verify->result->component, sizeof name);
    (void)diverge(verify, tick->tick, NULL);
    memcpy(verify->result->component, name, sizeof name);
    return true;
}

static net_result check_tick(verification* verify, const net_log_tick* tick) {
    const ecs_world* world = net_match_world(verify->match);
    verify->result->state_hash = ecs_world_state_hash(world);
    if (!tick->has_end) return NET_OK;
    (void)net_log_sums_read(&verify->sums, tick->tick, tick->changes, tick->changes_bytes);
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
    *result_out = (net_verify_result){0};
    verification verify = {.reader = reader, .result = result_out};
    verify.sums = net_log_sums_begin(net_log_reader_info(reader)->untracked_values);
    net_result result = net_log_replay_create(reader, module, reporter, &verify.replay);
    if (result == NET_OK) {
        verify.match = net_log_replay_match(verify.replay);
        result = run(&verify, until, each, context);
    }
    // What the log has no values of, or none so exact.
    const bool lacks_values = result == NET_ERR_DIVERGED && result_out->entity == ECS_ENTITY_NONE;
    if (lacks_values) net_log_find_untracked(reader, module, verify.replay, result_out);
    // Sums are of components by number, and another schema has other numbers.
    if (lacks_values && result_out->entity == ECS_ENTITY_NONE &&
        net_log_replay_difference(verify.replay)[0] != 0) {
        result_out->is_other_schema = true;
        (void)base_text_copy(result_out->component, sizeof result_out->component, "-");
        (void)base_text_format(result_out->note, sizeof result_out->note, "the schema differs: %s",
                               net_log_replay_difference(verify.replay));
    }
    net_log_replay_destroy(verify.replay);
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
        uint64_t* const counts[] = {&stats->others, &stats->begins,   &stats->ends,  &stats->closes,
                                    &stats->states, &stats->controls, &stats->alives};
        uint64_t* const bytes[] = {&stats->other_bytes, &stats->begin_bytes, &stats->end_bytes,
                                   &stats->close_bytes, &stats->state_bytes, &stats->control_bytes,
                                   &stats->alive_bytes};
        BASE_ASSERT(record.kind < BASE_COUNT(counts));
        *counts[record.kind] += 1;
        *bytes[record.kind] += record.size;
        if (record.kind == NET_LOG_KIND_STATE) stats->changes_bytes += record.changes_bytes;
        if (record.kind == NET_LOG_KIND_BEGIN || record.kind == NET_LOG_KIND_END)
            count_items(&record, stats);
    }
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}
