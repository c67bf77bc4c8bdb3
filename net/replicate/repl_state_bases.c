// SPDX-License-Identifier: MIT
// Bases: which acknowledged rows the chosen slots are coded against, and the runs that follow.
//
// A row is coded against the newest row that this client acknowledged for the entity. That is the
// newest acknowledged packet that carried the slot: one operation finds it for 64 slots. Among
// them, the next older packet is the second base, when at least SHARING_MIN slots have the same.
// A slot that certainly had no row in that packet's tick may stand in the same run. The few slots
// whose base left the window are handled one by one (`bases`), and so are those whose classes
// changed lately.
//
// What the client keeps. No base is older than one that was used before in the same epoch. A slot
// whose newest update had no second base (NET_SET_SINGLE) takes none that is older than the base of
// that update (floors). Bases are at most NET_REPL_STATE_BACK_MAX packets back, or nothing
// but those packets was sent since. A base beyond an age of 8 bits is named "settled", which is
// legal only if nothing was sent between it and then. Otherwise the row is absolute, against the
// template's defaults.
#include "base/assert.h"
#include "replicate/repl_state_compose.h"

#include <string.h>

enum {
    BASE2_TICKS_MAX = 16,
    SHARING_MIN = 3, // fewer records are not worth a run with a second base
    AGES = NET_BASE_AGE_MAX + 1,
};

// A record in a run without the run's second base: the client must still know that it has no row
// there.
_Static_assert(BASE2_TICKS_MAX <= NET_SNAPSHOT_BASE_SLACK_TICKS, "it keeps rows so much older");

static uint64_t* lane_set(const net_composer* c, net_lane_set set) {
    return net_snapshot_writer_set(c->writer, set);
}

// ---- by packet ----

// Of slots whose newest update had no second base: those that may have one of this tick.
static uint64_t allow_second(const net_repl_state* repl, uint32_t w, uint64_t singles,
                             uint32_t tick) {
    uint64_t allowed = 0;
    for (uint64_t bits = singles; bits; bits &= bits - 1)
        if ((int32_t)(tick - repl->floors[w * 64 + base_bit_lowest(bits)]) >= 0)
            allowed |= bits & (0 - bits);
    return allowed;
}

// Add a run of the slots whose base is the packet `back`.
static bool add_run(net_composer* c, uint32_t back, uint32_t d, const uint64_t* set,
                    const uint64_t* seconds) {
    net_repl_state* repl = c->repl;
    uint32_t count = net_words_count(set, c->words);
    if (count == 0) return true;
    uint32_t tick = net_repl_packet_tick(repl, back);
    const uint64_t* list = net_repl_listed(repl, back);
    if (c->list_back != back) {
        c->list_back = back;
        c->list_count = net_words_count(list, c->words);
    }
    uint32_t list_count = c->list_count;
    bool is_listed = net_snapshot_writer_is_list_shorter(c->writer, count, list_count);
    net_record_group* run = net_snapshot_writer_add_run(
        c->writer, is_listed ? NET_SNAPSHOT_BY_PACKET : NET_SNAPSHOT_BY_AGE, c->now - tick, d);
    if (!run) return false;
    if (is_listed) {
        run->back = (uint8_t)back;
        run->list = list;
        run->list_count = list_count;
    }
    return net_composer_add_records(c, set, seconds,
                                    (net_encoded_row_key){.age = c->now - tick, .d = (uint8_t)d});
}

// Slots of the group that certainly have no row of this tick: nothing was sent in its packets.
static void join_free(net_composer* c, uint32_t back, uint64_t* run) {
    const net_repl_state* repl = c->repl;
    uint32_t tick = net_repl_packet_tick(repl, back), backs = net_repl_state_backs(repl);
    if (net_repl_packet_tick(repl, backs) == tick && backs == repl->window) return;
    const uint64_t* previous = net_set(repl, NET_SET_PREVIOUS);
    for (uint32_t w = 0; w < c->words; w++) {
        uint64_t none = c->single[w] & ~previous[w];
        if (!none) continue;
        for (uint32_t i = back; i <= backs && net_repl_packet_tick(repl, i) == tick; i++)
            none &= ~net_repl_carried(repl, i)[w];
        for (uint32_t i = back - 1; i >= 1 && net_repl_packet_tick(repl, i) == tick; i--)
            none &= ~net_repl_carried(repl, i)[w];
        run[w] |= none;
        c->single[w] &= ~none;
    }
}

typedef struct second {
    uint32_t back, d, count;
} second;

// The packets that are second bases of many slots of the group, at most BASE2_TICKS_MAX of them.
// What is left of the group goes to `single`.
static uint32_t find_seconds(net_composer* c, uint32_t back, uint64_t acked, uint64_t* group,
                             second* seconds) {
    const net_repl_state* repl = c->repl;
    uint32_t tick = net_repl_packet_tick(repl, back), found = 0;
    uint32_t left = net_words_count(group, c->words);
    const uint64_t* was_single = net_set(repl, NET_SET_SINGLE);
    for (; acked && left >= SHARING_MIN; acked &= acked - 1) {
        uint32_t other = base_bit_lowest(acked) + 1;
        uint32_t d = tick - net_repl_packet_tick(repl, other);
        if (d == 0) continue;
        if (d > BASE2_TICKS_MAX) break;
        const uint64_t* carried = net_repl_carried(repl, other);
        uint64_t* run = lane_set(c, NET_LANE_RUN);
        uint32_t count = 0, taken = 0;
        for (uint32_t w = 0; w < c->words; w++) {
            uint64_t has = group[w] & carried[w], singles = has & was_single[w];
            run[w] = has & ~singles;
            if (!has) continue;
            group[w] &= ~has;
            uint32_t members = net_word_count(has);
            taken += members;
            if (singles) {
                run[w] |= allow_second(repl, w, singles, tick - d);
                members = net_word_count(run[w]);
                c->single[w] |= has & ~run[w];
            }
            count += members;
        }
        left -= taken;
        // The others do not look at them again.
        uint64_t* to = count >= SHARING_MIN ? lane_set(c, NET_LANE_SECOND) : c->single;
        for (uint32_t w = 0; w < c->words && taken > 0; w++)
            to[w] |= run[w];
        if (count < SHARING_MIN) continue;
        seconds[found++] = (second){other, d, count};
    }
    for (uint32_t w = 0; w < c->words; w++)
        c->single[w] |= group[w];
    return found;
}

// All runs of the slots whose base is the packet `back`. `acked`: older acknowledged packets.
static bool add_group(net_composer* c, uint32_t back, uint64_t acked, uint64_t* group) {
    net_repl_state* repl = c->repl;
    uint64_t* all = lane_set(c, NET_LANE_SECOND);
    uint64_t* run = lane_set(c, NET_LANE_RUN);
    memset(c->single, 0, c->words * sizeof *c->single);
    memset(all, 0, c->words * sizeof *all);
    second seconds[BASE2_TICKS_MAX];
    uint32_t found = find_seconds(c, back, acked, group, seconds), leader = 0;
    for (uint32_t i = 1; i < found; i++)
        if (seconds[i].count > seconds[leader].count) leader = i;
    for (uint32_t i = 0; i < found; i++) {
        const uint64_t* carried = net_repl_carried(repl, seconds[i].back);
        for (uint32_t w = 0; w < c->words; w++) {
            run[w] = all[w] & carried[w];
            all[w] &= ~run[w];
        }
        uint64_t* with = group; // used up
        memcpy(with, run, c->words * sizeof *with);
        if (i == leader) join_free(c, seconds[i].back, run);
        if (!add_run(c, back, seconds[i].d, run, with)) return false;
    }
    return add_run(c, back, 0, c->single, NULL);
}

static bool add_by_packet(net_composer* c, uint64_t* left) {
    net_repl_state* repl = c->repl;
    uint64_t* group = lane_set(c, NET_LANE_GROUP);
    uint32_t backs = net_repl_state_backs(repl);
    if (backs > NET_REPL_STATE_BACK_MAX) backs = NET_REPL_STATE_BACK_MAX;
    uint64_t acked = backs ? repl->recent_acked & (UINT64_MAX >> (64 - backs)) : 0, any = 1;
    for (; acked && any; acked &= acked - 1) {
        uint32_t back = base_bit_lowest(acked) + 1;
        uint32_t age = c->now - net_repl_packet_tick(repl, back);
        if (age == 0) continue;
        if (age > NET_BASE_AGE_MAX) break;
        const uint64_t* carried = net_repl_carried(repl, back);
        uint64_t has = 0;
        any = 0;
        for (uint32_t w = 0; w < c->words; w++) {
            group[w] = left[w] & carried[w];
            left[w] &= ~carried[w];
            has |= group[w];
            any |= left[w];
        }
        if (has && !add_group(c, back, acked & (acked - 1), group)) return false;
    }
    return true;
}

// ---- one by one ----

// A row with hidden classes is stored for a fixed number of ticks. Beyond that, whether it is still
// stored would reveal how often they changed.
static bool may_name(const net_repl_state* repl, uint32_t slot, uint32_t classes, uint32_t age) {
    return (classes & ~(uint32_t)repl->classes[slot]) == 0 ||
           age < net_history_keep_ticks(repl->replicator->history);
}

// The age of a slot's base; 0: it has none that may be used.
static uint32_t find_any_age(const net_composer* c, uint32_t slot) {
    const net_repl_state* repl = c->repl;
    uint32_t back = net_repl_state_find_base(repl, slot), base = repl->bases[slot];
    if (back) base = net_repl_packet_tick(repl, back);
    bool is_known =
        back || (net_set_has(repl, NET_SET_BASED, slot) && !net_set_has(repl, NET_SET_STALE, slot));
    uint32_t sends = 0, old_sends = 0, age = c->now - base;
    uint32_t newer = back ? back - 1 : net_repl_state_backs(repl);
    for (uint32_t i = newer; i >= 1 && is_known; i--) {
        if (!(net_repl_carried(repl, i)[slot >> 6] >> (slot & 63) & 1)) continue;
        sends++;
        old_sends += c->now - net_repl_packet_tick(repl, i) >= NET_SNAPSHOT_AGE_SETTLED;
    }
    if (!is_known || age == 0 || sends > NET_REPL_STATE_BACK_MAX) return 0;
    if (age > NET_BASE_AGE_MAX && old_sends > 0) return 0;
    uint32_t classes = net_repl_state_classes_at(repl, slot, base);
    return may_name(repl, slot, classes, age) ? age : 0;
}

// Most slots have not been sent for a while: no packet of a small window is their base.
static inline uint32_t find_age(const net_composer* c, uint32_t slot, uint64_t is_resting) {
    const net_repl_state* repl = c->repl;
    uint32_t age = c->now - repl->bases[slot];
    if (is_resting && age <= NET_BASE_AGE_MAX && repl->window <= NET_REPL_STATE_BACK_MAX)
        return age;
    return find_any_age(c, slot);
}

// Add one record to the newest run.
static bool add_single(net_composer* c, uint32_t slot, uint32_t age) {
    net_snapshot_writer* writer = c->writer;
    net_encoded_row_key key = {.index = ecs_entity_index(c->repl->handles[slot]),
                               .age = age,
                               .is_settled = age > NET_BASE_AGE_MAX,
                               .classes = c->repl->classes[slot]};
    if (age) key.base_classes = net_repl_state_classes_at(c->repl, slot, c->now - age);
    net_encoded_row* row = &writer->rows[writer->record_count];
    net_encoded_row_result result = net_encoded_rows_get(c->encoded_rows, &key, row);
    if (result == NET_ENCODED_ROW_NO_MEMORY) return false;
    if (result != NET_ENCODED_ROW_OK) {
        net_set_bit(c->absolute, slot);
        return true;
    }
    writer->encoded_bits += row->bits;
    writer->slots[writer->record_count++] = slot;
    writer->runs[writer->run_count - 1].count++;
    return true;
}

// Group slots by the age of their base: `heads` by age, chained rising by slot.
static bool add_one_by_one(net_composer* c, const uint64_t* left) {
    const net_repl_state* repl = c->repl;
    const uint64_t *based = net_set(repl, NET_SET_BASED), *stale = net_set(repl, NET_SET_STALE);
    const uint64_t* mixed = net_set(repl, NET_SET_MIXED);
    uint32_t heads[AGES + 1], *next_of = c->writer->next_of, *ages_of = c->writer->record_of;
    uint64_t ages[AGES / 64 + 1] = {0};
    for (uint32_t w = c->words; w-- > 0;) {
        uint64_t resting = based[w] & ~stale[w] & ~mixed[w];
        for (uint64_t bits = left[w]; bits;) {
            uint32_t high = 63u - (uint32_t)__builtin_clzll(bits), slot = w * 64 + high;
            bits &= ~(UINT64_C(1) << high);
            uint32_t age = find_age(c, slot, resting >> high & 1);
            if (age == 0) {
                net_set_bit(c->absolute, slot);
                continue;
            }
            ages_of[slot] = age;
            if (age > AGES) age = AGES;
            next_of[slot] = ages[age >> 6] >> (age & 63) & 1 ? heads[age] : UINT32_MAX;
            heads[age] = slot;
            net_set_bit(ages, age);
        }
    }
    for (uint32_t w = 0; w < AGES / 64 + 1; w++) {
        for (uint64_t bits = ages[w]; bits; bits &= bits - 1) {
            uint32_t age = w * 64 + base_bit_lowest(bits);
            net_record_group* run =
                net_snapshot_writer_add_run(c->writer, NET_SNAPSHOT_BY_AGE, age, 0);
            if (!run) return false;
            run->has_single = true;
            for (uint32_t slot = heads[age]; slot != UINT32_MAX; slot = next_of[slot])
                if (!add_single(c, slot, ages_of[slot])) return false;
        }
    }
    return true;
}

// ---- all together ----

static void add_destroys(net_composer* c, const uint64_t* chosen) {
    net_snapshot_writer* writer = c->writer;
    const uint64_t* going = net_set(c->repl, NET_SET_GOING);
    for (uint32_t w = 0; w < c->words; w++)
        for (uint64_t bits = chosen[w] & going[w]; bits; bits &= bits - 1) {
            writer->rows[writer->record_count].bits = 0;
            writer->slots[writer->record_count++] = w * 64 + base_bit_lowest(bits);
        }
    writer->runs[NET_RUN_DESTROY].count = writer->record_count;
}

// Prefetch what every chosen slot looks up first.
static void prefetch_rows(const net_composer* c, const uint64_t* chosen) {
    for (uint32_t w = 0; w < c->words; w++)
        for (uint64_t bits = chosen[w]; bits; bits &= bits - 1)
            net_encoded_rows_prefetch(
                c->encoded_rows,
                ecs_entity_index(c->repl->handles[w * 64 + base_bit_lowest(bits)]));
}

bool net_repl_state_compose(net_repl_state* repl, const uint64_t* chosen) {
    net_replicator_lane* lane = &repl->replicator->lanes[repl->lane];
    const net_history* history = repl->replicator->history;
    net_composer c = {.repl = repl,
                      .writer = &lane->writer,
                      .encoded_rows = &lane->encoded_rows,
                      .now = (uint32_t)net_replicator_now(repl->replicator),
                      .words = net_repl_state_words(repl)};
    c.single = lane_set(&c, NET_LANE_SINGLE);
    c.absolute = lane_set(&c, NET_LANE_ABSOLUTE);
    c.doubled = lane_set(&c, NET_LANE_DOUBLED);
    if (!net_snapshot_writer_begin(c.writer, net_history_number_bits(history))) return false;
    prefetch_rows(&c, chosen);
    add_destroys(&c, chosen);
    uint64_t *left = lane_set(&c, NET_LANE_LEFT), *creates = lane_set(&c, NET_LANE_RUN);
    const uint64_t *live = net_set(repl, NET_SET_LIVE), *going = net_set(repl, NET_SET_GOING);
    const uint64_t *resync = net_set(repl, NET_SET_RESYNC), *mixed = net_set(repl, NET_SET_MIXED);
    for (uint32_t w = 0; w < c.words; w++) {
        creates[w] = chosen[w] & ~live[w] & ~going[w];
        left[w] = chosen[w] & live[w] & ~resync[w] & ~mixed[w];
        c.absolute[w] = chosen[w] & live[w] & resync[w];
        c.single[w] = c.doubled[w] = 0;
    }
    c.writer->runs[NET_RUN_CREATE].first = c.writer->record_count;
    if (!net_composer_add_records(&c, creates, NULL, (net_encoded_row_key){0}) ||
        !add_by_packet(&c, left))
        return false;
    uint64_t any = 0;
    for (uint32_t w = 0; w < c.words; w++) {
        left[w] |= chosen[w] & live[w] & mixed[w] & ~resync[w];
        any |= left[w];
    }
    if (any && !add_one_by_one(&c, left)) return false;
    for (uint32_t w = 0; w < c.words; w++)
        any |= c.absolute[w];
    if (any) {
        if (!net_snapshot_writer_add_run(c.writer, NET_SNAPSHOT_ABSOLUTE, 0, 0) ||
            !net_composer_add_records(&c, c.absolute, NULL, (net_encoded_row_key){0}))
            return false;
    }
    return true;
}
