// SPDX-License-Identifier: MIT
// Message fields that do not come back from the wire.
//
// A struct goes through to_wire, packing, unpacking and from_wire. Then each field gets some values
// in turn, while the others stay. A field that never changes on the other side is lost. from_wire
// may clamp or refuse: one value that comes through is enough.
#include "check/check_internal.h"

#include "game/match_internal.h"

#include "base/text.h"

#include <string.h>

typedef struct payload {
    _Alignas(16) uint8_t bytes[ECS_EVENT_BYTES_MAX];
} payload;

static const double values[] = {1, 2, 7, 100, -1, 0.25, 0.5, 3000, -50, 0};

static void put(const ecs_field* field, uint32_t element, double value, payload* target) {
    uint8_t* at = target->bytes + field->offset + element * ecs_field_kind_bytes(field->kind);
    const float single = (float)value;
    const int64_t whole = (int64_t)value;
    const ecs_entity entity = ecs_entity_make((uint32_t)(whole < 0 ? -whole : whole) + 1, 1);
    switch (field->kind) {
    case ECS_FIELD_F32:
        memcpy(at, &single, sizeof single);
        break;
    case ECS_FIELD_F64:
        memcpy(at, &value, sizeof value);
        break;
    case ECS_FIELD_ENTITY:
        memcpy(at, &entity, sizeof entity);
        break;
    case ECS_FIELD_BOOL:
        *at = whole != 0;
        break;
    default: // little-endian: the low bytes come first
        memcpy(at, &whole, ecs_field_kind_bytes(field->kind));
        break;
    }
}

static bool go_round(const net_checker* self, uint32_t message, const payload* from, payload* to) {
    uint8_t packed[NET_EVENT_PAYLOAD_BYTES_MAX];
    size_t size;
    return net_match_pack(self->server, message, from->bytes, packed, sizeof packed, &size) ==
               NET_OK &&
           net_match_unpack(self->server, message, packed, size, to->bytes);
}

static bool is_same(const ecs_field* field, uint32_t element, const payload* a, const payload* b) {
    const uint32_t bytes = ecs_field_kind_bytes(field->kind);
    const size_t at = field->offset + (size_t)element * bytes;
    return memcmp(a->bytes + at, b->bytes + at, bytes) == 0;
}

// The first field that is another one now; NULL: none is.
static const ecs_field* find_changed(const ecs_event_desc* event, const payload* a,
                                     const payload* b) {
    for (uint32_t i = 0; i < event->field_count; i++)
        for (uint32_t k = 0; k < event->fields[i].count; k++)
            if (!is_same(&event->fields[i], k, a, b)) return &event->fields[i];
    return NULL;
}

static void check_field(net_checker* self, uint32_t message, const ecs_event_desc* event,
                        const ecs_field* field, uint32_t element, const payload* base) {
    payload arrived;
    const ecs_field* other = NULL;
    uint32_t accepted = 0;
    if (!go_round(self, message, base, &arrived)) return;
    for (uint32_t i = 0; i < BASE_COUNT(values); i++) {
        payload sent = *base, got;
        put(field, element, values[i], &sent);
        if (memcmp(&sent, base, sizeof sent) == 0 || !go_round(self, message, &sent, &got))
            continue;
        accepted++;
        if (!is_same(field, element, &arrived, &got)) return;
        if (!other) other = find_changed(event, &arrived, &got);
    }
    if (accepted == 0) return;
    const net_message* known = &self->game->messages[message - 1];
    char name[2 * ECS_NAME_BYTES_MAX];
    (void)base_text_format(name, sizeof name, "%s.%s", known->name, field->name);
    net_check_report(self, "message", name,
                     "message %s: field %s of %s does not come back from the wire%s%s: see its "
                     "to_wire and from_wire",
                     known->name, field->name, event->name, other ? ", it changes " : "",
                     other ? other->name : "");
}

// A struct that from_wire takes: zeros, or one value in all fields. @return false: none was found.
static bool find_base(const net_checker* self, uint32_t message, const ecs_event_desc* event,
                      payload* base) {
    payload got;
    memset(base, 0, sizeof *base);
    if (go_round(self, message, base, &got)) return true;
    for (uint32_t v = 0; v < BASE_COUNT(values); v++) {
        memset(base, 0, sizeof *base);
        for (uint32_t i = 0; i < event->field_count; i++)
            for (uint32_t k = 0; k < event->fields[i].count; k++)
                put(&event->fields[i], k, values[v], base);
        if (go_round(self, message, base, &got)) return true;
    }
    return false;
}

void net_check_messages(net_checker* self) {
    ecs_world* world = net_match_world(self->server);
    for (uint32_t i = 0; i < self->game->message_count; i++) {
        if (self->game->messages[i].descriptor->n_fields == 0) continue; // says that it happened
        const ecs_event_type type = ecs_event_find(world, self->game->messages[i].event);
        const ecs_event_desc* event = ecs_event_get(world, type);
        payload base;
        if (!event || !find_base(self, i + 1, event, &base)) continue;
        for (uint32_t k = 0; k < event->field_count; k++) {
            const ecs_field* field = &event->fields[k];
            check_field(self, i + 1, event, field, 0, &base);
            if (field->count > 1) check_field(self, i + 1, event, field, field->count - 1, &base);
        }
    }
}
