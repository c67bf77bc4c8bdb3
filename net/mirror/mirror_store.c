// SPDX-License-Identifier: MIT
// What a mirror stores besides rows: slots and indices, and the slots of which recent packets had
// rows, so that a later packet can name "the same ones".
//
// A packet names the list of a packet at most 63 sequence numbers before it, so a window of numbers
// is enough. A newer packet pushes out the one NET_SNAPSHOT_PACKETS behind, whether it arrived or
// not, so a number that wraps around never meets its previous list. A packet from before the window
// is not stored.
//
// Lists are sorted through a bit per slot (records come in several rising runs) and stored as
// distances, one byte each while they are below 128.

#include "mirror/snapshot_reader.h"
#include "state/world_digest.h"

#include "base/assert.h"
#include "base/bytes.h"

#include <string.h>

enum { GAP_BITS = 7, GAP_MORE = 1 << GAP_BITS, GAP_BYTES_MAX = 5 };

void net_mirror_unpack_record(const net_mirror* mirror, const net_mirror_record* record,
                              uint64_t* row) {
    net_packed_row_read(&record->row_template->layout, mirror->packed + record->row_first, row);
}

// Make the pages up to this entry.
static void reserve(net_mirror* mirror, net_mirror_pages* of, uint32_t number, size_t bytes) {
    const base_allocator* own = &mirror->own->allocator;
    while (number >= of->count) {
        const uint32_t page = of->count / NET_MIRROR_PAGE;
        BASE_ARRAY_RESERVE(own, of->pages, of->page_capacity, page + 1);
        of->pages[page] = base_allocate_zero(own, NET_MIRROR_PAGE * bytes);
        of->count += NET_MIRROR_PAGE;
    }
}

net_mirror_slot* net_mirror_slot_at(net_mirror* mirror, uint32_t slot) {
    BASE_ASSERT(slot < mirror->index_max);
    reserve(mirror, &mirror->slots, slot, sizeof(net_mirror_slot));
    return net_mirror_slot_of(mirror, slot);
}

net_mirror_index* net_mirror_index_at(net_mirror* mirror, uint32_t index) {
    BASE_ASSERT(index <= mirror->index_max);
    reserve(mirror, &mirror->indices, index, sizeof(net_mirror_index));
    return net_mirror_index_of(mirror, index);
}

net_mirror_slot* net_mirror_find(const net_mirror* mirror, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    if (entity == ECS_ENTITY_NONE || index >= mirror->indices.count) return NULL;
    uint32_t slot_next = net_mirror_index_of(mirror, index)->slot_next;
    if (slot_next == 0) return NULL;
    net_mirror_slot* slot = net_mirror_slot_of(mirror, slot_next - 1);
    return slot->handle == entity ? slot : NULL;
}

// ---- parked entities (net_mirror_rebase) ----

static bool is_nameless(const net_mirror_slot* slot) {
    return slot->handle == ECS_ENTITY_NONE && !slot->is_known;
}

// From the highest one on, since servers give the lowest first.
static net_result find_place(net_mirror* mirror, uint32_t* number) {
    while (mirror->park_next > 0) {
        *number = --mirror->park_next;
        if (is_nameless(net_mirror_slot_of(mirror, *number))) return NET_OK;
    }
    for (*number = mirror->slots.count; *number > 0;)
        if (is_nameless(net_mirror_slot_of(mirror, --*number))) return NET_OK;
    *number = mirror->slots.count;
    if (*number >= mirror->index_max) return NET_ERR_FULL;
    (void)net_mirror_slot_at(mirror, *number);
    mirror->park_next = mirror->slots.count; // a page of them
    return find_place(mirror, number);
}

net_result net_mirror_move_parked(net_mirror* mirror, uint32_t number) {
    uint32_t place;
    const net_result result = find_place(mirror, &place);
    if (result != NET_OK) return result;
    net_mirror_slot* from = net_mirror_slot_of(mirror, number);
    net_mirror_slot* to = net_mirror_slot_of(mirror, place);
    BASE_ASSERT(net_mirror_is_parked(from) && !to->previous && !from->previous);
    const uint32_t stamp = to->stamp;
    const net_mirror_incarnation idle = to->incarnation;
    *to = *from;
    to->stamp = stamp;
    from->handle = ECS_ENTITY_NONE;
    from->incarnation = idle;
    net_mirror_index_of(mirror, ecs_entity_index(to->handle))->slot_next = (place + 1) & INT32_MAX;
    return NET_OK;
}

// ---- lists ----

static net_mirror_packet* packet_of(net_mirror* mirror, uint16_t seq) {
    return &mirror->packets[seq % NET_SNAPSHOT_PACKETS];
}

const net_mirror_packet* net_mirror_find_packet(const net_mirror* mirror, uint16_t seq) {
    const net_mirror_packet* packet = &mirror->packets[seq % NET_SNAPSHOT_PACKETS];
    return packet->is_decoded && packet->seq == seq ? packet : NULL;
}

// @return false: the packet lies before the window.
static bool advance(net_mirror* mirror, uint16_t seq) {
    int16_t ahead = (int16_t)(uint16_t)(seq - mirror->seq);
    if (mirror->has_seq && ahead <= 0) return ahead > -(int16_t)NET_SNAPSHOT_PACKETS;
    uint32_t passed = mirror->has_seq && (uint32_t)ahead < NET_SNAPSHOT_PACKETS
                          ? (uint32_t)ahead
                          : NET_SNAPSHOT_PACKETS;
    for (uint32_t i = 0; i < passed; i++)
        packet_of(mirror, (uint16_t)(seq - i))->is_decoded = false;
    mirror->seq = seq;
    mirror->has_seq = true;
    return true;
}

static uint32_t put_gap(uint8_t* gaps, uint32_t gap) {
    uint32_t count = 0;
    for (; gap >= GAP_MORE; gap >>= GAP_BITS)
        gaps[count++] = (uint8_t)(gap | GAP_MORE);
    gaps[count++] = (uint8_t)gap;
    return count;
}

// Write the marked slots as gaps and clear the marks. @return bytes.
static uint32_t take_marks(net_mirror* mirror) {
    uint32_t size = 0, next = 0;
    for (uint32_t word = 0; word < mirror->listed_capacity; word++) {
        for (uint64_t bits = mirror->listed[word]; bits; bits &= bits - 1) {
            uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
            size += put_gap(mirror->gaps + size, slot - next);
            next = slot + 1;
        }
        mirror->listed[word] = 0;
    }
    return size;
}

void net_mirror_remember(net_mirror* mirror, uint16_t seq, ecs_tick tick) {
    if (!advance(mirror, seq)) return;
    net_mirror_packet* packet = packet_of(mirror, seq);
    packet->is_decoded = false;
    const base_allocator* own = &mirror->own->allocator;
    BASE_ARRAY_RESERVE(own, mirror->gaps, mirror->gaps_capacity,
                       mirror->record_count * GAP_BYTES_MAX);
    BASE_ARRAY_RESERVE(own, mirror->listed, mirror->listed_capacity,
                       mirror->record_count > 0 ? mirror->slots.count / 64 : 0);
    for (uint32_t i = 0; i < mirror->record_count; i++) {
        const uint32_t slot = mirror->records[i].slot;
        if (mirror->records[i].kind != NET_MIRROR_DESTROY)
            mirror->listed[slot / 64] |= UINT64_C(1) << (slot % 64);
    }
    uint32_t size = take_marks(mirror);
    BASE_ARRAY_RESERVE(&mirror->pool.allocator, packet->gaps, packet->gaps_capacity, size);
    if (size > 0) memcpy(packet->gaps, mirror->gaps, size);
    packet->gaps_size = size;
    packet->seq = seq;
    packet->tick = tick;
    packet->is_decoded = true;
}

bool net_mirror_next_slot(const net_mirror_packet* packet, uint32_t* at, uint32_t* next,
                          uint32_t* slot) {
    if (*at == packet->gaps_size) return false;
    uint32_t gap = 0, shift = 0;
    uint8_t byte;
    do {
        byte = packet->gaps[(*at)++];
        gap |= (uint32_t)(byte & (GAP_MORE - 1)) << shift;
        shift += GAP_BITS;
    } while (byte & GAP_MORE);
    *slot = *next + gap;
    *next = *slot + 1;
    return true;
}

// Ended incarnations: packets overtake each other, and a packet that was written while an entity
// existed may arrive after its destroy. Its record of that entity is useless, but the other records
// of the packet are not, and a reader without the base rows of one record cannot read the rest.
//
// One previous incarnation per slot, the last: a server uses a slot for another entity only after
// its destroy was acknowledged, so a packet with a record of an earlier one is a round trip late or
// more.
//
// Ticks decide to which incarnation an update belongs. Updates follow the acknowledgement of a
// create of their incarnation. So an update that is newer than the present incarnation's first
// create is of the present one; an update between the first create and the end of the previous one
// is of that one; any other is refused. All its bases were acknowledged before it was written, so
// they arrived before the end: rows that arrive after the end are not kept.
//
// They use a bounded part of the memory: the oldest are dropped first, and all of them before a row
// of a present incarnation.

static void drop(net_mirror* mirror, net_mirror_previous* previous) {
    BASE_ASSERT(net_mirror_slot_of(mirror, previous->slot)->previous == previous);
    if (previous->older)
        previous->older->newer = previous->newer;
    else
        mirror->previous_oldest = previous->newer;
    if (previous->newer)
        previous->newer->older = previous->older;
    else
        mirror->previous_newest = previous->older;
    net_mirror_slot_of(mirror, previous->slot)->previous = NULL;
    mirror->previous_bytes -= previous->incarnation.ring.bytes_allocated;
    net_tick_ring_deinit(&previous->incarnation.ring, &mirror->pool.allocator);
    base_release(&mirror->pool.allocator, previous, sizeof *previous);
}

static net_mirror_previous* make_room(net_mirror* mirror, size_t bytes) {
    size_t bytes_max = mirror->memory.bytes_max / NET_MIRROR_PREVIOUS_SHARE;
    if (bytes > bytes_max) return NULL;
    while (mirror->previous_oldest && bytes > bytes_max - mirror->previous_bytes)
        drop(mirror, mirror->previous_oldest);
    return base_allocate(&mirror->pool.allocator, sizeof(net_mirror_previous));
}

void net_mirror_keep_previous(net_mirror* mirror, uint32_t number, ecs_tick tick) {
    net_mirror_slot* slot = net_mirror_slot_of(mirror, number);
    BASE_ASSERT(slot->handle != ECS_ENTITY_NONE);
    if (slot->previous) drop(mirror, slot->previous);
    size_t bytes = slot->incarnation.ring.bytes_allocated;
    net_mirror_previous* previous =
        slot->incarnation.ring.count > 0 && slot->is_known ? make_room(mirror, bytes) : NULL;
    if (!previous) {
        net_tick_ring_deinit(&slot->incarnation.ring, &mirror->pool.allocator);
        return;
    }
    *previous = (net_mirror_previous){.incarnation = slot->incarnation,
                                      .handle = slot->handle,
                                      .slot = number,
                                      .end_tick = tick,
                                      .older = mirror->previous_newest};
    if (previous->older)
        previous->older->newer = previous;
    else
        mirror->previous_oldest = previous;
    mirror->previous_newest = previous;
    mirror->previous_bytes += bytes;
    slot->previous = previous;
    slot->incarnation.ring = (net_tick_ring){0};
}

void net_mirror_expire_previous(net_mirror* mirror) {
    while (mirror->previous_oldest &&
           mirror->tick - mirror->previous_oldest->end_tick > NET_MIRROR_PREVIOUS_TICKS)
        drop(mirror, mirror->previous_oldest);
}

void net_mirror_drop_previous(net_mirror* mirror) {
    while (mirror->previous_oldest)
        drop(mirror, mirror->previous_oldest);
}

const net_mirror_previous* net_mirror_find_previous(const net_mirror_slot* slot, ecs_tick tick) {
    const net_mirror_previous* previous = slot->previous;
    if (!previous || tick <= previous->incarnation.tick || tick >= previous->end_tick) return NULL;
    if (slot->handle != ECS_ENTITY_NONE && tick >= slot->incarnation.tick) return NULL;
    return previous;
}

uint32_t net_packed_row_bytes(const proto_layout* layout) {
    uint32_t bytes = 0;
    for (uint32_t f = 0; f < layout->field_count; f++)
        bytes += layout->word_bytes[f];
    return bytes;
}

uint32_t net_packed_row_write(const proto_layout* layout, const uint64_t* row, uint8_t* packed) {
    const uint8_t* first = packed;
    for (uint32_t f = 0; f < layout->field_count; f++) { // what is after a word is written later
        base_store_le64(packed, row[f]);
        packed += layout->word_bytes[f];
    }
    return (uint32_t)(packed - first);
}

// A word is one load of eight bytes of the row: they begin with it, or end with it.
void net_packed_row_read(const proto_layout* layout, const uint8_t* packed, uint64_t* row) {
    static const uint64_t masks[9] = {
        [1] = UINT8_MAX, [2] = UINT16_MAX, [4] = UINT32_MAX, [8] = UINT64_MAX};
    const uint32_t count = layout->field_count;
    const uint8_t *first = packed, *bytes = layout->word_bytes, *end = bytes + count;
    // At least as many bytes are left as fields.
    for (const uint8_t* last = end - (count < 7 ? count : 7); bytes < last; packed += *bytes++)
        *row++ = base_load_le64(packed) & masks[*bytes];
    for (; bytes < end; packed += *bytes++, row++) {
        if (packed + *bytes - first >= 8) {
            *row = base_load_le64(packed + *bytes - 8) >> (64 - 8 * *bytes);
            continue;
        }
        *row = 0;
        for (uint32_t i = 0; i < *bytes; i++)
            *row |= (uint64_t)packed[i] << (8 * i);
    }
}

// What a mirror without a world keeps beside rows: variable-size values that are not the default,
// and the digest over both. A world keeps the values itself.
//
// An entity that changes its template keeps the values of components that it still has, as
// ecs_recreate does.

static net_mirror_value* find_value(const net_mirror* mirror, ecs_entity entity,
                                    ecs_component_id component) {
    for (uint32_t i = 0; i < mirror->value_count; i++)
        if (mirror->values[i].entity == entity && mirror->values[i].component == component)
            return &mirror->values[i];
    return NULL;
}

static void drop_value(net_mirror* mirror, net_mirror_value* value) {
    base_release(&mirror->own->allocator, value->bytes, value->size);
    *value = mirror->values[--mirror->value_count];
}

void net_mirror_drop_values(net_mirror* mirror, ecs_entity entity,
                            const net_row_template* row_template) {
    for (uint32_t i = mirror->value_count; i-- > 0;) {
        net_mirror_value* value = &mirror->values[i];
        if (value->entity != entity) continue;
        if (row_template && net_row_find_varsize(row_template, value->component)) continue;
        drop_value(mirror, value);
    }
}

void net_mirror_keep_value(net_mirror* mirror, ecs_entity entity, ecs_component_id component,
                           const void* bytes, uint32_t size) {
    BASE_ASSERT(!mirror->world);
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    // A component that the entity lacks is no fault of the connection.
    if (!slot || !net_row_find_varsize(slot->incarnation.row_template, component)) return;
    net_mirror_value* value = find_value(mirror, entity, component);
    if (value) drop_value(mirror, value);
    if (!bytes) return;
    const base_allocator* own = &mirror->own->allocator;
    BASE_ARRAY_RESERVE(own, mirror->values, mirror->value_capacity, mirror->value_count + 1);
    uint8_t* copy = size > 0 ? memcpy(base_allocate(own, size), bytes, size) : NULL;
    mirror->values[mirror->value_count++] = (net_mirror_value){entity, component, size, copy};
}

// ---- what it has ----

ecs_entity net_mirror_next(const net_mirror* mirror, ecs_entity before) {
    for (uint32_t i = ecs_entity_index(before) + 1; i < mirror->indices.count; i++) {
        uint32_t slot_next = net_mirror_index_of(mirror, i)->slot_next;
        if (slot_next > 0) return net_mirror_slot_of(mirror, slot_next - 1)->handle;
    }
    return ECS_ENTITY_NONE;
}

const net_row_template* net_mirror_row(const net_mirror* mirror, ecs_entity entity, uint64_t* row) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    if (!slot) return NULL;
    if (row) net_mirror_unpack(&slot->incarnation, slot->incarnation.ring.count - 1u, row);
    return slot->incarnation.row_template;
}

const uint64_t* net_mirror_words(const net_mirror* mirror, ecs_entity entity, uint32_t* field_count,
                                 uint64_t* row) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    if (!slot) return NULL;
    *field_count = slot->incarnation.row_template->layout.field_count;
    return net_mirror_row_at(&slot->incarnation, slot->incarnation.ring.count - 1u, row);
}

uint64_t net_mirror_row_changes(const net_mirror* mirror, ecs_entity entity) {
    const net_mirror_slot* slot = net_mirror_find(mirror, entity);
    BASE_ASSERT(slot && slot->incarnation.ring.count > 0);
    uint64_t before[PROTO_ROW_FIELDS_MAX], row[PROTO_ROW_FIELDS_MAX];
    const net_mirror_incarnation* own = &slot->incarnation;
    if (own->ring.count < 2) return UINT64_MAX;
    return net_row_changed(own->row_template, net_mirror_row_at(own, own->ring.count - 2u, before),
                           net_mirror_row_at(own, own->ring.count - 1u, row));
}

const uint8_t* net_mirror_value_bytes(const net_mirror* mirror, ecs_entity entity,
                                      ecs_component_id component, uint32_t* size) {
    static const uint8_t nothing[1] = {0};
    const net_mirror_value* value = find_value(mirror, entity, component);
    *size = value ? value->size : 0;
    return !value ? NULL : value->size > 0 ? value->bytes : nothing;
}

// ---- the digest ----

static ecs_entity next_entity(const void* context, ecs_entity previous) {
    return net_mirror_next(context, previous);
}

static const net_row_template* get_row(const void* context, ecs_entity entity, uint64_t* row) {
    return net_mirror_row(context, entity, row);
}

static bool get_value(const void* context, ecs_entity entity, ecs_component_id component,
                      base_bytes* bytes) {
    const net_mirror_value* value = find_value(context, entity, component);
    if (value) base_bytes_write(bytes, value->bytes, value->size);
    return value != NULL;
}

net_world_digest net_mirror_digest(const net_mirror* mirror, ecs_world* world) {
    BASE_ASSERT(!mirror->world && world);
    const net_digest_source source = {
        .context = mirror, .next = next_entity, .row = get_row, .value = get_value};
    return net_digest_source_walk(&source, world);
}
