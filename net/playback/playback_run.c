// SPDX-License-Identifier: MIT
// The next tick is one step, a later one many steps, an earlier one a restore and steps. A keyframe
// of the log is taken when it is nearer. When there was no memory for a save, the match is created
// again from the log's header: it is then at tick 0.
//
// Saves are taken on the way, also at ticks that the replay passes again after a jump back. They
// contain the replay, not the log's claims: a run that diverged goes on as it went the first time.
#include "playback/playback_run.h"

#include "base/assert.h"
#include "base/search.h"
#include "ecs/change.h"
#include "ecs/save.h"

#include <inttypes.h>

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
