// SPDX-License-Identifier: MIT
// One list of matches, walked for each join: thousands of matches are a few microseconds.
#include "rooms.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/text.h"

#include <string.h>

#define SECOND_US UINT64_C(1000000)

server_rooms* server_rooms_create(const net_entropy* entropy) {
    server_rooms* self = base_owner_create(NULL, sizeof *self);
    self->entropy = entropy;
    return self;
}

void server_rooms_destroy(server_rooms* self) {
    base_owner_destroy(self);
}

bool server_rooms_is_name(const char* name) {
    const size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    return size > 0 && size < SERVER_ROOM_NAME_BYTES && !name[size];
}

server_room_game* server_rooms_game(server_rooms* self, const char* name) {
    for (uint32_t i = 0; i < self->game_count; i++)
        if (strcmp(self->games[i].name, name) == 0) return &self->games[i];
    return NULL;
}

void server_rooms_set_games(server_rooms* self, const server_room_game* games, uint32_t count) {
    server_room_game before[SERVER_ROOM_GAMES_MAX];
    const uint32_t before_count = self->game_count;
    BASE_ASSERT(count <= SERVER_ROOM_GAMES_MAX);
    memcpy(before, self->games, sizeof before);
    memcpy(self->games, games, count * sizeof *games);
    self->game_count = count;
    for (uint32_t i = 0; i < before_count && self->game_count < SERVER_ROOM_GAMES_MAX; i++) {
        if (server_rooms_game(self, before[i].name)) continue;
        self->games[self->game_count] = before[i];
        self->games[self->game_count++].is_gone = true;
    }
}

server_room* server_rooms_find(const server_rooms* self, const char* id, size_t size) {
    for (uint32_t i = 0; i < self->count; i++)
        if (strlen(self->rooms[i]->id) == size && memcmp(self->rooms[i]->id, id, size) == 0)
            return self->rooms[i];
    return NULL;
}

static uint64_t draw_number(const server_rooms* self) {
    uint64_t number = 0;
    while (number == 0)
        self->entropy->fill(self->entropy->context, &number, sizeof number);
    return number;
}

server_room* server_rooms_add(server_rooms* self, const server_room_game* game, const char* id) {
    server_room* room = base_allocate_zero(&self->owner.allocator, sizeof *room);
    room->game = *game;
    room->end.descriptor = -1;
    if (id)
        (void)base_text_copy(room->id, sizeof room->id, id);
    else
        (void)base_text_format(room->id, sizeof room->id, "%016llx",
                               (unsigned long long)draw_number(self));
    BASE_ARRAY_RESERVE(&self->owner.allocator, self->rooms, self->capacity, self->count + 1);
    self->rooms[self->count++] = room;
    return room;
}

server_seat* server_room_add_seat(server_rooms* self, server_room* room) {
    BASE_ARRAY_RESERVE(&self->owner.allocator, room->seats, room->seat_capacity,
                       room->seat_count + 1);
    server_seat* seat = &room->seats[room->seat_count++];
    *seat = (server_seat){0};
    room->empty_us = 0;
    return seat;
}

server_seat* server_room_find_seat(const server_room* room, uint64_t player) {
    for (uint32_t i = 0; i < room->seat_count; i++)
        if (room->seats[i].player == player) return &room->seats[i];
    return NULL;
}

void server_room_add_left(server_room* room, uint64_t player) {
    if (player != 0) room->left[room->left_count++ % SERVER_ROOM_LEFT_MAX] = player;
}

bool server_room_knows(const server_room* room, uint64_t player) {
    for (uint32_t i = 0; i < room->left_count && i < SERVER_ROOM_LEFT_MAX; i++)
        if (room->left[i] == player) return true;
    return server_room_find_seat(room, player) != NULL;
}

uint32_t server_room_players(const server_room* room) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < room->seat_count && !room->is_elsewhere; i++)
        count += room->seats[i].until_us == 0;
    return count;
}

static bool is_resuming(const server_room* room) {
    return room->resumes > 0 && room->state <= SERVER_ROOM_STARTING;
}

static bool has_seats(const server_room* room, uint32_t count) {
    return room->state < SERVER_ROOM_LEAVING && !is_resuming(room) && !room->is_closed &&
           !room->is_elsewhere && room->seat_count + count <= room->game.seats;
}

const char* server_room_state_name(const server_room* room) {
    if (room->state >= SERVER_ROOM_LEAVING) return "ended";
    if (room->is_elsewhere) return "standby";
    return is_resuming(room) ? "resuming" : has_seats(room, 1) ? "open" : "full";
}

// ---- values

server_room_value* server_room_find_value(const server_room* room, const char* key) {
    for (uint32_t i = 0; i < room->value_count; i++)
        if (strcmp(room->values[i].key, key) == 0) return (server_room_value*)&room->values[i];
    return NULL;
}

void server_room_set_value(server_room* room, const char* key, const char* value) {
    server_room_value* row = server_room_find_value(room, key);
    if (!row && value[0] && room->value_count < SERVER_ROOM_VALUES_MAX) {
        row = &room->values[room->value_count++];
        *row = (server_room_value){0};
        (void)base_text_copy(row->key, sizeof row->key, key);
    }
    if (!row || strcmp(row->value, value) == 0) return;
    (void)base_text_copy(row->value, sizeof row->value, value);
    if (!value[0]) *row = room->values[--room->value_count];
}

void server_room_publish(server_room* room, const server_room_value* values, uint32_t count) {
    for (uint32_t i = room->value_count; i > 0; i--)
        if (room->values[i - 1].is_published)
            server_room_set_value(room, room->values[i - 1].key, "");
    for (uint32_t i = 0; i < count; i++) {
        server_room_set_value(room, values[i].key, values[i].value);
        server_room_value* row = server_room_find_value(room, values[i].key);
        if (row) row->is_published = true;
    }
}

static bool fits_filter(const server_room* room, const server_join* join) {
    bool names_code = false;
    for (uint32_t i = 0; i < join->value_count; i++) {
        const server_room_value* row = server_room_find_value(room, join->values[i].key);
        if (!row || strcmp(row->value, join->values[i].value) != 0) return false;
        names_code = names_code || strcmp(join->values[i].key, SERVER_ROOM_PRIVATE) == 0;
    }
    return names_code || !server_room_find_value(room, SERVER_ROOM_PRIVATE);
}

// ---- a join

static bool is_of(const server_room* room, const char* game) {
    return room->state < SERVER_ROOM_LEAVING && !room->is_elsewhere &&
           strcmp(room->game.name, game) == 0;
}

static bool is_same(const char* word, const char* of_seat) {
    return word && word[0] && strcmp(word, of_seat) == 0;
}

// What the player has: its seat, in the match that it names where it has two, since a match reports
// late who left it; else the match of its party, with a seat that is held there.
// @return the seat is its own.
static bool find_own(const server_rooms* self, const server_join* join, server_room** found,
                     server_seat** held) {
    bool has_own = false;
    for (uint32_t i = 0; i < self->count; i++) {
        server_room* room = self->rooms[i];
        const bool is_named = !join->match || strcmp(room->id, join->match) == 0;
        // Who comes from a match goes to another one, or to the one that it names.
        const bool is_left = join->leaves && (room == join->leaves || !is_named);
        for (uint32_t k = 0; is_of(room, join->game) && !is_left && k < room->seat_count; k++) {
            server_seat* seat = &room->seats[k];
            const bool is_own = is_same(join->request, seat->request) ||
                                (join->player != 0 && seat->player == join->player);
            if (has_own ? !is_own || !is_named : !is_own && !is_same(join->party, seat->party))
                continue;
            *found = room;
            if (is_own || seat->player == 0) *held = seat;
            if (is_own && is_named) return true;
            has_own = is_own;
        }
    }
    return has_own;
}

// The match with the most players that has room for all of them; of equal ones the oldest.
static server_room* choose(const server_rooms* self, const server_join* join, uint32_t count) {
    server_room* best = NULL;
    for (uint32_t i = 0; i < self->count; i++) {
        server_room* room = self->rooms[i];
        if (!is_of(room, join->game) || room == join->leaves || !has_seats(room, count) ||
            !fits_filter(room, join))
            continue;
        if (join->reach == SERVER_REACH_FILL && room->seat_count == 0 && join->value_count == 0)
            continue;
        const bool is_up = room->state == SERVER_ROOM_RUNNING;
        const bool best_is_up = best && best->state == SERVER_ROOM_RUNNING;
        if (!best || (is_up && !best_is_up) ||
            (is_up == best_is_up && room->seat_count > best->seat_count))
            best = room;
    }
    return best;
}

static uint32_t count_spare(const server_rooms* self, const char* game) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->count; i++) {
        const server_room* room = self->rooms[i];
        count += is_of(room, game) && has_seats(room, 1) && room->seat_count == 0 &&
                 !room->had_players && !server_room_find_value(room, SERVER_ROOM_PRIVATE);
    }
    return count;
}

// One that leaves has its process still.
static bool may_plan(const server_rooms* self, const server_room_game* game) {
    uint32_t alive = 0, of_game = 0;
    for (uint32_t i = 0; i < self->count; i++) {
        if (self->rooms[i]->state == SERVER_ROOM_OVER) continue;
        alive++;
        of_game += strcmp(self->rooms[i]->game.name, game->name) == 0;
    }
    return !game->is_gone && of_game < game->most && alive < SERVER_ROOMS_MAX;
}

server_room* server_rooms_look(const server_rooms* self, const server_join* join) {
    if (join->match) {
        server_room* room = server_rooms_find(self, join->match, strlen(join->match));
        return room && !room->is_elsewhere ? room : NULL;
    }
    server_join fill = *join;
    fill.reach = SERVER_REACH_FILL;
    return choose(self, &fill, 1);
}

static server_join_end find_room(server_rooms* self, const server_room_game* game,
                                 const server_join* join, uint32_t count, uint64_t now_us,
                                 server_room** room) {
    if (join->match) {
        *room = server_rooms_look(self, join);
        if (!*room || strcmp((*room)->game.name, join->game) != 0) return SERVER_JOIN_NO_MATCH;
        if ((*room)->state >= SERVER_ROOM_LEAVING) return SERVER_JOIN_OVER;
        return has_seats(*room, count) ? SERVER_JOIN_SEATED : SERVER_JOIN_CROWDED;
    }
    *room = join->reach != SERVER_REACH_OWN ? choose(self, join, count) : NULL;
    if (*room) return SERVER_JOIN_SEATED;
    if (count > game->seats) return SERVER_JOIN_PARTY;
    if (join->reach != SERVER_REACH_ANY || !may_plan(self, game)) return SERVER_JOIN_FULL;
    if (now_us < game->start_us) return SERVER_JOIN_FAILS;
    *room = server_rooms_add(self, game, NULL);
    for (uint32_t i = 0; i < join->value_count; i++)
        server_room_set_value(*room, join->values[i].key, join->values[i].value);
    return SERVER_JOIN_SEATED;
}

server_join_end server_rooms_join(server_rooms* self, const server_join* join, uint64_t now_us,
                                  server_room** room, server_seat** seat) {
    const server_room_game* game = server_rooms_game(self, join->game);
    const uint64_t until_us = now_us + SERVER_ROOM_SEAT_S * SECOND_US;
    uint32_t members = join->party && join->party_seats > 1 ? join->party_seats : 1;
    *room = NULL;
    *seat = NULL;
    if (!game || game->is_gone) return SERVER_JOIN_NO_GAME;
    if (!find_own(self, join, room, seat)) {
        server_join_end end = SERVER_JOIN_SEATED;
        if (!*room)
            end = find_room(self, game, join, members, now_us, room);
        else if (members = 1, !*seat && !has_seats(*room, 1))
            end = SERVER_JOIN_CROWDED;
        if (end != SERVER_JOIN_SEATED) return end;
        // Seats of a party are held for those of it that come later.
        for (uint32_t i = *seat ? members : 0; i < members; i++) {
            *seat = server_room_add_seat(self, *room);
            (*seat)->until_us = until_us;
            (void)base_text_copy((*seat)->party, sizeof(*seat)->party,
                                 join->party ? join->party : "");
        }
        (*seat)->player = join->player != 0 ? join->player : draw_number(self);
        (void)base_text_copy((*seat)->request, sizeof(*seat)->request,
                             join->request ? join->request : "");
    }
    if ((*seat)->until_us != 0) (*seat)->until_us = until_us;
    return SERVER_JOIN_SEATED;
}

bool server_rooms_have(const server_rooms* self, const server_room_game* game, server_reach reach,
                       uint64_t now_us) {
    const server_join join = {.game = game->name, .reach = reach};
    return !game->is_gone &&
           (choose(self, &join, 1) ||
            (reach == SERVER_REACH_ANY && now_us >= game->start_us && may_plan(self, game)));
}

uint32_t server_rooms_seats(const server_rooms* self) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < self->count; i++)
        count += self->rooms[i]->is_elsewhere ? 0 : self->rooms[i]->seat_count;
    return count;
}

// One that ended may come back: its match went to another host, and that one asks now.
server_room* server_rooms_stand_by(server_rooms* self, const server_room_game* game, const char* id,
                                   uint64_t now_us) {
    server_room* room = server_rooms_find(self, id, strlen(id));
    if (room && (room->state != SERVER_ROOM_OVER || room->pid != 0))
        return room->is_elsewhere ? room : NULL;
    if (!may_plan(self, game) ||
        (room && now_us - room->heard_us < SERVER_ROOM_STANDBY_S * SECOND_US))
        return NULL;
    if (!room) room = server_rooms_add(self, game, id);
    room->game = *game;
    room->state = SERVER_ROOM_PLANNED;
    room->is_elsewhere = true;
    room->had_players = room->is_closed = room->was_told = false;
    room->resumes = 0;
    room->result = SERVER_RESULT_NONE;
    room->address[0] = room->why[0] = room->standby[0] = '\0';
    return room;
}

// ---- what a match reports

void server_room_opened(server_room* room, uint64_t now_us) {
    room->state = SERVER_ROOM_RUNNING;
    for (uint32_t i = 0; i < room->seat_count; i++)
        if (room->seats[i].until_us != 0)
            room->seats[i].until_us = now_us + SERVER_ROOM_SEAT_S * SECOND_US;
}

void server_rooms_reported(server_rooms* self, server_room* room, const uint64_t* players,
                           uint32_t count, uint64_t at_us, uint64_t now_us) {
    const uint32_t before = room->seat_count;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < before; k++)
        room->seats[k].is_seen = false;
    for (uint32_t i = 0, k; i < count; i++) {
        for (k = 0; k < before && room->seats[k].player != players[i];)
            k++;
        // Its token may have come after its seat was free again.
        server_seat* seat = k < before ? &room->seats[k] : server_room_add_seat(self, room);
        seat->player = players[i];
        seat->until_us = 0;
        seat->is_seen = room->had_players = true;
    }
    for (uint32_t k = 0; k < room->seat_count; k++)
        if (room->seats[k].is_seen || room->seats[k].until_us > at_us)
            room->seats[kept++] = room->seats[k];
        else
            server_room_add_left(room, room->seats[k].player);
    room->seat_count = kept;
    if (kept > 0 || room->empty_us == 0) room->empty_us = kept > 0 ? 0 : now_us;
}

// Who played has a seat in it for some time.
static void plan_next(server_rooms* self, const server_room* room, const server_room_game* game) {
    server_room* next = server_rooms_add(self, game, NULL);
    memcpy(next->address, room->address, sizeof next->address);
    memcpy(next->http, room->http, sizeof next->http);
    memcpy(next->values, room->values, sizeof next->values);
    next->value_count = room->value_count;
    for (uint32_t i = 0; i < room->seat_count && i < game->seats; i++) {
        server_seat* seat = server_room_add_seat(self, next);
        *seat = room->seats[i];
        seat->size = 0;
        seat->until_us = UINT64_MAX; // until it is open
    }
}

// A start that failed is tried again later by the next plan; a match that ran goes on.
bool server_rooms_ended(server_rooms* self, server_room* room, bool is_orderly, const char* why,
                        uint64_t now_us) {
    server_room_game* game = server_rooms_game(self, room->game.name);
    const bool is_start = room->state <= SERVER_ROOM_STARTING && room->resumes == 0;
    const bool was_asked = room->state == SERVER_ROOM_LEAVING;
    if (now_us - room->crashed_us >= SERVER_ROOM_RESUMES_S * SECOND_US) room->crashes = 0;
    if (!was_asked || !room->why[0]) (void)base_text_copy(room->why, sizeof room->why, why);
    if (!is_orderly && !was_asked && !is_start && room->game.resumes && !room->is_elsewhere &&
        room->crashes < SERVER_ROOM_RESUMES_MAX) {
        if (room->crashes++ == 0) room->crashed_us = now_us;
        room->resumes++;
        room->state = SERVER_ROOM_PLANNED;
        return true;
    }
    room->state = SERVER_ROOM_OVER;
    if (game && !game->is_gone && game->stays && is_orderly && !was_asked && room->had_players &&
        !room->is_elsewhere)
        plan_next(self, room, game);
    room->seat_count = 0;
    if (game && is_start && !is_orderly && !room->is_elsewhere)
        game->start_us = now_us + (SECOND_US << (game->failures < 6 ? game->failures++ : 6));
    return false;
}

void server_rooms_forget(server_rooms* self) {
    const uint32_t count = self->count;
    uint32_t over = 0;
    for (uint32_t i = 0; i < count; i++)
        over += self->rooms[i]->state == SERVER_ROOM_OVER;
    self->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        server_room* room = self->rooms[i];
        self->rooms[self->count++] = room;
        if (room->state != SERVER_ROOM_OVER || room->pid != 0 || over <= SERVER_ROOMS_OVER_MAX)
            continue;
        BASE_ARRAY_RELEASE(&self->owner.allocator, room->seats, room->seat_capacity);
        base_release(&self->owner.allocator, room, sizeof *room);
        self->count--;
        over--;
    }
}

void server_rooms_pass(server_rooms* self, uint64_t now_us) {
    for (uint32_t i = 0; i < self->count; i++) {
        server_room* room = self->rooms[i];
        if (room->state != SERVER_ROOM_RUNNING || !room->had_players || room->empty_us == 0 ||
            room->game.idle_us == 0 || now_us - room->empty_us < room->game.idle_us)
            continue;
        room->state = SERVER_ROOM_LEAVING;
        (void)base_text_copy(room->why, sizeof room->why, "it was without players");
    }
    for (uint32_t i = 0; i < self->game_count; i++) {
        const server_room_game* game = &self->games[i];
        while (now_us >= game->start_us && count_spare(self, game->name) < game->spare &&
               may_plan(self, game))
            (void)server_rooms_add(self, game, NULL);
    }
    server_rooms_forget(self);
}

// ---- how often an address may ask

bool server_rate_accepts(server_rate* self, const net_address* from, uint64_t most,
                         uint64_t now_us) {
    const size_t size = net_address_is_ipv4(from) ? sizeof from->ip : sizeof from->ip / 2;
    const uint64_t row = base_hash64(from->ip, size, self->seed) % SERVER_RATE_ROWS;
    if (most == 0 || net_address_is_loopback(from)) return true;
    if (now_us - self->rows[row].since_us >= SERVER_RATE_S * SECOND_US) {
        self->rows[row].since_us = now_us;
        self->rows[row].count = 0;
    }
    return self->rows[row].count++ < most;
}
