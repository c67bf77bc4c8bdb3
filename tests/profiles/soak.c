// SPDX-License-Identifier: MIT
// soak: hours of a match with everything between game and wire, in virtual time.
//
//   soak [--minutes M] [--seed N] [--table]
//
// Eight guests on the line of P2; one of them draws. Two stay for ever, so that all 16-bit numbers
// of their sessions wrap. The others leave, some without a word, and come again. Each ten minutes
// nothing passes any line for some seconds. Rows and reliable events are checked as for profiles.
// In the last minute of each hour only those two are in, and the memory in use is compared. It may
// rise by 1 KB an hour after the second, and by 32 KB in all for tables that double once more. A
// run of less than three hours compares each three minutes: tables grow until all indices of
// entities have been used, for an hour.
#include "profiles.h"
#include "scarce.h"
#include "watch.h"

#include "tool_options.h"
#include "server/server_state.h"
#include "transport/socket_state.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <time.h>

enum {
    GUESTS = 8,
    STAYERS = 2, // the first ones
    VIEWERS = 1,
    MINUTES_MAX = 100000,
    SECONDS_PER_BLACKOUT = 600,
    FIRST_BLACKOUT_SECOND = 200,
    BLACKOUT_SECONDS_MAX = 12,
    AWAY_SECONDS_MAX = 4,
    STAY_SECONDS_MAX = 120,
    BACK_SECONDS_MAX = 12, // after a blackout, and to join
    LONG_MINUTES = 180,
    LONG_CYCLE = 3600, // seconds
    SHORT_CYCLE = 180,
    EMPTY_SECONDS = 60, // at the end of a cycle
    LOOK_SECONDS = 15,  // at the end of those: by then all sessions are gone
    CYCLES_MAX = MINUTES_MAX / 3 + 1,
    SEQ_FIRST = 65000,
};
#define SLOPE_BYTES_MAX 1024.0   ///< an hour
#define SLACK_BYTES 262144.0     ///< of a run of less than three hours
#define HIGH_WATER_BYTES 32768.0 ///< small tables of rare indices, which still double once

typedef struct soak {
    uint64_t minutes, seed;
    bool is_table;
    scarce_memory server, guests;
    house house;
    watch watch;
    net_link_pair line;
    base_rng rng;
    uint32_t seconds;        // so far
    uint32_t change[GUESTS]; // second at which the guest leaves, or comes again
    uint32_t dark_until;     // second; 0: light
    uint64_t joins, blackouts;
    uint32_t lost;
    int64_t least[CYCLES_MAX]; // bytes in use, by cycle
} soak;

// ---- memory

// With a sanitizer the library does not count, and our own counters have to do.
static int64_t bytes_in_use(const soak* self) {
    struct mallinfo2 all = mallinfo2();
    int64_t counted = self->server.bytes + self->guests.bytes;
    int64_t used = (int64_t)(all.uordblks + all.hblkhd);
    // A server keeps a report of each session, NET_REPORTS_MAX at most.
    int64_t reports = (int64_t)(self->house.server->report_capacity * sizeof(net_peer_report));
    return (used > counted ? used : counted) - reports;
}

static uint32_t cycle_of(const soak* self) {
    return self->minutes >= LONG_MINUTES ? LONG_CYCLE : SHORT_CYCLE;
}

static bool is_emptying(const soak* self) {
    return self->seconds % cycle_of(self) >= cycle_of(self) - EMPTY_SECONDS;
}

static void look_at_memory(soak* self) {
    if (self->seconds % cycle_of(self) < cycle_of(self) - LOOK_SECONDS) return;
    uint32_t clients = net_server_get_counters(self->house.server)->clients;
    if (clients != STAYERS) watch_fail(&self->watch, "%" PRIu32 " sessions are open", clients);
    int64_t* least = &self->least[self->seconds / cycle_of(self)];
    int64_t bytes = bytes_in_use(self);
    if (*least == 0 || bytes < *least) *least = bytes;
}

// From the second cycle to the last whole one; from the end of the first hour where there is one.
static void check_memory(soak* self) {
    uint32_t cycles = (uint32_t)self->minutes * 60 / cycle_of(self);
    uint32_t first = cycles * SHORT_CYCLE > LONG_CYCLE ? LONG_CYCLE / SHORT_CYCLE - 1 : 1;
    if (cycle_of(self) == LONG_CYCLE) first = 1;
    if (cycles < first + 2) return;
    double rise = (double)(self->least[cycles - 1] - self->least[first]);
    bool is_long = self->minutes >= LONG_MINUTES;
    double limit = is_long ? HIGH_WATER_BYTES + SLOPE_BYTES_MAX * (cycles - 2) : SLACK_BYTES;
    printf("memory: %" PRId64 " bytes, then %" PRId64 ": %+.0f, at most %+.0f\n",
           self->least[first], self->least[cycles - 1], rise, limit);
    if (self->least[first] == 0) watch_fail(&self->watch, "memory was never looked at");
    if (rise > limit) watch_fail(&self->watch, "memory rises by %.0f bytes", rise);
}

// ---- who comes and goes

static uint32_t seconds_below(soak* self, uint32_t bound) {
    return 1 + base_rng_below(&self->rng, bound);
}

static void sit(soak* self, uint32_t index) {
    BASE_ASSERT(house_sit(&self->house, index));
    house_line_set(&self->house, index, &self->line);
    self->change[index] = self->seconds + BACK_SECONDS_MAX + seconds_below(self, STAY_SECONDS_MAX);
    self->joins++;
}

// Half of them say goodbye; of the others the server hears nothing for 30 s.
static void change_guest(soak* self, uint32_t index) {
    guest* one = &self->house.guests[index];
    if (!one->client) {
        if (!is_emptying(self)) sit(self, index);
        return;
    }
    bool is_gone = net_client_get_phase(one->client) == NET_CLIENT_ENDED;
    if (!is_gone && base_rng_chance(&self->rng, 0.5)) {
        net_client_leave(one->client, self->house.now_us);
        self->change[index] = self->seconds + 2;
        return;
    }
    house_clear(&self->house, index);
    self->change[index] = self->seconds + seconds_below(self, AWAY_SECONDS_MAX);
}

static void set_dark(soak* self, bool is_dark) {
    net_link_pair line = self->line;
    if (is_dark) line.up.loss_percent = line.down.loss_percent = 100;
    for (uint32_t i = 0; i < GUESTS; i++)
        if (self->house.guests[i].client) house_line_set(&self->house, i, &line);
    uint32_t until = self->seconds + seconds_below(self, BLACKOUT_SECONDS_MAX);
    self->dark_until = is_dark ? until : 0;
    self->blackouts += is_dark;
    // No guest leaves until all are back.
    for (uint32_t i = STAYERS; i < GUESTS; i++)
        if (self->change[i] < until + BACK_SECONDS_MAX)
            self->change[i] = until + BACK_SECONDS_MAX + i;
}

static void check_stayers(soak* self) {
    for (uint32_t i = 0; i < STAYERS; i++) {
        const guest* one = &self->house.guests[i];
        if (net_client_get_phase(one->client) != NET_CLIENT_ENDED) continue;
        watch_fail(&self->watch, "client %" PRIu32 " was lost", one->number);
    }
}

static void each_second(soak* self) {
    check_stayers(self);
    if (self->dark_until && self->seconds >= self->dark_until) set_dark(self, false);
    if (self->seconds % SECONDS_PER_BLACKOUT == FIRST_BLACKOUT_SECOND) set_dark(self, true);
    bool is_leaving = is_emptying(self);
    for (uint32_t i = STAYERS; i < GUESTS && !self->dark_until; i++)
        if (self->seconds >= self->change[i] || (is_leaving && self->house.guests[i].client))
            change_guest(self, i);
    look_at_memory(self);
}

// ---- the whole

static void print_row(const soak* self, clock_t begin) {
    uint32_t cycle = cycle_of(self), done = self->seconds / cycle;
    if (!self->is_table || self->seconds % cycle != 0) return;
    house_traffic traffic = house_get_traffic(&self->house);
    printf("%6" PRIu32 " min  %9" PRId64 " B in use, server %8" PRId64 ", guests %9" PRId64
           "; joins %6" PRIu64 ", resumed %4" PRIu64 ", datagrams %9" PRIu64 "; %.0f s\n",
           self->seconds / 60, self->least[done - 1], self->server.bytes, self->guests.bytes,
           self->joins, net_server_get_counters(self->house.server)->resumes, traffic.datagrams,
           (double)(clock() - begin) / CLOCKS_PER_SEC);
}

static void play(soak* self) {
    clock_t begin = clock();
    for (uint32_t i = 0; i < GUESTS; i++)
        sit(self, i);
    while (self->seconds < self->minutes * 60 && !self->watch.failure[0]) {
        for (uint32_t i = 0; i < HOUSE_TICKS_PER_SECOND; i++)
            house_step(&self->house);
        self->seconds++;
        each_second(self);
        print_row(self, begin);
    }
    uint64_t packets = self->minutes * 60 * HOUSE_TICKS_PER_SECOND + SEQ_FIRST;
    printf("%" PRIu64 " minutes, %" PRIu64 " joins, %" PRIu64 " blackouts, %" PRIu64
           " rows checked, %" PRIu64 " mismatches, %" PRIu64
           " event faults, packet numbers wrapped "
           "%" PRIu64 " times, %.1f s of processor time\n",
           self->minutes, self->joins, self->blackouts, self->watch.rows, self->watch.mismatches,
           self->watch.event_faults, packets / 65536, (double)(clock() - begin) / CLOCKS_PER_SEC);
}

static bool open_house(soak* self) {
    scarce_init(&self->server);
    scarce_init(&self->guests);
    self->rng = base_rng_make(self->seed, 3);
    base_reporter reporter = base_reporter_stderr();
    if (net_link_config_parse(profile_find("P2")->even, &reporter, &self->line) != NET_OK)
        return false;
    const house_config config = {.seed = self->seed,
                                 .guests = GUESTS,
                                 .coder = NET_CODER_SOLO,
                                 .quiet_tick = 4000000000u,
                                 .viewers = VIEWERS,
                                 .watched = STAYERS + 1,
                                 .seq_first = SEQ_FIRST,
                                 .server_memory = &self->server.allocator,
                                 .guest_memory = &self->guests.allocator};
    return house_open(&self->house, &config, &self->watch);
}

#define FIELD(name) BASE_OPTION_FIELD(soak, name)

int main(int argc, char** argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    static soak self = {.minutes = 24 * 60, .seed = 1};
    const base_option table[] = {
        {"minutes", FIELD(minutes), "M", "of the match", 1, MINUTES_MAX - 1},
        {"seed", FIELD(seed), "N", "of match, lines and guests", 0, 0},
        {"table", FIELD(is_table), NULL, "print a line for each look at memory", 0, 0},
    };
    base_option_list words = {0};
    const tool about = {"soak", "[options]",
                        "Hours of a match with everything between game and wire, in virtual time."};
    const int code = tool_options_read(about, table, &self, argc, argv, &words);
    if (code >= 0) return code;
    if (open_house(&self)) {
        play(&self);
        if (!self.watch.failure[0]) check_memory(&self);
    } else {
        watch_fail(&self.watch, "the house could not be opened");
    }
    house_close(&self.house);
    if (!self.watch.failure[0]) return 0;
    printf("FAILED seed=%" PRIu64 " after %" PRIu32 " s: %s\nrepeat it: %s --minutes %" PRIu64
           " --seed %" PRIu64 "\n",
           self.seed, self.seconds, self.watch.failure, argv[0], self.minutes, self.seed);
    return 1;
}
