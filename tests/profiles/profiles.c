// SPDX-License-Identifier: MIT
#include "profiles.h"

#include "net/limits.h"
#include "net/token.h"
#include "net/socket.h"

#include <string.h>

// P14: the longest datagram of ENet, with what is put around it, is shorter than the hole.
_Static_assert(NET_MTU_BYTES + NET_SECURE_OVERHEAD_BYTES <= NET_SOCKET_OUTER_BYTES_MAX &&
                   NET_SOCKET_OUTER_BYTES_MAX <= 1252,
               "a path of 1,252 bytes carries every datagram");

// "50 +-20 ms" is a delay of 30 ms and a jitter of 40 ms: a link adds between none and all of it.
static const profile table[PROFILES] = {
    {.name = "P0", .about = "clean", .even = "", .way_ms = 0, .stale_ms_max = 60},
    {.name = "P1",
     .about = "1 %, 40 +-10 ms",
     .even = "loss=1,delay=30,jitter=20",
     .way_ms = 40,
     .stale_ms_max = 60},
    {.name = "P2",
     .about = "5 %, 50 +-20 ms, 2 % reordered and doubled",
     .even = "loss=5,delay=30,jitter=40,reorder=2,duplicate=2",
     .way_ms = 50,
     .stale_ms_max = 120,
     .event_p99_ms_max = 300,
     .event_ms_max = 1500},
    {.name = "P3",
     .about = "10 %, 75 +-40 ms, 5 % reordered and doubled",
     .even = "loss=10,delay=35,jitter=80,reorder=5,duplicate=5",
     .way_ms = 75,
     .stale_ms_max = 200},
    {.name = "P4",
     .about = "20 %, 100 +-50 ms, 10 % reordered and doubled",
     .even = "loss=20,delay=50,jitter=100,reorder=10,duplicate=10",
     .way_ms = 100,
     .stale_ms_max = 400,
     .event_p99_ms_max = 1300,
     .event_ms_max = 3500},
    {.name = "P5",
     .about = "25 %, 250 +-100 ms, 10 % reordered, 25 % doubled",
     .even = "loss=25,delay=150,jitter=200,reorder=10,duplicate=25",
     .way_ms = 250,
     .event_p99_ms_max = 3000,
     .event_ms_max = 6000},
    {.name = "P6",
     .about = "25 %, 1000 +-100 ms, 25 % doubled",
     .even = "loss=25,delay=900,jitter=200,duplicate=25",
     .way_ms = 1000},
    {.name = "P7",
     .about = "40 %, 250 +-100 ms",
     .even = "loss=40,delay=150,jitter=200",
     .way_ms = 250},
    {.name = "P8",
     .about = "50 %, 100 +-50 ms",
     .even = "loss=50,delay=50,jitter=100",
     .way_ms = 100,
     .allows_loss = true},
    {.name = "P9",
     .about = "20 % in bursts of 300 ms, 40 +-10 ms",
     .even = "loss=20,burst=300,delay=30,jitter=20",
     .way_ms = 40},
    {.name = "P10",
     .about = "blackouts of 1, 3, 10, 25 and 35 s, 40 +-10 ms",
     .even = "delay=30,jitter=20",
     .way_ms = 40,
     .has_blackouts = true},
    {.name = "P11",
     .about = "flipped bits in 1 %, 40 +-10 ms",
     .even = "flip=1,delay=30,jitter=20",
     .way_ms = 40,
     .needs_guard = true},
    {.name = "P12",
     .about = "30 % up for half, down for half, 40 +-10 ms",
     .even = "up.loss=30,delay=30,jitter=20",
     .odd = "down.loss=30,delay=30,jitter=20",
     .way_ms = 40},
    {.name = "P13",
     .about = "128 kbit/s, a queue of 2 s, 40 +-10 ms",
     .even = "rate=128,queue=2000,delay=30,jitter=20",
     .way_ms = 40,
     .queue_ms = 2000,
     .is_crowded = true},
    {.name = "P14",
     .about = "above 1252 bytes vanishes, 40 +-10 ms",
     .even = "mtu=1252,delay=30,jitter=20",
     .way_ms = 40,
     .loses_nothing = true,
     .is_crowded = true},
    {.name = "P15",
     .about = "a new source port every 20 s, 40 +-10 ms",
     .even = "rebind=20000,delay=30,jitter=20",
     .way_ms = 40,
     .needs_guard = true},
};

const profile* profile_at(uint32_t index) {
    return index < PROFILES ? &table[index] : NULL;
}

const profile* profile_find(const char* name) {
    for (uint32_t i = 0; i < PROFILES; i++)
        if (strcmp(table[i].name, name) == 0) return &table[i];
    return NULL;
}
