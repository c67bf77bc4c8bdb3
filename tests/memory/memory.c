// SPDX-License-Identifier: MIT
// memory: a long match in virtual time, its bytes counted by allocator.
//
//   memory BREAKOUT.blk [--minutes M] [--warm W] [--clients N] [--loss P]
//
// After the warm-up, the memory of server and clients may rise only by a fixed slack, however many
// entities were created. Tables with a place per index double until indices are used again. They
// double for the last time, for the indices above 2,048, in the warm-up.
#include "scarce.h"
#include "text_file.h"

#include "base/assert.h"
#include "base/options.h"
#include "breakout.h"
#include "ecs/ecs.h"
#include "net/client.h"
#include "net/transport.h"
#include "net/match.h"
#include "net/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TICK_US 16667u
#define TICKS_PER_MINUTE 3600u
#define CLIENTS_MAX 16u
#define INDEX_MAX 65535u
#define SLACK_BYTES 131072 ///< peaks may be a little higher than those of the warm-up

typedef struct member {
    net_match* match;
    net_transport* transport;
    net_presenter* presenter;
    net_client* client;
} member;

typedef struct memory {
    uint64_t minutes, warm, clients, seed;
    double loss_percent;
    scarce_memory server_bytes, client_bytes, view_bytes, line_bytes;
    net_module* module;
    net_match* match;
    net_sim* sim;
    net_transport* transport;
    net_server* server;
    member members[CLIENTS_MAX];
    uint64_t now_us;
    uint64_t lives; // replicated entities created so far
    uint32_t index_top;
    ecs_entity handles[INDEX_MAX + 1]; // the last entity of each index
} memory;

// ---- opening ----

static bool open_server(memory* self, const char* blk) {
    base_reporter reporter = base_reporter_stderr();
    char* text = text_file_read(blk);
    if (!text) return false;
    net_result result =
        net_module_wrap(breakout_module(), text, "breakout.blk", &reporter, &self->module);
    free(text);
    if (result != NET_OK) return false;
    net_match_config config = net_match_config_default(self->module);
    config.allocator = &self->server_bytes.allocator;
    config.role = NET_ROLE_SERVER;
    config.seed = self->seed;
    config.settings[BREAKOUT_SETTING_LIVES] = 99.0;
    if (net_match_create(&config, &reporter, &self->match) != NET_OK) return false;
    const base_allocator* line = &self->line_bytes.allocator;
    if (net_sim_create(line, self->seed, &self->sim) != NET_OK) return false;
    uint32_t peers_max = (uint32_t)self->clients + 2;
    if (net_sim_server(self->sim, peers_max, &self->transport) != NET_OK) return false;
    const net_server_config server = {
        .allocator = &self->server_bytes.allocator,
        .match = self->match,
        .transport = self->transport,
        .clients_max = (uint32_t)self->clients,
    };
    return net_server_create(&server, &self->server) == NET_OK;
}

static bool open_member(memory* self, uint32_t index) {
    member* one = &self->members[index];
    base_reporter reporter = base_reporter_stderr();
    net_match_config config = net_match_config_default(self->module);
    config.allocator = &self->client_bytes.allocator;
    config.role = NET_ROLE_MIRROR;
    if (net_match_create(&config, &reporter, &one->match) != NET_OK) return false;
    const net_link_config link = {
        .loss_percent = self->loss_percent,
        .delay_ms = 30,
        .jitter_ms = 5,
        .seed = self->seed * 10 + index,
    };
    if (net_sim_client(self->sim, &link, &one->transport) != NET_OK) return false;
    const net_presenter_config presenter = {
        .allocator = &self->view_bytes.allocator,
        .module = self->module,
        .is_predicting = index == 0,
    };
    if (net_presenter_create(&presenter, &reporter, &one->presenter) != NET_OK) return false;
    const net_client_config client = {
        .allocator = &self->client_bytes.allocator,
        .match = one->match,
        .transport = one->transport,
        .address = "sim",
        .name = "bot",
        .is_bot = true,
        .seed = self->seed + index,
        .presenter = one->presenter,
    };
    return net_client_create(&client, &one->client) == NET_OK;
}

static void close_all(memory* self) {
    for (uint32_t i = 0; i < self->clients; i++) {
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

// ---- running ----

static void count_lives(memory* self) {
    const ecs_world* world = net_match_world(self->match);
    ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE);
    for (; entity != ECS_ENTITY_NONE; entity = ecs_entity_next(world, entity)) {
        uint32_t index = ecs_entity_index(entity);
        if (index > INDEX_MAX) return;
        if (self->handles[index] == entity) continue;
        self->handles[index] = entity;
        self->lives++;
        if (index > self->index_top) self->index_top = index;
    }
}

static void step(memory* self, uint64_t tick) {
    self->now_us += TICK_US;
    net_server_service(self->server, self->now_us);
    net_server_tick(self->server, self->now_us);
    count_lives(self);
    for (uint32_t i = 0; i < self->clients; i++) {
        member* one = &self->members[i];
        net_client_service(one->client, self->now_us);
        if (net_client_get_phase(one->client) == NET_CLIENT_PLAYING &&
            self->now_us >= net_client_next_tick_us(one->client))
            net_client_tick(one->client, self->now_us);
        if (tick % 2 == i % 2) (void)net_presenter_frame(one->presenter, self->now_us);
    }
}

static void print_side(const scarce_memory* side, uint64_t allocations_before) {
    printf(" | %9" PRId64 " %6" PRIu64, side->bytes, side->calls - allocations_before);
}

static bool run(memory* self) {
    printf(
        "minute  lives index alive | server B  asked | clients B asked | views B    asked | line B"
        " asked\n");
    const scarce_memory* sides[] = {&self->server_bytes, &self->client_bytes, &self->view_bytes,
                                    &self->line_bytes};
    static const char* const names[BASE_COUNT(sides)] = {"server", "clients", "views", "line"};
    int64_t most[BASE_COUNT(sides)] = {0};
    bool is_right = true;
    for (uint64_t minute = 1; minute <= self->minutes; minute++) {
        uint64_t before[BASE_COUNT(sides)];
        for (uint32_t i = 0; i < BASE_COUNT(sides); i++)
            before[i] = sides[i]->calls;
        for (uint64_t tick = 0; tick < TICKS_PER_MINUTE; tick++)
            step(self, tick);
        printf("%6" PRIu64 " %6" PRIu64 " %5" PRIu32 " %5" PRIu32, minute, self->lives,
               self->index_top, ecs_world_entity_count(net_match_world(self->match)));
        for (uint32_t i = 0; i < BASE_COUNT(sides); i++)
            print_side(sides[i], before[i]);
        printf("\n");
        fflush(stdout);
        if (minute == self->warm)
            for (uint32_t i = 0; i < BASE_COUNT(sides); i++)
                most[i] = sides[i]->bytes + SLACK_BYTES;
        for (uint32_t i = 0; minute > self->warm && i < BASE_COUNT(sides); i++) {
            if (sides[i]->bytes <= most[i]) continue;
            printf("FAILED: more than %" PRId64 " bytes of the %s\n", most[i], names[i]);
            is_right = false;
        }
    }
    if (self->lives <= self->index_top) {
        printf("FAILED: no index was used again: a longer match is needed\n");
        is_right = false;
    }
    return is_right;
}

#define FIELD(name) BASE_OPTION_FIELD(memory, name)

int main(int argc, char** argv) {
    static memory self = {.minutes = 200, .warm = 120, .clients = 2, .loss_percent = 2, .seed = 1};
    const base_option table[] = {
        {"minutes", FIELD(minutes), "M", "of the match", 0, 0},
        {"warm", FIELD(warm), "W", "minutes until nothing may rise", 0, 0},
        {"clients", FIELD(clients), "N", "that play and look", 1, CLIENTS_MAX},
        {"loss", FIELD(loss_percent), "P", "percent, each way", 0, 0},
        {"seed", FIELD(seed), "N", "of match, network and bots", 0, 0},
    };
    const base_options description = {
        .program = "memory",
        .usage = "BREAKOUT.blk [options]",
        .about = "Bytes of a long match, in virtual time.",
        .options = table,
        .count = BASE_COUNT(table),
        .values = &self,
    };
    base_option_list words = {0};
    base_reporter reporter = base_reporter_stderr();
    base_options_result read = base_options_read(&description, argc, argv, &words, &reporter);
    if (read != BASE_OPTIONS_OK) return read == BASE_OPTIONS_HELP ? 0 : 2;
    if (words.count != 1) return 2;
    scarce_init(&self.server_bytes, 0, false);
    scarce_init(&self.client_bytes, 0, false);
    scarce_init(&self.view_bytes, 0, false);
    scarce_init(&self.line_bytes, 0, false);
    bool is_right = open_server(&self, words.values[0]);
    for (uint32_t i = 0; is_right && i < self.clients; i++)
        is_right = open_member(&self, i);
    if (is_right) is_right = run(&self);
    close_all(&self);
    return is_right ? 0 : 1;
}
