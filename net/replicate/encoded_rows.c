// SPDX-License-Identifier: MIT
// Each entity has a home: two cache lines with its usual encoded rows, more in a small world whose
// clients ask for many kinds of them. Kinds of rows (the same ages and classes) are few in a tick,
// so each of the most wanted has a cell, the same one in all homes, and finding a row is looking
// there. The tick before decides which kinds these are; new kinds get the cells that are
// left. Rows of other kinds, and unusual ones (a base whose age has no byte), are in a table by a
// hash of the whole key. Rows of 56 bits or less are in their cell. Longer rows lie in an arena,
// each from a multiple of 8 bytes on, so that appending moves whole words. A tick begins by raising
// the stamp: homes and places of another stamp are empty, so nothing is cleared.
//
// The key names ticks by their age, never rows by their place, and it contains all that the bits
// depend on. So sharing cannot change a bit. A test compares with `is_solo`, which shares nothing.
//
// There are more entities than cache lines, so a caller that encodes many rows prefetches them
// first (net_history_warm). Left to others: which base to use (repl_state_write.c).
#include "replicate/encoded_rows.h"

#include "core/fault.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"

enum { KINDS_MAX = NET_ENCODED_ROW_KINDS - NET_ENCODED_ROW_KINDS / 4, PLACES_MIN = 64 };

_Static_assert(sizeof(uint64_t) << NET_ENCODED_ROW_HOME_BITS == 2 * BASE_CACHE_LINE_BYTES,
               "two lines");
_Static_assert(NET_ROW_BYTES_MAX * 8 <= UINT16_MAX, "the size of a long row fits its cell");

void net_encoded_rows_init(net_encoded_rows* encoded_rows, const base_allocator* allocator,
                           const net_history* history, bool is_solo) {
    BASE_ASSERT(history);
    memset(encoded_rows, 0, sizeof *encoded_rows);
    encoded_rows->allocator = allocator;
    encoded_rows->history = history;
    encoded_rows->is_solo = is_solo;
    encoded_rows->home_bits = NET_ENCODED_ROW_HOME_BITS;
    encoded_rows->trios[0] = UINT64_MAX; // trio_at names it for those that were not seen yet
    encoded_rows->trio_count = 1;
}

static size_t homes_bytes(const net_encoded_rows* encoded_rows) {
    return (size_t)encoded_rows->home_count * sizeof *encoded_rows->homes
           << encoded_rows->home_bits;
}

// A tick begins: the homes need not be kept. A small world gets more cells when many rows were in
// the table.
static void reserve_homes(net_encoded_rows* encoded_rows) {
    const uint32_t count = encoded_rows->history->capacity;
    uint32_t bits = encoded_rows->home_bits;
    if (count > NET_ENCODED_ROW_HOMES_CACHED)
        bits = NET_ENCODED_ROW_HOME_BITS;
    else if (bits < NET_ENCODED_ROW_HOME_BITS_MAX && encoded_rows->place_count > count / 8)
        bits++;
    if (count <= encoded_rows->home_count && bits == encoded_rows->home_bits) return;
    base_release(encoded_rows->allocator, encoded_rows->homes, homes_bytes(encoded_rows));
    encoded_rows->home_count = count;
    encoded_rows->home_bits = bits;
    encoded_rows->homes = base_allocate_zero(encoded_rows->allocator, homes_bytes(encoded_rows));
}

// ---- kinds ----

net_encoded_row_kind* net_encoded_rows_kind(net_encoded_rows* encoded_rows, uint32_t wanted) {
    if (wanted == NET_ENCODED_ROW_UNUSUAL) return NULL;
    uint32_t slot = wanted * UINT32_C(0x9E3779B1) >> (32 - NET_ENCODED_ROW_KINDS_BITS);
    while (encoded_rows->kinds[slot].wanted != 0 && encoded_rows->kinds[slot].wanted != wanted)
        slot = (slot + 1) % NET_ENCODED_ROW_KINDS;
    net_encoded_row_kind* kind = &encoded_rows->kinds[slot];
    if (kind->wanted == wanted) return kind;
    if (encoded_rows->kind_count == KINDS_MAX) return NULL;
    encoded_rows->kind_count++;
    *kind = (net_encoded_row_kind){.wanted = wanted, .cell = NET_ENCODED_ROW_CELL_NONE};
    if (encoded_rows->cell_count + 1 < 1u << encoded_rows->home_bits)
        kind->cell = (uint8_t)++encoded_rows->cell_count;
    return kind;
}

// The kinds that were most wanted in the tick before get the cells, others are forgotten.
static void renew_kinds(net_encoded_rows* encoded_rows) {
    net_encoded_row_kind* most = encoded_rows->most;
    const uint32_t cells = (1u << encoded_rows->home_bits) - 1;
    uint32_t count = 0;
    for (uint32_t i = 0; i < NET_ENCODED_ROW_KINDS && encoded_rows->kind_count > 0; i++) {
        const net_encoded_row_kind kind = encoded_rows->kinds[i];
        if (kind.count == 0) continue;
        uint32_t at = count < cells ? count++ : count;
        for (; at > 0 && most[at - 1].count < kind.count; at--)
            if (at < cells) most[at] = most[at - 1];
        if (at < cells) most[at] = kind;
    }
    encoded_rows->most_count = count;
    memset(encoded_rows->kinds, 0, sizeof encoded_rows->kinds);
    encoded_rows->kind_count = encoded_rows->cell_count = 0;
    for (uint32_t i = 0; i < count; i++)
        (void)net_encoded_rows_kind(encoded_rows, most[i].wanted);
}

void net_encoded_rows_begin(net_encoded_rows* encoded_rows, ecs_tick tick) {
    encoded_rows->tick = tick;
    reserve_homes(encoded_rows);
    renew_kinds(encoded_rows);
    encoded_rows->place_count = 0;
    encoded_rows->arena_size = 0;
    if (++encoded_rows->stamp == 0) {
        // After 2^32 ticks: homes and places of the first ticks must not become valid again.
        memset(encoded_rows->homes, 0, homes_bytes(encoded_rows));
        if (encoded_rows->places)
            memset(encoded_rows->places, 0,
                   encoded_rows->place_capacity * sizeof *encoded_rows->places);
        encoded_rows->stamp = 1;
    }
}

// ---- homes ----

// UINT32_MAX: there are too many.
static uint32_t find_trio(net_encoded_rows* encoded_rows, const net_encoded_row_key* key) {
    uint64_t trio = net_encoded_row_trio(key);
    const uint64_t hash = trio * UINT64_C(0x9E3779B97F4A7C15);
    uint8_t* slot = &encoded_rows->trio_at[hash / (UINT64_MAX / NET_ENCODED_ROW_TRIOS + 1)];
    uint32_t at = *slot;
    if (encoded_rows->trios[at] == trio) return at;
    if (net_fault_is_planted(NET_FAULT_WRONG_SHARE) && encoded_rows->trio_count > 1) return 1;
    for (at = 1; at < encoded_rows->trio_count && encoded_rows->trios[at] != trio;)
        at++;
    if (at == NET_ENCODED_ROW_TRIOS) return UINT32_MAX;
    if (at == encoded_rows->trio_count) encoded_rows->trios[encoded_rows->trio_count++] = trio;
    *slot = (uint8_t)at;
    return at;
}

uint32_t net_encoded_rows_wanted(net_encoded_rows* encoded_rows, const net_encoded_row_key* key) {
    if (key->is_settled || key->age > UINT8_MAX) return NET_ENCODED_ROW_UNUSUAL;
    uint32_t trio = find_trio(encoded_rows, key);
    if (trio == UINT32_MAX) return NET_ENCODED_ROW_UNUSUAL;
    return key->age | (uint32_t)key->d << 8 | trio << 16;
}

// ---- the table ----

// Where the row of a key is, or would be. There are places.
static net_encoded_row_place* find_place(const net_encoded_rows* encoded_rows,
                                         const net_encoded_row_key* key) {
    const uint64_t low = net_encoded_row_key_low(key), high = net_encoded_row_trio(key);
    const uint32_t mask = encoded_rows->place_capacity - 1;
    for (uint32_t at = (uint32_t)base_hash64_mix(low, high) & mask;; at = (at + 1) & mask) {
        net_encoded_row_place* place = &encoded_rows->places[at];
        if (place->stamp != encoded_rows->stamp || (place->low == low && place->high == high))
            return place;
    }
}

// A table that grows forgets its rows: those that are asked for again are encoded again.
static void put_place(net_encoded_rows* encoded_rows, const net_encoded_row_key* key,
                      uint64_t cell) {
    const uint32_t capacity = encoded_rows->place_capacity;
    if (++encoded_rows->place_count > capacity / 2) {
        BASE_ARRAY_RELEASE(encoded_rows->allocator, encoded_rows->places, capacity);
        encoded_rows->place_capacity = capacity ? capacity * 2 : PLACES_MIN;
        encoded_rows->places = base_allocate_zero(
            encoded_rows->allocator, encoded_rows->place_capacity * sizeof *encoded_rows->places);
    }
    *find_place(encoded_rows, key) = (net_encoded_row_place){
        net_encoded_row_key_low(key), net_encoded_row_trio(key), cell, encoded_rows->stamp};
}

static void put_home(const net_encoded_rows* encoded_rows, uint32_t index, uint32_t at,
                     uint64_t cell) {
    uint64_t* home = net_encoded_rows_home(encoded_rows, index);
    const bool is_begun = (uint32_t)home[0] == encoded_rows->stamp;
    home[0] = (is_begun ? home[0] : 0) | net_encoded_rows_mark(encoded_rows, at);
    home[at] = cell;
}

// Keep an encoded row for those that ask later.
static void put_entry(net_encoded_rows* encoded_rows, const net_encoded_row_key* key,
                      uint32_t wanted, uint64_t cell) {
    if (encoded_rows->is_solo) return;
    net_encoded_row_kind* kind = net_encoded_rows_kind(encoded_rows, wanted);
    if (kind) kind->made++;
    if (kind && kind->cell != NET_ENCODED_ROW_CELL_NONE) {
        put_home(encoded_rows, key->index, kind->cell, cell);
        return;
    }
    put_place(encoded_rows, key, cell);
}

// Making encoded rows: the rows that a key names, and their bits.

enum { ARENA_ALIGN = 8, ARENA_MIN = 1 << 16 };

_Static_assert(ARENA_MIN >= PROTO_ROW_JOBS_MAX * (NET_ROW_BYTES_MAX + 64), "those at once fit");

static void reserve(net_encoded_rows* encoded_rows, uint32_t count) {
    uint32_t bytes = count * (NET_ROW_BYTES_MAX + 64);
    if (encoded_rows->arena_capacity - encoded_rows->arena_size >= bytes) return;
    uint32_t capacity = encoded_rows->arena_capacity ? encoded_rows->arena_capacity * 2 : ARENA_MIN;
    encoded_rows->arena = base_reallocate(encoded_rows->allocator, encoded_rows->arena,
                                          encoded_rows->arena_capacity, capacity);
    encoded_rows->arena_capacity = capacity;
}

// A base with classes that are hidden now is named only while all rows are known: later, whether it
// is would tell whether they changed.
static bool may_name(const net_history_entity* entity, const net_encoded_row_key* key, uint32_t age,
                     uint32_t classes) {
    return (classes & ~(uint32_t)key->classes) == 0 || age < entity->keep_ticks;
}

// Find the rows that a key names: all of a job but its times. `hidden`: words that its classes do
// not have; 0: copies hide them. An age that was computed modulo 2^32 is small.
static net_encoded_row_result find_rows(net_encoded_rows* encoded_rows,
                                        const net_encoded_row_key* key,
                                        const net_history_entity* entity, uint64_t hidden,
                                        proto_row_job* job) {
    const ecs_tick now = encoded_rows->tick;
    const uint32_t mask = entity->row_template->class_mask, age2 = key->age + key->d;
    const bool is_alike = (key->age == 0 || key->base_classes == key->classes) &&
                          (key->d == 0 || key->base2_classes == key->classes) &&
                          !net_fault_is_planted(NET_FAULT_LEAK_HIDDEN);
    if (!is_alike) hidden = 0;
    const bool is_whole = hidden || (is_alike && (mask & ~(uint32_t)key->classes) == 0);
    // Ticks of rows rise: when the oldest one is as many rows as ticks behind, so are all.
    const bool is_dense =
        is_whole && entity->change_tick == now && net_history_recent(entity, now, age2);
    uint32_t(*copies)[BASE_COUNT(encoded_rows->rows[0])] = is_whole ? NULL : encoded_rows->rows;
    *job = (proto_row_job){.base = entity->row_template->packed_defaults, .hidden = hidden};
    job->row = is_whole ? net_history_newest(entity)
                        : net_history_row(entity, now, now, key->classes, copies[0]);
    BASE_ASSERT(job->row);
    if (key->age == 0) return NET_ENCODED_ROW_OK;
    if (!may_name(entity, key, key->age, key->base_classes)) return NET_ENCODED_ROW_NO_BASE;
    job->base = is_dense ? net_history_back(entity, key->age)
                         : net_history_row(entity, now, now - key->age, key->base_classes,
                                           copies ? copies[1] : NULL);
    if (!job->base) return NET_ENCODED_ROW_NO_BASE;
    if (key->d == 0) return NET_ENCODED_ROW_OK;
    if (!may_name(entity, key, age2, key->base2_classes)) return NET_ENCODED_ROW_NO_BASE2;
    if (net_fault_is_planted(NET_FAULT_SOLO_OTHER) && encoded_rows->is_solo)
        return NET_ENCODED_ROW_NO_BASE2;
    job->base2 = is_dense ? net_history_back(entity, age2)
                          : net_history_row(entity, now, now - age2, key->base2_classes,
                                            copies ? copies[2] : NULL);
    if (!job->base2) return NET_ENCODED_ROW_NO_BASE2;
    if (net_fault_is_planted(NET_FAULT_WRONG_BASE2)) job->base2 = job->row;
    return NET_ENCODED_ROW_OK;
}

net_encoded_row_result net_encoded_rows_sources(net_encoded_rows* encoded_rows,
                                                const net_encoded_row_key* key,
                                                const uint32_t** row, proto_packed_base* base) {
    const net_history_entity* entity = net_history_find(encoded_rows->history, key->index);
    proto_row_job job;
    net_encoded_row_result result = find_rows(encoded_rows, key, entity, 0, &job);
    *row = job.row;
    *base = (proto_packed_base){job.base, job.base2, key->is_settled ? 0 : key->age, key->d};
    return result;
}

// Keep the bits of a row, which are at or after the end of the arena. @return its cell.
static inline uint64_t keep(net_encoded_rows* encoded_rows, const uint8_t* code, uint32_t bits) {
    BASE_ASSERT(bits <= NET_ROW_BYTES_MAX * 8);
    if (bits <= NET_ENCODED_ROW_INLINE_BITS)
        return net_encoded_cell_code(base_load_le64(code)) | (uint64_t)bits
                                                                 << NET_ENCODED_ROW_INLINE_BITS;
    const uint32_t bytes = (bits + 63) / 64 * ARENA_ALIGN, at = encoded_rows->arena_size;
    memmove(encoded_rows->arena + at, code, bytes);
    encoded_rows->arena_size += bytes;
    return at | (uint64_t)bits << 32 |
           (uint64_t)NET_ENCODED_ROW_LONG << NET_ENCODED_ROW_INLINE_BITS;
}

// The same for rows of one template, PROTO_ROW_JOBS_MAX at most.
static void encode_many(net_encoded_rows* encoded_rows, const net_row_template* row_template,
                        const proto_row_job* jobs, uint32_t count, uint64_t* cells) {
    reserve(encoded_rows, count);
    const uint8_t* code = encoded_rows->arena + encoded_rows->arena_size;
    uint32_t bits[PROTO_ROW_JOBS_MAX];
    proto_row_encode_many(&row_template->layout, jobs, count,
                          encoded_rows->arena + encoded_rows->arena_size, bits);
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = keep(encoded_rows, code, bits[i]);
        code += (bits[i] + 63) / 64 * ARENA_ALIGN;
    }
    encoded_rows->made += count;
}

// Wishes of one template and the same classes whose rows are found.
typedef struct wish_batch {
    const net_row_template* row_template;
    uint64_t hidden; // words that these classes do not have
    uint32_t classes, count;
    proto_row_job jobs[PROTO_ROW_JOBS_MAX];
    proto_row_times times[PROTO_ROW_JOBS_MAX];
    net_encoded_row_wish* wishes[PROTO_ROW_JOBS_MAX];
} wish_batch;

static void encode_batch(net_encoded_rows* encoded_rows, wish_batch* batch) {
    uint64_t cells[PROTO_ROW_JOBS_MAX];
    if (batch->count > 0)
        encode_many(encoded_rows, batch->row_template, batch->jobs, batch->count, cells);
    for (uint32_t i = 0; i < batch->count; i++)
        batch->wishes[i]->cell = cells[i];
    batch->count = 0;
}

static void add_to_batch(net_encoded_rows* encoded_rows, wish_batch* batch,
                         net_encoded_row_wish* wish, const proto_row_job* job) {
    // Rows of one kind are asked for one after another.
    proto_row_times* times = &encoded_rows->times;
    const uint32_t ticks = wish->key.is_settled ? 0 : wish->key.age;
    const uint32_t ticks2 = job->base2 ? wish->key.d : 1;
    if (times->ticks != ticks || times->ticks2 != ticks2)
        *times = proto_row_times_make(ticks, ticks2);
    batch->times[batch->count] = *times;
    batch->jobs[batch->count] = *job;
    batch->jobs[batch->count].times = &batch->times[batch->count];
    batch->wishes[batch->count++] = wish;
}

// Is one of its rows a copy? The next one that is found overwrites it.
static bool is_copied(const net_encoded_rows* encoded_rows, const proto_row_job* job) {
    const uint32_t(*rows)[BASE_COUNT(encoded_rows->rows[0])] = encoded_rows->rows;
    return job->row == rows[0] || job->base == rows[1] || job->base2 == rows[2];
}

// Encode the rows of keys that all differ; sets what became of each. They are in no home then.
static void encode_wishes(net_encoded_rows* encoded_rows, net_encoded_row_wish* wishes,
                          uint32_t count) {
    wish_batch batch;
    batch.row_template = NULL;
    batch.count = 0;
    for (uint32_t i = 0; i < count; i++) {
        net_encoded_row_wish* wish = &wishes[i];
        const net_encoded_row_key* key = &wish->key;
        const net_history_entity* entity = net_history_find(encoded_rows->history, key->index);
        BASE_ASSERT(entity);
        const bool is_other =
            batch.row_template != entity->row_template || batch.classes != key->classes;
        if (is_other || batch.count == PROTO_ROW_JOBS_MAX) encode_batch(encoded_rows, &batch);
        if (is_other) {
            batch.row_template = entity->row_template;
            batch.classes = key->classes;
            batch.hidden = net_row_hidden(entity->row_template, key->classes);
        }
        proto_row_job job;
        wish->result = find_rows(encoded_rows, key, entity, batch.hidden, &job);
        if (wish->result != NET_ENCODED_ROW_OK) continue;
        add_to_batch(encoded_rows, &batch, wish, &job);
        if (is_copied(encoded_rows, &job)) encode_batch(encoded_rows, &batch);
    }
    encode_batch(encoded_rows, &batch);
}

void net_encoded_rows_make_many(net_encoded_rows* encoded_rows, net_encoded_row_wish* wishes,
                                uint32_t count) {
    encode_wishes(encoded_rows, wishes, count);
    for (uint32_t i = 0; i < count; i++) {
        net_encoded_row_wish* wish = &wishes[i];
        if (wish->result == NET_ENCODED_ROW_OK)
            put_entry(encoded_rows, &wish->key, wish->wanted, wish->cell);
    }
}

bool net_encoded_rows_find_wanted(net_encoded_rows* encoded_rows, uint32_t wanted,
                                  const net_encoded_row_key* key, uint64_t* cell) {
    if (encoded_rows->is_solo) return false;
    BASE_ASSERT(key->index < encoded_rows->home_count);
    const net_encoded_row_kind* kind = net_encoded_rows_kind(encoded_rows, wanted);
    *cell = 0;
    if (kind && kind->cell != NET_ENCODED_ROW_CELL_NONE) {
        const uint64_t* home = net_encoded_rows_home(encoded_rows, key->index);
        if (net_encoded_rows_has(home, net_encoded_rows_mark(encoded_rows, kind->cell)))
            *cell = home[kind->cell];
    } else if (encoded_rows->place_count > 0) {
        const net_encoded_row_place* place = find_place(encoded_rows, key);
        if (place->stamp == encoded_rows->stamp) *cell = place->cell;
    }
    encoded_rows->shared += *cell != 0;
    return *cell != 0;
}

net_encoded_row_result net_encoded_rows_get(net_encoded_rows* encoded_rows,
                                            const net_encoded_row_key* key, uint64_t* cell) {
    const uint32_t wanted = net_encoded_rows_wanted(encoded_rows, key);
    if (net_encoded_rows_find_wanted(encoded_rows, wanted, key, cell)) return NET_ENCODED_ROW_OK;
    net_encoded_row_kind* kind = net_encoded_rows_kind(encoded_rows, wanted);
    if (kind) kind->count++;
    net_encoded_row_wish wish = {.key = *key, .wanted = wanted};
    net_encoded_rows_make_many(encoded_rows, &wish, 1);
    *cell = wish.cell;
    return wish.result;
}

// Encoding ahead: rows that most clients are going to ask for, entity by entity.
//
// Clients with the same delay have bases of the same ages, so most rows that a tick asks for are of
// a few kinds: the same age, the same second base, the same classes. What was asked for in the tick
// before is counted by kind. Each kind that was asked for as often as entities changed, or more,
// and of half of them, is encoded for all entities that changed, before the first client asks. All
// rows of an entity lie together, so this reads memory once and in order, where the clients'
// questions come in no order. Of how many entities it was asked for is known from those that are
// left out: one in SAMPLE_EVERY.
//
// Nothing depends on it: a row that was not encoded ahead is encoded when it is asked for. One that
// is never asked for is forgotten with the tick.

enum {
    ENTITIES_AHEAD = 12,
    ROWS_AHEAD = 6,
    SAMPLE_BITS = 4,
    SAMPLE_EVERY = 1 << SAMPLE_BITS,
};

_Static_assert(NET_ENCODED_ROW_USUAL <= PROTO_ROW_JOBS_MAX, "those of an entity at once");

// Entities that changed are scattered in memory: prefetch what the history and the homes have of
// them some steps ahead.
static inline void fetch_ahead(const net_encoded_rows* encoded_rows,
                               const net_history_entity* entities, const net_history_event* events,
                               uint32_t i, uint32_t count, uint32_t back) {
    if (i + ENTITIES_AHEAD < count) {
        uint32_t index = ecs_entity_index(events[i + ENTITIES_AHEAD].handle);
        __builtin_prefetch(&entities[index]);
        net_encoded_rows_prefetch(encoded_rows, index);
    }
    if (i + ROWS_AHEAD >= count) return;
    const net_history_entity* entity = &entities[ecs_entity_index(events[i + ROWS_AHEAD].handle)];
    if (entity->count == 0) return; // gone
    const uint8_t* newest = (const uint8_t*)net_history_newest(entity);
    const uint32_t bytes = back * (uint32_t)(entity->words * sizeof(uint32_t));
    for (uint32_t at = 0; at < bytes + BASE_CACHE_LINE_BYTES; at += BASE_CACHE_LINE_BYTES)
        __builtin_prefetch(newest - at);
    __builtin_prefetch(newest + entity->words * sizeof(uint32_t) - 1);
    __builtin_prefetch((const uint8_t*)entity->rows + entity->block_bytes - entity->capacity);
}

// The kinds of rows that are encoded in this tick.
typedef struct usual_rows {
    proto_row_times times[NET_ENCODED_ROW_USUAL];
    uint64_t trios[NET_ENCODED_ROW_USUAL];
    uint8_t cells[NET_ENCODED_ROW_USUAL]; ///< in all homes
    uint32_t count;
    uint32_t age_max; ///< of a second base
} usual_rows;

// Those that are worth it, most wanted first.
static usual_rows choose(net_encoded_rows* encoded_rows, uint32_t changed_count) {
    usual_rows usual = {.count = 0};
    for (uint32_t i = 0; i < encoded_rows->most_count && usual.count < NET_ENCODED_ROW_USUAL; i++) {
        const net_encoded_row_kind* kind = &encoded_rows->most[i];
        const uint32_t age = kind->wanted & UINT8_MAX, d = kind->wanted >> 8 & UINT8_MAX;
        if (kind->count < changed_count) break; // one alone costs as much as some ahead
        if (d == 0 || kind->made * (kind->is_ahead ? SAMPLE_EVERY : 1) < changed_count / 2)
            continue;
        net_encoded_rows_kind(encoded_rows, kind->wanted)->is_ahead = true;
        usual.times[usual.count] = proto_row_times_make(age, d);
        usual.trios[usual.count] = encoded_rows->trios[kind->wanted >> 16];
        usual.cells[usual.count++] = (uint8_t)(i + 1);
        if (age + d > usual.age_max) usual.age_max = age + d;
    }
    return usual;
}

// Find the rows of the entity that are encoded. @return how many they are; `places` gets the cells
// that they go to.
static uint32_t find_jobs(const net_history_entity* entity, ecs_tick now, const usual_rows* usual,
                          proto_row_job* jobs, uint32_t* places) {
    const uint32_t* row = net_history_newest(entity);
    // Ticks of rows rise: when the oldest one is as many rows as ticks behind, so are all.
    const bool is_dense =
        entity->change_tick == now && net_history_recent(entity, now, usual->age_max);
    uint32_t count = 0;
    for (uint32_t i = 0; i < usual->count; i++) {
        if (usual->trios[i] != entity->row_template->class_mask * UINT64_C(0x100010001)) continue;
        const uint32_t age = usual->times[i].ticks, age2 = age + usual->times[i].ticks2;
        const uint32_t* base =
            is_dense ? net_history_back(entity, age) : net_history_recent(entity, now, age);
        const uint32_t* base2 =
            is_dense ? net_history_back(entity, age2) : net_history_recent(entity, now, age2);
        if (!base || !base2) continue;
        places[count] = usual->cells[i];
        jobs[count++] = (proto_row_job){row, base, base2, &usual->times[i], 0};
    }
    return count;
}

static void encode_entity(net_encoded_rows* encoded_rows, uint32_t index, const usual_rows* usual) {
    const net_history_entity* entity = net_history_find(encoded_rows->history, index);
    if (!entity || index >= encoded_rows->home_count) return;
    proto_row_job jobs[NET_ENCODED_ROW_USUAL];
    uint32_t places[NET_ENCODED_ROW_USUAL];
    uint64_t cells[NET_ENCODED_ROW_USUAL];
    uint32_t count = find_jobs(entity, encoded_rows->tick, usual, jobs, places);
    if (count == 0) return;
    encode_many(encoded_rows, entity->row_template, jobs, count, cells);
    for (uint32_t i = 0; i < count; i++)
        put_home(encoded_rows, index, places[i], cells[i]);
}

void net_encoded_rows_ahead(net_encoded_rows* encoded_rows, const net_history_event* events,
                            uint32_t event_count) {
    if (encoded_rows->is_solo) return;
    const usual_rows usual = choose(encoded_rows, event_count);
    if (usual.count == 0) return;
    const net_history_entity* entities = encoded_rows->history->entities;
    for (uint32_t i = 0; i < event_count; i++) {
        const uint32_t index = ecs_entity_index(events[i].handle);
        fetch_ahead(encoded_rows, entities, events, i, event_count, usual.age_max);
        // Spread evenly, since clients choose by the lowest bits of an index.
        const bool is_sample =
            (index + encoded_rows->stamp) * UINT32_C(0x9E3779B1) >> (32 - SAMPLE_BITS) == 0;
        if (events[i].kind == NET_HISTORY_CHANGED && !is_sample)
            encode_entity(encoded_rows, index, &usual);
    }
}
