// SPDX-License-Identifier: MIT
/// What a module asks about clients' interest (net_game_services), kept until whoever sends takes it.
/// A log that is run again asks the same, and nobody takes it.
#pragma once

#include "net/match.h"

typedef struct net_match_interest {
    const base_allocator* allocator;
    net_match_interest_request* kept; ///< rising by client
    bool* is_new;                     ///< [kept]: asked since the last taking
    net_match_interest_request* taken;
    uint32_t count, capacity, new_capacity, taken_capacity;
} net_match_interest;

void net_match_interest_init(net_match_interest* interest, const base_allocator* allocator);
void net_match_interest_deinit(net_match_interest* interest);
/// The client's, made when there is none, marked as asked. Asserts that there is memory: what a client
/// may see must not be forgotten.
net_match_interest_request* net_match_interest_ask(net_match_interest* interest, uint32_t client);
void net_match_interest_forget(net_match_interest* interest, uint32_t client);
const net_match_interest_request* net_match_interest_take(net_match_interest* interest,
                                                          uint32_t* count);
/// NULL when the module never asked anything about it.
const net_match_interest_request* net_match_interest_find(const net_match_interest* interest,
                                                          uint32_t client);
