// SPDX-License-Identifier: MIT
// Everything is an event with a time: a request on its way, an answer on its way, a message of a
// read on its way.
#include "broker_sim.h"

#include "base/text.h"

#include <stdlib.h>

typedef enum event_kind {
    EVENT_APPEND,
    EVENT_LAST,
    EVENT_READ,
    EVENT_REPORT,
    EVENT_ANSWER,
} event_kind;

typedef struct event {
    uint64_t due_us, order;
    event_kind kind;
    uint32_t user;
    uint64_t request, expected; // READ: expected is the sequence
    char id[NET_BROKER_ID_BYTES];
    uint8_t* data; // owned
    size_t size;
    net_broker_code code;
    uint64_t sequence, end;
    bool is_first, with_end, replaces;
} event;

typedef struct message {
    uint8_t* data;
    size_t size;
    char id[NET_BROKER_ID_BYTES]; // empty: forgotten
    uint64_t stored_us;
} message;

typedef struct user {
    struct broker_sim* sim;
    uint32_t number;
    uint64_t cut_until_us, distance_us;
    uint64_t reconnects;
    bool is_reading, has_appended;
    uint64_t read_request, read_next, read_sent;
    event* answers; // that arrived, in order
    size_t answer_count, answer_capacity;
    uint8_t* taken;
} user;

struct broker_sim {
    base_rng rng;
    broker_sim_faults faults;
    uint64_t now_us, stalled_until_us, down_until_us, id_us, room, order;
    bool counts_refused;
    uint64_t reads;
    uint32_t payload_max;
    event* events;
    size_t event_count, event_capacity;
    message* messages;
    size_t message_count, message_capacity;
    uint64_t expired;
    user users[BROKER_SIM_USERS_MAX];
    uint32_t user_count;
};

static void* grown(void* array, size_t* capacity, size_t count, size_t element) {
    if (count <= *capacity) return array;
    *capacity = count * 2;
    void* larger = realloc(array, *capacity * element);
    BASE_ASSERT(larger);
    return larger;
}

static uint8_t* copy_of(const uint8_t* data, size_t size) {
    uint8_t* copy = malloc(size + 1);
    BASE_ASSERT(copy);
    if (size > 0) memcpy(copy, data, size);
    return copy;
}

static bool happens(broker_sim* sim, uint32_t per_mille) {
    return per_mille > 0 && base_rng_below(&sim->rng, 1000) < per_mille;
}

static bool is_cut(const broker_sim* sim, const user* self) {
    return sim->now_us < self->cut_until_us || sim->now_us < sim->down_until_us;
}

static void add_event(broker_sim* sim, event added) {
    const broker_sim_faults* faults = &sim->faults;
    const uint32_t span = faults->delay_us_max - faults->delay_us_min;
    added.due_us += sim->now_us + sim->users[added.user].distance_us + faults->delay_us_min +
                    (span ? base_rng_below(&sim->rng, span) : 0);
    added.order = sim->order++;
    sim->events =
        grown(sim->events, &sim->event_capacity, sim->event_count + 1, sizeof *sim->events);
    sim->events[sim->event_count++] = added;
}

static void add_request(user* self, event request) {
    broker_sim* sim = self->sim;
    request.user = self->number;
    request.due_us = 0;
    if (is_cut(sim, self) || happens(sim, sim->faults.request_lost)) {
        free(request.data);
        return;
    }
    if (request.kind != EVENT_READ && request.kind != EVENT_REPORT &&
        happens(sim, sim->faults.request_twice)) {
        event again = request;
        again.data = copy_of(request.data, request.size);
        again.due_us = base_rng_below(&sim->rng, 3000000);
        add_event(sim, again);
    }
    add_event(sim, request);
}

static void answer(broker_sim* sim, const event* request, net_broker_code code, uint64_t sequence,
                   const message* with) {
    if (happens(sim, sim->faults.answer_lost)) return;
    event made = {.kind = EVENT_ANSWER,
                  .user = request->user,
                  .request = request->request,
                  .code = code,
                  .sequence = sequence,
                  .end = request->with_end ? sim->message_count : 0};
    if (happens(sim, sim->faults.answer_late)) made.due_us = sim->faults.late_us;
    if (with) {
        made.data = copy_of(with->data, with->size);
        made.size = with->size;
    }
    add_event(sim, made);
}

// ---- what the broker does ----

static const message* find_id(const broker_sim* sim, const char* id) {
    for (size_t i = sim->message_count; i > 0; i--) {
        const message* at = &sim->messages[i - 1];
        if (at->stored_us + sim->id_us < sim->now_us) break;
        if (strcmp(at->id, id) == 0) return at;
    }
    return NULL;
}

static message* add_message(broker_sim* sim) {
    sim->messages =
        grown(sim->messages, &sim->message_capacity, sim->message_count + 1, sizeof *sim->messages);
    message* added = &sim->messages[sim->message_count++];
    *added = (message){.stored_us = sim->now_us};
    return added;
}

// A known id comes first, as the real one does it: also when the expected sequence is wrong.
static void serve_append(broker_sim* sim, event* request) {
    const message* known = find_id(sim, request->id);
    if (known) {
        answer(sim, request, NET_BROKER_DONE, (uint64_t)(known - sim->messages) + 1, NULL);
    } else if (request->size > sim->payload_max) {
        answer(sim, request, NET_BROKER_REFUSED, 0, NULL);
    } else if (request->expected != sim->message_count) {
        answer(sim, request, NET_BROKER_WRONG_LAST, 0, NULL);
    } else if (sim->message_count >= sim->room) {
        if (sim->counts_refused) (void)add_message(sim);
        answer(sim, request, NET_BROKER_FULL, 0, NULL);
    } else {
        message* stored = add_message(sim);
        *stored = (message){.data = request->data, .size = request->size, .stored_us = sim->now_us};
        memcpy(stored->id, request->id, sizeof stored->id);
        if (request->replaces) sim->expired = sim->message_count - 1;
        request->data = NULL;
        answer(sim, request, NET_BROKER_DONE, sim->message_count, NULL);
    }
}

// To all others that read, or have appended.
static void serve_report(broker_sim* sim, const event* report) {
    const message said = {.data = report->data, .size = report->size};
    for (uint32_t i = 0; i < sim->user_count; i++) {
        const user* other = &sim->users[i];
        if (i != report->user && (other->is_reading || other->has_appended))
            answer(sim, &(event){.user = i}, NET_BROKER_REPORT, 0, &said);
    }
}

static void serve(broker_sim* sim, event* request) {
    user* self = &sim->users[request->user];
    size_t count = sim->message_count;
    while (count > 0 && !sim->messages[count - 1].data)
        count--;
    if (request->kind == EVENT_REPORT) {
        serve_report(sim, request);
    } else if (happens(sim, sim->faults.unready)) {
        answer(sim, request, NET_BROKER_UNREADY, 0, NULL);
    } else if (request->kind == EVENT_APPEND) {
        serve_append(sim, request);
    } else if (request->kind == EVENT_LAST) {
        answer(sim, request, NET_BROKER_DONE, count, count ? &sim->messages[count - 1] : NULL);
    } else {
        self->is_reading = true;
        self->read_request = request->request;
        self->read_next = request->expected;
        self->read_sent = 0;
        sim->reads++;
    }
}

// Messages of a read do not overtake each other.
static void deliver(broker_sim* sim, user* self) {
    enum { AHEAD_MAX = 64 };
    if (!self->is_reading || is_cut(sim, self)) return;
    while (self->read_next <= sim->message_count && self->answer_count < AHEAD_MAX) {
        const uint64_t sequence = self->read_next++;
        const message* at = &sim->messages[sequence - 1];
        if (sequence <= sim->expired || !at->data) continue;
        const bool is_first = self->read_sent++ == 0;
        for (uint32_t i = 0; i < 1 + (uint32_t)happens(sim, sim->faults.message_twice); i++) {
            if (happens(sim, sim->faults.message_lost)) continue;
            self->answers = grown(self->answers, &self->answer_capacity, self->answer_count + 1,
                                  sizeof *self->answers);
            self->answers[self->answer_count++] = (event){.request = self->read_request,
                                                          .code = NET_BROKER_MESSAGE,
                                                          .sequence = sequence,
                                                          .is_first = is_first,
                                                          .data = copy_of(at->data, at->size),
                                                          .size = at->size};
        }
    }
}

static void arrive(broker_sim* sim, event* arrived) {
    user* self = &sim->users[arrived->user];
    if (is_cut(sim, self)) {
        free(arrived->data);
        return;
    }
    self->answers =
        grown(self->answers, &self->answer_capacity, self->answer_count + 1, sizeof *self->answers);
    self->answers[self->answer_count++] = *arrived;
}

// @return the first event that is due; SIZE_MAX: none.
static size_t find_due(const broker_sim* sim, uint64_t now_us) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < sim->event_count; i++) {
        const event* at = &sim->events[i];
        if (at->due_us > now_us) continue;
        if (found == SIZE_MAX || at->due_us < sim->events[found].due_us ||
            (at->due_us == sim->events[found].due_us && at->order < sim->events[found].order))
            found = i;
    }
    return found;
}

void broker_sim_run(broker_sim* sim, uint64_t now_us) {
    BASE_ASSERT(now_us >= sim->now_us);
    for (size_t at; (at = find_due(sim, now_us)) != SIZE_MAX;) {
        event due = sim->events[at];
        sim->events[at] = sim->events[--sim->event_count];
        if (due.due_us > sim->now_us) sim->now_us = due.due_us;
        if (sim->now_us < sim->down_until_us) {
            free(due.data);
        } else if (due.kind == EVENT_ANSWER) {
            arrive(sim, &due);
        } else if (sim->now_us < sim->stalled_until_us) {
            due.due_us = sim->stalled_until_us - sim->now_us;
            add_event(sim, due);
        } else {
            serve(sim, &due);
            free(due.data);
        }
    }
    sim->now_us = now_us;
    for (uint32_t i = 0; i < sim->user_count && now_us >= sim->stalled_until_us; i++)
        deliver(sim, &sim->users[i]);
}

// ---- as a user sees it ----

static net_broker_status user_status(void* context) {
    const user* self = context;
    return (net_broker_status){.is_connected = !is_cut(self->sim, self),
                               .payload_bytes_max = self->sim->payload_max,
                               .reconnects = self->reconnects};
}

static void user_append(void* context, uint64_t request, const net_broker_append* append) {
    ((user*)context)->has_appended = true;
    event made = {.kind = EVENT_APPEND,
                  .request = request,
                  .expected = append->expected,
                  .data = copy_of(append->data, append->size),
                  .size = append->size,
                  .replaces = append->replaces};
    BASE_ASSERT(base_text_copy(made.id, sizeof made.id, append->id));
    add_request(context, made);
}

static void user_last(void* context, uint64_t request, bool with_end) {
    add_request(context, (event){.kind = EVENT_LAST, .request = request, .with_end = with_end});
}

static void user_read(void* context, uint64_t request, uint64_t sequence) {
    add_request(context, (event){.kind = EVENT_READ, .request = request, .expected = sequence});
}

static void user_report(void* context, const void* data, size_t size) {
    add_request(context, (event){.kind = EVENT_REPORT, .data = copy_of(data, size), .size = size});
}

static bool user_take(void* context, net_broker_answer* taken) {
    user* self = context;
    free(self->taken);
    self->taken = NULL;
    if (self->answer_count == 0) return false;
    const event first = self->answers[0];
    memmove(self->answers, self->answers + 1, --self->answer_count * sizeof *self->answers);
    self->taken = first.data;
    *taken = (net_broker_answer){.code = first.code,
                                 .request = first.request,
                                 .sequence = first.sequence,
                                 .end = first.end,
                                 .is_first = first.is_first,
                                 .data = first.data,
                                 .size = first.size};
    return true;
}

net_broker broker_sim_connect(broker_sim* sim) {
    BASE_ASSERT(sim->user_count < BROKER_SIM_USERS_MAX);
    user* self = &sim->users[sim->user_count];
    *self = (user){.sim = sim, .number = sim->user_count++};
    return (net_broker){.context = self,
                        .status = user_status,
                        .append = user_append,
                        .last = user_last,
                        .read = user_read,
                        .report = user_report,
                        .take = user_take};
}

// ---- faults ----

static void drop_answers(user* self) {
    for (size_t i = 0; i < self->answer_count; i++)
        free(self->answers[i].data);
    self->answer_count = 0;
}

void broker_sim_set_distance(broker_sim* sim, uint32_t number, uint64_t us) {
    sim->users[number].distance_us = us;
}

void broker_sim_cut(broker_sim* sim, uint32_t number, uint64_t until_us) {
    BASE_ASSERT(number < sim->user_count);
    user* self = &sim->users[number];
    self->cut_until_us = until_us;
    self->is_reading = false;
    self->reconnects++;
    drop_answers(self);
    // What it sent is on its way already.
    for (size_t i = sim->event_count; i > 0; i--) {
        if (sim->events[i - 1].user != number || sim->events[i - 1].kind != EVENT_ANSWER) continue;
        free(sim->events[i - 1].data);
        sim->events[i - 1] = sim->events[--sim->event_count];
    }
}

void broker_sim_stall(broker_sim* sim, uint64_t until_us) {
    sim->stalled_until_us = until_us;
}

void broker_sim_restart(broker_sim* sim, uint64_t until_us) {
    for (uint32_t i = 0; i < sim->user_count; i++)
        broker_sim_cut(sim, i, until_us);
    sim->down_until_us = until_us;
    for (size_t i = 0; i < sim->event_count; i++)
        free(sim->events[i].data);
    sim->event_count = 0;
    for (size_t i = 0; i < sim->message_count; i++)
        sim->messages[i].id[0] = 0;
}

void broker_sim_set_room(broker_sim* sim, uint64_t messages_max) {
    sim->room = messages_max;
}

void broker_sim_set_counts_refused(broker_sim* sim) {
    sim->counts_refused = true;
}

void broker_sim_set_payload_max(broker_sim* sim, uint32_t bytes) {
    sim->payload_max = bytes;
}

void broker_sim_set_id_us(broker_sim* sim, uint64_t id_us) {
    sim->id_us = id_us;
}

void broker_sim_forget(broker_sim* sim, uint64_t count) {
    while (sim->message_count > count)
        free(sim->messages[--sim->message_count].data);
    if (sim->expired > count) sim->expired = count;
}

void broker_sim_expire(broker_sim* sim, uint64_t sequence) {
    sim->expired = sequence;
}

void broker_sim_set_faults(broker_sim* sim, const broker_sim_faults* faults) {
    sim->faults = *faults;
}

uint64_t broker_sim_reads(const broker_sim* sim) {
    return sim->reads;
}

uint64_t broker_sim_count(const broker_sim* sim) {
    return sim->message_count;
}

uint64_t broker_sim_first(const broker_sim* sim) {
    return sim->expired + 1;
}

const uint8_t* broker_sim_message(const broker_sim* sim, uint64_t sequence, size_t* size) {
    BASE_ASSERT(sequence >= 1 && sequence <= sim->message_count);
    *size = sim->messages[sequence - 1].size;
    return sim->messages[sequence - 1].data;
}

broker_sim* broker_sim_create(uint64_t seed) {
    broker_sim* sim = calloc(1, sizeof *sim);
    BASE_ASSERT(sim);
    sim->rng = base_rng_make(seed, 7);
    sim->faults = (broker_sim_faults){.delay_us_min = 200, .delay_us_max = 500};
    sim->payload_max = 1u << 20;
    sim->id_us = 120000000;
    sim->room = UINT64_MAX;
    return sim;
}

void broker_sim_destroy(broker_sim* sim) {
    if (!sim) return;
    for (uint32_t i = 0; i < sim->user_count; i++) {
        drop_answers(&sim->users[i]);
        free(sim->users[i].answers);
        free(sim->users[i].taken);
    }
    for (size_t i = 0; i < sim->event_count; i++)
        free(sim->events[i].data);
    broker_sim_forget(sim, 0);
    free(sim->events);
    free(sim->messages);
    free(sim);
}
