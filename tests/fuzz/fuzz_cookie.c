// SPDX-License-Identifier: MIT
// Facts and cookies. An input is 88 bytes that are added (modulo 256) to the facts and the cookie
// of a challenge: port 2, token tag 16, client random 16, server random 24, time 8, cookie 16,
// age 6.
//
// Invariant: a cookie counts exactly when nothing is changed and it is at most ten seconds old.

#include "outer_world.h"
#include "secure/cookie.h"

enum { FACTS_BYTES = 2 + 16 + 16 + 24 + 8 + 16, AGE_BYTES = 6 };

typedef struct fields {
    uint8_t port[2], tag[16], client[16], server[24], time[8], cookie[16];
} fields;

static net_cookie_facts facts_of(const fields* of, net_address* from) {
    from->port = (uint16_t)net_secure_get_number(of->port, 2);
    return (net_cookie_facts){from, of->tag, of->client, of->server,
                              net_secure_get_number(of->time, 8)};
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    base_rng rng = base_rng_make(5, 0);
    net_entropy entropy = {outer_fill, &rng};
    net_cookie_keys keys;
    net_address from = {.ip = {0x20, 1}};
    fields made = {.time = {0, 0, 1}}, changed;
    net_cookie_keys_init(&keys, &entropy, 0);
    net_cookie_facts facts = facts_of(&made, &from);
    net_cookie_make(&keys, &facts, made.cookie);
    changed = made;
    for (size_t i = 0; i < size && i < sizeof changed; i++)
        ((uint8_t*)&changed)[i] = (uint8_t)(((uint8_t*)&changed)[i] + data[i]);
    bool is_same = memcmp(&made, &changed, sizeof made) == 0;
    uint64_t age_us = 0;
    if (size >= FACTS_BYTES + AGE_BYTES)
        age_us = net_secure_get_number(data + FACTS_BYTES, AGE_BYTES);
    uint64_t now_us = facts.time_us + age_us;
    for (uint64_t at_us = NET_COOKIE_ROTATE_US, i = 0; at_us < now_us && i < 4; i++) {
        net_cookie_keys_service(&keys, &entropy, at_us);
        at_us += NET_COOKIE_ROTATE_US;
    }
    facts = facts_of(&changed, &from);
    bool is_young = age_us <= NET_COOKIE_AGE_US_MAX;
    FUZZ_CHECK(net_cookie_check(&keys, &facts, now_us, changed.cookie) == (is_same && is_young));
    return 0;
}
