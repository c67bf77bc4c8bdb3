// SPDX-License-Identifier: MIT
/// Rows: the replicated components of an entity as quantised 64-bit words.
///
/// The table has one row template per replicated template: layout, default row, numbers of its
/// parts. A part without replicated components is unknown to the wire: "ball+local" travels as
/// "ball".
/// Memory:  row templates are made on first use of a template and live as long as the table.
/// Threads: the thread that owns the world.
#pragma once

#include "net/game.h"
#include "net/result.h"

#include "proto/layout.h"

#include "ecs/ecs.h"

/// An encoded row is never longer; a template that could be is refused.
#define NET_ROW_BYTES_MAX 1000u
/// A caller that offers a snapshot of at least this length can send any entity.
#define NET_SNAPSHOT_BYTES_MIN (NET_ROW_BYTES_MAX + 32u)
/// Compositions of one table; further ones are unknown. One takes about 47 KB of a client, so a
/// hostile server gets 48 MB of these (measured, test_client_hostile).
#define NET_ROW_TEMPLATES_MAX 1024u

/// Variable-size components of one template: they travel beside the rows (varsize.h).
#define NET_ROW_VARSIZE_MAX 32u

typedef struct net_row_varsize {
    ecs_component_id component;
    uint16_t number; ///< on the wire: position by name among all of the loaded templates
    uint8_t class_;  ///< visibility class
} net_row_varsize;

typedef struct net_row_template {
    ecs_template_id id; ///< of the template that the wire knows
    uint16_t part_count;
    uint16_t parts[ECS_TEMPLATE_PARTS_MAX]; ///< wire numbers, 0-based
    uint32_t value_bytes;            ///< of all replicated components in memory, each aligned to 16
    uint32_t entity_field_count;     ///< fields of kind ENTITY
    const uint64_t* defaults;        ///< the template's default row, layout.field_count words
    const uint32_t* packed_defaults; ///< the same, packed
    proto_layout layout;             ///< component keys are ecs_component_id
    uint8_t classes
        [PROTO_ROW_COMPONENTS_MAX]; ///< visibility class of each component: NET_CLASS_PUBLIC...
    uint16_t class_mask;            ///< bits of the classes that its components use
    uint8_t masked[PROTO_ROW_COMPONENTS_MAX]; ///< the components that are not public
    uint8_t masked_count;
    uint16_t importance;   ///< `_priority`, 1..16
    uint16_t varsize_mask; ///< bits of the classes of its variable-size components
    uint16_t varsize_count;
    net_row_varsize varsizes[NET_ROW_VARSIZE_MAX]; ///< by name; no part of the layout
} net_row_template;

typedef struct net_rows net_rows;

/// Build for all loaded templates of a sealed world (base_owner_destroy ends them).
/// @return NET_OK; NET_ERR_SCHEMA (reported: the type of a replicated component owns memory and
///         has no write and read, or a template exceeds PROTO_ROW_FIELDS_MAX,
///         PROTO_ROW_COMPONENTS_MAX, NET_ROW_BYTES_MAX or NET_ROW_VARSIZE_MAX).
BASE_MUST_USE net_result net_rows_create(const base_allocator* allocator, ecs_world* world,
                                         const base_reporter* reporter, net_rows** rows);
/// The same for another world with the same templates (asserted): it takes the row templates of
/// loaded templates from `like` and makes its own of compositions only. `like` must outlive it, on
/// the same thread.
net_rows* net_rows_create_like(const base_allocator* allocator, ecs_world* world, net_rows* like);
/// A component of a table without a world.
typedef struct net_rows_component {
    const char* name;
    const ecs_type* type; ///< its fields, and whether it is of variable size
    bool is_replicated;   ///< by a loaded template: those of variable size get their wire numbers
} net_rows_component;
/// For a schema that was read, in no world: `components` by id, 1..count, are borrowed (a hole has
/// no type). Set the rate before the first template is added.
net_rows* net_rows_create_bare(const base_allocator* allocator,
                               const net_rows_component* components, uint32_t count);
/// Add a template to a table without a world: a loaded one without parts, which gets the next wire
/// number, or the composition of such parts. Its components are those of the table, at most
/// ECS_TEMPLATE_COMPONENTS_MAX, and have no values; net_rows_set_defaults follows. Its id is the
/// number of templates then.
/// @return NET_OK; NET_ERR_SCHEMA (it cannot be a row, it is there, or parts are not).
BASE_MUST_USE net_result net_rows_add(net_rows* rows, const ecs_template* source,
                                      const uint16_t* parts, uint32_t part_count,
                                      const net_row_template** added);
/// Set the default row of a template that was added: words of its layout, each of its field.
void net_rows_set_defaults(net_rows* rows, const net_row_template* row_template,
                           const uint64_t* words);
/// Set the tick rate, by which integrals are predicted. Call it before the first row is encoded,
/// with the same value on both sides (a client learns it from Welcome). Without it rows are encoded
/// as if no component was the integral of another. Tables that share row templates share the rate.
void net_rows_set_tick_rate(net_rows* rows, uint32_t tick_rate_hz);
/// Bits of a template's wire number; the numbers are positions among the loaded replicated
/// templates sorted by name.
uint32_t net_rows_number_bits(const net_rows* rows);
/// The row template of a template of the world; composed ones are added on first use. NULL when it
/// has no replicated part or cannot be a row (only compositions can fail here).
const net_row_template* net_rows_find(net_rows* rows, ecs_template_id template_id);
/// The row template for the parts of a create record. NULL for numbers that do not exist or do not
/// compose.
const net_row_template* net_rows_compose(net_rows* rows, const uint16_t* parts,
                                         uint32_t part_count);
/// Quantise a living entity. `row` has room for PROTO_ROW_FIELDS_MAX words.
void net_rows_read(const net_row_template* row_template, const ecs_world* world, ecs_entity entity,
                   uint64_t* row);
/// Number of a visibility class by its name: public 0, owner 1, team 2, then the others that loaded
/// templates use, by name. UINT32_MAX when there is none.
uint32_t net_rows_class(const net_rows* rows, const char* name);
/// Put the template's defaults where a component's class is not in `classes`.
void net_rows_mask(const net_row_template* row_template, uint32_t classes, uint64_t* row);
/// The same for a packed row.
void net_rows_mask_packed(const net_row_template* row_template, uint32_t classes, uint32_t* row);
/// The words that it would change, for proto_row_job.hidden. @return 0: none, or copies must do.
uint64_t net_row_hidden(const net_row_template* row_template, uint32_t classes);
/// The component of a wire number; ECS_COMPONENT_NONE for a number that does not exist.
ecs_component_id net_rows_varsize(const net_rows* rows, uint32_t number);
/// The template's variable-size component of this id; NULL when it has none.
const net_row_varsize* net_row_find_varsize(const net_row_template* row_template,
                                            ecs_component_id component);
/// base_hash64 over the row's words: what --trace writes and net_world_digest_row_hash returns.
uint64_t net_row_hash(const net_row_template* row_template, const uint64_t* row);

/// The table of row templates inside: rows.c keeps it, row_template.c fills its entries.

struct net_rows {
    base_owner owner;
    ecs_world* world;                     ///< NULL: templates are added (net_rows_add)
    const net_rows_component* components; ///< without a world: [id] 1..component_count
    uint32_t component_count;             ///< ids run up to it
    net_rows* like; ///< NULL; or whose row templates and numbers of loaded templates these are
    net_row_template** templates; ///< owned, in order of making
    uint32_t template_count, template_capacity;
    net_row_template** by_id; ///< [template id]; NULL: none or not looked at yet
    uint8_t* states;          ///< [template id]: row_state
    uint32_t id_capacity, state_capacity;
    uint16_t* number_of;        ///< [template id of a loaded one]: wire number + 1
    uint32_t loaded_count;      ///< ids 1..loaded_count had been loaded
    net_row_template** numbers; ///< [wire number]
    uint32_t number_count, number_capacity;
    uint32_t composed_count; ///< compositions asked for so far
    uint64_t refused_count;  ///< compositions beyond NET_ROW_TEMPLATES_MAX
    char class_names[NET_CLASSES_MAX][ECS_NAME_BYTES_MAX];
    uint32_t class_count;
    ecs_component_id varsizes[ECS_COMPONENTS_MAX]; ///< [wire number], of all loaded templates
    uint32_t varsize_count;
    uint32_t tick_rate_hz; ///< 0: not known yet
};

typedef enum row_state { ROW_UNSEEN, ROW_NONE, ROW_KNOWN } row_state;

/// A component by its id.
static inline net_rows_component net_rows_component_of(const net_rows* rows, ecs_component_id id) {
    if (!rows->world) return rows->components[id];
    const ecs_component* component = ecs_component_get(rows->world, id);
    return (net_rows_component){component->name, ecs_type_get(rows->world, component->type), false};
}
/// Number the visibility classes of all loaded templates. Before any template is filled.
void net_rows_list_classes(net_rows* rows);
/// Number the variable-size components of all loaded templates. Before any template is filled.
void net_rows_list_varsizes(net_rows* rows);
/// Number one more, unless it has its number.
void net_rows_add_varsize(net_rows* rows, ecs_component_id id);
/// Fill an entry that is zero from its template. @return NULL; or why it cannot be a row, and in
/// *at the component (ECS_COMPONENT_NONE: not one alone).
const char* net_row_template_fill(const net_rows* rows, const ecs_template* source,
                                  net_row_template* row_template, ecs_component_id* at);
/// Report what net_row_template_fill returned: of a limit with its number and that of the template.
void net_row_template_report(const net_rows* rows, const ecs_template* source, const char* fault,
                             ecs_component_id component, const base_reporter* reporter);
/// Make the default rows of an entry that is filled: both forms, one after the other.
void net_row_template_fill_defaults(net_rows* rows, const ecs_template* source,
                                    net_row_template* row_template);
