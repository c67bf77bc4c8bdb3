// SPDX-License-Identifier: MIT
// Encoding ahead: rows that most clients are going to ask for, entity by entity.
//
// Clients with the same delay have bases of the same ages, so most rows that a tick asks for are of
// a few kinds: the same age, the same second base, the same classes. What was asked for in the tick
// before is counted by kind. Each kind that was asked for as often as entities changed, or more, is
// encoded for all entities that changed, before the first client asks. All rows of an entity lie
// together, so this reads memory once and in order, where the clients' questions come in no order.
//
// Nothing depends on it: a row that was not encoded ahead is encoded when it is asked for. One that
// is never asked for is forgotten with the tick.
#include "replicate/encoded_rows_internal.h"

enum {
    ENTITIES_AHEAD = 12,
    ROWS_AHEAD = 6,
};

_Static_assert(NET_ENCODED_ROW_USUAL <= PROTO_ROW_JOBS_MAX, "those of an entity at once");
_Static_assert(NET_ENCODED_ROW_USUAL < NET_ENCODED_ROW_CELLS, "a home has room for others");

void net_encoded_rows_ask(net_encoded_rows* encoded_rows, const net_encoded_row_key* key,
                          uint32_t wanted, uint32_t count) {
    if (key->d == 0 || wanted == NET_ENCODED_ROW_UNUSUAL) return;
    uint32_t i = 0, end = encoded_rows->asked_count;
    while (i < end && encoded_rows->asked[i].wanted != wanted)
        i++;
    if (i == NET_ENCODED_ROW_ASKED) return;
    net_encoded_row_asked* asked = &encoded_rows->asked[i];
    if (i == end) {
        *asked = (net_encoded_row_asked){
            .wanted = wanted, .classes = key->classes, .age = (uint8_t)key->age, .d = key->d};
        encoded_rows->asked_count++;
    }
    asked->count += count;
}

// Those that are worth it, most wanted first. @return how many they are.
static uint32_t choose(net_encoded_rows* encoded_rows, uint32_t changed_count,
                       net_encoded_row_asked* usual) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < encoded_rows->asked_count; i++) {
        const net_encoded_row_asked* asked = &encoded_rows->asked[i];
        if (asked->count < changed_count) continue; // one alone costs as much as some ahead
        uint32_t at = count < NET_ENCODED_ROW_USUAL ? count++ : count;
        for (; at > 0 && usual[at - 1].count < asked->count; at--)
            if (at < NET_ENCODED_ROW_USUAL) usual[at] = usual[at - 1];
        if (at < NET_ENCODED_ROW_USUAL) usual[at] = *asked;
    }
    encoded_rows->asked_count = 0;
    return count;
}

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
    net_encoded_row_asked kinds[NET_ENCODED_ROW_USUAL];
    proto_row_times times[NET_ENCODED_ROW_USUAL];
    uint8_t cells[NET_ENCODED_ROW_USUAL]; ///< in all homes
    uint32_t count;
    uint32_t age_max; ///< of a second base
} usual_rows;

// Find the rows of the entity that are encoded. @return how many they are; `cells` gets where
// they go.
static uint32_t find_jobs(const net_history_entity* entity, ecs_tick now, const usual_rows* usual,
                          proto_row_job* jobs, uint32_t* cells) {
    const uint32_t* row = net_history_newest(entity);
    // Ticks of rows rise: when the oldest one is as many rows as ticks behind, so are all.
    const bool is_dense =
        entity->change_tick == now && net_history_recent(entity, now, usual->age_max);
    uint32_t count = 0;
    for (uint32_t i = 0; i < usual->count; i++) {
        const net_encoded_row_asked* kind = &usual->kinds[i];
        if (kind->classes != entity->row_template->class_mask) continue;
        const uint32_t age = kind->age, age2 = age + kind->d;
        const uint32_t* base =
            is_dense ? net_history_back(entity, age) : net_history_recent(entity, now, age);
        const uint32_t* base2 =
            is_dense ? net_history_back(entity, age2) : net_history_recent(entity, now, age2);
        if (!base || !base2) continue;
        cells[count] = usual->cells[i];
        jobs[count++] = (proto_row_job){row, base, base2, &usual->times[i]};
    }
    return count;
}

static bool encode_entity(net_encoded_rows* encoded_rows, uint32_t index, const usual_rows* usual) {
    const net_history_entity* entity = net_history_find(encoded_rows->history, index);
    if (!entity || index >= encoded_rows->home_count) return true;
    proto_row_job jobs[NET_ENCODED_ROW_USUAL];
    uint32_t cells[NET_ENCODED_ROW_USUAL];
    net_encoded_row encoded[NET_ENCODED_ROW_USUAL];
    uint32_t count = find_jobs(entity, encoded_rows->tick, usual, jobs, cells);
    if (count == 0) return true;
    if (!net_encoded_rows_encode_many(encoded_rows, entity->row_template, jobs, count, encoded))
        return false;
    net_encoded_rows_begin_home(encoded_rows, index);
    for (uint32_t i = 0; i < count; i++)
        net_encoded_rows_put_cell(encoded_rows, index, cells[i], &encoded[i]);
    return true;
}

bool net_encoded_rows_ahead(net_encoded_rows* encoded_rows, const net_history_event* events,
                            uint32_t event_count) {
    net_encoded_row_asked asked[NET_ENCODED_ROW_USUAL];
    const uint32_t asked_count = choose(encoded_rows, event_count, asked);
    if (asked_count == 0 || encoded_rows->is_solo) return true;
    const net_history_entity* entities = net_history_entities(encoded_rows->history);
    usual_rows usual = {.count = 0};
    for (uint32_t i = 0; i < asked_count; i++) {
        const net_encoded_row_kind* kind = net_encoded_rows_kind(encoded_rows, asked[i].wanted);
        if (!kind || kind->cell == NET_ENCODED_ROW_CELL_NONE) continue;
        usual.kinds[usual.count] = asked[i];
        usual.times[usual.count] = proto_row_times_make(asked[i].age, asked[i].d);
        usual.cells[usual.count++] = kind->cell;
        uint32_t age2 = (uint32_t)asked[i].age + asked[i].d;
        if (age2 > usual.age_max) usual.age_max = age2;
    }
    for (uint32_t i = 0; i < event_count; i++) {
        fetch_ahead(encoded_rows, entities, events, i, event_count, usual.age_max);
        if (events[i].kind == NET_HISTORY_CHANGED &&
            !encode_entity(encoded_rows, ecs_entity_index(events[i].handle), &usual))
            return false;
    }
    return true;
}
