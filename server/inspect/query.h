// SPDX-License-Identifier: MIT
/// The small language in which a person asks for entities: "pos, vel, !dead where hits < 3".
///
///     query:     [term {"," term}] ["where" condition {"and" condition}]
///     term:      NAME  (must have it: a column)   "?" NAME  (a column where it is)
///                "!" NAME  (must not have it)     "template" "=" NAME
///     condition: NAME ("<" | "<=" | ">" | ">=" | "=" | "!=") value
///     value:     NUMBER | true | false | none | INDEX:GENERATION | "text"
///
/// A NAME is one of a component, in conditions with ".FIELD" behind it where it has several fields.
/// Nothing here knows a world: names are bound by view_query.c.
#pragma once

#include "ecs/entity.h"
#include "ecs/limits.h"

#define SERVER_QUERY_BYTES_MAX 1024u ///< of a query
#define SERVER_QUERY_TERMS_MAX 16u
#define SERVER_QUERY_CONDITIONS_MAX 8u
#define SERVER_QUERY_TEXT_BYTES 64u ///< of a text to compare with, with the NUL
#define SERVER_QUERY_NAME_BYTES (ECS_NAME_BYTES_MAX * 2)

typedef enum server_query_use {
    SERVER_QUERY_HAS,
    SERVER_QUERY_MAY_HAVE,
    SERVER_QUERY_HAS_NOT,
    SERVER_QUERY_TEMPLATE,
} server_query_use;

typedef enum server_query_order {
    SERVER_QUERY_LESS,
    SERVER_QUERY_LESS_EQUAL,
    SERVER_QUERY_GREATER,
    SERVER_QUERY_GREATER_EQUAL,
    SERVER_QUERY_EQUAL,
    SERVER_QUERY_NOT_EQUAL,
} server_query_order;

typedef enum server_query_kind {
    SERVER_QUERY_NUMBER,
    SERVER_QUERY_BOOL,
    SERVER_QUERY_ENTITY,
    SERVER_QUERY_TEXT,
} server_query_kind;

typedef struct server_query_term {
    server_query_use use;
    uint32_t column; ///< of its name in the query, from 1
    char name[SERVER_QUERY_NAME_BYTES];
} server_query_term;

typedef struct server_query_condition {
    char name[SERVER_QUERY_NAME_BYTES];
    uint32_t column;
    server_query_order order;
    server_query_kind kind;
    long double number; ///< holds each int64_t and uint64_t; 0 or 1 for a bool
    ecs_entity entity;
    char text[SERVER_QUERY_TEXT_BYTES];
} server_query_condition;

typedef struct server_query {
    uint32_t term_count, condition_count;
    server_query_term terms[SERVER_QUERY_TERMS_MAX];
    server_query_condition conditions[SERVER_QUERY_CONDITIONS_MAX];
} server_query;

#define SERVER_QUERY_FAULT_BYTES 160u
/// Read a query. @return false: `fault` says where it is wrong ("column 12: ...").
BASE_MUST_USE bool server_query_parse(const char* text, server_query* query,
                                      char fault[SERVER_QUERY_FAULT_BYTES]);
/// Does a number stand so to another one?
bool server_query_holds(server_query_order order, long double left, long double right);
