// SPDX-License-Identifier: MIT
// What `_visible` and the rules of interest promise, and no client ever gets.
//
// A class that no client has hides a component from all, and the game looks as if it sent nothing.
// The game's `relevance` is asked about what is near, so "always" of what is far is never heard. A
// client without a viewpoint sees nothing by distance. None of these is refused, since a callback
// may give the class, and a later tick the viewpoint: so they are looked for in a match.
#include "check/check.h"

#include "game/match.h"
#include "state/schema.h"

#include "net/explain.h"

#include "base/text.h"

// ---- classes ----

// Has the game a bit of this class to give? It may give those of owner and team without asking.
static bool may_give(const net_match* match, uint32_t class_) {
    return class_ <= NET_CLASS_TEAM || (match->asked_classes >> class_ & 1u) != 0;
}

static const char* class_hint(const net_match* match, const char* name,
                              char hint[BASE_HINT_BYTES]) {
    const net_rows* rows = net_schema_rows(match->schema);
    base_nearest nearest = base_nearest_begin(name);
    for (uint32_t i = 0; i < NET_CLASSES_MAX; i++)
        if (may_give(match, i)) base_nearest_offer(&nearest, rows->class_names[i]);
    return base_nearest_hint(&nearest, hint);
}

static void check_class(net_checker* self, const ecs_template* source,
                        const ecs_template_component* component, bool is_players) {
    const net_interest_rules* rules = self->game->interest;
    ecs_world* world = net_match_world(self->server);
    const uint32_t class_ =
        net_rows_class(net_schema_rows(self->server->schema), component->visible);
    const bool is_owner = class_ == NET_CLASS_OWNER;
    const char* named = !rules                     ? NULL
                        : is_owner                 ? rules->owner
                        : class_ == NET_CLASS_TEAM ? rules->team
                                                   : NULL;
    if (class_ == NET_CLASS_PUBLIC || (is_owner && is_players) ||
        (rules && rules->classes && may_give(self->server, class_)) ||
        (named && ecs_template_find_component(source, ecs_component_find(world, named))))
        return;
    char why[3 * ECS_NAME_BYTES_MAX], hint[BASE_HINT_BYTES], topic[2 * ECS_NAME_BYTES_MAX];
    if (class_ > NET_CLASS_TEAM)
        (void)base_text_format(why, sizeof why,
                               "correct the name, or return its services->class_bit from .classes "
                               "of the game's interest rules%s",
                               class_hint(self->server, component->visible, hint));
    else if (named)
        (void)base_text_format(why, sizeof why,
                               "add component %s, which .%s of the game's interest rules names, to "
                               "the template",
                               named, component->visible);
    else
        (void)base_text_format(why, sizeof why,
                               "name the component with %s by .%s of the game's interest rules",
                               is_owner ? "the client's number" : "the team", component->visible);
    const char* name = ecs_component_get(world, component->component)->name;
    (void)base_text_format(topic, sizeof topic, "%s.%s", source->name, name);
    net_check_report_at(self, source->file, component->line, "class", topic,
                        "component %s of template %s: no client gets the class %s of its _visible: "
                        "%s",
                        name, source->name, component->visible, why);
}

void net_check_classes(net_checker* self, const ecs_template_id* players, uint32_t count) {
    const ecs_world* world = net_match_world(self->server);
    for (uint32_t id = 1; id <= ecs_template_count(world); id++) {
        const ecs_template* source = ecs_template_get(world, (ecs_template_id)id);
        bool is_players = false;
        for (uint32_t i = 0; i < count; i++)
            is_players = is_players || players[i] == source->id;
        for (uint32_t i = 0; source->is_replicated && i < source->component_count; i++)
            if (source->components[i].visible &&
                source->components[i].flags & ECS_COMPONENT_REPLICATED)
                check_class(self, source, &source->components[i], is_players);
    }
}

// ---- sight ----

static void report_blind(net_checker* self, ecs_entity player) {
    const char* name = ecs_entity_template_name(net_match_world(self->server), player);
    net_check_report(self, "blind", name ? name : "",
                     "a client sees nothing by distance: its player's %s has no component %s, the "
                     "position of the game's interest rules: add it, or call "
                     "services->set_viewpoint",
                     name ? name : "entity", self->game->interest->position);
}

// The entity of player_join is the client's own, by the rules of interest, too.
static void check_owner(net_checker* self, uint32_t client) {
    const net_interest_rules* rules = self->game->interest;
    ecs_world* world = net_match_world(self->server);
    const ecs_entity player = net_match_player(self->server, client);
    if (!rules || !rules->owner || player == ECS_ENTITY_NONE) return;
    const uint32_t* owner = ecs_find(world, player, ecs_component_find(world, rules->owner));
    if (owner && *owner != 0 && *owner != client)
        net_check_report(self, "owner", rules->owner,
                         "component %s, the owner of the game's interest rules, is %u in the %s "
                         "of client %u: values of class owner go to another client; write the "
                         "`client` of player_join",
                         rules->owner, *owner, ecs_entity_template_name(world, player), client);
}

void net_check_sight(net_checker* self, net_server* server, uint32_t client, bool is_end) {
    const net_interest_rules* rules = self->game->interest;
    ecs_world* world = net_match_world(self->server);
    check_owner(self, client);
    net_interest_question question = {.size_bytes = sizeof question,
                                      .world = world,
                                      .context = net_match_context(self->server),
                                      .client = client,
                                      .player = net_match_player(self->server, client)};
    bool is_seeing = !rules || rules->radius <= 0.0f || !is_end; // or it is not asked
    if (is_seeing && (!rules || !rules->relevance)) return;
    while ((question.entity = ecs_entity_next(world, question.entity)) != ECS_ENTITY_NONE) {
        const ecs_template* source =
            ecs_template_get(world, ecs_entity_template(world, question.entity));
        const bool is_always =
            source && rules->relevance && rules->relevance(&question) == NET_RELEVANT_ALWAYS;
        net_explanation why;
        if ((is_seeing && !is_always) ||
            !net_server_explain(server, client, question.entity, &why) ||
            why.answers[NET_RULE_REPLICATED] != NET_RULE_SILENT)
            continue;
        if (!is_seeing && !why.has_viewpoint) report_blind(self, question.player);
        is_seeing = true;
        if (!is_always || why.answers[NET_RULE_RELEVANCE] != NET_RULE_SILENT) continue;
        net_check_report(self, "always", source->name,
                         "relevance returns NET_RELEVANT_ALWAYS for a %s beyond the radius, where "
                         "it is not asked, so clients do not get it: name a tag of it by .always, "
                         "or a component by .groups, of the game's interest rules",
                         source->name);
    }
}
