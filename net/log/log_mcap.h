// SPDX-License-Identifier: MIT
/// What a log as MCAP is made of: schemas in protobuf, and the scene.
#pragma once

#include "log/log_source.h"
#include "log/log_space.h"
#include "proto/pb_wire.h"

// ---- schemas: parts of a FileDescriptorSet

#define NET_LOG_MCAP_NAME_BYTES 160u ///< of a name, with its NUL

// Numbers of FieldDescriptorProto.Type.
enum {
    NET_LOG_MCAP_DOUBLE = 1,
    NET_LOG_MCAP_FLOAT = 2,
    NET_LOG_MCAP_INT64 = 3,
    NET_LOG_MCAP_UINT64 = 4,
    NET_LOG_MCAP_INT32 = 5,
    NET_LOG_MCAP_BOOL = 8,
    NET_LOG_MCAP_STRING = 9,
    NET_LOG_MCAP_MESSAGE = 11,
    NET_LOG_MCAP_BYTES = 12,
    NET_LOG_MCAP_UINT32 = 13,
    NET_LOG_MCAP_SINT64 = 18,
};

/// Make a name of protobuf: letters, digits and _, and no digit first.
void net_log_mcap_clean(const char* name, char target[NET_LOG_MCAP_NAME_BYTES]);
/// `type_name`: of a message or enum, with a dot in front; else NULL.
void net_log_mcap_field(proto_pb_writer* pb, const char* name, uint32_t number, uint32_t type,
                        bool is_list, const char* type_name);
/// @return the mark for its end.
size_t net_log_mcap_begin_file(proto_pb_writer* pb, const char* name, const char* package);
void net_log_mcap_end_file(proto_pb_writer* pb, size_t mark);
size_t net_log_mcap_begin_message(proto_pb_writer* pb, const char* name);
void net_log_mcap_end_message(proto_pb_writer* pb, size_t mark);
/// Write the file "game.proto" with a message and all types that it needs, and its full name with a
/// dot in front. @return false: too many types; nothing was written.
BASE_MUST_USE bool net_log_mcap_game_file(proto_pb_writer* pb,
                                          const ProtobufCMessageDescriptor* root, char* full,
                                          size_t full_bytes);

// ---- the scene: foxglove.SceneUpdate

#define NET_LOG_SCENE_PARTS_MAX 16u ///< components with an extent or a rotation; more are left out
#define NET_LOG_SCENE_ENTRY_BYTES 256u ///< of one entity

typedef struct net_log_scene_part {
    uint32_t position; ///< of the component in the source
    net_log_numbers part;
} net_log_scene_part;

/// Where entities are: a box where two or three numbers say its size, else a ball. What says no
/// size is 1 wide.
typedef struct net_log_scene {
    bool has_place;
    net_log_scene_part place;
    net_log_scene_part parts[NET_LOG_ROLES][NET_LOG_SCENE_PARTS_MAX];
    uint32_t part_count[NET_LOG_ROLES]; ///< not of NET_LOG_ROLE_PLACE
} net_log_scene;

/// `rule`: the component of the game's rules, or NULL.
void net_log_scene_init(net_log_scene* scene, const net_log_source* source, const char* rule);
/// Write the schema.
void net_log_scene_schema(proto_pb_writer* pb);
/// Replace `message` by that of the source's tick. `values` has room for those of any component.
/// @return false: memory ran out.
BASE_MUST_USE bool net_log_scene_write(const net_log_scene* scene, const net_log_source* source,
                                       uint64_t time_ns, ecs_number* values, base_bytes* message);
