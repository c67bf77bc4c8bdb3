// SPDX-License-Identifier: MIT
// Prediction: own inputs run at once on a copy of the mirror.
//
// Timeline: the prediction world counts the server's ticks. A packet of tick T says which input
// that tick used (n) and how often n replaced a missing input since (r). The world becomes a copy
// of the mirror, and the inputs after n run, one per tick from T + 1 on. The server settles such
// debts by this rule (session/pace.c, "settle"), and so does the prediction: while ticks are
// owed, an input that equals n is dropped and pays one tick; the first that differs runs and ends
// the debt.
//
// Compare first: for every predicted tick its input, its debt and the rows of the predicted
// entities are remembered. When a packet of that tick has the same input and the
// same rows, the prediction was right and nothing changes. Otherwise the world is restored and the
// inputs that the server had not used run again.
//
// Silence: NET_PREDICT_TICKS_MAX ticks after the newest packet the world stops. When the server
// then is more inputs behind than that, those inputs are lost, and nothing is predicted until the
// server uses newer ones.
//
// Invariants (net_predict_validate): `tick_state` is the newest packet's tick; `tick` is at most
// NET_PREDICT_TICKS_MAX after it; slots hold the ticks from the last restore to `tick`. Left to
// others: which entities are predicted and how they move (the module); drawing (presenter.c).
#include "present/predict.h"

#include "core/ration.h"
#include "state/schema.h"
#include "state/steps.h"

#include "ecs/debug.h"
#include "ecs/inspect.h"

#include "base/assert.h"
#include "base/bytes.h"

#include <string.h>

#define SEEN_CORRECTION 1.0 // world units

// ---- create and destroy ----

net_result net_predict_create(const base_allocator* allocator, const net_module* module,
                              const base_reporter* reporter, net_predict** out) {
    BASE_ASSERT(module && module->game && out);
    *out = NULL;
    if (!module->game->predict) return NET_OK;
    net_predict* predict = base_owner_create(allocator, sizeof *predict);
    predict->game = module->game;
    if (reporter) predict->reporter = *reporter;
    net_predict_shown_init(&predict->shown, &predict->owner.allocator);
    net_match_config config = net_match_config_default(module);
    config.allocator = allocator;
    config.role = NET_ROLE_PREDICT;
    net_result result = net_match_create(&config, &predict->reporter, &predict->match);
    if (result) {
        net_predict_destroy(predict);
        return result;
    }
    *out = predict;
    return NET_OK;
}

void net_predict_destroy(net_predict* predict) {
    if (!predict) return;
    net_match_destroy(predict->match);
    base_owner_destroy(predict);
}

static void stop_prediction(net_predict* predict) {
    predict->is_running = false;
    predict->seen_count = 0;
    for (uint32_t i = 0; i < NET_PREDICT_SLOTS; i++)
        predict->slots[i].tick = 0;
    net_predict_shown_clear(&predict->shown);
}

void net_predict_begin(net_predict* predict, net_match* mirror) {
    BASE_ASSERT(mirror);
    predict->mirror = mirror;
    const net_match_config* config = net_match_get_config(mirror);
    net_match_mirror_start(predict->match, config->tick_rate_hz, config->settings,
                           predict->game->setting_count, config->names);
    stop_prediction(predict);
}

void net_predict_player(net_predict* predict, ecs_entity player) {
    if (predict->player == player) return;
    predict->player = player;
    stop_prediction(predict);
}

// ---- rows ----

// Rows of predicted ticks against the server's.
//
// Rows are equal when whole numbers are equal and other numbers are within one quantum: the
// server's row is rounded, the predicted one is not. The player's row is the server's of the tick
// (player_age says so). Another entity's row counts only when it came with this packet; a change
// that never comes within a packet gets in with the refresh.

static const net_row_template* find_entry(net_match* match, ecs_entity entity) {
    return net_rows_find(net_schema_rows(net_match_schema(match)),
                         ecs_entity_template(net_match_world(match), entity));
}

static bool is_listed(const net_predict_slot* one, ecs_entity entity) {
    for (uint32_t i = 0; i < one->row_count; i++)
        if (one->rows[i].entity == entity) return true;
    return false;
}

// Room in all slots at once: an entity that is predicted now stays so for many ticks.
static void reserve_words(net_predict* predict, uint32_t count) {
    if (count <= predict->word_peak) return;
    for (uint32_t i = 0; i < NET_PREDICT_SLOTS; i++) {
        net_predict_slot* one = &predict->slots[i];
        BASE_ARRAY_RESERVE(&predict->owner.allocator, one->words, one->word_capacity, count);
    }
    predict->word_peak = count;
}

// Remember an entity's row of the prediction world in a slot; nothing when it is there already or
// has none.
static void remember_row(net_predict* predict, net_predict_slot* one, ecs_entity entity) {
    BASE_ASSERT(one->row_count <= NET_PREDICT_ROWS_MAX);
    ecs_world* world = net_match_world(predict->match);
    if (one->row_count == NET_PREDICT_ROWS_MAX || is_listed(one, entity)) return;
    const net_row_template* entry = find_entry(predict->match, entity);
    if (!entry) return;
    uint32_t fields = entry->layout.field_count;
    reserve_words(predict, one->word_count + fields);
    net_rows_read(entry, world, entity, one->words + one->word_count);
    one->rows[one->row_count++] =
        (net_predict_row){.entity = entity, .entry = entry, .first = one->word_count};
    one->word_count += fields;
}

static bool is_same_word(const proto_quant* quant, uint64_t a, uint64_t b) {
    if (a == b) return true;
    if (quant->kind != PROTO_F32 && quant->kind != PROTO_F64) return false;
    if (!quant->is_exact) return a > b ? a - b == 1 : b - a == 1;
    // Exact floats that were computed from rounded ones.
    double x = net_quant_number(quant, a), y = net_quant_number(quant, b);
    double size = x < 0 ? -x : x;
    double off = x > y ? x - y : y - x;
    return off <= 1e-4 * (size > 1 ? size : 1);
}

static void count_difference(net_predict* predict, ecs_template_id template_id,
                             const proto_layout* layout, uint32_t field) {
    for (uint32_t c = 0; c < layout->component_count; c++) {
        const proto_row_component* component = &layout->components[c];
        if (field - component->field_first >= component->field_count) continue;
        predict->differs[component->key]++;
        predict->differs_in[component->key] = template_id;
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
        count_difference(predict, a->id, &a->layout, f);
        return false;
    }
    return true;
}

// The mirror's row of an entity; NULL when it has none.
static const net_row_template* read_mirror(net_predict* predict, ecs_entity entity) {
    ecs_world* mirror = net_match_world(predict->mirror);
    if (!ecs_is_alive(mirror, entity)) return NULL;
    const net_row_template* entry = find_entry(predict->mirror, entity);
    if (entry) net_rows_read(entry, mirror, entity, predict->row);
    return entry;
}

// Did this packet change the mirror's row?
static bool is_news(const net_predict* predict, ecs_entity entity, uint64_t hash) {
    for (uint32_t i = 0; i < predict->seen_count; i++)
        if (predict->seen[i].entity == entity) return predict->seen[i].hash != hash;
    return false;
}

// Are a slot's rows the mirror's? Only rows that are known to be the server's of that tick are
// compared.
static bool rows_match(net_predict* predict, const net_predict_slot* one) {
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

// Remember the mirror's rows, to find out which ones the next packet brings.
static void look_at_mirror(net_predict* predict) {
    predict->seen_count = 0;
    for (uint32_t i = 0; i < predict->shown.entity_count; i++)
        remember_seen(predict, predict->shown.entities[i].entity);
}

// ---- ticks ----

static net_predict_slot* slot_at(net_predict* predict, ecs_tick tick) {
    return &predict->slots[tick % NET_PREDICT_SLOTS];
}

// The world is at a new tick: get the shown values and remember their rows.
static void remember_tick(net_predict* predict) {
    BASE_ASSERT(predict->tick > 0);
    ecs_world* world = net_match_world(predict->match);
    net_predict_shown* shown = &predict->shown;
    ecs_running_call("predict");
    uint32_t count = predict->game->predict(world, net_match_context(predict->match),
                                            predict->player, shown->entities, NET_PREDICTED_MAX);
    ecs_running_call(NULL);
    shown->entity_count = count < NET_PREDICTED_MAX ? count : NET_PREDICTED_MAX;
    net_predict_shown_tick(shown, world);
    net_predict_slot* one = slot_at(predict, predict->tick);
    one->tick = predict->tick;
    one->input = predict->input_done;
    one->owed = predict->owed;
    one->row_count = one->word_count = 0;
    if (ecs_is_alive(world, predict->player)) remember_row(predict, one, predict->player);
    for (uint32_t i = 0; i < shown->entity_count; i++) {
        ecs_entity entity = shown->entities[i].entity;
        if (ecs_is_alive(world, entity)) remember_row(predict, one, entity);
    }
}

// Values of the own entity between two steps of what is sent. A client continues from what was
// sent, the server from the value itself, so both drift apart by less than a step in each tick, and
// no comparison of rows tells why.

// @return whether a field of the component is such a value.
static bool is_rough(const ecs_type* type, const ecs_template_component* component,
                     const void* value) {
    if (!(component->flags & ECS_COMPONENT_REPLICATED) || component->is_rotation) return false;
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ecs_field* field = &type->fields[i];
        const ecs_quant* quant = component->quant.bits > 0 ? &component->quant : &field->quant;
        if (field->kind != ECS_FIELD_F32 || quant->bits == 0 || ecs_quant_is_angle(quant)) continue;
        for (uint32_t k = 0; k < field->count; k++) {
            float number;
            memcpy(&number, (const uint8_t*)value + field->offset + k * sizeof number,
                   sizeof number);
            const double off = (double)number - (double)ecs_quantise(quant, number);
            // Beyond the range it is a limit that is sent, which is another mistake.
            if ((off < 0 ? -off : off) > quant->step * 0.001 &&
                (off < 0 ? -off : off) <= quant->step)
                return true;
        }
    }
    return false;
}

static void report_rough(net_predict* predict, const ecs_template* of,
                         const ecs_template_component* component) {
    const ecs_world* world = net_match_world(predict->match);
    const char* name = ecs_component_get(world, component->component)->name;
    ecs_user writer = {0};
    (void)ecs_inspect_user(world, component->component, ECS_USE_WRITE, &writer);
    base_report(
        &predict->reporter, NULL, NET_FOUND_ROUGH,
        "warning: prediction: system %s leaves component %s between the steps that are sent of it, "
        "so the server continues with other numbers than clients: end with ecs_vec2_snap or "
        "ecs_snap, whose step is a field of the context: float grid ES_STEP(%s, %s)",
        writer.name ? writer.name : "?", name, of->name, name);
}

static void look_at_steps(net_predict* predict) {
    enum { ROUGH_TICKS = 60 };
    ecs_world* world = net_match_world(predict->match);
    if (predict->rough_ticks >= ROUGH_TICKS || !ecs_is_alive(world, predict->player)) return;
    const ecs_template* of = ecs_template_get(world, ecs_entity_template(world, predict->player));
    for (uint32_t i = 0; of && i < of->component_count; i++) {
        const ecs_template_component* component = &of->components[i];
        const ecs_component* known = ecs_component_get(world, component->component);
        const ecs_type* type = ecs_type_get(world, known->type);
        const void* cell = ecs_find(world, predict->player, known->id);
        if (!cell || !is_rough(type, component, ecs_type_object(type, cell))) continue;
        if (++predict->rough_ticks == ROUGH_TICKS) report_rough(predict, of, component);
        return;
    }
}

static const net_predict_made* input_at(const net_predict* predict, uint32_t number) {
    const net_predict_made* input = &predict->inputs[number % NET_PREDICT_SLOTS];
    return number > 0 && input->number == number ? input : NULL;
}

static bool is_same_input(const net_predict_made* a, const net_predict_made* b) {
    return a && b && a->size == b->size && memcmp(a->payload, b->payload, a->size) == 0;
}

// Run the next input by the server's rule.
static void run_input(net_predict* predict, const net_predict_made* input) {
    predict->input_done = input->number;
    if (predict->owed > 0 && is_same_input(input, input_at(predict, predict->settled))) {
        predict->owed--;
        predict->settled = input->number;
        net_predict_slot* one = slot_at(predict, predict->tick);
        one->input = input->number;
        one->owed = predict->owed;
        return;
    }
    predict->owed = 0;
    predict->settled = input->number;
    net_match_predict_input(predict->match, predict->player, input->payload, input->size);
    net_match_step_at(predict->match, ++predict->tick);
    ecs_changes_clear(net_match_world(predict->match));
    look_at_steps(predict);
    remember_tick(predict);
}

static bool has_room(const net_predict* predict) {
    return predict->tick < predict->tick_state + NET_PREDICT_TICKS_MAX;
}

void net_predict_input(net_predict* predict, uint64_t now_us, uint32_t number, const void* payload,
                       size_t size) {
    BASE_ASSERT(size <= NET_INPUT_BYTES_MAX);
    net_predict_made* input = &predict->inputs[number % NET_PREDICT_SLOTS];
    input->number = number;
    input->size = (uint32_t)size;
    if (size > 0) memcpy(input->payload, payload, size);
    predict->input_newest = number;
    predict->input_us = now_us;
    // Inputs run one after the other; beyond the bound they wait for a packet.
    if (!predict->is_running || number != predict->input_done + 1 || !has_room(predict)) return;
    run_input(predict, input);
}

// ---- packets ----

// The newest slot with this input; NULL when there is none.
static const net_predict_slot* slot_of_input(const net_predict* predict, uint32_t input) {
    const net_predict_slot* best = NULL;
    for (uint32_t i = 0; i < NET_PREDICT_SLOTS; i++) {
        const net_predict_slot* one = &predict->slots[i];
        if (one->tick > 0 && one->input == input && (!best || one->tick > best->tick)) best = one;
    }
    return best;
}

// A frame is visible until the next one, so it shows the end of that time. At one frame per tick
// that is the newest tick itself: a key moves the pad in the next frame.
static double part_at(const net_predict* predict, uint64_t now_us) {
    double passed_us = now_us > predict->input_us ? (double)(now_us - predict->input_us) : 0.0;
    double ticks =
        (passed_us + predict->frame_step_us) * 1e-6 / (double)net_match_dt(predict->match);
    return ticks < 1.0 ? ticks : 1.0;
}

static bool is_in_area(const ecs_world* mirror, void* context, ecs_entity entity) {
    const net_predict* predict = context;
    const ecs_template* source = ecs_template_get(mirror, ecs_entity_template(mirror, entity));
    const bool is_shared = source && source->is_singleton && !predict->game->has_area_of_singletons;
    return entity == predict->player || is_shared ||
           predict->game->predict_area(net_match_world(predict->mirror),
                                       net_match_context(predict->mirror), predict->player, entity);
}

static ecs_result copy_mirror(net_predict* predict) {
    ecs_world* world = net_match_world(predict->match);
    const ecs_world* mirror = net_match_world(predict->mirror);
    if (!predict->game->predict_area) return ecs_world_copy(world, mirror);
    ecs_running_call("predict_area");
    const ecs_result result = ecs_world_copy_area(world, mirror, is_in_area, predict);
    ecs_running_call(NULL);
    return result;
}

// Make the world a copy of the mirror at `tick`, then run the inputs that the server had not used.
static bool restore(net_predict* predict, ecs_tick tick, uint32_t input_used, uint32_t owed) {
    BASE_ASSERT(predict->mirror && input_used <= predict->input_newest);
    if (copy_mirror(predict) != ECS_OK) return false;
    net_match_restored(predict->match);
    predict->tick = tick;
    for (uint32_t i = 0; i < NET_PREDICT_SLOTS; i++)
        predict->slots[i].tick = 0;
    predict->tick_restored = tick;
    predict->is_running = true;
    predict->input_done = input_used;
    predict->settled = input_used;
    predict->owed = owed;
    predict->counters.rollbacks++;
    remember_tick(predict);
    while (predict->input_done < predict->input_newest && has_room(predict)) {
        const net_predict_made* input = input_at(predict, predict->input_done + 1);
        if (!input) break;
        run_input(predict, input);
    }
    return true;
}

static void correct(net_predict* predict, ecs_tick tick, uint32_t input_used, uint32_t owed,
                    bool is_correction) {
    uint64_t now_us = predict->frame_us > predict->input_us ? predict->frame_us : predict->input_us;
    double part = part_at(predict, now_us);
    net_predict_shown_keep(&predict->shown, part);
    if (!restore(predict, tick, input_used, owed)) {
        // After a failure the own entities are shown as they arrive.
        stop_prediction(predict);
        if (!predict->has_failed)
            base_report(&predict->reporter, NULL, 0, "prediction: its world cannot be restored");
        predict->has_failed = true;
        return;
    }
    const double off = net_predict_shown_correct(&predict->shown, part);
    if (!is_correction) return;
    net_predict_counters* counters = &predict->counters;
    counters->corrections++;
    counters->corrections_seen += off > SEEN_CORRECTION;
    if (off > counters->correction_max) counters->correction_max = off;
}

// Of an area: entities that are in it, or come into it.
static bool concerns_any(net_predict* predict, const ecs_entity* entities, uint32_t count) {
    ecs_world* mirror = net_match_world(predict->mirror);
    for (uint32_t i = 0; i < count; i++)
        if (!predict->game->predict_area ||
            ecs_is_alive(net_match_world(predict->match), entities[i]) ||
            (ecs_is_alive(mirror, entities[i]) && is_in_area(mirror, predict, entities[i])))
            return true;
    return false;
}

static bool has_new_structure(net_predict* predict) {
    const ecs_changes changes = ecs_changes_get(net_match_world(predict->mirror));
    return concerns_any(predict, changes.created, changes.created_count) ||
           concerns_any(predict, changes.destroyed, changes.destroyed_count) ||
           concerns_any(predict, changes.recreated, changes.recreated_count);
}

void net_predict_state(net_predict* predict, ecs_tick tick, uint32_t input_used,
                       uint32_t input_repeats, bool has_row) {
    if (predict->has_failed || !predict->mirror || tick < predict->tick_state) return;
    predict->tick_state = tick;
    if (predict->player == ECS_ENTITY_NONE ||
        !ecs_is_alive(net_match_world(predict->mirror), predict->player) ||
        input_used > predict->input_newest ||
        predict->input_newest - input_used > NET_PREDICT_TICKS_MAX) {
        stop_prediction(predict);
        return;
    }
    // To restore a row that is older than the tick would be a step back.
    if (!has_row) {
        look_at_mirror(predict);
        return;
    }
    const net_predict_slot* one = slot_at(predict, tick);
    bool is_known = predict->is_running && one->tick == tick;
    bool is_on_time = is_known && one->input == input_used && one->owed == input_repeats;
    const net_predict_slot* compared = is_on_time ? one : slot_of_input(predict, input_used);
    bool is_wrong = predict->is_running && compared && !rows_match(predict, compared);
    bool is_due = tick >= predict->tick_restored + NET_PREDICT_REFRESH_TICKS;
    if (!is_on_time || is_wrong || is_due || has_new_structure(predict))
        correct(predict, tick, input_used, input_repeats, is_wrong);
    if (predict->is_running) look_at_mirror(predict);
    BASE_VALIDATE((net_predict_validate(predict), true));
}

void net_predict_validate(const net_predict* predict) {
    for (uint32_t i = 0; i < NET_PREDICT_SLOTS; i++) {
        const net_predict_slot* one = &predict->slots[i];
        BASE_ASSERT(one->word_count <= one->word_capacity &&
                    one->row_count <= NET_PREDICT_ROWS_MAX);
        if (one->tick == 0) continue;
        BASE_ASSERT(predict->is_running && one->tick % NET_PREDICT_SLOTS == i);
        BASE_ASSERT(one->tick >= predict->tick_restored && one->tick <= predict->tick);
        for (uint32_t r = 0; r < one->row_count; r++) {
            uint32_t words = one->rows[r].entry->layout.field_count;
            BASE_ASSERT(one->rows[r].first + words <= one->word_count);
        }
    }
    if (!predict->is_running) return;
    BASE_ASSERT(predict->input_done <= predict->input_newest);
    BASE_ASSERT(predict->tick <= predict->tick_state + NET_PREDICT_TICKS_MAX);
    BASE_ASSERT(predict->shown.entity_count <= NET_PREDICTED_MAX);
}

// ---- showing ----

void net_predict_frame(net_predict* predict, uint64_t now_us) {
    BASE_ASSERT(predict->shown.entity_count <= NET_PREDICTED_MAX);
    if (predict->frame_us > 0 && now_us > predict->frame_us) {
        double step_us = (double)(now_us - predict->frame_us);
        net_predict_shown_decay(&predict->shown, step_us * 1e-3);
        predict->frame_step_us += (step_us - predict->frame_step_us) / 8.0;
    }
    predict->frame_us = now_us;
}

const net_predicted* net_predict_entities(const net_predict* predict, uint32_t* count) {
    *count = predict->is_running ? predict->shown.entity_count : 0;
    return predict->shown.entities;
}

bool net_predict_value(const net_predict* predict, ecs_entity entity, ecs_component_id component,
                       float weight, void* value) {
    if (!predict->is_running) return false;
    return net_predict_shown_value(&predict->shown, net_match_world(predict->match), entity,
                                   component, part_at(predict, predict->frame_us), weight, value);
}

ecs_tick net_predict_tick(const net_predict* predict) {
    return predict->is_running ? predict->tick : 0;
}
