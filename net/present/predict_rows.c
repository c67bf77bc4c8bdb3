// SPDX-License-Identifier: MIT
// Rows of predicted ticks against the server's.
//
// Rows are equal when whole numbers are equal and other numbers are within one quantum: the
// server's row is rounded, the predicted one is not. The player's row is the server's of the tick
// (player_age says so). Another entity's row counts only when it came with this packet; a change
// that never comes within a packet gets in with the refresh.
#include "present/predict_internal.h"

#include "base/assert.h"

#include <string.h>

static bool is_listed(const net_predict_slot* one, ecs_entity entity) {
    for (uint32_t i = 0; i < one->row_count; i++)
        if (one->rows[i].entity == entity) return true;
    return false;
}

// Room in all slots at once: an entity that is predicted now stays so for many ticks.
static bool reserve_words(net_predict* predict, uint32_t count) {
    if (count <= predict->word_peak) return true;
    for (uint32_t i = 0; i < NET_PREDICT_SLOTS; i++) {
        net_predict_slot* one = &predict->slots[i];
        if (!BASE_ARRAY_RESERVE(predict->allocator, one->words, one->word_capacity, count))
            return false;
    }
    predict->word_peak = count;
    return true;
}

bool net_predict_remember_row(net_predict* predict, net_predict_slot* one, ecs_entity entity) {
    BASE_ASSERT(one->row_count <= NET_PREDICT_ROWS_MAX);
    ecs_world* world = net_match_world(predict->match);
    if (one->row_count == NET_PREDICT_ROWS_MAX || is_listed(one, entity)) return true;
    const net_row_template* entry =
        net_rows_find(predict->rows, ecs_entity_template(world, entity));
    if (!entry) return true;
    uint32_t fields = entry->layout.field_count;
    if (!reserve_words(predict, one->word_count + fields)) return false;
    net_rows_read(entry, world, entity, one->words + one->word_count);
    one->rows[one->row_count++] =
        (net_predict_row){.entity = entity, .entry = entry, .first = one->word_count};
    one->word_count += fields;
    return true;
}

static bool is_same_word(const proto_quant* quant, uint64_t a, uint64_t b) {
    if (a == b) return true;
    if (quant->kind != PROTO_F32 && quant->kind != PROTO_F64) return false;
    if (!quant->is_exact) return a > b ? a - b == 1 : b - a == 1;
    // Exact floats that were computed from rounded ones.
    double x = 0, y = 0;
    if (quant->kind == PROTO_F32) {
        float p, q;
        proto_dequantise(quant, a, &p);
        proto_dequantise(quant, b, &q);
        x = (double)p;
        y = (double)q;
    } else {
        proto_dequantise(quant, a, &x);
        proto_dequantise(quant, b, &y);
    }
    double size = x < 0 ? -x : x;
    double off = x > y ? x - y : y - x;
    return off <= 1e-4 * (size > 1 ? size : 1);
}

static void count_difference(net_predict* predict, const proto_layout* layout, uint32_t field) {
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const proto_row_component* component = &layout->components[c];
        if (field - component->field_first < component->field_count)
            predict->differs[component->key]++;
    }
}

static bool is_same_row(net_predict* predict, const net_row_template* a, const uint64_t* x,
                        const net_row_template* b, const uint64_t* y) {
    predict->counters.compared++;
    if (a->part_count != b->part_count ||
        memcmp(a->parts, b->parts, a->part_count * sizeof a->parts[0]) != 0)
        return false;
    for (uint32_t f = 0; f < a->layout.field_count; f++) {
        if (is_same_word(&a->layout.fields[f].quant, x[f], y[f])) continue;
        count_difference(predict, &a->layout, f);
        return false;
    }
    return true;
}

// The mirror's row of an entity; NULL when it has none.
static const net_row_template* read_mirror(net_predict* predict, ecs_entity entity) {
    ecs_world* mirror = net_match_world(predict->mirror);
    if (!ecs_is_alive(mirror, entity)) return NULL;
    const net_row_template* entry =
        net_rows_find(predict->mirror_rows, ecs_entity_template(mirror, entity));
    if (entry) net_rows_read(entry, mirror, entity, predict->row);
    return entry;
}

// Did this packet change the mirror's row?
static bool is_news(const net_predict* predict, ecs_entity entity, uint64_t hash) {
    for (uint32_t i = 0; i < predict->seen_count; i++)
        if (predict->seen[i].entity == entity) return predict->seen[i].hash != hash;
    return false;
}

bool net_predict_rows_match(net_predict* predict, const net_predict_slot* one) {
    BASE_ASSERT(one->tick > 0);
    for (uint32_t i = 0; i < one->row_count; i++) {
        const net_predict_row* row = &one->rows[i];
        const net_row_template* entry = read_mirror(predict, row->entity);
        bool is_player = row->entity == predict->player;
        if (!entry) {
            if (is_player) return false;
            continue; // destroyed: has_new_structure finds that
        }
        if (!is_player && !is_news(predict, row->entity, net_row_hash(entry, predict->row)))
            continue;
        if (!is_same_row(predict, row->entry, one->words + row->first, entry, predict->row))
            return false;
    }
    return is_listed(one, predict->player);
}

static void remember_seen(net_predict* predict, ecs_entity entity) {
    for (uint32_t i = 0; i < predict->seen_count; i++)
        if (predict->seen[i].entity == entity) return;
    const net_row_template* entry = read_mirror(predict, entity);
    if (!entry || predict->seen_count == NET_PREDICT_ROWS_MAX) return;
    predict->seen[predict->seen_count++] =
        (net_predict_seen){.entity = entity, .hash = net_row_hash(entry, predict->row)};
}

void net_predict_look(net_predict* predict) {
    predict->seen_count = 0;
    for (uint32_t i = 0; i < predict->shown.entity_count; i++)
        remember_seen(predict, predict->shown.entities[i].entity);
}
