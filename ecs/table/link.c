// SPDX-License-Identifier: MIT
// Links of parents and children: pages beside those of records, and lists through them.
//
// They lie below the hierarchy since rows that come and go must note it at once; what a list means,
// and when it catches up with the values, is the hierarchy's (hierarchy.c).
#include "table/link.h"

#include "base/assert.h"
#include "table/storage.h"
#include "type/world.h"

bool ecs_link_reserve(ecs_world* world, uint32_t index) {
    BASE_ASSERT(world->storage->links.pages && index <= ECS_INDEX_MAX);
    ecs_link** page = &world->storage->links.pages[index >> ECS_PAGE_BITS];
    if (!*page) *page = base_allocate_zero(world->allocator, ECS_PAGE_RECORDS * sizeof **page);
    return *page;
}

void ecs_link_note(ecs_links* links, ecs_entity entity) {
    uint32_t index = ecs_entity_index(entity);
    ecs_link* link = ecs_link_at(links, index);
    if (!link) {
        links->is_behind = true;
        return;
    }
    if (link->news_next != 0) return;
    link->news_next = links->news;
    links->news = index;
}

void ecs_link_remove(ecs_links* links, uint32_t index) {
    ecs_link* link = ecs_link_at(links, index);
    if (!link || link->parent == ECS_ENTITY_NONE) return;
    ecs_link* parent = ecs_link_at(links, ecs_entity_index(link->parent));
    BASE_ASSERT(parent && "a parent that has children has a link");
    uint32_t* before =
        link->previous != 0 ? &ecs_link_at(links, link->previous)->next : &parent->first;
    uint32_t* behind = link->next != 0 ? &ecs_link_at(links, link->next)->previous : &parent->last;
    BASE_ASSERT(*before == index && *behind == index);
    *before = link->next;
    *behind = link->previous;
    link->parent = ECS_ENTITY_NONE;
    link->next = link->previous = 0;
}

void ecs_links_clear(ecs_world* world) {
    ecs_links* links = &world->storage->links;
    if (!links->pages) return;
    for (uint32_t i = 0; i < ECS_PAGES; i++) {
        BASE_ARRAY_RELEASE(world->allocator, links->pages[i], ECS_PAGE_RECORDS);
        links->pages[i] = NULL;
    }
    links->news = ECS_LINK_END;
    links->is_behind = true;
}
