// SPDX-License-Identifier: MIT
// The records of a match. All of this runs on the simulation's thread and ends with one copy into
// the queue: no lock, no allocation, no wait. After logging stopped nothing is packed.
#include "base/assert.h"
#include "base/float_mode.h"
#include "base/hash.h"
#include "base/text.h"
#include "ecs/change.h"
#include "ecs/save.h"
#include "log/log_file.h"
#include "log/log_record.h"
#include "log/log_recorder.h"
#include "net/match.h"
#include "state/schema.h"

#include <unistd.h>

enum {
    FIELD_CHANGES = 5,
    LEFT_OUT_BYTES = 8, // room that events leave for the field after them
    FULL_MS = 5000,     // between two full states
    FULL_BYTES_MAX = 262144,
};

static uint64_t make_identity(const net_match* match, const char* file, uint64_t now_unix_ms) {
    uint64_t hash = base_hash64_mix(base_hash64_text(file), now_unix_ms);
    hash = base_hash64_mix(hash, net_match_get_config(match)->seed);
    return base_hash64_mix(hash, (uint64_t)getpid());
}

// @return as net_log_header_write.
static net_result write_header(const net_log_file_config* config, const net_match* match,
                               base_bytes* header, bool* has_values) {
    *has_values = config->has_values;
    const net_result result = net_log_header_write(
        header, match, config->build, config->now_unix_ms, config->identity, has_values);
    if (result != NET_OK) return result;
    if (config->options.has_controls) net_log_header_demand(header, NET_LOG_FEATURE_CONTROLS);
    if (config->options.is_seen) net_log_header_demand(header, NET_LOG_FEATURE_SEEN);
    return NET_OK;
}

static void take_match(net_log_writer* writer, const net_match* match, bool has_values) {
    const ecs_world* world = net_match_world((net_match*)(uintptr_t)match);
    writer->has_views = net_match_get_config(match)->module->game->is_rewinding;
    writer->sums = (net_log_sums){.untracked_values = net_log_sums_untracked(world)};
    writer->state_hash = ecs_world_state_hash(world); // when no tick follows
    if (has_values)
        writer->recorder = net_log_recorder_create(&writer->owner.allocator, match,
                                                   !writer->config.options.is_manual);
}

// That of a client's record is only a place where readers may begin.
static void offer_keyframe(net_log_writer* writer, const net_match* match) {
    base_bytes* save = net_log_file_begin_keyframe(writer, writer->tick);
    if (!save) return;
    if (writer->config.options.is_seen)
        base_bytes_write_u8(save, 0);
    else if (net_match_save(match, save) != NET_OK)
        base_bytes_clear(save);
    net_log_file_end_keyframe(writer, writer->tick);
}

// The log that it goes on with becomes its first segment. Then who moves it away may.
static net_result copy_before(net_log_file_config* with, const base_reporter* reporter) {
    const net_log_options* options = &with->options;
    char name[4096];
    if (!options->before || with->options.is_in_memory) return NET_OK;
    if (!net_log_before_name(name, sizeof name, with->file))
        return BASE_REPORT_AS(NET_ERR_IO, reporter, with->file, 0, "the name is too long");
    const net_result result =
        net_log_copy_segment(options->before, name, with->start_tick,
                             options->has_controls ? NET_LOG_FEATURE_CONTROLS : 0,
                             options->sign_key, reporter, &with->place);
    if (result == NET_OK) net_log_reader_unlock(options->before);
    return result;
}

static void apply_options(net_log_file_config* config, const net_log_options* options,
                          uint32_t tick_rate_hz) {
    config->options = *options;
    if (options->is_in_memory) config->options.segments.on_close = NULL;
    config->segment_ticks = (uint64_t)options->segments.seconds_max * tick_rate_hz;
    if (options->sync == NET_LOG_SYNC_END) config->sync_ticks = UINT32_MAX;
    config->ring_ticks = (ecs_tick)options->ring_seconds * tick_rate_hz;
    if (options->keyframe_seconds > 0)
        config->keyframe_ticks =
            net_log_keyframe_ticks(options->keyframe_seconds, tick_rate_hz, config->block_ticks);
    if (options->waiting_bytes > 0) config->ring_bytes = options->waiting_bytes;
    config->has_patience = true;
}

net_result net_log_writer_create(const base_allocator* allocator, const char* file,
                                 const net_log_options* options, const net_match* match,
                                 const char* build, uint64_t now_unix_ms,
                                 const base_reporter* reporter, net_log_writer** writer_out) {
    const net_log_options defaults = net_log_options_default();
    if (!options) options = &defaults;
    const base_bytes* old = options->before ? &options->before->header : NULL;
    const uint32_t rate = net_match_get_config(match)->tick_rate_hz;
    BASE_ASSERT(match && file);
    BASE_ASSERT((net_match_tick(match) > 0) == (options->is_seen || old) || options->identity);
    *writer_out = NULL;
    net_log_file_config with = net_log_file_config_default(file, rate);
    with.allocator = allocator;
    apply_options(&with, options, rate);
    if (net_match_tick(match) > 0) with.start_tick = net_match_tick(match) - options->is_seen;
    with.identity = old                 ? net_log_reader_info(options->before)->identity
                    : options->identity ? options->identity
                                        : make_identity(match, file, now_unix_ms);
    with.now_unix_ms = now_unix_ms;
    with.has_values = old ? net_log_header_row_code(old->data, old->size) != 0
                          : options->content == NET_LOG_CONTENT_STATE;
    (void)base_text_copy(with.build, sizeof with.build, build ? build : "");
    base_bytes header;
    base_bytes_init(&header, allocator);
    net_result result = write_header(&with, match, &header, &with.has_state);
    if (result == NET_ERR_FULL) {
        base_report(reporter, file, 0, "the game's components do not fit a log's header");
        result = NET_ERR_IO;
    }
    if (result == NET_OK) result = copy_before(&with, reporter);
    net_log_writer* writer = NULL;
    if (result == NET_OK)
        result = net_log_file_create(&with, header.data, header.size, reporter, &writer);
    base_bytes_deinit(&header);
    if (result != NET_OK) {
        char before[4096];
        if (with.place.segment > 0 && net_log_before_name(before, sizeof before, with.file))
            (void)unlink(before);
        return result;
    }
    take_match(writer, match, with.has_state);
    writer->tick = with.start_tick;
    writer->full_ticks = rate * FULL_MS / 1000u;
    if (with.start_tick > 0) offer_keyframe(writer, match);
    *writer_out = writer;
    return NET_OK;
}

static net_log_draft* begin_draft(net_log_writer* writer) {
    net_log_draft* draft = net_log_file_begin(writer);
    if (draft) proto_pb_write_number(&draft->body, 1, writer->tick);
    return draft;
}

// After its end, because nothing waits for it.
static void append_state(void* context, const uint8_t* data, size_t size) {
    net_log_writer* writer = context;
    net_log_draft* draft = net_log_file_takes(writer) ? begin_draft(writer) : NULL;
    if (draft) proto_pb_write_bytes(&draft->body, FIELD_CHANGES, data, size);
    if (draft) net_log_file_end(writer, NET_LOG_KIND_STATE, writer->tick);
    if (!draft || !net_log_file_takes(writer)) net_log_recorder_restart(writer->recorder);
}

static void end_state(net_log_writer* writer) {
    if (writer->recorder) net_log_recorder_end(writer->recorder, append_state, writer);
}

// Append an item to the draft, in a further record of the tick when this one is full. NULL once
// logging stopped.
static net_log_draft* add_item(net_log_writer* writer, net_log_draft* draft,
                               const net_log_item* item) {
    if (!draft || net_log_draft_item(draft, item)) return draft;
    net_log_file_end(writer, NET_LOG_KIND_BEGIN, writer->tick);
    draft = begin_draft(writer);
    if (!draft) return NULL;
    bool has_room = net_log_draft_item(draft, item);
    BASE_ASSERT(has_room);
    return draft;
}

void net_log_append_begin(net_log_writer* writer, const net_tick_inputs* begin) {
    BASE_ASSERT(!writer->is_in_tick && !writer->is_closed && begin->tick == writer->tick + 1);
    end_state(writer);
    writer->tick = begin->tick;
    writer->is_in_tick = true;
    writer->is_controlled = false;
    net_log_draft* draft = begin_draft(writer);
    net_log_item item;
    for (uint32_t position = 0; net_log_begin_next(begin, &position, &item);) {
        if (!writer->has_views) item.seen = 0;
        draft = add_item(writer, draft, &item);
    }
    if (draft) net_log_file_end(writer, NET_LOG_KIND_BEGIN, writer->tick);
}

// Tag and length of each field, and of the record.
static bool fits(const net_match_argument* arguments, uint32_t count) {
    enum { FIELD_BYTES_MAX = 4, HEAD_BYTES_MAX = 64 };
    size_t bytes = HEAD_BYTES_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (arguments[i].size > NET_LOG_RECORD_BYTES_MAX - bytes) return false;
        bytes += arguments[i].size + FIELD_BYTES_MAX;
        if (bytes > NET_LOG_RECORD_BYTES_MAX) return false;
    }
    return true;
}

net_result net_log_append_control(net_log_writer* writer, const char* verb,
                                  const net_match_argument* arguments, uint32_t count) {
    BASE_ASSERT(writer->config.options.has_controls && !writer->is_in_tick && !writer->is_closed);
    BASE_ASSERT(net_log_is_verb(verb, strlen(verb)) && count <= NET_CONTROL_ARGUMENTS_MAX);
    if (!fits(arguments, count)) return NET_ERR_FULL;
    end_state(writer);
    writer->is_controlled = true;
    net_log_draft* draft = net_log_file_begin(writer);
    if (!draft) return NET_OK;
    proto_pb_write_number(&draft->body, 1, writer->tick + 1);
    proto_pb_write_text(&draft->body, 2, verb);
    for (uint32_t i = 0; i < count; i++)
        proto_pb_write_bytes(&draft->body, 3, arguments[i].data, arguments[i].size);
    net_log_file_end(writer, NET_LOG_KIND_CONTROL, writer->tick + 1);
    return NET_OK;
}

static void append_alive(void* context, net_idle reason) {
    net_log_writer* writer = context;
    BASE_ASSERT(reason >= NET_IDLE_WAITING && reason <= NET_IDLE_EMPTY);
    if (writer->is_in_tick || writer->is_closed) return;
    end_state(writer);
    net_log_draft* draft = net_log_file_begin(writer);
    if (!draft) return;
    proto_pb_write_number(&draft->body, 1, writer->tick + 1);
    proto_pb_write_number(&draft->body, 2, (uint64_t)reason);
    net_log_file_end(writer, NET_LOG_KIND_ALIVE, writer->tick + 1);
}

static uint32_t add_server_events(net_log_draft* draft, net_match* match) {
    ecs_changes changes = ecs_changes_get(net_match_world(match));
    const net_game_module* game = net_match_get_config(match)->module->game;
    uint8_t payload[NET_EVENT_PAYLOAD_BYTES_MAX];
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < changes.event_count; i++) {
        const ecs_event* event = &changes.events[i];
        uint32_t message = net_match_message_of(match, event->type);
        if (message == 0 || game->messages[message - 1].kind != NET_MESSAGE_TO_CLIENTS) continue;
        size_t size;
        if (net_match_pack(match, message, event->payload, payload, sizeof payload, &size) !=
            NET_OK)
            continue; // no client got it either
        bool has_room = left_out == 0 &&
                        net_log_draft_item(draft, &(net_log_item){.kind = NET_LOG_ITEM_SERVER_EVENT,
                                                                  .message = message,
                                                                  .target = event->target,
                                                                  .payload = payload,
                                                                  .payload_bytes = (uint32_t)size});
        left_out += !has_room;
    }
    return left_out;
}

static void write_world_hash(net_log_draft* draft, const ecs_world* world) {
    proto_pb_write_fixed64(&draft->body, 3, ecs_world_hash(world));
    proto_pb_write_number(&draft->body, 4, 1);
}

// Is this the first tick behind a keyframe that was due?
static bool is_after_keyframe(const net_log_writer* writer) {
    return writer->config.keyframe_ticks > 0 &&
           (writer->tick - 1) % writer->config.keyframe_ticks == 0;
}

static void append_results(net_log_writer* writer, net_match* match, net_log_draft* draft) {
    const ecs_world* world = net_match_world(match);
    proto_pb_writer* body = &draft->body;
    proto_pb_write_fixed64(body, 2, writer->state_hash);
    if (writer->tick % NET_WORLD_HASH_EVERY_TICKS == 0 && !writer->config.options.is_seen)
        write_world_hash(draft, world);
    const size_t mark = body->size;
    if (is_after_keyframe(writer)) writer->sums.is_known = false; // readers may begin here
    net_log_sums_write(&writer->sums, world, body);
    proto_pb_write_end(body, mark, FIELD_CHANGES);
    body->capacity -= LEFT_OUT_BYTES;
    uint32_t left_out = add_server_events(draft, match);
    body->capacity += LEFT_OUT_BYTES;
    proto_pb_write_number(body, 7, left_out);
    net_log_file_end(writer, NET_LOG_KIND_END, writer->tick);
}

// Readers begin after keyframes and full states. That of a very large world takes longer than a
// tick has, so it comes with segments only.
static bool is_full_due(net_log_writer* writer) {
    const uint64_t segments = net_log_get_counters(writer).segments_closed;
    const bool is_small = net_log_recorder_full_bytes(writer->recorder) <= FULL_BYTES_MAX;
    const bool is_due = (writer->tick - 1) % writer->full_ticks == 0;
    if (!is_after_keyframe(writer)) return is_small && is_due;
    const bool is_segment = segments > writer->segments;
    writer->segments = segments;
    return is_small || is_segment;
}

// `history` NULL: of a log without values.
static void append_rows(void* context, net_match* match, const net_history* history) {
    net_log_writer* writer = context;
    const ecs_world* world = net_match_world(match);
    BASE_ASSERT(writer->is_in_tick && ecs_world_tick(world) == writer->tick);
    BASE_ASSERT(!history || history->tick == writer->tick);
    writer->is_in_tick = false;
    writer->state_hash = ecs_world_state_hash(world);
    bool is_written = net_log_file_takes(writer);
    offer_keyframe(writer, match);
    net_log_draft* draft = begin_draft(writer);
    if (draft) append_results(writer, match, draft);
    if (is_written && draft && writer->recorder && history) {
        if (is_full_due(writer)) net_log_recorder_restart(writer->recorder);
        net_log_recorder_begin(writer->recorder, history);
        return;
    }
    // What is left out is missing in the sums, too.
    writer->sums.is_known = false;
    if (writer->recorder) net_log_recorder_restart(writer->recorder);
}

// The rows of a match that no server replicates.
static const net_history* step_history(net_log_writer* writer, net_match* match) {
    ecs_world* world = net_match_world(match);
    net_rows* rows = net_schema_rows(net_match_schema(match));
    if (!writer->history) {
        net_rows_set_tick_rate(rows, net_match_get_config(match)->tick_rate_hz);
        uint32_t index_max = ecs_world_limits(world)->replicated_index_max;
        writer->history = net_history_create(&writer->owner.allocator, rows, index_max);
        writer->history->workers = net_match_get_config(match)->workers;
    }
    net_history_step(writer->history, world, writer->tick);
    return writer->history;
}

void net_log_append_end(net_log_writer* writer, net_match* match) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    append_rows(writer, match, writer->recorder ? step_history(writer, match) : NULL);
}

static void exchange_match(void* context, net_match* match) {
    net_log_writer* writer = context;
    BASE_ASSERT(!writer->is_in_tick && !writer->is_closed && net_log_file_may_exchange(writer));
    BASE_ASSERT(net_match_tick(match) == writer->tick && writer->tick > 0);
    end_state(writer);
    net_log_recorder_destroy(writer->recorder);
    base_owner_destroy(writer->history);
    writer->recorder = NULL;
    writer->history = NULL;
    base_bytes header;
    bool has_values;
    base_bytes_init(&header, &writer->owner.allocator);
    const net_result result = write_header(&writer->config, match, &header, &has_values);
    take_match(writer, match, result == NET_OK && has_values);
    if (result == NET_OK) net_log_header_reload(&header, net_match_get_config(match)->module);
    if (result == NET_OK) net_log_file_exchange(writer, header.data, header.size);
    base_bytes_deinit(&header);
    if (result == NET_OK) offer_keyframe(writer, match);
    if (result != NET_OK || (writer->is_exchange_due && !writer->is_leaving_out))
        net_log_file_fail(writer, "the log cannot say what the game is after its reload");
}

// A tick that the client never got is as the one before.
static void append_missing(net_log_writer* writer, const net_match* match) {
    static const uint8_t nothing[] = {NET_LOG_FORM_STATE, NET_LOG_STATE_LAST};
    const net_tick_inputs begin = {.tick = writer->tick + 1};
    net_log_append_begin(writer, &begin);
    writer->is_in_tick = false;
    const bool is_written = net_log_file_takes(writer);
    offer_keyframe(writer, match);
    if (!is_written || is_after_keyframe(writer)) net_log_recorder_restart(writer->recorder);
    net_log_draft* draft = is_written ? begin_draft(writer) : NULL;
    if (!draft) return;
    proto_pb_write_fixed64(&draft->body, 2, writer->state_hash);
    const size_t mark = draft->body.size;
    proto_pb_write_varint(&draft->body, 0);
    proto_pb_write_end(&draft->body, mark, FIELD_CHANGES);
    net_log_file_end(writer, NET_LOG_KIND_END, writer->tick);
    append_state(writer, nothing, sizeof nothing);
}

void net_log_append_seen(net_log_writer* writer, net_match* match, const net_log_player* players,
                         uint32_t count) {
    const net_tick_inputs begin = {.tick = net_match_tick(match)};
    BASE_ASSERT(writer->config.options.is_seen && writer->recorder && begin.tick > writer->tick);
    while (writer->tick + 1 < begin.tick)
        append_missing(writer, match);
    net_log_append_begin(writer, &begin);
    net_log_recorder_players(writer->recorder, players, count);
    net_log_append_end(writer, match);
}

static void append_close(net_log_writer* writer, const ecs_world* world) {
    if (writer->is_in_tick || writer->is_closed) return;
    end_state(writer);
    net_log_draft* draft = begin_draft(writer);
    if (!draft) return;
    proto_pb_write_fixed64(&draft->body, 2, writer->state_hash);
    if (world && !writer->is_controlled) write_world_hash(draft, world);
    // A message whose fields are all zero has no bytes; the record around it has two.
    net_log_file_end(writer, NET_LOG_KIND_CLOSE, writer->tick);
    writer->is_closed = true;
}

void net_log_append_close(net_log_writer* writer, net_match* match) {
    BASE_ASSERT(match);
    append_close(writer, net_match_world(match));
}

void net_log_pump(net_log_writer* writer) {
    net_log_file_pump(writer, false);
}

net_result net_log_writer_finish(net_log_writer* writer) {
    append_close(writer, NULL);
    return net_log_file_finish(writer);
}

net_result net_log_writer_destroy(net_log_writer* writer) {
    if (!writer) return NET_OK;
    append_close(writer, NULL);
    net_log_recorder_destroy(writer->recorder);
    base_owner_destroy(writer->history);
    return net_log_file_destroy(writer);
}

// ---- as what observes a server ----

static void append_begin(void* writer, const net_tick_inputs* inputs) {
    net_log_append_begin(writer, inputs);
}

static net_result append_control(void* writer, const char* verb,
                                 const net_match_argument* arguments, uint32_t count) {
    return net_log_append_control(writer, verb, arguments, count);
}

static void save_ring(void* writer, const char* name) {
    (void)!net_log_save(writer, name); // the program says what becomes of it: net_log_take_saved
}

net_observer net_log_observer(net_log_writer* writer) {
    if (!writer) return (net_observer){.context = NULL};
    return (net_observer){.context = writer,
                          .begin = append_begin,
                          .rows = append_rows,
                          .control = append_control,
                          .idle = append_alive,
                          .save = save_ring,
                          .may_exchange = net_log_file_may_exchange,
                          .exchange = exchange_match};
}
