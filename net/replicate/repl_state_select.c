// SPDX-License-Identifier: MIT
// Selecting: which slots go first. Priority is weight times the ticks of waiting, plus the weight
// again for each tick with a change. It saturates at 16 bits and begins again with each send. It is
// computed on demand, so waiting costs nothing.
//
// There is no sorting: priorities fall into 64 buckets (four per doubling). A histogram gives the
// lowest bucket that a packet will reach, and only inside that bucket the order is by age. A slot
// that waited NET_REPL_STATE_OVERDUE_TICKS is in a bucket above all, oldest first: from then on
// only older slots can go before it, whatever their weight. So the wait is bounded by these ticks
// plus the time to send all that waits.
//
// Creates and destroys (lifecycle records) are a list of their own. They get a quarter of the bits
// when they need it, and more when they are more urgent.
#include "base/assert.h"
#include "replicate/repl_state_internal.h"
#include "replicate/replicator_internal.h"

#include <string.h>

enum {
    OVERDUE = NET_REPL_STATE_BUCKETS - 1,
    AGES = NET_REPL_STATE_OVERDUE_TICKS,
    DESTROY_BITS = 10 * 16, // typical, in 1/16 bits
    LIFECYCLE_SHARE = 4,    // one part of so many is reserved for creates and destroys
    SLACK_BITS = 256 * 16,  // collected beyond what should fit
    BYTE_VALUES = 256,
};

typedef struct histogram {
    uint32_t counts[NET_REPL_STATE_BUCKETS];
} histogram;

typedef struct list {
    uint32_t* slots;
    uint32_t count;
} list;

// 0..63, growing with the logarithm: the exponent and two bits of the mantissa.
static inline uint32_t bucket_of(uint32_t priority) {
    float value = (float)(priority + 1);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t bucket = (bits >> 21) - (127u << 2);
    return bucket < OVERDUE ? bucket : OVERDUE - 1;
}

static inline uint32_t priority_bucket(const net_repl_state* repl, uint32_t slot, uint32_t now) {
    uint32_t wait = now - repl->since[slot];
    if (wait >= NET_REPL_STATE_OVERDUE_TICKS) return OVERDUE;
    uint32_t priority = repl->bonus[slot] + repl->members[slot].weight * (wait + 1);
    return bucket_of(priority < UINT16_MAX ? priority : UINT16_MAX);
}

static net_snapshot_writer* writer_of(const net_repl_state* repl) {
    return &repl->replicator->lanes[repl->lane].writer;
}

// Waiting slots of a word: creates and destroys, or updates.
static uint64_t waiting(const net_repl_state* repl, const uint64_t* held, uint32_t w,
                        bool is_lifecycle) {
    uint64_t live = net_set(repl, NET_SET_LIVE)[w];
    return net_set(repl, NET_SET_PENDING)[w] & ~held[w] & (is_lifecycle ? ~live : live);
}

static void fill_buckets(const net_repl_state* repl, const uint64_t* held, bool is_lifecycle,
                         histogram* of) {
    uint8_t* buckets = writer_of(repl)->buckets;
    uint32_t now = (uint32_t)net_replicator_now(repl->replicator);
    memset(of, 0, sizeof *of);
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++) {
        for (uint64_t bits = waiting(repl, held, w, is_lifecycle); bits; bits &= bits - 1) {
            uint32_t slot = w * 64 + base_bit_lowest(bits);
            buckets[slot] = (uint8_t)priority_bucket(repl, slot, now);
            of->counts[buckets[slot]]++;
        }
    }
}

// ---- by age ----

// Oldest first, equal ones in their order; ticks may lie far back.
static void sort_by_age(const net_repl_state* repl, list* of, uint32_t* scratch) {
    uint32_t now = (uint32_t)net_replicator_now(repl->replicator);
    uint32_t varying = 0;
    for (uint32_t i = 1; i < of->count; i++)
        varying |= (now - repl->since[of->slots[i]]) ^ (now - repl->since[of->slots[0]]);
    for (uint32_t shift = 0; shift < 32; shift += 8) {
        if (!(varying >> shift & 0xFF)) continue;
        uint32_t places[BYTE_VALUES] = {0};
        for (uint32_t i = 0; i < of->count; i++)
            places[~((now - repl->since[of->slots[i]]) >> shift) & 0xFF]++;
        uint32_t sum = 0;
        for (uint32_t i = 0; i < BYTE_VALUES; i++) {
            uint32_t count = places[i];
            places[i] = sum;
            sum += count;
        }
        for (uint32_t i = 0; i < of->count; i++) {
            uint32_t slot = of->slots[i];
            scratch[places[~((now - repl->since[slot]) >> shift) & 0xFF]++] = slot;
        }
        memcpy(of->slots, scratch, of->count * sizeof *scratch);
    }
}

static void sort_by_age_within(const net_repl_state* repl, uint32_t* slots, uint32_t count,
                               uint32_t* scratch) {
    uint32_t now = (uint32_t)net_replicator_now(repl->replicator);
    uint32_t places[AGES] = {0};
    for (uint32_t i = 0; i < count; i++)
        places[AGES - 1 - (now - repl->since[slots[i]])]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < AGES; i++) {
        uint32_t here = places[i];
        places[i] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++)
        scratch[places[AGES - 1 - (now - repl->since[slots[i]])]++] = slots[i];
    memcpy(slots, scratch, count * sizeof *scratch);
}

// ---- collecting ----

// Collect the slots of the highest buckets that make `need` at `each` per slot, in order.
// UINT64_MAX: all slots, each bucket by age.
static void collect(net_repl_state* repl, const uint64_t* held, bool is_lifecycle, uint64_t need,
                    uint64_t each, list* into, uint32_t* scratch) {
    histogram filled, *of = &filled;
    fill_buckets(repl, held, is_lifecycle, of);
    const uint8_t* buckets = writer_of(repl)->buckets;
    uint32_t lowest = OVERDUE, places[NET_REPL_STATE_BUCKETS], count = 0;
    for (uint32_t b = OVERDUE + 1; b-- > 0;) {
        places[b] = count;
        lowest = b;
        count += of->counts[b];
        if (count * each >= need) break;
    }
    into->count = count;
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++) {
        for (uint64_t bits = waiting(repl, held, w, is_lifecycle); bits; bits &= bits - 1) {
            uint32_t slot = w * 64 + base_bit_lowest(bits);
            if (buckets[slot] >= lowest) into->slots[places[buckets[slot]]++] = slot;
        }
    }
    list overdue = {into->slots, of->counts[OVERDUE]};
    sort_by_age(repl, &overdue, scratch);
    for (uint32_t b = OVERDUE; b-- > lowest;) {
        if (b > lowest && need != UINT64_MAX) continue;
        uint32_t here = of->counts[b];
        if (here > 1) sort_by_age_within(repl, &into->slots[places[b] - here], here, scratch);
    }
    // Of the lowest bucket no more than should fit.
    if (need != UINT64_MAX && into->count > need / each + 1)
        into->count = (uint32_t)(need / each) + 1;
}

static uint64_t lifecycle_bits(const net_repl_state* repl, uint32_t slot) {
    return net_set_has(repl, NET_SET_GOING, slot) ? DESTROY_BITS : repl->create_bits;
}

// Is the next of `a` before the next of `b`?
static bool is_before(const net_repl_state* repl, uint32_t a, uint32_t b) {
    const uint8_t* buckets = writer_of(repl)->buckets;
    if (buckets[a] != buckets[b]) return buckets[a] > buckets[b];
    if (buckets[a] != OVERDUE) return true;
    uint32_t now = (uint32_t)net_replicator_now(repl->replicator);
    uint32_t wait_a = now - repl->since[a];
    return wait_a >= now - repl->since[b];
}

static void merge(net_repl_state* repl, const list* lifecycle, const list* other) {
    net_snapshot_writer* writer = writer_of(repl);
    const uint8_t* buckets = writer->buckets;
    uint64_t spent = 0, spent_on_lifecycle = 0;
    uint32_t l = 0, o = 0, count = 0;
    while (l < lifecycle->count || o < other->count) {
        bool takes_lifecycle = l < lifecycle->count;
        if (takes_lifecycle && o < other->count) {
            // An overdue slot comes before any reserved share.
            bool has_share = spent_on_lifecycle * LIFECYCLE_SHARE < spent + 1 &&
                             buckets[other->slots[o]] != OVERDUE;
            takes_lifecycle = has_share || is_before(repl, lifecycle->slots[l], other->slots[o]);
        }
        uint32_t slot = takes_lifecycle ? lifecycle->slots[l++] : other->slots[o++];
        uint64_t bits = takes_lifecycle ? lifecycle_bits(repl, slot) : repl->update_bits;
        spent += bits;
        if (takes_lifecycle) spent_on_lifecycle += bits;
        writer->ranked[count++] = slot;
    }
    writer->ranked_count = count;
}

bool net_repl_state_order(net_repl_state* repl, const uint64_t* held, uint64_t bits) {
    net_snapshot_writer* writer = writer_of(repl);
    uint32_t all = repl->pending_count;
    if (!BASE_ARRAY_RESERVE(writer->allocator, writer->scratch, writer->scratch_capacity, 3 * all))
        return false;
    uint64_t need = bits == UINT64_MAX ? bits : bits * 16 + bits * 2 + SLACK_BITS;
    list lifecycles = {writer->scratch, 0}, others = {writer->scratch + all, 0};
    // Destroys are short. Counting with them makes a list of creates too long, never too short.
    uint64_t lifecycle_each = repl->create_bits < DESTROY_BITS ? repl->create_bits : DESTROY_BITS;
    collect(repl, held, true, need, lifecycle_each, &lifecycles, writer->scratch + 2 * all);
    collect(repl, held, false, need, repl->update_bits, &others, writer->scratch + 2 * all);
    writer->ranked = writer->scratch + 2 * all;
    merge(repl, &lifecycles, &others);
    return true;
}

uint32_t net_repl_state_oldest(const net_repl_state* repl, const uint64_t* held) {
    uint32_t now = (uint32_t)net_replicator_now(repl->replicator);
    uint32_t oldest = UINT32_MAX, longest = 0;
    for (uint32_t w = 0; w < net_repl_state_words(repl); w++) {
        for (uint64_t set = net_set(repl, NET_SET_PENDING)[w] & ~held[w]; set; set &= set - 1) {
            uint32_t slot = w * 64 + base_bit_lowest(set), wait = now - repl->since[slot];
            if (oldest != UINT32_MAX && wait <= longest) continue;
            oldest = slot;
            longest = wait;
        }
    }
    return oldest;
}
