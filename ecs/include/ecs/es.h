// SPDX-License-Identifier: MIT
/// Annotations for shoal-esgen: systems, event handlers and queries written as ordinary functions,
/// and component types as ordinary structs. ecs/ESGEN.md is the language on one page, with
/// examples.
///
///     ES_TAG(server) ES_AFTER(pads_move_es)
///     static void ball_move_es(const ecs_stage* stage, ecs_vec2* pos, const ecs_vec2* vel) {...}
///
/// All annotations expand to nothing: for the compiler, clangd and a reader the file is plain C.
/// shoal-esgen reads FILE.c and writes FILE.es.h, which FILE.c includes after the headers that it
/// needs; it declares the functions, walks the rows, and offers FILE_register_systems(world,
/// context) and, with ES_REGISTER_TYPES, FILE_register_types(world, reporter), with ES_MESSAGES the
/// converters of messages, with ES_GAME the whole table of a game.
///
/// The name of a function defines its kind:
///     *_es                  a system of a stage ("act" unless ES_STAGE says another): per entity
///     *_es_event_handler    a handler of ES_ON_EVENT's events
///     *_ecs_query           the body of a query: NAME_create(world, &query) before seal, then
///                           NAME_run(world, query, context...),
///                           NAME_find(world, query, entity, context...);
///                           one that returns bool ends the walk by false
///
/// What a parameter is:
///     const ecs_stage* stage    what runs (systems and handlers; may be left out)
///     const ecs_event* event    of a handler; or its payload: const my_payload* event
///     ecs_entity entity         the entity itself (also `eid`)
///     uint32_t count            with ES_SPAN; the entities are const ecs_entity* entities then
///     ES_CONTEXT T* name        the context given at registration; of a query: from its caller
///     anything else             the component of that name ("brick__pos" is "brick.pos"):
///                               `const T*` or T reads, `T*` writes. The C type says the type of
///                               the component; ES_STRUCT or ES_TYPE names that of your own struct.
///
/// A system reads and writes the value of a parameter through that parameter only: it must not call
/// ecs_get for the same value. (The compiler relies on that in the loop.) A function with ES_SPAN
/// is free to do so.
#pragma once

// Before a function.
#define ES_STAGE(name)  ///< "render"
#define ES_TAG(...)     ///< exists only in a world with all of these; `a | b`: either
#define ES_BEFORE(...)  ///< systems that run after this one
#define ES_AFTER(...)   ///< systems that run before this one
#define ES_REQUIRE(...) ///< further components without a parameter: name:type
#define ES_REQUIRE_NOT(...)
#define ES_REQUIRE_ANY(...) ///< at least one of these: name:type
#define ES_ONLY             ///< entities with the named components only
#define ES_ON_EVENT(...)    ///< names of events
#define ES_TRACK(...)       ///< a handler that is called when one of these components changed
#define ES_EVERY(ticks)     ///< an interval system
#define ES_CONFINED ///< touches only its parameters and what ES_READS and ES_WRITES name (system.h)
#define ES_READS(...)    ///< ES_CONFINED; further components by handle, or names of shared state
#define ES_WRITES(...)   ///< the same, written
#define ES_QUANTUM(rows) ///< ES_CONFINED; ranges of this many rows may run at the same time
#define ES_ON_ENTER(function) ///< ecs_system_desc.on_enter: a static function of the file
#define ES_ON_LEAVE(function)
#define ES_FIRST(function) ///< ecs_system_desc.first_update
#define ES_SPAN ///< called once per run of rows with arrays: (stage, count, T* a, const T* b)

// Before a parameter.
#define ES_OPTIONAL      ///< a pointer: NULL where the component is missing
#define ES_DEFAULT(...)  ///< by value: used where the component is missing
#define ES_NAME(...)     ///< the component's name when C cannot spell it, or another shall
#define ES_LIST(element) ///< what an ecs_list holds: ES_LIST(p2) const ecs_list* path
#define ES_CONTEXT       ///< the registration's context

// At file level, in headers too.
#define ES_TYPE(c_type, name) ///< C type of a type that is registered elsewhere
#define ES_STRUCT(...) ///< before typedef struct x {...} x; : a component type; (Name, boxed)
#define ES_EVENT(...)  ///< an event with it as payload; (name, exported): goes to clients
/// After ES_EVENT: its protobuf message (Game__Hit, input|kept|reliable|late). The struct's fields
/// have the names that protoc-c writes: in lower case, and `default_` for a word of C or C++.
#define ES_MESSAGE(...)
/// After ES_EVENT: its sound where pictures are shown: file in assets/, volume 0..1, how far it is
/// heard (net_sound.reach): ES_SOUND("hit.wav", 0.8), ES_SOUND("hit.wav", 0.8, 70).
#define ES_SOUND(...)
#define ES_REGISTER_TYPES ///< this file registers its types and those of headers included by "name"
#define ES_MESSAGES ///< this file gets EVENT_to_wire and EVENT_from_wire of each ES_MESSAGE there

// Before or after a field.
#define ES_QUANT(min, step, bits) ///< how it is rounded for the wire (ecs_quant)
#define ES_ANGLE(bits)            ///< ES_QUANT of an angle: [-pi, pi), wraps
#define ES_CLAMP(min, max)        ///< a value of a message that is outside becomes the limit
#define ES_RANGE(min, max)        ///< a message with a value outside is refused
#define ES_LOCAL                  ///< not a field of the message
// ES_NAME(name): the field's name in the message, when it is another one.

// A game (net/game.h). Before its structs and enums:
#define ES_GAME_CONTEXT(name) ///< the struct that holds its ids: shoal-esgen fills them
#define ES_SETTINGS           ///< a struct of settings
#define ES_ACTIONS            ///< an enum of actions
// After fields and enumerators:
#define ES_SETTING(value, min, max, help)
#define ES_ACTION(name, keys, ...) ///< help, and inputs of a game controller: "DPLeft,LeftX-"
#define ES_QUERY(terms)            ///< of an ecs_query*: what it reads: "pos:p2 ?hits:i !dead:tag"
#define ES_IF_TAG(tag) ///< of a bool: the world has this tag; of a pointer: memory, if it has
#define ES_VALUE(template_, component) ///< of any type: the template's default of it
#define ES_STEP(template_, component)  ///< of a float, ecs_quant: its rounding
// In the one file with its table, with a semicolon. FILE.es.h has the table, so what a value names
// by & or as a macro (.interest = &rules) is before #include "FILE.es.h". Functions do not.
#define ES_GAME(...) struct es_declared    ///< title, view's width and height, .field = value...
#define ES_SYSTEMS(...) struct es_declared ///< files with systems, in the order of a tick

/// The bits that count from 0 to `top`, as a constant; for what shoal-esgen writes.
#define ES_BITS(top)                                                                               \
    (1 + ES_BITS_8(top, 0) + ES_BITS_8(top, 8) + ES_BITS_8(top, 16) + ES_BITS_7(top))
#define ES_BIT(top, n) ((uint64_t)(top) >= (UINT64_C(2) << (n)))
#define ES_BITS_8(top, n)                                                                          \
    (ES_BIT(top, n) + ES_BIT(top, (n) + 1) + ES_BIT(top, (n) + 2) + ES_BIT(top, (n) + 3) +         \
     ES_BIT(top, (n) + 4) + ES_BIT(top, (n) + 5) + ES_BIT(top, (n) + 6) + ES_BIT(top, (n) + 7))
#define ES_BITS_7(top)                                                                             \
    (ES_BIT(top, 24) + ES_BIT(top, 25) + ES_BIT(top, 26) + ES_BIT(top, 27) + ES_BIT(top, 28) +     \
     ES_BIT(top, 29) + ES_BIT(top, 30))
/// The largest value of ES_QUANT(min, step, bits), as a constant.
#define ES_QUANT_MAX(min, step, bits) ((min) + (step) * ((INT64_C(1) << (bits)) - 1))
