// SPDX-License-Identifier: MIT
/// The server's memory of quantised rows: for each replicated entity the newest row and the last
/// changed ones with their ticks, indexed by change, so that the base of an idle entity never expires.
///
/// A template whose components belong to several classes of visibility has a ring per class: what changes
/// in one class neither evicts nor marks anything in another, so nothing that is visible depends on what is not.
///
/// One per match. Views (view.h) read it; nothing else of the world is looked at for replication.
/// Threads: net_history_step on the thread that owns the world; between two steps it is immutable.
#pragma once

#include "ecs/ecs.h"
#include "net/limits.h"
#include "state/row_ring.h"
#include "state/rows.h"

/// The rows of one class of visibility: only the words of its components.
typedef struct net_history_class {
    net_row_ring ring;
    uint32_t number;
} net_history_class;

/// What the history knows of one index.
typedef struct net_history_entity {
    ecs_entity handle;                    ///< NONE: no replicated entity there now
    const net_row_template* row_template; ///< of its template
    ecs_tick begin_tick;                  ///< since when it has this generation and template
    ecs_tick change_tick;                 ///< of the newest row
    net_row_ring ring;                    ///< the last changed rows, when all of it is public
    net_history_class* classes; ///< otherwise: a ring per class of the template, rising by number
    uint32_t class_count;
    uint32_t newest_words; ///< allocated
    uint64_t* newest;      ///< and the newest row as a whole
} net_history_entity;

typedef enum net_history_kind {
    NET_HISTORY_CHANGED, ///< at least one quantum moved
    NET_HISTORY_SPAWNED, ///< a new generation, or another template
    NET_HISTORY_DESPAWNED,
} net_history_kind;

typedef struct net_history_event {
    ecs_entity handle;
    uint16_t kind;    ///< net_history_kind
    uint16_t classes; ///< in which something changed; CAME: all of the template
} net_history_event;

typedef struct net_history net_history;

typedef struct net_history_counters {
    uint64_t rows_read;     ///< quantised
    uint64_t rows_changed;  ///< of those, different from the newest row
    uint64_t below_quantum; ///< changed at full precision only
    uint64_t
        out_of_memory; ///< rows that could not be kept: their bases are gone, absolute rows follow
} net_history_counters;

/// `rows` is borrowed and must outlive the history, as must the world. Handles with an index above
/// `index_max` are local and not looked at.
BASE_MUST_USE net_result net_history_create(const base_allocator* allocator, net_rows* rows,
                                            uint32_t index_max, net_history** history);
void net_history_destroy(net_history* history);
/// Take over what ecs_changes lists; call once after each step, before ecs_changes_clear, with rising
/// ticks (asserted: a tick has exactly one row). The first call takes the whole world.
/// @return NET_OK; NET_ERR_MEMORY (an index could not be remembered at all: end the match).
BASE_MUST_USE net_result net_history_step(net_history* history, const ecs_world* world,
                                          ecs_tick tick);
ecs_tick net_history_tick(const net_history* history);        ///< of the last step
uint64_t net_history_step_count(const net_history* history);  ///< steps so far
uint32_t net_history_number_bits(const net_history* history); ///< net_rows_number_bits
/// What the last step found, sorted by index; an index appears once (WENT only when nothing replaced
/// it). Borrowed until the next step.
const net_history_event* net_history_events(const net_history* history, uint32_t* count);
/// NULL when no replicated entity lives at the index.
const net_history_entity* net_history_find(const net_history* history, uint32_t index);
/// Bring into the cache of the processor what coding the row of `tick` against those of `age` and `age` + `d`
/// ticks before reads; in steps, each for the next: 0 the entity, 1 its ring, 2 its rows.
void net_history_warm(const net_history* history, uint32_t index, ecs_tick tick, uint32_t age,
                      uint32_t d, uint32_t step);
/// The highest index ever used + 1: the end of a walk with net_history_find.
uint32_t net_history_index_end(const net_history* history);
/// The whole row, whoever may see it.
const uint64_t* net_history_newest(const net_history_entity* entity);
/// The classes that matter for this entity: of a mask, those that its template uses.
static inline uint32_t net_history_classes(const net_history_entity* entity, uint32_t classes) {
    return classes & entity->row_template->class_mask;
}
/// The row as somebody saw it at `tick` who may see `classes`: the newest with a tag <= tick, components of
/// other classes at the template's defaults. Borrowed from the history when all of the template is public;
/// otherwise made in `scratch` (PROTO_ROW_FIELDS_MAX words).
/// @return NULL when it is forgotten or older than the entity's life.
const uint64_t* net_history_at(const net_history_entity* entity, ecs_tick tick, uint32_t classes,
                               uint64_t* scratch);
/// Newest tick at which something in these classes changed; the life's beginning at the least.
ecs_tick net_history_changed(const net_history_entity* entity, uint32_t classes);
const net_history_counters* net_history_get_counters(const net_history* history);
