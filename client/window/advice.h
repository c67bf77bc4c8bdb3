// SPDX-License-Identifier: MIT
/// The worst fault of a session, and its remedy: one sentence for the head of the panel.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CLIENT_ADVICE_LOSS_PERCENT 5.0
#define CLIENT_ADVICE_FRAME_MS 34.0 ///< below 30 frames a second
#define CLIENT_ADVICE_VIEW_MS 250.0
#define CLIENT_ADVICE_TICKS_PART 0.8  ///< of the ticks a second that the server should make
#define CLIENT_ADVICE_CORRECTIONS 3.0 ///< that are seen, a second
#define CLIENT_ADVICE_RTT_MS 200.0

typedef struct client_advice_facts {
    double loss_percent, frame_ms, view_ms, rtt_ms;
    double ticks_s,
        rate_hz; ///< ticks of the server that came, and those that it should make; 0: not known
    double corrections_s; ///< of the prediction, that are seen
    bool is_local;        ///< the server is in this program
} client_advice_facts;

/// Write the sentence about the worst of it: what hides other faults comes first.
/// @return false: nothing is bad, and the sentence says so.
bool client_advice_write(const client_advice_facts* facts, char* text, size_t text_bytes);
