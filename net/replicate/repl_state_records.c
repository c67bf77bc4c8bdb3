// SPDX-License-Identifier: MIT
// What became of packets. A state knows of each of its newest packets (the window) the set of slots
// that it carried. Rules:
//
// 1. Newest wins: a lost packet makes a slot wait again only when no newer packet carried it. So
// loss never multiplies traffic.
// 2. An acknowledgement settles a slot when no newer packet carried it and no change waits.
// 3. What was sent before an epoch of a slot does not count: its bits were cleared.
//
// A packet that leaves the window is folded into `bases`: of the slots whose newest acknowledged
// packet it is, its tick is the base from then on. The window doubles while packets are in flight
// for longer than half of it; and up to the oldest packet that may be a base, when bases of most
// records have just left it: as lists of packets, and with second bases, they are a third shorter.
#include "base/assert.h"

#include "core/fault.h"
#include "replicate/repl_state.h"

#include <string.h>

enum { WORD_BITS = 64, COUNTER_BITS = 6 };

_Static_assert(NET_REPL_STATE_FLYING_MAX == (1 << COUNTER_BITS) - 1, "all counters full");

static uint32_t now_of(const net_repl_state* repl) {
    return (uint32_t)net_replicator_now(repl->replicator);
}

// How many packets back `seq` is; 0: not known.
static uint32_t find_packet(const net_repl_state* repl, uint16_t seq) {
    uint32_t back = (uint16_t)(repl->seq_next - seq);
    bool is_known = back >= 1 && back <= NET_REPL_STATE_PACKETS && back <= repl->packet_count;
    return is_known ? back : 0;
}

static void set_state(net_repl_state* repl, uint32_t back, net_packet_state state) {
    uint8_t* at = &repl->states[(uint16_t)(repl->seq_next - back) & (NET_REPL_STATE_PACKETS - 1)];
    if (*at == NET_PACKET_FLYING) repl->flying--;
    *at = (uint8_t)state;
}

// Slots of a word that packets newer than `back` carried. Packets of the same tick hold the same
// rows: they do not count.
static uint64_t carried_later(const net_repl_state* repl, uint32_t back, uint32_t w) {
    uint32_t tick = net_repl_packet_tick(repl, back);
    uint64_t later = 0;
    for (uint32_t i = back - 1; i >= 1; i--)
        if (net_repl_packet_tick(repl, i) != tick) later |= net_repl_carried(repl, i)[w];
    return later;
}

// ---- acknowledged ----

static void free_slots(net_repl_state* repl, uint32_t w, uint64_t gone) {
    for (; gone; gone &= gone - 1)
        net_repl_state_free_slot(repl, w * WORD_BITS + base_bit_lowest(gone));
}

static void take_word(net_repl_state* repl, uint32_t back, uint32_t w, uint64_t got) {
    net_set(repl, NET_SET_RECENT)[w] |= got;
    uint64_t* pending = &net_set(repl, NET_SET_PENDING)[w];
    uint64_t* repeat = &net_set(repl, NET_SET_REPEAT)[w];
    uint64_t gone = got & net_set(repl, NET_SET_GOING)[w];
    got &= ~gone;
    net_set(repl, NET_SET_LIVE)[w] |= got;
    uint64_t newest = got & ~carried_later(repl, back, w);
    uint64_t late = newest & *repeat; // declared lost, but it came
    *repeat &= ~late;
    *pending &= ~late;
    repl->pending_count -= net_word_count(late);
    net_set(repl, NET_SET_UNSETTLED)[w] &= ~(newest & ~*pending);
    if (gone) free_slots(repl, w, gone);
}

bool net_repl_state_acked(net_repl_state* repl, uint16_t seq) {
    uint32_t back = find_packet(repl, seq);
    if (!back) return false;
    net_packet_state state = net_repl_packet_state(repl, back);
    if (state == NET_PACKET_ACKED) return true;
    if (state == NET_PACKET_LOST) repl->counters.packets_lost--;
    set_state(repl, back, NET_PACKET_ACKED);
    repl->counters.packets_acked++;
    repl->round_ticks = now_of(repl) - net_repl_packet_tick(repl, back);
    if (back <= WORD_BITS) repl->recent_acked |= UINT64_C(1) << (back - 1);
    if (net_fault_is_planted(NET_FAULT_STALE_ACK)) repl->recent_acked |= 1;
    if (back > net_repl_state_backs(repl)) return true;
    const uint64_t* carried = net_repl_carried(repl, back);
    uint32_t words = net_repl_state_words(repl);
    for (uint32_t w = 0; w < words; w++)
        if (carried[w]) take_word(repl, back, w, carried[w]);
    return true;
}

// ---- lost ----

static void lose_word(net_repl_state* repl, uint32_t back, uint32_t w, uint64_t lost) {
    uint64_t newest = lost & ~carried_later(repl, back, w);
    // Of packets of one tick it is enough that one came.
    uint32_t tick = net_repl_packet_tick(repl, back);
    for (uint32_t i = 1; i <= net_repl_state_backs(repl); i++)
        if (net_repl_packet_tick(repl, i) == tick &&
            net_repl_packet_state(repl, i) == NET_PACKET_ACKED)
            newest &= ~net_repl_carried(repl, i)[w];
    if (net_fault_is_planted(NET_FAULT_STALE_RESEND)) newest = lost;
    if (net_fault_is_planted(NET_FAULT_GHOST)) {
        uint64_t gone = newest & net_set(repl, NET_SET_GOING)[w];
        newest &= ~gone;
        free_slots(repl, w, gone);
    }
    newest &= ~net_set(repl, NET_SET_PENDING)[w];
    net_set(repl, NET_SET_REPEAT)[w] |= newest;
    for (; newest; newest &= newest - 1)
        net_repl_state_wait(repl, w * WORD_BITS + base_bit_lowest(newest));
}

bool net_repl_state_lost(net_repl_state* repl, uint16_t seq) {
    uint32_t back = find_packet(repl, seq);
    if (!back) return false;
    if (net_repl_packet_state(repl, back) != NET_PACKET_FLYING) return true;
    set_state(repl, back, NET_PACKET_LOST);
    repl->counters.packets_lost++;
    if (net_fault_is_planted(NET_FAULT_NO_REPEAT)) return true;
    BASE_ASSERT(back <= net_repl_state_backs(repl)); // the window holds all that fly
    const uint64_t* carried = net_repl_carried(repl, back);
    uint32_t words = net_repl_state_words(repl);
    for (uint32_t w = 0; w < words; w++)
        if (carried[w]) lose_word(repl, back, w, carried[w]);
    return true;
}

// ---- the window ----

// Slots that a packet carried in vain: their bases are older.
static void add_unheard(net_repl_state* repl, uint32_t w, uint64_t left) {
    uint64_t* stale = &net_set(repl, NET_SET_STALE)[w];
    for (uint64_t bits = left; bits; bits &= bits - 1) {
        uint8_t* unheard = &repl->unheard[w * WORD_BITS + base_bit_lowest(bits)];
        if (!(*stale & bits & (0 - bits))) *unheard = 0;
        if (*unheard <= NET_REPL_STATE_BACK_MAX) ++*unheard;
    }
    *stale |= left;
}

// The oldest packet leaves the window.
static void fold(net_repl_state* repl, uint32_t back) {
    uint64_t* carried = net_repl_carried(repl, back);
    uint32_t words = net_repl_state_words(repl), tick = net_repl_packet_tick(repl, back);
    bool is_acked = net_repl_packet_state(repl, back) == NET_PACKET_ACKED;
    for (uint32_t w = 0; w < words; w++) {
        uint64_t left = carried[w];
        for (uint32_t i = back - 1; i >= 1 && left; i--)
            if (net_repl_packet_state(repl, i) == NET_PACKET_ACKED)
                left &= ~net_repl_carried(repl, i)[w];
        if (is_acked) net_set(repl, NET_SET_RECENT)[w] &= ~left;
        left &= net_set(repl, NET_SET_LIVE)[w];
        if (!left) continue;
        if (!is_acked) {
            add_unheard(repl, w, left);
            continue;
        }
        net_set(repl, NET_SET_BASED)[w] |= left;
        net_set(repl, NET_SET_STALE)[w] &= ~left;
        for (; left; left &= left - 1)
            repl->bases[w * WORD_BITS + base_bit_lowest(left)] = tick;
    }
}

bool net_repl_state_begin_packet(net_repl_state* repl) {
    if (repl->narrow >= NET_REPL_STATE_NARROW_PACKETS && repl->window <= NET_REPL_STATE_BACK_MAX) {
        repl->narrow = 0;
        if (!net_repl_state_widen(repl)) return false;
    }
    while (repl->window < NET_REPL_STATE_PACKETS && repl->packet_count >= repl->window / 2 &&
           net_repl_packet_state(repl, repl->window / 2) == NET_PACKET_FLYING)
        if (!net_repl_state_widen(repl)) return false;
    if (repl->backs < repl->window) return true;
    uint32_t back = repl->window;
    if (net_repl_packet_state(repl, back) == NET_PACKET_FLYING)
        (void)net_repl_state_lost(repl, (uint16_t)(repl->seq_next - back));
    fold(repl, back);
    if (repl->word_count == 0) return true; // the client never had an entity
    memset(net_repl_carried(repl, back), 0, repl->word_count * sizeof(uint64_t));
    memset(net_repl_listed(repl, back), 0, repl->word_count * sizeof(uint64_t));
    return true;
}

void net_repl_state_end_packet(net_repl_state* repl, const uint64_t* sent) {
    uint16_t seq = repl->seq_next++;
    uint32_t at = seq & (NET_REPL_STATE_PACKETS - 1);
    repl->packet_count++;
    repl->backs += repl->backs < repl->window;
    repl->ticks[at] = now_of(repl);
    repl->states[at] = NET_PACKET_FLYING;
    repl->flying++;
    repl->recent_acked <<= 1;
    uint64_t *carried = net_repl_carried(repl, 1), *listed = net_repl_listed(repl, 1);
    uint64_t *pending = net_set(repl, NET_SET_PENDING), *repeat = net_set(repl, NET_SET_REPEAT);
    for (uint32_t w = 0; w < net_repl_state_words(repl) && sent; w++) {
        carried[w] = sent[w];
        listed[w] = sent[w] & ~net_set(repl, NET_SET_GOING)[w];
        net_set(repl, NET_SET_KNOWN)[w] |= sent[w];
        net_set(repl, NET_SET_RESYNC)[w] &= ~sent[w];
        repl->pending_count -= net_word_count(pending[w] & sent[w]);
        repl->counters.records_repeated += net_word_count(repeat[w] & sent[w]);
        pending[w] &= ~sent[w];
        repeat[w] &= ~sent[w];
        net_set(repl, NET_SET_AGAIN)[w] &= ~sent[w];
    }
}

// ---- questions ----

uint64_t net_repl_state_created(const net_repl_state* repl, uint32_t w, uint64_t waiting) {
    waiting &= ~net_set(repl, NET_SET_LIVE)[w] & ~net_set(repl, NET_SET_GOING)[w];
    if (!waiting) return 0;
    uint64_t flying = 0, old = ~net_set(repl, NET_SET_YOUNG)[w];
    uint32_t backs = net_repl_state_backs(repl), now = now_of(repl);
    uint32_t ticks = repl->round_ticks + 1;
    if (ticks < NET_REPL_STATE_CREATE_TICKS) ticks = NET_REPL_STATE_CREATE_TICKS;
    for (uint32_t back = 1; back <= backs && waiting; back++) {
        uint32_t age = now - net_repl_packet_tick(repl, back);
        if (age >= ticks) break;
        if (net_repl_packet_state(repl, back) == NET_PACKET_FLYING)
            flying |= net_repl_carried(repl, back)[w] &
                      (age < NET_REPL_STATE_YOUNG_CREATE_TICKS ? UINT64_MAX : old);
    }
    // Entities that travel together are sent together, whatever is in flight.
    for (uint64_t bits = repl->group_count > 0 ? waiting & flying : 0; bits; bits &= bits - 1)
        if (repl->members[w * WORD_BITS + base_bit_lowest(bits)].group)
            flying &= ~(bits & (0 - bits));
    return waiting & flying;
}

// Counters of six bits for 64 slots at once; a full one stays full.
void net_repl_state_mark_full(const net_repl_state* repl, uint64_t* held) {
    if (repl->flying < NET_REPL_STATE_FLYING_MAX) return;
    uint32_t backs = net_repl_state_backs(repl), words = net_repl_state_words(repl);
    for (uint32_t w = 0; w < words; w++) {
        uint64_t planes[COUNTER_BITS] = {0}, full = 0;
        for (uint32_t back = 1; back <= backs; back++) {
            if (net_repl_packet_state(repl, back) != NET_PACKET_FLYING) continue;
            uint64_t carry = net_repl_carried(repl, back)[w] & ~full;
            for (uint32_t i = 0; i < COUNTER_BITS; i++) {
                uint64_t both = planes[i] & carry;
                planes[i] ^= carry;
                carry = both;
            }
            full = UINT64_MAX;
            for (uint32_t i = 0; i < COUNTER_BITS; i++)
                full &= planes[i];
        }
        held[w] |= full;
    }
}

uint32_t net_repl_state_find_base(const net_repl_state* repl, uint32_t slot) {
    uint32_t backs = net_repl_state_backs(repl), now = now_of(repl);
    for (uint32_t back = 1; back <= backs; back++)
        if (net_repl_packet_state(repl, back) == NET_PACKET_ACKED &&
            net_repl_packet_tick(repl, back) != now &&
            net_repl_carried(repl, back)[slot >> 6] >> (slot & 63) & 1)
            return back;
    return 0;
}

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
    net_composer* c;
    net_record_group* run;
    net_encoded_row_wish missing[CODED_TOGETHER]; // records whose rows are not encoded yet
    uint32_t missing_count;
} row_finder;

void net_composer_take(net_composer* c, uint32_t slot, const net_encoded_row* encoded) {
    net_snapshot_writer* writer = c->writer;
    writer->cells[slot] = net_encoded_row_cell(encoded);
    writer->encoded_bits += encoded->bits;
}

// The history has forgotten a base: the slot goes to those without a second base, or without any.
static void move_slot(const row_finder* f, uint32_t slot, bool has_base) {
    net_composer* c = f->c;
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

// Encode the rows that are missing. @return false when memory ran out.
static bool make_missing(row_finder* f) {
    net_encoded_rows* encoded_rows = f->c->encoded_rows;
    uint32_t count = f->missing_count;
    f->missing_count = 0;
    for (uint32_t step = 0; step <= 1 && count > 1; step++)
        for (uint32_t i = 0; i < count; i++) {
            const net_encoded_row_key* key = &f->missing[i].key;
            net_history_warm(encoded_rows->history, key->index, encoded_rows->tick, key->age,
                             key->d, step == 1);
        }
    net_encoded_rows_make_many(encoded_rows, f->missing, count);
    for (uint32_t i = 0; i < count; i++) {
        const net_encoded_row_wish* missing = &f->missing[i];
        if (missing->result == NET_ENCODED_ROW_NO_MEMORY) return false;
        if (missing->result == NET_ENCODED_ROW_OK)
            net_composer_take(f->c, missing->slot, &missing->encoded);
        else
            move_slot(f, missing->slot, missing->result == NET_ENCODED_ROW_NO_BASE2);
    }
    return true;
}

static void end_kind(const row_finder* f, row_kind* kind) {
    net_encoded_rows* encoded_rows = f->c->encoded_rows;
    if (kind->count == 0) return;
    if (kind->known) kind->known->count += kind->count;
    net_encoded_rows_ask(encoded_rows, &kind->key, kind->wanted, kind->count);
    kind->count = 0;
}

static void begin_kind(const row_finder* f, row_kind* kind, uint16_t classes) {
    end_kind(f, kind);
    net_encoded_row_key* key = &kind->key;
    kind->is_for = key->classes = classes;
    key->base_classes = key->age ? classes : 0;
    key->base2_classes = key->d ? classes : 0;
    kind->wanted = net_encoded_rows_wanted(f->c->encoded_rows, key);
    bool is_usual = kind->wanted != NET_ENCODED_ROW_UNUSUAL;
    kind->known = is_usual ? net_encoded_rows_kind(f->c->encoded_rows, kind->wanted) : NULL;
}

// Are rows of the kind found at once?
static bool has_cell(const row_kind* kind) {
    return kind->known && kind->known->cell != NET_ENCODED_ROW_CELL_NONE;
}

// Find rows that were not found at once, or let them be made. @return false when memory ran out.
static BASE_NOINLINE bool find_others(row_finder* f, row_kind* kind, uint32_t w, uint64_t slots) {
    const net_repl_state* repl = f->c->repl;
    bool has_looked = has_cell(kind);
    for (; slots; slots &= slots - 1) {
        uint32_t slot = w * 64 + base_bit_lowest(slots);
        net_encoded_row encoded;
        if (repl->classes[slot] != kind->is_for) {
            begin_kind(f, kind, repl->classes[slot]);
            has_looked = false;
        }
        kind->key.index = ecs_entity_index(repl->handles[slot]);
        kind->count++;
        if (!has_looked &&
            net_encoded_rows_find_wanted(f->c->encoded_rows, kind->wanted, &kind->key, &encoded)) {
            net_composer_take(f->c, slot, &encoded);
            continue;
        }
        net_encoded_row_wish* wish = &f->missing[f->missing_count++];
        wish->key = kind->key;
        wish->wanted = kind->wanted;
        wish->slot = slot;
        if (f->missing_count == CODED_TOGETHER && !make_missing(f)) return false;
    }
    return true;
}

// Take the rows of these slots of a word that are in the cell of their kind. *sum: their bits are
// added. *unlike: slots with other classes. @return the slots without a row.
static inline uint64_t find_usual(const net_encoded_rows* encoded_rows, const row_kind* kind,
                                  const net_repl_state* repl, uint64_t* cells, uint32_t w,
                                  uint64_t slots, uint64_t* sum, uint64_t* unlike) {
    const ecs_entity* handles = repl->handles + (size_t)w * 64;
    const uint16_t* classes = repl->classes + (size_t)w * 64;
    const uint32_t stamp = encoded_rows->stamp, is_for = kind->is_for;
    const net_encoded_row_home* homes = encoded_rows->homes;
    const uint32_t cell = kind->known->cell;
    uint64_t others = 0, without = 0, bits = 0;
    cells += (size_t)w * 64;
    BASE_KEEP_POINTER(handles);
    BASE_KEEP_POINTER(classes);
    BASE_KEEP_POINTER(cells);
    for (; slots; slots &= slots - 1) {
        uint32_t bit = base_bit_lowest(slots);
        const net_encoded_row_home* home = &homes[ecs_entity_index(handles[bit])];
        const uint64_t row = home->cells[cell];
        if (home->stamp != stamp || classes[bit] != is_for || row == 0) {
            if (classes[bit] != is_for)
                others |= slots & (0 - slots);
            else
                without |= slots & (0 - slots);
            continue;
        }
        cells[bit] = row;
        bits += net_encoded_cell_bits(row);
    }
    *sum += bits;
    *unlike = others;
    return without;
}

// Get the rows of the slots of the run that are in this set, or not. @return false when memory ran
// out.
static bool find_kind(row_finder* f, row_kind* kind, const uint64_t* set, uint64_t inverse) {
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
            if (without && !find_others(f, kind, w, without)) return false;
            if (unlike) begin_kind(f, kind, repl->classes[w * 64 + base_bit_lowest(unlike)]);
        }
    }
    encoded_rows->shared += found;
    writer->encoded_bits += encoded_bits;
    end_kind(f, kind);
    return true;
}

bool net_composer_add_records(net_composer* c, uint32_t age, uint32_t d) {
    net_snapshot_writer* writer = c->writer;
    row_finder f; // its list is long: nothing is cleared in vain
    f.c = c;
    f.run = &writer->runs[writer->run_count - 1];
    f.missing_count = 0;
    row_kind single = {.key = {.age = age}, .is_for = UINT32_MAX}, doubled = single;
    doubled.key.d = (uint8_t)d;
    if ((d > 0 && !find_kind(&f, &doubled, c->doubled, 0)) ||
        !find_kind(&f, &single, c->doubled, UINT64_MAX))
        return false;
    f.run->has_single = age > 0 && single.is_for != UINT32_MAX;
    return f.missing_count == 0 || make_missing(&f);
}
