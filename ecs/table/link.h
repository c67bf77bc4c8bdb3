// SPDX-License-Identifier: MIT
/// Links of parents and children by index (link.c). The hierarchy (ecs/hierarchy) decides what they
/// say.
#pragma once

#include "ecs/detail/fast.h"

#define ECS_LINK_END UINT32_MAX ///< no index; ends the list of news

/// By index. `first` and `last` are of the index as a parent, the rest of its entity as a child.
typedef struct ecs_link {
    ecs_entity parent; ///< as the value said when it was linked; ECS_ENTITY_NONE: in no list
    uint32_t first;    ///< indices of children, whichever generation they name; 0: none
    uint32_t last;
    uint32_t next; ///< siblings, rising; 0: none
    uint32_t previous;
    uint32_t news_next; ///< in the list of what is to be looked at; 0: not in it
    uint32_t stamp;     ///< of the last walk that came by
    uint32_t unused;
} ecs_link;
_Static_assert(sizeof(ecs_link) == 32, "two links fill a cache line");

typedef struct ecs_links {
    ecs_link** pages;           ///< as of records; NULL: no hierarchy
    ecs_component_id component; ///< holds the parent; ECS_COMPONENT_NONE: no hierarchy
    uint32_t news;              ///< index of the first entity to look at; ECS_LINK_END: none
    bool is_behind; ///< every row is to be looked at: after a restore, or when memory ran out
} ecs_links;

/// NULL when the index has no page.
static inline ecs_link* ecs_link_at(const ecs_links* links, uint32_t index) {
    ecs_link* page = links->pages[index >> ECS_PAGE_BITS];
    return page ? &page[index & (ECS_PAGE_RECORDS - 1)] : NULL;
}
/// Make the page of an index. @return false when memory ran out.
BASE_MUST_USE bool ecs_link_reserve(ecs_world* world, uint32_t index);
/// The row of an entity was filled, or changed its archetype: its value is to be looked at.
void ecs_link_note(ecs_links* links, ecs_entity entity);
/// Take an index out of its parent's list.
void ecs_link_remove(ecs_links* links, uint32_t index);
/// Release all pages; all rows are to be looked at.
void ecs_links_clear(ecs_world* world);
