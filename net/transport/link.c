// SPDX-License-Identifier: MIT
// Bursts are Gilbert and Elliott's model in steps of a millisecond: from the good state, which
// loses nothing, to the bad one, which loses all, and back. A step of fixed length needs no
// logarithm, whose last bit is not the same in every C library.
#include "net/transport.h"

#include "base/assert.h"
#include "base/macros.h"
#include "base/text.h"

#include <string.h>

// After this many steps the state has forgotten where it began; so a long silence costs no more.
#define BURST_STEPS_MAX UINT64_C(60000)

enum { STREAM_BURSTS = 1, STREAM_FLIPS, STREAM_REBINDS };

// The rarer faults, each with a random stream of its own.
typedef struct net_link_faults {
    base_rng bursts, flips, rebinds;
    bool has_begun; // burst_ms is counted since begun
    bool is_bad;    // in a burst
    uint64_t burst_at_ms;
    uint64_t rebind_us; // when the next one is due; 0: not known yet
} net_link_faults;

// Bits to flip, by number from the first byte's lowest one; all different.
typedef struct net_link_flips {
    uint32_t count;
    uint32_t bits[NET_LINK_FLIPPED_BITS_MAX];
} net_link_flips;

// The keys of a config, and their ranges.

enum { TEXT_BYTES_MAX = 512, KEY_SEED = 13, KEY_COUNT };

typedef struct key_range {
    double low, high;
    size_t offset;
    const char* zero; // meaning of 0 where `low` is above it
} key_range;

static const char* const key_names[KEY_COUNT] = {
    "loss", "burst", "delay", "jitter", "duplicate", "reorder",    "flip",
    "rate", "queue", "mtu",   "rebind", "outage_at", "outage_for", "seed"};

static const key_range key_ranges[KEY_SEED] = {
    {0, 100, offsetof(net_link_config, loss_percent), NULL},
    {NET_LINK_BURST_MS_MIN, NET_LINK_MS_MAX, offsetof(net_link_config, burst_ms), "no bursts"},
    {0, NET_LINK_MS_MAX, offsetof(net_link_config, delay_ms), NULL},
    {0, NET_LINK_MS_MAX, offsetof(net_link_config, jitter_ms), NULL},
    {0, 100, offsetof(net_link_config, duplicate_percent), NULL},
    {0, 100, offsetof(net_link_config, reorder_percent), NULL},
    {0, 100, offsetof(net_link_config, flip_percent), NULL},
    {NET_LINK_RATE_KBIT_MIN, NET_LINK_RATE_KBIT_MAX, offsetof(net_link_config, rate_kbit),
     "unlimited"},
    {NET_LINK_QUEUE_MS_MIN, NET_LINK_MS_MAX, offsetof(net_link_config, queue_ms), "500"},
    {NET_LINK_MTU_BYTES_MIN, NET_LINK_BYTES_MAX, offsetof(net_link_config, mtu_bytes), "unlimited"},
    {NET_LINK_REBIND_MS_MIN, NET_LINK_OUTAGE_MS_MAX, offsetof(net_link_config, rebind_ms), "never"},
    {0, NET_LINK_OUTAGE_MS_MAX, offsetof(net_link_config, outage_at_ms), NULL},
    {0, NET_LINK_OUTAGE_MS_MAX, offsetof(net_link_config, outage_for_ms), NULL},
};

static bool is_in_range(const key_range* range, double value) {
    return (range->zero && value == 0) || (value >= range->low && value <= range->high);
}

// Whether a config is one that net_link_config_parse could return.
static bool config_is_sound(const net_link_config* config) {
    for (int key = 0; key < KEY_SEED; key++) {
        double value;
        memcpy(&value, (const char*)config + key_ranges[key].offset, sizeof value);
        if (!is_in_range(&key_ranges[key], value)) return false;
    }
    return true;
}

static void net_link_faults_init(net_link_faults* made, uint64_t seed) {
    *made = (net_link_faults){.bursts = base_rng_make(seed, STREAM_BURSTS),
                              .flips = base_rng_make(seed, STREAM_FLIPS),
                              .rebinds = base_rng_make(seed, STREAM_REBINDS)};
}

static double draw(base_rng* rng) {
    return base_rng_u32(rng) * 0x1p-32;
}

// The share of bad milliseconds is enter / (enter + leave) = loss_percent / 100.
static void step(net_link_faults* faults, const net_link_config* config) {
    double leave = 1.0 / config->burst_ms;
    double enter = leave * config->loss_percent;
    double good = 100.0 - config->loss_percent;
    double chance = draw(&faults->bursts);
    if (faults->is_bad)
        faults->is_bad = good == 0 || chance >= leave;
    else
        faults->is_bad = chance * good < enter;
}

// Move the state of bursts on to now. @return whether the line is in a burst.
static bool net_link_faults_burst(net_link_faults* faults, const net_link_config* config,
                                  uint64_t now_us) {
    if (config->burst_ms == 0) return false;
    uint64_t now_ms = now_us / 1000;
    if (!faults->has_begun) faults->burst_at_ms = now_ms;
    faults->has_begun = true;
    if (now_ms - faults->burst_at_ms > BURST_STEPS_MAX)
        faults->burst_at_ms = now_ms - BURST_STEPS_MAX;
    for (; faults->burst_at_ms < now_ms; faults->burst_at_ms++)
        step(faults, config);
    return faults->is_bad;
}

// Draw the flipped bits of the next datagram, of `size` bytes. A count of 0: none.
static net_link_flips net_link_faults_flips(net_link_faults* faults, const net_link_config* config,
                                            size_t size) {
    net_link_flips flips = {0};
    bool is_flipped = draw(&faults->flips) * 100.0 < config->flip_percent;
    if (!is_flipped || size == 0) return flips;
    uint32_t count = 1 + base_rng_below(&faults->flips, NET_LINK_FLIPPED_BITS_MAX);
    while (flips.count < count) {
        uint32_t bit = base_rng_below(&faults->flips, (uint32_t)size * 8);
        bool is_new = true;
        for (uint32_t i = 0; i < flips.count; i++)
            is_new &= flips.bits[i] != bit;
        if (is_new) flips.bits[flips.count++] = bit;
    }
    return flips;
}

// @return true once when the next rebinding is due.
static bool net_link_faults_rebind(net_link_faults* faults, const net_link_config* config,
                                   uint64_t now_us) {
    if (config->rebind_ms == 0) return false;
    bool is_due = faults->rebind_us != 0 && now_us >= faults->rebind_us;
    if (faults->rebind_us == 0 || is_due) {
        double wait_ms = config->rebind_ms * (0.5 + draw(&faults->rebinds));
        faults->rebind_us = now_us + (uint64_t)(wait_ms * 1000.0);
    }
    return is_due;
}

// One direction of a bad path. A datagram is checked once, when it is put in: lost or not, when it
// arrives, whether a twin follows. What lives waits in slots, which are ordered by a binary
// heap over (arrival, order of sending), so the same seed and the same pushes give the same
// deliveries in the same order, on every machine.
//
// Every push draws exactly DRAWS_PER_PUSH numbers, whatever the configuration: changing the loss of
// a path in the middle of a run leaves the later jitter what it would have been. Bursts, flipped
// bits and new ports have streams of their own.
//
// The rate models one transmitter: a datagram leaves when those before it are out. It counts the 28
// bytes of IP and UDP around the payload, as a real line does. A queue that is longer than queue_ms
// loses what comes (drop tail).
//
// A slot is allocated when none is free, and stays: a quiet path is a few kilobytes. A thousand
// paths of a server lie close together then, and what a push compares side by side in the heap.

enum {
    DRAWS_PER_PUSH = 6,
    HEADER_BYTES = 28, // IPv4 and UDP
};

typedef struct slot slot;
struct slot {
    slot* next_free;
    uint64_t arrival_us;
    net_link_tag tag;
    uint32_t size;
    uint8_t bytes[NET_LINK_BYTES_MAX];
};

// In the heap: the earliest first, of equal ones the first sent.
typedef struct arrival {
    uint64_t us;
    uint64_t order;
    slot* slot;
} arrival;

struct net_link {
    base_owner owner;
    net_link_config config;
    net_link_stats stats;
    base_rng rng;
    net_link_faults faults;
    uint64_t order_next;
    uint64_t busy_until_us; // of the transmitter
    uint64_t first_us;      // of the first datagram; with has_first
    bool has_first;
    uint32_t slot_count;
    slot* first_free;
    slot* borrowed; // out of the heap, not yet free; NULL when there is none
    arrival* heap;
    uint32_t heap_count, heap_capacity;
};

net_link* net_link_create(const base_allocator* allocator, const net_link_config* config) {
    BASE_ASSERT(config && config_is_sound(config));
    net_link* made = base_owner_create(allocator, sizeof *made);
    made->config = *config;
    made->rng = base_rng_make(config->seed, 0);
    net_link_faults_init(&made->faults, config->seed);
    return made;
}

void net_link_config_set(net_link* link, const net_link_config* config) {
    BASE_ASSERT(link && config);
    BASE_ASSERT(config_is_sound(config));
    if (config->seed != link->config.seed) {
        link->rng = base_rng_make(config->seed, 0);
        net_link_faults_init(&link->faults, config->seed);
    }
    link->config = *config;
}

static bool is_before(arrival a, arrival b) {
    return a.us != b.us ? a.us < b.us : a.order < b.order;
}

static void heap_push(net_link* link, arrival pushed) {
    uint32_t at = link->heap_count++;
    while (at > 0) {
        uint32_t parent = (at - 1) / 2;
        if (!is_before(pushed, link->heap[parent])) break;
        link->heap[at] = link->heap[parent];
        at = parent;
    }
    link->heap[at] = pushed;
}

static slot* heap_pop(net_link* link) {
    slot* top = link->heap[0].slot;
    const arrival moved = link->heap[--link->heap_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= link->heap_count) break;
        if (child + 1 < link->heap_count && is_before(link->heap[child + 1], link->heap[child]))
            child++;
        if (!is_before(link->heap[child], moved)) break;
        link->heap[at] = link->heap[child];
        at = child;
    }
    if (link->heap_count > 0) link->heap[at] = moved;
    return top;
}

// @return a slot with room in the heap; NULL: there are too many.
static slot* take_slot(net_link* link) {
    slot* taken = link->first_free;
    if (taken) {
        link->first_free = taken->next_free;
        return taken;
    }
    if (link->slot_count == NET_LINK_DATAGRAMS_MAX) return NULL;
    link->slot_count++;
    BASE_ARRAY_RESERVE(&link->owner.allocator, link->heap, link->heap_capacity, link->slot_count);
    return base_allocate(&link->owner.allocator, sizeof *taken);
}

static uint64_t us_from_ms(double ms) {
    return (uint64_t)(ms * 1000.0 + 0.5);
}

// @return the copied bytes; NULL when there is no slot.
static uint8_t* put_datagram(net_link* link, uint64_t arrival_us, net_link_tag tag,
                             const void* bytes, size_t size) {
    slot* taken = take_slot(link);
    if (!taken) {
        link->stats.overflowed++;
        return NULL;
    }
    taken->arrival_us = arrival_us;
    taken->tag = tag;
    taken->size = (uint32_t)size;
    if (size > 0) memcpy(taken->bytes, bytes, size);
    heap_push(link, (arrival){arrival_us, link->order_next++, taken});
    return taken->bytes;
}

// When the transmitter has sent these bytes; UINT64_MAX when its queue is too long.
static uint64_t departure_us(net_link* link, uint64_t now_us, size_t size) {
    if (link->config.rate_kbit == 0) return now_us;
    uint64_t start_us = link->busy_until_us > now_us ? link->busy_until_us : now_us;
    double queue_ms = link->config.queue_ms > 0 ? link->config.queue_ms : NET_LINK_QUEUE_MS_DEFAULT;
    if (start_us - now_us > us_from_ms(queue_ms)) return UINT64_MAX;
    double bits = (double)(size + HEADER_BYTES) * 8.0;
    link->busy_until_us = start_us + us_from_ms(bits / link->config.rate_kbit);
    return link->busy_until_us;
}

bool net_link_is_out(const net_link* link, uint64_t now_us) {
    BASE_ASSERT(link);
    const net_link_config* config = &link->config;
    if (config->outage_for_ms <= 0 || !link->has_first) return false;
    uint64_t begin_us = link->first_us + us_from_ms(config->outage_at_ms);
    return now_us >= begin_us && now_us - begin_us < us_from_ms(config->outage_for_ms);
}

// Each of them is asked for every datagram, so that none changes the chances of the others.
static bool is_lost(net_link* link, uint64_t now_us, double chance, size_t size) {
    const net_link_config* config = &link->config;
    bool is_in_burst = net_link_faults_burst(&link->faults, config, now_us);
    bool is_unlucky = config->burst_ms > 0 ? is_in_burst : chance * 100.0 < config->loss_percent;
    bool is_too_long = config->mtu_bytes > 0 && (double)size > config->mtu_bytes;
    return is_unlucky || is_too_long || net_link_is_out(link, now_us);
}

void net_link_push(net_link* link, uint64_t now_us, net_link_tag tag, const void* bytes,
                   size_t size) {
    BASE_ASSERT(link && (bytes || size == 0));
    const net_link_config* config = &link->config;
    double draws[DRAWS_PER_PUSH];
    for (uint32_t i = 0; i < DRAWS_PER_PUSH; i++)
        draws[i] = draw(&link->rng);
    net_link_flips flips = net_link_faults_flips(&link->faults, config, size);
    link->stats.sent++;
    if (!link->has_first) link->first_us = now_us;
    link->has_first = true;
    if (size > NET_LINK_BYTES_MAX) {
        link->stats.overflowed++;
        return;
    }
    uint64_t left_us = departure_us(link, now_us, size);
    if (left_us == UINT64_MAX) {
        link->stats.overflowed++;
        return;
    }
    if (is_lost(link, now_us, draws[0], size)) {
        link->stats.lost++;
        return;
    }
    uint64_t path_us = left_us + us_from_ms(config->delay_ms);
    uint64_t arrival_us = path_us + us_from_ms(draws[1] * config->jitter_ms);
    if (draws[2] * 100.0 < config->reorder_percent) {
        arrival_us += us_from_ms(1.0 + draws[3] * (config->jitter_ms + 9.0));
        link->stats.reordered++;
    }
    uint8_t* copy = put_datagram(link, arrival_us, tag, bytes, size);
    if (!copy) return;
    for (uint32_t i = 0; i < flips.count; i++)
        copy[flips.bits[i] / 8] ^= (uint8_t)(1u << flips.bits[i] % 8);
    link->stats.flipped += flips.count > 0;
    if (draws[4] * 100.0 >= config->duplicate_percent) return;
    if (put_datagram(link, path_us + us_from_ms(draws[5] * config->jitter_ms), tag, bytes, size))
        link->stats.duplicated++;
}

const uint8_t* net_link_peek(net_link* link, uint64_t now_us, net_link_tag* tag, size_t* size) {
    BASE_ASSERT(link && size);
    if (!link->borrowed) {
        if (link->heap_count == 0 || link->heap[0].us > now_us) return NULL;
        link->borrowed = heap_pop(link);
    }
    if (tag) *tag = link->borrowed->tag;
    *size = link->borrowed->size;
    return link->borrowed->bytes;
}

void net_link_pop(net_link* link) {
    BASE_ASSERT(link && link->borrowed);
    link->borrowed->next_free = link->first_free;
    link->first_free = link->borrowed;
    link->borrowed = NULL;
    link->stats.delivered++;
}

uint64_t net_link_next_us(const net_link* link) {
    BASE_ASSERT(link);
    if (link->borrowed) return link->borrowed->arrival_us;
    return link->heap_count > 0 ? link->heap[0].us : UINT64_MAX;
}

bool net_link_rebind_is_due(net_link* link, uint64_t now_us) {
    BASE_ASSERT(link);
    return link->has_first && net_link_faults_rebind(&link->faults, &link->config, now_us);
}

const net_link_stats* net_link_get_stats(const net_link* link) {
    BASE_ASSERT(link);
    return &link->stats;
}

// The text form of a link: a preset, then KEY=NUMBER, separated by commas. One table says the keys
// and their ranges; a wrong key is answered with the nearest right one, a wrong number with its
// range.

typedef enum side { SIDE_BOTH, SIDE_UP, SIDE_DOWN, SIDE_COUNT } side;

// One way, as a player at home, on the road, in a train and on a farm has it on a usual evening.
typedef struct preset {
    const char* name;
    net_link_config up;
    double down_rate_kbit, down_jitter_ms; // else the way down is as the way up
} preset;

static const preset presets[] = {
    {"wifi",
     {.loss_percent = 1, .burst_ms = 30, .delay_ms = 10, .jitter_ms = 15, .reorder_percent = 0.5},
     .down_jitter_ms = 15},
    {"4g",
     {.loss_percent = 1,
      .delay_ms = 30,
      .jitter_ms = 30,
      .rate_kbit = 5000,
      .queue_ms = 400,
      .reorder_percent = 1},
     .down_rate_kbit = 20000,
     .down_jitter_ms = 20},
    {"bad",
     {.loss_percent = 10,
      .burst_ms = 100,
      .delay_ms = 60,
      .jitter_ms = 60,
      .duplicate_percent = 2,
      .reorder_percent = 3,
      .rate_kbit = 512,
      .queue_ms = 1000},
     .down_rate_kbit = 2000,
     .down_jitter_ms = 60},
    {"satellite",
     {.loss_percent = 1, .burst_ms = 80, .delay_ms = 290, .jitter_ms = 20, .rate_kbit = 3000},
     .down_rate_kbit = 20000,
     .down_jitter_ms = 20},
};

typedef struct reading {
    net_link_pair pair;
    uint32_t seen[SIDE_COUNT]; // keys, as bits
    bool is_begun;             // an item was read
    const base_reporter* reporter;
} reading;

static int key_find(const char* name) {
    for (int i = 0; i < KEY_COUNT; i++)
        if (strcmp(name, key_names[i]) == 0) return i;
    return -1;
}

// ---- values

static void write_value(net_link_config* config, int key, double number, uint64_t seed) {
    if (key == KEY_SEED)
        config->seed = seed;
    else
        memcpy((char*)config + key_ranges[key].offset, &number, sizeof number);
}

// What a side says wins over what both sides say, whichever comes first.
static void write_sides(reading* to, side of, int key, double number, uint64_t seed) {
    uint32_t bit = 1u << key;
    if (of == SIDE_UP || (of == SIDE_BOTH && !(to->seen[SIDE_UP] & bit)))
        write_value(&to->pair.up, key, number, seed);
    if (of == SIDE_DOWN || (of == SIDE_BOTH && !(to->seen[SIDE_DOWN] & bit)))
        write_value(&to->pair.down, key, number, seed);
}

static net_result parse_value(reading* to, side of, int key, const char* text) {
    double number = 0;
    uint64_t seed = 0;
    if (key == KEY_SEED) {
        if (!base_text_parse_u64(text, &seed))
            return BASE_REPORT_AS(NET_ERR_MALFORMED, to->reporter, NULL, 0,
                                  "seed is \"%s\": write a whole number", text);
    } else {
        const key_range* range = &key_ranges[key];
        if (!base_text_parse_f64(text, &number) || !is_in_range(range, number))
            return BASE_REPORT_AS(NET_ERR_MALFORMED, to->reporter, NULL, 0,
                                  "%s is \"%s\": write a number from %g to %g%s%s", key_names[key],
                                  text, range->low, range->high, range->zero ? ", or 0 for " : "",
                                  range->zero ? range->zero : "");
    }
    write_sides(to, of, key, number, seed);
    return NET_OK;
}

// ---- items

static const char* take_side(const char* item, side* of) {
    static const char* const prefixes[SIDE_COUNT] = {"", "up.", "down."};
    for (side each = SIDE_UP; each < SIDE_COUNT; each++) {
        size_t size = strlen(prefixes[each]);
        *of = each;
        if (strncmp(item, prefixes[each], size) == 0) return item + size;
    }
    *of = SIDE_BOTH;
    return item;
}

static net_result report_unknown(const reading* to, const char* item) {
    base_nearest nearest = base_nearest_begin(item);
    for (size_t i = 0; i < BASE_COUNT(key_names); i++)
        base_nearest_offer(&nearest, key_names[i]);
    for (size_t i = 0; i < BASE_COUNT(presets); i++)
        base_nearest_offer(&nearest, presets[i].name);
    if (nearest.found)
        base_report(to->reporter, NULL, 0, "no link setting \"%s\": did you mean %s?", item,
                    nearest.found);
    else
        base_report(to->reporter, NULL, 0,
                    "no link setting \"%s\": there are loss, burst, delay, jitter, duplicate, "
                    "reorder, flip, rate, queue, mtu, rebind, outage_at, outage_for and seed, and "
                    "the presets wifi, 4g, bad and satellite",
                    item);
    return NET_ERR_UNKNOWN;
}

static const preset* preset_find(const char* name) {
    for (size_t i = 0; i < BASE_COUNT(presets); i++)
        if (strcmp(presets[i].name, name) == 0) return &presets[i];
    return NULL;
}

static net_result parse_preset(reading* to, const preset* named) {
    if (to->is_begun)
        return BASE_REPORT_AS(NET_ERR_MALFORMED, to->reporter, NULL, 0,
                              "%s is not first: write \"%s,KEY=NUMBER\"", named->name, named->name);
    to->pair = (net_link_pair){.up = named->up, .down = named->up};
    to->pair.down.rate_kbit = named->down_rate_kbit;
    to->pair.down.jitter_ms = named->down_jitter_ms;
    return NET_OK;
}

static net_result parse_item(reading* to, const char* item, const char* value) {
    const preset* named = preset_find(item);
    if (named && !value) return parse_preset(to, named);
    side of = SIDE_BOTH;
    int key = key_find(take_side(item, &of));
    if (key < 0) return report_unknown(to, item);
    if (!value)
        return BASE_REPORT_AS(NET_ERR_MALFORMED, to->reporter, NULL, 0,
                              "%s has no value: write %s=NUMBER", item, item);
    if (to->seen[of] & 1u << key)
        return BASE_REPORT_AS(NET_ERR_MALFORMED, to->reporter, NULL, 0, "%s is given twice", item);
    net_result result = parse_value(to, of, key, value);
    to->seen[of] |= 1u << key;
    return result;
}

net_result net_link_config_parse(const char* text, const base_reporter* reporter,
                                 net_link_pair* pair) {
    BASE_ASSERT(text && pair);
    reading made = {.reporter = reporter};
    char copy[TEXT_BYTES_MAX];
    if (!base_text_copy(copy, sizeof copy, text))
        return BASE_REPORT_AS(NET_ERR_MALFORMED, reporter, NULL, 0,
                              "link settings are too long: at most %d bytes", TEXT_BYTES_MAX - 1);
    for (char* rest = *copy ? copy : NULL; rest; made.is_begun = true) {
        char* value;
        const char* item = base_text_cut_pair(&rest, &value);
        if (*item == '\0' && !rest && made.is_begun)
            return BASE_REPORT_AS(NET_ERR_MALFORMED, reporter, NULL, 0,
                                  "link settings end with a comma");
        net_result result = parse_item(&made, item, value);
        if (result != NET_OK) return result;
    }
    *pair = made.pair;
    return NET_OK;
}
