// SPDX-License-Identifier: MIT
// The next tick is one step, a later one many steps, an earlier one a restore and steps. A keyframe
// of the log is taken when it is nearer. When there was no memory for a save, the match is created
// again from the log's header: it is then at tick 0.
//
// Saves are taken on the way, also at ticks that the replay passes again after a jump back. They
// contain the replay, not the log's claims: a run that diverged goes on as it went the first time.
#include "log/playback_run.h"

#include "base/assert.h"
#include "base/search.h"
#include "base/text.h"
#include "ecs/change.h"
#include "ecs/save.h"

#include <inttypes.h>
#include <string.h>

// ---- saves on the way ----

// Ticks of saves are multiples of `every`. So thinning keeps the multiples of twice the distance,
// wherever the replay began, and the same log gives the same saves. The save of tick 0 always
// stays.

void net_playback_saves_init(net_playback_saves* saves, const base_allocator* allocator,
                             ecs_tick every, size_t bytes_max, bool is_near) {
    BASE_ASSERT(every > 0);
    *saves = (net_playback_saves){
        .allocator = allocator, .every = every, .bytes_max = bytes_max, .is_near = is_near};
}

static void release(net_playback_saves* saves, net_playback_save* save) {
    BASE_ASSERT(saves->bytes >= save->size);
    saves->bytes -= save->size;
    base_release(saves->allocator, save->data, save->size);
}

void net_playback_saves_deinit(net_playback_saves* saves) {
    for (uint32_t i = 0; i < saves->count; i++)
        release(saves, &saves->items[i]);
    BASE_ARRAY_RELEASE(saves->allocator, saves->items, saves->capacity);
    *saves = (net_playback_saves){0};
}

// How many are at or before a tick.
static uint32_t count_until(const net_playback_saves* saves, ecs_tick tick) {
    base_search search = base_search_begin(saves->count);
    while (base_search_next(&search))
        base_search_step(&search, saves->items[search.middle].tick <= tick);
    return search.low;
}

const net_playback_save* net_playback_saves_find(const net_playback_saves* saves, ecs_tick tick) {
    uint32_t count = count_until(saves, tick);
    return count > 0 ? &saves->items[count - 1] : NULL;
}

bool net_playback_saves_wants(const net_playback_saves* saves, ecs_tick tick) {
    if (tick % saves->every != 0) return false;
    const net_playback_save* save = net_playback_saves_find(saves, tick);
    return !save || save->tick != tick;
}

static void thin(net_playback_saves* saves) {
    uint32_t kept = 0;
    saves->every *= 2;
    for (uint32_t i = 0; i < saves->count; i++)
        if (saves->items[i].tick % saves->every == 0)
            saves->items[kept++] = saves->items[i];
        else
            release(saves, &saves->items[i]);
    saves->count = kept;
}

static void drop_farthest(net_playback_saves* saves, ecs_tick tick) {
    const net_playback_save* first = &saves->items[0];
    const net_playback_save* last = &saves->items[saves->count - 1];
    bool is_last = last->tick > tick && last->tick - tick > tick - first->tick;
    release(saves, &saves->items[is_last ? saves->count - 1 : 0]);
    saves->count--;
    if (!is_last) memmove(saves->items, saves->items + 1, saves->count * sizeof *saves->items);
}

void net_playback_saves_put(net_playback_saves* saves, ecs_tick tick, const void* data,
                            size_t size) {
    BASE_ASSERT(net_playback_saves_wants(saves, tick));
    while (size > saves->bytes_max - saves->bytes && saves->count > 1) {
        if (saves->is_near)
            drop_farthest(saves, tick);
        else
            thin(saves);
    }
    if (size > saves->bytes_max - saves->bytes || tick % saves->every != 0) return;
    if (!BASE_ARRAY_RESERVE(saves->allocator, saves->items, saves->capacity, saves->count + 1))
        return;
    uint8_t* copy = base_allocate(saves->allocator, size);
    if (!copy) return;
    memcpy(copy, data, size);
    uint32_t place = count_until(saves, tick);
    memmove(saves->items + place + 1, saves->items + place,
            (saves->count - place) * sizeof *saves->items);
    saves->items[place] = (net_playback_save){tick, copy, size};
    saves->count++;
    saves->bytes += size;
}

// ---- the run ----

enum { NEAR_SAVES = 4 };

struct net_playback_run {
    const base_allocator* allocator;
    net_log_reader* reader;
    const net_module* module;
    base_reporter reporter;
    net_log_replay* replay;
    uint32_t match_number;
    ecs_tick last;
    ecs_tick diverged;
    bool is_broken;       // restore or create its replay first
    bool lacks_keyframes; // they are of another build
    bool has_jumped;      // in the last step
    ecs_tick quick_until; // on the way to a tick: no saves and no hashes of the whole world
    net_log_record close; // kind CLOSE: the log's hashes of its last tick
    net_playback_saves saves;
    base_bytes scratch; // a save before it is copied
};

static net_result open_replay(net_playback_run* run, const base_reporter* reporter) {
    net_log_replay_destroy(run->replay);
    run->replay = NULL;
    run->match_number++;
    return net_log_replay_create(run->reader, run->module, reporter, &run->replay);
}

// Without memory for a save it only costs more to go back.
static void save(net_playback_run* run, ecs_tick tick) {
    if (tick < run->quick_until || !net_playback_saves_wants(&run->saves, tick)) return;
    base_bytes_clear(&run->scratch);
    if (net_log_replay_save(run->replay, &run->scratch) == NET_OK)
        net_playback_saves_put(&run->saves, tick, run->scratch.data, run->scratch.size);
}

net_result net_playback_run_create(net_log_reader* reader, const net_module* module,
                                   const base_reporter* reporter, ecs_tick save_every,
                                   size_t save_bytes_max, net_playback_run** run_out) {
    BASE_ASSERT(reader && module && save_every > 0);
    const base_allocator* allocator = net_log_reader_allocator(reader);
    *run_out = NULL;
    net_playback_run* run = base_allocate_zero(allocator, sizeof *run);
    if (!run) return NET_ERR_MEMORY;
    run->allocator = allocator;
    run->reader = reader;
    run->module = module;
    if (reporter) run->reporter = *reporter;
    run->last = net_log_reader_info(reader)->last_tick;
    // Keyframes lead to any place of the log. Then saves are for going back from where it stands.
    bool has_keyframes = net_log_reader_info(reader)->keyframe_count > 0;
    net_playback_saves_init(&run->saves, allocator, save_every, save_bytes_max, has_keyframes);
    base_bytes_init(&run->scratch, allocator);
    net_result result = open_replay(run, reporter);
    if (result != NET_OK) {
        net_playback_run_destroy(run);
        return result;
    }
    save(run, 0);
    *run_out = run;
    return NET_OK;
}

void net_playback_run_destroy(net_playback_run* run) {
    if (!run) return;
    net_log_replay_destroy(run->replay);
    net_playback_saves_deinit(&run->saves);
    base_bytes_deinit(&run->scratch);
    base_release(run->allocator, run, sizeof *run);
}

net_match* net_playback_run_match(net_playback_run* run) {
    return run->replay ? net_log_replay_match(run->replay) : NULL;
}

uint32_t net_playback_run_match_number(const net_playback_run* run) {
    return run->match_number;
}

ecs_tick net_playback_run_tick(const net_playback_run* run) {
    return run->replay ? net_match_tick(net_log_replay_match(run->replay)) : 0;
}

ecs_tick net_playback_run_last(const net_playback_run* run) {
    return run->last;
}

ecs_tick net_playback_run_diverged(const net_playback_run* run) {
    return run->diverged;
}

const net_playback_saves* net_playback_run_saves(const net_playback_run* run) {
    return &run->saves;
}

static void compare(net_playback_run* run, ecs_tick tick, uint64_t state_hash, bool has_world_hash,
                    uint64_t world_hash) {
    const ecs_world* world = net_match_world(net_playback_run_match(run));
    if (run->diverged) return;
    bool is_same = ecs_world_state_hash(world) == state_hash;
    bool is_quick = tick < run->quick_until;
    uint64_t hash = is_same && has_world_hash && !is_quick ? ecs_world_hash(world) : 0;
    if (hash != 0) is_same = hash == world_hash; // 0: no memory to compute it
    if (is_same) return;
    run->diverged = tick;
    base_report(&run->reporter, net_log_reader_file(run->reader), 0,
                "this run differs from the log from tick %" PRIu64 " on", tick);
}

void net_playback_run_expect(net_playback_run* run, const net_log_record* close) {
    BASE_ASSERT(close);
    run->close = *close;
}

net_result net_playback_run_step(net_playback_run* run) {
    ecs_tick before = net_playback_run_tick(run);
    BASE_ASSERT(!run->is_broken && before < run->last);
    net_log_tick tick;
    net_result result = net_log_replay_step(run->replay, &tick);
    // Behind damage the last keyframe may be all that follows.
    if (result == NET_ERR_CLOSED && net_playback_run_tick(run) > before) {
        tick.tick = net_playback_run_tick(run);
        result = NET_OK;
    }
    if (result == NET_ERR_CLOSED)
        result = NET_ERR_DAMAGED; // it has fewer ticks than when it was opened
    if (result != NET_OK) {
        run->is_broken = true; // its world may contain parts of the tick
        run->last = before;
        return result;
    }
    run->has_jumped = tick.lost_last > 0 || tick.tick != before + 1;
    if (tick.has_end)
        compare(run, tick.tick, tick.state_hash, tick.has_world_hash, tick.world_hash);
    const net_log_record* close = &run->close;
    if (close->kind == NET_LOG_KIND_CLOSE && close->tick == tick.tick)
        compare(run, tick.tick, close->state_hash, close->has_world_hash, close->world_hash);
    save(run, tick.tick);
    return NET_OK;
}

static net_result go_back(net_playback_run* run, const net_playback_save* to) {
    run->is_broken = true;
    net_result result = to ? net_log_replay_restore(run->replay, to->data, to->size)
                           : open_replay(run, &run->reporter);
    run->is_broken = result != NET_OK;
    return result;
}

// The newest keyframe at or before a tick.
static ecs_tick keyframe_tick(const net_playback_run* run, ecs_tick tick) {
    uint32_t count;
    const net_log_keyframe* keyframes = net_log_reader_keyframes(run->reader, &count);
    base_search search = base_search_begin(count);
    while (base_search_next(&search))
        base_search_step(&search, keyframes[search.middle].tick <= tick);
    return search.low > 0 ? keyframes[search.low - 1].tick : 0;
}

// Go where a keyframe leads. Without a usable one the run goes on from where it stands.
static net_result jump(net_playback_run* run, ecs_tick tick) {
    net_result result = run->replay ? NET_OK : open_replay(run, &run->reporter);
    run->is_broken = true;
    if (result == NET_OK) result = net_log_replay_seek(run->replay, tick);
    run->is_broken = result != NET_OK;
    // When none is of this build, all would be refused each time.
    run->lacks_keyframes = result == NET_OK && net_playback_run_tick(run) == 0;
    return result;
}

static net_result run_to(net_playback_run* run, ecs_tick tick, bool is_short) {
    BASE_ASSERT(tick <= run->last);
    const net_playback_save* near_ = net_playback_saves_find(&run->saves, tick);
    ecs_tick here = net_playback_run_tick(run);
    bool is_ahead = !run->is_broken && here <= tick;
    ecs_tick best = is_ahead ? here : 0;
    if (near_ && near_->tick > best) best = near_->tick;
    net_result result = NET_OK;
    // A run that differs from the log goes on as it went: a keyframe is of the log's.
    bool has_keyframes = !run->lacks_keyframes && run->diverged == 0;
    if (is_short && has_keyframes && keyframe_tick(run, tick) > best)
        result = jump(run, tick);
    else if (!is_ahead || (is_short && near_ && here < near_->tick))
        result = go_back(run, near_);
    // With keyframes, saves are for going back from that place.
    ecs_tick near_ticks = NEAR_SAVES * run->saves.every;
    run->quick_until = is_short && run->saves.is_near && tick > near_ticks ? tick - near_ticks : 0;
    while (result == NET_OK && net_playback_run_tick(run) < tick)
        result = net_playback_run_step(run);
    run->quick_until = 0;
    return result;
}

net_result net_playback_run_to(net_playback_run* run, ecs_tick tick) {
    return run_to(run, tick, true);
}

net_result net_playback_run_through(net_playback_run* run, ecs_tick tick) {
    return run_to(run, tick, false);
}

bool net_playback_run_has_jumped(const net_playback_run* run) {
    return run->has_jumped;
}

net_result net_playback_run_return(net_playback_run* run) {
    return run->replay && !run->is_broken ? net_log_replay_return(run->replay) : NET_OK;
}

// ---- what the log says in front of its replay ----

// A long log is read in pieces: its first picture does not wait for its last join.
//
// The log is untrusted: a message number may be unknown, and a client whose number does not rise
// gets no name (the replay refuses it later).

static bool add_mark(net_playback_marks_list* list, net_playback_mark mark) {
    if (list->mark_count == NET_PLAYBACK_MARKS_MAX) return true;
    if (!BASE_ARRAY_RESERVE(list->allocator, list->marks, list->mark_capacity,
                            list->mark_count + 1))
        return false;
    list->marks[list->mark_count++] = mark;
    return true;
}

static bool add_name(net_playback_marks_list* list, const net_log_item* item) {
    uint32_t count = list->name_count;
    if (count == NET_PLAYBACK_NAMES_MAX) return true;
    if (count > 0 && item->client <= list->names[count - 1].client) return true;
    if (!BASE_ARRAY_RESERVE(list->allocator, list->names, list->name_capacity, count + 1))
        return false;
    net_playback_name* name = &list->names[list->name_count++];
    name->client = item->client;
    (void)base_text_copy(name->text, sizeof name->text, item->name);
    return true;
}

static bool is_reliable_event(const net_game_module* game, uint32_t message) {
    if (message < 1 || message > game->message_count) return false;
    const net_message* known = &game->messages[message - 1];
    return known->kind == NET_MESSAGE_TO_CLIENTS && known->is_reliable;
}

static bool add_record(net_playback_marks_list* list, const net_game_module* game,
                       const net_log_record* record) {
    size_t offset = 0;
    net_log_item item;
    bool is_kept = true;
    if (record->kind == NET_LOG_KIND_END) {
        while (is_kept && net_log_item_next(record, NET_LOG_ITEM_SERVER_EVENT, &offset, &item)) {
            if (!is_reliable_event(game, item.message)) continue;
            is_kept = add_mark(list, (net_playback_mark){.tick = record->tick,
                                                         .kind = NET_PLAYBACK_EVENT,
                                                         .message = item.message});
        }
        return is_kept;
    }
    if (record->kind != NET_LOG_KIND_BEGIN) return true;
    while (is_kept && net_log_item_next(record, NET_LOG_ITEM_LEAVE, &offset, &item))
        is_kept = add_mark(list, (net_playback_mark){.tick = record->tick,
                                                     .kind = NET_PLAYBACK_LEAVE,
                                                     .client = item.client});
    offset = 0;
    while (is_kept && net_log_item_next(record, NET_LOG_ITEM_JOIN, &offset, &item))
        is_kept =
            add_name(list, &item) && add_mark(list, (net_playback_mark){.tick = record->tick,
                                                                        .kind = NET_PLAYBACK_JOIN,
                                                                        .client = item.client});
    return is_kept;
}

void net_playback_marks_init(net_playback_marks_list* list, const base_allocator* allocator,
                             net_log_reader* reader) {
    *list =
        (net_playback_marks_list){.allocator = allocator, .cursor = net_log_cursor_begin(reader)};
}

net_result net_playback_marks_read(net_playback_marks_list* list, net_log_reader* reader,
                                   const net_game_module* game, uint64_t blocks) {
    BASE_ASSERT(list && reader && game);
    ecs_tick last = net_log_reader_info(reader)->last_tick;
    net_log_cursor* cursor = &list->cursor;
    uint64_t limit = cursor->blocks + blocks;
    net_log_record record;
    if (list->is_whole || !net_log_cursor_return(reader, cursor))
        return list->is_whole ? NET_OK : NET_ERR_DAMAGED;
    // A piece ends behind the last record of a block.
    while (cursor->blocks < limit || cursor->at < cursor->size) {
        bool is_there = net_log_cursor_next(reader, cursor, &record);
        bool is_over = is_there && record.kind != NET_LOG_KIND_OTHER && record.tick > last;
        list->is_whole = !is_there || is_over;
        if (list->is_whole) break;
        if (!add_record(list, game, &record)) return NET_ERR_MEMORY;
    }
    return cursor->has_failed ? NET_ERR_DAMAGED : NET_OK;
}

void net_playback_marks_deinit(net_playback_marks_list* list) {
    BASE_ARRAY_RELEASE(list->allocator, list->marks, list->mark_capacity);
    BASE_ARRAY_RELEASE(list->allocator, list->names, list->name_capacity);
    *list = (net_playback_marks_list){0};
}

const char* net_playback_marks_name(const net_playback_marks_list* list, uint32_t client) {
    base_search search = base_search_begin(list->name_count);
    while (base_search_next(&search))
        base_search_step(&search, list->names[search.middle].client < client);
    if (search.low == list->name_count) return NULL;
    const net_playback_name* name = &list->names[search.low];
    return name->client == client ? name->text : NULL;
}
