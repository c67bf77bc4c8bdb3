// SPDX-License-Identifier: MIT
/// Boxed types (S5.4): the column has a pointer, and the object has an address that never changes.
/// The type has a pool of objects and resets a returned object (S4.6).
#include "sample_world.h"

/// A ship that owns a name. It counts the living ships.
typedef struct ship {
    int32_t crew;
    uint32_t made;     ///< create calls for the current object in this memory
    char* name;        ///< 8 bytes from the allocator; NULL: not allocated yet
    struct ship* self; ///< its own address; correct as long as the object never moves
} ship;

static const ecs_field ship_fields[] = {FIELD_OF(ship, crew, I32, 1)};

typedef struct ship_counts {
    int creates, destroys, resets;
} ship_counts;

static ship_counts counts;

static void ship_create(const ecs_type_context* context, void* value) {
    *(ship*)value = (ship){.crew = 1, .made = 1, .self = value};
    counts.creates++;
}

static void ship_destroy(const ecs_type_context* context, void* value) {
    ship* self = value;
    assert_ptr_equal(self->self, self);
    base_release(context->allocator, self->name, 8);
    memset(self, 0xEE, sizeof *self);
    counts.destroys++;
}

static void ship_assign(const ecs_type_context* context, void* target, const void* source) {
    ship* self = target;
    const ship* from = source;
    assert_ptr_equal(self->self, self);
    if (from->name && !self->name) {
        self->name = base_allocate(context->allocator, 8);
    }
    if (from->name) memcpy(self->name, from->name, 8);
    self->crew = from->crew;
}

static void ship_reset(const ecs_type_context* context, void* value) {
    ship* self = value;
    self->crew = 1;
    counts.resets++;
}

static const ecs_type_ops ship_ops = {
    .create = ship_create, .destroy = ship_destroy, .assign = ship_assign};
static const ecs_type_ops pooled_ops = {
    .create = ship_create, .destroy = ship_destroy, .assign = ship_assign, .reset = ship_reset};
static const ecs_type_ops bare_ops = {.create = ship_create, .destroy = ship_destroy};

typedef struct fleet {
    scarce_memory memory;
    ecs_world* world;
    ecs_component_id hull, pos;
    ecs_template_id tracked, plain, other;
} fleet;

static const char fleet_text[] = "galley { \"hull:ship\" { _track:b=yes; crew:i=30 } pos:p2=1,2 }\n"
                                 "raft { \"hull:ship\" { } }\n"
                                 "wreck { pos:p2=3,4 }\n";

/// @return false when memory ran out.
static bool open_fleet(fleet* f, const ecs_type_ops* ops, bool is_plain) {
    ecs_world_config config = ecs_world_config_default();
    config.allocator = &f->memory.allocator;
    config.limits.replicated_index_max = 2048;
    config.limits.local_entities_max = 4096;
    config.limits.events_queued_max = 16;
    config.limits.commands_queued_max = 64;
    counts = (ship_counts){0};
    f->world = NULL;
    if (ecs_world_create(&config, &f->world) != ECS_OK) return false;
    ecs_type_desc desc = {.name = "ship",
                          .size = sizeof(ship),
                          .align = _Alignof(ship),
                          .fields = ship_fields,
                          .field_count = 1,
                          .ops = is_plain ? NULL : ops};
    base_reporter reporter = base_reporter_stderr();
    bool is_open =
        ecs_type_register_as(f->world, &desc, ECS_TYPE_BOXED, &reporter, NULL) == ECS_OK &&
        ecs_template_load(f->world, "fleet.blk", fleet_text, strlen(fleet_text), &reporter) ==
            ECS_OK &&
        ecs_world_seal(f->world, &reporter) == ECS_OK;
    if (!is_open) {
        ecs_world_destroy(f->world);
        return false;
    }
    f->hull = ecs_component_find(f->world, "hull");
    f->pos = ecs_component_find(f->world, "pos");
    f->tracked = ecs_template_find(f->world, "galley");
    f->plain = ecs_template_find(f->world, "raft");
    f->other = ecs_template_find(f->world, "wreck");
    return true;
}

static void close_fleet(fleet* f) {
    ecs_world_destroy(f->world);
    assert_int_equal(f->memory.bytes, 0);
    assert_int_equal(counts.creates, counts.destroys);
}

static void make_fleet(fleet* f, const ecs_type_ops* ops, bool is_plain) {
    scarce_init(&f->memory);
    assert_true(open_fleet(f, ops, is_plain));
}

#define FLEET_CASE(name, ops, is_plain)                                                            \
    CASE_WITH(fleet, f, make_fleet(f, ops, is_plain), close_fleet(f), name)

static ship* hull_of(const fleet* f, ecs_entity entity) {
    return *(ship* const*)ecs_get(f->world, entity, f->hull);
}

FLEET_CASE(a_boxed_object_never_moves, &ship_ops, false) {
    enum { COUNT = 300 };
    ecs_entity entities[COUNT];
    ship* hulls[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_ok(ecs_create(f->world, f->tracked, NULL, 0, &entities[i]));
        hulls[i] = hull_of(f, entities[i]);
        assert_int_equal(hulls[i]->crew, 30);
        (*(ship**)ecs_get_mut(f->world, entities[i], f->hull))->crew = (int32_t)i;
    }
    // Chunks grow, rows move, templates change, and the objects stay in place.
    for (uint32_t i = 0; i < COUNT; i += 3)
        assert_ok(ecs_destroy(f->world, entities[i]));
    for (uint32_t i = 1; i < COUNT; i += 3)
        assert_ok(ecs_recreate(f->world, entities[i], f->plain, NULL, 0));
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 3 == 0) continue;
        assert_ptr_equal(hull_of(f, entities[i]), hulls[i]);
        assert_int_equal(hulls[i]->crew, (int32_t)i);
        assert_ptr_equal(hulls[i]->self, hulls[i]);
    }
    ecs_world_validate(f->world);
}

// S5.4: create and destroy are all that a type must give.
FLEET_CASE(create_and_destroy_are_enough, &bare_ops, false) {
    ecs_entity entity;
    assert_ok(ecs_create(f->world, f->tracked, NULL, 0, &entity));
    assert_int_equal(hull_of(f, entity)->crew, 30); // the default is set by its fields
    ship other = {.crew = 8};
    ship* pointer = &other;
    assert_ok(ecs_set(f->world, entity, f->hull, &pointer));
    assert_int_equal(hull_of(f, entity)->crew, 8);
    assert_ptr_not_equal(hull_of(f, entity), pointer);
    char text[64];
    const ecs_type* type = ecs_type_get(f->world, ecs_type_find(f->world, "ship"));
    assert_true(ecs_type_format(type, ecs_get(f->world, entity, f->hull), text, sizeof text));
    assert_string_equal(text, "{crew=8}");
    ecs_init init = {f->hull, &pointer};
    assert_ok(ecs_create(f->world, f->plain, &init, 1, &entity));
    assert_int_equal(hull_of(f, entity)->crew, 8);
    assert_ok(ecs_recreate(f->world, entity, f->other, NULL, 0));
    assert_null(ecs_find(f->world, entity, f->hull));
}

FLEET_CASE(plain_data_may_be_boxed_without_functions, NULL, true) {
    ecs_entity entity;
    assert_ok(ecs_create(f->world, f->tracked, NULL, 0, &entity));
    assert_int_equal(hull_of(f, entity)->crew, 30);
    assert_null(hull_of(f, entity)->name);
    assert_ok(ecs_create(f->world, f->plain, NULL, 0, &entity));
    assert_int_equal(hull_of(f, entity)->crew, 0);
    const ecs_type* type = ecs_type_get(f->world, ecs_type_find(f->world, "ship"));
    assert_false(ecs_type_is_plain(type));
    assert_true(ecs_type_is_relocatable(type)); // the pointer itself is relocatable
    assert_int_equal(type->size, sizeof(void*));
    assert_int_equal(type->object_size, sizeof(ship));
}

// S4.6: with a reset a returned object comes back as it was created, and keeps the memory that it
// owns.
FLEET_CASE(an_object_that_goes_back_is_reset_and_reused, &pooled_ops, false) {
    char name[8] = "Argo";
    ship other = {.crew = 2, .name = name};
    ship* pointer = &other;
    ecs_init init = {f->hull, &pointer};
    ecs_entity entity;
    assert_ok(ecs_create(f->world, f->plain, &init, 1, &entity));
    ship* hull = hull_of(f, entity);
    assert_string_equal(hull->name, "Argo");
    int creates = counts.creates;
    assert_ok(ecs_destroy(f->world, entity));
    assert_int_equal(counts.resets, 1);
    assert_int_equal(counts.destroys, 0);
    assert_int_equal(hull->crew, 1);
    uint64_t calls = f->memory.calls;
    for (uint32_t i = 0; i < 100; i++) {
        assert_ok(ecs_create(f->world, f->plain, &init, 1, &entity));
        assert_ptr_equal(hull_of(f, entity), hull);
        assert_int_equal(hull->crew, 2);
        assert_ok(ecs_destroy(f->world, entity));
        ecs_changes_clear(f->world);
    }
    assert_int_equal(counts.creates, creates);
    assert_int_equal(f->memory.calls, calls);
}

FLEET_CASE(without_a_reset_an_object_is_destroyed_and_its_place_reused, &ship_ops, false) {
    ecs_entity entity;
    assert_ok(ecs_create(f->world, f->plain, NULL, 0, &entity));
    const ship* hull = hull_of(f, entity);
    int destroys = counts.destroys;
    assert_ok(ecs_destroy(f->world, entity));
    assert_int_equal(counts.destroys, destroys + 1);
    assert_ok(ecs_create(f->world, f->plain, NULL, 0, &entity));
    assert_ptr_equal(hull_of(f, entity), hull);
}

// Register bytes of a size at the edge of a limit.
static ecs_result register_bytes(ecs_world* world, uint32_t size, uint32_t flags,
                                 base_report_first* first) {
    char name[16];
    const base_reporter reporter = base_reporter_first(first);
    ecs_field field = {.name = "bytes", .kind = ECS_FIELD_U8, .count = size};
    (void)snprintf(name, sizeof name, "%s%u", flags ? "boxed" : "big", size);
    ecs_type_desc desc = {
        .name = name, .size = size, .align = 1, .fields = &field, .field_count = 1};
    ecs_type_id id = ECS_TYPE_NONE;
    ecs_result result = ecs_type_register_as(world, &desc, flags, &reporter, &id);
    if (result == ECS_OK) assert_int_equal(ecs_type_get(world, id)->object_size, size);
    return result;
}

CASE(a_relocatable_type_over_its_limit_is_refused_with_a_message) {
    static const struct {
        uint32_t flags, size_max;
    } rows[] = {{0, ECS_TYPE_BYTES_MAX}, {ECS_TYPE_BOXED, ECS_BOXED_BYTES_MAX}};
    ecs_world* world = world_of("");
    base_report_first first;
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++)
        for (uint32_t size = rows[i].size_max - 1; size <= rows[i].size_max + 1; size++)
            assert_int_equal(register_bytes(world, size, rows[i].flags, &first),
                             size <= rows[i].size_max ? ECS_OK : ECS_ERR_TYPE);
    assert_int_equal(register_bytes(world, ECS_TYPE_BYTES_MAX + 1, 0, &first), ECS_ERR_TYPE);
    assert_non_null(strstr(first.text, "type 'big65537' is refused: it is larger than 65536 "
                                       "bytes: register it boxed"));
    assert_ok(register_bytes(world, ECS_TYPE_BYTES_MAX + 1, ECS_TYPE_BOXED, &first));
    ecs_world_destroy(world);
}

CASE(flags_that_make_no_sense_are_refused) {
    ecs_world* world = world_of("");
    ecs_type_desc desc = {
        .name = "ship", .size = sizeof(ship), .align = _Alignof(ship), .ops = &pooled_ops};
    assert_int_equal(ecs_type_register(world, &desc, NULL), ECS_ERR_TYPE); // reset needs a box
    assert_int_equal(ecs_type_register_as(world, &desc, 2, NULL, NULL), ECS_ERR_TYPE);
    ecs_type_desc tag = {.name = "nothing"};
    assert_int_equal(ecs_type_register_as(world, &tag, ECS_TYPE_BOXED, NULL, NULL), ECS_ERR_TYPE);
    assert_ok(ecs_type_register_as(world, &desc, ECS_TYPE_BOXED, NULL, NULL));
    ecs_world_destroy(world);
}

// A library's image: `made` is what its padding holds, so it is in the bytes and in no hash.

static void image_write(const void* value, base_bytes* bytes) {
    const ship* self = value;
    base_bytes_write_u32(bytes, (uint32_t)self->crew);
    base_bytes_write_u32(bytes, self->made);
}

static bool image_read(const ecs_type_context* context, void* value, base_reader* reader) {
    ship* self = value;
    self->crew = (int32_t)base_reader_u32(reader);
    self->made = base_reader_u32(reader);
    return !reader->failed;
}

static uint64_t image_hash(const void* value, uint64_t seed) {
    return base_hash64_mix(seed, (uint64_t)((const ship*)value)->crew);
}

static bool image_format(const void* value, char* text, size_t bytes) {
    return base_text_format(text, bytes, "crew of\t%d", ((const ship*)value)->crew);
}

static void image_assign(const ecs_type_context* context, void* target, const void* source) {
    ((ship*)target)->made = ((const ship*)source)->made;
    ship_assign(context, target, source);
}

static const ecs_type_ops image_ops = {.create = ship_create,
                                       .destroy = ship_destroy,
                                       .assign = image_assign,
                                       .write = image_write,
                                       .read = image_read,
                                       .hash = image_hash,
                                       .format = image_format};
static const ecs_type_ops unhashed_ops = {.create = ship_create,
                                          .destroy = ship_destroy,
                                          .assign = ship_assign,
                                          .write = image_write,
                                          .read = image_read};

static uint64_t untracked_sum(const fleet* f) {
    uint64_t sums[ECS_COMPONENTS_MAX + 1] = {0};
    ecs_world_untracked_sums(f->world, 0, UINT32_MAX, sums);
    return sums[f->hull];
}

FLEET_CASE(the_hash_of_a_type_stands_for_its_bytes, &image_ops, false) {
    ecs_entity entity, loose;
    assert_ok(ecs_create(f->world, f->tracked, NULL, 0, &entity));
    assert_ok(ecs_create(f->world, f->plain, NULL, 0, &loose));
    step_world(f->world);
    const uint64_t hash = ecs_world_hash(f->world), state = ecs_world_state_hash(f->world),
                   sum = untracked_sum(f);
    ecs_changes_clear(f->world);
    hull_of(f, entity)->made += 7;
    hull_of(f, loose)->made += 7;
    (void)ecs_get_mut(f->world, entity, f->hull);
    step_world(f->world);
    assert_int_equal(ecs_changes_get(f->world).changed_count, 0);
    assert_true(ecs_world_state_hash(f->world) == state);
    assert_true(ecs_world_state_hash_walk(f->world) == state);
    assert_true(untracked_sum(f) == sum);
    assert_true(ecs_world_hash(f->world) != hash); // of another tick
    hull_of(f, loose)->made += 7;
    const uint64_t again = ecs_world_hash(f->world);
    hull_of(f, loose)->made += 7;
    assert_true(ecs_world_hash(f->world) == again);
    hull_of(f, loose)->crew += 1; // nothing tracks it, and a log has its sum
    assert_false(untracked_sum(f) == sum);
    (*(ship**)ecs_get_mut(f->world, entity, f->hull))->crew += 1;
    step_world(f->world);
    assert_false(ecs_world_state_hash(f->world) == state);
    assert_true(ecs_world_state_hash_walk(f->world) == ecs_world_state_hash(f->world));
    const uint64_t after = ecs_world_hash(f->world);
    assert_false(after == hash);
    base_bytes bytes = world_saved(f->world);
    (*(ship**)ecs_get_mut(f->world, entity, f->hull))->crew = 0;
    assert_ok(ecs_world_restore(f->world, bytes.data, bytes.size));
    base_bytes_deinit(&bytes);
    assert_true(ecs_world_hash(f->world) == after);
    assert_int_equal(hull_of(f, loose)->made, 22);
    ecs_world_validate(f->world);
}

FLEET_CASE(without_a_hash_the_bytes_are_hashed, &unhashed_ops, false) {
    ecs_entity entity;
    assert_ok(ecs_create(f->world, f->plain, NULL, 0, &entity));
    const ecs_type* type = ecs_type_get(f->world, ecs_type_find(f->world, "ship"));
    const void* cell = ecs_get(f->world, entity, f->hull);
    const uint64_t hash = ecs_type_hash(type, cell, 3);
    hull_of(f, entity)->made += 7;
    assert_false(ecs_type_hash(type, cell, 3) == hash);
    assert_true(untracked_sum(f) == 0); // and what is untracked is in no sum
}

FLEET_CASE(a_type_formats_its_values_on_one_line, &image_ops, false) {
    ecs_entity entity;
    assert_ok(ecs_create(f->world, f->tracked, NULL, 0, &entity));
    const ecs_type* type = ecs_type_get(f->world, ecs_type_find(f->world, "ship"));
    const void* cell = ecs_get(f->world, entity, f->hull);
    char text[64];
    for (size_t bytes = 1; bytes <= sizeof "crew_of_30" + 1; bytes++) {
        memset(text, 'x', sizeof text);
        const bool fits = bytes >= sizeof "crew_of_30";
        assert_int_equal(ecs_type_format(type, cell, text, bytes), fits);
        assert_int_equal(strlen(text), fits ? sizeof "crew_of_30" - 1 : bytes - 1);
        assert_memory_equal(text, "crew_of_30", strlen(text));
        assert_int_equal(text[bytes], 'x');
    }
}

CASE(without_equal_and_fields_the_hashes_are_compared) {
    ecs_world* world = world_of("");
    const ecs_type_desc desc = {
        .name = "image", .size = sizeof(ship), .align = _Alignof(ship), .ops = &image_ops};
    ecs_type_id id;
    assert_ok(ecs_type_register_as(world, &desc, ECS_TYPE_BOXED, NULL, &id));
    ship a = {.crew = 3, .made = 1}, b = {.crew = 3, .made = 2};
    const ship *left = &a, *right = &b;
    assert_true(ecs_type_equal(ecs_type_get(world, id), &left, &right));
    b.crew = 4;
    assert_false(ecs_type_equal(ecs_type_get(world, id), &left, &right));
    ecs_world_destroy(world);
}
