// SPDX-License-Identifier: MIT
// The text form of a link: KEY=NUMBER, separated by commas. One table says the keys and their
// ranges; a wrong key is answered with the nearest right one, a wrong number with its range.
#include "net/link.h"

#include "base/assert.h"
#include "base/text.h"

#include <string.h>

enum { ITEM_BYTES_MAX = 64, KEY_COUNT = 9, KEY_SEED = 8 };

typedef struct key_range {
    double low, high;
    size_t offset;
} key_range;

static const char* const key_names[KEY_COUNT] = {
    "loss", "delay", "jitter", "duplicate", "reorder", "rate", "outage_at", "outage_for", "seed"};

static const key_range key_ranges[KEY_SEED] = {
    {0, 100, offsetof(net_link_config, loss_percent)},
    {0, NET_LINK_MS_MAX, offsetof(net_link_config, delay_ms)},
    {0, NET_LINK_MS_MAX, offsetof(net_link_config, jitter_ms)},
    {0, 100, offsetof(net_link_config, duplicate_percent)},
    {0, 100, offsetof(net_link_config, reorder_percent)},
    {NET_LINK_RATE_KBIT_MIN, NET_LINK_RATE_KBIT_MAX, offsetof(net_link_config, rate_kbit)},
    {0, NET_LINK_OUTAGE_MS_MAX, offsetof(net_link_config, outage_at_ms)},
    {0, NET_LINK_OUTAGE_MS_MAX, offsetof(net_link_config, outage_for_ms)},
};

static int key_find(const char* name) {
    for (int i = 0; i < KEY_COUNT; i++)
        if (strcmp(name, key_names[i]) == 0) return i;
    return -1;
}

static net_result parse_value(int key, const char* text, const base_reporter* reporter,
                              net_link_config* config) {
    if (key == KEY_SEED) {
        if (base_text_parse_u64(text, &config->seed)) return NET_OK;
        base_report(reporter, NULL, 0, "seed is \"%s\": write a whole number", text);
        return NET_ERR_MALFORMED;
    }
    const key_range* range = &key_ranges[key];
    double value = 0;
    bool is_number = base_text_parse_f64(text, &value);
    bool is_off = range->low > 0 && value == 0; // rate=0 means unlimited
    if (!is_number || !(is_off || (value >= range->low && value <= range->high))) {
        base_report(reporter, NULL, 0, "%s is \"%s\": write a number from %g to %g%s",
                    key_names[key], text, range->low, range->high,
                    range->low > 0 ? ", or 0 for unlimited" : "");
        return NET_ERR_MALFORMED;
    }
    memcpy((char*)config + range->offset, &value, sizeof value);
    return NET_OK;
}

static net_result parse_item(char* item, uint32_t* seen, const base_reporter* reporter,
                             net_link_config* config) {
    char* equals = strchr(item, '=');
    if (equals) *equals = '\0';
    int key = key_find(item);
    if (key < 0) {
        const char* nearest = base_text_nearest(item, key_names, KEY_COUNT);
        if (nearest)
            base_report(reporter, NULL, 0, "no link setting \"%s\": did you mean %s?", item,
                        nearest);
        else
            base_report(reporter, NULL, 0,
                        "no link setting \"%s\": there are loss, delay, jitter, duplicate, "
                        "reorder, rate, outage_at, outage_for and seed",
                        item);
        return NET_ERR_UNKNOWN;
    }
    if (!equals) {
        base_report(reporter, NULL, 0, "%s has no value: write %s=NUMBER", item, item);
        return NET_ERR_MALFORMED;
    }
    if (*seen & 1u << key) {
        base_report(reporter, NULL, 0, "%s is given twice", item);
        return NET_ERR_MALFORMED;
    }
    *seen |= 1u << key;
    return parse_value(key, equals + 1, reporter, config);
}

net_result net_link_config_parse(const char* text, const base_reporter* reporter,
                                 net_link_config* config) {
    BASE_ASSERT(text && config);
    net_link_config parsed = {0};
    uint32_t seen = 0;
    for (const char* at = text; *at;) {
        size_t size = strcspn(at, ",");
        char item[ITEM_BYTES_MAX];
        if (size >= sizeof item) {
            base_report(reporter, NULL, 0, "link setting \"%.20s...\" is too long", at);
            return NET_ERR_MALFORMED;
        }
        memcpy(item, at, size);
        item[size] = '\0';
        net_result result = parse_item(item, &seen, reporter, &parsed);
        if (result != NET_OK) return result;
        at += size;
        if (*at == ',' && *++at == '\0') {
            base_report(reporter, NULL, 0, "link settings end with a comma");
            return NET_ERR_MALFORMED;
        }
    }
    *config = parsed;
    return NET_OK;
}
