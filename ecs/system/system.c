// SPDX-License-Identifier: MIT
// The register of systems.
//
// A system is a copied description. Its names are resolved once: its query when it is registered,
// its events, stages and neighbours when the world is sealed. After that a stage is
// an array of indices and an event type has an array of handlers.
//
// Systems that lack a tag are kept: their names may be in the before and after of others, which
// is no error in a world without those tags.
#include "base/assert.h"
#include "base/hash.h"
#include "ecs/inspect.h"
#include "ecs/template.h"
#include "event/systems.h"
#include "event/event_queue.h"
#include "system/system_registry.h"
#include "table/query_cache.h"
#include "table/track.h"
#include "type/type_registry.h"
#include "type/world.h"

#include <string.h>

void ecs_systems_init(ecs_world* world) {
    ecs_systems* systems = world->systems;
    memcpy(systems->stages[0].name, "act", sizeof("act"));
    systems->stage_count = 1;
}

static bool has_name(const ecs_names* names, const char* name) {
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0) return true;
    return false;
}

static bool name_fits(const char* name) {
    BASE_ASSERT(name);
    return strlen(name) < ECS_NAME_BYTES_MAX;
}

static ecs_result copy_names(const ecs_world* world, ecs_names* target, const char* const* names,
                             uint32_t count) {
    if (count == 0) return ECS_OK;
    target->names = base_allocate_zero(world->allocator, (size_t)count * ECS_NAME_BYTES_MAX);
    target->count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (!name_fits(names[i])) return ECS_ERR_FULL;
        memcpy(target->names[i], names[i], strlen(names[i]));
    }
    return ECS_OK;
}

static bool is_tag(const ecs_world* world, const char* tag, size_t length) {
    for (uint32_t i = 0; i < world->tag_count; i++)
        if (strlen(world->tags[i]) == length && memcmp(world->tags[i], tag, length) == 0)
            return true;
    return false;
}

// "server|predict": one of them is enough. Spaces around names do not count.
static bool has_either(const ecs_world* world, const char* tags) {
    for (;;) {
        tags += strspn(tags, " ");
        size_t length = strcspn(tags, "|");
        const char* next = tags + length;
        while (length > 0 && tags[length - 1] == ' ')
            length--;
        if (is_tag(world, tags, length)) return true;
        if (*next == '\0') return false;
        tags = next + 1;
    }
}

static bool has_tags(const ecs_world* world, const ecs_system_desc* desc) {
    for (uint32_t i = 0; i < desc->tag_count; i++)
        if (!has_either(world, desc->tags[i])) return false;
    return true;
}

static uint32_t stage_index(const ecs_systems* systems, const char* name) {
    for (uint32_t i = 0; i < systems->stage_count; i++)
        if (strcmp(systems->stages[i].name, name) == 0) return i;
    return UINT32_MAX;
}

// A stage is made when the first system names it. UINT32_MAX when there are too many.
static uint32_t stage_ensure(ecs_systems* systems, const char* name) {
    uint32_t index = stage_index(systems, name);
    if (index == UINT32_MAX && systems->stage_count < ECS_STAGES_MAX && name_fits(name)) {
        index = systems->stage_count++;
        memcpy(systems->stages[index].name, name, strlen(name) + 1);
    }
    return index;
}

static ecs_result fill_system(ecs_world* world, ecs_system* system, const ecs_system_desc* desc) {
    BASE_ASSERT(strlen(desc->name) < ECS_NAME_BYTES_MAX);
    memcpy(system->name, desc->name, strlen(desc->name));
    system->run = desc->run;
    system->on_event = desc->on_event;
    system->on_events = desc->on_events;
    system->context = desc->context;
    system->stage = UINT32_MAX;
    system->every_ticks = desc->every_ticks > 0 ? desc->every_ticks : 1;
    system->quantum = desc->quantum;
    system->is_confined = desc->is_confined;
    system->name_hash = base_hash64_text(system->name);
    system->on_enter = desc->on_enter;
    system->on_leave = desc->on_leave;
    system->first_update = desc->first_update;
    system->is_present = has_tags(world, desc);
    const struct {
        ecs_names* target;
        const char* const* names;
        uint32_t count;
    } lists[] = {{&system->before, desc->before, desc->before_count},
                 {&system->after, desc->after, desc->after_count},
                 {&system->events, desc->events, desc->event_count},
                 {&system->track, desc->track, desc->track_count},
                 {&system->reads, desc->reads, desc->read_count},
                 {&system->writes, desc->writes, desc->write_count}};
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < BASE_COUNT(lists) && result == ECS_OK; i++)
        result = copy_names(world, lists[i].target, lists[i].names, lists[i].count);
    // The query comes last but for the stage: nothing may fail after it, since it lives on with the
    // world.
    if (result == ECS_OK && desc->stage && stage_ensure(world->systems, desc->stage) == UINT32_MAX)
        result = ECS_ERR_FULL;
    if (result == ECS_OK && system->is_present && desc->term_count > 0)
        result = ecs_query_create(world, desc->terms, desc->term_count, &system->query);
    if (result == ECS_OK && system->query) system->query->owner = system->name;
    if (result == ECS_OK && desc->stage) system->stage = stage_index(world->systems, desc->stage);
    return result;
}

static bool has_member_calls(const ecs_system_desc* desc) {
    return desc->on_enter || desc->on_leave || desc->first_update;
}

static ecs_result add_system(ecs_world* world, const ecs_system_desc* desc, ecs_system** made) {
    ecs_systems* systems = world->systems;
    if (world->is_sealed) return ECS_ERR_SEALED;
    if (ecs_system_index(world, desc->name) != UINT32_MAX) return ECS_ERR_DUPLICATE;
    if (systems->count >= ECS_SYSTEMS_MAX) return ECS_FULL(world, ECS_SYSTEMS_MAX);
    if (!name_fits(desc->name)) return ECS_FULL(world, ECS_NAME_BYTES_MAX);
    ecs_system* system = base_allocate_zero(world->allocator, sizeof(ecs_system));
    BASE_ARRAY_RESERVE(world->allocator, systems->list, systems->capacity, systems->count + 1);
    ecs_result result = fill_system(world, system, desc);
    if (result != ECS_OK) return result; // what it has goes back with the world
    systems->list[systems->count++] = system;
    *made = system;
    return ECS_OK;
}

ecs_result ecs_system_register(ecs_world* world, const ecs_system_desc* desc) {
    BASE_ASSERT(world && desc && desc->name);
    BASE_ASSERT(!desc->stage == !(desc->run || has_member_calls(desc)));
    BASE_ASSERT(!desc->on_event == (desc->event_count == 0 && desc->track_count == 0));
    BASE_ASSERT(desc->stage || desc->on_event);
    BASE_ASSERT(!desc->on_events || desc->on_event);
    BASE_ASSERT(!has_member_calls(desc) || desc->term_count > 0);
    BASE_ASSERT(desc->is_confined || (desc->read_count == 0 && desc->write_count == 0));
    ecs_system* system = NULL;
    ecs_result result = add_system(world, desc, &system);
    if (result == ECS_OK && system->is_present && has_member_calls(desc)) {
        system->has_members = true;
        world->systems->member_systems++;
    }
    return result;
}

ecs_result ecs_sync_point_register(ecs_world* world, const char* stage, const char* name) {
    BASE_ASSERT(world && stage && name);
    const ecs_system_desc desc = {.name = name, .stage = stage};
    ecs_system* system = NULL;
    ecs_result result = add_system(world, &desc, &system);
    if (result == ECS_OK) system->is_sync_point = true;
    return result;
}

ecs_result ecs_order_set(ecs_world* world, const char* stage, const char* const* names,
                         uint32_t count, const base_reporter* reporter) {
    BASE_ASSERT(world && stage && (names || count == 0));
    if (world->is_sealed) return ECS_ERR_SEALED;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(names[i], names[k]) == 0)
                return BASE_REPORT_AS(ECS_ERR_DUPLICATE, reporter, NULL, 0,
                                      "the order of stage '%.63s' names '%.63s' twice", stage,
                                      names[i]);
        }
    }
    ecs_names list = {0};
    ecs_result result =
        count > ECS_SYSTEMS_MAX ? ECS_ERR_FULL : copy_names(world, &list, names, count);
    uint32_t index = result == ECS_OK ? stage_ensure(world->systems, stage) : UINT32_MAX;
    if (index == UINT32_MAX) return result == ECS_OK ? ECS_ERR_FULL : result;
    world->systems->stages[index].explicit_order = list;
    return ECS_OK;
}

uint32_t ecs_stage_find(ecs_world* world, const char* name) {
    world->counters.name_lookups++;
    return stage_index(world->systems, name);
}

const char* ecs_stage_name(const ecs_world* world, uint32_t stage) {
    return stage < world->systems->stage_count ? world->systems->stages[stage].name : NULL;
}

// The system at a position of a stage; NULL past the end.
static const ecs_system* system_at(const ecs_world* world, uint32_t stage, uint32_t position) {
    const ecs_systems* systems = world->systems;
    if (stage >= systems->stage_count || position >= systems->stages[stage].order.count)
        return NULL;
    return systems->list[systems->stages[stage].order.systems[position]];
}

static bool may_share(const ecs_system* system) {
    return system->quantum > 0 && !system->query && system->run;
}

bool ecs_stage_system_info(const ecs_world* world, uint32_t stage, uint32_t position,
                           ecs_system_info* info) {
    const ecs_system* system = system_at(world, stage, position);
    if (!system) return false;
    *info = (ecs_system_info){.name = system->name,
                              .every_ticks = system->every_ticks,
                              .quantum = system->quantum,
                              .wave = world->systems->stages[stage].waves[position],
                              .is_sync_point = system->is_sync_point,
                              .is_confined = system->is_confined,
                              .may_cut = system->declared.may_cut,
                              .may_share = may_share(system)};
    return true;
}

const char* ecs_stage_system_name(const ecs_world* world, uint32_t stage, uint32_t position) {
    const ecs_system* system = system_at(world, stage, position);
    return system ? system->name : NULL;
}

uint32_t ecs_world_threads_max(const ecs_world* world) {
    uint32_t most = 1;
    for (uint32_t s = 0; s < world->systems->stage_count; s++) {
        const ecs_stage_info* stage = &world->systems->stages[s];
        for (uint32_t i = 0, sum = 0; i < stage->order.count; i++) {
            const ecs_system* system = world->systems->list[stage->order.systems[i]];
            if (i == 0 || stage->waves[i] != stage->waves[i - 1]) sum = 0;
            const bool is_many = system->declared.may_cut || may_share(system);
            if (!system->is_sync_point) sum += is_many ? ECS_RANGES_MAX : 1;
            if (sum > most) most = sum;
        }
    }
    return most < BASE_WORKERS_MAX ? most : BASE_WORKERS_MAX;
}

// Does one of them name the other, or an explicit order both?
static bool are_ordered(const ecs_world* world, const ecs_system* a, const ecs_system* b) {
    for (uint32_t i = 0; i < world->systems->stage_count; i++) {
        const ecs_names* names = &world->systems->stages[i].explicit_order;
        if (has_name(names, a->name) && has_name(names, b->name)) return true;
    }
    return has_name(&a->before, b->name) || has_name(&a->after, b->name) ||
           has_name(&b->before, a->name) || has_name(&b->after, a->name);
}

ecs_conflict ecs_stage_conflict(const ecs_world* world, uint32_t stage, uint32_t first,
                                uint32_t second) {
    const ecs_conflict none = {ECS_CONFLICT_NONE, NULL, NULL};
    const ecs_system* a = system_at(world, stage, first);
    const ecs_system* b = system_at(world, stage, second);
    if (!a || !b || a->is_sync_point || b->is_sync_point) return none;
    if (a != b && are_ordered(world, a, b)) return (ecs_conflict){ECS_CONFLICT_ORDER, NULL, NULL};
    return ecs_declared_conflict(world, a, b);
}

// Seal of the register of systems: names become lists of indices.
//
// Each stage gets the order of its systems, each event type its handlers in order, each handler of
// changes the set of components that it handles. Sync points take part in both sorts, so a
// constraint against a sync point holds for systems and handlers.
//
// A seal that failed drops what it made and may be tried again after more was registered.

static void order_push(const ecs_world* world, ecs_system_order* order, uint32_t system) {
    BASE_ASSERT(system < world->systems->count);
    BASE_ARRAY_RESERVE(world->allocator, order->systems, order->capacity, order->count + 1);
    order->systems[order->count++] = system;
}

static ecs_result seal_stages(ecs_world* world, const base_reporter* reporter) {
    ecs_systems* systems = world->systems;
    ecs_result result = ECS_OK;
    for (uint32_t i = 0; i < systems->count; i++) {
        const ecs_system* system = systems->list[i];
        if (system->is_present && system->stage != UINT32_MAX)
            order_push(world, &systems->stages[system->stage].order, i);
    }
    for (uint32_t i = 0; i < systems->stage_count && result == ECS_OK; i++) {
        result = ecs_order_sort(world, reporter, &systems->stages[i].order);
        if (result == ECS_OK) ecs_waves_seal(world, &systems->stages[i]);
    }
    return result;
}

// Shortcuts stand for the events that they are named after.
static ecs_event_type event_of(ecs_world* world, const char* name) {
    if (strcmp(name, "on_appear") == 0) return ECS_EVENT_APPEAR;
    return strcmp(name, "on_disappear") == 0 ? ECS_EVENT_DISAPPEAR : ecs_event_find(world, name);
}

// One handler joins the list of each of its events, once even when it names an event twice.
static ecs_result bind_handler(ecs_world* world, const base_reporter* reporter, uint32_t index) {
    BASE_ASSERT(index < world->systems->count);
    ecs_systems* systems = world->systems;
    const ecs_system* system = systems->list[index];
    for (uint32_t i = 0; i <= system->events.count; i++) {
        bool is_last = i == system->events.count; // who tracks handles one more
        if (is_last && system->track.count == 0) break;
        ecs_event_type type =
            is_last ? ECS_EVENT_CHANGED : event_of(world, system->events.names[i]);
        if (type == ECS_EVENT_NONE) {
            char hint[BASE_HINT_BYTES];
            base_report(reporter, NULL, 0,
                        "system '%s' handles event '%s', which is not registered%s", system->name,
                        system->events.names[i],
                        ecs_event_hint(world, system->events.names[i], hint));
            return ECS_ERR_UNKNOWN;
        }
        ecs_system_order* list = &systems->handlers[type];
        if (list->count > 0 && list->systems[list->count - 1] == index) continue;
        order_push(world, list, index);
    }
    return ECS_OK;
}

static void track_component(ecs_world* world, ecs_system* system, ecs_component_id component) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE && component <= ECS_COMPONENTS_MAX);
    uint64_t bit = 1ull << (component % 64);
    system->tracked.words[component / 64] |= bit;
    world->tracker->watched.words[component / 64] |= bit;
}

// What each handler of ComponentChanged handles: the components that it tracks, or else those of
// its terms.
static ecs_result seal_tracks(ecs_world* world, const base_reporter* reporter) {
    ecs_systems* systems = world->systems;
    const ecs_system_order* handlers = &systems->handlers[ECS_EVENT_CHANGED];
    for (uint32_t i = 0; i < handlers->count; i++) {
        ecs_system* system = systems->list[handlers->systems[i]];
        const ecs_query* query = system->query;
        uint32_t term_count = system->track.count > 0 || !query ? 0 : query->term_count;
        for (uint32_t k = 0; k < term_count; k++)
            if (query->access[k] != ECS_REQUIRE_NOT && query->access[k] != ECS_ONLY &&
                query->components[k] != ECS_COMPONENT_NONE)
                track_component(world, system, query->components[k]);
        for (uint32_t k = 0; k < system->track.count; k++) {
            ecs_component_id component = ecs_component_find(world, system->track.names[k]);
            if (component == ECS_COMPONENT_NONE) {
                char hint[BASE_HINT_BYTES];
                const char* name = system->track.names[k];
                base_report(reporter, NULL, 0,
                            "system '%s' tracks '%s', but no template or module has a component "
                            "of that name%s",
                            system->name, name, ecs_component_hint(world, name, hint));
                return ECS_ERR_UNKNOWN;
            }
            track_component(world, system, component);
        }
        if (term_count == 0 && system->track.count == 0)
            return BASE_REPORT_AS(ECS_ERR_UNKNOWN, reporter, NULL, 0,
                                  "system '%s' handles ComponentChanged, but names no component",
                                  system->name);
    }
    return ECS_OK;
}

static ecs_result seal_handlers(ecs_world* world, const base_reporter* reporter) {
    ecs_systems* systems = world->systems;
    ecs_system_order all = {0};
    for (uint32_t i = 0; i < systems->count; i++) {
        const ecs_system* system = systems->list[i];
        if (system->is_present && (system->on_event || system->is_sync_point))
            order_push(world, &all, i);
    }
    ecs_result result = ecs_order_sort(world, reporter, &all);
    for (uint32_t i = 0; i < all.count && result == ECS_OK; i++)
        result = bind_handler(world, reporter, all.systems[i]);
    BASE_ARRAY_RELEASE(world->allocator, all.systems, all.capacity);
    return result;
}

// A seal that failed may be tried again after more was registered.
static void forget_orders(ecs_world* world) {
    ecs_systems* systems = world->systems;
    for (uint32_t i = 0; i < systems->stage_count; i++)
        systems->stages[i].order.count = 0;
    for (uint32_t i = 0; i < ECS_HANDLER_LISTS; i++)
        systems->handlers[i].count = 0;
    for (uint32_t i = 0; i < systems->count; i++)
        systems->list[i]->tracked = (ecs_component_set){0};
    world->tracker->watched = (ecs_component_set){0};
}

ecs_result ecs_systems_seal(ecs_world* world, const base_reporter* reporter) {
    BASE_ASSERT(!world->is_sealed);
    forget_orders(world);
    ecs_result result = ecs_order_check_names(world, reporter);
    if (result == ECS_OK) result = ecs_declared_seal(world, reporter);
    if (result == ECS_OK) result = seal_stages(world, reporter);
    if (result == ECS_OK) result = seal_handlers(world, reporter);
    if (result == ECS_OK) result = seal_tracks(world, reporter);
    if (result == ECS_OK && world->systems->handlers[ECS_EVENT_ORDER_SET].count > 0 &&
        !ecs_event_post(world, ECS_ENTITY_NONE, ECS_EVENT_ORDER_SET, NULL))
        result = ECS_ERR_FULL;
    return result;
}

// Questions of tools about systems: linear walks over what was registered.

bool ecs_inspect_handler(const ecs_world* world, ecs_event_type type, ecs_user* user) {
    BASE_ASSERT(type != ECS_EVENT_NONE && type <= ECS_EVENT_TYPES_MAX);
    const ecs_system_order* handlers = &world->systems->handlers[type];
    if (user->next >= handlers->count) return false;
    user->name = world->systems->list[handlers->systems[user->next++]]->name;
    return true;
}

static bool is_access(ecs_access access, ecs_use use) {
    if (use == ECS_USE_WRITE) return ecs_access_is_write(access);
    return access == ECS_READ || access == ECS_OPTIONAL_READ;
}

static bool is_user(const ecs_world* world, const ecs_system* system, ecs_component_id component,
                    ecs_use use) {
    const ecs_query* query = system->query;
    for (uint32_t i = 0; query && i < query->term_count; i++)
        if (query->components[i] == component && is_access(query->access[i], use)) return true;
    const char* name = ecs_component_get(world, component)->name;
    return has_name(use == ECS_USE_WRITE ? &system->writes : &system->reads, name);
}

bool ecs_inspect_user(const ecs_world* world, ecs_component_id component, ecs_use use,
                      ecs_user* user) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE);
    while (user->next < world->systems->count) {
        const ecs_system* system = world->systems->list[user->next++];
        if (!system->is_present || system->is_sync_point) continue;
        if (!is_user(world, system, component, use)) continue;
        user->name = system->name;
        return true;
    }
    return false;
}

static const ecs_system* find_present(const ecs_world* world, const char* name) {
    const uint32_t index = ecs_system_index(world, name);
    if (index == UINT32_MAX) return NULL;
    const ecs_system* system = world->systems->list[index];
    return system->is_present && !system->is_sync_point ? system : NULL;
}

static bool next_name(const ecs_names* names, uint32_t first, ecs_user* user) {
    if (user->next - first >= names->count) return false;
    user->name = names->names[user->next++ - first];
    return true;
}

// `next` counts terms, then names.
bool ecs_inspect_use(const ecs_world* world, const char* name, ecs_use use, ecs_user* user) {
    const ecs_system* system = find_present(world, name);
    if (!system) return false;
    const uint32_t terms = system->query ? system->query->term_count : 0;
    while (user->next < terms) {
        const uint32_t term = user->next++;
        const ecs_component_id id = system->query->components[term];
        if (id == ECS_COMPONENT_NONE || !is_access(system->query->access[term], use)) continue;
        user->name = ecs_component_get(world, id)->name;
        return true;
    }
    return next_name(use == ECS_USE_WRITE ? &system->writes : &system->reads, terms, user);
}

bool ecs_inspect_event(const ecs_world* world, const char* name, ecs_user* user) {
    const ecs_system* system = find_present(world, name);
    return system && next_name(&system->events, 0, user);
}

void ecs_inspect_after(ecs_world* world, ecs_after_fn after, void* context) {
    BASE_ASSERT(world->is_sealed && world->fast.stage_depth == 0);
    world->systems->after = after;
    world->systems->after_context = context;
}

void ecs_inspect_times(ecs_world* world, ecs_clock_fn clock) {
    BASE_ASSERT(world->is_sealed && world->fast.stage_depth == 0);
    world->systems->clock = clock;
    for (uint32_t i = 0; i < world->systems->count; i++)
        world->systems->list[i]->times = (ecs_system_times){0};
}

bool ecs_inspect_system_times(const ecs_world* world, uint32_t stage, uint32_t position,
                              ecs_system_times* times) {
    const ecs_system* system = system_at(world, stage, position);
    if (system) *times = system->times;
    return system;
}

bool ecs_inspect_system(const ecs_world* world, ecs_user* user, bool* is_present) {
    while (user->next < world->systems->count) {
        const ecs_system* system = world->systems->list[user->next++];
        if (system->is_sync_point) continue;
        user->name = system->name;
        *is_present = system->is_present;
        return true;
    }
    return false;
}

bool ecs_inspect_rows(const ecs_world* world, ecs_user* user, bool* has_had) {
    while (user->next < world->systems->count) {
        const ecs_system* system = world->systems->list[user->next++];
        const bool has_rows = (system->run && system->query) || system->on_event;
        if (!system->is_present || !has_rows) continue;
        user->name = system->name;
        *has_had = system->has_had_rows;
        return true;
    }
    return false;
}

bool ecs_inspect_optional(const ecs_world* world, ecs_user* user, const char** component,
                          bool* is_excluded) {
    // `next` counts terms, as if each system had as many as one can have.
    for (; user->next / ECS_QUERY_TERMS_MAX < world->systems->count; user->next++) {
        const ecs_system* system = world->systems->list[user->next / ECS_QUERY_TERMS_MAX];
        const uint32_t term = user->next % ECS_QUERY_TERMS_MAX;
        const ecs_query* query = system->query;
        if (!system->is_present || !query || term >= query->term_count) continue;
        const ecs_access access = query->access[term];
        *is_excluded = access == ECS_REQUIRE_NOT;
        if ((access != ECS_OPTIONAL_READ && access != ECS_OPTIONAL_WRITE && !*is_excluded) ||
            query->components[term] != ECS_COMPONENT_NONE)
            continue;
        user->name = system->name;
        *component = query->names[term][0];
        user->next++;
        return true;
    }
    return false;
}

const char* ecs_inspect_sender(const ecs_world* world, ecs_event_type type) {
    BASE_ASSERT(type - 1u < world->events->kind_count);
    return __atomic_load_n(&world->events->kinds[type - 1]->sender, __ATOMIC_RELAXED);
}

bool ecs_inspect_matches(const ecs_world* world, const char* system, ecs_template_id template_id) {
    const ecs_template* source = ecs_template_get(world, template_id);
    const uint32_t index = ecs_system_index(world, system);
    if (!source || index == UINT32_MAX) return false;
    const ecs_query* query = world->systems->list[index]->query;
    if (!query) return false;
    for (uint32_t i = 0; i < query->term_count; i++) {
        const ecs_access access = query->access[i];
        const bool is_here = ecs_template_find_component(source, query->components[i]);
        if ((access == ECS_READ || access == ECS_WRITE || access == ECS_REQUIRE) && !is_here)
            return false;
        if (access == ECS_REQUIRE_NOT && is_here) return false;
    }
    return true;
}

void ecs_inspect_writes(ecs_world* world, const base_reporter* reporter) {
    world->write_reporter = reporter;
}

ecs_slip ecs_inspect_slips(ecs_world* world, uint32_t rows_max) {
    BASE_ASSERT(world->is_sealed && world->fast.stage_depth == 0);
    return ecs_track_find_slip(world, rows_max);
}

void ecs_inspect_follow(ecs_world* world, ecs_slip slip) {
    ecs_track_watch(world, slip);
    ecs_track_look(world, NULL);
}

bool ecs_inspect_followed(const ecs_world* world, const char** system) {
    *system = world->tracker->sweep.system;
    return world->tracker->sweep.is_found;
}
