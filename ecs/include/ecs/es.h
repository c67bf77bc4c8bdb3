// SPDX-License-Identifier: MIT
/// Annotations for shoal-esgen: systems, event handlers and queries written as ordinary functions.
///
///     ES_TAG(server) ES_AFTER(pads_move_es)
///     static void ball_move_es(const ecs_stage* stage, ecs_vec2* pos, const ecs_vec2* vel) {...}
///
/// All of these expand to nothing: to the compiler, to clangd and to a reader the file is plain C.
/// shoal-esgen reads FILE.c and writes FILE.es.h, which FILE.c includes after the headers that it needs;
/// it declares the functions, walks the rows, and offers FILE_register_systems(world, context).
///
/// What a function is, its name says:
///     *_es                a system of a stage ("act" unless ES_STAGE says another), called per entity
///     *_es_event_handler  a handler of ES_ON_EVENT's events
///     *_ecs_query         the body of a query: NAME_create(world, &query) before seal, then
///                         NAME_run(world, query, context...), NAME_find(world, query, entity, context...)
///
/// What a parameter is:
///     const ecs_stage* stage      what runs (systems and handlers; first, may be left out)
///     const ecs_event* event      of a handler; or its payload: const my_payload* event
///     ecs_entity entity           the entity itself (also `eid`)
///     uint32_t count              with ES_SPAN
///     ES_CONTEXT T* name          the context given at registration; of a query: handed on by the caller
///     anything else               the component of that name ("brick__pos" is "brick.pos"): `const T*` or T
///                                 reads, `T*` writes. The C type says the component's type; ES_TYPE names
///                                 that of a struct of your own.
#pragma once

#define ES_TYPE(c_type, name)     ///< at file level, also in an included header: C type of a registered type
#define ES_STAGE(name)            ///< "render"
#define ES_TAG(...)               ///< exists only in a world with all of these; `a | b`: either
#define ES_BEFORE(...)            ///< systems that run after this one
#define ES_AFTER(...)             ///< systems that run before this one
#define ES_REQUIRE(...)           ///< further components without a parameter: name:type
#define ES_REQUIRE_NOT(...)
#define ES_ON_EVENT(...)          ///< names of events
#define ES_TRACK(...)             ///< a handler that is called when one of these components changed
#define ES_EVERY(ticks)           ///< an interval system
#define ES_QUANTUM(rows)          ///< may be cut into jobs of at least so many rows
#define ES_SPAN                   ///< called once per run of rows with arrays: (stage, count, T* a, const T* b)
#define ES_OPTIONAL               ///< before a pointer parameter: NULL where the component is missing
#define ES_DEFAULT(value)         ///< before a parameter by value: used where the component is missing
#define ES_NAME(name)             ///< before a parameter: the component's name when C cannot spell it
#define ES_CONTEXT                ///< before a parameter: the registration's context
