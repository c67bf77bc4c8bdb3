// SPDX-License-Identifier: MIT
// Bases: which acknowledged rows the chosen slots are coded against, and the runs that follow.
//
// A row is coded against the newest row that this client acknowledged for the entity. That is the
// newest acknowledged packet that carried the slot: one operation finds it for 64 slots. Among
// them, the next older packet is the second base, when at least SHARING_MIN slots have the same.
// A slot that certainly had no row in that packet's tick may be in the same run. The few slots
// whose base left the window are handled one by one (`bases`), and so are those whose classes
// changed lately.
//
// What the client keeps. No base is older than one that was used before in the same epoch. A slot
// whose newest update had no second base (NET_SET_SINGLE) takes none that is older than the base of
// that update (floors). At most NET_REPL_STATE_BACK_MAX packets with the slot were sent since its
// base, so the client keeps it. A base beyond an age of 8 bits is named "settled", which is legal
// only if nothing was sent between it and then. Otherwise the row is absolute, against the
// template's defaults.
#include "replicate/repl_state.h"

enum {
    BASE2_TICKS_MAX = 16,
    SHARING_MIN = 3, // fewer records are not worth a run with a second base
    AGES = NET_BASE_AGE_MAX + 1,
    ACKED_MAX = 64, // packets of net_repl_state.recent_acked
};

// A record in a run without the run's second base: the client must still know that it has no row
// there.
_Static_assert(BASE2_TICKS_MAX <= NET_SNAPSHOT_BASE_SLACK_TICKS, "it keeps rows so much older");

typedef struct composer {
    net_repl_state* repl;
    net_snapshot_writer* writer;
    net_encoded_rows* encoded_rows;
    uint32_t now, words;
    uint32_t list_back, list_count; // rows in the list of the packet that is looked at
    uint64_t* single;               // slots of the present base without a second one
    uint64_t* doubled;              // all slots that are coded with a second base
    uint64_t* absolute;
} composer;

static uint64_t* lane_set(const composer* c, net_lane_set set) {
    return net_snapshot_writer_set(c->writer, set);
}

// ---- records ----

// The records of a run: the encoded rows of its slots. Most rows are found, in the same cell of
// their homes; those that are missing are encoded together, so that memory is read ahead.

enum { CODED_TOGETHER = 32 }; // records whose rows are prefetched together

// Rows of one kind: all that is asked for with the same bases and classes.
typedef struct row_kind {
    net_encoded_row_key key;
    uint32_t is_for; // classes; UINT32_MAX: not known yet
    uint32_t wanted; // the key in a home
    net_encoded_row_kind* known;
    uint32_t count; // asked for
} row_kind;

typedef struct row_finder {
    composer* c;
    net_record_group* run;
    net_encoded_row_wish missing[CODED_TOGETHER]; // records whose rows are not encoded yet
    uint32_t missing_count;
} row_finder;

// The row of a slot in the snapshot.
static void take_row(composer* c, uint32_t slot, uint64_t cell) {
    c->writer->cells[slot] = cell;
    c->writer->encoded_bits += net_encoded_cell_bits(cell);
}

// The history has forgotten a base: the slot goes to those without a second base, or without any.
static void move_slot(const row_finder* f, uint32_t slot, bool has_base) {
    composer* c = f->c;
    const uint64_t keep = ~(UINT64_C(1) << (slot & 63));
    net_run_word* at = c->writer->run_words + f->run->words;
    while (at->word != slot >> 6)
        at++;
    at->slots &= keep;
    f->run->count--;
    c->writer->record_count--;
    c->doubled[slot >> 6] &= keep;
    net_set_bit(has_base ? c->single : c->absolute, slot);
}

// Encode the rows that are missing.
static void make_missing(row_finder* f) {
    net_encoded_rows* encoded_rows = f->c->encoded_rows;
    uint32_t count = f->missing_count;
    f->missing_count = 0;
    const bool is_cached = encoded_rows->home_count <= NET_ENCODED_ROW_HOMES_CACHED;
    for (uint32_t step = is_cached ? 2 : 0; step <= 1 && count > 1; step++)
        for (uint32_t i = 0; i < count; i++) {
            const net_encoded_row_key* key = &f->missing[i].key;
            net_history_warm(encoded_rows->history, key->index, encoded_rows->tick, key->age,
                             key->d, step == 1);
        }
    net_encoded_rows_make_many(encoded_rows, f->missing, count);
    for (uint32_t i = 0; i < count; i++) {
        const net_encoded_row_wish* missing = &f->missing[i];
        if (missing->result == NET_ENCODED_ROW_OK)
            take_row(f->c, missing->slot, missing->cell);
        else
            move_slot(f, missing->slot, missing->result == NET_ENCODED_ROW_NO_BASE2);
    }
}

static void end_kind(row_kind* kind) {
    if (kind->known) kind->known->count += kind->count;
    kind->count = 0;
}

static void begin_kind(const row_finder* f, row_kind* kind, uint16_t classes) {
    end_kind(kind);
    net_encoded_row_key* key = &kind->key;
    kind->is_for = key->classes = classes;
    key->base_classes = key->age ? classes : 0;
    key->base2_classes = key->d ? classes : 0;
    kind->wanted = net_encoded_rows_wanted(f->c->encoded_rows, key);
    kind->known = net_encoded_rows_kind(f->c->encoded_rows, kind->wanted);
}

// Are rows of the kind found at once?
static bool has_cell(const row_kind* kind) {
    return kind->known && kind->known->cell != NET_ENCODED_ROW_CELL_NONE;
}

// Find rows that were not found at once, or let them be made.
static BASE_NOINLINE void find_others(row_finder* f, row_kind* kind, uint32_t w, uint64_t slots) {
    const net_repl_state* repl = f->c->repl;
    bool has_looked = has_cell(kind);
    for (; slots; slots &= slots - 1) {
        uint32_t slot = w * 64 + base_bit_lowest(slots);
        uint64_t cell;
        if (repl->classes[slot] != kind->is_for) {
            begin_kind(f, kind, repl->classes[slot]);
            has_looked = false;
        }
        kind->key.index = repl->indices[slot];
        kind->count++;
        if (!has_looked &&
            net_encoded_rows_find_wanted(f->c->encoded_rows, kind->wanted, &kind->key, &cell)) {
            take_row(f->c, slot, cell);
            continue;
        }
        net_encoded_row_wish* wish = &f->missing[f->missing_count++];
        wish->key = kind->key;
        wish->wanted = kind->wanted;
        wish->slot = slot;
        if (f->missing_count == CODED_TOGETHER) make_missing(f);
    }
}

// Take the rows of these slots of a word that are in the cell of their kind. *sum: their bits are
// added. *unlike: slots with other classes. @return the slots without a row.
static inline uint64_t find_usual(const net_encoded_rows* encoded_rows, const row_kind* kind,
                                  const net_repl_state* repl, uint64_t* cells, uint32_t w,
                                  uint64_t slots, uint64_t* sum, uint64_t* unlike) {
    const uint32_t* indices = repl->indices + (size_t)w * 64;
    const uint16_t* classes = repl->classes + (size_t)w * 64;
    const uint32_t is_for = kind->is_for;
    const uint64_t* homes = encoded_rows->homes;
    const uint32_t home_bits = encoded_rows->home_bits;
    const uint32_t cell = kind->known->cell;
    const uint64_t mark = net_encoded_rows_mark(encoded_rows, cell);
    uint64_t others = 0, without = 0, bits = 0;
    cells += (size_t)w * 64;
    BASE_KEEP_POINTER(indices);
    BASE_KEEP_POINTER(classes);
    BASE_KEEP_POINTER(cells);
    for (; slots; slots &= slots - 1) {
        uint32_t bit = base_bit_lowest(slots);
        const uint64_t* home = homes + ((size_t)indices[bit] << home_bits);
        if (!net_encoded_rows_has(home, mark) || classes[bit] != is_for) {
            if (classes[bit] != is_for)
                others |= slots & (0 - slots);
            else
                without |= slots & (0 - slots);
            continue;
        }
        const uint64_t row = home[cell];
        cells[bit] = row;
        bits += net_encoded_cell_bits(row);
    }
    *sum += bits;
    *unlike = others;
    return without;
}

// Get the rows of the slots of the run that are in this set, or not.
static void find_kind(row_finder* f, row_kind* kind, const uint64_t* set, uint64_t inverse) {
    net_encoded_rows* encoded_rows = f->c->encoded_rows;
    net_snapshot_writer* writer = f->c->writer;
    const net_repl_state* repl = f->c->repl;
    uint64_t encoded_bits = 0;
    uint32_t found = 0;
    for (uint32_t i = f->run->words; i < f->run->words_end; i++) {
        uint32_t w = writer->run_words[i].word;
        uint64_t left = writer->run_words[i].slots & (set[w] ^ inverse), unlike;
        if (left && kind->is_for == UINT32_MAX)
            begin_kind(f, kind, repl->classes[w * 64 + base_bit_lowest(left)]);
        for (; left; left = unlike) {
            uint64_t without = left;
            unlike = 0;
            if (has_cell(kind))
                without = find_usual(encoded_rows, kind, repl, writer->cells, w, left,
                                     &encoded_bits, &unlike);
            uint32_t count = net_word_count(left & ~without & ~unlike);
            kind->count += count;
            found += count;
            if (without) find_others(f, kind, w, without);
            if (unlike) begin_kind(f, kind, repl->classes[w * 64 + base_bit_lowest(unlike)]);
        }
    }
    encoded_rows->shared += found;
    writer->encoded_bits += encoded_bits;
    end_kind(kind);
}

// Get the rows of the newest run: with the second base at this distance for the slots that are in
// `doubled`. A slot whose base is forgotten goes to `single` or `absolute`.
static void add_records(composer* c, uint32_t age, uint32_t d) {
    net_snapshot_writer* writer = c->writer;
    row_finder f; // its list is long: nothing is cleared in vain
    f.c = c;
    f.run = &writer->runs[writer->run_count - 1];
    f.missing_count = 0;
    row_kind single = {.key = {.age = age}, .is_for = UINT32_MAX}, doubled = single;
    doubled.key.d = (uint8_t)d;
    if (d > 0) find_kind(&f, &doubled, c->doubled, 0);
    find_kind(&f, &single, c->doubled, UINT64_MAX);
    f.run->has_single = age > 0 && single.is_for != UINT32_MAX;
    if (f.missing_count > 0) make_missing(&f);
}

// ---- runs ----

// Put what a set has. @return how many slots that are.
static uint32_t put_set(const composer* c, const uint64_t* set) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < c->words; w++) {
        if (!set[w]) continue;
        net_snapshot_writer_put(c->writer, w, set[w]);
        count += net_word_count(set[w]);
    }
    return count;
}

// Add a run of the `count` slots that were put, without a base.
static void add_absolute(composer* c, uint32_t count) {
    net_snapshot_writer_add_run(c->writer, NET_SNAPSHOT_ABSOLUTE, 0, 0, count);
    add_records(c, 0, 0);
}

// The same with the packet `back` as their base.
static void add_run(composer* c, uint32_t back, uint32_t d, uint32_t count) {
    if (count == 0) return;
    net_repl_state* repl = c->repl;
    uint32_t age = c->now - net_repl_packet_tick(repl, back);
    const uint64_t* list = net_repl_listed(repl, back);
    if (c->list_back != back) {
        c->list_back = back;
        c->list_count = net_words_count(list, c->words);
    }
    bool is_listed = net_snapshot_writer_is_list_shorter(c->writer, count, c->list_count);
    net_record_group* run = net_snapshot_writer_add_run(
        c->writer, is_listed ? NET_SNAPSHOT_BY_PACKET : NET_SNAPSHOT_BY_AGE, age, d, count);
    if (is_listed) {
        run->back = (uint8_t)back;
        run->list = list;
        run->list_count = c->list_count;
    }
    add_records(c, age, d);
}

// ---- by packet ----

// An acknowledged packet.
typedef struct acked_packet {
    const uint64_t* carried;
    uint32_t back, tick;
} acked_packet;

// Acknowledged packets that may be bases, newest first, as far as they were asked for.
typedef struct acked_list {
    uint64_t further; // bit i: the packet i + 1 back
    uint32_t count;
    acked_packet packets[ACKED_MAX];
} acked_list;

// Slots with the same newest acknowledged packet.
typedef struct base_group {
    const acked_packet* base;
    const acked_packet *first, *end; // older packets that may be second bases
    uint32_t count;                  // of its slots
    uint32_t piece_count;
    uint64_t seconds;            // bit i: first[i] carried some of them
    uint32_t carried[ACKED_MAX]; // by second base: slots
    uint32_t allowed[ACKED_MAX]; // of those, that may have it
} base_group;

// Of slots whose newest update had no second base: those that may have one of this tick.
static uint64_t allow_second(const net_repl_state* repl, uint32_t w, uint64_t singles,
                             uint32_t tick) {
    uint64_t allowed = 0;
    for (uint64_t bits = singles; bits; bits &= bits - 1)
        if ((int32_t)(tick - repl->floors[w * 64 + base_bit_lowest(bits)]) >= 0)
            allowed |= bits & (0 - bits);
    return allowed;
}

// Divide slots of the group in a word by the newest older packet that carried them. Others go to
// `single`.
static void split_word(composer* c, base_group* group, uint32_t w, uint64_t slots) {
    const uint64_t was_single = net_set(c->repl, NET_SET_SINGLE)[w];
    for (const acked_packet* at = group->first; at < group->end && slots; at++) {
        uint64_t with = slots & at->carried[w];
        if (!with) continue;
        uint32_t packet = (uint32_t)(at - group->first), count = net_word_count(with);
        slots &= ~with;
        if (!(group->seconds >> packet & 1)) group->carried[packet] = group->allowed[packet] = 0;
        group->seconds |= UINT64_C(1) << packet;
        group->carried[packet] += count;
        if (with & was_single) {
            uint64_t allowed = allow_second(c->repl, w, with & was_single, at->tick);
            c->single[w] |= with & was_single & ~allowed;
            with &= ~was_single | allowed;
            count = net_word_count(with);
        }
        if (!with) continue;
        group->allowed[packet] += count;
        c->writer->pieces[group->piece_count++] = (net_run_piece){with, w, packet};
    }
    c->single[w] |= slots;
}

// Choose the packets that are second bases of many slots; the slots of others go to `single`.
// @return the one of most slots; ACKED_MAX: there is none.
static uint32_t choose_seconds(composer* c, base_group* group) {
    uint32_t left = group->count, most = ACKED_MAX;
    uint64_t chosen = 0;
    for (uint64_t bits = group->seconds; bits && left >= SHARING_MIN; bits &= bits - 1) {
        uint32_t i = base_bit_lowest(bits);
        left -= group->carried[i];
        if (group->allowed[i] < SHARING_MIN) continue;
        chosen |= bits & (0 - bits);
        if (most == ACKED_MAX || group->allowed[i] > group->allowed[most]) most = i;
    }
    group->seconds = chosen;
    for (uint32_t i = 0; i < group->piece_count; i++) {
        const net_run_piece* piece = &c->writer->pieces[i];
        if (!(chosen >> piece->packet & 1)) c->single[piece->word] |= piece->slots;
    }
    return most;
}

// Of slots without a second base in a word: those that certainly have no row of the tick of this
// packet. Nothing was sent in the packets of that tick.
static uint64_t find_free(const composer* c, uint32_t back, uint32_t w) {
    const net_repl_state* repl = c->repl;
    uint64_t none = c->single[w] & ~net_set(repl, NET_SET_PREVIOUS)[w];
    uint32_t tick = net_repl_packet_tick(repl, back), backs = repl->backs;
    for (uint32_t i = back; none && i <= backs && net_repl_packet_tick(repl, i) == tick; i++)
        none &= ~net_repl_carried(repl, i)[w];
    for (uint32_t i = back - 1; none && i >= 1 && net_repl_packet_tick(repl, i) == tick; i--)
        none &= ~net_repl_carried(repl, i)[w];
    c->single[w] &= ~none;
    return none;
}

static inline void put_word(composer* c, uint32_t w, uint64_t with, uint64_t without) {
    c->doubled[w] |= with;
    net_snapshot_writer_put(c->writer, w, with | without);
}

// Put the slots with this second base. `joins`: and those that may be in the same run.
// @return how many they are.
static uint32_t put_second(composer* c, const base_group* group, uint32_t packet, bool joins) {
    const net_run_piece *piece = c->writer->pieces, *end = piece + group->piece_count;
    const net_repl_state* repl = c->repl;
    uint32_t back = group->first[packet].back, whole = net_repl_state_backs_whole(repl), free = 0;
    // The oldest tick of the window may have had further packets.
    joins = joins && !(whole < repl->packet_count &&
                       net_repl_packet_tick(repl, whole + 1) == group->first[packet].tick);
    uint32_t w = 0, words = joins ? c->words : 0;
    for (; piece < end; piece++) {
        if (piece->packet != packet) continue;
        for (; w < words && w <= piece->word; w++) {
            uint64_t none = c->single[w] ? find_free(c, back, w) : 0;
            if (none) free += net_word_count(none);
            if (w == piece->word)
                put_word(c, w, piece->slots, none);
            else if (none)
                put_word(c, w, 0, none);
        }
        if (!joins) put_word(c, piece->word, piece->slots, 0);
    }
    for (; w < words; w++) {
        uint64_t none = c->single[w] ? find_free(c, back, w) : 0;
        if (!none) continue;
        free += net_word_count(none);
        put_word(c, w, 0, none);
    }
    return group->allowed[packet] + free;
}

static void add_group(composer* c, base_group* group) {
    uint32_t back = group->base->back, most = choose_seconds(c, group);
    for (uint64_t bits = group->seconds; bits; bits &= bits - 1) {
        uint32_t i = base_bit_lowest(bits), count = put_second(c, group, i, i == most);
        add_run(c, back, group->base->tick - group->first[i].tick, count);
    }
    uint32_t count = put_set(c, c->single);
    for (uint32_t w = 0; w < c->words; w++)
        c->single[w] = 0;
    add_run(c, back, 0, count);
}

static void begin_acked(const net_repl_state* repl, acked_list* acked) {
    uint32_t backs = repl->backs;
    if (backs > NET_REPL_STATE_BACK_MAX) backs = NET_REPL_STATE_BACK_MAX;
    acked->further = backs ? repl->recent_acked & (UINT64_MAX >> (64 - backs)) : 0;
    acked->count = 0;
}

// Has the list a packet at this place?
static inline bool reach(const composer* c, acked_list* acked, uint32_t at) {
    for (; at >= acked->count && acked->further; acked->further &= acked->further - 1) {
        uint32_t back = base_bit_lowest(acked->further) + 1;
        uint32_t tick = net_repl_packet_tick(c->repl, back);
        if (tick == c->now) continue;
        acked->packets[acked->count++] =
            (acked_packet){net_repl_carried(c->repl, back), back, tick};
    }
    return at < acked->count;
}

// Take the slots of a base from `left`. *any: the others. @return how many they are.
static uint32_t take_group(const composer* c, const uint64_t* carried, uint64_t* left,
                           uint64_t* slots, uint64_t* any) {
    uint32_t count = 0, first = 0;
    while (first + 1 < c->words &&
           !((left[first] & carried[first]) | (left[first + 1] & carried[first + 1])))
        first += 2;
    const bool is_last = first + 1 == c->words;
    if (first == c->words || (is_last && !(left[first] & carried[first])))
        return 0; // as most packets, where entities seldom change
    *any = 0;
    for (uint32_t w = 0; w < c->words; w++) {
        uint64_t of = left[w] & carried[w];
        slots[w] = of;
        *any |= left[w] &= ~of;
        if (of) count += net_word_count(of);
    }
    return count;
}

// Find the packets that may be second bases of a group: first, end.
static void find_seconds(const composer* c, acked_list* acked, base_group* group) {
    uint32_t tick = group->base->tick, at = (uint32_t)(group->base - acked->packets);
    while (reach(c, acked, at) && acked->packets[at].tick == tick)
        at++;
    group->first = acked->packets + at;
    while (reach(c, acked, at) && tick - acked->packets[at].tick <= BASE2_TICKS_MAX)
        at++;
    group->end = acked->packets + at;
}

static void add_by_packet(composer* c, uint64_t* left) {
    acked_list acked;
    begin_acked(c->repl, &acked);
    uint64_t *slots = lane_set(c, NET_LANE_RUN), any = 0;
    base_group group;
    for (uint32_t w = 0; w < c->words; w++)
        any |= left[w];
    for (uint32_t at = 0; any && reach(c, &acked, at); at++) {
        group.base = &acked.packets[at];
        if (c->now - group.base->tick > NET_BASE_AGE_MAX) break;
        group.count = take_group(c, group.base->carried, left, slots, &any);
        if (group.count == 0) continue;
        if (group.count < SHARING_MIN) {
            add_run(c, group.base->back, 0, put_set(c, slots));
            continue;
        }
        find_seconds(c, &acked, &group);
        group.piece_count = 0;
        group.seconds = 0;
        for (uint32_t w = 0; w < c->words; w++)
            if (slots[w]) split_word(c, &group, w, slots[w]);
        add_group(c, &group);
    }
}

// ---- one by one ----

uint32_t net_repl_state_base_age(const net_repl_state* repl, uint32_t slot) {
    const uint32_t now = net_repl_state_now(repl);
    uint32_t back = net_repl_state_find_base(repl, slot), base = repl->bases[slot];
    if (back) base = net_repl_packet_tick(repl, back);
    bool is_known = back || net_set_has(repl, NET_SET_BASED, slot);
    uint32_t sends = !back && net_set_has(repl, NET_SET_STALE, slot) ? repl->unheard[slot] : 0;
    uint32_t old_sends = sends, age = now - base; // they are older than all of the window
    uint32_t newer = back ? back - 1 : repl->backs;
    for (uint32_t i = newer; i >= 1 && is_known; i--) {
        if (!(net_repl_carried(repl, i)[slot >> 6] >> (slot & 63) & 1)) continue;
        sends++;
        old_sends += now - net_repl_packet_tick(repl, i) >= NET_SNAPSHOT_AGE_SETTLED;
    }
    if (!is_known || age == 0 || sends > NET_REPL_STATE_BACK_MAX) return 0;
    if (age > NET_BASE_AGE_MAX && old_sends > 0) return 0;
    uint32_t classes = net_repl_state_classes_at(repl, slot, base);
    // A row with hidden classes is stored for a fixed number of ticks. Beyond that, whether it is
    // still stored would reveal how often they changed.
    const bool is_hidden = (classes & ~(uint32_t)repl->classes[slot]) != 0;
    return is_hidden && age >= repl->replicator->history->keep_ticks ? 0 : age;
}

// Most slots have not been sent for a while: no packet of a small window is their base.
static inline uint32_t find_age(const composer* c, uint32_t slot, uint64_t is_resting) {
    const net_repl_state* repl = c->repl;
    uint32_t age = c->now - repl->bases[slot];
    if (is_resting && age <= NET_BASE_AGE_MAX && repl->window <= NET_REPL_STATE_BACK_MAX)
        return age;
    return net_repl_state_base_age(repl, slot);
}

// Get the row of a slot of the newest run.
static void add_single(composer* c, uint32_t slot, uint32_t age) {
    net_snapshot_writer* writer = c->writer;
    net_encoded_row_key key = {.index = c->repl->indices[slot],
                               .age = age,
                               .is_settled = age > NET_BASE_AGE_MAX,
                               .classes = c->repl->classes[slot]};
    if (age) key.base_classes = net_repl_state_classes_at(c->repl, slot, c->now - age);
    uint64_t cell;
    net_encoded_row_result result = net_encoded_rows_get(c->encoded_rows, &key, &cell);
    if (result != NET_ENCODED_ROW_OK) {
        net_set_bit(c->absolute, slot);
        return;
    }
    take_row(c, slot, cell);
    net_record_group* run = &writer->runs[writer->run_count - 1];
    if (run->count == 0 || writer->run_words[run->words_end - 1].word != slot >> 6) {
        net_snapshot_writer_put(writer, slot >> 6, 0);
        run->words_end++;
    }
    writer->run_words[run->words_end - 1].slots |= UINT64_C(1) << (slot & 63);
    run->count++;
    writer->record_count++;
}

// Group slots by the age of their base: `heads` by age, chained rising by slot.
static void add_one_by_one(composer* c, const uint64_t* left) {
    const net_repl_state* repl = c->repl;
    const uint64_t *based = net_set(repl, NET_SET_BASED), *stale = net_set(repl, NET_SET_STALE);
    const uint64_t* mixed = net_set(repl, NET_SET_MIXED);
    uint32_t heads[AGES + 1], *next_of = c->writer->next_of, *ages_of = c->writer->ages_of;
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
            c->repl->rested += age <= NET_REPL_STATE_BACK_MAX;
            if (age > AGES) age = AGES;
            next_of[slot] = ages[age >> 6] >> (age & 63) & 1 ? heads[age] : UINT32_MAX;
            heads[age] = slot;
            net_set_bit(ages, age);
        }
    }
    for (uint32_t w = 0; w < AGES / 64 + 1; w++) {
        for (uint64_t bits = ages[w]; bits; bits &= bits - 1) {
            uint32_t age = w * 64 + base_bit_lowest(bits);
            net_snapshot_writer_add_run(c->writer, NET_SNAPSHOT_BY_AGE, age, 0, 0)->has_single =
                true;
            for (uint32_t slot = heads[age]; slot != UINT32_MAX; slot = next_of[slot])
                add_single(c, slot, ages_of[slot]);
        }
    }
}

// ---- all together ----

// Prefetch what every chosen slot looks up first, when there is more of it than cache.
static void prefetch_rows(const composer* c, const uint64_t* chosen) {
    if (c->encoded_rows->home_count <= NET_ENCODED_ROW_HOMES_CACHED) return;
    for (uint32_t w = 0; w < c->words; w++)
        for (uint64_t bits = chosen[w]; bits; bits &= bits - 1)
            net_encoded_rows_prefetch(c->encoded_rows,
                                      c->repl->indices[w * 64 + base_bit_lowest(bits)]);
}

void net_repl_state_compose(net_repl_state* repl, const uint64_t* chosen) {
    net_replicator_lane* lane = &repl->replicator->lanes[repl->lane];
    const net_history* history = repl->replicator->history;
    composer c = {.repl = repl,
                  .writer = &lane->writer,
                  .encoded_rows = &lane->encoded_rows,
                  .now = net_repl_state_now(repl),
                  .words = net_repl_state_words(repl)};
    c.single = lane_set(&c, NET_LANE_SINGLE);
    c.absolute = lane_set(&c, NET_LANE_ABSOLUTE);
    c.doubled = lane_set(&c, NET_LANE_DOUBLED);
    repl->rested = 0;
    net_snapshot_writer_begin(c.writer, net_rows_number_bits(history->rows));
    prefetch_rows(&c, chosen);
    uint64_t *left = lane_set(&c, NET_LANE_LEFT), *creates = lane_set(&c, NET_LANE_RUN);
    const uint64_t *live = net_set(repl, NET_SET_LIVE), *going = net_set(repl, NET_SET_GOING);
    const uint64_t *resync = net_set(repl, NET_SET_RESYNC), *mixed = net_set(repl, NET_SET_MIXED);
    const uint64_t* recent = net_set(repl, NET_SET_RECENT);
    uint32_t count = 0;
    for (uint32_t w = 0; w < c.words; w++) {
        uint64_t gone = chosen[w] & going[w];
        if (gone) net_snapshot_writer_put(c.writer, w, gone);
        for (uint64_t bits = gone; bits; bits &= bits - 1, count++)
            c.writer->cells[w * 64 + base_bit_lowest(bits)] = 0;
        creates[w] = chosen[w] & ~live[w] & ~going[w];
        left[w] = chosen[w] & live[w] & ~resync[w] & ~mixed[w] & recent[w];
        c.absolute[w] = chosen[w] & live[w] & resync[w];
        c.single[w] = c.doubled[w] = 0;
    }
    // The first two runs are those of destroys and creates.
    net_snapshot_writer_add_run(c.writer, NET_SNAPSHOT_ABSOLUTE, 0, 0, count);
    add_absolute(&c, put_set(&c, creates));
    add_by_packet(&c, left);
    uint64_t any = 0;
    for (uint32_t w = 0; w < c.words; w++) {
        left[w] |= chosen[w] & live[w] & ~resync[w] & (mixed[w] | ~recent[w]);
        any |= left[w];
    }
    if (any) add_one_by_one(&c, left);
    count = put_set(&c, c.absolute);
    if (count > 0) add_absolute(&c, count);
}

net_encoded_row_key net_repl_state_key(const net_repl_state* repl,
                                       const net_snapshot_writer* writer,
                                       const net_record_group* run, bool is_create, uint32_t slot) {
    uint32_t now = net_repl_state_now(repl);
    net_encoded_row_key key = {.index = repl->indices[slot], .classes = repl->classes[slot]};
    if (is_create || run->kind == NET_SNAPSHOT_ABSOLUTE) return key;
    key.age = run->age;
    if (run->kind == NET_SNAPSHOT_BY_AGE && run->age == NET_SNAPSHOT_AGE_SETTLED) {
        uint32_t back = net_repl_state_find_base(repl, slot);
        key.age = now - (back ? net_repl_packet_tick(repl, back) : repl->bases[slot]);
        key.is_settled = true;
    }
    key.base_classes = net_repl_state_classes_at(repl, slot, now - key.age);
    const uint64_t* doubled = net_snapshot_writer_set(writer, NET_LANE_DOUBLED);
    if (run->d == 0 || !(doubled[slot >> 6] >> (slot & 63) & 1)) return key;
    key.d = run->d;
    key.base2_classes = key.classes;
    return key;
}
