// SPDX-License-Identifier: MIT
// A whole fleet in virtual time, many seeds: three servers, players on a bad line who find the next
// server themselves, a broker with faults. Servers die, sleep and wake up, or lose their way to the
// broker. Whatever happens there is one match: its log is run again, and each row that a client
// applied is the one of that log. A row of a tick that was lost with its server is none: a client
// may have it only until it goes on at the next one.
#include "fleet_world.h"

#include "client/client_state.h"

enum { PLAYERS = 3, CHAOS_STEPS = 600, HEAL_STEPS = 1200, TROUBLES = 350 };

typedef struct seen_row {
    uint32_t seat, client, node;
    ecs_entity entity;
    ecs_tick tick;
    uint64_t hash;
} seen_row;

typedef struct story {
    fleet fleet;
    bool is_harmless; // the broker is slow, stalls, elects, restarts; and nothing else happens
    broker_sim_faults faults;
    uint64_t election_until_us;
    seen_row* rows;
    size_t count, capacity;
    uint32_t at[PLAYERS]; // the server of each
    uint32_t again;       // clients that had seen too much, and began again
    uint64_t lost_rows;
    uint64_t hash;
} story;

static void see(void* context, uint32_t client, ecs_entity entity, ecs_tick tick, uint64_t hash) {
    const fleet_eye* eye = context;
    story* self = (story*)eye->fleet; // its first field
    if (self->count == self->capacity) {
        self->capacity = self->capacity * 2 + 4096;
        self->rows = realloc(self->rows, self->capacity * sizeof *self->rows);
        assert_non_null(self->rows);
    }
    const net_client* at = self->fleet.seats[eye->seat].client;
    const uint32_t from = at->server.port ? at->server.port - (uint32_t)PORT : 0u;
    // Once it goes on at the next server, it takes nothing of the one before.
    if (from != self->at[eye->seat])
        assert_true(self->fleet.nodes[from].rank > self->fleet.nodes[self->at[eye->seat]].rank);
    self->at[eye->seat] = from;
    self->rows[self->count++] = (seen_row){.seat = eye->seat,
                                           .client = client,
                                           .node = from,
                                           .entity = entity,
                                           .tick = tick,
                                           .hash = hash};
}

static uint32_t below(story* self, uint32_t bound) {
    return base_rng_below(&self->fleet.rng, bound);
}

// ---- trouble ----

static broker_sim_faults quiet_faults(void) {
    return (broker_sim_faults){.delay_us_min = 300, .delay_us_max = BROKER_MS * MS};
}

static void change_faults(story* self) {
    self->faults = quiet_faults();
    self->faults.request_twice = below(self, 100);
    self->faults.message_twice = below(self, 100);
    self->faults.delay_us_max = 1000 + below(self, 40) * 1000;
    if (self->is_harmless) return;
    self->faults.request_lost = below(self, 30);
    self->faults.answer_lost = below(self, 30);
    self->faults.answer_late = below(self, 30);
    self->faults.message_lost = below(self, 30);
    self->faults.unready = below(self, 30);
    self->faults.late_us = below(self, 3000) * MS;
}

static bool is_ready(const node* at, const node* first) {
    return at->is_open && at->standby && at->state == NET_STANDBY_WAITS &&
           !net_standby_get_report(at->standby).is_given_up &&
           net_match_tick(at->match) + 30 > net_match_tick(first->match);
}

// A server that died before the stream has a tick of it leaves the question whether its inputs end
// servers; that is another test.
static void kill_primary(story* self) {
    fleet* all = &self->fleet;
    node* first = primary(all);
    if (!first || net_stream_writer_status(first->writer)->acked_tick <= first->took_tick) return;
    for (uint32_t i = 0; i < NODES; i++)
        if (is_ready(&all->nodes[i], first)) {
            kill_node(first);
            return;
        }
}

static void put_to_sleep(story* self, uint64_t until_us) {
    node* at = &self->fleet.nodes[below(self, NODES)];
    at->asleep_until_us = until_us;
    at->blind_until_us = until_us + below(self, 60) * MS;
}

static uint32_t count_primaries(const fleet* all) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < NODES; i++)
        count += all->nodes[i].is_primary;
    return count;
}

static void cause_harm(story* self, uint64_t until_us) {
    broker_sim* broker = self->fleet.broker;
    if (count_primaries(&self->fleet) == 0) return;
    switch (below(self, 6)) {
    case 0:
    case 1:
        kill_primary(self);
        break;
    case 2:
    case 3:
        put_to_sleep(self, until_us);
        break;
    case 4:
        broker_sim_cut(broker, below(self, 1 + 2 * (NODES - 1)), until_us);
        break;
    default:
        broker_sim_set_room(broker, below(self, 2) ? broker_sim_count(broker) : UINT64_MAX);
    }
}

static void cause_trouble(story* self) {
    fleet* all = &self->fleet;
    const uint64_t until_us = all->now_us + below(self, 2500) * MS;
    const uint32_t kind = below(self, TROUBLES);
    if (kind == 0) broker_sim_stall(all->broker, until_us);
    if (kind == 1) broker_sim_restart(all->broker, until_us);
    if (kind == 2) self->election_until_us = until_us;
    if (kind == 3) change_faults(self);
    if (kind >= 4 && kind < 12 && !self->is_harmless) cause_harm(self, until_us);
    broker_sim_faults faults = self->faults;
    if (all->now_us < self->election_until_us) faults.request_lost = 1000;
    broker_sim_set_faults(all->broker, &faults);
}

// ---- players ----

// What a program does when its client has seen more than a rebase takes back.
static void begin_again(story* self, uint32_t index) {
    table_seat* seat = &self->fleet.seats[index];
    uint8_t secret[NET_RESUME_BYTES];
    assert_true(net_client_take_secret(seat->client, secret));
    seat_part(seat);
    sit(&self->fleet, index, secret);
    self->again++;
}

static void live_on(story* self) {
    step(&self->fleet);
    for (uint32_t i = 0; i < PLAYERS; i++) {
        const net_client* client = self->fleet.seats[i].client;
        if (net_client_get_phase(client) != NET_CLIENT_ENDED) continue;
        assert_int_equal(net_client_get_end(client), NET_CLIENT_END_EXCHANGED);
        begin_again(self, i);
    }
}

// ---- the end ----

static node* heal(story* self) {
    fleet* all = &self->fleet;
    self->faults = quiet_faults();
    broker_sim_set_faults(all->broker, &self->faults);
    broker_sim_set_room(all->broker, UINT64_MAX);
    for (uint32_t i = 0; i < NODES; i++)
        if (all->nodes[i].asleep_until_us > all->now_us)
            all->nodes[i].asleep_until_us = all->now_us;
    for (uint32_t i = 0; i < HEAL_STEPS; i++) {
        if (i > 300 && count_primaries(all) == 1 && count_in(all) == PLAYERS) break;
        live_on(self);
    }
    assert_int_equal(count_primaries(all), 1);
    assert_int_equal(count_in(all), PLAYERS);
    return primary(all);
}

// The tick at which another server went on behind this one.
static ecs_tick end_of(const fleet* all, uint32_t number) {
    for (uint32_t i = 0; i < NODES; i++)
        if (all->nodes[i].rank == all->nodes[number].rank + 1) return all->nodes[i].took_tick;
    return UINT64_MAX;
}

static void check_rows(story* self, const node* last) {
    fleet* all = &self->fleet;
    char file[128];
    snprintf(file, sizeof file, "%s/trace.txt", all->files.folder);
    FILE* out = fopen(file, "w");
    assert_non_null(out);
    for (size_t i = 0; i < self->count; i++) {
        const seen_row* row = &self->rows[i];
        const bool is_lost = row->tick > end_of(all, row->node);
        self->lost_rows += is_lost;
        self->hash = base_hash64_mix(self->hash, row->hash ^ row->tick);
        if (!is_lost)
            fprintf(out, "client=%u entity=%u:%u tick=%llu row=%016llx\n", row->client,
                    ecs_entity_index(row->entity), ecs_entity_generation(row->entity),
                    (unsigned long long)row->tick, (unsigned long long)row->hash);
    }
    assert_int_equal(fclose(out), 0);
    net_log_reader* reader = files_reader(last->log_file);
    uint64_t rows = 0;
    assert_ok(net_log_check_trace(reader, all->module, file, test_reporter(), &rows));
    assert_true(rows > 1000);
    net_log_reader_destroy(reader);
}

static void hash_stream(story* self) {
    for (uint64_t i = 2; i <= broker_sim_count(self->fleet.broker); i++) { // 1 has the header
        size_t size;
        const uint8_t* bytes = broker_sim_message(self->fleet.broker, i, &size);
        self->hash = base_hash64(bytes, size, self->hash);
    }
}

// ---- a seed ----

typedef struct story_sum {
    uint64_t takeovers, rows, lost_rows, again, ticks;
} story_sum;

static uint64_t tell(uint64_t seed, story_sum* sum) {
    static story stage; // larger than a stack should carry
    story* self = &stage;
    memset(self, 0, sizeof *self);
    fleet* all = &self->fleet;
    open_fleet_with(all, seed, true, NET_TICK_RATE_HZ_DEFAULT);
    all->trace = see;
    self->is_harmless = seed % 4 == 0;
    self->faults = quiet_faults();
    const net_link_config bad = {.delay_ms = 15, .jitter_ms = 5, .loss_percent = 2.5, .seed = seed};
    (void)open_standby(all, 1);
    (void)open_standby(all, 2);
    seat_all(all, PLAYERS);
    net_socket_link_set(&bad);
    for (uint32_t i = 0; i < CHAOS_STEPS; i++) {
        cause_trouble(self);
        live_on(self);
    }
    node* last = heal(self);
    if (self->is_harmless) assert_int_equal(all->takeovers, 0);
    for (uint32_t i = 0; i < 60; i++)
        live_on(self);
    ends_well(all, last, PLAYERS);
    check_rows(self, last);
    hash_stream(self);
    sum->takeovers += all->takeovers;
    sum->rows += self->count;
    sum->lost_rows += self->lost_rows;
    sum->again += self->again;
    sum->ticks += net_match_tick(last->match);
    free(self->rows);
    close_fleet(all);
    return self->hash;
}

// SHOAL_TEST_SCALE=250 tells a thousand.
CASE(whatever_fails_there_is_one_match_and_clients_see_no_other) {
    const uint32_t seeds = test_scaled(4, 2);
    const char* first = getenv("SHOAL_TEST_FLEET_SEED");
    story_sum sum = {.takeovers = 0};
    const uint64_t from = first ? strtoull(first, NULL, 10) : 1;
    for (uint64_t seed = from; seed < from + seeds; seed++) {
        print_message("seed %llu\n", (unsigned long long)seed);
        (void)tell(seed, &sum);
    }
    print_message(
        "    %u seeds: %llu ticks, %llu takeovers, %llu rows of clients, of which %llu were "
        "lost with their server; %llu clients began again\n",
        seeds, (unsigned long long)sum.ticks, (unsigned long long)sum.takeovers,
        (unsigned long long)sum.rows, (unsigned long long)sum.lost_rows,
        (unsigned long long)sum.again);
    assert_true(first || sum.takeovers >= seeds / 4);
}

CASE(equal_seeds_tell_the_same) {
    story_sum sum = {.takeovers = 0};
    const uint64_t once = tell(1, &sum), again = tell(1, &sum), other = tell(2, &sum);
    assert_true(once == again && once != other);
}
