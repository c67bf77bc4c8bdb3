// SPDX-License-Identifier: MIT
// Two buckets for each attempt: its session's and the one of all. Sessions have neighbouring hosts,
// so the low bits are the place in the table, and no two sessions of one server share a place.
#include "transport/connect_gate.h"

#include <arpa/inet.h>

enum { CREDIT = 1000 };

void net_connect_gate_init(net_connect_gate* gate, uint32_t now_ms) {
    gate->all = (net_connect_ration){.at_ms = now_ms, .credits = NET_CONNECTS_PER_SECOND * CREDIT};
    for (uint32_t i = 0; i < NET_CONNECT_PLACES; i++)
        gate->sessions[i] = (net_connect_ration){.at_ms = now_ms};
}

static void refill(net_connect_ration* ration, uint32_t now_ms, uint32_t per_second,
                   uint32_t burst) {
    uint32_t passed_ms = now_ms - ration->at_ms;
    uint32_t credits_max = burst * CREDIT;
    ration->at_ms = now_ms;
    if (passed_ms > credits_max) passed_ms = credits_max;
    ration->credits += passed_ms * per_second;
    if (ration->credits > credits_max) ration->credits = credits_max;
}

bool net_connect_gate_pass(net_connect_gate* gate, uint32_t host, uint32_t now_ms) {
    net_connect_ration* session = &gate->sessions[ntohl(host) % NET_CONNECT_PLACES];
    if (session->host != host)
        *session = (net_connect_ration){
            .host = host, .at_ms = now_ms, .credits = NET_SESSION_CONNECTS_BURST * CREDIT};
    refill(session, now_ms, NET_SESSION_CONNECTS_PER_SECOND, NET_SESSION_CONNECTS_BURST);
    refill(&gate->all, now_ms, NET_CONNECTS_PER_SECOND, NET_CONNECTS_PER_SECOND);
    if (session->credits < CREDIT || gate->all.credits < CREDIT) return false;
    session->credits -= CREDIT;
    gate->all.credits -= CREDIT;
    return true;
}
