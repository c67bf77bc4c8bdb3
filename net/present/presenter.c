// SPDX-License-Identifier: MIT
// The presenter: a clock (playout.c), the entities shown at its moment (scene.c), and over it the
// own entities as predicted (predict.c).
//
// The scene knows nothing of prediction. Each frame the presenter names the entities that it wrote
// over; the scene puts them back where they are interpolated, and the predicted values are blended
// over that by weight. So an entity that leaves prediction is interpolated again at once.
//
// The view's world runs the module's systems for drawing and for clients ("gameClient"). Events
// that those send to the server are dropped here, because the mirror's world sends them.
#include "present/presenter.h"

#include "present/playout.h"

#include "base/assert.h"
#include "base/float_mode.h"

struct net_presenter {
    const net_presenter_face* face; // first
    const base_allocator* allocator;
    base_reporter reporter;
    net_match* match; // the view
    net_scene* scene;
    net_predict* predict; // NULL: nothing is predicted
    double delay_ms_min;
    net_playout playout;
    ecs_tick tick_first; // of any packet
    bool is_begun;
    bool has_failed;                       // reported: nothing can be shown any more
    uint32_t stage;                        // "render"
    ecs_entity covered[NET_PREDICTED_MAX]; // written over in the last frame
    uint32_t covered_count;
    uint64_t frames;
    _Alignas(16) uint8_t block[NET_BLOCK_BYTES_MAX]; // of the game, for the person
};

// ---- what the client feeds ----

static void feed_row(void* context, ecs_entity entity, const net_row_template* entry, ecs_tick tick,
                     const uint64_t* row) {
    net_presenter* presenter = context;
    net_scene_row(presenter->scene, entity, entry, tick, row);
}

static void feed_gone(void* context, ecs_entity entity, ecs_tick tick) {
    net_presenter* presenter = context;
    net_scene_gone(presenter->scene, entity, tick);
}

static net_mirror_sink begin_match(net_presenter* presenter, net_match* mirror) {
    BASE_ASSERT(mirror && net_match_get_config(mirror)->role == NET_ROLE_MIRROR);
    const net_match_config* config = net_match_get_config(mirror);
    net_match_mirror_start(presenter->match, config->tick_rate_hz, config->settings,
                           config->module->game->setting_count, config->names);
    net_playout_init(&presenter->playout, config->tick_rate_hz, presenter->delay_ms_min);
    if (presenter->predict) net_predict_begin(presenter->predict, mirror);
    presenter->is_begun = true;
    return (net_mirror_sink){.context = presenter, .row = feed_row, .gone = feed_gone};
}

static void note_packet(net_presenter* presenter, uint64_t now_us, ecs_tick tick, uint32_t left_out,
                        uint32_t input_used, uint32_t input_repeats, bool has_player_row) {
    if (!presenter->is_begun || tick > NET_SCENE_TICK_MAX) return;
    if (presenter->tick_first == 0) presenter->tick_first = tick;
    net_scene_packet(presenter->scene, tick);
    net_playout_packet(&presenter->playout, now_us, tick, left_out);
    if (presenter->predict)
        net_predict_state(presenter->predict, tick, input_used, input_repeats, has_player_row);
}

static void add_event(net_presenter* presenter, const net_event* event) {
    net_scene_event(presenter->scene, event, event->payload);
}

static void add_varsize(net_presenter* presenter, const net_varsize_message* message) {
    // The scene remembers a failure; net_presenter_frame reports it.
    (void)net_scene_varsize(presenter->scene, message);
}

static bool next_evicted(net_presenter* presenter, net_varsize_lost* lost) {
    return net_varsize_receiver_next_evicted(presenter->scene->varsize, lost);
}

static void set_player(net_presenter* presenter, ecs_entity player) {
    if (presenter->predict) net_predict_player(presenter->predict, player);
}

static void predict_input(net_presenter* presenter, uint64_t now_us, uint32_t number,
                          const void* payload, size_t size) {
    if (presenter->predict && presenter->is_begun)
        net_predict_input(presenter->predict, now_us, number, payload, size);
}

static void* block_of(net_presenter* presenter) {
    return net_match_get_config(presenter->match)->module->game->block_bytes > 0 ? presenter->block
                                                                                 : NULL;
}

static void look_at_predicted(net_presenter* presenter, net_player_context* player) {
    BASE_ASSERT(player);
    player->block = block_of(presenter);
    if (!presenter->predict || net_predict_tick(presenter->predict) == 0) return;
    net_match* predicted = presenter->predict->match;
    player->world = net_match_world(predicted);
    player->context = net_match_context(predicted);
}

static uint64_t shown_moment(const net_presenter* presenter) {
    return (uint64_t)(net_presenter_tick(presenter) * 256.0);
}

static const net_presenter_face presenter_face = {
    .begin = begin_match,
    .packet = note_packet,
    .event = add_event,
    .varsize = add_varsize,
    .next_evicted = next_evicted,
    .player = set_player,
    .input = predict_input,
    .look = look_at_predicted,
    .shown = shown_moment,
};

net_result net_presenter_create(const net_presenter_config* config, const base_reporter* reporter,
                                net_presenter** presenter) {
    BASE_ASSERT(config && config->module && presenter);
    *presenter = NULL;
    net_presenter* made = base_allocate_zero(config->allocator, sizeof *made);
    made->face = &presenter_face;
    made->allocator = config->allocator;
    if (reporter) made->reporter = *reporter;
    made->delay_ms_min = config->delay_ms_min;
    net_match_config match = net_match_config_default(config->module);
    match.allocator = config->allocator;
    match.role = NET_ROLE_MIRROR;
    match.has_render = true;
    match.replicated_index_max = config->replicated_index_max;
    net_result result = net_match_create(&match, reporter, &made->match);
    if (result == NET_OK) made->scene = net_scene_create(config->allocator, made->match);
    if (result == NET_OK && config->is_predicting)
        result = net_predict_create(config->allocator, config->module, reporter, &made->predict);
    if (result != NET_OK) {
        net_presenter_destroy(made);
        return result;
    }
    made->stage = ecs_stage_find(net_match_world(made->match), "render");
    *presenter = made;
    return NET_OK;
}

void net_presenter_destroy(net_presenter* presenter) {
    if (!presenter) return;
    if (presenter->predict) net_predict_destroy(presenter->predict);
    base_owner_destroy(presenter->scene);
    net_match_destroy(presenter->match);
    base_release(presenter->allocator, presenter, sizeof *presenter);
}

// ---- frames ----

static void cover(net_presenter* presenter, const net_predicted* predicted) {
    BASE_ASSERT(presenter->covered_count < NET_PREDICTED_MAX);
    ecs_world* world = net_match_world(presenter->match);
    if (!(predicted->weight > 0) || !ecs_is_alive(world, predicted->entity)) return;
    const ecs_template* template_ =
        ecs_template_get(world, ecs_entity_template(world, predicted->entity));
    bool is_covered = false;
    for (uint32_t i = 0; i < template_->component_count; i++) {
        const ecs_template_component* component = &template_->components[i];
        if (!(component->flags & ECS_COMPONENT_INTERPOLATED)) continue;
        const ecs_component_id id = component->component;
        is_covered |=
            ecs_find(world, predicted->entity, id) &&
            net_predict_value(presenter->predict, predicted->entity, id, predicted->weight,
                              ecs_get_mut(world, predicted->entity, id));
    }
    if (is_covered) presenter->covered[presenter->covered_count++] = predicted->entity;
}

bool net_presenter_frame(net_presenter* presenter, uint64_t now_us) {
    BASE_FLOAT_MODE_HELD const base_float_mode host = base_float_mode_set();
    if (!presenter->is_begun || !net_playout_advance(&presenter->playout, now_us)) return false;
    double tick = presenter->playout.shown;
    if (tick < (double)presenter->tick_first) return false;
    presenter->frames++;
    for (uint32_t i = 0; i < presenter->covered_count; i++)
        net_scene_touch(presenter->scene, presenter->covered[i]);
    presenter->covered_count = 0;
    net_result result = net_scene_advance(presenter->scene, tick);
    if (result != NET_OK) {
        if (!presenter->has_failed)
            base_report(&presenter->reporter, NULL, 0, "nothing can be shown any more: %s",
                        net_result_text(result));
        presenter->has_failed = true;
        return false;
    }
    if (!presenter->predict) return true;
    net_predict_frame(presenter->predict, now_us);
    uint32_t count;
    const net_predicted* predicted = net_predict_entities(presenter->predict, &count);
    for (uint32_t i = 0; i < count && i < NET_PREDICTED_MAX; i++)
        cover(presenter, &predicted[i]);
    return true;
}

void net_presenter_draw(net_presenter* presenter, const net_draw* draw) {
    BASE_ASSERT(draw);
    if (presenter->stage == UINT32_MAX) return;
    net_draw shown = *draw; // net_draw_camera changes it
    shown.block = block_of(presenter);
    const ecs_step step = {
        .tick = (ecs_tick)net_presenter_tick(presenter),
        .dt = net_match_dt(presenter->match),
        .user = &shown, // systems know it as const
    };
    ecs_world_run_stage(net_match_world(presenter->match), presenter->stage, &step);
}

net_scene* net_presenter_scene(net_presenter* presenter) {
    return presenter->scene;
}

net_predict* net_presenter_predict(net_presenter* presenter) {
    return presenter->predict;
}

net_match* net_presenter_match(net_presenter* presenter) {
    return presenter->match;
}

double net_presenter_tick(const net_presenter* presenter) {
    return presenter->scene->shown;
}

void net_presenter_get_meter(const net_presenter* presenter, net_presenter_meter* meter) {
    const net_scene_counters* scene = &presenter->scene->counters;
    *meter = (net_presenter_meter){
        .delay_ms = net_playout_delay_ms(&presenter->playout),
        .frames = presenter->frames,
        .stalls = scene->stalls,
        .stalled_ms = (uint64_t)scene->stalled_ms,
        .teleports = scene->teleports,
        .samples = scene->samples,
        .samples_late = scene->samples_late,
    };
    if (!presenter->predict) return;
    ecs_tick ahead = net_predict_tick(presenter->predict);
    ecs_tick newest = presenter->scene->newest;
    if (ahead > newest)
        meter->lead_ms = (double)(ahead - newest) * 1000.0 * (double)net_match_dt(presenter->match);
    const net_predict_counters* predict = &presenter->predict->counters;
    meter->rollbacks = predict->rollbacks;
    meter->corrections = predict->corrections;
    meter->corrections_seen = predict->corrections_seen;
    meter->correction_max = predict->correction_max;
}
