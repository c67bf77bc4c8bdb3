// SPDX-License-Identifier: MIT
// A table of names in place of the machine's resolver.
#pragma once

#include "net/token.h"

#include "test.h"

// The addresses of documentation (192.0.2.0/24, 2001:db8::/32) have no host.
static inline uint32_t names_find(void* context, const char* host, net_address* found,
                                  uint32_t capacity) {
    static const struct {
        const char *host, *addresses[10];
    } TABLE[] = {
        {"six.first", {"[::1]:0", "127.0.0.1:0"}},
        {"four.first", {"127.0.0.1:0", "[::1]:0"}},
        {"only.six", {"[::1]:0"}},
        {"public", {"192.0.2.1:0"}},
        {"many.sixes",
         {"[2001:db8::1]:0", "[2001:db8::2]:0", "[2001:db8::3]:0", "[2001:db8::4]:0",
          "[2001:db8::5]:0", "[2001:db8::6]:0", "[2001:db8::7]:0", "[2001:db8::8]:0", "127.0.0.1:0",
          "192.0.2.1:0"}},
    };
    uint32_t count = 0;
    for (size_t i = 0; i < BASE_COUNT(TABLE); i++)
        for (size_t k = 0; strcmp(host, TABLE[i].host) == 0 && k < 10 && count < capacity; k++)
            if (TABLE[i].addresses[k])
                assert_ok(net_address_parse(TABLE[i].addresses[k], &found[count++]));
    return count;
}

static const net_resolver names = {.find = names_find};
