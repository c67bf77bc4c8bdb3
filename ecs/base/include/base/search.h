// SPDX-License-Identifier: MIT
/// Binary search in a sorted sequence: the one loop for lower and upper bounds.
///
/// The caller compares, so any sequence will do: an array, a ring, a list of names.
///
///     base_search search = base_search_begin(match->player_count);
///     while (base_search_next(&search))
///         base_search_step(&search, match->players[search.middle].client < client);
///     return search.low; // the first player whose client is not below `client`, or the count
///
/// `<` gives the lower bound (first element that is not smaller), `<=` gives the upper bound (first
/// element that is larger).
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

/// One search. Lives on the caller's stack.
typedef struct base_search {
    uint32_t low;    ///< elements before `low` lie before the place; the result at the end
    uint32_t high;   ///< elements from `high` on do not lie before the place
    uint32_t middle; ///< the element to compare now; in [low, high)
} base_search;

/// Begin a search in elements [0, count).
static inline base_search base_search_begin(uint32_t count) {
    base_search search = {0, count, 0};
    return search;
}

/// @return true: compare element `middle`, then call base_search_step. false: the search has ended,
/// `low` is the number of elements that lie before the place.
static inline bool base_search_next(base_search* search) {
    search->middle = search->low + (search->high - search->low) / 2;
    return search->low < search->high;
}

/// Narrow the search: does element `middle` lie before the place that is searched for?
static inline void base_search_step(base_search* search, bool is_before) {
    if (is_before)
        search->low = search->middle + 1;
    else
        search->high = search->middle;
}

BASE_C_END
