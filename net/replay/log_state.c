// SPDX-License-Identifier: MIT
// A walk over the log's records that gives the state of each tick to a mirror without a world, as a
// client gets packets, and reading its rows by name.
//
// A full state needs nothing before it: behind damage, and for a seek, a new mirror
// begins there. Until then the rows are unknown: net_log_state_is_whole. With the game, a tick
// without state is run again with a recorder, and the parts of that run's state are read in place
// of the log's, until the log has a full one.
#include "replay/log_state.h"

#include "base/assert.h"
#include "base/bitset.h"
#include "base/float_mode.h"
#include "base/search.h"
#include "ecs/entity.h"
#include "log/log_read.h"
#include "replay/log_replay.h"
#include "mirror/mirror.h"
#include "state/schema.h"
#include "state/snapshot_format.h"

#include <inttypes.h>
#include <string.h>

#define SCOPE_MS 3000                        ///< a seek follows the scope of a client for so long
#define MIRROR_BYTES_MAX ((size_t)256 << 20) ///< of the rows and values of one log

struct net_log_state {
    base_owner owner;
    net_log_reader* reader;
    base_reporter reporter;
    net_log_cursor cursor;
    net_log_schema* schema;
    const net_module* module; // NULL: a tick without state stays unknown
    uint32_t client;          // the state is what it has, by the run; 0: everything
    // The run, which reads the file on its own.
    net_log_reader* run_reader;
    net_log_replay* replay; // NULL: no tick was run again yet
    net_history* history;   // NULL: its next state is full
    net_log_recorder* recorder;
    ecs_tick diverged;
    net_log_record close; // its hashes of the last tick, once it was read
    net_mirror* mirror;
    net_mirror* before; // in a tick with a full state: of the tick before; NULL: it is not known
    bool is_run;        // the mirror is that of the run
    uint16_t seq;       // of the next body
    bool is_known;      // the mirror has all rows of row_tick
    ecs_tick row_tick;  // of the newest state that was read
    ecs_tick full_tick; // of the newest full state
    net_log_sums sums;
    net_log_touch* touches; // of the tick
    uint32_t touch_count, touch_capacity;
    bool is_sorted;          // the touches, by index
    net_log_touch* by_index; // scratch of sorting them
    uint32_t by_index_capacity;
    base_bitset touched;     // indices, while they are sorted
    net_log_player* players; // by rising client
    uint32_t player_count, player_capacity;
    net_log_passed_fn passed;
    void* passed_context;
    ecs_tick tick;
    bool is_pending; // the end of the tick came, its state did not yet
    bool has_failed;
};

static net_result refuse_log(net_log_reader* reader, const base_reporter* reporter,
                             net_result result) {
    const char* file = reader->file;
    if (result == NET_ERR_UNKNOWN)
        base_report(reporter, file, 0,
                    "the log has no values of components: it was written with --log content "
                    "inputs");
    if (result == NET_ERR_VERSION)
        base_report(reporter, file, 0,
                    "the values of this log are in another row code than %u, which this build "
                    "reads: use shoal-replay of build %s, which wrote it",
                    NET_LOG_ROW_CODE, net_log_reader_info(reader)->build);
    if (result == NET_ERR_DAMAGED)
        base_report(reporter, file, 0, "the schema in the log's header cannot be used");
    return result;
}

// ---- the run ----

// Ticks on the way are only run: rows are compared, and bodies written, for ticks that are asked
// for. After a jump history and recorder are new ones, and so the state is full.

// @return as net_log_replay_create (reported).
static net_result open_run(net_log_state* state) {
    // The state's own reader of the log reported its damage.
    net_result result = net_log_reader_create(&state->owner.allocator, state->reader->file, NULL,
                                              &state->run_reader);
    if (!state->run_reader) return result;
    result = net_log_replay_create(state->run_reader, state->module, 0, &state->reporter,
                                   &state->replay);
    if (result == NET_OK) return NET_OK;
    net_log_reader_destroy(state->run_reader);
    state->run_reader = NULL;
    return result;
}

static void forget_run(net_log_state* state) {
    net_log_recorder_destroy(state->recorder);
    base_owner_destroy(state->history);
    state->recorder = NULL;
    state->history = NULL;
}

static ecs_tick tick_of_run(const net_log_state* state) {
    return net_match_tick(net_log_replay_match(state->replay));
}

// The first tick whose hash is not the log's is reported; the run goes on.
static void compare_run(net_log_state* state, const net_log_tick* at) {
    const ecs_world* world = net_match_world(net_log_replay_match(state->replay));
    const net_log_record* close = &state->close;
    const bool is_last = close->kind == NET_LOG_KIND_CLOSE && close->tick == at->tick;
    if (state->diverged > 0) return;
    if ((!at->has_end ||
         net_log_is_same(world, at->state_hash, at->has_world_hash ? &at->world_hash : NULL)) &&
        (!is_last || net_log_is_same(world, close->state_hash,
                                     close->has_world_hash ? &close->world_hash : NULL)))
        return;
    state->diverged = at->tick;
    base_report(&state->reporter, state->reader->file, 0,
                "this run differs from the log from tick %" PRIu64 " on", at->tick);
}

static net_result run_on(net_log_state* state) {
    const ecs_tick tick = state->tick;
    net_result result = NET_OK;
    if (tick_of_run(state) + 1 != tick) forget_run(state);
    if (tick_of_run(state) >= tick || (!state->history && state->diverged == 0))
        result = net_log_replay_seek(state->replay, tick - 1);
    // The state's reader may have followed the log.
    if (result == NET_OK && net_log_reader_info(state->run_reader)->last_tick < tick)
        net_log_reader_follow(state->run_reader);
    while (result == NET_OK && tick_of_run(state) < tick) {
        net_log_tick at;
        result = net_log_replay_step(state->replay, &at);
        if (result == NET_OK) compare_run(state, &at);
    }
    if (result == NET_OK && tick_of_run(state) != tick) result = NET_ERR_DAMAGED;
    return result == NET_ERR_CLOSED ? NET_ERR_DAMAGED : result;
}

static net_result begin_recorder(net_log_state* state) {
    net_match* match = net_log_replay_match(state->replay);
    net_rows* rows = net_schema_rows(net_match_schema(match));
    const uint32_t index_max = ecs_world_limits(net_match_world(match))->replicated_index_max;
    net_rows_set_tick_rate(rows, net_match_get_config(match)->tick_rate_hz);
    state->history = net_history_create(&state->owner.allocator, rows, index_max);
    state->recorder = net_log_recorder_create(&state->owner.allocator, match, false);
    if (state->client == 0) return NET_OK;
    return net_log_recorder_see_as(state->recorder, state->client, &state->reporter);
}

static void take_part(void* context, const uint8_t* data, size_t size);

// Run to the state's tick, from a keyframe before it where that is nearer, and take its parts.
// @return NET_OK; NET_ERR_DAMAGED (reported: the log does not lead there).
static net_result take_run(net_log_state* state) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    net_result result = run_on(state);
    if (result == NET_OK && !state->history) result = begin_recorder(state);
    if (result != NET_OK) {
        forget_run(state);
        return result;
    }
    net_history_step(state->history, net_match_world(net_log_replay_match(state->replay)),
                     state->tick);
    net_log_recorder_begin(state->recorder, state->history);
    net_log_recorder_end(state->recorder, take_part, state);
    return NET_OK;
}

// ---- create and destroy ----

net_result net_log_state_create(net_log_reader* reader, const net_module* module,
                                const base_reporter* reporter, net_log_state** state_out) {
    BASE_ASSERT(reader && state_out);
    *state_out = NULL;
    net_log_state* state = base_owner_create(reader->allocator, sizeof *state);
    state->reader = reader;
    base_bitset_init(&state->touched, &state->owner.allocator);
    if (reporter) state->reporter = *reporter;
    const base_bytes* header = &reader->header;
    bool has_values = true;
    net_result result = net_log_schema_create(&state->owner.allocator, header->data, header->size,
                                              &has_values, &state->schema);
    if (result == NET_OK && !has_values && !module) result = NET_ERR_UNKNOWN;
    if (result != NET_OK) {
        net_log_state_destroy(state);
        return refuse_log(reader, reporter, result);
    }
    state->module = net_log_reader_info(reader)->is_seen ? NULL : module;
    // Without a run there is nothing to see.
    if (!has_values) result = open_run(state);
    if (result != NET_OK) {
        net_log_state_destroy(state);
        return result;
    }
    state->sums.untracked_values = net_log_reader_info(reader)->untracked_values;
    state->cursor = net_log_cursor_begin(reader);
    *state_out = state;
    return NET_OK;
}

void net_log_state_destroy(net_log_state* state) {
    if (!state) return;
    forget_run(state);
    net_log_replay_destroy(state->replay);
    net_log_reader_destroy(state->run_reader);
    base_owner_destroy(state);
}

// ---- what happened in a tick ----

static void touch(net_log_state* state, ecs_entity entity, net_log_fate fate) {
    if (state->touch_count == state->touch_capacity)
        BASE_ARRAY_RESERVE(&state->owner.allocator, state->touches, state->touch_capacity,
                           state->touch_count + 1);
    state->touches[state->touch_count++] = (net_log_touch){entity, fate};
}

static void take_gone(void* context, ecs_entity entity, ecs_tick tick) {
    (void)tick;
    touch(context, entity, NET_LOG_FATE_DESTROYED);
}

static void take_changed(void* context, ecs_entity entity, bool is_new) {
    touch(context, entity, is_new ? NET_LOG_FATE_CREATED : NET_LOG_FATE_CHANGED);
}

// Positions in the template, from places in the row.
uint64_t net_log_state_changed(const net_log_state* state, ecs_entity entity) {
    const net_row_template* row = net_log_state_row(state, entity, NULL);
    if (!row) return 0;
    const net_log_template* template_ = net_log_schema_template(state->schema, row);
    const uint64_t components = net_mirror_row_changes(state->mirror, entity);
    uint64_t positions = 0;
    for (uint32_t i = 0; i < template_->component_count && i < 64; i++)
        if (template_->places[i] != UINT8_MAX && components >> template_->places[i] & 1)
            positions |= UINT64_C(1) << i;
    return positions;
}

static void drop_before(net_log_state* state) {
    net_mirror_destroy(state->before);
    state->before = NULL;
}

// A full state does not name what ended in its tick.
static void touch_ended(net_log_state* state) {
    for (ecs_entity at = ECS_ENTITY_NONE;
         state->before && (at = net_mirror_next(state->before, at)) != ECS_ENTITY_NONE;)
        if (!net_mirror_row(state->mirror, at, NULL)) touch(state, at, NET_LOG_FATE_DESTROYED);
    drop_before(state);
}

// By rising index. What came in place of another entity is the fate of both.
static void sort_touches(net_log_state* state) {
    uint32_t end = 0;
    touch_ended(state);
    for (uint32_t i = 0; i < state->touch_count; i++)
        if (ecs_entity_index(state->touches[i].entity) >= end)
            end = ecs_entity_index(state->touches[i].entity) + 1;
    BASE_ARRAY_RESERVE(&state->owner.allocator, state->by_index, state->by_index_capacity, end);
    base_bitset_reserve(&state->touched, end);
    for (uint32_t i = 0; i < state->touch_count; i++) {
        const net_log_touch at = state->touches[i];
        const uint32_t index = ecs_entity_index(at.entity);
        uint64_t *word = &state->touched.words[index / 64], bit = UINT64_C(1) << index % 64;
        if (*word & bit && at.fate == NET_LOG_FATE_DESTROYED) continue;
        *word |= bit;
        state->by_index[index] = at;
    }
    state->touch_count = 0;
    for (uint32_t w = 0; w < (end + 63) / 64; w++) {
        for (uint64_t left = state->touched.words[w]; left; left &= left - 1)
            state->touches[state->touch_count++] = state->by_index[w * 64 + base_bit_lowest(left)];
        state->touched.words[w] = 0;
    }
    state->is_sorted = true;
}

// ---- the state of a tick ----

// `has_before`: the mirror has the tick before.
static void begin_full(net_log_state* state, ecs_tick tick, bool is_run, bool has_before) {
    drop_before(state);
    if (has_before)
        state->before = state->mirror;
    else
        net_mirror_destroy(state->mirror);
    state->mirror = NULL;
    state->seq = 1;
    state->player_count = 0;
    state->is_known = true;
    state->is_run = is_run;
    state->full_tick = tick;
    const net_mirror_config config = {
        .allocator = &state->owner.allocator,
        .rows = state->schema->rows,
        .index_max = state->schema->index_max,
        .memory_bytes_max = MIRROR_BYTES_MAX,
        .sink = {.context = state, .gone = take_gone, .changed = take_changed},
    };
    state->mirror = net_mirror_create(&config);
}

static net_result take_template(net_log_state* state, base_reader item) {
    uint16_t parts[ECS_TEMPLATE_PARTS_MAX];
    const uint64_t count = base_reader_varint(&item);
    if (count > ECS_TEMPLATE_PARTS_MAX) return NET_ERR_DAMAGED;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t part = base_reader_varint(&item);
        if (part > UINT16_MAX) return NET_ERR_DAMAGED;
        parts[i] = (uint16_t)part;
    }
    if (item.failed) return NET_ERR_DAMAGED;
    const size_t size = base_reader_left(&item);
    return net_log_schema_define(state->schema, parts, (uint32_t)count,
                                 base_reader_skip(&item, size), size);
}

static net_result take_body(net_log_state* state, ecs_tick tick, base_reader item) {
    const size_t size = base_reader_left(&item);
    if (size == 0 || size > NET_SNAPSHOT_BYTES_MAX) return NET_ERR_DAMAGED;
    proto_bit_reader bits = proto_bit_reader_make(base_reader_skip(&item, size), size);
    return net_mirror_read(state->mirror, state->seq++, tick, &bits);
}

static net_result take_value(net_log_state* state, base_reader item) {
    const uint64_t entity = base_reader_varint(&item), component = base_reader_varint(&item);
    if (item.failed || entity > UINT32_MAX || component > ECS_COMPONENTS_MAX)
        return NET_ERR_DAMAGED;
    const net_row_template* row = net_mirror_row(state->mirror, (ecs_entity)entity, NULL);
    if (!row || !net_row_find_varsize(row, (ecs_component_id)component)) return NET_ERR_DAMAGED;
    const size_t size = base_reader_left(&item);
    net_mirror_keep_value(state->mirror, (ecs_entity)entity, (ecs_component_id)component,
                          base_reader_skip(&item, size), (uint32_t)size);
    return NET_OK;
}

static net_result take_player(net_log_state* state, base_reader item) {
    const uint64_t client = base_reader_varint(&item);
    if (item.failed || client < 1 || client > UINT32_MAX) return NET_ERR_DAMAGED;
    base_search search = base_search_begin(state->player_count);
    while (base_search_next(&search))
        base_search_step(&search, state->players[search.middle].client < client);
    const uint32_t place = search.low;
    if (place < state->player_count && state->players[place].client == client) {
        state->player_count--;
        memmove(state->players + place, state->players + place + 1,
                (state->player_count - place) * sizeof *state->players);
    }
    if (base_reader_left(&item) == 0) return NET_OK; // it left
    net_log_player player = {.client = (uint32_t)client};
    const uint64_t entity = base_reader_varint(&item);
    const proto_pb_field name = {
        .type = 2, .size = base_reader_left(&item), .data = item.data + item.offset};
    if (item.failed || entity > UINT32_MAX || state->player_count == NET_CLIENTS_MAX ||
        !net_log_header_text(&name, player.name, sizeof player.name))
        return NET_ERR_DAMAGED;
    player.entity = (ecs_entity)entity;
    BASE_ARRAY_RESERVE(&state->owner.allocator, state->players, state->player_capacity,
                       state->player_count + 1);
    memmove(state->players + place + 1, state->players + place,
            (state->player_count - place) * sizeof *state->players);
    state->players[place] = player;
    state->player_count++;
    return NET_OK;
}

static net_result take_items(net_log_state* state, ecs_tick tick, base_reader items) {
    net_result result = NET_OK;
    while (result == NET_OK && base_reader_left(&items) > 0) {
        const uint64_t kind = base_reader_varint(&items), size = base_reader_varint(&items);
        const uint8_t* data = base_reader_skip(&items, (size_t)size);
        if (items.failed) return NET_ERR_DAMAGED;
        const base_reader item = base_reader_make(data, (size_t)size);
        if (kind == NET_LOG_STATE_TEMPLATE) result = take_template(state, item);
        if (kind == NET_LOG_STATE_BODY) result = take_body(state, tick, item);
        if (kind == NET_LOG_STATE_VALUE) result = take_value(state, item);
        if (kind == NET_LOG_STATE_PLAYER) result = take_player(state, item);
    }
    return result == NET_OK || result == NET_ERR_MEMORY ? result : NET_ERR_DAMAGED;
}

static bool is_full(const net_log_record* record) {
    return record->changes_bytes >= 2 && record->changes[0] == NET_LOG_FORM_STATE &&
           record->changes[1] & NET_LOG_STATE_FULL;
}

bool net_log_state_is_last(const net_log_record* record) {
    return record->kind == NET_LOG_KIND_STATE &&
           (record->changes_bytes < 2 || record->changes[0] != NET_LOG_FORM_STATE ||
            record->changes[1] & NET_LOG_STATE_LAST);
}

// A part of the tick's state; of a form of a later version the values are those before it.
static net_result take_state(net_log_state* state, const net_log_record* record, bool is_run) {
    base_reader items = base_reader_make(record->changes, record->changes_bytes);
    const bool is_ours = base_reader_u8(&items) == NET_LOG_FORM_STATE;
    (void)base_reader_u8(&items); // flags
    const bool is_first = state->row_tick != record->tick, begins = is_full(record);
    if (net_log_state_is_last(record)) state->is_pending = false;
    // The log's bodies are no use to the mirror of a run.
    if (state->is_run && !is_run && !begins) return NET_OK;
    if (state->client > 0 && !is_run) return NET_OK;
    if (!is_ours || items.failed || (is_first && record->tick != state->row_tick + 1))
        state->is_known = false;
    if (is_first || begins) state->touch_count = 0;
    state->is_sorted = false;
    state->row_tick = record->tick;
    if (is_ours && begins)
        begin_full(state, record->tick, is_run, state->is_known && state->mirror);
    return state->is_known ? take_items(state, record->tick, items) : NET_OK;
}

static void lose(net_log_state* state) {
    drop_before(state);
    net_mirror_destroy(state->mirror);
    state->mirror = NULL;
    state->touch_count = state->player_count = 0;
    state->is_known = state->is_run = false;
    state->sums.is_known = false;
}

net_result net_log_state_take(net_log_state* state, const net_log_record* record, bool is_resumed) {
    BASE_ASSERT(state && record);
    if (is_resumed) lose(state);
    if (record->kind == NET_LOG_KIND_STATE) return take_state(state, record, false);
    const bool is_end = record->kind == NET_LOG_KIND_END;
    if (state->passed && (is_end || record->kind == NET_LOG_KIND_CONTROL))
        state->passed(state->passed_context, record);
    if (!is_end) return NET_OK;
    drop_before(state);
    state->tick = record->tick;
    state->is_pending = true;
    state->touch_count = 0;
    const bool is_read =
        net_log_sums_read(&state->sums, record->tick, record->changes, record->changes_bytes);
    return is_read ? NET_OK : NET_ERR_DAMAGED;
}

// ---- ticks ----

static net_result fail_state(net_log_state* state, ecs_tick tick, net_result result) {
    state->has_failed = true;
    base_report(&state->reporter, state->reader->file, 0, "tick %" PRIu64 ": %s", tick,
                result == NET_ERR_MEMORY ? "out of memory" : "its state cannot be read");
    return result;
}

static void take_part(void* context, const uint8_t* data, size_t size) {
    net_log_state* state = context;
    const net_log_record record = {.kind = NET_LOG_KIND_STATE,
                                   .tick = state->tick,
                                   .changes = data,
                                   .changes_bytes = (uint32_t)size};
    if (take_state(state, &record, true) != NET_OK) state->is_known = false;
}

// The log does not have the state of the tick.
static net_result run_tick(net_log_state* state) {
    if (!state->module || net_log_state_is_whole(state)) return NET_OK;
    net_result result = state->replay ? NET_OK : open_run(state);
    if (result != NET_OK) {
        state->module = NULL; // it was reported
        return NET_OK;
    }
    result = take_run(state);
    state->has_failed = result != NET_OK;
    if (result == NET_ERR_DAMAGED) state->tick = tick_of_run(state);
    return result;
}

static net_result step(net_log_state* state) {
    net_log_record record;
    if (state->has_failed) return NET_ERR_DAMAGED;
    while (net_log_cursor_next(state->reader, &state->cursor, &record)) {
        const bool was_pending = state->is_pending;
        net_result result = net_log_state_take(state, &record, state->cursor.resumed != 0);
        if (result != NET_OK) return fail_state(state, record.tick, result);
        if (record.kind == NET_LOG_KIND_CLOSE) state->close = record;
        if (net_log_state_is_last(&record) && was_pending) return NET_OK;
        // The tick has no state: it was lost, or comes behind what is still in the queue.
        const bool is_over = record.kind == NET_LOG_KIND_BEGIN || record.kind == NET_LOG_KIND_CLOSE;
        state->is_pending = state->is_pending && !is_over;
        if (was_pending && is_over) return NET_OK;
    }
    const bool was_pending = state->is_pending;
    state->is_pending = false;
    if (!state->cursor.has_failed) return was_pending ? NET_OK : NET_ERR_CLOSED;
    state->has_failed = true;
    return NET_ERR_DAMAGED;
}

net_result net_log_state_step(net_log_state* state) {
    BASE_ASSERT(state);
    net_result result = step(state);
    return result == NET_OK ? run_tick(state) : result;
}

net_result net_log_state_return(net_log_state* state) {
    if (state->has_failed || net_log_cursor_return(state->reader, &state->cursor)) return NET_OK;
    state->has_failed = true;
    return NET_ERR_DAMAGED;
}

bool net_log_state_is_full(const net_log_state* state) {
    return net_log_state_is_whole(state) && state->tick > 0 && state->full_tick == state->tick;
}

static void begin_at(net_log_state* state, net_log_cursor cursor, ecs_tick tick) {
    lose(state);
    state->cursor = cursor;
    state->tick = state->row_tick = tick;
    state->touch_count = 0;
    state->is_pending = state->has_failed = false;
}

static net_result step_to(net_log_state* state, ecs_tick tick) {
    net_result result = NET_OK;
    while (result == NET_OK && state->tick < tick)
        result = step(state);
    return result == NET_OK || result == NET_ERR_CLOSED ? run_tick(state) : result;
}

// From the cursor up to the tick, go to the last full state; sums are read on the way.
// @return false: there is none.
static bool find_full(net_log_state* state, ecs_tick tick) {
    net_log_cursor before = state->cursor, found = before;
    net_log_record record;
    bool is_found = false;
    while (net_log_cursor_next(state->reader, &state->cursor, &record)) {
        if (record.tick > tick) break;
        if (record.kind == NET_LOG_KIND_END &&
            !net_log_sums_read(&state->sums, record.tick, record.changes, record.changes_bytes))
            break;
        if (record.kind == NET_LOG_KIND_STATE && is_full(&record)) {
            found = before;
            is_found = true;
            state->tick = record.tick;
        }
        before = state->cursor;
    }
    state->cursor = found;
    return is_found && net_log_cursor_return(state->reader, &state->cursor);
}

// Begin at a keyframe before the tick: all comes with the tick after it. @return false: it does
// not, or there is no such keyframe.
static bool step_from_keyframe(net_log_state* state, ecs_tick tick) {
    const ecs_tick here = state->tick, near_ = state->schema->tick_rate_hz;
    const net_log_keyframe* keyframe;
    if (tick < 2 || tick < here + near_) return false;
    net_log_cursor cursor = net_log_reader_seek(state->reader, tick - 1, &keyframe);
    if (!keyframe || keyframe->tick < here) return false;
    begin_at(state, cursor, keyframe->tick);
    const bool has_full = state->client == 0 && find_full(state, tick);
    if (has_full) {
        const ecs_tick full = state->tick;
        state->is_pending = true; // its end was read
        state->row_tick = full - 1;
        state->tick = full - 1;
        net_result result = step(state);
        state->tick = full;
        if (result != NET_OK) state->is_known = false;
    } else if (state->module) {
        begin_at(state, net_log_reader_seek(state->reader, tick - 1, &keyframe), keyframe->tick);
    }
    if ((has_full || state->module) && step_to(state, tick) == NET_OK &&
        net_log_state_is_whole(state))
        return true;
    begin_at(state, net_log_cursor_begin(state->reader), 0);
    return false;
}

static net_result seek(net_log_state* state, ecs_tick tick) {
    if (tick < state->tick || state->has_failed)
        begin_at(state, net_log_cursor_begin(state->reader), 0);
    return step_from_keyframe(state, tick) ? NET_OK : step_to(state, tick);
}

// What a client keeps in its scope depends on what it had before, so it is followed for a while. A
// moment has the same scope however it was reached.
static net_result seek_scope(net_log_state* state, ecs_tick tick) {
    const ecs_tick ticks = (ecs_tick)state->schema->tick_rate_hz * SCOPE_MS / 1000;
    forget_run(state);
    begin_at(state, net_log_cursor_begin(state->reader), 0);
    net_result result = seek(state, tick > ticks ? tick - ticks : 1);
    while (result == NET_OK && state->tick < tick)
        result = net_log_state_step(state);
    return result;
}

net_result net_log_state_see_as(net_log_state* state, uint32_t client) {
    if (client > 0 && !state->module) return NET_ERR_UNKNOWN;
    net_result result = state->replay || client == 0 ? NET_OK : open_run(state);
    if (result != NET_OK) return result;
    forget_run(state);
    state->client = client;
    begin_at(state, net_log_cursor_begin(state->reader), 0);
    return NET_OK;
}

net_result net_log_state_seek(net_log_state* state, ecs_tick tick) {
    BASE_ASSERT(state);
    ecs_tick last = net_log_reader_info(state->reader)->last_tick;
    if (tick > last) tick = last;
    if (state->client > 0) return seek_scope(state, tick);
    return seek(state, tick);
}

ecs_tick net_log_state_tick(const net_log_state* state) {
    return state->tick;
}

bool net_log_state_is_whole(const net_log_state* state) {
    return state->tick == 0 || (state->is_known && state->row_tick == state->tick);
}

const net_log_touch* net_log_state_touches(const net_log_state* state, uint32_t* count) {
    // Most readers never ask.
    if (!state->is_sorted) sort_touches((net_log_state*)(uintptr_t)state);
    *count = state->touch_count;
    return state->touches;
}

const net_log_player* net_log_state_players(const net_log_state* state, uint32_t* count) {
    *count = state->player_count;
    return state->players;
}

void net_log_state_on_passed(net_log_state* state, net_log_passed_fn passed, void* context) {
    state->passed = passed;
    state->passed_context = context;
}

ecs_tick net_log_state_diverged(const net_log_state* state) {
    return state->diverged;
}

const net_log_sums* net_log_state_sums(const net_log_state* state) {
    return &state->sums;
}

// ---- components ----

uint32_t net_log_state_component_count(const net_log_state* state) {
    return state->schema->component_count;
}

const net_log_component* net_log_state_component(const net_log_state* state, uint32_t position) {
    return net_log_schema_component(state->schema, position);
}

// ---- entities ----

// `row` may be NULL. @return NULL: there is no such entity.
static const net_log_template* find_template(const net_log_state* state, ecs_entity entity,
                                             uint64_t* row) {
    const net_row_template* found = net_log_state_row(state, entity, row);
    return found ? net_log_schema_template(state->schema, found) : NULL;
}

const net_row_template* net_log_state_row(const net_log_state* state, ecs_entity entity,
                                          uint64_t* row) {
    return state->mirror ? net_mirror_row(state->mirror, entity, row) : NULL;
}

const uint64_t* net_log_state_words(const net_log_state* state, ecs_entity entity,
                                    uint32_t* field_count, uint64_t* row) {
    return state->mirror ? net_mirror_words(state->mirror, entity, field_count, row) : NULL;
}

ecs_entity net_log_state_next(const net_log_state* state, ecs_entity before) {
    return state->mirror ? net_mirror_next(state->mirror, before) : ECS_ENTITY_NONE;
}

const char* net_log_state_template(const net_log_state* state, ecs_entity entity) {
    const net_log_template* found = find_template(state, entity, NULL);
    return found ? found->name : NULL;
}

const net_log_component* net_log_state_template_component(const net_log_state* state,
                                                          ecs_entity entity, uint32_t position) {
    const net_log_template* found = find_template(state, entity, NULL);
    return found && position < found->component_count ? found->components[position] : NULL;
}

// The component's place in the layout of the template; UINT8_MAX: it has none.
static uint32_t find_place(const net_log_template* template_, const net_log_component* component) {
    for (uint32_t i = 0; i < template_->component_count; i++)
        if (template_->components[i] == component) return template_->places[i];
    return UINT8_MAX;
}

void net_log_row_read(const net_row_template* row, uint32_t place, const uint64_t* words,
                      ecs_number* values) {
    const proto_layout* layout = &row->layout;
    const proto_row_component* component = &layout->components[place];
    if (component->is_rotation) {
        float parts[PROTO_ROTATION_WORDS];
        proto_row_write_component(layout, place, words, parts);
        for (uint32_t i = 0; i < PROTO_ROTATION_WORDS; i++)
            values[i] = ecs_number_get(ECS_FIELD_F32, &parts[i]);
        return;
    }
    for (uint32_t i = 0; i < component->field_count; i++) {
        uint64_t memory = 0;
        const proto_quant* quant = &layout->fields[component->field_first + i].quant;
        proto_dequantise(quant, words[component->field_first + i], &memory);
        values[i] = ecs_number_get((ecs_field_kind)quant->kind, &memory);
    }
}

bool net_log_state_read(const net_log_state* state, ecs_entity entity,
                        const net_log_component* component, ecs_number* values) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    BASE_ASSERT(component && values);
    uint64_t words[PROTO_ROW_FIELDS_MAX];
    const net_log_template* found = find_template(state, entity, words);
    const uint32_t place = found ? find_place(found, component) : UINT8_MAX;
    if (place == UINT8_MAX) return false;
    net_log_row_read(found->row, place, words, values);
    return true;
}

const uint8_t* net_log_state_bytes(const net_log_state* state, ecs_entity entity,
                                   const net_log_component* component, size_t* size) {
    BASE_ASSERT(component && size);
    uint32_t bytes = 0;
    const uint8_t* data =
        state->mirror
            ? net_mirror_value_bytes(state->mirror, entity, (ecs_component_id)component->id, &bytes)
            : NULL;
    *size = bytes;
    return data;
}
