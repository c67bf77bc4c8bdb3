// SPDX-License-Identifier: MIT
// Verification never trusts a stored value: it runs the systems and compares. The hash of a tick
// shows that the runs differ; the state of the log, or its sums, beside the world show where.
#include "base/assert.h"
#include "base/float_mode.h"
#include "base/text.h"
#include "ecs/change.h"
#include "ecs/ecs.h"
#include "ecs/entity.h"
#include "ecs/save.h"
#include "log/log_read.h"
#include "log/log_record.h"
#include "log/log_recorder.h"
#include "replay/log_replay.h"
#include "replay/log_state.h"
#include "net/log.h"
#include "net/match.h"
#include "state/schema.h"
#include "state/varsize.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- a world beside the state ----

// Values are compared by names of components and fields, as a log has them: quantised. What differs
// by less than a quantum, and what has no values in the log, shows in the sums alone.

typedef struct comparison {
    const net_log_state* state;
    net_match* match;
    ecs_world* world;
    net_rows* rows;
    net_verify_result* result;
    bool is_same_schema; // of the log and the match
} comparison;

static bool report(const comparison* self, ecs_entity entity, const char* component,
                   const char* note) {
    self->result->entity = entity;
    (void)base_text_copy(self->result->component, sizeof self->result->component, component);
    (void)base_text_copy(self->result->note, sizeof self->result->note, note);
    return true;
}

static void name_field(const net_log_component* component, uint32_t element, char* name,
                       size_t name_bytes) {
    for (uint32_t i = 0; i < component->field_count; i++) {
        const net_log_field* field = &component->fields[i];
        if (element >= field->count) {
            element -= field->count;
            continue;
        }
        if (field->count == 1)
            (void)base_text_copy(name, name_bytes, field->name);
        else
            (void)base_text_format(name, name_bytes, "%s[%u]", field->name, element);
        return;
    }
}

static bool differ_in_fields(const comparison* self, ecs_entity entity,
                             const net_log_component* component,
                             const net_row_template* row_template, uint32_t place,
                             const uint64_t* row) {
    ecs_number values[PROTO_ROW_FIELDS_MAX], here[PROTO_ROW_FIELDS_MAX];
    const uint32_t count = row_template->layout.components[place].field_count;
    if (component->value_count != count ||
        !net_log_state_read(self->state, entity, component, values))
        return report(self, entity, component->name, "it has other fields");
    net_log_row_read(row_template, place, row, here);
    for (uint32_t i = 0; i < count; i++) {
        if (ecs_number_equal(&here[i], &values[i])) continue;
        net_verify_result* result = self->result;
        name_field(component, i, result->field, sizeof result->field);
        ecs_number_text(&values[i], result->log_value, sizeof result->log_value);
        ecs_number_text(&here[i], result->value, sizeof result->value);
        return report(self, entity, component->name, "");
    }
    return false;
}

static bool differ_in_bytes(const comparison* self, ecs_entity entity,
                            const net_log_component* component, ecs_component_id id) {
    base_bytes here;
    base_bytes_init(&here, net_match_get_config(self->match)->allocator);
    net_varsize_write(self->world, entity, id, &here);
    size_t size;
    const uint8_t* there = net_log_state_bytes(self->state, entity, component, &size);
    // A value that is too long for a client is not in the log.
    const bool is_other =
        here.size <= NET_LOG_STATE_VALUE_BYTES_MAX &&
        (!there || size != here.size || (size > 0 && memcmp(there, here.data, size) != 0));
    if (is_other) {
        net_verify_result* result = self->result;
        (void)base_text_format(result->log_value, sizeof result->log_value, "%zu bytes", size);
        (void)base_text_format(result->value, sizeof result->value, "%zu bytes", here.size);
        (void)report(self, entity, component->name, "a value of variable size");
    }
    base_bytes_deinit(&here);
    return is_other;
}

static bool differ_in_component(const comparison* self, ecs_entity entity,
                                const net_log_component* component,
                                const net_row_template* row_template, const uint64_t* row) {
    const proto_layout* layout = &row_template->layout;
    const ecs_component_id id = ecs_component_find(self->world, component->name);
    for (uint32_t i = 0; i < layout->component_count; i++)
        if (id != ECS_COMPONENT_NONE && layout->components[i].key == id)
            return differ_in_fields(self, entity, component, row_template, i, row);
    if (id != ECS_COMPONENT_NONE && net_row_find_varsize(row_template, id))
        return differ_in_bytes(self, entity, component, id);
    return report(self, entity, component->name, "only the log's entity has the component");
}

static bool differ_in_entity(const comparison* self, ecs_entity entity) {
    const net_row_template* row_template =
        net_rows_find(self->rows, ecs_entity_template(self->world, entity));
    if (!row_template) return false;
    const char* name = net_log_state_template(self->state, entity);
    if (!name) return report(self, entity, "-", "only the re-run has the entity");
    const char* here = ecs_template_get(self->world, row_template->id)->name;
    if (strcmp(name, here) != 0) {
        (void)base_text_copy(self->result->log_value, sizeof self->result->log_value, name);
        (void)base_text_copy(self->result->value, sizeof self->result->value, here);
        return report(self, entity, "-", "its template");
    }
    uint64_t row[PROTO_ROW_FIELDS_MAX], there[PROTO_ROW_FIELDS_MAX];
    uint32_t count = 0;
    const uint64_t* words = net_log_state_words(self->state, entity, &count, there);
    net_rows_read(row_template, self->world, entity, row);
    if (self->is_same_schema && row_template->varsize_count == 0 &&
        count == row_template->layout.field_count && memcmp(row, words, count * sizeof *row) == 0)
        return false;
    const net_log_component* component;
    for (uint32_t i = 0;
         (component = net_log_state_template_component(self->state, entity, i)) != NULL; i++)
        if (differ_in_component(self, entity, component, row_template, row)) return true;
    return false;
}

// By rising index: entities of the world, and those that only the log has.
static bool differ_in_rows(const comparison* self) {
    uint32_t index_max = ecs_world_limits(self->world)->replicated_index_max;
    for (ecs_entity at = ecs_entity_next(self->world, ECS_ENTITY_NONE);
         at != ECS_ENTITY_NONE && ecs_entity_index(at) <= index_max;
         at = ecs_entity_next(self->world, at))
        if (differ_in_entity(self, at)) return true;
    for (ecs_entity at = net_log_state_next(self->state, ECS_ENTITY_NONE); at != ECS_ENTITY_NONE;
         at = net_log_state_next(self->state, at))
        if (!ecs_is_alive(self->world, at))
            return report(self, at, "-", "only the log has the entity");
    return false;
}

bool net_log_compare(const net_log_state* state, net_match* match, net_verify_result* result) {
    BASE_ASSERT(state && match && result);
    BASE_ASSERT(net_log_state_tick(state) == net_match_tick(match));
    net_rows* rows = net_schema_rows(net_match_schema(match));
    const comparison self = {state, match, net_match_world(match), rows, result, false};
    if (net_log_state_is_whole(state) && differ_in_rows(&self)) return true;
    const ecs_component_id id = net_log_sums_differ(net_log_state_sums(state), self.world);
    return id != ECS_COMPONENT_NONE &&
           report(&self, ECS_ENTITY_NONE, ecs_component_get(self.world, id)->name,
                  "its sum; the log has no values of it, or none so exact");
}

// Changes come column by column: most have template and component of the one before.
typedef struct row_place {
    ecs_template_id template_id;
    ecs_component_id component;
    const net_row_template* own; // NULL: it has no rows, or the entity ended
    uint32_t place;              // of the component; its component_count: none
} row_place;

// Does the log have the component of an entity, as words of its row? One of variable size: false.
static bool is_same_value(const comparison* self, const ecs_change* change, row_place* at) {
    uint64_t here[PROTO_ROW_FIELDS_MAX], there[PROTO_ROW_FIELDS_MAX];
    const ecs_template_id id = ecs_entity_template(self->world, change->entity);
    if (at->template_id != id || at->component != change->component) {
        *at = (row_place){id, change->component, id ? net_rows_find(self->rows, id) : NULL, 0};
        while (at->own && at->place < at->own->layout.component_count &&
               at->own->layout.components[at->place].key != change->component)
            at->place++;
    }
    if (!at->own) return true;
    const proto_layout* layout = &at->own->layout;
    if (at->place == layout->component_count)
        return !net_row_find_varsize(at->own, change->component);
    uint32_t field_count;
    const uint64_t* words = net_log_state_words(self->state, change->entity, &field_count, there);
    if (!words || field_count != layout->field_count) return false;
    proto_row_read_component(layout, at->place,
                             ecs_get(self->world, change->entity, change->component), here);
    uint32_t f = layout->components[at->place].field_first;
    const uint32_t end = f + layout->components[at->place].field_count;
    while (f < end && here[f] == words[f])
        f++;
    return f == end;
}

static bool differ_in_new(const comparison* self, const ecs_entity* entities, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (ecs_is_alive(self->world, entities[i]) && differ_in_entity(self, entities[i]))
            return true;
    return false;
}

// What the last step of the match changed, and all of a full state.
static bool differ_in_step(const comparison* self) {
    const ecs_changes changes = ecs_changes_get(self->world);
    if (net_log_state_is_full(self->state)) return differ_in_rows(self);
    row_place place = {.template_id = ECS_TEMPLATE_NONE};
    for (uint32_t i = 0; i < changes.changed_count; i++)
        if (!is_same_value(self, &changes.changed[i], &place) &&
            differ_in_entity(self, changes.changed[i].entity))
            return true;
    for (uint32_t i = 0; i < changes.destroyed_count; i++)
        if (net_log_state_row(self->state, changes.destroyed[i], NULL))
            return report(self, changes.destroyed[i], "-", "only the log has the entity");
    return differ_in_new(self, changes.created, changes.created_count) ||
           differ_in_new(self, changes.recreated, changes.recreated_count);
}

// ---- the first difference among untracked components ----

// A log has no values of untracked components, nor of tracked ones that are not replicated: only
// sums, which name the component alone, and now and then a hash of the whole world. But a keyframe
// is the whole world. So a run that differs goes on to the next keyframe, and both worlds are
// compared there. A difference may have spread by then; the first one is reported.

static ecs_tick next_keyframe(const net_log_reader* reader, ecs_tick tick) {
    uint32_t count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(reader, &count);
    for (uint32_t i = 0; i < count; i++)
        if (keyframes[i].tick >= tick) return keyframes[i].tick;
    return 0;
}

// After a run that reached result->diverged_tick: run on to the next keyframe of the log and
// compare the worlds. What differs there first, of result->component or, without one, among
// untracked components, goes into `result`, and its note says so. Nothing happens when there is no
// such keyframe, or it cannot be used here.
static void find_untracked(net_log_reader* reader, const net_module* module, net_log_replay* replay,
                           net_verify_result* result) {
    const ecs_tick tick = next_keyframe(reader, result->diverged_tick);
    net_match* run = net_log_replay_match(replay);
    net_log_tick stepped;
    // A walk through states may have left the reader in another block.
    if (tick == 0 || net_log_replay_seek(replay, net_match_tick(run)) != NET_OK) return;
    while (net_match_tick(run) < tick)
        if (net_log_replay_step(replay, &stepped) != NET_OK) return;
    net_log_reader* again = NULL;
    net_log_replay* saved = NULL;
    const base_allocator* allocator = reader->allocator;
    (void)!net_log_reader_create(allocator, reader->file, NULL, &again);
    const bool is_there = again &&
                          net_log_replay_create(again, module, tick, NULL, &saved) == NET_OK &&
                          net_match_tick(net_log_replay_match(saved)) == tick;
    char name[sizeof result->component];
    (void)base_text_copy(name, sizeof name, result->component);
    const bool is_named = strcmp(name, "-") != 0;
    if (is_there && net_log_compare_worlds(net_match_world(net_log_replay_match(saved)),
                                           net_match_world(run), is_named ? name : NULL, result))
        base_text_format(result->note, sizeof result->note,
                         "%s; values of the keyframe after tick %" PRIu64,
                         is_named ? "its sum" : "untracked state", tick);
    net_log_replay_destroy(saved);
    net_log_reader_destroy(again);
}

// ---- the run ----

// A tick of a run, for another match to go on from.
typedef struct middle {
    ecs_tick tick;   // the first one from here on
    base_bytes save; // empty: the run did not come there
    net_log_sums sums;
} middle;

enum { MIDDLES_MAX = 4 };

typedef struct verification {
    net_log_reader* reader;
    net_log_replay* replay;
    net_match* match;
    net_verify_result* result;
    net_log_sums sums;
    net_verify_tick_fn each; // may be NULL
    void* context;
    middle* middles; // in the order of ticks
    uint32_t middle_count, kept_count;
    net_log_state* state; // NULL: it is not read
    const base_reporter* reporter;
} verification;

static bool name_component(const verification* verify, uint32_t component, char* name) {
    const base_bytes* header = &verify->reader->header;
    if (net_log_header_component(header->data, header->size, component, name)) return true;
    ecs_world* world = net_match_world(verify->match);
    const ecs_component* here = component <= ecs_component_count(world)
                                    ? ecs_component_get(world, (ecs_component_id)component)
                                    : NULL;
    return here && base_text_copy(name, ECS_NAME_BYTES_MAX, here->name);
}

// The state that the log has of the tick, beside the world. @return false: it has none.
static bool locate_by_state(const verification* verify, ecs_tick tick) {
    net_log_state* state;
    if (net_log_state_create(verify->reader, NULL, NULL, &state) != NET_OK) return false;
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
    if (world_hash != tick->world_hash) return diverge(verify, tick->tick, NULL);
    verify->result->ticks++;
    return NET_OK;
}

// Windows and pages read what the log has of a tick, and a run does not: it must be there, too.
static net_result check_state(const verification* verify, const net_log_tick* tick) {
    const net_log_record end = {.kind = NET_LOG_KIND_END,
                                .tick = tick->tick,
                                .changes = tick->changes,
                                .changes_bytes = (uint32_t)tick->changes_bytes};
    net_log_state* state = verify->state;
    if (!state || !tick->has_end) return NET_OK;
    net_result result = net_log_state_take(state, &end, false);
    const net_log_record* part;
    while (result == NET_OK && (part = net_log_replay_state(verify->replay)) != NULL)
        result = net_log_state_take(state, part, false);
    if (result == NET_ERR_DAMAGED)
        base_report(verify->reporter, verify->reader->file, 0,
                    "tick %" PRIu64 ": its state cannot be read", tick->tick);
    if (result != NET_OK || !net_log_state_is_whole(state)) return result;
    net_verify_result* found = verify->result;
    const net_schema* schema = net_match_schema(verify->match);
    const bool is_same =
        net_schema_hash(schema) == net_log_reader_info(verify->reader)->schema_hash;
    const comparison beside = {
        state, verify->match, net_match_world(verify->match), net_schema_rows(schema),
        found, is_same};
    if (!differ_in_step(&beside)) return NET_OK;
    found->is_diverged = true;
    found->diverged_tick = tick->tick;
    if (!found->note[0])
        (void)base_text_copy(found->note, sizeof found->note,
                             "the match runs again, but its values in the log are others");
    return NET_ERR_DIVERGED;
}

// The close record has the hashes after the last tick.
static net_result check_close(const verification* verify) {
    const net_log_record* close = net_log_replay_close(verify->replay);
    if (!close) return NET_OK;
    bool is_same = close->state_hash == verify->result->state_hash;
    if (close->has_world_hash) is_same = is_same && close->world_hash == verify->result->world_hash;
    return is_same ? NET_OK : diverge(verify, close->tick, NULL);
}

static net_result keep_middle(verification* verify) {
    const ecs_tick tick = net_match_tick(verify->match);
    if (verify->kept_count == verify->middle_count) return NET_OK;
    middle* next = &verify->middles[verify->kept_count];
    if (tick < next->tick) return NET_OK;
    next->tick = tick;
    next->sums = verify->sums;
    verify->kept_count++;
    return net_match_save(verify->match, &next->save);
}

static net_result run_log(verification* verify, ecs_tick until) {
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
        if (result == NET_OK) result = check_state(verify, &tick);
        if (result == NET_OK) result = keep_middle(verify);
        if (result == NET_OK && verify->each)
            goes_on = verify->each(verify->context, verify->match);
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
    if (result != NET_ERR_CLOSED) return result;
    // The step entered the keyframe of a part without a tick.
    verify->result->state_hash = ecs_world_state_hash(net_match_world(verify->match));
    verify->result->world_hash = ecs_world_hash(net_match_world(verify->match));
    return check_close(verify);
}

// What the log has no values of, or none so exact.
static void find_more(const verification* verify, const net_module* module) {
    net_verify_result* result = verify->result;
    find_untracked(verify->reader, module, verify->replay, result);
    // Sums are of components by number, and another schema has other numbers.
    const char* difference = net_log_replay_difference(verify->replay);
    if (result->entity != ECS_ENTITY_NONE || difference[0] == 0) return;
    result->is_other_schema = true;
    (void)base_text_copy(result->component, sizeof result->component, "-");
    (void)base_text_format(result->note, sizeof result->note, "the schema differs: %s", difference);
}

// ---- a match that is restored ----

// Seek, slice, --resume and a page's older ticks restore a match from a keyframe. A game that keeps
// state outside of its world goes another way from there, and a run from the start cannot show it.
// So other matches go on in the middle from saves of the first one. State may be at its start by
// luck in one tick, so there are two places, and of a short log four. Each runs a twelfth of the
// log, half a minute of an hour, and on to the next hash of the world.

#define RESTORED_TICKS_MIN 300u
#define RESTORED_TICKS_MAX 1500u
#define KEYFRAME_TICKS_MAX 36000u // that lead to what a run from a keyframe is compared with
#define SHORT_TICKS 1200u         // as long as a check

static uint32_t place_middles(const net_log_info* info, const base_allocator* allocator,
                              middle middles[MIDDLES_MAX]) {
    const ecs_tick span = info->last_tick - info->first_tick;
    const uint32_t count = span <= SHORT_TICKS ? MIDDLES_MAX : 2;
    for (uint32_t i = 0; i < count; i++) {
        middles[i].tick = info->first_tick + span * (i + 1) / (count + 1) + 1 + i;
        base_bytes_init(&middles[i].save, allocator);
    }
    return count;
}

// `found`: of a match that was restored from the save, and differs from its log.
static net_result blame_restored(net_log_reader* reader, const net_module* module,
                                 const base_bytes* save, net_verify_result* found) {
    const net_result result = net_log_blame_restored(reader, module, save, found);
    const bool is_slip = !found->template_name[0] && strcmp(found->component, "-") != 0;
    const bool is_lost = found->diverged_tick == found->restored_tick + 1 &&
                         strcmp(found->system, "the_keyframe") == 0;
    const char* remedy =
        is_slip ? "the value was written past its tracking; write it by a column that is not const "
                  "or by ecs_get_mut, and keep no pointers to values"
        : is_lost ? "what write of its type saves, read does not give back; correct them"
        : module->game->save_state ? "keep it in a component, or save it with what the game saves"
        : module->game->restored ? "restored does not compute it again: add that, or keep it in a "
                                   "component, or in save_state and load_state"
                                 : "keep it in a component, or in save_state and load_state";
    const bool is_outside = !is_slip && !is_lost;
    (void)base_text_format(
        found->note, sizeof found->note, "%s%s%s",
        is_outside ? "the game keeps state outside of its world (in its context, a static variable "
                     "or a library), and no keyframe has it; "
                   : "",
        remedy, is_outside ? " (games/README.md, Libraries)" : "");
    return result;
}

static net_result verify_restored(const verification* first, const net_module* module,
                                  const middle* from) {
    net_verify_result found = {.restored_tick = from->tick};
    verification verify = {.reader = first->reader,
                           .result = &found,
                           .sums = from->sums,
                           .each = first->each,
                           .context = first->context};
    const net_log_info* info = net_log_reader_info(verify.reader);
    ecs_tick ticks = (info->last_tick - info->first_tick) / 12;
    if (ticks < RESTORED_TICKS_MIN) ticks = RESTORED_TICKS_MIN;
    if (ticks > RESTORED_TICKS_MAX) ticks = RESTORED_TICKS_MAX;
    ecs_tick until = from->tick + ticks + NET_WORLD_HASH_EVERY_TICKS;
    until -= until % NET_WORLD_HASH_EVERY_TICKS;
    if (until >= info->last_tick) until = 0;
    net_result result = net_log_replay_create(verify.reader, module, 0, NULL, &verify.replay);
    if (result == NET_OK) result = net_log_replay_enter(verify.replay, from->tick, &from->save);
    if (result == NET_OK) {
        verify.match = net_log_replay_match(verify.replay);
        result = run_log(&verify, until);
    }
    net_log_replay_destroy(verify.replay);
    if (result == NET_ERR_CLOSED) return NET_OK; // the tick has no end in the log
    if (result != NET_ERR_DIVERGED) return result;
    const net_result blamed = blame_restored(verify.reader, module, &from->save, &found);
    found.ticks = first->result->ticks;
    *first->result = found;
    return blamed == NET_OK ? result : blamed;
}

// A run from a keyframe differs: does one from the log's begin do so, too?
static void blame_keyframe(const verification* verify, const net_module* module) {
    net_verify_result found = *verify->result;
    const middle* from = verify->middles;
    if (from->tick == 0 || from->save.size == 0 || found.diverged_tick > KEYFRAME_TICKS_MAX ||
        net_log_reader_info(verify->reader)->first_tick > 1)
        return;
    found.restored_tick = from->tick;
    if (blame_restored(verify->reader, module, &from->save, &found) == NET_OK &&
        found.template_name[0])
        *verify->result = found;
}

net_result net_log_verify(net_log_reader* reader, const net_module* module, ecs_tick from,
                          ecs_tick until, net_verify_tick_fn each, void* context,
                          const base_reporter* reporter, net_verify_result* result_out) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(reader && module && result_out);
    *result_out = (net_verify_result){0};
    const net_log_info* info = net_log_reader_info(reader);
    middle middles[MIDDLES_MAX];
    const uint32_t count = place_middles(info, reader->allocator, middles);
    verification verify = {.reader = reader,
                           .result = result_out,
                           .each = each,
                           .context = context,
                           .middles = middles,
                           .reporter = reporter};
    verify.sums = (net_log_sums){.untracked_values = info->untracked_values};
    if (from == 0 && until == 0) verify.middle_count = count;
    net_result result = net_log_replay_create(reader, module, from, reporter, &verify.replay);
    if (result == NET_OK && until == 0)
        (void)!net_log_state_create(reader, NULL, NULL, &verify.state); // NULL: it has none
    if (result == NET_OK) {
        verify.match = net_log_replay_match(verify.replay);
        middles[0].tick = from > 0 ? net_match_tick(verify.match) : middles[0].tick;
        if (from > 0 && net_match_save(verify.match, &middles[0].save) != NET_OK)
            middles[0].tick = 0; // the game refuses
        result = run_log(&verify, until);
    }
    if (result == NET_ERR_DIVERGED && result_out->entity == ECS_ENTITY_NONE)
        find_more(&verify, module);
    if (result == NET_ERR_DIVERGED && from > 0) blame_keyframe(&verify, module);
    if (result == NET_OK && net_match_tick(verify.match) == info->last_tick)
        for (uint32_t i = 0; i < verify.kept_count && result == NET_OK; i++)
            result = verify_restored(&verify, module, &middles[i]);
    if (result == NET_ERR_DIVERGED && strcmp(result_out->component, "-") != 0)
        net_log_name_writers(net_match_world(verify.match), result_out->component,
                             result_out->writers, sizeof result_out->writers);
    net_log_state_destroy(verify.state);
    net_log_replay_destroy(verify.replay);
    for (uint32_t i = 0; i < count; i++)
        base_bytes_deinit(&middles[i].save);
    return result;
}

static void count_items(const net_log_record* record, net_log_stats* stats) {
    size_t offset = record->item_count[NET_LOG_ITEM_INPUT] > 0 ? 0 : record->body_bytes;
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
        stats->records[record.kind]++;
        stats->bytes[record.kind] += record.size;
        count_items(&record, stats);
    }
    return cursor.has_failed ? NET_ERR_DAMAGED : NET_OK;
}

// ---- the rows of a client ----

// A trace lists the rows that clients say they applied. It is read whole and sorted by tick and
// entity, so that one replay proves all of it: the rows of each tick are compared with the server's
// world. A client may not see all components, and a log does not contain the interest rules, so any
// set of hidden classes is right. In the order of the file, ticks must not fall per client and
// entity.

enum { LINE_BYTES_MAX = 256 };
#define TRACE_ROWS_MAX (1u << 24)

typedef struct trace_row {
    uint64_t tick;
    uint64_t hash;
    uint64_t order; // by which it is sorted first
    uint32_t client;
    ecs_entity entity;
    uint32_t line;
} trace_row;

typedef struct trace {
    const base_allocator* allocator;
    const char* file;
    const base_reporter* reporter;
    trace_row* rows;
    uint32_t count, capacity;
    uint32_t at;  // next row to prove
    uint32_t bad; // line that does not hold; 0 for none
} trace;

static bool read_row(const char* text, trace_row* row) {
    uint32_t index, generation;
    int size = 0;
    errno = 0;
    const int count = sscanf(text,
                             "client=%" SCNu32 " entity=%" SCNu32 ":%" SCNu32 " tick=%" SCNu64
                             " row=%" SCNx64 " %n",
                             &row->client, &index, &generation, &row->tick, &row->hash, &size);
    if (count != 5 || errno != 0 || text[size] != 0 || index > ECS_INDEX_MAX ||
        generation > ECS_GENERATION_MAX)
        return false;
    row->entity = ecs_entity_make(index, generation);
    return true;
}

static net_result read_lines(trace* self, FILE* file) {
    char text[LINE_BYTES_MAX];
    for (uint32_t line = 1; fgets(text, sizeof text, file); line++) {
        if (text[0] == '\n' || text[0] == '#') continue;
        if (self->count == TRACE_ROWS_MAX)
            return BASE_REPORT_AS(NET_ERR_MALFORMED, self->reporter, self->file, line,
                                  "more than %u rows", TRACE_ROWS_MAX);
        BASE_ARRAY_RESERVE(self->allocator, self->rows, self->capacity, self->count + 1);
        trace_row* row = &self->rows[self->count++];
        *row = (trace_row){.line = line};
        if (!read_row(text, row))
            return BASE_REPORT_AS(NET_ERR_MALFORMED, self->reporter, self->file, line,
                                  "is not \"client=U entity=I:G tick=T row=HEX\"");
    }
    return ferror(file) ? NET_ERR_IO : NET_OK;
}

static net_result read_file(trace* self) {
    FILE* file = fopen(self->file, "re");
    if (!file)
        return BASE_REPORT_AS(NET_ERR_IO, self->reporter, self->file, 0, "cannot be opened: %s",
                              strerror(errno));
    net_result result = read_lines(self, file);
    if (result == NET_ERR_IO) base_report(self->reporter, self->file, 0, "cannot be read");
    fclose(file);
    return result;
}

// By their order, then by entity, then as in the file.
static int compare_rows(const void* left, const void* right) {
    const trace_row *l = left, *r = right;
    const uint64_t a[] = {l->order, l->entity, l->line}, b[] = {r->order, r->entity, r->line};
    uint32_t i = 0;
    while (i < 2 && a[i] == b[i])
        i++;
    return (a[i] > b[i]) - (a[i] < b[i]);
}

static void sort_rows(trace* self, bool is_by_tick) {
    for (uint32_t i = 0; i < self->count; i++)
        self->rows[i].order = is_by_tick ? self->rows[i].tick : self->rows[i].client;
    if (self->count > 0) qsort(self->rows, self->count, sizeof *self->rows, compare_rows);
}

static bool do_ticks_rise(trace* self) {
    sort_rows(self, false);
    for (uint32_t i = 1; i < self->count; i++) {
        const trace_row* before = &self->rows[i - 1];
        const trace_row* row = &self->rows[i];
        if (before->client != row->client || before->entity != row->entity) continue;
        if (row->tick >= before->tick) continue;
        base_report(self->reporter, self->file, row->line,
                    "client %u had entity %u:%u at tick %" PRIu64 " already, now at %" PRIu64,
                    row->client, ecs_entity_index(row->entity), ecs_entity_generation(row->entity),
                    before->tick, row->tick);
        return false;
    }
    sort_rows(self, true);
    return true;
}

static bool refuse_row(trace* self, const trace_row* row, const char* text) {
    base_report(self->reporter, self->file, row->line,
                "client %u, entity %u:%u, tick %" PRIu64 ": %s", row->client,
                ecs_entity_index(row->entity), ecs_entity_generation(row->entity), row->tick, text);
    self->bad = row->line;
    return false;
}

static bool prove_tick(void* context, net_match* match) {
    trace* self = context;
    ecs_tick tick = net_match_tick(match);
    for (; self->at < self->count && self->rows[self->at].tick <= tick; self->at++) {
        const trace_row* row = &self->rows[self->at];
        if (row->tick < tick) return refuse_row(self, row, "there is no such tick in the log");
        const net_schema* schema = net_match_schema(match);
        ecs_world* world = net_match_world(match);
        if (row->hash != 0 && net_world_digest_row_has_hash(schema, world, row->entity, row->hash))
            continue;
        bool is_there = net_world_digest_row_hash(schema, world, row->entity) != 0;
        return refuse_row(self, row,
                          is_there ? "the row differs from the server's"
                                   : "the server had no such entity");
    }
    return self->at < self->count;
}

net_result net_log_check_trace(net_log_reader* reader, const net_module* module,
                               const char* trace_file, const base_reporter* reporter,
                               uint64_t* rows_checked) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(reader && module && trace_file && rows_checked);
    trace self = {.allocator = reader->allocator, .file = trace_file, .reporter = reporter};
    *rows_checked = 0;
    net_result result = read_file(&self);
    if (result == NET_OK && !do_ticks_rise(&self)) result = NET_ERR_DIVERGED;
    net_verify_result verified;
    if (result == NET_OK && self.count > 0)
        result = net_log_verify(reader, module, 0, net_log_reader_info(reader)->last_tick,
                                prove_tick, &self, reporter, &verified);
    if (result == NET_OK && self.bad == 0 && self.at < self.count)
        (void)refuse_row(&self, &self.rows[self.at], "there is no such tick in the log");
    if (result == NET_OK && self.bad != 0) result = NET_ERR_DIVERGED;
    *rows_checked = self.at;
    base_release(self.allocator, self.rows, self.capacity * sizeof *self.rows);
    return result;
}
