// SPDX-License-Identifier: MIT
// The variable-size values of a match as they are now.
//
// A value gets a new stamp when its bytes differ. Stamps are never sent, so no client can count
// changes that it does not see. The values of an entity form a chain that begins at its index.
//
// A change of template matters to clients only where it changes a value that they hold without a
// message: the component was added or removed, or its default differs. Then the value is sent to
// all clients that have the entity, for records of that tick and later ones (`since`).
//
// A destroyed entity keeps its places until every sender forgot them (spread), since senders name
// values by place.
// What each client sees and has is further down.
#include "state/varsize.h"

#include "base/assert.h"

#include <string.h>

#define NET_VARSIZE_NONE UINT32_MAX

// One component of one entity. Other structures name it by its place in the array.
typedef struct net_varsize_value {
    ecs_entity handle;
    ecs_component_id component;
    uint16_t number;
    uint8_t class_;
    bool is_present;   // the entity's template has it now
    bool is_default;   // or too long: clients have the default
    bool is_destroyed; // the entity is gone; the place becomes free after the next spread
    bool is_listed;    // in `changed`
    uint32_t stamp;    // of the bytes; 0: none yet
    ecs_tick since;    // tick of the last template change that mattered
    const net_row_template* row_template;
    uint8_t* bytes;
    uint32_t size, capacity;
    uint32_t next; // of the same entity
} net_varsize_value;

struct net_varsize_source {
    base_owner owner;
    const base_allocator* allocator; // the owner's
    net_rows* rows;
    uint32_t index_max;
    base_reporter reporter;
    net_varsize_value* values;
    uint32_t value_count, value_capacity;
    uint32_t* first; // [index]: place + 1 of its first value
    uint32_t first_capacity;
    uint32_t* changed; // places, since the last spread
    uint32_t changed_count, changed_capacity;
    uint32_t* free;
    uint32_t free_count, free_capacity;
    uint32_t stamp_last; // goes round: a record is compared long before the same one comes again
    ecs_tick tick;       // of the newest step
    net_varsize_sender* senders; // a list, in order of leaving and joining
    base_bytes scratch;
    bool has_stepped, has_reported_long;
    net_varsize_counters counters;
};

// What a sender knows of a value that was ever in its scope. Each client has one for each such
// value of the match.
typedef struct net_varsize_record {
    uint32_t place; // of the value; NONE: forgotten, free once it has left the queue
    uint32_t queue_next;
    uint32_t since;   // tick at which it came into scope; low 32 bits
    uint32_t sent;    // NET_VARSIZE_SENT_... or the stamp of the last sent value
    uint32_t version; // of the last send; low 32 bits
    uint16_t classes;
    bool is_in_scope : 1, is_queued : 1;
    bool was_sent : 1; // a value was sent at least once
    uint8_t flight;    // its place in flight + 1; 0: none
} net_varsize_record;

_Static_assert(sizeof(net_varsize_record) == 24, "few bytes, since there are so many");

#define NET_VARSIZE_SENT_DEFAULT 0u         // the client has the default, sent or by creation
#define NET_VARSIZE_SENT_UNKNOWN UINT32_MAX // the client may have any value

typedef struct net_varsize_flight {
    uint64_t version;
    uint32_t record; // NONE: forgotten
    uint32_t bytes;
} net_varsize_flight;

struct net_varsize_sender {
    base_owner owner;
    net_varsize_source* source;
    net_varsize_sender *next, *previous;
    uint32_t* record_of; // [place of a value]: record + 1
    uint32_t record_of_capacity;
    net_varsize_record* records;
    uint32_t record_count, record_capacity;
    uint32_t record_free; // first of a list by queue_next
    uint32_t queue_first, queue_last, queue_count;
    net_varsize_flight flights[NET_VARSIZE_FLIGHT_MAX];
    uint32_t flight_count, flight_bytes;
    uint64_t version_last;
    int64_t credit;  // bytes that may be sent
    bool is_rebased; // the client may have any value of what comes into scope
};

// Place of an entity's first value, NET_VARSIZE_NONE when it has none.
static uint32_t find_first_value(const net_varsize_source* source, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    uint32_t first = index < source->first_capacity ? source->first[index] : 0;
    return first && source->values[first - 1].handle == entity ? first - 1 : NET_VARSIZE_NONE;
}

net_varsize_source* net_varsize_source_create(const base_allocator* allocator, net_rows* rows,
                                              uint32_t index_max, const base_reporter* reporter) {
    BASE_ASSERT(rows);
    net_varsize_source* made = base_owner_create(allocator, sizeof *made);
    made->allocator = &made->owner.allocator;
    made->rows = rows;
    made->index_max = index_max;
    if (reporter) made->reporter = *reporter;
    base_bytes_init(&made->scratch, made->allocator);
    return made;
}

void net_varsize_source_destroy(net_varsize_source* source) {
    BASE_ASSERT(!source || !source->senders);
    base_owner_destroy(source);
}

// Each value at most once between two spreads.
static void mark_changed(net_varsize_source* source, uint32_t at) {
    if (source->values[at].is_listed) return;
    BASE_ARRAY_RESERVE(source->allocator, source->changed, source->changed_capacity,
                       source->changed_count + 1);
    source->changed[source->changed_count++] = at;
    source->values[at].is_listed = true;
}

static uint32_t add_value(net_varsize_source* source, ecs_entity entity,
                          const net_row_varsize* varsize) {
    BASE_ASSERT(ecs_entity_index(entity) <= source->index_max);
    uint32_t index = ecs_entity_index(entity);
    BASE_ARRAY_RESERVE(source->allocator, source->first, source->first_capacity, index + 1);
    uint32_t at = source->value_count;
    if (source->free_count > 0) {
        at = source->free[--source->free_count];
    } else {
        BASE_ARRAY_RESERVE(source->allocator, source->values, source->value_capacity, at + 1);
        source->value_count++;
    }
    net_varsize_value* value = &source->values[at];
    uint8_t* bytes = value->bytes;
    uint32_t capacity = value->capacity;
    uint32_t first = find_first_value(source, entity);
    *value = (net_varsize_value){.handle = entity,
                                 .component = varsize->component,
                                 .number = varsize->number,
                                 .class_ = varsize->class_,
                                 .bytes = bytes,
                                 .capacity = capacity,
                                 .next = first};
    source->first[index] = at + 1;
    source->counters.values++;
    return at;
}

static void report_long(net_varsize_source* source, const ecs_world* world,
                        const net_varsize_value* value, size_t size) {
    source->counters.values_long++;
    if (source->has_reported_long) return;
    source->has_reported_long = true;
    base_report(&source->reporter, NULL, 0,
                "%s of entity %u:%u is %zu bytes long: beyond %u clients have its default",
                ecs_component_get(world, value->component)->name, ecs_entity_index(value->handle),
                ecs_entity_generation(value->handle), size, NET_VARSIZE_BYTES_MAX);
}

// Copy what a living entity's component holds.
static void take_value(net_varsize_source* source, const ecs_world* world, uint32_t at,
                       const net_row_template* row_template) {
    BASE_ASSERT(source->values[at].is_present);
    net_varsize_value* value = &source->values[at];
    base_bytes_clear(&source->scratch);
    net_varsize_write(world, value->handle, value->component, &source->scratch);
    size_t size = source->scratch.size;
    bool is_long = size > NET_VARSIZE_BYTES_MAX;
    bool is_default = is_long || size == 0 ||
                      net_varsize_is_default(world, row_template, value->handle, value->component);
    if (is_long) report_long(source, world, value, size);
    bool is_same = value->stamp > 0 && value->is_default == is_default &&
                   (is_default ||
                    (value->size == size && memcmp(value->bytes, source->scratch.data, size) == 0));
    value->is_default = is_default;
    if (is_same) return;
    if (!is_default) {
        value->size = (uint32_t)source->scratch.size;
        BASE_ARRAY_RESERVE(source->allocator, value->bytes, value->capacity, value->size);
        memcpy(value->bytes, source->scratch.data, value->size);
    }
    if (++source->stamp_last == NET_VARSIZE_SENT_UNKNOWN) source->stamp_last = 1;
    value->stamp = source->stamp_last;
    mark_changed(source, at);
}

// One component of an entity that spawned or changed its template.
static void take_component(net_varsize_source* source, const ecs_world* world, ecs_entity entity,
                           const net_row_template* row_template, const net_row_varsize* varsize,
                           ecs_tick tick) {
    uint32_t at = find_first_value(source, entity);
    while (at != NET_VARSIZE_NONE && source->values[at].number != varsize->number)
        at = source->values[at].next;
    if (at == NET_VARSIZE_NONE) at = add_value(source, entity, varsize);
    net_varsize_value* value = &source->values[at];
    const net_row_template* before = value->row_template;
    bool is_another =
        before && (!value->is_present ||
                   (before != row_template &&
                    !net_varsize_same_default(world, before, row_template, varsize->component)));
    bool is_reclassed = value->class_ != varsize->class_;
    value->row_template = row_template;
    value->class_ = varsize->class_;
    value->is_present = true;
    if (is_another) value->since = tick;
    if (is_another || is_reclassed) mark_changed(source, at);
    take_value(source, world, at, row_template);
}

static bool is_taken(const net_varsize_source* source, ecs_entity entity) {
    return ecs_entity_index(entity) <= source->index_max;
}

static void take_entity(net_varsize_source* source, const ecs_world* world, ecs_entity entity,
                        ecs_tick tick) {
    if (!is_taken(source, entity) || !ecs_is_alive(world, entity)) return;
    const net_row_template* row_template =
        net_rows_find(source->rows, ecs_entity_template(world, entity));
    for (uint32_t at = find_first_value(source, entity); at != NET_VARSIZE_NONE;
         at = source->values[at].next) {
        if (!row_template || !net_row_find_varsize(row_template, source->values[at].component))
            source->values[at].is_present = false;
    }
    for (uint32_t i = 0; row_template && i < row_template->varsize_count; i++)
        take_component(source, world, entity, row_template, &row_template->varsizes[i], tick);
}

// The senders forget its values at the next spread.
static void end_entity(net_varsize_source* source, ecs_entity entity) {
    uint32_t at = find_first_value(source, entity);
    if (at == NET_VARSIZE_NONE) return;
    source->first[ecs_entity_index(entity)] = 0;
    for (; at != NET_VARSIZE_NONE; at = source->values[at].next) {
        source->values[at].is_destroyed = true;
        source->counters.values--;
        mark_changed(source, at);
    }
}

static void take_change(net_varsize_source* source, const ecs_world* world,
                        const ecs_change* change) {
    uint32_t at = find_first_value(source, change->entity);
    while (at != NET_VARSIZE_NONE && source->values[at].component != change->component)
        at = source->values[at].next;
    if (at == NET_VARSIZE_NONE || !source->values[at].is_present) return;
    if (ecs_find(world, change->entity, change->component))
        take_value(source, world, at, source->values[at].row_template);
}

static void take_changes(net_varsize_source* source, const ecs_world* world, ecs_tick tick) {
    ecs_changes changes = ecs_changes_get(world);
    for (uint32_t i = 0; i < changes.destroyed_count; i++)
        if (is_taken(source, changes.destroyed[i]) && !ecs_is_alive(world, changes.destroyed[i]))
            end_entity(source, changes.destroyed[i]);
    for (uint32_t i = 0; i < changes.created_count; i++)
        take_entity(source, world, changes.created[i], tick);
    for (uint32_t i = 0; i < changes.recreated_count; i++)
        take_entity(source, world, changes.recreated[i], tick);
    for (uint32_t i = 0; i < changes.changed_count; i++)
        take_change(source, world, &changes.changed[i]);
}

const net_varsize_counters* net_varsize_source_get_counters(const net_varsize_source* source) {
    return &source->counters;
}

// What one client has of variable-size values, what it should have, and what is in flight.
//
// For each value in its scope a record stores what was sent last. It should have the value's stamp,
// or the default (not visible, too long, or a default value). Where the two differ the record waits
// in a queue, first come first served, and is compared again at its turn. So a value that changed
// ten times meanwhile is sent once, and one that changed back is not sent.
//
// A record stays when its entity leaves the scope. When the entity comes back, the client may still
// have the previous incarnation with the values sent then, or a new one with the default: so the
// value is sent again.
//
// Invariants: a queued record has is_queued; a record is in flight at most once; flight_bytes is
// the sum of the flights. A record that was forgotten while it is queued becomes free at its turn.

#define PASSED_OVER_MAX 64u ///< of a publish: records whose entity the client does not have yet
#define CREDIT_MAX (2 * (int64_t)NET_VARSIZE_BYTES_MAX)

net_varsize_sender* net_varsize_sender_create(net_varsize_source* source) {
    net_varsize_sender* made = base_owner_create(source->allocator, sizeof *made);
    made->source = source;
    made->record_free = made->queue_first = made->queue_last = NET_VARSIZE_NONE;
    made->next = source->senders;
    if (made->next) made->next->previous = made;
    source->senders = made;
    return made;
}

void net_varsize_sender_rebase(net_varsize_sender* sender, ecs_tick tick) {
    BASE_ASSERT(sender->record_count == 0 && sender->version_last == 0);
    sender->version_last = tick << 16;
    sender->is_rebased = true;
}

void net_varsize_sender_end_rebase(net_varsize_sender* sender) {
    sender->is_rebased = false;
}

void net_varsize_sender_destroy(net_varsize_sender* sender) {
    if (!sender) return;
    if (sender->previous)
        sender->previous->next = sender->next;
    else
        sender->source->senders = sender->next;
    if (sender->next) sender->next->previous = sender->previous;
    base_owner_destroy(sender);
}

// ---- records ----

static net_varsize_record* find_record(const net_varsize_sender* sender, uint32_t place) {
    uint32_t at = place < sender->record_of_capacity ? sender->record_of[place] : 0;
    return at ? &sender->records[at - 1] : NULL;
}

// A quarter more than needed: doubling would cost each client of a full match some kilobytes.
static void reserve(const net_varsize_sender* sender, void** array, uint32_t* capacity,
                    uint32_t count_needed, size_t element_bytes) {
    if (count_needed <= *capacity) return;
    const uint32_t grown = count_needed + count_needed / 4 + 16;
    *array = base_reallocate(&sender->owner.allocator, *array, *capacity * element_bytes,
                             grown * element_bytes);
    *capacity = grown;
}

static net_varsize_record* add_record(net_varsize_sender* sender, uint32_t place) {
    reserve(sender, (void**)&sender->record_of, &sender->record_of_capacity, place + 1,
            sizeof *sender->record_of);
    uint32_t at = sender->record_free;
    if (at != NET_VARSIZE_NONE) {
        sender->record_free = sender->records[at].queue_next;
    } else {
        at = sender->record_count;
        reserve(sender, (void**)&sender->records, &sender->record_capacity, at + 1,
                sizeof *sender->records);
        sender->record_count++;
    }
    sender->record_of[place] = at + 1;
    sender->records[at] = (net_varsize_record){.place = place, .queue_next = NET_VARSIZE_NONE};
    if (sender->is_rebased) sender->records[at].sent = NET_VARSIZE_SENT_UNKNOWN;
    return &sender->records[at];
}

static void free_record(net_varsize_sender* sender, uint32_t at) {
    BASE_ASSERT(sender->records[at].place == NET_VARSIZE_NONE);
    sender->records[at].queue_next = sender->record_free;
    sender->record_free = at;
}

static void push_queue(net_varsize_sender* sender, uint32_t at) {
    BASE_ASSERT(!sender->records[at].is_queued);
    net_varsize_record* record = &sender->records[at];
    record->is_queued = true;
    record->queue_next = NET_VARSIZE_NONE;
    if (sender->queue_first == NET_VARSIZE_NONE)
        sender->queue_first = at;
    else
        sender->records[sender->queue_last].queue_next = at;
    sender->queue_last = at;
    sender->queue_count++;
}

static void pop_queue(net_varsize_sender* sender) {
    BASE_ASSERT(sender->queue_count > 0 && sender->queue_first != NET_VARSIZE_NONE);
    net_varsize_record* record = &sender->records[sender->queue_first];
    sender->queue_first = record->queue_next;
    if (sender->queue_first == NET_VARSIZE_NONE) sender->queue_last = NET_VARSIZE_NONE;
    sender->queue_count--;
    record->is_queued = false;
    record->queue_next = NET_VARSIZE_NONE;
}

// The whole tick at which it came into scope.
static ecs_tick since_of(const net_varsize_sender* sender, const net_varsize_record* record) {
    const ecs_tick now = sender->source->tick;
    return now + (ecs_tick)(int32_t)(record->since - (uint32_t)now);
}

// What the client should have.
static uint32_t wanted(const net_varsize_value* value, const net_varsize_record* record) {
    bool is_visible = (record->classes >> value->class_ & 1) != 0;
    return is_visible && !value->is_default ? value->stamp : NET_VARSIZE_SENT_DEFAULT;
}

static bool is_due(const net_varsize_sender* sender, const net_varsize_record* record) {
    if (record->place == NET_VARSIZE_NONE || !record->is_in_scope) return false;
    const net_varsize_value* value = &sender->source->values[record->place];
    return value->is_present && wanted(value, record) != record->sent;
}

static void look(net_varsize_sender* sender, net_varsize_record* record) {
    if (record->is_queued || record->flight || !is_due(sender, record)) return;
    push_queue(sender, (uint32_t)(record - sender->records));
}

// A value has another stamp, another template, or its entity was destroyed.
static void take_changed(net_varsize_sender* sender, uint32_t place) {
    net_varsize_record* record = find_record(sender, place);
    if (!record) return;
    const net_varsize_value* value = &sender->source->values[place];
    if (value->is_destroyed) {
        uint32_t at = (uint32_t)(record - sender->records);
        sender->record_of[record->place] = 0;
        record->place = NET_VARSIZE_NONE;
        if (record->flight) sender->flights[record->flight - 1].record = NET_VARSIZE_NONE;
        record->flight = 0;
        if (!record->is_queued) free_record(sender, at);
        return;
    }
    if (record->is_in_scope && value->since > since_of(sender, record)) {
        record->since = (uint32_t)value->since;
        record->sent = NET_VARSIZE_SENT_UNKNOWN;
    }
    look(sender, record);
}

// Pass changed values to all senders; then places of destroyed entities become free.
static void spread(net_varsize_source* source) {
    if (source->changed_count == 0) return; // several senders publish at once: write nothing
    for (uint32_t i = 0; i < source->changed_count; i++) {
        uint32_t at = source->changed[i];
        net_varsize_value* value = &source->values[at];
        for (net_varsize_sender* sender = source->senders; sender; sender = sender->next)
            take_changed(sender, at);
        value->is_listed = false;
        if (!value->is_destroyed) continue;
        value->is_destroyed = false;
        value->handle = ECS_ENTITY_NONE;
        BASE_ARRAY_RESERVE(source->allocator, source->free, source->free_capacity,
                           source->free_count + 1);
        source->free[source->free_count++] = at;
    }
    source->changed_count = 0;
}

void net_varsize_source_step(net_varsize_source* source, const ecs_world* world, ecs_tick tick) {
    BASE_ASSERT(world);
    if (source->rows->varsize_count == 0) return;
    source->tick = tick;
    // The last step was not published: its destroyed values must not be mistaken for the next users
    // of their places.
    spread(source);
    if (source->has_stepped)
        take_changes(source, world, tick);
    else {
        for (ecs_entity entity = ecs_entity_next(world, ECS_ENTITY_NONE); entity != ECS_ENTITY_NONE;
             entity = ecs_entity_next(world, entity)) {
            if (!is_taken(source, entity)) break;
            take_entity(source, world, entity, tick);
        }
    }
    source->has_stepped = true;
}

void net_varsize_source_publish(net_varsize_source* source) {
    spread(source);
}

// ---- scope ----

static void enter(net_varsize_sender* sender, uint32_t place, uint32_t classes, ecs_tick tick) {
    const net_varsize_value* value = &sender->source->values[place];
    net_varsize_record* record = find_record(sender, place);
    bool is_new = !record || !record->is_in_scope;
    if (record && is_new && (record->was_sent || value->since > since_of(sender, record)))
        record->sent = NET_VARSIZE_SENT_UNKNOWN;
    if (!record) record = add_record(sender, place);
    if (is_new) record->since = (uint32_t)tick;
    record->classes = (uint16_t)classes;
    record->is_in_scope = true;
    look(sender, record);
}

void net_varsize_sender_enter(net_varsize_sender* sender, ecs_entity entity, uint32_t classes,
                              ecs_tick tick) {
    const net_varsize_source* source = sender->source;
    for (uint32_t at = find_first_value(source, entity); at != NET_VARSIZE_NONE;
         at = source->values[at].next)
        enter(sender, at, classes, tick);
}

void net_varsize_sender_reclass(net_varsize_sender* sender, ecs_entity entity, uint32_t classes) {
    const net_varsize_source* source = sender->source;
    for (uint32_t at = find_first_value(source, entity); at != NET_VARSIZE_NONE;
         at = source->values[at].next) {
        net_varsize_record* record = find_record(sender, at);
        if (!record || !record->is_in_scope) continue;
        record->classes = (uint16_t)classes;
        look(sender, record);
    }
}

void net_varsize_sender_leave(net_varsize_sender* sender, ecs_entity entity) {
    const net_varsize_source* source = sender->source;
    for (uint32_t at = find_first_value(source, entity); at != NET_VARSIZE_NONE;
         at = source->values[at].next) {
        net_varsize_record* record = find_record(sender, at);
        if (record) record->is_in_scope = false;
    }
}

// ---- sending ----

static net_result send_record(net_varsize_sender* sender, net_varsize_record* record,
                              net_varsize_send_fn send, void* context) {
    BASE_ASSERT(!record->flight && sender->flight_count < NET_VARSIZE_FLIGHT_MAX);
    net_varsize_source* source = sender->source;
    const net_varsize_value* value = &source->values[record->place];
    const uint32_t stamp = wanted(value, record);
    net_varsize_message message = {
        .handle = value->handle,
        .number = value->number,
        .version = sender->version_last + 1,
        .since = since_of(sender, record),
        .is_default = stamp == NET_VARSIZE_SENT_DEFAULT,
        .bytes = stamp == NET_VARSIZE_SENT_DEFAULT ? NULL : value->bytes,
        .size = stamp == NET_VARSIZE_SENT_DEFAULT ? 0 : value->size,
    };
    uint32_t bytes = message.size + NET_VARSIZE_FRAME_BYTES_MAX;
    if (sender->flight_bytes + bytes > NET_VARSIZE_FLIGHT_BYTES_MAX) return NET_ERR_FULL;
    net_result result = send(context, &message);
    if (result != NET_OK) return result;
    sender->version_last++;
    sender->flights[sender->flight_count++] = (net_varsize_flight){
        .version = message.version, .record = (uint32_t)(record - sender->records), .bytes = bytes};
    sender->flight_bytes += bytes;
    sender->credit -= bytes;
    record->flight = (uint8_t)sender->flight_count;
    record->version = (uint32_t)message.version;
    record->sent = stamp;
    record->was_sent = true;
    (void)__atomic_fetch_add(&source->counters.messages, 1, __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&source->counters.bytes, message.size, __ATOMIC_RELAXED);
    return NET_OK;
}

void net_varsize_sender_publish(net_varsize_sender* sender, uint32_t allowance,
                                net_varsize_send_fn send, void* context) {
    BASE_ASSERT(send);
    spread(sender->source);
    sender->credit += allowance;
    if (sender->credit > CREDIT_MAX) sender->credit = CREDIT_MAX;
    uint32_t passed_over = 0;
    // Each once: a skipped record goes to the end.
    for (uint32_t left = sender->queue_count; left > 0; left--) {
        uint32_t at = sender->queue_first;
        net_varsize_record* record = &sender->records[at];
        if (record->place == NET_VARSIZE_NONE || record->flight || !is_due(sender, record)) {
            pop_queue(sender);
            if (record->place == NET_VARSIZE_NONE) free_record(sender, at);
            continue;
        }
        if (sender->credit <= 0 || sender->flight_count == NET_VARSIZE_FLIGHT_MAX) return;
        net_result result = send_record(sender, record, send, context);
        if (result != NET_OK && result != NET_ERR_STALE) return;
        pop_queue(sender);
        if (result == NET_OK) continue;
        push_queue(sender, at);
        if (++passed_over == PASSED_OVER_MAX) return;
    }
}

static void end_flight(net_varsize_sender* sender, uint32_t place) {
    BASE_ASSERT(place < sender->flight_count);
    net_varsize_flight ended = sender->flights[place];
    net_varsize_flight* last = &sender->flights[--sender->flight_count];
    if (ended.record != NET_VARSIZE_NONE) sender->records[ended.record].flight = 0;
    sender->flight_bytes -= ended.bytes;
    sender->flights[place] = *last;
    if (last->record != NET_VARSIZE_NONE && place < sender->flight_count)
        sender->records[last->record].flight = (uint8_t)(place + 1);
}

bool net_varsize_sender_ack(net_varsize_sender* sender, uint64_t version) {
    if (version == 0 || version > sender->version_last) return false;
    uint32_t place = 0;
    while (place < sender->flight_count && sender->flights[place].version != version)
        place++;
    if (place < sender->flight_count) {
        uint32_t at = sender->flights[place].record;
        end_flight(sender, place);
        sender->source->counters.acked++;
        if (at != NET_VARSIZE_NONE) look(sender, &sender->records[at]);
    }
    return true;
}

bool net_varsize_sender_lost(net_varsize_sender* sender, ecs_entity entity, uint32_t number,
                             uint64_t version) {
    const net_varsize_source* source = sender->source;
    if (version == 0 || version > sender->version_last) return false;
    for (uint32_t at = find_first_value(source, entity); at != NET_VARSIZE_NONE;
         at = source->values[at].next) {
        net_varsize_record* record = find_record(sender, at);
        if (!record || source->values[at].number != number || record->version != (uint32_t)version)
            continue;
        record->sent = NET_VARSIZE_SENT_UNKNOWN;
        sender->source->counters.lost++;
        look(sender, record);
    }
    return true;
}

void net_varsize_sender_resume(net_varsize_sender* sender) {
    while (sender->flight_count > 0) {
        uint32_t at = sender->flights[0].record;
        end_flight(sender, 0);
        if (at == NET_VARSIZE_NONE) continue;
        sender->records[at].sent = NET_VARSIZE_SENT_UNKNOWN;
        look(sender, &sender->records[at]);
    }
}

void net_varsize_sender_explain(const net_varsize_sender* sender, ecs_entity entity,
                                ecs_component_id component, bool* waits, bool* is_flying) {
    const net_varsize_source* source = sender->source;
    uint32_t at = find_first_value(source, entity);
    while (at != NET_VARSIZE_NONE && source->values[at].component != component)
        at = source->values[at].next;
    const net_varsize_record* record = at != NET_VARSIZE_NONE ? find_record(sender, at) : NULL;
    *is_flying = record && record->flight;
    *waits = record && is_due(sender, record);
}

bool net_varsize_sender_is_settled(const net_varsize_sender* sender) {
    if (sender->flight_count > 0 || sender->source->changed_count > 0) return false;
    for (uint32_t at = sender->queue_first; at != NET_VARSIZE_NONE;
         at = sender->records[at].queue_next)
        if (is_due(sender, &sender->records[at])) return false;
    return true;
}
