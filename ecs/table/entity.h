// SPDX-License-Identifier: MIT
/// What a world knows of an index beside its record: links of parents and children, and handles
/// that are referenced or loading (entity.c).
#pragma once

#include "base/table.h"
#include "ecs/detail/fast.h"
#include "ecs/template.h"

// Links of parents and children by index. The hierarchy decides what they say.

#define ECS_LINK_END UINT32_MAX ///< no index; ends the list of news
#define ECS_LINK_PAGE_BITS 8u   ///< of an index, within a page of links
#define ECS_LINK_PAGE (1u << ECS_LINK_PAGE_BITS)

/// By index. `first` and `last` are of the index as a parent, the rest of its entity as a child.
typedef struct ecs_link {
    ecs_entity parent; ///< as the value said when it was linked; ECS_ENTITY_NONE: in no list
    uint32_t first;    ///< indices of children, whichever generation they name; 0: none
    uint32_t last;
    uint32_t next; ///< siblings, rising; 0: none
    uint32_t previous;
    uint32_t news_next; ///< in the list of news; 0: not in it
    uint32_t stamp;     ///< of the last walk that came by
    uint32_t unused;
} ecs_link;
_Static_assert(sizeof(ecs_link) == 32, "two links fill a cache line");

/// Pages are short, since a mirror has those alone of which it knows a parent or a child.
typedef struct ecs_links {
    ecs_link** pages; ///< those that exist
    uint32_t page_capacity;
    ecs_component_id component; ///< holds the parent; ECS_COMPONENT_NONE: no hierarchy
    uint32_t news;              ///< index of the first entity to look at; ECS_LINK_END: none
    bool is_behind;             ///< every row is to be looked at: after a restore
} ecs_links;

/// NULL when the index has no page.
static inline ecs_link* ecs_link_at(const ecs_links* links, uint32_t index) {
    const uint32_t at = index >> ECS_LINK_PAGE_BITS;
    ecs_link* page = at < links->page_capacity ? links->pages[at] : NULL;
    return page ? &page[index & (ECS_LINK_PAGE - 1)] : NULL;
}
/// Make the page of an index.
void ecs_link_reserve(ecs_world* world, uint32_t index);
/// The row of an entity was filled, or changed its archetype: its value is to be looked at.
void ecs_link_record(ecs_links* links, ecs_entity entity);
/// Take an index out of its parent's list.
void ecs_link_remove(ecs_links* links, uint32_t index);
/// Release all pages; all rows are to be looked at.
void ecs_links_clear(ecs_world* world);

// Held handles.

/// A handle that is referenced or loading.
typedef struct ecs_held_handle {
    ecs_entity handle;
    uint32_t references;
    uint32_t pending; ///< slot + 1 in ecs_loading.slots; 0: it waits for no resources
    ecs_template_id pending_template; ///< with `pending`: of the entity that waits
    bool is_loading;
} ecs_held_handle;

typedef struct ecs_held_handles {
    base_table table; ///< positions in `items` by index
    ecs_held_handle* items;
    uint32_t count, capacity;
    uint32_t allocated_count; ///< in state ALLOCATED
    uint32_t loading_count;   ///< in state LOADING
} ecs_held_handles;

/// The entry of a handle; NULL when it is not held.
ecs_held_handle* ecs_held_find(const ecs_world* world, ecs_entity handle);
/// Is a handle of this index held, of whichever generation?
bool ecs_held_has_index(const ecs_world* world, uint32_t index);
/// Does an entity of this template wait for resources?
bool ecs_held_has_pending(const ecs_world* world, ecs_template_id template_id);
/// Forget all; give the memory back.
void ecs_held_deinit(ecs_world* world);

// States of handles that are held.

/// Could a handle name an entity of this world?
bool ecs_handle_is_in_range(const ecs_world* world, ecs_entity handle);
/// The entry of a handle, made when there is none.
ecs_held_handle* ecs_handle_hold(ecs_world* world, ecs_entity handle);
/// Take an entry out whose handle is neither referenced nor loading; its index may be free then.
void ecs_handle_drop(ecs_world* world, ecs_held_handle* entry);
/// NONE, ALLOCATED, LOADING -> CREATED and back: keeps the counts of states right.
void ecs_held_created(ecs_world* world, ecs_entity handle);
void ecs_held_destroyed(ecs_world* world, ecs_entity handle);
