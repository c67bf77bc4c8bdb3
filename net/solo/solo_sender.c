// SPDX-License-Identifier: MIT
// A snapshot in solo code, and the epochs of its statistics.
//
// Statistics may contain only what the client has: samples of packets that it acknowledged. They
// change in epochs. The first packets of an epoch say which packets it adds, until one of them is
// acknowledged; only then a next epoch may begin. So a client needs at most one step, and late
// packets of the epoch before are still readable. A client whose acknowledgements take so long that
// it may have forgotten the packets gets shared code from then on.
//
// A snapshot is composed and measured as any other one; then it is coded again, and the shorter of
// both codes is sent. So solo code costs processor time and memory, never bytes.
// Memory:  half a megabyte for a client, all of it from the beginning.
#include "net/solo.h"

#include "replicate/repl_state.h"
#include "replicate/snapshot_pieces.h"
#include "replicate/snapshot_writer.h"
#include "solo/solo_receiver.h"

#include "base/assert.h"
#include "base/hash.h"

#include <string.h>

enum {
    EPOCH_PACKETS = 6, // acknowledged packets until the next epoch; fewer for the first ones
    EPOCHS_EARLY = 24, // that learn all they can: training takes as long as coding
    EPOCH_SAMPLES_EARLY = 2560,
    EPOCH_SAMPLES_LATE = 320, // statistics that have learned need no more: the bytes are the same
    THIRD_MIN = 5,            // ticks from a third row to the second one
    // The client keeps the newest NET_ROW_HISTORY_MAX rows of an entity.
    THIRD_AGE_MAX = NET_ROW_HISTORY_MAX - 1,
};
_Static_assert(NET_NUMBER_THIRD_MAX <= NET_SNAPSHOT_BASE_SLACK_TICKS,
               "it keeps rows so much older");

struct net_solo_sender {
    uint32_t epoch;
    net_solo_epoch definition; // of `epoch`, unless that is 0
    uint64_t definition_first; // sample of the oldest packet that it names
    bool is_confirmed;         // the client has the epoch
    bool is_stopped;           // it may never have it
    net_solo_packets packets;
    proto_solo_sample samples[NET_SOLO_RING_SERVER];
    proto_solo_model model;
    proto_solo_coder coder;
    uint64_t rows[3][PROTO_ROW_FIELDS_MAX]; // of the record that is coded
    uint64_t third[PROTO_ROW_FIELDS_MAX];   // its third base, or the create before
    uint32_t third_back;                    // packet of the run's third rows; 0: none
    bool has_thirds;                        // a run of this body has
    // While the body is read again, for those who count its bits; else pieces is NULL.
    const net_piece_sink* pieces;
    net_cost cause;          // of bits that are in no component
    uint64_t said, said_end; // bits of the body that pieces have, of all
    proto_solo_mark marks[PROTO_ROW_COMPONENTS_MAX];
    uint8_t bytes[NET_SNAPSHOT_BYTES_MAX];
    size_t size;        // of the newest body in solo code; 0: it is in shared code
    uint64_t head_bits; // before it
};

static net_solo_sender* create_sender(const base_allocator* allocator) {
    net_solo_sender* made = base_allocate_zero(allocator, sizeof *made);
    made->packets.samples = made->samples;
    made->packets.room = NET_SOLO_RING_SERVER;
    made->is_confirmed = true;
    proto_solo_model_reset(&made->model);
    return made;
}

// ---- tapes ----

// Tapes of the rows of one tick: what a row says in solo code is found once, and coded for every
// client with its own statistics.
//
// Key: the encoded row's, and the age of the third row. Clients that take other guesses have
// another tape of the same key.
// Memory:  grows to the peak of one tick, then stays; at most TAPES_MAX tapes of
//          TAPE_WORDS_MAX words. Rows beyond that are found again for each client.
// Threads: one at a time.

enum {
    TAPES_MAX = 1 << 14,      // of a tick
    TAPE_WORDS_MAX = 1 << 17, // of all of them
    TAPE_FORMS_MAX = 4,       // of one key
};

typedef struct tape_key {
    uint64_t low, high;
} tape_key;

typedef struct solo_tape {
    tape_key key;
    uint32_t first; // of its words: the guesses, then the numbers
    uint32_t taken; // which guesses
    uint8_t guess_count, word_count;
    bool has_third;
} solo_tape;

struct net_solo_tapes {
    const base_allocator* allocator;
    uint64_t step; // that they are of
    base_table table;
    solo_tape* tapes;
    uint64_t* words;
    uint32_t count, capacity, word_count, word_capacity;
    proto_solo_tape recorded; // the one that keep_tape keeps
};

_Static_assert(PROTO_SOLO_TAPE_WORDS <= UINT8_MAX, "its words are counted in a byte");

static net_solo_tapes* create_tapes(const base_allocator* allocator) {
    net_solo_tapes* made = base_allocate_zero(allocator, sizeof *made);
    made->allocator = allocator;
    return made;
}

static void begin_tapes(net_solo_tapes* tapes, uint64_t step) {
    if (tapes->step == step) return;
    tapes->step = step;
    tapes->count = tapes->word_count = 0;
    if (tapes->table.count > 0) base_table_clear(&tapes->table);
}

static bool is_of(const solo_tape* tape, tape_key key) {
    return tape->key.low == key.low && tape->key.high == key.high;
}

static uint64_t hash_of(tape_key key) {
    return base_hash64_mix(key.low, key.high);
}

static const solo_tape* find_tape(const net_solo_tapes* tapes, tape_key key,
                                  proto_solo_coder* coder) {
    uint32_t cursor = 0, at, taken = 0;
    bool is_asked = false;
    while ((at = base_table_next(&tapes->table, hash_of(key), &cursor)) != BASE_TABLE_NONE) {
        const solo_tape* tape = &tapes->tapes[at];
        if (!is_of(tape, key)) continue;
        // The guesses themselves are those of the key.
        if (!is_asked)
            taken = proto_solo_take_guesses(coder, &tapes->words[tape->first], tape->guess_count);
        is_asked = true;
        if (tape->taken == taken) return tape;
    }
    return NULL;
}

static void keep_tape(net_solo_tapes* tapes, tape_key key, bool has_third) {
    const proto_solo_tape* made = &tapes->recorded;
    const uint32_t words = made->guess_count + made->word_count;
    uint32_t cursor = 0, at, forms = 0;
    while ((at = base_table_next(&tapes->table, hash_of(key), &cursor)) != BASE_TABLE_NONE)
        forms += is_of(&tapes->tapes[at], key);
    if (!made->is_whole || forms == TAPE_FORMS_MAX || tapes->count == TAPES_MAX ||
        tapes->word_count + words > TAPE_WORDS_MAX)
        return;
    base_table_reserve(&tapes->table, tapes->allocator, tapes->count + 1);
    BASE_ARRAY_RESERVE(tapes->allocator, tapes->tapes, tapes->capacity, tapes->count + 1);
    BASE_ARRAY_RESERVE(tapes->allocator, tapes->words, tapes->word_capacity,
                       tapes->word_count + words);
    base_table_add(&tapes->table, hash_of(key), tapes->count);
    tapes->tapes[tapes->count++] = (solo_tape){.key = key,
                                               .first = tapes->word_count,
                                               .taken = made->taken,
                                               .guess_count = (uint8_t)made->guess_count,
                                               .word_count = (uint8_t)made->word_count,
                                               .has_third = has_third};
    uint64_t* to = &tapes->words[tapes->word_count];
    memcpy(to, made->guesses, made->guess_count * sizeof *to);
    memcpy(to + made->guess_count, made->words, made->word_count * sizeof *to);
    tapes->word_count += words;
}

// ---- epochs ----

static bool is_acked(const net_repl_state* repl, uint32_t back) {
    return back <= repl->packet_count && net_repl_packet_state(repl, back) == NET_PACKET_ACKED;
}

static const net_solo_packet* packet_at(const net_solo_sender* sender, const net_repl_state* repl,
                                        uint32_t back) {
    return net_solo_find(&sender->packets, (uint16_t)(repl->seq_next - back));
}

static void confirm(net_solo_sender* sender, net_repl_state* repl) {
    for (uint32_t back = 1; back < NET_SOLO_PACKETS && !sender->is_confirmed; back++) {
        const net_solo_packet* packet = packet_at(sender, repl, back);
        sender->is_confirmed = packet && packet->epoch == sender->epoch && is_acked(repl, back);
    }
    uint16_t oldest = (uint16_t)(sender->definition.newest - sender->definition.count + 1);
    bool is_forgotten = (uint16_t)(repl->seq_next - oldest) >= NET_SOLO_PACKETS ||
                        sender->packets.next - sender->definition_first > NET_SOLO_PROMISED;
    if (sender->is_confirmed || !is_forgotten) return;
    sender->is_stopped = true;
    repl->counters.solo_stopped = 1;
}

// The acknowledged packets after those of the present epoch. The client must keep their samples
// until the definition reaches it, which takes about as long as it took since the newest of them.
static net_solo_epoch gather(net_solo_sender* sender, const net_repl_state* repl,
                             uint32_t* packets) {
    const uint32_t samples_max =
        sender->epoch < EPOCHS_EARLY ? EPOCH_SAMPLES_EARLY : EPOCH_SAMPLES_LATE;
    net_solo_epoch next = {0};
    uint64_t most = 0;
    uint32_t trained = 0;
    *packets = 0;
    for (uint32_t back = 1; back < NET_SOLO_TRAINED_MAX; back++) {
        const net_solo_packet* packet = packet_at(sender, repl, back);
        uint16_t seq = (uint16_t)(repl->seq_next - back);
        if (sender->epoch > 0 && seq == sender->definition.newest) break;
        if (!packet || !is_acked(repl, back)) continue;
        uint64_t samples = sender->packets.next - packet->first;
        if (next.count == 0) {
            next.newest = seq;
            most = 2 * samples < NET_SOLO_PROMISED ? NET_SOLO_PROMISED - 2 * samples : 0;
        }
        ++*packets;
        if (samples > most) continue;
        if (trained > 0 && trained + packet->count > samples_max) continue;
        trained += packet->count;
        uint32_t place = (uint16_t)(next.newest - seq);
        next.count = place + 1;
        next.trained |= UINT64_C(1) << place;
        sender->definition_first = packet->first;
    }
    return next;
}

static void advance(net_solo_sender* sender, net_repl_state* repl) {
    if (!sender->is_confirmed) confirm(sender, repl);
    if (!sender->is_confirmed || sender->is_stopped) return;
    uint32_t packets;
    net_solo_epoch next = gather(sender, repl, &packets);
    uint32_t wanted = sender->epoch < EPOCH_PACKETS ? sender->epoch + 1 : EPOCH_PACKETS;
    if (packets < wanted || next.count == 0) return;
    net_solo_train(&sender->packets, &next, &sender->model);
    sender->definition = next;
    sender->epoch++;
    sender->is_confirmed = false;
}

static void write_head(const net_solo_sender* sender, uint16_t seq, proto_bit_writer* output) {
    const net_solo_epoch* epoch = &sender->definition;
    proto_bits_write(output, 1, 1);
    proto_bits_write(output, sender->epoch & ((1u << NET_SOLO_EPOCH_BITS) - 1),
                     NET_SOLO_EPOCH_BITS);
    proto_bits_write(output, !sender->is_confirmed, 1);
    if (sender->is_confirmed) return;
    uint32_t back = (uint16_t)(seq - epoch->newest);
    BASE_ASSERT(back >= 1 && back >> NET_SOLO_BACK_BITS == 0);
    proto_bits_write(output, back, NET_SOLO_BACK_BITS);
    proto_bits_write(output, epoch->count - 1, NET_SOLO_COUNT_BITS);
    proto_bits_write(output, epoch->trained, epoch->count);
}

// ---- pieces ----

// The whole bits up to a position of the coder. What it ends with may be shorter than what it says.
static uint32_t bits_until(net_solo_sender* sender, uint64_t position) {
    uint64_t end = (position + (1u << 15)) >> 16;
    if (end > sender->said_end) end = sender->said_end;
    if (end < sender->said) end = sender->said;
    const uint32_t bits = (uint32_t)(end - sender->said);
    sender->said = end;
    return bits;
}

static net_piece piece_of(const net_repl_state* repl, uint32_t slot) {
    net_piece piece = {.place = NET_PIECE_NO_COMPONENT, .cause = NET_COST_HEAD, .depth = 1};
    if (slot == UINT32_MAX) return piece;
    piece.depth = 2;
    piece.entity = repl->handles[slot];
    const net_history_entity* entity =
        net_history_find(repl->replicator->history, ecs_entity_index(piece.entity));
    piece.row_template = entity && entity->handle == piece.entity ? entity->row_template : NULL;
    return piece;
}

// The bits since the piece before. `slot`: UINT32_MAX: of no entity.
static void say(net_solo_sender* sender, const net_repl_state* repl, const char* what,
                uint32_t slot, int64_t number) {
    net_piece piece = piece_of(repl, slot);
    piece.bits = bits_until(sender, proto_solo_position(&sender->coder));
    piece.cause = sender->cause;
    piece.what = what;
    piece.has_number = true;
    piece.number = number;
    net_piece_add(sender->pieces, &piece);
}

// The row that was just read: what lies between its components is its head.
static void say_row(net_solo_sender* sender, const net_repl_state* repl,
                    const net_record_group* run, bool is_create, uint32_t slot,
                    const net_row_template* row_template) {
    const proto_layout* layout = &row_template->layout;
    net_piece piece = piece_of(repl, slot), head = piece;
    head.what = "head of the row";
    piece.what = "value";
    piece.depth = 3;
    piece.cause = net_piece_cause(repl, run, is_create, slot);
    piece.row = sender->rows[0];
    for (uint32_t i = 0; i < layout->component_count; i++) {
        piece.place = layout->order[i];
        piece.component = layout->components[piece.place].key;
        head.bits = bits_until(sender, sender->marks[piece.place].begin);
        net_piece_add(sender->pieces, &head);
        piece.bits = bits_until(sender, sender->marks[piece.place].end);
        net_piece_add(sender->pieces, &piece);
    }
    head.bits = bits_until(sender, proto_solo_position(&sender->coder));
    net_piece_add(sender->pieces, &head);
}

// Code a number that is in no row.
static void code(net_solo_sender* sender, const net_repl_state* repl, const char* what,
                 uint32_t slot, uint32_t field, uint64_t situation, int64_t value) {
    (void)proto_solo_number(&sender->coder, field, situation, value);
    if (sender->pieces) say(sender, repl, what, slot, value);
}

// ---- rows ----

// The row of the record that is coded, and what it is coded against.
static proto_row_base find_row(net_solo_sender* sender, const net_repl_state* repl,
                               const net_encoded_row_key* key, const proto_layout* layout) {
    net_replicator_lane* lane = &repl->replicator->lanes[repl->lane];
    const uint32_t* row;
    proto_packed_base packed;
    net_encoded_row_result found =
        net_encoded_rows_sources(&lane->encoded_rows, key, &row, &packed);
    BASE_ASSERT(found == NET_ENCODED_ROW_OK); // it was encoded in this tick
    proto_row_unpack(layout, row, sender->rows[0]);
    return proto_row_unpack_base(layout, &packed, &sender->rows[1]);
}

// The newest acknowledged packet that is some ticks older than the second rows of a run; 0: none.
// The client keeps rows that are NET_SNAPSHOT_BASE_SLACK_TICKS older than the oldest base so far,
// which may be the base of this run: bases never become older, but second bases do.
static uint32_t find_third(const net_repl_state* repl, const net_record_group* run) {
    uint32_t now = (uint32_t)net_replicator_now(repl->replicator);
    uint32_t base = now - run->age, backs = net_repl_state_backs_whole(repl);
    if (backs > NET_REPL_STATE_BACK_MAX) backs = NET_REPL_STATE_BACK_MAX;
    for (uint32_t back = 1; back <= backs; back++) {
        uint32_t tick = net_repl_packet_tick(repl, back), more = base - tick;
        if (!is_acked(repl, back) || (int32_t)more < (int32_t)run->d + THIRD_MIN) continue;
        return more <= NET_NUMBER_THIRD_MAX && now - tick <= THIRD_AGE_MAX ? back : 0;
    }
    return 0;
}

// Ticks from the third row of the record that is coded to the row; 0: the client may have none.
static uint32_t find_third_age(const net_solo_sender* sender, const net_repl_state* repl,
                               uint32_t slot) {
    if (!(net_repl_carried(repl, sender->third_back)[slot >> 6] >> (slot & 63) & 1)) return 0;
    return (uint32_t)net_replicator_now(repl->replicator) -
           net_repl_packet_tick(repl, sender->third_back);
}

// Get the third row of this age. @return false: it is forgotten.
static bool find_third_row(net_solo_sender* sender, const net_repl_state* repl,
                           net_encoded_row_key key, uint32_t age, const proto_layout* layout) {
    key.age = age;
    key.d = 0;
    const uint32_t* row;
    proto_packed_base packed;
    if (net_encoded_rows_sources(&repl->replicator->lanes[repl->lane].encoded_rows, &key, &row,
                                 &packed) != NET_ENCODED_ROW_OK)
        return false;
    proto_row_unpack(layout, packed.base, sender->third);
    return true;
}

static void code_has_third(net_solo_sender* sender, const net_repl_state* repl, uint32_t slot,
                           bool has_third) {
    bool is_listed = net_repl_listed(repl, sender->third_back)[slot >> 6] >> (slot & 63) & 1;
    code(sender, repl, "has no third base", slot, PROTO_NUMBER_RUN,
         proto_number_situation(NET_NUMBER_RUN_NO_THIRD, is_listed), !has_third);
}

static void code_update(net_solo_sender* sender, const net_repl_state* repl,
                        const net_record_group* run, uint32_t slot) {
    net_replicator_lane* lane = &repl->replicator->lanes[repl->lane];
    proto_solo_coder* coder = &sender->coder;
    if (coder->failed && sender->has_thirds) return; // the body is read once more, as shared code
    net_encoded_row_key key = net_repl_state_key(repl, &lane->writer, run, false, slot),
                        third = key;
    const net_row_template* row_template =
        net_template_of(repl->replicator->history, repl->handles[slot]);
    const proto_layout* layout = &row_template->layout;
    const uint32_t name = net_solo_template(row_template);
    const bool may_third = key.d > 0 && sender->third_back > 0;
    const uint32_t third_age = may_third ? find_third_age(sender, repl, slot) : 0;
    if (third_age > 0)
        third.base_classes = net_repl_state_classes_at(
            repl, slot, (uint32_t)net_replicator_now(repl->replicator) - third_age);
    const bool has_tape = !sender->pieces && !lane->encoded_rows.is_solo &&
                          third.base_classes == key.base_classes &&
                          proto_solo_is_alone(&sender->model, name, layout, key.d > 0);
    BASE_ASSERT(third_age <= UINT16_MAX);
    const tape_key its_key = {net_encoded_row_key_low(&key),
                              net_encoded_row_trio(&key) | (uint64_t)third_age << 48};
    const solo_tape* tape = has_tape ? find_tape(lane->solo_tapes, its_key, coder) : NULL;
    if (tape) {
        if (may_third) code_has_third(sender, repl, slot, tape->has_third);
        proto_solo_play(coder, &lane->solo_tapes->words[tape->first + tape->guess_count],
                        tape->word_count);
        return;
    }
    const proto_row_base against = find_row(sender, repl, &key, layout);
    const bool has_third = third_age > 0 && find_third_row(sender, repl, third, third_age, layout);
    const proto_solo_third older = {.row = sender->third, .ticks = third_age - key.age};
    if (may_third) code_has_third(sender, repl, slot, has_third);
    if (has_tape) proto_solo_record(coder, &lane->solo_tapes->recorded);
    proto_solo_row(coder, name, layout, &against, has_third ? &older : NULL, sender->rows[0]);
    if (sender->pieces) say_row(sender, repl, run, false, slot, row_template);
    if (!has_tape) return;
    proto_solo_record(coder, NULL);
    keep_tape(lane->solo_tapes, its_key, has_third);
}

// ---- the body ----

// Was this slot in a list or run of the snapshot, so far? A set that composing does not need any
// more says so.
static uint64_t* named_set(const net_snapshot_writer* writer) {
    return net_snapshot_writer_set(writer, NET_LANE_RUN);
}

static void name_slots(const net_snapshot_writer* writer, const net_record_group* run) {
    for (uint32_t i = run->first; i < run->first + run->count; i++)
        named_set(writer)[writer->slots[i] >> 6] |= UINT64_C(1) << (writer->slots[i] & 63);
}

static void code_gap(net_solo_sender* sender, const net_repl_state* repl, uint32_t list,
                     uint32_t slot, uint32_t* next) {
    code(sender, repl, "gap to the slot", slot, PROTO_NUMBER_GAP, proto_number_situation(list, 0),
         slot - *next);
    *next = slot + 1;
}

static void code_count(net_solo_sender* sender, const net_repl_state* repl, const char* what,
                       uint32_t list, uint32_t count) {
    code(sender, repl, what, UINT32_MAX, PROTO_NUMBER_COUNT, proto_number_situation(list, 0),
         count);
}

static void code_create(net_solo_sender* sender, const net_repl_state* repl, const char* name,
                        uint32_t slot, uint32_t what, int64_t value) {
    code(sender, repl, name, slot, PROTO_NUMBER_CREATE, proto_number_situation(what, 0), value);
}

static void code_run_number(net_solo_sender* sender, const net_repl_state* repl, const char* name,
                            uint32_t situation, int64_t value) {
    code(sender, repl, name, UINT32_MAX, PROTO_NUMBER_RUN, situation, value);
}

static void code_creates(net_solo_sender* sender, const net_repl_state* repl,
                         const net_snapshot_writer* writer) {
    const net_record_group* run = &writer->runs[NET_RUN_CREATE];
    code_count(sender, repl, "created entities", NET_NUMBER_LIST_CREATES, run->count);
    uint32_t next = 0, index = 0, generation = 1;
    const net_row_template* before = NULL;
    for (uint32_t i = run->first; i < run->first + run->count; i++) {
        uint32_t slot = writer->slots[i];
        ecs_entity handle = repl->handles[slot];
        const net_row_template* row_template = net_template_of(repl->replicator->history, handle);
        code_gap(sender, repl, NET_NUMBER_LIST_CREATES, slot, &next);
        code_create(sender, repl, "index", slot, NET_NUMBER_CREATE_INDEX,
                    (int64_t)ecs_entity_index(handle) - index - 1);
        index = ecs_entity_index(handle);
        code_create(sender, repl, "generation", slot, NET_NUMBER_CREATE_GENERATION,
                    (int64_t)ecs_entity_generation(handle) - generation);
        generation = ecs_entity_generation(handle);
        code_create(sender, repl, "another template", slot, NET_NUMBER_CREATE_OTHER,
                    row_template != before);
        if (row_template != before) {
            code_create(sender, repl, "parts of the template", slot, NET_NUMBER_CREATE_PARTS,
                        row_template->part_count - 1u);
            for (uint32_t k = 0; k < row_template->part_count; k++)
                code_create(sender, repl, "template", slot, NET_NUMBER_CREATE_PART,
                            row_template->parts[k]);
        }
        net_encoded_row_key key = net_repl_state_key(repl, writer, run, true, slot);
        const proto_layout* layout = &row_template->layout;
        proto_row_base against = find_row(sender, repl, &key, layout);
        const proto_solo_third like = {.row = sender->third};
        proto_solo_row(&sender->coder, net_solo_template(row_template), layout, &against,
                       row_template == before ? &like : NULL, sender->rows[0]);
        if (sender->pieces) say_row(sender, repl, run, true, slot, row_template);
        memcpy(sender->third, sender->rows[0], layout->field_count * sizeof *sender->third);
        before = row_template;
    }
}

static void code_listed(net_solo_sender* sender, const net_repl_state* repl,
                        const net_snapshot_writer* writer, const net_record_group* run) {
    uint32_t at = run->first, end = run->first + run->count, before = 0;
    for (uint32_t w = 0; w < (writer->slot_end + 63) / 64; w++) {
        for (uint64_t bits = run->list[w]; bits; bits &= bits - 1) {
            uint32_t slot = w * 64 + base_bit_lowest(bits);
            bool is_absent = at == end || writer->slots[at] != slot;
            code(sender, repl, "absent", slot, PROTO_NUMBER_ABSENT,
                 proto_number_situation(named_set(writer)[slot >> 6] >> (slot & 63) & 1, before),
                 is_absent);
            before = before << 1 | is_absent;
            if (!is_absent) code_update(sender, repl, run, writer->slots[at++]);
        }
    }
    BASE_ASSERT(at == end);
}

static void code_run(net_solo_sender* sender, const net_repl_state* repl,
                     const net_snapshot_writer* writer, const net_record_group* run) {
    const proto_solo_coder* coder = &sender->coder;
    code_run_number(sender, repl, "kind of run", NET_NUMBER_RUN_KIND, run->kind);
    if (run->kind == NET_SNAPSHOT_BY_PACKET)
        code_run_number(sender, repl, "packets back to the base", NET_NUMBER_RUN_BACK, run->back);
    if (run->kind == NET_SNAPSHOT_BY_AGE)
        code_run_number(sender, repl, "age of the base", NET_NUMBER_RUN_AGE, run->age);
    if (run->kind != NET_SNAPSHOT_ABSOLUTE)
        code_run_number(sender, repl, "ticks to the second base", NET_NUMBER_RUN_D, run->d);
    sender->third_back = 0;
    if (run->d > 0) {
        // Shared code cannot name third rows.
        if (coder->mode != PROTO_SOLO_SAMPLE) sender->third_back = find_third(repl, run);
        sender->has_thirds |= sender->third_back > 0;
        code_run_number(sender, repl, "packets back to third bases", NET_NUMBER_RUN_THIRD,
                        sender->third_back);
    }
    if (run->kind == NET_SNAPSHOT_BY_PACKET) {
        code_listed(sender, repl, writer, run);
        return;
    }
    code_count(sender, repl, "records behind the first", NET_NUMBER_LIST_RECORDS, run->count - 1);
    uint32_t next = 0;
    for (uint32_t i = run->first; i < run->first + run->count; i++) {
        code_gap(sender, repl, NET_NUMBER_LIST_RECORDS, writer->slots[i], &next);
        code_update(sender, repl, run, writer->slots[i]);
    }
}

static void code_body(net_solo_sender* sender, const net_repl_state* repl,
                      const net_snapshot_writer* writer) {
    const net_record_group* destroys = &writer->runs[NET_RUN_DESTROY];
    uint32_t next = 0, runs = 0;
    memset(named_set(writer), 0, (writer->slot_end + 63) / 64 * sizeof(uint64_t));
    sender->cause = destroys->count > 0 ? NET_COST_DESTROY : NET_COST_HEAD;
    code_count(sender, repl, "destroyed entities", NET_NUMBER_LIST_DESTROYS, destroys->count);
    for (uint32_t i = 0; i < destroys->count; i++)
        code_gap(sender, repl, NET_NUMBER_LIST_DESTROYS, writer->slots[destroys->first + i], &next);
    sender->cause = NET_COST_HEAD;
    code_creates(sender, repl, writer);
    name_slots(writer, destroys);
    name_slots(writer, &writer->runs[NET_RUN_CREATE]);
    for (uint32_t i = NET_RUN_FIRST; i < writer->run_count; i++)
        runs += writer->runs[i].count > 0;
    code_count(sender, repl, "runs", NET_NUMBER_LIST_RUNS, runs);
    for (uint32_t i = NET_RUN_FIRST; i < writer->run_count; i++) {
        if (writer->runs[i].count == 0) continue;
        code_run(sender, repl, writer, &writer->runs[i]);
        name_slots(writer, &writer->runs[i]);
    }
}

// The body is read again, as a client does.
static bool take_apart(net_solo_sender* sender, net_repl_state* repl, const net_piece_sink* sink,
                       uint64_t* bit) {
    net_piece piece = piece_of(repl, UINT32_MAX);
    piece.what = "head of solo code";
    piece.bits = (uint32_t)sender->head_bits;
    net_piece_add(sink, &piece);
    *bit += sender->head_bits;
    if (sender->size == 0) return false;
    sender->pieces = sink;
    sender->said = 0;
    sender->said_end = 8 * (uint64_t)sender->size;
    proto_solo_begin_read(&sender->coder, &sender->model, sender->bytes, sender->size, NULL, 0);
    sender->coder.marks = sender->marks;
    code_body(sender, repl, &repl->replicator->lanes[repl->lane].writer);
    BASE_ASSERT(!sender->coder.failed);
    piece.what = "end of the code";
    piece.bits = bits_until(sender, sender->said_end << 16);
    net_piece_add(sink, &piece);
    sender->pieces = NULL;
    return true;
}

static void write_shared(const net_repl_state* repl, proto_bit_writer* output) {
    net_replicator_lane* lane = &repl->replicator->lanes[repl->lane];
    net_snapshot_writer_write(&lane->writer, &lane->encoded_rows, repl->handles, output);
}

static void write_snapshot(net_solo_sender* sender, net_repl_state* repl, uint16_t seq,
                           uint32_t room_bits, proto_bit_writer* output) {
    net_replicator_lane* lane = &repl->replicator->lanes[repl->lane];
    net_snapshot_writer* writer = &lane->writer;
    const uint64_t first = output->size_bits;
    sender->size = 0;
    sender->head_bits = 1;
    BASE_ASSERT(writer->bits + 1 <= room_bits);
    net_snapshot_writer_list(writer);
    begin_tapes(lane->solo_tapes, repl->replicator->published);
    if (!sender->is_stopped) advance(sender, repl);
    if (sender->is_stopped || writer->bits + NET_SOLO_HEAD_BITS_MAX > room_bits) {
        proto_bits_write(output, 0, 1);
        write_shared(repl, output);
        return;
    }
    size_t most = (size_t)(writer->bits / 8);
    if (most > sizeof sender->bytes) most = sizeof sender->bytes;
    proto_solo_sample* samples =
        &sender->packets.samples[sender->packets.next % sender->packets.room];
    proto_solo_begin_write(&sender->coder, &sender->model, sender->bytes, most, samples,
                           NET_SOLO_SAMPLES_MAX);
    sender->has_thirds = false;
    code_body(sender, repl, writer);
    size_t size = proto_solo_end(&sender->coder);
    if (size == 0 && sender->has_thirds) { // else the samples are the same
        proto_solo_begin_sample(&sender->coder, &sender->model, samples, NET_SOLO_SAMPLES_MAX);
        code_body(sender, repl, writer);
    }
    net_solo_keep(&sender->packets, seq, sender->epoch, sender->coder.sample_count);
    write_head(sender, seq, output);
    proto_bits_write(output, size > 0, 1);
    sender->head_bits = output->size_bits - first;
    if (size == 0) {
        write_shared(repl, output);
        return;
    }
    sender->size = size;
    repl->counters.packets_solo++;
    for (size_t i = 0; i < size; i++)
        proto_bits_write(output, sender->bytes[i], 8);
}

// ---- the part ----

const net_solo net_solo_part = {
    .tapes_create = create_tapes,
    .sender_create = create_sender,
    .write = write_snapshot,
    .take_apart = take_apart,
    .receiver_create = net_solo_receiver_create,
    .receiver_destroy = net_solo_receiver_destroy,
    .begin = net_solo_receiver_begin,
    .number = proto_solo_number,
    .row = net_solo_receiver_row,
    .finish = proto_solo_end,
    .end = net_solo_receiver_end,
};
