// SPDX-License-Identifier: MIT
// What differs between a log's schema and a match here: one sentence with the name.
#include "breakout_table.h"
#include "log/log_files.h"
#include "logtools/log_values.h"

#include "log.pb-c.h"

typedef struct fixture {
    table table;
    base_bytes header;
    Shoal__Log__Header* log; ///< the header, for a test to change
} fixture;

static void fixture_open(fixture* self) {
    table_open(&self->table, NULL, 0, 1, NET_ROLE_SERVER, false);
    base_bytes_init(&self->header, NULL);
    bool has_values = true;
    assert_ok(net_log_header_write(&self->header, self->table.match, "test", 1, 2, &has_values));
    assert_true(has_values);
    self->log = shoal__log__header__unpack(NULL, self->header.size, self->header.data);
    assert_non_null(self->log);
}

static void fixture_close(fixture* self) {
    shoal__log__header__free_unpacked(self->log, NULL);
    base_bytes_deinit(&self->header);
    table_close(&self->table);
}

#define SCHEMA_CASE(name) CASE_WITH(fixture, self, fixture_open(self), fixture_close(self), name)

// NULL: the text is left as it was, because nothing differs.
static void expect_difference(const fixture* self, const char* wanted) {
    size_t size = shoal__log__header__get_packed_size(self->log);
    uint8_t* packed = malloc(size);
    char text[256] = "";
    assert_non_null(packed);
    (void)shoal__log__header__pack(self->log, packed);
    bool is_other = net_log_header_difference(packed, size, self->table.match, text, sizeof text);
    assert_int_equal(is_other, wanted != NULL);
    if (wanted && !strstr(text, wanted)) fail_msg("\"%s\" is not in \"%s\"", wanted, text);
    free(packed);
}

static void expect_changed(const fixture* self, void* place, const void* value, size_t size,
                           const char* wanted) {
    uint8_t was[16];
    assert_true(size <= sizeof was);
    memcpy(was, place, size);
    memcpy(place, value, size);
    expect_difference(self, wanted);
    memcpy(place, was, size);
}

// With another value in one place this differs.
#define EXPECT_CHANGED(type, place, value, wanted)                                                 \
    expect_changed(self, &(place), &(type){value}, sizeof(place), wanted)

static Shoal__Log__SchemaComponent* first_with_fields(const fixture* self) {
    Shoal__Log__Schema* schema = self->log->schema;
    for (size_t i = 0; i < schema->n_components; i++)
        if (schema->components[i]->n_fields > 0) return schema->components[i];
    fail();
    return NULL;
}

SCHEMA_CASE(an_order_of_loading_that_is_another_one_is_named) {
    Shoal__Log__SchemaTemplate* last = self->log->schema->templates[0];
    Shoal__Log__SchemaComponent* first = self->log->schema->components[0];
    last->id += 700;
    expect_difference(self, file_name("template %s is number %u here, %u in the log", last->name,
                                      last->id - 700, last->id));
    const uint32_t id = first->id + 700;
    for (size_t i = 0; i < self->log->schema->n_templates; i++) {
        Shoal__Log__SchemaTemplate* template_ = self->log->schema->templates[i];
        for (size_t k = 0; k < template_->n_components; k++)
            if (template_->components[k]->component == first->id)
                template_->components[k]->component = id;
    }
    first->id = id;
    expect_difference(self, file_name("component %s is number %u here, %u in the log", first->name,
                                      id - 700, id));
}

SCHEMA_CASE(a_changed_field_is_named_with_what_changed) {
    Shoal__Log__SchemaComponent* component = first_with_fields(self);
    Shoal__Log__SchemaField* field = component->fields[0];
    const char* wanted =
        file_name("component %s, field %s: its bits is", component->name, field->name);
    EXPECT_CHANGED(uint32_t, field->bits, field->bits + 1, wanted);
    EXPECT_CHANGED(double, field->step, field->step + 1.0, "its step is");
    EXPECT_CHANGED(uint32_t, field->kind, field->kind + 1, "its kind is");
    EXPECT_CHANGED(size_t, component->n_fields, component->n_fields - 1, "only here");
    EXPECT_CHANGED(char*, field->name, (char[]){"other"}, ", field other is only in the log");
    expect_difference(self, NULL);
}

SCHEMA_CASE(what_travels_of_a_template_is_named) {
    for (size_t i = 0; i < self->log->schema->n_templates; i++) {
        Shoal__Log__SchemaTemplate* template_ = self->log->schema->templates[i];
        if (strcmp(template_->name, "breakout_ball") != 0) continue;
        for (size_t k = 0; k < template_->n_components; k++) {
            Shoal__Log__SchemaTemplateComponent* component = template_->components[k];
            if (component->bits == 0) continue;
            EXPECT_CHANGED(uint32_t, component->bits, component->bits + 1,
                           "template breakout_ball, component pos: its number of bits is another");
            EXPECT_CHANGED(double, component->step, component->step * 2,
                           "template breakout_ball, component pos: its step is another");
            EXPECT_CHANGED(size_t, component->defaults.len, component->defaults.len - 1,
                           "component pos: its default is another one in the log");
            EXPECT_CHANGED(uint32_t, component->flags, component->flags ^ 4,
                           "template breakout_ball, component pos: its use is another");
            EXPECT_CHANGED(size_t, template_->n_components, k,
                           "template breakout_ball, component ");
            return;
        }
    }
    fail();
}

SCHEMA_CASE(a_missing_item_is_named_with_its_side) {
    Shoal__Log__Schema* schema = self->log->schema;
    struct {
        size_t* count;
        const char* word;
    } lists[] = {{&schema->n_components, "component "},
                 {&schema->n_templates, "template "},
                 {&schema->n_messages, "message "}};
    for (uint32_t i = 0; i < BASE_COUNT(lists); i++) {
        EXPECT_CHANGED(size_t, *lists[i].count, *lists[i].count - 1, lists[i].word);
        EXPECT_CHANGED(size_t, *lists[i].count, *lists[i].count - 1, "is only here");
    }
    EXPECT_CHANGED(char*, schema->templates[0]->name, (char[]){"gone"},
                   "template gone is only in the log");
}

// A schema that did not fit its block has no templates, or names alone.
SCHEMA_CASE(a_schema_that_was_shortened_is_compared_as_far_as_it_goes) {
    Shoal__Log__Schema* schema = self->log->schema;
    size_t templates = schema->n_templates;
    schema->n_templates = 0;
    expect_difference(self, NULL);
    Shoal__Log__SchemaField* field = first_with_fields(self)->fields[0];
    EXPECT_CHANGED(uint32_t, field->bits, field->bits + 1, "its bits");
    schema->n_templates = templates;
}

// ---- where entities are, by names

typedef struct wanted_place {
    const char* component;
    net_log_field fields[3];
    uint32_t first, count; ///< 0: none
    uint32_t rank;
} wanted_place;

static net_log_component component_of(const char* name, const net_log_field* fields) {
    net_log_component made = {.id = 7, .name = name, .type = "", .fields = fields};
    for (; made.field_count < 3 && fields[made.field_count].name; made.field_count++)
        made.value_count += fields[made.field_count].count;
    return made;
}

CASE(places_are_found_by_name) {
    static const wanted_place places[] = {
        {"pos", {{"x", ECS_FIELD_F32, 1, false}, {"y", ECS_FIELD_F32, 1, false}}, 0, 2, 3},
        {"pos", {{"x", ECS_FIELD_I32, 1, false}, {"y", ECS_FIELD_I32, 1, false}}, 0, 0, 0},
        {"pos", {{"v", ECS_FIELD_F32, 4, false}}, 0, 0, 0},
        {"t",
         {{"a", ECS_FIELD_F32, 2, false}, {"position", ECS_FIELD_F64, 3, false}},
         2,
         3,
         NET_LOG_WHERE_NAMED},
        {"radius", {{"v", ECS_FIELD_F32, 1, false}}, 0, 0, 0},
    };
    for (uint32_t i = 0; i < BASE_COUNT(places); i++) {
        const wanted_place* wanted = &places[i];
        const net_log_component component = component_of(wanted->component, wanted->fields);
        net_log_where found = {0};
        assert_int_equal(net_log_where_add(&found, &component, NULL, true), wanted->count > 0);
        assert_int_equal(found.part.first, wanted->first);
        assert_int_equal(found.part.count, wanted->count);
        assert_int_equal(found.rank, wanted->rank);
    }
}

CASE(the_best_place_is_that_of_the_rules_then_a_named_then_a_replicated_one) {
    static const net_log_field pair[3] = {{"v", ECS_FIELD_F32, 2, false}};
    static const net_log_field angles[3] = {{"v", ECS_FIELD_F32, 2, .is_angle = true}};
    const net_log_component angle = component_of("orbit", angles), plain = component_of("a", pair);
    const net_log_component named = component_of("position", pair), rule = component_of("b", pair);
    net_log_where where = {0};
    assert_false(net_log_where_add(&where, &angle, "b", true));
    assert_true(net_log_where_add(&where, &plain, "b", false));
    assert_int_equal(where.rank, 0); // clients do not get it
    assert_true(net_log_where_add(&where, &plain, "b", true));
    const uint32_t rank = where.rank;
    assert_true(net_log_where_add(&where, &named, "b", false));
    assert_true(where.rank > rank && where.rank == NET_LOG_WHERE_NAMED);
    assert_true(net_log_where_add(&where, &rule, "b", false));
    assert_true(where.rank > NET_LOG_WHERE_NAMED && where.component == 7);
}
