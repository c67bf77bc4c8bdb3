// SPDX-License-Identifier: MIT
// The scene of a tick. A place is the middle of what stands there: no name says otherwise.
#include "log/log_mcap.h"

#include "base/hash.h"
#include "base/math.h"

#include <string.h>

enum { FIELD_CUBES = 8, FIELD_SPHERES = 9, REALS_MAX = 4 };

// ---- the schema

static void put_doubles(proto_pb_writer* pb, const char* const* names, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        net_log_mcap_field(pb, names[i], i + 1, NET_LOG_MCAP_DOUBLE, false, NULL);
}

static void put_primitive(proto_pb_writer* pb, const char* name) {
    const size_t mark = net_log_mcap_begin_message(pb, name);
    net_log_mcap_field(pb, "pose", 1, NET_LOG_MCAP_MESSAGE, false, ".foxglove.Pose");
    net_log_mcap_field(pb, "size", 2, NET_LOG_MCAP_MESSAGE, false, ".foxglove.Vector3");
    net_log_mcap_field(pb, "color", 3, NET_LOG_MCAP_MESSAGE, false, ".foxglove.Color");
    net_log_mcap_end_message(pb, mark);
}

// The part of Foxglove's schema that is written (github.com/foxglove/foxglove-sdk, MIT).
void net_log_scene_schema(proto_pb_writer* pb) {
    static const char* const axes[] = {"x", "y", "z", "w"};
    static const char* const colors[] = {"r", "g", "b", "a"};
    size_t file = net_log_mcap_begin_file(pb, "google/protobuf/timestamp.proto", "google.protobuf");
    size_t mark = net_log_mcap_begin_message(pb, "Timestamp");
    net_log_mcap_field(pb, "seconds", 1, NET_LOG_MCAP_INT64, false, NULL);
    net_log_mcap_field(pb, "nanos", 2, NET_LOG_MCAP_INT32, false, NULL);
    net_log_mcap_end_message(pb, mark);
    net_log_mcap_end_file(pb, file);
    file = net_log_mcap_begin_file(pb, "foxglove/SceneUpdate.proto", "foxglove");
    proto_pb_write_text(pb, 3, "google/protobuf/timestamp.proto");
    mark = net_log_mcap_begin_message(pb, "Vector3");
    put_doubles(pb, axes, 3);
    net_log_mcap_end_message(pb, mark);
    mark = net_log_mcap_begin_message(pb, "Quaternion");
    put_doubles(pb, axes, 4);
    net_log_mcap_end_message(pb, mark);
    mark = net_log_mcap_begin_message(pb, "Color");
    put_doubles(pb, colors, 4);
    net_log_mcap_end_message(pb, mark);
    mark = net_log_mcap_begin_message(pb, "Pose");
    net_log_mcap_field(pb, "position", 1, NET_LOG_MCAP_MESSAGE, false, ".foxglove.Vector3");
    net_log_mcap_field(pb, "orientation", 2, NET_LOG_MCAP_MESSAGE, false, ".foxglove.Quaternion");
    net_log_mcap_end_message(pb, mark);
    put_primitive(pb, "CubePrimitive");
    put_primitive(pb, "SpherePrimitive");
    mark = net_log_mcap_begin_message(pb, "SceneEntity");
    net_log_mcap_field(pb, "timestamp", 1, NET_LOG_MCAP_MESSAGE, false,
                       ".google.protobuf.Timestamp");
    net_log_mcap_field(pb, "frame_id", 2, NET_LOG_MCAP_STRING, false, NULL);
    net_log_mcap_field(pb, "id", 3, NET_LOG_MCAP_STRING, false, NULL);
    net_log_mcap_field(pb, "cubes", FIELD_CUBES, NET_LOG_MCAP_MESSAGE, true,
                       ".foxglove.CubePrimitive");
    net_log_mcap_field(pb, "spheres", FIELD_SPHERES, NET_LOG_MCAP_MESSAGE, true,
                       ".foxglove.SpherePrimitive");
    net_log_mcap_end_message(pb, mark);
    mark = net_log_mcap_begin_message(pb, "SceneUpdate");
    net_log_mcap_field(pb, "entities", 2, NET_LOG_MCAP_MESSAGE, true, ".foxglove.SceneEntity");
    net_log_mcap_end_message(pb, mark);
    net_log_mcap_end_file(pb, file);
}

// ---- what says where, how large and how turned

static void add_part(net_log_scene* scene, net_log_role role, uint32_t position,
                     const net_log_component* component) {
    net_log_numbers part;
    uint32_t* count = &scene->part_count[role];
    if (*count < NET_LOG_SCENE_PARTS_MAX && net_log_numbers_find(component, role, &part))
        scene->parts[role][(*count)++] = (net_log_scene_part){position, part};
}

void net_log_scene_init(net_log_scene* scene, const net_log_source* source, const char* rule) {
    net_log_where place = {0};
    *scene = (net_log_scene){0};
    for (uint32_t i = 0; i < net_log_source_component_count(source); i++) {
        const net_log_component* component = net_log_source_component(source, i);
        const uint32_t rank = place.rank;
        (void)net_log_where_add(&place, component, rule, net_log_source_is_replicated(source, i));
        if (place.rank > rank) scene->place = (net_log_scene_part){i, place.part};
        add_part(scene, NET_LOG_ROLE_EXTENT, i, component);
        add_part(scene, NET_LOG_ROLE_ROTATION, i, component);
    }
    scene->has_place = place.rank > 0;
}

static void read_part(const net_log_scene_part* from, const net_log_source* source,
                      ecs_entity entity, ecs_number* values, double reals[REALS_MAX]) {
    const double factor = from->part.is_half ? 2 : 1;
    net_log_source_read(source, entity, from->position, values);
    for (uint32_t i = 0; i < from->part.count; i++)
        reals[i] = values[from->part.first + i].real * factor;
}

// The numbers of the first component that the entity has. @return how many; 0: it has none.
static uint32_t read_role(const net_log_scene* scene, net_log_role role,
                          const net_log_source* source, ecs_entity entity, ecs_number* values,
                          double reals[REALS_MAX]) {
    for (uint32_t i = 0; i < scene->part_count[role]; i++) {
        const net_log_scene_part* from = &scene->parts[role][i];
        if (!net_log_source_has(source, entity, from->position)) continue;
        read_part(from, source, entity, values, reals);
        return from->part.count;
    }
    return 0;
}

// What a component leaves out is as wide as the least of what it says.
static void complete_extent(double extent[REALS_MAX], uint32_t count) {
    if (count == 0) extent[0] = 1;
    if (count < 2) extent[1] = extent[0];
    if (count < 3) extent[2] = extent[0] < extent[1] ? extent[0] : extent[1];
}

// Angles about x, y and z become a quaternion.
static void complete_rotation(double turn[REALS_MAX], uint32_t count) {
    if (count == REALS_MAX) return;
    const bool is_flat = count < 3;
    const float x = is_flat ? 0 : (float)turn[0] / 2, y = is_flat ? 0 : (float)turn[1] / 2;
    const float z = count == 0 ? 0 : (float)turn[count - 1] / 2;
    const float sx = base_sin(x), sy = base_sin(y), sz = base_sin(z);
    const float cx = base_cos(x), cy = base_cos(y), cz = base_cos(z);
    turn[0] = (double)(sx * cy * cz - cx * sy * sz);
    turn[1] = (double)(cx * sy * cz + sx * cy * sz);
    turn[2] = (double)(cx * cy * sz - sx * sy * cz);
    turn[3] = (double)(cx * cy * cz + sx * sy * sz);
}

// ---- a tick

static void put_vector(proto_pb_writer* pb, uint32_t field, const double* values, uint32_t count) {
    const size_t mark = pb->size;
    for (uint32_t i = 0; i < count; i++)
        proto_pb_write_double(pb, i + 1, values[i]);
    proto_pb_write_end(pb, mark, field);
}

static void put_entity(const net_log_scene* scene, const net_log_source* source, ecs_entity entity,
                       ecs_number* values, proto_pb_writer* pb) {
    const char* name = net_log_source_template(source, entity);
    const uint64_t hash = base_hash64(name, strlen(name), 0);
    const double color[4] = {(double)(hash & 255) / 255, (double)(hash >> 8 & 255) / 255,
                             (double)(hash >> 16 & 255) / 255, 1};
    double place[REALS_MAX] = {0}, extent[REALS_MAX] = {0}, turn[REALS_MAX] = {0};
    read_part(&scene->place, source, entity, values, place);
    const uint32_t count = read_role(scene, NET_LOG_ROLE_EXTENT, source, entity, values, extent);
    complete_extent(extent, count);
    complete_rotation(turn, read_role(scene, NET_LOG_ROLE_ROTATION, source, entity, values, turn));
    const size_t mark = pb->size;
    put_vector(pb, 1, place, 3);
    put_vector(pb, 2, turn, 4);
    proto_pb_write_end(pb, mark, 1);
    put_vector(pb, 2, extent, 3);
    put_vector(pb, 3, color, 4);
    proto_pb_write_end(pb, 0, count > 1 ? FIELD_CUBES : FIELD_SPHERES);
}

bool net_log_scene_write(const net_log_scene* scene, const net_log_source* source, uint64_t time_ns,
                         ecs_number* values, base_bytes* message) {
    uint8_t entry[NET_LOG_SCENE_ENTRY_BYTES];
    proto_pb_writer pb = {.data = entry, .capacity = sizeof entry};
    base_bytes_clear(message);
    proto_pb_write_number(&pb, 1, time_ns / UINT64_C(1000000000));
    proto_pb_write_number(&pb, 2, time_ns % UINT64_C(1000000000));
    proto_pb_write_end(&pb, 0, 1);
    proto_pb_write_text(&pb, 2, "match");
    proto_pb_write_text(&pb, 3, "entities");
    base_bytes_write(message, pb.data, pb.size);
    for (ecs_entity entity = net_log_source_next(source, ECS_ENTITY_NONE);
         entity != ECS_ENTITY_NONE; entity = net_log_source_next(source, entity)) {
        if (!net_log_source_has(source, entity, scene->place.position)) continue;
        pb.size = 0;
        put_entity(scene, source, entity, values, &pb);
        BASE_ASSERT(!pb.failed);
        base_bytes_write(message, pb.data, pb.size);
    }
    if (message->failed) return false;
    // Around it the update: its one field.
    const size_t size = message->size;
    const uint32_t head = 1 + base_varint_bytes(size);
    if (!base_bytes_extend(message, head)) return false;
    memmove(message->data + head, message->data, size);
    message->data[0] = 2 << 3 | 2;
    base_varint_put(message->data + 1, size);
    return true;
}
