// SPDX-License-Identifier: MIT
// The whole stack as tests/profiles has it: replication, sealing, ENet, the virtual wire. All look
// at their sockets each SERVICE_US, as programs do that wake when something comes.
#include "bench_match.h"

#include "scarce.h"
#include "../profiles/house.h"

#include "replicate/repl_state.h"
#include "server/server_state.h"

#include "host/setup.h"

#include <inttypes.h>

#define LINE_DEFAULT "loss=3,delay=60,jitter=15"
#define SERVICE_US 2083u ///< 16 in a tick of 30 Hz
#define JOIN_S_MAX 60u
#define WARM_S 4u ///< rates have risen, and the first worlds are there

typedef struct figures {
    uint64_t down_bytes, up_bytes, rows, absolute, server_us;
} figures;

static house room;

static figures read_figures(void) {
    figures all = {.server_us = room.server_us};
    net_transport_stats stats;
    room.transport->ops->stats(room.transport, &stats);
    all.down_bytes = stats.sent_bytes;
    for (uint32_t i = 0; i < room.config.guests; i++) {
        net_transport* transport = room.guests[i].transport;
        transport->ops->stats(transport, &stats);
        all.up_bytes += stats.sent_bytes;
    }
    for (uint32_t i = 0; i < room.server->session_count; i++) {
        const net_session* session = room.server->sessions[i];
        if (!session || !session->out.repl) continue;
        const net_repl_state_counters* counters = &session->out.repl->counters;
        all.rows +=
            counters->records_create + counters->records_update + counters->records_absolute;
        all.absolute += counters->records_absolute;
    }
    return all;
}

static void play(uint32_t seconds) {
    for (uint64_t end_us = room.now_us + UINT64_C(1000000) * seconds; room.now_us < end_us;)
        house_step(&room);
}

static bool join_all(const net_link_pair* line) {
    const uint64_t end_us = room.now_us + UINT64_C(1000000) * JOIN_S_MAX;
    for (uint32_t i = 0; i < room.config.guests; i++) {
        if (!house_sit(&room, i)) return false;
        house_line_set(&room, i, line);
        if (i % 4 == 3) house_step(&room);
    }
    while (!house_is_full(&room) && room.now_us < end_us)
        house_step(&room);
    return house_is_full(&room);
}

static void print(const bench_match_config* config, const figures* begin, int64_t bytes) {
    const figures end = read_figures();
    const double all = (double)config->seconds * config->clients;
    const uint64_t rows = end.rows - begin->rows;
    const double ticks = (double)config->seconds * 1e6 / (double)room.tick_us;
    printf("bench=match_%s_%" PRIu32 " down_bytes_per_s=%.0f up_bytes_per_s=%.0f rows_per_s=%.0f "
           "absolute_percent=%.2f tick_us=%.0f server_bytes_per_client=%" PRId64 "\n",
           room.module->game->name, config->clients,
           (double)(end.down_bytes - begin->down_bytes) / all,
           (double)(end.up_bytes - begin->up_bytes) / all, (double)rows / all,
           rows ? 100.0 * (double)(end.absolute - begin->absolute) / (double)rows : 0.0,
           (double)(end.server_us - begin->server_us) / ticks, bytes / (int64_t)config->clients);
}

static bool read_coder(const char* name, net_coder* coder) {
    static const char* const names[] = {"auto", "shared", "solo"};
    for (uint32_t i = 0; name && i < BASE_COUNT(names); i++) {
        if (strcmp(name, names[i]) != 0) continue;
        *coder = (net_coder)i;
        return true;
    }
    return !name;
}

int bench_match(const bench_match_config* config) {
    static scarce_memory memory;
    const base_reporter reporter = base_reporter_stderr();
    scarce_init(&memory);
    net_link_pair line;
    house_config plan = {.seed = config->seed,
                         .guests = config->clients,
                         .server_memory = &memory.allocator,
                         .tick_rate_hz = config->tick_rate_hz};
    if (net_link_config_parse(config->net ? config->net : LINE_DEFAULT, &reporter, &line) !=
            NET_OK ||
        !read_coder(config->coder, &plan.coder) || config->clients > BENCH_MATCH_CLIENTS_MAX)
        return 2;
    if (net_host_open_module(config->game, &reporter, &plan.module) != NET_OK) return 1;
    if (plan.tick_rate_hz == 0)
        plan.tick_rate_hz = strcmp(plan.module->game->name, "arena") == 0
                                ? NET_TICK_RATE_HZ_DEFAULT / 2
                                : NET_TICK_RATE_HZ_DEFAULT;
    plan.services = 1000000u / plan.tick_rate_hz / SERVICE_US;
    bool is_right = house_open(&room, &plan, NULL);
    const int64_t empty_bytes = memory.bytes;
    is_right = is_right && join_all(&line);
    if (is_right) {
        play(WARM_S);
        const figures begin = read_figures();
        play(config->seconds);
        print(config, &begin, memory.bytes - empty_bytes);
    } else {
        base_report(&reporter, NULL, 0, "--match: not all clients came in");
    }
    house_close(&room);
    net_module_close(plan.module);
    return is_right ? 0 : 1;
}
