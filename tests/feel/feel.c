// SPDX-License-Identifier: MIT
// How a match feels on a bad line, measured in virtual time, frame by frame: breakout, a scripted
// player who predicts, a watcher who only interpolates, a bot who keeps the ball in play. It prints
// a table, and checks counters that must hold in every row of it. Read run() first.
//
//   feel BREAKOUT.blk [--seconds S] [--seed N] [--frame-hz F]
//                                       the table: round trips by losses
//   feel BREAKOUT.blk --hours H         one long match with clocks 200 ppm apart
//
// Everything follows from the seed. The clock advances in steps of a millisecond. The server ticks
// by its own clock, each client by its own (which may run fast), and frames are drawn at frame_hz.
// After each frame the shown positions are compared with those of the server at the shown moment.
// Between the server's ticks they lie on a straight line. Pixels are those of a window 960 wide:
// 1.25 units of the field each.
#include "text_file.h"
#include "tool_options.h"

#include "base/math.h"
#include "breakout.h"
#include "net/client.h"
#include "net/transport.h"
#include "net/match.h"
#include "net/server.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FEEL_UNITS_PER_PIXEL 1.25
#define FEEL_JUMP_PX 8.0

typedef struct feel_config {
    uint64_t seed;
    double rtt_ms; // both ways together, without jitter
    double loss_percent;
    double jitter_ms; // each way
    double frame_hz;
    double seconds;
    double clock_ppm; // how much faster the clients' clocks run than the server's
    const char* blk;  // path of the game's templates
} feel_config;

// Of one kind of thing that is shown, against where the server had it at the shown moment.
typedef struct feel_path {
    uint64_t frames;
    double rms_px, max_px;
    uint32_t jumps; // from one frame to the next, by more than FEEL_JUMP_PX beyond its own movement
    // Jumps longer than any movement, without a gap and without a jump of the server.
    uint32_t unexplained;
} feel_path;

typedef struct feel_result {
    bool is_played; // all clients joined and stayed
    uint32_t presses;
    double delay_frames_mean; // from a press to the first frame in which the pad moves
    uint32_t delay_frames_max;
    double corrections_per_minute; // corrections of more than a pixel
    double correction_px_max;
    feel_path ball, pad; // as the watcher sees them
    uint64_t stalls, stalled_ms, teleports;
    double view_delay_ms, lead_ms;
    uint64_t inputs, inputs_missing, inputs_late, inputs_repeated;
    double depth_mean;
    uint32_t depth_max;
    // Spread of the difference between the player's ticks and the server's, after the first
    // seconds.
    double drift_ticks;
} feel_result;

#define STEP_US 1000u
#define TICK_HZ 60.0
#define PATHS_MAX 64u
#define PATH_TICKS 512u
#define WARM_US UINT64_C(5000000)
#define TELEPORT 100.0    ///< per tick, as breakout.blk declares for balls
#define SMOOTH_FRAMES 15u ///< a jump so long after the last gap is a fault

// The positions of an entity on the server in the last PATH_TICKS ticks.
typedef struct path {
    ecs_entity entity;
    ecs_tick first, last;
    float x[PATH_TICKS], y[PATH_TICKS];
} path;

// One entity as a watcher sees it.
typedef struct glimpse {
    ecs_entity entity;
    bool is_seen;
    double tick, x, y;
} glimpse;

typedef struct sum {
    uint64_t count;
    double squares, max;
    uint32_t jumps, unexplained;
} sum;

// The ops of a client's transport. The network has one clock for all and does not see the client's.
typedef struct wire {
    net_transport_ops ops; // first
    const net_transport_ops* inner;
    const uint64_t* now_us;
} wire;

typedef struct member {
    net_match* match;
    net_transport* transport;
    wire wire;
    net_presenter* presenter;
    net_client* client;
    uint64_t ticks;
} member;

enum { PLAYER, WATCHER, BOT, MEMBERS };

typedef struct feel {
    feel_config config;
    feel_result result;
    net_module* module;
    net_match* match;
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    member members[MEMBERS];
    uint64_t now_us;
    path paths[PATHS_MAX];
    glimpse glimpses[PATHS_MAX];
    sum ball, pad;
    base_rng rng;
    int direction; // of the script: -1, 0, 1
    uint64_t turn_us;
    bool is_waiting; // the shown pad has not followed yet
    uint32_t waited_frames;
    uint64_t delay_frames;
    double pad_x;
    bool has_pad_x;
    uint64_t depth_sum, depth_count;
    double offset_min, offset_max;
    bool has_offset;
    uint64_t gaps;          // samples of the watcher that ran out or arrived too late
    uint32_t smooth_frames; // since the last gap
} feel;

// A client's clock may run fast.
static uint64_t client_us(const feel* self) {
    return (uint64_t)((double)self->now_us * (1.0 + self->config.clock_ppm * 1e-6));
}

// ---- the network's clock ----

static void wire_service(net_transport* transport, uint64_t now_us) {
    const wire* self = (const wire*)transport->ops;
    (void)now_us;
    self->inner->service(transport, *self->now_us);
}

// ---- the script ----

// Left, right, no key: each for a while, as a person plays.
static void run_script(feel* self) {
    if (self->now_us < self->turn_us) return;
    static const int next[3][2] = {{0, 1}, {-1, 1}, {-1, 0}};
    self->direction = next[self->direction + 1][base_rng_below(&self->rng, 2)];
    self->turn_us = self->now_us + 250000 + base_rng_below(&self->rng, 500000);
    // A pad at the wall cannot move; the script does not press then.
    bool is_free = self->has_pad_x && ((self->direction < 0 && self->pad_x > 200.0) ||
                                       (self->direction > 0 && self->pad_x < 800.0));
    self->is_waiting = self->direction != 0 && is_free && self->now_us > WARM_US;
    self->waited_frames = 0;
}

static void make_input(void* context, const net_player_context* player, void* input) {
    feel* self = context;
    bool held[BREAKOUT_ACTION_COUNT] = {0};
    bool pressed[BREAKOUT_ACTION_COUNT] = {0};
    held[BREAKOUT_ACTION_LEFT] = self->direction < 0;
    held[BREAKOUT_ACTION_RIGHT] = self->direction > 0;
    const net_controls controls = {
        .size_bytes = sizeof controls,
        .actions = held,
        .action_count = BREAKOUT_ACTION_COUNT,
        .pressed = pressed,
    };
    self->module->game->human_input(player, &controls, input);
}

// ---- opening ----

static bool open_server(feel* self) {
    base_reporter reporter = base_reporter_stderr();
    char* text = text_file_read(self->config.blk);
    BASE_ASSERT(text);
    net_result result =
        net_module_wrap(breakout_module(), text, "breakout.blk", &reporter, &self->module);
    free(text);
    if (result != NET_OK) return false;
    net_match_config config = net_match_config_default(self->module);
    config.role = NET_ROLE_SERVER;
    config.seed = self->config.seed;
    config.settings[BREAKOUT_SETTING_LIVES] = 99.0;
    if (net_match_create(&config, &reporter, &self->match) != NET_OK) return false;
    self->sim = net_sim_create(NULL, self->config.seed);
    if (net_sim_server(self->sim, MEMBERS + 2, &self->transport) != NET_OK) return false;
    net_server_config server = {
        .match = self->match,
        .transport = self->transport,
        .clients_max = MEMBERS,
    };
    return net_server_create(&server, &self->server) == NET_OK;
}

static bool open_member(feel* self, uint32_t index) {
    member* one = &self->members[index];
    base_reporter reporter = base_reporter_stderr();
    net_match_config config = net_match_config_default(self->module);
    config.role = NET_ROLE_MIRROR;
    if (net_match_create(&config, &reporter, &one->match) != NET_OK) return false;
    const net_link_config link = {
        .loss_percent = self->config.loss_percent,
        .delay_ms = self->config.rtt_ms / 2.0,
        .jitter_ms = self->config.jitter_ms,
        .seed = self->config.seed * 10 + index,
    };
    one->transport = net_sim_client(self->sim, &link);
    one->wire = (wire){*one->transport->ops, one->transport->ops, &self->now_us};
    one->wire.ops.service = wire_service;
    one->transport->ops = &one->wire.ops;
    if (index != BOT) {
        const net_presenter_config presenter = {.module = self->module,
                                                .is_predicting = index == PLAYER};
        if (net_presenter_create(&presenter, &reporter, &one->presenter) != NET_OK) return false;
    }
    static const char* const names[MEMBERS] = {"player", "watcher", "bot"};
    const net_client_config client = {
        .match = one->match,
        .transport = one->transport,
        .address = "sim",
        .name = names[index],
        .is_bot = index != PLAYER,
        .seed = self->config.seed + index,
        .input = index == PLAYER ? make_input : NULL,
        .input_context = self,
        .presenter = one->presenter,
    };
    one->client = net_client_create(&client);
    return true;
}

static void close_all(feel* self) {
    for (uint32_t i = 0; i < MEMBERS; i++) {
        member* one = &self->members[i];
        if (one->client) net_client_destroy(one->client);
        if (one->presenter) net_presenter_destroy(one->presenter);
        if (one->transport) one->transport->ops->destroy(one->transport);
        if (one->match) net_match_destroy(one->match);
    }
    if (self->server) net_server_destroy(self->server);
    if (self->transport) self->transport->ops->destroy(self->transport);
    if (self->sim) net_sim_destroy(self->sim);
    if (self->match) net_match_destroy(self->match);
    if (self->module) net_module_close(self->module);
}

// ---- the server's paths ----

static path* find_path(feel* self, ecs_entity entity) {
    for (uint32_t i = 0; i < PATHS_MAX; i++)
        if (self->paths[i].entity == entity) return &self->paths[i];
    return NULL;
}

static path* make_path(feel* self, ecs_entity entity, ecs_tick tick) {
    path* oldest = &self->paths[0];
    for (uint32_t i = 0; i < PATHS_MAX; i++)
        if (self->paths[i].last < oldest->last) oldest = &self->paths[i];
    oldest->entity = entity;
    oldest->first = tick;
    return oldest;
}

// There are few balls, created and destroyed; the pad is the player's.
static void record(feel* self, ecs_entity entity, ecs_vec2 pos) {
    ecs_tick tick = net_match_tick(self->match);
    path* one = find_path(self, entity);
    if (!one) one = make_path(self, entity, tick);
    one->x[tick % PATH_TICKS] = pos.x;
    one->y[tick % PATH_TICKS] = pos.y;
    one->last = tick;
}

static void record_paths(feel* self) {
    ecs_world* world = net_match_world(self->match);
    const breakout_game* game = net_match_context(self->match);
    ecs_query_iter it = ecs_query_begin(world, game->balls);
    while (ecs_query_next(&it)) {
        const ecs_vec2* positions = it.rows.columns[0];
        for (uint32_t i = 0; i < it.rows.count; i++)
            record(self, it.rows.entities[i], positions[i]);
    }
    ecs_entity player = net_client_player(self->members[PLAYER].client);
    const ecs_vec2* pos = ecs_find(world, player, game->pos);
    if (pos) record(self, player, *pos);
}

// Get the server's position at a moment between its ticks. @return false: it is unknown.
static bool place_at(const path* one, double tick, double* x, double* y) {
    ecs_tick low = (ecs_tick)tick;
    double part = tick - (double)low;
    if (low < one->first || low + 1 > one->last || one->last - low >= PATH_TICKS) return false;
    uint32_t a = (uint32_t)(low % PATH_TICKS), b = (uint32_t)((low + 1) % PATH_TICKS);
    // A jump of the server is a jump here too: the older position counts until the next tick.
    if (hypot((double)(one->x[b] - one->x[a]), (double)(one->y[b] - one->y[a])) > TELEPORT)
        part = 0.0;
    *x = (double)one->x[a] + ((double)one->x[b] - (double)one->x[a]) * part;
    *y = (double)one->y[a] + ((double)one->y[b] - (double)one->y[a]) * part;
    return true;
}

// Check whether the server's path jumped within the last second. After a lost jump, a resting
// entity is shown at the old position until the server learns of the loss.
static bool has_jumped(const path* one, double tick) {
    for (ecs_tick at = (ecs_tick)tick; at > one->first && (ecs_tick)tick - at < 60; at--) {
        if (one->last - at >= PATH_TICKS) return false;
        uint32_t a = (uint32_t)((at - 1) % PATH_TICKS), b = (uint32_t)(at % PATH_TICKS);
        double way = hypot((double)(one->x[b] - one->x[a]), (double)(one->y[b] - one->y[a]));
        if (way > TELEPORT) return true;
    }
    return false;
}

// ---- the shown frame ----

static void look_at(feel* self, const net_presenter* presenter, ecs_entity entity, ecs_vec2 pos,
                    sum* target) {
    double tick = net_presenter_tick(presenter);
    const path* one = find_path(self, entity);
    if (!one) return;
    uint32_t index = (uint32_t)(one - self->paths);
    glimpse* before = &self->glimpses[index];
    double x, y;
    bool is_known = place_at(one, tick, &x, &y);
    if (is_known) {
        double error = hypot((double)pos.x - x, (double)pos.y - y) / FEEL_UNITS_PER_PIXEL;
        target->count++;
        target->squares += error * error;
        if (error > target->max) target->max = error;
    }
    double old_x, old_y;
    if (is_known && before->is_seen && before->entity == entity &&
        place_at(one, before->tick, &old_x, &old_y)) {
        double moved = hypot((double)pos.x - before->x, (double)pos.y - before->y);
        double owed = hypot(x - old_x, y - old_y);
        if ((moved - owed) / FEEL_UNITS_PER_PIXEL > FEEL_JUMP_PX) {
            target->jumps++;
            bool is_excused = moved - owed <= TELEPORT || self->smooth_frames <= SMOOTH_FRAMES ||
                              has_jumped(one, tick);
            target->unexplained += !is_excused;
        }
    }
    *before = (glimpse){entity, is_known, tick, (double)pos.x, (double)pos.y};
}

static void look(feel* self) {
    member* watcher = &self->members[WATCHER];
    if (!net_presenter_frame(watcher->presenter, client_us(self))) return;
    net_presenter_meter meter;
    net_presenter_get_meter(watcher->presenter, &meter);
    uint64_t gaps = meter.stalls + meter.samples_late + meter.stalled_ms;
    self->smooth_frames = gaps == self->gaps ? self->smooth_frames + 1 : 0;
    self->gaps = gaps;
    if (self->now_us < WARM_US) return;
    net_match* view = net_presenter_match(watcher->presenter);
    ecs_world* world = net_match_world(view);
    const breakout_game* game = net_match_context(view);
    ecs_query_iter it = ecs_query_begin(world, game->balls);
    while (ecs_query_next(&it)) {
        const ecs_vec2* positions = it.rows.columns[0];
        for (uint32_t i = 0; i < it.rows.count; i++)
            look_at(self, watcher->presenter, it.rows.entities[i], positions[i], &self->ball);
    }
    ecs_entity player = net_client_player(self->members[PLAYER].client);
    const ecs_vec2* pos = ecs_find(world, player, game->pos);
    if (pos) look_at(self, watcher->presenter, player, *pos, &self->pad);
}

// Check whether the own pad follows the key in this frame.
static void feel_pad(feel* self) {
    member* player = &self->members[PLAYER];
    if (!net_presenter_frame(player->presenter, client_us(self))) return;
    net_match* view = net_presenter_match(player->presenter);
    const breakout_game* game = net_match_context(view);
    const ecs_vec2* pos =
        ecs_find(net_match_world(view), net_client_player(player->client), game->pos);
    if (!pos) return;
    double moved = self->has_pad_x ? (double)pos->x - self->pad_x : 0.0;
    self->pad_x = (double)pos->x;
    self->has_pad_x = true;
    if (!self->is_waiting) return;
    self->waited_frames++;
    if (moved * self->direction <= 0.25 && self->waited_frames < 60) return;
    self->is_waiting = false;
    self->result.presses++;
    self->delay_frames += self->waited_frames;
    if (self->waited_frames > self->result.delay_frames_max)
        self->result.delay_frames_max = self->waited_frames;
}

// ---- the clock ----

// `early_us`: a tick that is nearly due runs before the frame, as in the window program, so that
// the frame shows it.
static void step_member(feel* self, uint32_t index, uint64_t early_us) {
    member* one = &self->members[index];
    uint64_t now_us = client_us(self);
    net_client_service(one->client, now_us);
    if (net_client_get_phase(one->client) != NET_CLIENT_PLAYING) return;
    if (now_us + early_us < net_client_next_tick_us(one->client)) return;
    net_client_tick(one->client, now_us);
    one->ticks++;
    if (index != PLAYER || self->now_us < WARM_US) return;
    net_client_meter meter;
    net_client_get_meter(one->client, &meter);
    self->depth_sum += meter.input_depth;
    self->depth_count++;
    if (meter.input_depth > self->result.depth_max) self->result.depth_max = meter.input_depth;
    double offset = (double)one->ticks - (double)net_match_tick(self->match);
    if (!self->has_offset) self->offset_min = self->offset_max = offset;
    self->has_offset = true;
    self->offset_min = fmin(self->offset_min, offset);
    self->offset_max = fmax(self->offset_max, offset);
}

static feel_path finish_path(const sum* from) {
    return (feel_path){
        .frames = from->count,
        .rms_px = from->count ? sqrt(from->squares / (double)from->count) : 0.0,
        .max_px = from->max,
        .jumps = from->jumps,
        .unexplained = from->unexplained,
    };
}

// The server reports its counters when a session ends.
static void leave_all(feel* self) {
    for (uint32_t i = 0; i < MEMBERS; i++)
        net_client_leave(self->members[i].client, client_us(self));
    for (uint32_t step = 0; step < 3000; step++) {
        self->now_us += STEP_US;
        net_server_service(self->server, self->now_us);
        for (uint32_t i = 0; i < MEMBERS; i++)
            net_client_service(self->members[i].client, client_us(self));
        if (step % 16 == 0) net_server_tick(self->server, self->now_us);
    }
}

static void finish(feel* self) {
    feel_result* result = &self->result;
    double minutes = self->config.seconds / 60.0;
    net_presenter_meter seen, felt;
    net_presenter_get_meter(self->members[WATCHER].presenter, &seen);
    net_presenter_get_meter(self->members[PLAYER].presenter, &felt);
    result->delay_frames_mean =
        result->presses ? (double)self->delay_frames / (double)result->presses : 0.0;
    result->corrections_per_minute = (double)felt.corrections_seen / minutes;
    result->correction_px_max = felt.correction_max / FEEL_UNITS_PER_PIXEL;
    result->ball = finish_path(&self->ball);
    result->pad = finish_path(&self->pad);
    result->stalls = seen.stalls;
    result->stalled_ms = seen.stalled_ms;
    result->teleports = seen.teleports;
    result->view_delay_ms = seen.delay_ms;
    result->lead_ms = felt.lead_ms;
    result->depth_mean =
        self->depth_count ? (double)self->depth_sum / (double)self->depth_count : 0.0;
    result->drift_ticks = self->offset_max - self->offset_min;
    result->is_played = true;
    for (uint32_t i = 0; i < MEMBERS; i++)
        result->is_played &= net_client_get_phase(self->members[i].client) == NET_CLIENT_PLAYING;
    leave_all(self);
    for (uint32_t i = 0; i < net_server_report_count(self->server); i++) {
        const net_peer_report* report = net_server_report(self->server, i);
        if (report->client != 1) continue;
        result->inputs = report->inputs_received;
        result->inputs_late = report->inputs_late;
        result->inputs_repeated = report->inputs_repeated;
        result->inputs_missing = report->inputs_missing;
    }
}

static feel_result run(const feel_config* config) {
    feel* self = calloc(1, sizeof *self);
    BASE_ASSERT(self);
    self->config = *config;
    self->rng = base_rng_make(config->seed, 3);
    bool is_open = open_server(self);
    for (uint32_t i = 0; is_open && i < MEMBERS; i++)
        is_open = open_member(self, i);
    uint64_t end_us = (uint64_t)(config->seconds * 1e6);
    double next_tick_us = 0.0, next_frame_us = 0.0;
    self->now_us = STEP_US;
    for (; is_open && self->now_us < end_us; self->now_us += STEP_US) {
        net_server_service(self->server, self->now_us);
        if ((double)self->now_us >= next_tick_us) {
            next_tick_us += 1e6 / TICK_HZ;
            net_server_tick(self->server, self->now_us);
            record_paths(self);
        }
        run_script(self);
        for (uint32_t i = 0; i < MEMBERS; i++)
            step_member(self, i, 0);
        if ((double)self->now_us < next_frame_us) continue;
        next_frame_us += 1e6 / config->frame_hz;
        step_member(self, PLAYER, (uint64_t)(5e5 / fmax(config->frame_hz, TICK_HZ)));
        feel_pad(self);
        look(self);
    }
    if (is_open) finish(self);
    close_all(self);
    feel_result result = self->result;
    free(self);
    return result;
}

// ---- the program ----

typedef struct feel_options {
    double seconds, frame_hz, hours, jitter_ms;
    uint64_t seed;
} feel_options;

static void print_head(const feel_config* config) {
    printf("seed=%" PRIu64 " jitter_ms=%g frame_hz=%g seconds=%g; pixels of a window 960 wide\n",
           config->seed, config->jitter_ms, config->frame_hz, config->seconds);
    printf(" rtt loss | own pad: frames corrections  max | ball shown: rms   max jumps | pad: rms  "
           " max"
           " jumps | stalls    ms  delay  lead | inputs  missing late repeats depth drift\n"
           "  ms    %% |    mean max   >1px/min   px |          px    px       |       px    px"
           "       |              ms    ms |                             mean ticks\n");
}

static void print_row(const feel_config* config, const feel_result* r) {
    printf("%4.0f %4.0f |    %4.2f %3" PRIu32 "     %6.2f %5.1f |       %5.2f %5.1f %5" PRIu32
           " |    %5.2f %5.1f %5" PRIu32 " | %6" PRIu64 " %5" PRIu64 " %6.1f %5.1f | %6" PRIu64
           " %8" PRIu64 " %4" PRIu64 " %7" PRIu64 " %5.2f %5.1f\n",
           config->rtt_ms, config->loss_percent, r->delay_frames_mean, r->delay_frames_max,
           r->corrections_per_minute, r->correction_px_max, r->ball.rms_px, r->ball.max_px,
           r->ball.jumps, r->pad.rms_px, r->pad.max_px, r->pad.jumps, r->stalls, r->stalled_ms,
           r->view_delay_ms, r->lead_ms, r->inputs, r->inputs_missing, r->inputs_late,
           r->inputs_repeated, r->depth_mean, r->drift_ticks);
}

static bool expect(bool is_so, const feel_config* config, const char* what) {
    if (!is_so) {
        printf("FAILED: rtt %g loss %g seed %" PRIu64 ": %s\n", config->rtt_ms,
               config->loss_percent, config->seed, what);
    }
    return is_so;
}

// Only counters are checked. They hold on every machine; timings do not.
static bool check(const feel_config* config, const feel_result* r) {
    bool is_right = expect(r->is_played, config, "a client did not play to the end");
    is_right &= expect(r->presses > 0, config, "the script never pressed a key");
    is_right &= expect(r->inputs_missing == 0, config, "inputs were lost for good");
    is_right &= expect(r->ball.frames > 0 && r->pad.frames > 0, config, "nothing was shown");
    is_right &= expect(r->ball.unexplained == 0 && r->pad.unexplained == 0, config,
                       "something teleported without cause");
    is_right &= expect(r->drift_ticks < 60.0, config, "the clocks drift apart");
    return is_right;
}

static bool run_table(const feel_options* options, const char* blk) {
    static const double rtts_ms[] = {20, 100, 200, 300};
    static const double losses[] = {0, 5, 10};
    bool is_right = true;
    feel_config config = {
        .seed = options->seed,
        .jitter_ms = options->jitter_ms,
        .frame_hz = options->frame_hz,
        .seconds = options->seconds,
        .blk = blk,
    };
    print_head(&config);
    for (uint32_t i = 0; i < BASE_COUNT(rtts_ms); i++) {
        for (uint32_t k = 0; k < BASE_COUNT(losses); k++) {
            config.rtt_ms = rtts_ms[i];
            config.loss_percent = losses[k];
            feel_result result = run(&config);
            print_row(&config, &result);
            fflush(stdout);
            is_right &= check(&config, &result);
        }
    }
    return is_right;
}

static bool run_long(const feel_options* options, const char* blk) {
    const feel_config config = {
        .seed = options->seed,
        .rtt_ms = 100,
        .loss_percent = 5,
        .jitter_ms = options->jitter_ms,
        .frame_hz = options->frame_hz,
        .seconds = options->hours * 3600.0,
        .clock_ppm = 200,
        .blk = blk,
    };
    print_head(&config);
    feel_result result = run(&config);
    print_row(&config, &result);
    return check(&config, &result);
}

#define FIELD(name) BASE_OPTION_FIELD(feel_options, name)

int main(int argc, char** argv) {
    feel_options options = {.seconds = 60, .frame_hz = 60, .jitter_ms = 30, .seed = 1};
    const base_option table[] = {
        {"seconds", FIELD(seconds), "S", "of each match", 0, 0},
        {"frame-hz", FIELD(frame_hz), "F", "frames per second", 0, 0},
        {"jitter", FIELD(jitter_ms), "MS", "each way", 0, 0},
        {"hours", FIELD(hours), "H", "one long match instead", 0, 0},
        {"seed", FIELD(seed), "N", "of match, network and player", 0, 0},
    };
    base_option_list words = {0};
    const tool about = {"feel", "BREAKOUT.blk [options]",
                        "How a match feels on bad lines, in virtual time."};
    const int code = tool_options_read(about, table, &options, argc, argv, &words);
    if (code >= 0) return code;
    if (words.count != 1) return 2;
    bool is_right = options.hours > 0 ? run_long(&options, words.values[0])
                                      : run_table(&options, words.values[0]);
    return is_right ? 0 : 1;
}
