// SPDX-License-Identifier: MIT
// Memory runs out at the k-th allocation, for every k: while a match starts, clients join, play,
// resume and leave, and everything is shut down. Each time it must end in order: an error code, a
// refused client or an orderly end of the match, and nothing leaked. Once the k-th call alone
// fails, once it and all later ones.
//
// The default run takes a sample of k; SHOAL_TEST_SCALE=10 takes all. To repeat one:
// test_shortage PART once|lasting K
#include "test.h"

#include "scarce.h"
#include "swarm.h"

#include "log/log_file.h"
#include "net/client.h"
#include "net/explain.h"
#include "net/log.h"
#include "net/match.h"
#include "net/server.h"
#include "net/transport.h"
#include "transport/socket_state.h"

#include <enet/enet.h>
#include <errno.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    TICK_US = 16667,
    SEATS = 3,
    TICKS = 360,
    SECOND_JOINS = 20, // and has an outage until it resumes
    OUTAGE_AT_MS = 1600,
    OUTAGE_MS = 3500,
    FIRST_LEAVES = 60,
    THIRD_JOINS = 62,
    STOP = 330,
    SAMPLE = 40, // of k, in a default run
    FULL_SCALE = 10,
    LOG_RING_BYTES = 1 << 20,
};

// PART_WIRE plays over ENet on the virtual wire: its memory is that of ENet and of the transports.
typedef enum shortage_part { PART_SERVER, PART_CLIENT, PART_WIRE, PART_COUNT } shortage_part;
static const char* const part_names[PART_COUNT] = {"server", "client", "wire"};

typedef struct seat {
    net_match* match;
    net_transport* transport;
    net_client* client;
} seat;

typedef struct world {
    scarce_memory memory[PART_COUNT];
    bool is_enet;
    swarm_wild wild;
    net_module* module;
    net_sim* sim;
    net_match* match;
    net_transport* transport;
    net_log_writer* log;
    net_server* server;
    seat seats[SEATS];
    uint64_t now_us;
} world;

static char log_file[64];

static int sync_nothing(void* context, int fd) {
    (void)context, (void)fd;
    return 0;
}

static net_result open_log(world* at) {
    const net_log_options options = {
        .waiting_bytes = LOG_RING_BYTES, .is_manual = true, .ops.sync = sync_nothing};
    return net_log_writer_create_as(&at->memory[PART_SERVER].allocator, log_file, &options,
                                    at->match, "test", 1, NULL, &at->log);
}

static net_result open_server(world* at) {
    net_match_config match = net_match_config_default(at->module);
    match.allocator = &at->memory[PART_SERVER].allocator;
    match.seed = 7;
    net_result result = net_match_create(&match, NULL, &at->match);
    if (result == NET_OK) result = open_log(at);
    if (result != NET_OK) return result;
    net_server_config config = {
        .allocator = &at->memory[PART_SERVER].allocator,
        .match = at->match,
        .transport = at->transport,
        .observer = net_log_observer(at->log),
        .clients_max = SEATS,
        .tap = &net_account_tap,
    };
    return net_server_create(&config, &at->server);
}

// ENet gives a block back without its size, so that is kept in front of it.
enum { SIZE_BYTES = 16 };
static scarce_memory* wire_memory;

static void* ENET_CALLBACK wire_allocate(size_t size) {
    uint8_t* block = base_allocate(&wire_memory->allocator, size + SIZE_BYTES);
    errno = block ? errno : ENOMEM;
    if (!block) return NULL;
    memcpy(block, &size, sizeof size);
    return block + SIZE_BYTES;
}

static void ENET_CALLBACK wire_release(void* memory) {
    if (!memory) return;
    size_t size;
    uint8_t* block = (uint8_t*)memory - SIZE_BYTES;
    memcpy(&size, block, sizeof size);
    base_release(&wire_memory->allocator, block, size + SIZE_BYTES);
}

static net_result open_wire(world* at) {
    if (!at->is_enet) {
        assert_ok(net_sim_create(NULL, 7, &at->sim));
        return net_sim_server(at->sim, SEATS + 2, &at->transport);
    }
    net_socket_virtual_set(true, 7);
    net_socket_virtual_advance(at->now_us);
    const net_enet_config config = {
        .allocator = &at->memory[PART_WIRE].allocator,
        .listen = "127.0.0.1:7777",
        .peers_max = SEATS + 2,
    };
    return net_transport_enet_create(&config, &at->transport);
}

static net_result connect_wire(world* at, seat* one, const net_link_config* link) {
    if (!at->is_enet) return net_sim_client(at->sim, link, &one->transport);
    const net_enet_config config = {.allocator = &at->memory[PART_WIRE].allocator, .peers_max = 1};
    return net_transport_enet_create(&config, &one->transport);
}

static net_result open_seat(world* at, seat* one) {
    net_link_config link = {.delay_ms = 5, .loss_percent = 2};
    if (one == &at->seats[1]) {
        link.outage_at_ms = OUTAGE_AT_MS;
        link.outage_for_ms = OUTAGE_MS;
    }
    net_match_config match = net_match_config_default(at->module);
    match.allocator = &at->memory[PART_CLIENT].allocator;
    match.role = NET_ROLE_MIRROR;
    net_result result = net_match_create(&match, NULL, &one->match);
    if (result == NET_OK) result = connect_wire(at, one, &link);
    if (result != NET_OK) return result;
    net_client_config config = {
        .allocator = &at->memory[PART_CLIENT].allocator,
        .match = one->match,
        .transport = one->transport,
        .address = "127.0.0.1:7777",
        .name = "member",
        .is_bot = true,
        .seed = 1,
    };
    return net_client_create(&config, &one->client);
}

static void step(world* at) {
    at->now_us += TICK_US;
    if (at->is_enet) net_socket_virtual_advance(at->now_us);
    net_server_service(at->server, at->now_us);
    net_server_tick(at->server, at->now_us);
    for (int i = 0; i < SEATS; i++) {
        if (!at->seats[i].client) continue;
        net_client_service(at->seats[i].client, at->now_us);
        net_client_tick(at->seats[i].client, at->now_us);
    }
}

static bool is_over(const world* at) {
    bool is_over = net_server_get_phase(at->server) == NET_SERVER_ENDED;
    for (int i = 0; i < SEATS; i++)
        is_over = is_over && (!at->seats[i].client ||
                              net_client_get_phase(at->seats[i].client) == NET_CLIENT_ENDED);
    return is_over;
}

static void play_match(world* at) {
    (void)open_seat(at, &at->seats[0]);
    for (int tick = 0; tick < TICKS && !is_over(at); tick++) {
        if (tick == SECOND_JOINS) (void)open_seat(at, &at->seats[1]);
        if (tick == THIRD_JOINS) (void)open_seat(at, &at->seats[2]);
        if (tick == FIRST_LEAVES && at->seats[0].client)
            net_client_leave(at->seats[0].client, at->now_us);
        if (tick == STOP) net_server_stop(at->server, at->now_us);
        step(at);
        if (net_server_get_phase(at->server) == NET_SERVER_ENDED) break;
    }
    net_server_stop(at->server, at->now_us);
    for (int i = 0; i < 400 && !is_over(at); i++) {
        step(at);
        for (int s = 0; s < SEATS; s++)
            if (i == 200 && at->seats[s].client) net_client_leave(at->seats[s].client, at->now_us);
    }
    assert_true(is_over(at));
    bool is_server_short = at->memory[PART_SERVER].refused > 0;
    assert_true(!net_server_has_failed(at->server) || is_server_short);
}

static void close_world(world* at) {
    for (int i = 0; i < SEATS; i++) {
        net_client_destroy(at->seats[i].client);
        if (at->seats[i].transport) at->seats[i].transport->ops->destroy(at->seats[i].transport);
        net_match_destroy(at->seats[i].match);
    }
    if (at->log) assert_ok(net_log_writer_destroy(at->log));
    net_server_destroy(at->server);
    if (at->transport) at->transport->ops->destroy(at->transport);
    if (at->is_enet)
        net_socket_virtual_set(false, 0);
    else
        net_sim_destroy(at->sim);
    net_match_destroy(at->match);
    net_module_close(at->module);
}

// Whatever happened, the log is whole up to its last tick.
static void check_log(void) {
    net_log_reader* reader = NULL;
    assert_ok(net_log_reader_create(NULL, log_file, NULL, &reader));
    const net_log_info* info = net_log_reader_info(reader);
    assert_int_equal(info->lost_bytes, 0);
    net_log_reader_destroy(reader);
    unlink(log_file);
}

// @return the calls that the part made.
static uint64_t play(shortage_part part, bool is_lasting, uint64_t fail_at) {
    static world at;
    memset(&at, 0, sizeof at);
    for (int i = 0; i < PART_COUNT; i++)
        scarce_init(&at.memory[i], i == (int)part ? fail_at : 0, is_lasting);
    at.now_us = 1000000;
    (void)swarm_wild_make(&at.wild, SWARM_RADIUS | SWARM_OWNER);
    at.wild.module.is_rewinding = true;
    assert_ok(
        net_module_wrap(&at.wild.module, swarm_wild_templates(), "swarm.blk", NULL, &at.module));
    at.is_enet = part == PART_WIRE;
    wire_memory = &at.memory[PART_WIRE];
    net_result result = open_wire(&at);
    if (result == NET_OK) result = open_server(&at);
    if (result == NET_OK)
        play_match(&at);
    else if (result != NET_ERR_MEMORY)
        fail_msg("%s", net_result_text(result));
    bool has_log = at.log != NULL;
    close_world(&at);
    if (has_log) check_log();
    for (int i = 0; i < PART_COUNT; i++)
        assert_int_equal(at.memory[i].bytes, 0);
    return at.memory[part].calls;
}

static void sweep(shortage_part part, bool is_lasting) {
    uint64_t calls = play(part, is_lasting, 0);
    uint32_t count = test_scaled(SAMPLE, 12);
    uint64_t stride = count >= calls || count >= FULL_SCALE * SAMPLE ? 1 : calls / count;
    print_message("%s: %llu allocations, every %llu. fails\n", part_names[part],
                  (unsigned long long)calls, (unsigned long long)stride);
    for (uint64_t k = 1; k <= calls; k += stride) {
        fprintf(stderr, "%s %s %llu\r", part_names[part], is_lasting ? "lasting" : "once",
                (unsigned long long)k);
        (void)play(part, is_lasting, k);
    }
}

CASE(one_refused_allocation_of_a_server_ends_nothing_but_in_order) {
    sweep(PART_SERVER, false);
}
CASE(a_lasting_shortage_of_a_server_ends_its_match_in_order) {
    sweep(PART_SERVER, true);
}
CASE(one_refused_allocation_of_a_client_ends_its_session_at_most) {
    sweep(PART_CLIENT, false);
}
CASE(a_lasting_shortage_of_clients_leaves_the_server_alone) {
    sweep(PART_CLIENT, true);
}

CASE(a_refused_allocation_of_enet_is_a_loss) {
    sweep(PART_WIRE, false);
}
CASE(a_lasting_shortage_of_enet_ends_in_order) {
    sweep(PART_WIRE, true);
}

int main(int argc, char** argv) {
    const ENetCallbacks callbacks = {.malloc = wire_allocate, .free = wire_release};
    assert_int_equal(enet_initialize_with_callbacks(ENET_VERSION, &callbacks), 0);
    snprintf(log_file, sizeof log_file, "/tmp/shoal-shortage-%d.slog", (int)getpid());
    if (argc == 4) {
        shortage_part part = PART_SERVER;
        while (part < PART_WIRE && strcmp(argv[1], part_names[part]) != 0)
            part++;
        (void)play(part, strcmp(argv[2], "lasting") == 0, strtoull(argv[3], NULL, 10));
        return 0;
    }
    return test_run();
}
