// SPDX-License-Identifier: MIT
// Many matches on the simulated network, one per seed. A failure prints the seed that repeats it.
//
//   scenario [--first N] [--count N] [--threads] [--hashes] [--fault NAME]
//
// SHOAL_TEST_SCALE multiplies the count (sanitizer builds run fewer, a night run more). Half of the
// seeds run twice. The second run is a twin that must send the same datagrams: the same again while
// the server is asked about itself, with the net half on 1, 2, 4 or 7 threads (in half of these the
// systems of all worlds run on 2, 3, 1 or 8, and all worlds must have the same values), with
// nothing shared between clients, without bandwidth accounting, or with other values where no
// client may see them.
//
// A twentieth of the seeds run twice with clients that would watch: once the server has no place
// for them. What players get, and the states, must be the same.
//
// A twentieth of the seeds run again with solo code for every second client and with clients that
// stall, once more so on threads.
//
// --threads gives every seed that twin with all worlds.
//
// --hashes prints only one line per seed, for exactly the given seeds. Every compiler, level of
// optimization and machine must print the same lines (golden.txt). --fault plants a fault; only
// scenario_faults has them.
#include "harness.h"

#include "base/text.h"
#include "tool_options.h"
#include "faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SEEDS_MIN = 25, // so many see every check at work
    // Longer than half of the smallest window, shorter than what looks like a lost line.
    STALL_TICKS = 30,
};

typedef struct asked {
    uint64_t first, count;
    const char* fault;
    bool is_all_threads, has_hashes;
} asked;
#define FIELD(name) BASE_OPTION_FIELD(asked, name)

// ---- twins

typedef enum twin {
    TWIN_NONE,
    TWIN_REPEAT,
    TWIN_THREAD,
    TWIN_SOLO,
    TWIN_SECRET,
    TWIN_PRIVATE,
    TWIN_CODER,
    TWIN_WATCH
} twin;

static twin twin_of(uint64_t seed, bool is_all_threads) {
    static const twin twins[10] = {TWIN_REPEAT, TWIN_NONE, TWIN_SECRET, TWIN_NONE,    TWIN_THREAD,
                                   TWIN_NONE,   TWIN_SOLO, TWIN_NONE,   TWIN_PRIVATE, TWIN_NONE};
    if (is_all_threads) return TWIN_THREAD;
    if (seed % 20 == 13) return TWIN_WATCH;
    return seed % 20 == 9 ? TWIN_CODER : twins[seed % 10];
}

static scenario_config config_of(uint64_t seed, bool is_all_threads) {
    scenario_config config = scenario_config_draw(seed);
    twin kind = twin_of(seed, is_all_threads);
    config.has_worlds = is_all_threads || (kind == TWIN_THREAD && seed / 10 % 2 == 0);
    if (kind == TWIN_SECRET) scenario_config_hide(&config, false);
    if (kind == TWIN_PRIVATE) scenario_config_hide(&config, true);
    return config;
}

// Solo code: other datagrams, for which all checks hold; and the same ones on threads that share no
// row.
static void run_coder(const scenario_config* config, scenario_result* result) {
    scenario_config other = *config;
    other.has_solo = true;
    other.stall_ticks = STALL_TICKS;
    scenario_result solo = scenario_run(&other);
    other.is_threaded = other.is_solo = other.is_asked = true;
    other.lanes = 2;
    scenario_result again = solo.is_passed ? scenario_run(&other) : solo;
    uint64_t packets = result->counts.solo + solo.counts.solo;
    if (!again.is_passed || again.datagram_hash != solo.datagram_hash) *result = again;
    result->counts.solo = packets;
    if (!result->is_passed || again.datagram_hash == solo.datagram_hash) return;
    result->is_passed = false;
    base_text_copy(result->failure, sizeof result->failure,
                   "thread check: solo code on threads, not shared, sent other datagrams");
}

// All checks hold for spectators too. Their sessions begin and end beside those of players.
static void run_watched(const scenario_config* config, scenario_result* result) {
    scenario_config other = *config;
    other.spectators = SCENARIO_SPECTATORS_MAX;
    scenario_result alone = scenario_run(&other);
    other.spectator_places = SCENARIO_SPECTATORS_MAX;
    scenario_result watched = alone.is_passed ? scenario_run(&other) : alone;
    result->counts.spectators = watched.counts.spectators;
    if (!watched.is_passed) {
        *result = watched;
    } else if (watched.players_hash != alone.players_hash ||
               watched.state_hash != alone.state_hash) {
        result->is_passed = false;
        base_text_copy(result->failure, sizeof result->failure,
                       "watch check: spectators changed the match, or what players are sent");
    }
}

static void run_twin(const scenario_config* config, twin kind, scenario_result* result) {
    static const char* const names[] = {
        [TWIN_REPEAT] = "repeat check: the same seed gave other datagrams",
        [TWIN_THREAD] = "thread check: the net half on threads sent other datagrams",
        [TWIN_SOLO] = "share check: codes that were not shared are others",
        [TWIN_PRIVATE] =
            "secrecy check: values that only client 1 may see changed what others were sent",
        [TWIN_SECRET] = "secrecy check: values that no client may see changed what was sent",
    };
    scenario_config other = *config;
    // Also more lanes than clients. Each has a thread.
    static const uint32_t lanes[] = {2, 4, 7, 1}, threads[] = {2, 3, 1, 8};
    other.is_threaded = kind == TWIN_THREAD;
    if (kind == TWIN_THREAD) {
        other.lanes = lanes[config->seed / 10 % BASE_COUNT(lanes)];
        if (config->has_worlds) other.threads = threads[config->seed / 20 % BASE_COUNT(threads)];
    }
    other.is_solo = kind == TWIN_SOLO;
    other.is_asked = kind == TWIN_REPEAT || kind == TWIN_THREAD;
    if (kind == TWIN_SOLO) other.has_accounts = !config->has_accounts;
    other.is_salted = kind == TWIN_SECRET || kind == TWIN_PRIVATE;
    faults_set_run(kind == TWIN_REPEAT);
    scenario_result again = scenario_run(&other);
    faults_set_run(0);
    result->counts.explained = again.counts.explained;
    result->counts.ledgers = again.counts.ledgers;
    result->counts.values = again.counts.values;
    if (!again.is_passed) {
        *result = again;
        return;
    }
    bool is_same = again.state_hash == result->state_hash;
    bool is_secret = kind == TWIN_SECRET || kind == TWIN_PRIVATE;
    if (is_secret && !is_same) result->counts.secrets++;
    if (kind == TWIN_PRIVATE)
        is_same = again.others_hash == result->others_hash;
    else
        is_same = again.datagram_hash == result->datagram_hash && (is_same || is_secret);
    const bool are_worlds_same = again.worlds_hash == result->worlds_hash;
    if (is_same && are_worlds_same) return;
    result->is_passed = false;
    base_text_copy(result->failure, sizeof result->failure,
                   are_worlds_same ? names[kind] : "thread check: systems on threads differ");
}

// ---- all seeds

enum { COUNTS = sizeof(scenario_counts) / sizeof(uint64_t) };

typedef struct totals {
    uint64_t passed, failed, starved_ticks_max;
    scenario_counts sums;
} totals;

static uint64_t* count_at(scenario_counts* of, uint32_t i) {
    return (uint64_t*)(void*)of + i;
}

static void add(totals* all, scenario_result* one) {
    for (uint32_t i = 0; i < COUNTS; i++)
        *count_at(&all->sums, i) += *count_at(&one->counts, i);
    if (one->starved_ticks_max > all->starved_ticks_max)
        all->starved_ticks_max = one->starved_ticks_max;
}

static void print_totals(totals* all) {
    static const char* const names[] = {
        "sessions",    "updates",       "rows_checked", "rows_hidden",     "datagrams_lost",
        "unreachable", "unheard",       "resumes",      "records_checked", "scopes_checked",
        "kin_checked", "texts_checked", "resyncs",      "bandwidth_bits",  "secrets",
        "solo",        "spectators",    "explained",    "ledgers",         "values"};
    _Static_assert(BASE_COUNT(names) == COUNTS, "a name for each");
    for (uint32_t i = 0; i < COUNTS; i++)
        printf("%s=%" PRIu64 " ", names[i], *count_at(&all->sums, i));
    printf("longest_wait_ticks=%" PRIu64 "\n%" PRIu64 " passed, %" PRIu64 " failed\n",
           all->starved_ticks_max, all->passed, all->failed);
}

static int print_hashes(uint64_t first, uint64_t count) {
    for (uint64_t seed = first; seed < first + count; seed++) {
        scenario_config config = config_of(seed, false);
        scenario_result result = scenario_run(&config);
        if (!result.is_passed) {
            fprintf(stderr, "FAILED seed=%" PRIu64 ": %s\n", seed, result.failure);
            return 1;
        }
        printf("seed=%" PRIu64 " datagram_hash=%016" PRIx64 " state_hash=%016" PRIx64
               " rows=%" PRIu64 "\n",
               seed, result.datagram_hash, result.state_hash, result.counts.rows_checked);
    }
    return 0;
}

static void print_failure(uint64_t seed, const scenario_config* config, const char* text) {
    printf("FAILED seed=%" PRIu64 " clients=%" PRIu32 " ticks=%" PRIu32
           " loss=%.1f burst=%.0f way=%d delay=%.0f jitter=%.0f wild=%d rules=%" PRIu32
           " load=%" PRIu32 " rate=%" PRIu32 " divisor=%" PRIu32 " seq=%u tick=%" PRIu64
           " cut=%" PRIu32 " corrupted=%" PRIu32 ": %s\n",
           seed, config->clients, config->ticks, config->link.loss_percent, config->link.burst_ms,
           (int)config->way, config->link.delay_ms, config->link.jitter_ms, config->is_wild,
           config->rules, config->load, config->rate_max, config->send_divisor, config->seq_first,
           config->tick_zero, config->cut_ticks, config->corrupt_tick, text);
}

int main(int argc, char** argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    asked self = {.first = 1, .count = 100};
    const base_option table[] = {
        {"first", FIELD(first), "N", "the first seed", 0, 0},
        {"count", FIELD(count), "N", "of seeds", 0, 0},
        {"threads", FIELD(is_all_threads), NULL, "each seed twice, with all worlds on threads", 0,
         0},
        {"hashes", FIELD(has_hashes), NULL, "print a line for each seed", 0, 0},
        {"fault", FIELD(fault), "NAME", "plant a fault", 0, 0},
    };
    const tool about = {"scenario", "[options]", "Matches on the simulated network, one per seed."};
    const int code = tool_options_read(about, table, &self, argc, argv, NULL);
    if (code >= 0) return code;
    const uint64_t first = self.first;
    uint64_t count = self.count;
    if (self.fault && !faults_plant(self.fault)) {
        fprintf(stderr, "no such fault in this program: %s\n", self.fault);
        return 2;
    }
    if (self.has_hashes) return print_hashes(first, count);
    const char* scale_text = getenv("SHOAL_TEST_SCALE");
    double scale = 1;
    if (scale_text && base_text_parse_f64(scale_text, &scale) && scale > 0 && !self.fault) {
        uint64_t least = count < SEEDS_MIN ? count : SEEDS_MIN;
        count = (uint64_t)((double)count * scale);
        if (count < least) count = least;
    }
    printf("seeds %" PRIu64 "..%" PRIu64 "\n", first, first + count - 1);
    totals all = {0};
    for (uint64_t seed = first; seed < first + count && all.failed == 0; seed++) {
        scenario_config config = config_of(seed, self.is_all_threads);
        scenario_result result = scenario_run(&config);
        twin kind = twin_of(seed, self.is_all_threads);
        if (result.is_passed && kind == TWIN_CODER)
            run_coder(&config, &result);
        else if (result.is_passed && kind == TWIN_WATCH)
            run_watched(&config, &result);
        else if (result.is_passed && kind != TWIN_NONE)
            run_twin(&config, kind, &result);
        add(&all, &result);
        if (result.is_passed) {
            all.passed++;
        } else {
            all.failed++;
            print_failure(seed, &config, result.failure);
            printf("repeat it: %s --first %" PRIu64 " --count 1%s%s\n", argv[0], seed,
                   self.fault ? " --fault " : "", self.fault ? self.fault : "");
        }
    }
    print_totals(&all);
    // A check that saw no data has proved nothing, so this fails.
    const scenario_counts* sums = &all.sums;
    const uint64_t needed[] = {sums->rows_checked,   sums->datagrams_lost, sums->sessions,
                               sums->rows_hidden,    sums->kin_checked,    sums->texts_checked,
                               sums->bandwidth_bits, sums->scopes_checked, sums->explained,
                               sums->ledgers,        sums->values};
    // Not every seed has these, nor any run with --threads; one match in twenty has the last two.
    bool is_blind =
        !self.is_all_threads &&
        (sums->secrets == 0 || (count >= 100 && (sums->solo == 0 || sums->spectators == 0)));
    for (uint32_t i = 0; i < BASE_COUNT(needed); i++)
        is_blind |= needed[i] == 0;
    is_blind &= all.failed == 0 && count >= SEEDS_MIN;
    if (is_blind) printf("nothing was checked\n");
    return all.failed || is_blind ? 1 : 0;
}
