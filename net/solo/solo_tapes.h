// SPDX-License-Identifier: MIT
/// Tapes of the rows of one tick: what a row says in solo code is found once, and coded for every
/// client with its own statistics.
///
/// Key: the encoded row's, and the age of the third row. Clients that take other guesses have
/// another tape of the same key.
/// Memory:  grows to the peak of one tick, then stays; at most NET_SOLO_TAPES_MAX tapes of
///          NET_SOLO_TAPE_WORDS_MAX words. Rows beyond that are found again for each client.
/// Threads: one at a time.
#pragma once

#include "replicate/encoded_rows.h"
#include "state/coder.h"

#include "proto/solo.h"

enum {
    NET_SOLO_TAPES_MAX = 1 << 14,      ///< of a tick
    NET_SOLO_TAPE_WORDS_MAX = 1 << 17, ///< of all of them
    NET_SOLO_TAPE_FORMS_MAX = 4,       ///< of one key
};

typedef struct net_solo_tape_key {
    uint64_t low, high;
} net_solo_tape_key;

typedef struct net_solo_tape {
    net_solo_tape_key key;
    uint32_t first; ///< of its words: the guesses, then the numbers
    uint32_t taken; ///< which guesses
    uint8_t guess_count, word_count;
    bool has_third;
} net_solo_tape;

struct net_solo_tapes {
    const base_allocator* allocator;
    uint64_t step; ///< that they are of
    base_table table;
    net_solo_tape* tapes;
    uint64_t* words;
    uint32_t count, capacity, word_count, word_capacity;
    proto_solo_tape recorded; ///< the one that net_solo_tapes_keep keeps
};

/// @return NULL when memory ran out.
net_solo_tapes* net_solo_tapes_create(const base_allocator* allocator);
void net_solo_tapes_destroy(net_solo_tapes* tapes);
/// Forget the tapes of another step.
void net_solo_tapes_begin(net_solo_tapes* tapes, uint64_t step);

/// `third_age` is that of the third row, 0: none; below 2^16.
net_solo_tape_key net_solo_tapes_key(const net_encoded_row_key* row, uint32_t third_age);
/// The tape for these statistics; NULL: there is none. It is valid until the next one is kept.
const net_solo_tape* net_solo_tapes_find(const net_solo_tapes* tapes, net_solo_tape_key key,
                                         const proto_solo_model* model);
/// Keep the tape that was recorded, if there is room.
void net_solo_tapes_keep(net_solo_tapes* tapes, net_solo_tape_key key, bool has_third);
/// Code the row of a tape.
void net_solo_tapes_play(const net_solo_tapes* tapes, const net_solo_tape* tape,
                         proto_solo_coder* coder);
