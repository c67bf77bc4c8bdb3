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

#include "base/assert.h"
#include "mirror/packed_row.h"

#include <string.h>

enum { GAP_BITS = 7, GAP_MORE = 1 << GAP_BITS, GAP_BYTES_MAX = 5 };

void net_mirror_unpack(const net_mirror_incarnation* incarnation, uint32_t position,
                       uint64_t* row) {
    net_packed_row_read(&incarnation->row_template->layout,
                        net_tick_ring_entry(&incarnation->ring, position), row);
}

void net_mirror_unpack_record(const net_mirror* mirror, const net_mirror_record* record,
                              uint64_t* row) {
    net_packed_row_read(&record->row_template->layout, mirror->packed + record->row_first, row);
}

// Make the pages up to this entry. @return false when memory ran out.
static bool reserve(net_mirror* mirror, net_mirror_pages* of, uint32_t number, size_t bytes) {
    const base_allocator* memory = &mirror->memory.allocator;
    while (number >= of->count) {
        const uint32_t page = of->count / NET_MIRROR_PAGE;
        if (!BASE_ARRAY_RESERVE(memory, of->pages, of->page_capacity, page + 1)) return false;
        of->pages[page] = base_allocate_zero(memory, NET_MIRROR_PAGE * bytes);
        if (!of->pages[page]) return false;
        of->count += NET_MIRROR_PAGE;
    }
    return true;
}

static void release(net_mirror* mirror, net_mirror_pages* of, size_t bytes) {
    const base_allocator* memory = &mirror->memory.allocator;
    for (uint32_t i = 0; i < of->count / NET_MIRROR_PAGE; i++)
        base_release(memory, of->pages[i], NET_MIRROR_PAGE * bytes);
    BASE_ARRAY_RELEASE(memory, of->pages, of->page_capacity);
}

void net_mirror_release_pages(net_mirror* mirror) {
    release(mirror, &mirror->slots, sizeof(net_mirror_slot));
    release(mirror, &mirror->indices, sizeof(net_mirror_index));
}

net_mirror_slot* net_mirror_slot_at(net_mirror* mirror, uint32_t slot) {
    BASE_ASSERT(slot < mirror->index_max);
    if (!reserve(mirror, &mirror->slots, slot, sizeof(net_mirror_slot))) return NULL;
    return net_mirror_slot_of(mirror, slot);
}

net_mirror_index* net_mirror_index_at(net_mirror* mirror, uint32_t index) {
    BASE_ASSERT(index <= mirror->index_max);
    if (!reserve(mirror, &mirror->indices, index, sizeof(net_mirror_index))) return NULL;
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

static void mark(net_mirror* mirror, uint32_t slot) {
    BASE_ASSERT(slot / 64 < mirror->listed_capacity);
    mirror->listed[slot / 64] |= UINT64_C(1) << (slot % 64);
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

net_result net_mirror_remember(net_mirror* mirror, uint16_t seq, ecs_tick tick) {
    if (!advance(mirror, seq)) return NET_OK;
    net_mirror_packet* packet = packet_of(mirror, seq);
    packet->is_decoded = false;
    const base_allocator* memory = &mirror->memory.allocator;
    if (!BASE_ARRAY_RESERVE(memory, mirror->gaps, mirror->gaps_capacity,
                            mirror->record_count * GAP_BYTES_MAX) ||
        !BASE_ARRAY_RESERVE(memory, mirror->listed, mirror->listed_capacity,
                            mirror->record_count > 0 ? mirror->slots.count / 64 : 0))
        return NET_ERR_MEMORY;
    for (uint32_t i = 0; i < mirror->record_count; i++)
        if (mirror->records[i].kind != NET_MIRROR_DESTROY) mark(mirror, mirror->records[i].slot);
    uint32_t size = take_marks(mirror);
    if (!BASE_ARRAY_RESERVE(&mirror->pool.allocator, packet->gaps, packet->gaps_capacity, size))
        return NET_ERR_MEMORY;
    if (size > 0) memcpy(packet->gaps, mirror->gaps, size);
    packet->gaps_size = size;
    packet->seq = seq;
    packet->tick = tick;
    packet->is_decoded = true;
    return NET_OK;
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
