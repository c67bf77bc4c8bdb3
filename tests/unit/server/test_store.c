// SPDX-License-Identifier: MIT
// Records of players in SQLite; with SHOAL_TEST_STORE, the folder of its socket, in PostgreSQL
// (store_postgres.sh). Each case has a game of its own. The database is reached through a link.
#include "rooms/store.h"

#include "net/socket.h"
#include "test.h"

#include <poll.h>
#include <unistd.h>

typedef struct bench {
    char folder[64], link[80], url[160], game[SERVER_ROOM_NAME_BYTES];
    const char* writer; // of what is kept; NULL: each a match of its own
    server_store* store;
} bench;

static void bench_link(const bench* self) {
    const char* postgres = getenv("SHOAL_TEST_STORE");
    assert_ok(symlink(postgres ? postgres : self->folder, self->link));
}

static void bench_open(bench* self) {
    static uint32_t cases;
    self->writer = NULL;
    const char* postgres = getenv("SHOAL_TEST_STORE");
    (void)snprintf(self->folder, sizeof self->folder, "/tmp/store-XXXXXX");
    assert_non_null(mkdtemp(self->folder));
    (void)snprintf(self->link, sizeof self->link, "%s/link", self->folder);
    (void)snprintf(self->game, sizeof self->game, "pong%u", ++cases);
    (void)snprintf(self->url, sizeof self->url,
                   postgres ? "postgres:///postgres?user=shoal&host=%s" : "sqlite:%s/players.db",
                   self->link);
    bench_link(self);
    self->store = server_store_open(self->url);
    assert_non_null(self->store);
}

static void bench_close(bench* self) {
    char name[96];
    server_store_close(self->store);
    for (size_t i = 0; i < 4; i++) {
        static const char* const files[] = {"link", "players.db", "players.db-wal",
                                            "players.db-shm"};
        (void)snprintf(name, sizeof name, "%s/%s", self->folder, files[i]);
        (void)unlink(name);
    }
    assert_ok(rmdir(self->folder));
}

#define BENCH_CASE(name) CASE_WITH(bench, self, bench_open(self), bench_close(self), name)

static void push(bench* self, server_store* store, uint64_t player, bool is_keep, uint64_t version,
                 const void* bytes, size_t size) {
    server_store_order* order = server_store_next(store, 0);
    assert_non_null(order);
    *order = (server_store_order){.number = player, .is_keep = is_keep};
    (void)snprintf(order->record.game, sizeof order->record.game, "%s", self->game);
    static uint32_t matches;
    (void)snprintf(order->record.writer, sizeof order->record.writer, "%016x", ++matches);
    if (self->writer)
        (void)snprintf(order->record.writer, sizeof order->record.writer, "%s", self->writer);
    order->record.player = player;
    order->record.version = version;
    order->record.size = (uint32_t)size;
    memcpy(order->record.bytes, bytes, size);
    server_store_push(store, net_loop_now_us());
}

static const server_store_order* pop(server_store* store) {
    struct pollfd one = {.fd = server_store_descriptor(store), .events = POLLIN};
    for (const server_store_order* order;;) {
        if ((order = server_store_pop(store))) return order;
        assert_int_equal(poll(&one, 1, 60000), 1);
    }
}

static const server_store_order* ask(bench* self, uint64_t player) {
    push(self, self->store, player, false, 0, "", 0);
    return pop(self->store);
}

static const server_store_order* keep(bench* self, uint64_t player, uint64_t version,
                                      const char* text) {
    push(self, self->store, player, true, version, text, strlen(text));
    return pop(self->store);
}

static void is_kept(bench* self, uint64_t player, uint64_t version, const void* bytes,
                    size_t size) {
    const server_store_order* order = ask(self, player);
    assert_int_equal(order->end, SERVER_STORE_DONE);
    assert_int_equal(order->record.version, version);
    assert_int_equal(order->record.size, size);
    assert_memory_equal(order->record.bytes, bytes, size);
}

static void gives(const server_store_order* order, server_store_end end, uint64_t version) {
    if (order->end == SERVER_STORE_AWAY && end != SERVER_STORE_AWAY)
        print_error("%s\n", order->why);
    assert_int_equal(order->end, end);
    assert_int_equal(order->record.version, version);
}

BENCH_CASE(a_player_without_a_record_has_version_0) {
    is_kept(self, 7, 0, "", 0);
}

BENCH_CASE(a_record_has_all_bytes) {
    uint8_t bytes[SERVER_RECORD_BYTES_MAX];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)i;
    push(self, self->store, UINT64_MAX, true, 0, bytes, sizeof bytes);
    gives(pop(self->store), SERVER_STORE_DONE, 1);
    is_kept(self, UINT64_MAX, 1, bytes, sizeof bytes);
    gives(keep(self, UINT64_MAX, 1, ""), SERVER_STORE_DONE, 2);
    is_kept(self, UINT64_MAX, 2, "", 0);
    is_kept(self, UINT64_MAX - 1, 0, "", 0);
}

BENCH_CASE(the_later_of_two_writers_is_refused) {
    gives(keep(self, 7, 0, "a"), SERVER_STORE_DONE, 1);
    gives(keep(self, 7, 0, "b"), SERVER_STORE_CONFLICT, 1);
    gives(keep(self, 7, 1, "c"), SERVER_STORE_DONE, 2);
    gives(keep(self, 7, 1, "d"), SERVER_STORE_CONFLICT, 2);
    gives(keep(self, 7, 9, "e"), SERVER_STORE_CONFLICT, 2);
    is_kept(self, 7, 2, "c", 1);
}

BENCH_CASE(what_is_kept_already_is_kept_when_it_is_sent_again) {
    for (uint32_t i = 0; i < 3; i++)
        gives(keep(self, 7, 0, "a"), SERVER_STORE_DONE, 1);
    for (uint32_t i = 0; i < 3; i++)
        gives(keep(self, 7, 1, "b"), SERVER_STORE_DONE, 2);
    gives(keep(self, 7, 0, "a"), SERVER_STORE_CONFLICT, 2);
}

BENCH_CASE(a_match_replaces_what_it_kept_before_it_knows_that) {
    self->writer = "0123456789abcdef";
    push(self, self->store, 7, true, 0, "a", 1);
    push(self, self->store, 7, true, 0, "b", 1);
    push(self, self->store, 7, true, 0, "b", 1);
    push(self, self->store, 7, true, 1, "c", 1);
    gives(pop(self->store), SERVER_STORE_DONE, 1);
    gives(pop(self->store), SERVER_STORE_DONE, 2);
    gives(pop(self->store), SERVER_STORE_DONE, 2);
    gives(pop(self->store), SERVER_STORE_DONE, 3);
    is_kept(self, 7, 3, "c", 1);
    gives(keep(self, 7, 4, "d"), SERVER_STORE_CONFLICT, 3);
    self->writer = "fedcba9876543210";
    gives(keep(self, 7, 2, "d"), SERVER_STORE_CONFLICT, 3);
    gives(keep(self, 7, 3, "d"), SERVER_STORE_DONE, 4);
    self->writer = "0123456789abcdef";
    gives(keep(self, 7, 3, "e"), SERVER_STORE_CONFLICT, 4);
    is_kept(self, 7, 4, "d", 1);
}

BENCH_CASE(games_and_players_have_records_of_their_own) {
    bench other = *self;
    (void)snprintf(other.game, sizeof other.game, "chess'; --");
    gives(keep(self, 7, 0, "a"), SERVER_STORE_DONE, 1);
    const uint64_t before = ask(&other, 7)->record.version; // of another run in this database
    gives(keep(&other, 7, before, "b"), SERVER_STORE_DONE, before + 1);
    is_kept(self, 7, 1, "a", 1);
    is_kept(self, 8, 0, "", 0);
}

BENCH_CASE(of_two_hosts_that_write_at_once_one_does) {
    server_store* stores[2] = {self->store, server_store_open(self->url)};
    uint32_t done = 0;
    for (uint64_t player = 1; player <= 100; player++)
        for (uint32_t i = 0; i < 2; i++)
            push(self, stores[i], player, true, 0, i ? "x" : "y", 1);
    for (uint32_t k = 0; k < 200; k++) {
        const server_store_order* order = pop(stores[k % 2]);
        done += order->end == SERVER_STORE_DONE;
        assert_int_equal(order->record.version, 1);
        assert_int_equal(order->number, k / 2 + 1);
    }
    assert_int_equal(done, 100);
    server_store_close(stores[1]);
}

BENCH_CASE(a_database_that_is_away_is_asked_again) {
    server_store_close(self->store);
    assert_ok(unlink(self->link));
    self->store = server_store_open(self->url);
    const uint64_t begin_us = net_loop_now_us();
    push(self, self->store, 7, false, 0, "", 0);
    push(self, self->store, 7, true, 0, "a", 1);
    const server_store_order* order = pop(self->store);
    gives(order, SERVER_STORE_AWAY, 0);
    assert_true(order->why[0]);
    gives(pop(self->store), SERVER_STORE_AWAY, 0);
    const uint64_t took_us = net_loop_now_us() - begin_us;
    assert_in_range(took_us, SERVER_STORE_WAIT_US, SERVER_STORE_WAIT_US + 10000000);
    push(self, self->store, 7, false, 0, "", 0); // it comes back while this one waits
    bench_link(self);
    gives(pop(self->store), SERVER_STORE_DONE, 0);
    gives(keep(self, 7, 0, "a"), SERVER_STORE_DONE, 1);
}

BENCH_CASE(what_waits_has_a_bound_and_is_done_before_the_end) {
    for (uint64_t i = 0; i < SERVER_STORE_ORDERS_MAX; i++)
        push(self, self->store, 1 + i % 9, true, i / 9, "a", 1);
    assert_null(server_store_next(self->store, 0));
    server_store_close(self->store);
    self->store = server_store_open(self->url);
    is_kept(self, 1, 114, "a", 1); // 1,024 = 113 * 9 + 7
    is_kept(self, 9, 113, "a", 1);
}

BENCH_CASE(who_asks_much_leaves_orders_for_others) {
    for (uint32_t half = SERVER_STORE_ORDERS_MAX / 2; half > 0; half /= 2) {
        uint32_t count = 0;
        for (; server_store_next(self->store, count); count++)
            push(self, self->store, 1 + count % 9, false, 0, "", 0);
        assert_int_equal(count, half);
    }
    assert_non_null(server_store_next(self->store, 0));
}

enum { TWIN_PLAYERS = 5, TWIN_STEPS = 1000 };

// The kept records are those of a naive twin, whatever is asked in which order.
BENCH_CASE(the_records_are_those_of_a_naive_twin) {
    base_rng rng = test_rng(49, 2);
    struct {
        uint64_t version;
        char text[8];
    } rows[TWIN_PLAYERS] = {0};
    for (uint32_t step = test_scaled(TWIN_STEPS, 200); step > 0; step--) {
        const uint64_t player = base_rng_below(&rng, TWIN_PLAYERS);
        const uint64_t version = rows[player].version + base_rng_below(&rng, 3);
        char text[8];
        (void)snprintf(text, sizeof text, "%u", base_rng_below(&rng, 2));
        if (base_rng_below(&rng, 3) == 0) {
            is_kept(self, player, rows[player].version, rows[player].text,
                    strlen(rows[player].text));
            continue;
        }
        // One of: the right version, the one before, one that never was.
        const uint64_t given = version > 0 ? version - 1 : 5;
        const bool is_again = given + 1 == rows[player].version && rows[player].version > 0 &&
                              strcmp(text, rows[player].text) == 0;
        const bool is_right = given == rows[player].version;
        if (is_right) {
            rows[player].version++;
            memcpy(rows[player].text, text, sizeof text);
        }
        gives(keep(self, player, given, text),
              is_right || is_again ? SERVER_STORE_DONE : SERVER_STORE_CONFLICT,
              rows[player].version);
    }
}
