// SPDX-License-Identifier: MIT
// Variable-size values from a hostile server into a client's world, and acknowledgements of a
// hostile client into a server's sender, between records and values of an honest server.
//
// The input is a list of steps, each a byte with its arguments:
//     0 index generation template tick     a record, as a mirror would apply it
//     1 size bytes                         a packed VarsizeValue
//     2 size bytes                         a packed VarsizeAck
//     3 what number                        the server's world changes and is published
#include "fuzz.h"

#include "state/varsize.h"
#include "proto/codec.h"
#include "wire.pb-c.h"

enum { INDEX_MAX = 32, WAITING_MAX = 8, ENTITIES = 4, STEPS_MAX = 400 };

static const char TEXT[] =
    "page { \"title:t\"{ _replicate:b=yes; value:t=\"blank\" } \"notes:array\"{ _replicate:b=yes "
    "}\n"
    "       \"route:list<p2>\"{ _replicate:b=yes } \"hp:i\"{ _replicate:b=yes } }\n"
    "box { \"inside:object\"{ _replicate:b=yes; a:i=1 } }\n"
    "bare { \"hp:i\"{ _replicate:b=yes } }\n";

typedef struct told {
    ecs_entity handle;
    ecs_tick tick;
    bool is_known;
} told;

typedef struct fixture {
    ecs_world *server, *mirror;
    net_rows *server_rows, *mirror_rows;
    ecs_template_id templates[3];
    ecs_component_id title, notes;
    net_varsize_source* values;
    net_varsize_sender* view;
    net_varsize_receiver* client;
    told indices[INDEX_MAX + 1];
    ecs_entity entities[ENTITIES];
    ecs_tick tick;
    proto_codec codec;
} fixture;

static ecs_world* make_world(bool is_mirror) {
    ecs_world_config config = ecs_world_config_default();
    config.is_mirror = is_mirror;
    config.limits.replicated_index_max = INDEX_MAX;
    ecs_world* world;
    FUZZ_CHECK(ecs_world_create(&config, &world) == ECS_OK);
    FUZZ_CHECK(ecs_template_load(world, "large.blk", TEXT, sizeof TEXT - 1, NULL) == ECS_OK);
    FUZZ_CHECK(ecs_world_seal(world, NULL) == ECS_OK);
    return world;
}

static bool find_known(void* context, uint32_t index, ecs_entity* handle, ecs_tick* tick) {
    const fixture* at = context;
    FUZZ_CHECK(index <= INDEX_MAX);
    *handle = at->indices[index].handle;
    *tick = at->indices[index].tick;
    return at->indices[index].is_known;
}

static void open(fixture* at) {
    static const char* const names[] = {"page", "box", "bare"};
    memset(at, 0, sizeof *at);
    at->server = make_world(false);
    at->mirror = make_world(true);
    FUZZ_CHECK(net_rows_create(NULL, at->server, NULL, &at->server_rows) == NET_OK);
    FUZZ_CHECK(net_rows_create(NULL, at->mirror, NULL, &at->mirror_rows) == NET_OK);
    for (uint32_t i = 0; i < 3; i++)
        at->templates[i] = ecs_template_find(at->mirror, names[i]);
    at->title = ecs_component_find(at->server, "title");
    at->notes = ecs_component_find(at->server, "notes");
    at->values = net_varsize_source_create(NULL, at->server_rows, INDEX_MAX, NULL);
    at->view = net_varsize_sender_create(at->values);
    const net_varsize_receiver_config config = {.world = at->mirror,
                                                .rows = at->mirror_rows,
                                                .index_max = INDEX_MAX,
                                                .waiting_max = WAITING_MAX,
                                                .known = find_known,
                                                .known_context = at};
    at->client = net_varsize_receiver_create(&config);
    proto_codec_init(&at->codec, NULL, PROTO_UNPACK_BYTES_MAX);
}

static void close(fixture* at) {
    proto_codec_deinit(&at->codec);
    base_owner_destroy(at->client);
    net_varsize_sender_destroy(at->view);
    net_varsize_source_destroy(at->values);
    base_owner_destroy(at->server_rows);
    base_owner_destroy(at->mirror_rows);
    ecs_world_destroy(at->server);
    ecs_world_destroy(at->mirror);
}

static void take_record(fixture* at, base_reader* bytes) {
    uint32_t index = 1 + base_reader_u8(bytes) % INDEX_MAX;
    uint32_t generation = base_reader_u8(bytes) % 4;
    ecs_template_id template_id = at->templates[base_reader_u8(bytes) % 3];
    ecs_tick tick = base_reader_u8(bytes);
    told* now = &at->indices[index];
    ecs_entity handle = generation ? ecs_entity_make(index, generation) : ECS_ENTITY_NONE;
    if (now->is_known && tick <= now->tick) return;
    if (now->handle != ECS_ENTITY_NONE && now->handle != handle)
        FUZZ_CHECK(ecs_destroy(at->mirror, now->handle) == ECS_OK);
    if (handle != ECS_ENTITY_NONE && now->handle != handle)
        FUZZ_CHECK(ecs_create_at(at->mirror, handle, template_id, NULL, 0) == ECS_OK);
    else if (handle != ECS_ENTITY_NONE)
        FUZZ_CHECK(ecs_recreate(at->mirror, handle, template_id, NULL, 0) == ECS_OK);
    *now = (told){.handle = handle, .tick = tick, .is_known = true};
    net_varsize_receiver_tick(at->client);
}

static void take_message(fixture* at, const net_varsize_message* message) {
    net_result result = net_varsize_receiver_receive(at->client, message);
    FUZZ_CHECK(result == NET_OK || result == NET_ERR_MALFORMED);
    FUZZ_CHECK(net_varsize_receiver_waiting(at->client) <= WAITING_MAX);
    net_varsize_lost lost;
    while (net_varsize_receiver_next_evicted(at->client, &lost))
        (void)net_varsize_sender_lost(at->view, lost.handle, lost.number, lost.version);
}

static const ProtobufCMessage* decode(fixture* at, const ProtobufCMessageDescriptor* descriptor,
                                      base_reader* bytes) {
    size_t size = base_reader_u8(bytes);
    if (size > base_reader_left(bytes)) size = base_reader_left(bytes);
    const uint8_t* data = base_reader_skip(bytes, size);
    return data ? proto_codec_decode(&at->codec, descriptor, data, size, size) : NULL;
}

static void take_value(fixture* at, base_reader* bytes) {
    const Shoal__Wire__VarsizeValue* value = (const Shoal__Wire__VarsizeValue*)decode(
        at, &shoal__wire__varsize_value__descriptor, bytes);
    if (!value) return;
    const net_varsize_message message = {.handle = value->entity,
                                         .number = value->component,
                                         .version = value->version,
                                         .since = value->since,
                                         .is_default = value->is_default,
                                         .bytes = value->value.data,
                                         .size = (uint32_t)value->value.len};
    take_message(at, &message);
}

static void take_ack(fixture* at, base_reader* bytes) {
    const Shoal__Wire__VarsizeAck* ack =
        (const Shoal__Wire__VarsizeAck*)decode(at, &shoal__wire__varsize_ack__descriptor, bytes);
    if (!ack) return;
    for (size_t i = 0; i < ack->n_versions; i++)
        (void)net_varsize_sender_ack(at->view, ack->versions[i]);
    for (size_t i = 0; i < ack->n_lost; i++)
        (void)net_varsize_sender_lost(at->view, ack->lost[i]->entity, ack->lost[i]->component,
                                      ack->lost[i]->version);
}

static net_result hand_over(void* context, const net_varsize_message* message) {
    take_message(context, message);
    return NET_OK;
}

static void write(fixture* at, ecs_entity entity, uint8_t number) {
    const base_allocator* allocator = ecs_world_allocator(at->server);
    char text[4] = {(char)('a' + number % 26), 'b', 0};
    ecs_string* title = ecs_find_mut(at->server, entity, at->title);
    if (title) FUZZ_CHECK(ecs_string_set(allocator, title, text, number % 3) == ECS_OK);
    ecs_array* notes = ecs_find_mut(at->server, entity, at->notes);
    if (notes) FUZZ_CHECK(ecs_array_push(allocator, notes, ECS_ELEMENT_EID, &entity) == ECS_OK);
}

static void change_server(fixture* at, base_reader* bytes) {
    uint8_t what = base_reader_u8(bytes), number = base_reader_u8(bytes);
    ecs_entity* place = &at->entities[what / 8 % ENTITIES];
    ecs_template_id template_id = at->templates[number % 3];
    switch (*place == ECS_ENTITY_NONE ? 0 : what % 8) {
    case 0:
        if (*place) FUZZ_CHECK(ecs_destroy(at->server, *place) == ECS_OK);
        *place = ECS_ENTITY_NONE;
        if (ecs_create(at->server, template_id, NULL, 0, place) != ECS_OK)
            *place = ECS_ENTITY_NONE; // all indices were used
        break;
    case 1:
        FUZZ_CHECK(ecs_recreate(at->server, *place, template_id, NULL, 0) == ECS_OK);
        break;
    case 2:
        net_varsize_sender_leave(at->view, *place);
        break;
    case 3:
        net_varsize_sender_resume(at->view);
        break;
    case 4:
        net_varsize_sender_reclass(at->view, *place, number);
        break;
    default:
        write(at, *place, number);
    }
    const ecs_step step = {.tick = ++at->tick, .dt = 0.1f};
    ecs_world_step(at->server, &step);
    net_varsize_source_step(at->values, at->server, at->tick);
    ecs_changes_clear(at->server);
    if (*place && what % 8 != 2) net_varsize_sender_enter(at->view, *place, number | 1u, at->tick);
    net_varsize_sender_publish(at->view, 1000, hand_over, at);
}

// For any input, every value in the world can be sent.
static void check_world(fixture* at) {
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    for (uint32_t index = 1; index <= INDEX_MAX; index++) {
        ecs_entity entity = at->indices[index].handle;
        if (entity == ECS_ENTITY_NONE) continue;
        const net_row_template* entry =
            net_rows_find(at->mirror_rows, ecs_entity_template(at->mirror, entity));
        for (uint32_t i = 0; i < entry->varsize_count; i++) {
            ecs_component_id component = entry->varsizes[i].component;
            base_bytes_clear(&bytes);
            net_varsize_write(at->mirror, entity, component, &bytes);
            FUZZ_CHECK(bytes.size <= NET_VARSIZE_BYTES_MAX);
            FUZZ_CHECK(net_varsize_check(at->mirror, component, bytes.data, bytes.size) == NET_OK);
        }
    }
    base_bytes_deinit(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    void (*const steps[])(fixture*, base_reader*) = {take_record, take_value, take_ack,
                                                     change_server};
    fixture at;
    open(&at);
    base_reader bytes = base_reader_make(data, size);
    for (uint32_t i = 0; i < STEPS_MAX && base_reader_left(&bytes) > 0; i++)
        steps[base_reader_u8(&bytes) % 4](&at, &bytes);
    check_world(&at);
    close(&at);
    return 0;
}
