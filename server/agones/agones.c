// SPDX-License-Identifier: MIT
// Each request to the SDK is a desired state and a flag: sent or not. A pass starts the requests
// that are due and reads the answers; one that was not answered with 200 is due again a second
// later.
//
// The watch is the thread of the connection. It ends when the SDK server restarts, and is cut when
// another request gets no answer; its first line after that means that all may be forgotten on the
// other side: the number of players and the annotations go out again, and a state of before
// `ready` there means that the request was lost.
//
// When is a server allocated? A line that says so may be old: after a match the state stays
// Allocated until our `ready` has gone through. It counts when a free state was seen since, or when
// Agones notes another time of the allocation. The answer to `ready` may be lost while it had its
// effect; then the watch is the answer, and asking again would take an allocation back.
#include "agones.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"

#include <string.h>

#define ANNOTATIONS_MAX 4u
#define ANNOTATION_BYTES 320u
#define UNKNOWN UINT64_MAX

typedef enum goal { GOAL_NONE, GOAL_READY, GOAL_SHUTDOWN } goal;

typedef struct slot {
    uint64_t next_us; ///< not before
    bool is_busy;
    bool has_failed; ///< reported; until it is answered again
} slot;

typedef struct annotation {
    const char* name;
    char value[ANNOTATION_BYTES];
    bool is_told;
} annotation;

struct server_agones {
    base_owner owner;
    server_rest rest;
    const base_reporter* reporter;
    slot slots[SERVER_REST_SLOTS];
    goal goal;
    bool is_asked;  ///< for the goal: it may have had its effect
    bool was_asked; ///< before the newest request for it
    bool is_answered;
    bool is_allocated;
    bool was_free; ///< since the goal is GOAL_READY
    server_watch_state seen, allocation;
    char standby_at[SERVER_WATCH_STANDBY_BYTES]; // of the newest line that could be read
    base_bytes line;
    bool is_skipping;       ///< the rest of a line that is too long
    bool has_line;          ///< since the watch was opened
    bool was_answered;      ///< is_answered, when it was
    bool has_refused;       ///< a line: reported
    uint64_t told, telling; ///< players
    annotation annotations[ANNOTATIONS_MAX];
    annotation* saying; ///< NULL: none
    bool is_public_own; ///< the address is said by us, not taken from Agones
};

server_agones* server_agones_create(const server_rest* rest, const base_reporter* reporter) {
    server_agones* self = base_owner_create(NULL, sizeof *self);
    self->rest = *rest;
    self->reporter = reporter;
    self->told = UNKNOWN;
    self->was_free = true;
    self->annotations[0].name = SERVER_AGONES_PUBLIC;
    self->annotations[1].name = SERVER_AGONES_IDENTITY;
    self->annotations[2].name = SERVER_AGONES_LOG;
    self->annotations[3].name = SERVER_AGONES_STREAM;
    base_bytes_init(&self->line, &self->owner.allocator);
    return self;
}

void server_agones_destroy(server_agones* self) {
    if (!self) return;
    self->rest.destroy(self->rest.context);
    base_owner_destroy(self);
}

static void aim(server_agones* self, goal wanted) {
    slot* life = &self->slots[SERVER_REST_LIFE];
    if (life->is_busy) self->rest.cancel(self->rest.context, SERVER_REST_LIFE);
    *life = (slot){.has_failed = life->has_failed};
    self->goal = wanted;
    self->is_asked = false;
    self->is_answered = false;
}

void server_agones_ask_ready(server_agones* self) {
    if (self->is_allocated) self->was_free = false; // the state of before may be seen again
    self->is_allocated = false;
    aim(self, GOAL_READY);
}

void server_agones_ask_shutdown(server_agones* self) {
    aim(self, GOAL_SHUTDOWN);
}

bool server_agones_is_answered(const server_agones* self) {
    return self->is_answered;
}

static void say(server_agones* self, annotation* it, const char* value) {
    if (strcmp(it->value, value) == 0) return;
    (void)base_text_copy(it->value, sizeof it->value, value);
    it->is_told = false;
    if (self->saying == it) self->saying = NULL; // what is on its way is old
}

void server_agones_annotate(server_agones* self, const char* name, const char* value) {
    annotation* it = self->annotations;
    while (it < self->annotations + ANNOTATIONS_MAX && strcmp(name, it->name) != 0)
        it++;
    BASE_ASSERT(it < self->annotations + ANNOTATIONS_MAX && (value || it == self->annotations));
    if (it == &self->annotations[0]) self->is_public_own = value != NULL;
    if (value) say(self, it, value);
}

const server_watch_state* server_agones_allocation(const server_agones* self) {
    return self->is_allocated ? &self->allocation : NULL;
}

const char* server_agones_standby_at(const server_agones* self) {
    return self->standby_at;
}

// ---- answers ----

static const char* slot_name(const server_agones* self, server_rest_slot which) {
    static const char* const names[] = {"POST /ready", "POST /health",
                                        ("PATCH /v1beta1/counters/" SERVER_AGONES_COUNTER),
                                        "PUT /metadata/annotation", "GET /watch/gameserver"};
    return which == SERVER_REST_LIFE && self->goal == GOAL_SHUTDOWN ? "POST /shutdown"
                                                                    : names[which];
}

static void take_success(server_agones* self, server_rest_slot which) {
    slot* it = &self->slots[which];
    if (it->has_failed)
        base_report(self->reporter, NULL, 0, "note: agones: %s is answered now",
                    slot_name(self, which));
    it->has_failed = false;
    if (which == SERVER_REST_LIFE) self->is_answered = true;
    if (which == SERVER_REST_COUNTER) self->told = self->telling;
    if (which == SERVER_REST_ANNOTATION && self->saying) self->saying->is_told = true;
}

// ---- what is heard ----

static void hear_of_life(server_agones* self, bool is_first, uint64_t now_us) {
    const server_watch_state* seen = &self->seen;
    if (self->goal != GOAL_READY || !self->is_asked || self->is_allocated) return;
    const bool is_free = strcmp(seen->state, "Ready") == 0 ||
                         strcmp(seen->state, "RequestReady") == 0 ||
                         strcmp(seen->state, "Reserved") == 0;
    const bool is_taken = strcmp(seen->state, "Allocated") == 0;
    const bool is_other = seen->allocated_at[0] != '\0' &&
                          strcmp(seen->allocated_at, self->allocation.allocated_at) != 0;
    if (is_taken && (self->was_free || is_other)) {
        self->allocation = *seen;
        self->is_allocated = true;
        base_report(self->reporter, NULL, 0, "note: agones: allocated: settings=%u key_id=%u",
                    seen->setting_count, seen->key_id);
    }
    if (is_free) self->was_free = true;
    if (is_free || self->is_allocated) {
        self->is_answered = true;
    } else if (is_first && self->was_answered) {
        self->is_answered = false; // it was lost, if no other line comes
        self->slots[SERVER_REST_LIFE].next_us = now_us + SERVER_AGONES_AGAIN_MS * UINT64_C(1000);
    }
}

static void hear_line(server_agones* self, const char* line, size_t size, uint64_t now_us) {
    if (size == 0) return;
    if (!server_watch_read(line, size, &self->seen)) {
        if (!self->has_refused)
            base_report(self->reporter, NULL, 0,
                        "warning: agones: the watch sent a state that no server has: %.*s",
                        (int)(size < 100 ? size : 100), line);
        self->has_refused = true;
        return;
    }
    const bool is_first = !self->has_line;
    self->has_line = true;
    if (is_first) {
        take_success(self, SERVER_REST_WATCH);
        self->told = UNKNOWN;
        for (uint32_t i = 0; i < ANNOTATIONS_MAX; i++)
            self->annotations[i].is_told = false;
        self->slots[SERVER_REST_COUNTER].next_us = 0; // what was refused may be taken now
        self->slots[SERVER_REST_ANNOTATION].next_us = 0;
    }
    memcpy(self->standby_at, self->seen.standby_at, sizeof self->standby_at);
    if (!self->is_public_own && self->seen.address[0])
        say(self, &self->annotations[0], self->seen.address);
    hear_of_life(self, is_first, now_us);
}

static void end_line(server_agones* self, uint64_t now_us) {
    if (self->is_skipping) {
        if (!self->has_refused)
            base_report(self->reporter, NULL, 0,
                        "warning: agones: a line of the watch is longer than %u bytes",
                        SERVER_WATCH_LINE_BYTES_MAX);
        self->has_refused = true;
    } else {
        hear_line(self, (const char*)self->line.data, self->line.size, now_us);
    }
    self->is_skipping = false;
    base_bytes_clear(&self->line);
}

static void hear(server_agones* self, const char* data, size_t size, uint64_t now_us) {
    while (size > 0) {
        const char* end = memchr(data, '\n', size);
        const size_t piece = end ? (size_t)(end - data) : size;
        if (self->line.size + piece > SERVER_WATCH_LINE_BYTES_MAX) self->is_skipping = true;
        if (!self->is_skipping) base_bytes_write(&self->line, data, piece);
        if (end) end_line(self, now_us);
        data += piece + (end ? 1 : 0);
        size -= piece + (end ? 1 : 0);
    }
}

// ---- requests ----

static void take_failure(server_agones* self, const server_rest_event* event, uint64_t now_us) {
    const server_rest_slot which = event->slot;
    const uint32_t status = event->status;
    slot* it = &self->slots[which];
    const bool may_wait = which == SERVER_REST_COUNTER || which == SERVER_REST_ANNOTATION;
    char text[32] = "no answer";
    if (status != 0) (void)base_text_format(text, sizeof text, "HTTP %u", status);
    if (!it->has_failed)
        base_report(self->reporter, NULL, 0, "warning: agones: %s: %s; it is tried again",
                    slot_name(self, which), text);
    it->has_failed = true;
    if (which == SERVER_REST_LIFE && (status != 0 || event->is_unsent))
        self->is_asked = self->was_asked;
    it->next_us = now_us + UINT64_C(1000) * (status != 0 && may_wait ? SERVER_AGONES_REFUSED_MS
                                                                     : SERVER_AGONES_AGAIN_MS);
    slot* watch = &self->slots[SERVER_REST_WATCH];
    if (status != 0 || !watch->is_busy) return;
    self->rest.cancel(self->rest.context, SERVER_REST_WATCH);
    watch->is_busy = false;
}

static bool is_due(const server_agones* self, server_rest_slot which, uint64_t now_us) {
    return !self->slots[which].is_busy && now_us >= self->slots[which].next_us;
}

static void begin_request(server_agones* self, server_rest_slot which, const char* method,
                          const char* path, const char* body, uint64_t next_us) {
    self->slots[which].is_busy = true;
    self->slots[which].next_us = next_us;
    self->rest.begin(self->rest.context, which, method, path, body);
}

static void begin_life(server_agones* self, uint64_t now_us) {
    if (self->goal == GOAL_NONE || self->is_answered || !is_due(self, SERVER_REST_LIFE, now_us))
        return;
    self->was_asked = self->is_asked;
    self->is_asked = true;
    begin_request(self, SERVER_REST_LIFE, "POST", self->goal == GOAL_READY ? "/ready" : "/shutdown",
                  "{}", now_us);
}

static void begin_counter(server_agones* self, uint64_t now_us, uint32_t players,
                          uint32_t players_max) {
    char body[96];
    if (players == self->told || !is_due(self, SERVER_REST_COUNTER, now_us)) return;
    (void)base_text_format(body, sizeof body, "{\"count\":\"%u\",\"capacity\":\"%u\"}", players,
                           players_max);
    self->telling = players;
    begin_request(self, SERVER_REST_COUNTER, "PATCH", "/v1beta1/counters/" SERVER_AGONES_COUNTER,
                  body, now_us + SERVER_AGONES_COUNTER_MS * UINT64_C(1000));
}

static void begin_annotation(server_agones* self, uint64_t now_us) {
    annotation* it = self->annotations;
    while (it < self->annotations + ANNOTATIONS_MAX && (it->is_told || !it->value[0]))
        it++;
    if (it == self->annotations + ANNOTATIONS_MAX || !is_due(self, SERVER_REST_ANNOTATION, now_us))
        return;
    base_bytes body;
    base_bytes_init(&body, NULL);
    base_json_write(&body, "{key=%s value=%s}", it->name, it->value);
    base_bytes_write_u8(&body, 0);
    if (body.size <= SERVER_REST_BODY_BYTES) {
        self->saying = it;
        begin_request(self, SERVER_REST_ANNOTATION, "PUT", "/metadata/annotation",
                      (const char*)body.data, now_us);
    }
    base_bytes_deinit(&body);
}

static void begin_watch(server_agones* self, uint64_t now_us) {
    if (!is_due(self, SERVER_REST_WATCH, now_us)) return;
    self->has_line = false;
    self->was_answered = self->is_answered;
    self->is_skipping = false;
    base_bytes_clear(&self->line);
    begin_request(self, SERVER_REST_WATCH, "GET", "/watch/gameserver", NULL,
                  now_us + SERVER_AGONES_AGAIN_MS * UINT64_C(1000));
}

void server_agones_pass(server_agones* self, uint64_t now_us, uint32_t players,
                        uint32_t players_max) {
    server_rest_event event;
    self->rest.poll(self->rest.context);
    while (self->rest.next(self->rest.context, &event)) {
        // One that was cut after this event came says no more.
        if (!self->slots[event.slot].is_busy) continue;
        if (event.data)
            hear(self, event.data, event.size, now_us);
        else {
            self->slots[event.slot].is_busy = false;
            if (event.status != 200)
                take_failure(self, &event, now_us);
            else if (event.slot != SERVER_REST_WATCH) // its lines are its answer
                take_success(self, event.slot);
            if (event.slot == SERVER_REST_ANNOTATION) self->saying = NULL;
        }
    }
    if (is_due(self, SERVER_REST_HEALTH, now_us))
        begin_request(self, SERVER_REST_HEALTH, "POST", "/health", "{}",
                      now_us + SERVER_AGONES_HEALTH_MS * UINT64_C(1000));
    begin_watch(self, now_us);
    begin_life(self, now_us);
    begin_counter(self, now_us, players, players_max);
    begin_annotation(self, now_us);
}
