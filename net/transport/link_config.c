// SPDX-License-Identifier: MIT
// The text form of a link: a preset, then KEY=NUMBER, separated by commas. One table says the keys
// and their ranges; a wrong key is answered with the nearest right one, a wrong number with its
// range.
#include "net/link.h"

#include "base/assert.h"
#include "base/macros.h"
#include "base/text.h"

#include <string.h>

enum { ITEM_BYTES_MAX = 64, KEY_SEED = 13, KEY_COUNT };

typedef enum side { SIDE_BOTH, SIDE_UP, SIDE_DOWN, SIDE_COUNT } side;

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

typedef struct preset {
    const char* name;
    net_link_config up, down;
} preset;

// One way, as a player at home, on the road, in a train and on a farm has it on a usual evening.
static const preset presets[] = {
    {"wifi",
     {.loss_percent = 1, .burst_ms = 30, .delay_ms = 10, .jitter_ms = 15, .reorder_percent = 0.5},
     {.loss_percent = 1, .burst_ms = 30, .delay_ms = 10, .jitter_ms = 15, .reorder_percent = 0.5}},
    {"4g",
     {.loss_percent = 1,
      .delay_ms = 30,
      .jitter_ms = 30,
      .rate_kbit = 5000,
      .queue_ms = 400,
      .reorder_percent = 1},
     {.loss_percent = 1,
      .delay_ms = 30,
      .jitter_ms = 20,
      .rate_kbit = 20000,
      .queue_ms = 400,
      .reorder_percent = 1}},
    {"bad",
     {.loss_percent = 10,
      .burst_ms = 100,
      .delay_ms = 60,
      .jitter_ms = 60,
      .duplicate_percent = 2,
      .reorder_percent = 3,
      .rate_kbit = 512,
      .queue_ms = 1000},
     {.loss_percent = 10,
      .burst_ms = 100,
      .delay_ms = 60,
      .jitter_ms = 60,
      .duplicate_percent = 2,
      .reorder_percent = 3,
      .rate_kbit = 2000,
      .queue_ms = 1000}},
    {"satellite",
     {.loss_percent = 1, .burst_ms = 80, .delay_ms = 290, .jitter_ms = 20, .rate_kbit = 3000},
     {.loss_percent = 1, .burst_ms = 80, .delay_ms = 290, .jitter_ms = 20, .rate_kbit = 20000}},
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
        if (!base_text_parse_u64(text, &seed)) {
            base_report(to->reporter, NULL, 0, "seed is \"%s\": write a whole number", text);
            return NET_ERR_MALFORMED;
        }
    } else {
        const key_range* range = &key_ranges[key];
        bool is_number = base_text_parse_f64(text, &number);
        bool is_off = range->zero && number == 0;
        if (!is_number || !(is_off || (number >= range->low && number <= range->high))) {
            base_report(to->reporter, NULL, 0, "%s is \"%s\": write a number from %g to %g%s%s",
                        key_names[key], text, range->low, range->high,
                        range->zero ? ", or 0 for " : "", range->zero ? range->zero : "");
            return NET_ERR_MALFORMED;
        }
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
    const char* names[KEY_COUNT + BASE_COUNT(presets)];
    memcpy(names, key_names, sizeof key_names);
    for (size_t i = 0; i < BASE_COUNT(presets); i++)
        names[KEY_COUNT + i] = presets[i].name;
    const char* nearest = base_text_nearest(item, names, BASE_COUNT(names));
    if (nearest)
        base_report(to->reporter, NULL, 0, "no link setting \"%s\": did you mean %s?", item,
                    nearest);
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
    if (to->is_begun) {
        base_report(to->reporter, NULL, 0, "%s is not first: write \"%s,KEY=NUMBER\"", named->name,
                    named->name);
        return NET_ERR_MALFORMED;
    }
    to->pair = (net_link_pair){.up = named->up, .down = named->down};
    return NET_OK;
}

static net_result parse_item(reading* to, char* item) {
    char* equals = strchr(item, '=');
    if (equals) *equals = '\0';
    const preset* named = preset_find(item);
    if (named && !equals) return parse_preset(to, named);
    side of = SIDE_BOTH;
    int key = key_find(take_side(item, &of));
    if (key < 0) return report_unknown(to, item);
    if (!equals) {
        base_report(to->reporter, NULL, 0, "%s has no value: write %s=NUMBER", item, item);
        return NET_ERR_MALFORMED;
    }
    if (to->seen[of] & 1u << key) {
        base_report(to->reporter, NULL, 0, "%s is given twice", item);
        return NET_ERR_MALFORMED;
    }
    net_result result = parse_value(to, of, key, equals + 1);
    to->seen[of] |= 1u << key;
    return result;
}

net_result net_link_config_parse(const char* text, const base_reporter* reporter,
                                 net_link_pair* pair) {
    BASE_ASSERT(text && pair);
    reading made = {.reporter = reporter};
    for (const char* at = text; *at;) {
        size_t size = strcspn(at, ",");
        char item[ITEM_BYTES_MAX];
        if (size >= sizeof item) {
            base_report(reporter, NULL, 0, "link setting \"%.20s...\" is too long", at);
            return NET_ERR_MALFORMED;
        }
        memcpy(item, at, size);
        item[size] = '\0';
        net_result result = parse_item(&made, item);
        if (result != NET_OK) return result;
        made.is_begun = true;
        at += size;
        if (*at == ',' && *++at == '\0') {
            base_report(reporter, NULL, 0, "link settings end with a comma");
            return NET_ERR_MALFORMED;
        }
    }
    *pair = made.pair;
    return NET_OK;
}
