// SPDX-License-Identifier: MIT
/// Inside of the mirror: what it holds, and a decoded body before it is applied.
#pragma once

#include "state/snapshot_format.h"
#include "mirror/mirror.h"
#include "core/pool.h"
#include "state/row_ring.h"
#include "state/row_world.h"

/// Words of all rows of one body: what hostile bytes can make us allocate.
#define NET_SNAPSHOT_WORDS_MAX (1u << 20)

/// Formers are kept while the newest packet is at most so many ticks past their end, and while their rows
/// take at most this part of memory_bytes_max.
#define NET_MIRROR_PREVIOUS_TICKS 64u
#define NET_MIRROR_PREVIOUS_SHARE 8u

/// A life of a slot: one handle with one template.
typedef struct net_mirror_incarnation {
    const net_row_template* row_template;
    ecs_tick tick;           ///< oldest create record of it that came
    ecs_tick forgotten_tick; ///< newest row of it that is not kept; with has_forgotten
    net_row_ring ring;       ///< its rows; of the present life the newest is what the world holds
    bool has_forgotten;
} net_mirror_incarnation;

/// The last life of a slot that ended: late packets may still speak of it.
typedef struct net_mirror_previous {
    net_mirror_incarnation incarnation;
    ecs_entity handle;
    uint32_t slot;
    ecs_tick end_tick;                         ///< of the record that ended it
    struct net_mirror_previous *older, *newer; ///< in the order in which they ended here
} net_mirror_previous;

/// One slot.
typedef struct net_mirror_slot {
    ecs_entity handle;                  ///< NONE: nothing there
    uint32_t stamp;                     ///< number of the body that named it last
    net_mirror_incarnation incarnation; ///< the present one
    net_mirror_previous* previous;      ///< or NULL
    ecs_tick tick;                      ///< newest record applied, ends of lives too; with is_known
    ecs_tick previous_tick; ///< what was known before this life began; with has_previous
    bool is_known;
    bool has_previous;
    bool was_shown; ///< it lived in the world when the newest row was applied
} net_mirror_slot;

/// One entity index.
typedef struct net_mirror_index {
    ecs_tick tick;      ///< newest row applied, in whatever slot; with is_known
    ecs_tick gone_tick; ///< newest record that ended what lived there; 0: none
    uint32_t slot_next; ///< slot + 1 of where it lives; 0: nowhere
    uint32_t stamp;     ///< number of the body that created it last
    bool is_known;
} net_mirror_index;

/// Which slots a decoded packet told a row of.
typedef struct net_mirror_packet {
    ecs_tick tick;
    uint8_t* gaps; ///< slots rising, each as its distance from the one before + 1, 7 bits per byte
    uint32_t gaps_size, gaps_capacity;
    uint16_t seq;
    bool is_decoded;
} net_mirror_packet;

typedef enum net_mirror_kind {
    NET_MIRROR_DESTROY,
    NET_MIRROR_CREATE,
    NET_MIRROR_UPDATE
} net_mirror_kind;

/// A decoded record.
typedef struct net_mirror_record {
    net_mirror_kind kind;
    uint32_t slot;
    ecs_entity handle;    ///< an update's is that of the present life; NONE for a destroy
    uint32_t words_first; ///< its row
    const net_row_template* row_template; ///< NULL for a destroy
    bool is_absolute;                     ///< says all, whatever is there
    bool is_previous;   ///< an update of the slot's previous life: its handle and template
    ecs_tick base_tick; ///< oldest row it was coded against, unless is_absolute
} net_mirror_record;

/// The allocator of all a mirror holds: it refuses what is beyond the limit.
typedef struct net_mirror_memory {
    base_allocator allocator;
    const base_allocator* parent;
    size_t used_bytes, bytes_max;
} net_mirror_memory;

struct net_mirror {
    const base_allocator* allocator; ///< of the mirror itself
    net_mirror_memory memory;
    net_pool pool; ///< of rows and lists
    ecs_world* world;
    net_rows* rows;
    uint32_t index_max;  ///< of indices and slots (below)
    uint32_t index_bits; ///< on the wire
    net_mirror_trace_fn trace;
    void* trace_context;
    net_mirror_sink sink;
    net_mirror_slot* slots;
    uint32_t slot_capacity;
    net_mirror_previous *previous_oldest, *previous_newest;
    size_t previous_bytes;     ///< of their rows
    net_mirror_index* indices; ///< [index]
    uint32_t index_capacity;
    net_mirror_packet packets[NET_SNAPSHOT_PACKETS]; ///< [seq % NET_SNAPSHOT_PACKETS]
    uint16_t seq;                                    ///< newest; with has_seq
    bool has_seq;
    ecs_tick tick;
    bool has_tick;
    net_result broken; ///< applying failed half way: nothing is read any more
    uint32_t snapshot_number;
    net_mirror_record* records; ///< of the body that is being read
    uint32_t record_count, record_capacity;
    uint64_t* words;
    uint32_t word_count, word_capacity;
    uint64_t* listed;     ///< a bit per slot: scratch of a list that is being sorted, else 0
    uint64_t* listed_any; ///< a bit per word of `listed`
    uint8_t* gaps;        ///< scratch
    uint32_t gaps_capacity;
    net_row_world target;
    net_mirror_counters counters;
    uint64_t component_bits[ECS_COMPONENTS_MAX + 1]; ///< of all rows read, by ecs_component_id
    uint32_t body_bits[ECS_COMPONENTS_MAX + 1];      ///< of the body that is being read; else 0
};

/// Decode a body into mirror->records and words. Nothing else changes but counters.
/// @return as net_mirror_read.
BASE_MUST_USE net_result net_mirror_decode(net_mirror* mirror, uint16_t seq, ecs_tick tick,
                                           proto_bit_reader* snapshot);

// mirror_store.c
void net_mirror_memory_init(net_mirror_memory* memory, const base_allocator* parent,
                            size_t bytes_max);
/// The place of a slot below index_max, of an index up to it; NULL when memory ran out. Pointers die with
/// the next call for the same kind.
net_mirror_slot* net_mirror_slot_at(net_mirror* mirror, uint32_t slot);
net_mirror_index* net_mirror_index_at(net_mirror* mirror, uint32_t index);
/// The slot where an entity lives, or NULL.
net_mirror_slot* net_mirror_find(const net_mirror* mirror, ecs_entity entity);
/// The list of a packet that was decoded and is remembered, or NULL.
const net_mirror_packet* net_mirror_find_packet(const net_mirror* mirror, uint16_t seq);
/// Remember which slots the records of the body that was decoded tell rows of.
/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_mirror_remember(net_mirror* mirror, uint16_t seq, ecs_tick tick);
/// Walk a list: `at` begins as 0, `next` as 0; false at the end.
bool net_mirror_next_slot(const net_mirror_packet* packet, uint32_t* at, uint32_t* next,
                          uint32_t* slot);

// mirror_previous.c
/// The present life of a slot has ended at `tick`: it becomes the previous one, if there is room; the slot's
/// ring is empty then.
void net_mirror_keep_previous(net_mirror* mirror, net_mirror_slot* slot, ecs_tick tick);
/// Forget those that ended too long before mirror->tick, or all.
void net_mirror_expire_previous(net_mirror* mirror);
void net_mirror_drop_previous(net_mirror* mirror);
/// The previous life of a slot when an update of this tick can only speak of that one, else NULL.
const net_mirror_previous* net_mirror_find_previous(const net_mirror_slot* slot, ecs_tick tick);
