// SPDX-License-Identifier: MIT
// Players of the match that a check plays, and what never ran in it.
#include "check/check.h"

#include "present/predict.h"
#include "present/presenter.h"

#include "net/match.h"

#include "ecs/inspect.h"

#include "base/text.h"

#include <string.h>

enum {
    RESPAWN_S_MAX = 10, // a player without an entity
    LOOK_TICKS = 20,    // between two looks whether more is to be seen
};

// The entity of player_join is a player's entity for good: it must be one that the systems of the
// input match, and one that stays.

bool net_check_is_taken_by(const ecs_world* world, const char* handler,
                           ecs_template_id template_id) {
    if (ecs_inspect_matches(world, handler, template_id)) return true;
    for (uint32_t id = 1; id <= ecs_template_count(world); id++)
        if (ecs_inspect_matches(world, handler, (ecs_template_id)id)) return false;
    return true;
}

static ecs_event_type input_event(const net_checker* self, const char** name) {
    for (uint32_t i = 0; i < self->game->message_count; i++) {
        if (self->game->messages[i].kind != NET_MESSAGE_INPUT) continue;
        *name = self->game->messages[i].event;
        return ecs_event_find(net_match_world(self->server), *name);
    }
    return ECS_EVENT_NONE;
}

// @return the last handler of the input that does not take this template; NULL: one takes it, or
// there is none.
static const char* find_refusing(const net_checker* self, ecs_template_id template_id) {
    const ecs_world* world = net_match_world(self->server);
    const char* event;
    const ecs_event_type type = input_event(self, &event);
    ecs_user user = {0};
    while (type != ECS_EVENT_NONE && ecs_inspect_handler(world, type, &user))
        if (net_check_is_taken_by(world, user.name, template_id)) return NULL;
    return user.name;
}

static void look_at_player(const check_table* table, check_bot* bot, uint32_t client) {
    const net_checker* self = table->self;
    const ecs_entity entity = net_match_player(self->server, client);
    if (entity == ECS_ENTITY_NONE) {
        if (bot->joined && bot->lost == 0) bot->lost = net_match_tick(self->server);
        return;
    }
    const ecs_template_id template_id = ecs_entity_template(net_match_world(self->server), entity);
    if (!bot->joined) bot->joined = template_id;
    bot->takes_inputs = bot->takes_inputs || !find_refusing(self, template_id);
}

void net_check_look_at_players(check_table* table) {
    net_match* server = table->self->server;
    const ecs_tick tick = net_match_tick(server);
    for (uint32_t i = 0; i < table->bot_count; i++) {
        check_bot* bot = &table->bots[i];
        const uint32_t client = bot->client && !bot->has_left ? net_client_number(bot->client) : 0;
        if (client == 0 || !net_match_player_name(server, client)) continue;
        table->has_players = true;
        look_at_player(table, bot, client);
        if (tick % LOOK_TICKS == 0)
            net_check_sight(table->self, table->server, client, tick >= NET_CHECK_TICKS_DEFAULT);
    }
}

static ecs_tick ticks_without(const check_table* table, const check_bot* bot) {
    return bot->lost ? net_match_tick(table->self->server) - bot->lost : 0;
}

static ecs_tick respawn_ticks_max(const check_table* table) {
    return RESPAWN_S_MAX * net_match_get_config(table->self->server)->tick_rate_hz;
}

// @return whether a player has no entity, but not yet for long.
static bool may_respawn(const check_table* table) {
    for (uint32_t i = 0; i < table->bot_count; i++)
        if (table->bots[i].lost && ticks_without(table, &table->bots[i]) < respawn_ticks_max(table))
            return true;
    return false;
}

void net_check_players(check_table* table) {
    net_checker* self = table->self;
    const ecs_world* world = net_match_world(self->server);
    const char* event = NULL;
    (void)input_event(self, &event);
    ecs_template_id players[BASE_COUNT(table->bots)];
    uint32_t joined = 0;
    for (uint32_t i = 0; i < table->bot_count; i++)
        if (table->bots[i].joined) players[joined++] = table->bots[i].joined;
    net_check_classes(self, players, joined);
    const char* asking = find_refusing(self, ECS_TEMPLATE_NONE);
    if (joined == 0 && asking && table->has_players)
        net_check_report(self, "join", "",
                         "player_join returned no entity for any player: input %s has no effect, "
                         "system %s asks for its row; return what ecs_try_create gives",
                         event, asking);
    for (uint32_t i = 0; i < table->bot_count; i++) {
        const check_bot* bot = &table->bots[i];
        if (!bot->joined) continue; // a spectator
        const char* name = ecs_template_get(world, bot->joined)->name;
        const char* handler = find_refusing(self, bot->joined);
        if (!bot->takes_inputs && handler)
            net_check_report(self, "join", name,
                             "player_join returns an entity of template %s, which lacks what "
                             "system %s asks for: input %s has no effect; add its components to "
                             "the template",
                             name, handler, event);
        if (ticks_without(table, bot) >= respawn_ticks_max(table))
            net_check_report(self, "respawn", name,
                             "a player has had no entity for %u s: its %s was destroyed in tick "
                             "%llu, and a player never gets another; keep the entity of "
                             "player_join, and set it back to respawn",
                             RESPAWN_S_MAX, name, (unsigned long long)bot->lost);
    }
}

// ---- who had no rows ----

enum { WORLDS_PER_BOT = 3 };

// Every world that runs systems: the server's, then those of each bot. NULL: there is none.
static const ecs_world* world_of(const check_table* table, uint32_t index) {
    if (index == 0) return net_match_world(table->self->server);
    const check_bot* bot = &table->bots[(index - 1) / WORLDS_PER_BOT];
    if (!bot->client) return NULL; // it has not joined
    net_predict* predict = net_presenter_predict(bot->presenter);
    switch ((index - 1) % WORLDS_PER_BOT) {
    case 0:
        return net_match_world(bot->mirror);
    case 1:
        return net_match_world(net_presenter_match(bot->presenter));
    default:
        return predict ? net_match_world(predict->match) : NULL;
    }
}

static bool has_had_rows(const check_table* table, const char* system) {
    for (uint32_t i = 0; i <= table->bot_count * WORLDS_PER_BOT; i++) {
        const ecs_world* world = world_of(table, i);
        ecs_user user = {0};
        bool has_had;
        while (world && ecs_inspect_rows(world, &user, &has_had))
            if (has_had && strcmp(user.name, system) == 0) return true;
    }
    return false;
}

// The next system or handler that had no rows in any world; NULL: none. All bots have the same
// systems.
static const char* next_without_rows(const check_table* table, uint32_t* world, ecs_user* user) {
    bool has_had;
    for (; *world <= WORLDS_PER_BOT; (*world)++, *user = (ecs_user){0})
        while (world_of(table, *world) && ecs_inspect_rows(world_of(table, *world), user, &has_had))
            if (!has_had && !has_had_rows(table, user->name)) return user->name;
    return NULL;
}

// ---- lines of a script that never ran ----

enum { LINE_KNOWN = 1, LINE_RAN = 2 };

void net_check_line(void* self_, const char* file, uint32_t line, bool has_run) {
    net_checker* self = self_;
    if (!self->script[0]) (void)base_text_copy(self->script, sizeof self->script, file);
    if (line < NET_CHECK_LINES_MAX && strcmp(self->script, file) == 0)
        self->lines[line] |= has_run ? LINE_KNOWN | LINE_RAN : LINE_KNOWN;
}

// @return the next line after this one that can run and never did; 0: none.
static uint32_t next_unseen(const net_checker* self, uint32_t line) {
    while (++line < NET_CHECK_LINES_MAX)
        if (self->lines[line] == LINE_KNOWN) return line;
    return 0;
}

static void note_lines(const net_checker* self) {
    char text[512] = "";
    const uint32_t first = next_unseen(self, 0);
    for (uint32_t line = first, last; line > 0; line = next_unseen(self, last)) {
        const size_t used = strlen(text);
        last = line;
        for (uint32_t at = line + 1; at < NET_CHECK_LINES_MAX && !(self->lines[at] & LINE_RAN);
             at++)
            if (self->lines[at] == LINE_KNOWN) last = at;
        (void)base_text_format(text + used, sizeof text - used, "%s%u", used ? ", " : "", line);
        if (last > line)
            (void)base_text_format(text + strlen(text), sizeof text - strlen(text), "-%u", last);
    }
    if (first > 0)
        base_report(self->config->reporter, self->script, first,
                    "note: line %s never ran: what it does was not checked", text);
}

void net_check_note_unseen(const check_table* table) {
    const net_check_config* config = table->self->config;
    const char* name;
    uint32_t world = 0;
    ecs_user user = {0};
    while ((name = next_without_rows(table, &world, &user))) {
        ecs_user event = {0};
        const bool is_handler = ecs_inspect_event(world_of(table, world), name, &event);
        if (net_check_is_first(table->self, "rows", name))
            base_report(config->reporter, config->file, 0,
                        "note: %s never had %s: what it does was not checked", name,
                        is_handler ? "an event" : "a row");
    }
    note_lines(table->self);
}

bool net_check_is_enough(const check_table* table) {
    const ecs_tick tick = net_match_tick(table->self->server);
    uint32_t world = 0;
    ecs_user user = {0};
    return table->self->config->ticks == 0 && tick >= NET_CHECK_TICKS_DEFAULT &&
           tick % LOOK_TICKS == 0 && !may_respawn(table) &&
           !next_without_rows(table, &world, &user) && !next_unseen(table->self, 0);
}
