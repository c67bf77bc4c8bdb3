// SPDX-License-Identifier: MIT
/// Every limit of a world has a name here.
#pragma once

#include "base/macros.h"

BASE_C_BEGIN

#define ECS_NAME_BYTES_MAX 128u  ///< with the NUL: components, templates, systems, tags
#define ECS_COMPONENTS_MAX 1024u ///< (name, type) pairs in a world
#define ECS_TYPES_MAX 256u
#define ECS_TEMPLATES_MAX 65535u         ///< loaded and composed
#define ECS_TEMPLATE_COMPONENTS_MAX 256u ///< components of one template
#define ECS_TEMPLATE_PARTS_MAX 8u        ///< "a+b+c" composes at most eight
#define ECS_ARCHETYPES_MAX 65535u
#define ECS_CHUNKS_MAX (1u << 18)
#define ECS_CHUNK_ROWS_MIN 16u
#define ECS_CHUNK_ROWS_MAX 16384u
#define ECS_CHUNK_BYTES_MAX (16u << 20)
#define ECS_SYSTEMS_MAX 1024u
#define ECS_QUERY_TERMS_MAX 32u
#define ECS_STAGES_MAX 16u
#define ECS_SHARED_NAMES_MAX 64u ///< names in reads and writes of systems that are no components
#define ECS_RANGES_MAX 64u       ///< ranges of the rows of one system
#define ECS_TAGS_MAX 64u
#define ECS_FIELDS_MAX 64u        ///< fields of one struct type
#define ECS_TYPE_BYTES_MAX 65536u ///< a relocatable type larger than this is refused: box it
#define ECS_EVENT_TYPES_MAX 256u
#define ECS_EVENT_BYTES_MAX 2048u     ///< payload of one event
#define ECS_TEXT_BYTES_MAX (1u << 20) ///< one datablock file
#define ECS_TEXT_DEPTH_MAX 32u        ///< nesting of blocks in a datablock file
#define ECS_TEXT_ITEMS_MAX 10240u     ///< parameters and blocks in a datablock file
#define ECS_TEXT_SLOTS_MAX (1u << 18) ///< components of all templates of a file, inherited ones too
#define ECS_SCENE_ENTITIES_MAX 16384u ///< of all scenes of a world
#define ECS_VISIBLE_CLASSES_MAX 16u   ///< of `_visible`: public, owner, team and 13 others
#define ECS_PRIORITY_MAX 16u          ///< of `_priority`
#define ECS_UNIT_BYTES_MAX 16u        ///< of `_unit`
#define ECS_ABOUT_BYTES_MAX 200u      ///< of `_about`
#define ECS_TEXT_TAGS_BYTES_MAX 256u  ///< one list of tags, with the NUL
#define ECS_STRING_BYTES_MAX 4096u    ///< value of type t
#define ECS_CONTAINER_COUNT_MAX 16384u    ///< values directly inside one list, array or object
#define ECS_CONTAINER_DEPTH_MAX 8u        ///< containers inside one another, the outermost counts
#define ECS_CONTAINER_NAME_BYTES_MAX 128u ///< name of a value in an object, with the NUL
#define ECS_CONTAINER_BYTES_MAX                                                                    \
    65536u                      ///< all values inside one component, as ecs/container.h counts them
#define ECS_RESOURCES_MAX 4096u ///< resources that a world waits for or remembers
#define ECS_RESOURCE_REQUESTS_MAX 32u     ///< resources of one entity
#define ECS_RESOURCE_KIND_BYTES_MAX 32u   ///< with the NUL
#define ECS_RESOURCE_NAME_BYTES_MAX 224u  ///< with the NUL
#define ECS_BOXED_BYTES_MAX (16u << 20)   ///< sizeof of a boxed type
#define ECS_RESTORED_BYTES_MAX (1u << 30) ///< of one save: values of types with functions

/// Limits chosen per world at create.
typedef struct ecs_limits {
    uint32_t replicated_index_max; ///< indices 1..this belong to replicated entities; 65,535
    uint32_t local_entities_max;   ///< entities above that range; 1,048,576
    uint32_t events_per_flush_max; ///< budget: events delivered per flush point; 65,536
    uint32_t events_queued_max;    ///< deferred events waiting; 65,536 (further ones are refused)
    uint32_t commands_queued_max;  ///< deferred structural changes waiting; 65,536
} ecs_limits;

/// The default values that are above.
ecs_limits ecs_limits_default(void);

BASE_C_END
