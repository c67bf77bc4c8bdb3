// SPDX-License-Identifier: MIT
// From events to sounds.
//
// The view's world delivers each event when its moment is shown, and once: prediction has a world
// of its own, without this handler. So the picture and the sound of an event come together. Where
// it happened is read at once, because its target may be gone a moment later; how loud that is for
// the player is decided when the sounds are taken.
#include "game/match.h"

#include "base/math.h"
#include "base/text.h"

#include <string.h>

typedef struct call {
    uint32_t sound;
    bool has_place;
    float place[3];
} call;

struct net_sounds {
    const net_game_module* game;
    ecs_world* world;
    ecs_component_id position; // of the interest rules; 0: there is none
    uint32_t dimensions;       // of the position
    ecs_event_type events[NET_SOUNDS_MAX];
    call calls[NET_HEARD_MAX];
    uint32_t call_count;
    net_heard heard[NET_HEARD_MAX];
    bool has_listener;
    float listener[3]; // where the own entity was last
};

static bool find_place(const net_sounds* sounds, ecs_entity entity, float place[3]) {
    const void* value = sounds->position && entity != ECS_ENTITY_NONE
                            ? ecs_find(sounds->world, entity, sounds->position)
                            : NULL;
    memset(place, 0, 3 * sizeof *place);
    if (value) memcpy(place, value, sounds->dimensions * sizeof *place);
    return value != NULL;
}

static void note(const ecs_stage* stage, const ecs_event* event, const ecs_rows* rows) {
    net_sounds* sounds = stage->context;
    (void)rows;
    if (sounds->call_count == NET_HEARD_MAX) return;
    for (uint32_t i = 0; i < sounds->game->sound_count; i++) {
        if (sounds->events[i] != event->type) continue;
        call* made = &sounds->calls[sounds->call_count++];
        made->sound = i;
        made->has_place = find_place(sounds, event->target, made->place);
        return;
    }
}

static net_result refuse_sound(const base_reporter* reporter, ecs_world* world,
                               const net_sound* sound) {
    char hint[BASE_HINT_BYTES];
    base_nearest nearest = base_nearest_begin(sound->event);
    for (uint32_t type = 1; type <= ecs_event_count(world); type++)
        base_nearest_offer(&nearest, ecs_event_get(world, (ecs_event_type)type)->name);
    base_report(reporter, NULL, 0,
                "the sound %s is of event %s, which the game does not register: correct the name%s",
                sound->file, sound->event, base_nearest_hint(&nearest, hint));
    return NET_ERR_MODULE;
}

static net_result refuse_reach(const base_reporter* reporter, const net_sound* sound) {
    base_report(reporter, NULL, 0,
                "the sound of event %s fades with the distance, but the game's interest rules name "
                "no position: give it reach 0, or the game a position",
                sound->event);
    return NET_ERR_MODULE;
}

static net_result listen(net_sounds* sounds, const base_reporter* reporter) {
    const char* names[NET_SOUNDS_MAX];
    const char* position = sounds->game->interest ? sounds->game->interest->position : NULL;
    if (position) sounds->position = ecs_component_find(sounds->world, position);
    if (sounds->position) {
        const ecs_component* component = ecs_component_get(sounds->world, sounds->position);
        const size_t size = ecs_type_get(sounds->world, component->type)->size;
        sounds->dimensions = size >= 3 * sizeof(float) ? 3 : 2;
    }
    for (uint32_t i = 0; i < sounds->game->sound_count; i++) {
        names[i] = sounds->game->sounds[i].event;
        sounds->events[i] = ecs_event_find(sounds->world, names[i]);
    }
    const ecs_system_desc handler = {.name = "net_note_sounds",
                                     .events = names,
                                     .event_count = sounds->game->sound_count,
                                     .on_event = note,
                                     .context = sounds};
    const ecs_result result = ecs_system_register(sounds->world, &handler);
    if (!result) return NET_OK;
    base_report(reporter, NULL, 0, "the handler of sounds: %s", ecs_result_text(result));
    return NET_ERR_MODULE;
}

net_result net_sounds_create(const base_allocator* allocator, const net_game_module* game,
                             ecs_world* world, bool is_drawn, const base_reporter* reporter,
                             net_sounds** sounds) {
    *sounds = NULL;
    for (uint32_t i = 0; i < game->sound_count; i++) {
        const net_sound* sound = &game->sounds[i];
        if (ecs_event_find(world, sound->event) == ECS_EVENT_NONE)
            return refuse_sound(reporter, world, sound);
        if (sound->reach > 0.0f && !(game->interest && game->interest->position))
            return refuse_reach(reporter, sound);
    }
    if (!is_drawn || game->sound_count == 0) return NET_OK;
    *sounds = base_allocate_zero(allocator, sizeof **sounds);
    (*sounds)->game = game;
    (*sounds)->world = world;
    return listen(*sounds, reporter);
}

// Full where the listener is, nothing from `reach` on, and falling fast between them.
static float volume_at(const net_sounds* sounds, const net_sound* sound, const float place[3]) {
    float squared = 0.0f;
    for (uint32_t i = 0; i < 3; i++) {
        const float away = place[i] - sounds->listener[i];
        squared += away * away;
    }
    const float left = 1.0f - base_sqrt(squared) / sound->reach;
    return left > 0.0f ? sound->volume * left * left : 0.0f;
}

uint32_t net_match_hear(net_match* match, ecs_entity listener, const net_heard** heard) {
    net_sounds* sounds = match->sounds;
    *heard = NULL;
    if (!sounds) return 0;
    float place[3];
    uint32_t count = 0;
    if (sounds->call_count > 0 && find_place(sounds, listener, place)) {
        memcpy(sounds->listener, place, sizeof place);
        sounds->has_listener = true;
    }
    for (uint32_t i = 0; i < sounds->call_count; i++) {
        const net_sound* sound = &sounds->game->sounds[sounds->calls[i].sound];
        float volume = sound->volume;
        if (sound->reach > 0.0f && sounds->calls[i].has_place && sounds->has_listener)
            volume = volume_at(sounds, sound, sounds->calls[i].place);
        if (volume > 0.0f)
            sounds->heard[count++] = (net_heard){.sound = sounds->calls[i].sound, .volume = volume};
    }
    sounds->call_count = 0;
    *heard = sounds->heard;
    return count;
}
