// SPDX-License-Identifier: MIT
/// The header record: game, settings and schema of a log.
#pragma once

#include "base/bytes.h"
#include "net/log_reader.h"
#include "net/match.h"
#include "proto/pb_wire.h"
#include "state/rows.h"

enum {
    NET_LOG_HEADER_SCHEMA = 12, ///< its field in Header; the others are fields of Schema
    NET_LOG_HEADER_ROW_CODE = 15,
    NET_LOG_SCHEMA_COMPONENT = 1,
    NET_LOG_SCHEMA_TEMPLATE = 2,
    NET_LOG_SCHEMA_MESSAGE = 3,
    // The last field of the Header of a later segment: required_features again, as fixed64.
    NET_LOG_HEADER_PART_TAG = 14 << 3 | 1,
    NET_LOG_HEADER_PART_BYTES = 1 + 8,
};

/// Bits of Header.required_features.
#define NET_LOG_FEATURE_VIEWS UINT64_C(1)    ///< Input.seen decides
#define NET_LOG_FEATURE_SEGMENT UINT64_C(2)  ///< it begins with a keyframe, behind a later tick
#define NET_LOG_FEATURE_COLUMNS UINT64_C(4)  ///< its data blocks may have NET_LOG_FLAG_COLUMNS
#define NET_LOG_FEATURE_CONTROLS UINT64_C(8) ///< it may have records of NET_LOG_KIND_CONTROL

/// Pack the Header of a match that has not stepped yet. When the whole schema does not fit a
/// record, templates, then fields are left out. *has_values, if it is set, says that states
/// follow; it is cleared when the schema does not describe them all.
/// @return NET_OK; NET_ERR_MEMORY; NET_ERR_FULL.
BASE_MUST_USE net_result net_log_header_write(base_bytes* bytes, const net_match* match,
                                              const char* build, uint64_t now_unix_ms,
                                              uint64_t identity, bool* has_values);
/// Pack a SchemaTemplate, without tag and length. Its defaults are those of `rows`.
void net_log_header_write_template(proto_pb_writer* wire, ecs_world* world, const net_rows* rows,
                                   ecs_template_id id);
/// Append more required features to a packed Header: NET_LOG_HEADER_PART_BYTES at its end.
void net_log_header_demand(base_bytes* bytes, uint64_t features);
/// What a Header demands of its reader.
typedef struct net_log_demand {
    uint64_t version;
    uint64_t features; ///< Header.required_features
    char build[64];    ///< of the program that wrote it; may be empty
} net_log_demand;

/// Fill the first half of `info` from a packed Header; demand->features are its bits. Total.
/// @return NET_OK; NET_ERR_VERSION (a later version's, `info` is not touched; `demand` says why);
/// NET_ERR_DAMAGED (one that no writer writes).
BASE_MUST_USE net_result net_log_header_read(net_log_info* info, const void* data, size_t size,
                                             net_log_demand* demand);
/// Header.required_features of a packed Header; 0 for one that no writer writes. Total.
uint64_t net_log_header_features(const void* data, size_t size);
/// Name of a component as the log's writer knew it. @return false when the header does not say.
BASE_MUST_USE bool net_log_header_component(const void* data, size_t size, uint32_t component,
                                            char name[ECS_NAME_BYTES_MAX]);
/// The first thing in which a match of the same game differs from the log's schema, as one
/// sentence: components with their fields, templates with what travels of them, messages.
/// @return false when nothing differs or memory ran out.
bool net_log_header_difference(const void* data, size_t size, const net_match* match, char* text,
                               size_t text_bytes);
/// Copy a text field. @return false for another type, a control character, or when it is too long.
BASE_MUST_USE bool net_log_header_text(const proto_pb_field* field, char* target,
                                       size_t target_bytes);
