// SPDX-License-Identifier: MIT
/// What the views share: JSON with its commas, values of components, names from outside, and what a
/// reader may see. API.md describes the answers.
#pragma once

#include "verbs.h"

#include "base/text.h"
#include "ecs/ecs.h"

#define VIEW_ENTITY_BYTES 24u
/// @return "I:G" or "none", to be copied at once.
const char* view_entity(ecs_entity entity, char text[VIEW_ENTITY_BYTES]);
#define VIEW_ENTITY(entity) view_entity((entity), (char[VIEW_ENTITY_BYTES]){0})
/// The tick that the caller sees: that of the match, or of --http delay before.
ecs_tick view_tick_of(const server_subject* subject, const server_request* request);
/// A component's value: a number, true or false, a text, a handle, or a list of these; what has a
/// variable size as text, cut at VIEW_TEXT_BYTES. NULL: null.
void view_value(base_bytes* json, const ecs_world* world, ecs_component_id id, const void* value);
/// "unit" and "comment" of a component, where a template states them. @return does it state any?
bool view_remarks(base_bytes* json, const ecs_world* world, ecs_template_id template_id,
                  ecs_component_id component);
/// The same of the first template that states some.
void view_first_remarks(base_bytes* json, const ecs_world* world, ecs_component_id component);
/// A field of an object: one element, or a list.
void view_field(base_bytes* json, const ecs_field* field, const uint8_t* object);
/// The value as a dump writes it.
void view_formatted(base_bytes* json, const ecs_world* world, ecs_component_id id,
                    const void* value);
#define VIEW_TEXT_BYTES 257u ///< with the NUL

/// Read "I:G", or "I" for the living generation of an index. @return false: it is neither.
BASE_MUST_USE bool view_read_entity(const ecs_world* world, const char* text, ecs_entity* entity);
/// Read the argument `name`, an entity. @return false: the answer says why.
BASE_MUST_USE bool view_find_entity(const server_subject* subject, const server_request* request,
                                    const char* name, bool must_live, ecs_entity* entity);
/// Read the argument `name`, a client that is here. @return false: the answer says why.
BASE_MUST_USE bool view_find_client(const server_subject* subject, const server_request* request,
                                    const char* name, net_live_peer* peer);
/// Find a component; `nearest` gets all names (NULL: without a hint). Not counted as a look-up
/// of the game. @return ECS_COMPONENT_NONE.
ecs_component_id view_find_component(const ecs_world* world, const char* name, size_t name_bytes,
                                     base_nearest* nearest);

/// May the caller know the world as it is now? A reader may not, of a game that hides something
/// from players or with --http delay. What no answer has for him then: values and places, how many
/// entities there are of what, what a client sees, what is sent of which, and the tick.
bool view_may_see_now(const server_subject* subject, server_right right);
/// The same for an answer that is about nothing else. @return false: the answer says why not.
BASE_MUST_USE bool view_may_look(const server_subject* subject, const server_request* request);
/// May the caller see this component? Readers see what is replicated to all.
bool view_may_see(const server_request* request, const ecs_template_component* component);
/// Has the time of the answer passed? Ask it where more would follow: the list ends as
/// cut then, and is counted.
bool view_is_late(const server_request* request);
/// After a list: "cut", and of one that is cut "next".
void view_cut_at(base_bytes* json, bool is_cut, uint64_t next);

/// An element of a list of warnings; `of` NULL: the list is of one thing. `figure` is a format.
void view_warn(base_bytes* json, const char* of, const char* text, const char* remedy,
               const char* figure, ...) BASE_PRINTF(5, 6);

/// Room of an answer: a list that grows beyond is cut.
#define VIEW_BYTES_MAX (512u << 10)

/// The answers of status (brief: without history and templates) and clients, also for events.
void view_put_status(base_bytes* json, server_subject* subject, const server_request* request,
                     bool is_brief);
void view_put_clients(base_bytes* json, server_subject* subject, const server_request* request,
                      uint32_t first, uint64_t limit);
