// SPDX-License-Identifier: MIT
// The match of a seed: bots on bad lines, one of whom comes late, and one of whom leaves.
#include "referee.h"

#include "base/hash.h"
#include "base/text.h"
#include "net/log.h"
#include "check/sim_match.h"

#include <inttypes.h>
#include <stdio.h>

#define CLIENTS_MAX 6u
#define SETTLE_STEPS_MAX 3000u
#define LONG_SEED 1u
#define LONG_TICKS 660u ///< of the long seed: a keyframe is in its log
#define CROWD_SEEDS 5u  ///< every fifth seed of arena has the game's own number of entities
#define LOG_UNIX_MS UINT64_C(1700000000000)

typedef struct draw {
    ecs_tick ticks;
    ecs_tick late_tick,
        leave_tick; ///< of the last client's join, of the first one's leave; 0: none
    uint32_t clients;
    net_link_pair line;
} draw;

typedef struct play {
    referee* referee;
    draw draw;
    net_match* match;
    net_log_writer* log;
    net_sim_match* sim;
    ecs_tick tick;                 ///< newest that is in `states`
    uint64_t states;               ///< of every tick
    uint64_t mirrors[CLIENTS_MAX]; ///< of each state that a client had, by its number
    uint64_t seen[CLIENTS_MAX];    ///< the last of these
} play;

static net_link_config draw_line(base_rng* rng) {
    net_link_config line = {
        .loss_percent = base_rng_below(rng, 21),
        .delay_ms = 5 + base_rng_below(rng, 60),
        .jitter_ms = base_rng_below(rng, 25),
        .duplicate_percent = base_rng_below(rng, 4),
        .reorder_percent = base_rng_below(rng, 4),
        .seed = base_rng_u64(rng),
    };
    if (base_rng_below(rng, 4) == 0) line.burst_ms = 20 + base_rng_below(rng, 100);
    return line;
}

static draw draw_match(uint64_t seed) {
    base_rng rng = base_rng_make(seed, 1);
    draw made = {.ticks = 90 + base_rng_below(&rng, 90)};
    made.clients = 2 + base_rng_below(&rng, CLIENTS_MAX - 2);
    made.late_tick = 1 + base_rng_below(&rng, 60);
    if (base_rng_below(&rng, 2) == 0) made.leave_tick = 40 + base_rng_below(&rng, 40);
    made.line.up = draw_line(&rng);
    made.line.down = draw_line(&rng);
    if (seed == LONG_SEED) made.ticks = LONG_TICKS;
    return made;
}

static net_result join(play* self, uint32_t client) {
    char name[NET_PLAYER_NAME_BYTES_MAX];
    base_text_format(name, sizeof name, "bot %" PRIu32, client);
    return net_sim_match_join(self->sim,
                              &(net_game_player){.client = client, .name = name, .is_bot = true});
}

// Small worlds but for every fifth seed of arena, which has more to send than fits.
static net_result apply_settings(const referee* of, net_match_config* config) {
    static const char* const settings[][2] = {{"arena", "agents=250"},
                                              {"arena", "round_s=5"},
                                              {"arena", "damage=3"},
                                              {"cubes", "cubes=400"}};
    net_result result = NET_OK;
    for (size_t i = 0; i < BASE_COUNT(settings) && result == NET_OK; i++) {
        if (strcmp(settings[i][0], of->module->game->name) != 0) continue;
        if (i == 0 && of->seed % CROWD_SEEDS == 0) continue;
        result = net_match_setting_apply(config, settings[i][1], &of->reporter);
    }
    return result;
}

static net_result open_play(play* self) {
    referee* of = self->referee;
    net_match_config config = net_match_config_default(of->module);
    config.role = NET_ROLE_SERVER;
    config.seed = of->seed;
    net_result result = apply_settings(of, &config);
    if (result == NET_OK) result = net_match_create(&config, &of->reporter, &self->match);
    if (result == NET_OK)
        result = net_log_writer_create(NULL, of->log, NULL, self->match, "referee", LOG_UNIX_MS,
                                       &of->reporter, &self->log);
    const net_sim_match_config sim = {.module = of->module,
                                      .match = self->match,
                                      .observer = net_log_observer(self->log),
                                      .clients_max = CLIENTS_MAX,
                                      .ticks_max = self->draw.ticks,
                                      .link = self->draw.line,
                                      .reporter = &of->reporter};
    if (result == NET_OK) result = net_sim_match_create(&sim, &self->sim);
    for (uint32_t i = 1; i < self->draw.clients && result == NET_OK; i++)
        result = join(self, i);
    return result;
}

static net_result close_play(play* self) {
    net_sim_match_destroy(self->sim);
    net_result result = self->log ? net_log_writer_destroy(self->log) : NET_OK;
    net_match_destroy(self->match);
    return result;
}

// A state counts once, however long a client has it: how many steps pass until all is acknowledged
// is no fact of worlds.
static void add_mirrors(play* self) {
    for (uint32_t client = 1; client <= self->draw.clients; client++) {
        net_match* mirror = net_sim_match_mirror(self->sim, client);
        if (!mirror) continue;
        net_world_digest digest =
            net_world_digest_walk(net_match_schema(mirror), net_match_world(mirror), NULL, NULL);
        ecs_tick tick = net_sim_match_mirror_tick(self->sim, client);
        uint64_t seen = base_hash64_mix(tick, digest.hash);
        if (self->seen[client - 1] == seen) continue;
        self->seen[client - 1] = seen;
        self->mirrors[client - 1] = base_hash64_mix(self->mirrors[client - 1], seen);
        if (self->referee->is_traced)
            printf("  client=%" PRIu32 " has=%" PRIu64 " digest=%016" PRIx64 "\n", client, tick,
                   digest.hash);
    }
}

static void add_state(play* self) {
    ecs_tick tick = net_match_tick(self->match);
    if (tick == self->tick) return;
    uint64_t hash = ecs_world_state_hash(net_match_world(self->match));
    self->tick = tick;
    self->states = base_hash64_mix(self->states, hash);
    if (self->referee->is_traced)
        printf("tick=%" PRIu64 " state=%016" PRIx64 " datagrams=%016" PRIx64 "\n", tick, hash,
               net_sim_match_get_sent(self->sim).hash);
}

static net_result play_ticks(play* self) {
    const net_server* server = net_sim_match_server(self->sim);
    net_result result = NET_OK;
    for (uint64_t i = 1; i < self->draw.ticks + SETTLE_STEPS_MAX && result == NET_OK; i++) {
        if (net_server_get_phase(server) == NET_SERVER_ENDED) break;
        if (i == self->draw.late_tick) result = join(self, self->draw.clients);
        if (i == self->draw.leave_tick) net_sim_match_leave(self->sim, 1);
        net_sim_match_step(self->sim);
        net_log_wait_room(self->log);
        add_state(self);
        add_mirrors(self);
    }
    return result;
}

static void say_facts(play* self) {
    referee* of = self->referee;
    const net_server* server = net_sim_match_server(self->sim);
    referee_say(of, REFEREE_WORLDS,
                "game=%s seed=%" PRIu64 " ticks=%" PRIu64 " entities=%" PRIu32 " states=%016" PRIx64
                " phase=%d failed=%d clients=%" PRIu32,
                of->module->game->name, of->seed, net_match_tick(self->match),
                net_sim_match_entities(self->sim), self->states, net_server_get_phase(server),
                net_server_has_failed(server), self->draw.clients);
    for (uint32_t i = 0; i < net_server_report_count(server); i++) {
        const net_peer_report* report = net_server_report(server, i);
        referee_say(of, REFEREE_WORLDS, " %" PRIu32 ":%s,%" PRIu64 ",%016" PRIx64, report->client,
                    net_end_name(report->end), report->tick, self->mirrors[report->client - 1]);
    }
    referee_say(of, REFEREE_WORLDS, "\n");
    const net_sim_match_sent sent = net_sim_match_get_sent(self->sim);
    referee_say(of, REFEREE_DATAGRAMS,
                "game=%s seed=%" PRIu64 " datagrams=%" PRIu64 " bytes=%" PRIu64 " lost=%" PRIu64
                " hash=%016" PRIx64 "\n",
                of->module->game->name, of->seed, sent.datagrams, sent.bytes, sent.lost, sent.hash);
}

net_result referee_play(referee* self) {
    play made = {.referee = self, .draw = draw_match(self->seed)};
    net_result result = open_play(&made);
    if (result == NET_OK) result = play_ticks(&made);
    if (result == NET_OK) say_facts(&made);
    net_result closed = close_play(&made);
    return result == NET_OK ? closed : result;
}
