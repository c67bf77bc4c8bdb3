// SPDX-License-Identifier: MIT
// What differs between a log's schema and a match here: one sentence with the name.
#include "breakout_table.h"
#include "log/log_header.h"

#include "log.pb-c.h"

typedef struct fixture {
    table table;
    base_bytes header;
    Shoal__Log__Header* log; ///< the header, for a test to change
} fixture;

static int setup(void** state) {
    fixture* self = calloc(1, sizeof *self);
    assert_non_null(self);
    table_open(&self->table, NULL, 0, 1, NET_ROLE_SERVER, false);
    base_bytes_init(&self->header, NULL);
    bool has_values = true;
    assert_int_equal(
        net_log_header_write(&self->header, self->table.match, "test", 1, 2, &has_values), NET_OK);
    assert_true(has_values);
    self->log = shoal__log__header__unpack(NULL, self->header.size, self->header.data);
    assert_non_null(self->log);
    *state = self;
    return 0;
}

static int teardown(void** state) {
    fixture* self = *state;
    shoal__log__header__free_unpacked(self->log, NULL);
    base_bytes_deinit(&self->header);
    table_close(&self->table);
    free(self);
    return 0;
}

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

static Shoal__Log__SchemaComponent* first_with_fields(const fixture* self) {
    Shoal__Log__Schema* schema = self->log->schema;
    for (size_t i = 0; i < schema->n_components; i++)
        if (schema->components[i]->n_fields > 0) return schema->components[i];
    fail();
    return NULL;
}

static void an_equal_schema_differs_in_nothing(void** state) {
    const fixture* self = *state;
    expect_difference(self, NULL);
    // Numbers depend on the order of loading and mean nothing.
    Shoal__Log__SchemaComponent** components = self->log->schema->components;
    Shoal__Log__SchemaComponent* first = components[0];
    components[0] = components[1];
    components[1] = first;
    first->id += 7;
    expect_difference(self, NULL);
}

static void a_changed_field_is_named_with_what_changed(void** state) {
    const fixture* self = *state;
    Shoal__Log__SchemaComponent* component = first_with_fields(self);
    Shoal__Log__SchemaField* field = component->fields[0];
    char wanted[256];
    field->bits++;
    snprintf(wanted, sizeof wanted, "component %s, field %s: its bits is", component->name,
             field->name);
    expect_difference(self, wanted);
    field->bits--;
    field->step += 1.0;
    expect_difference(self, "its step is");
    field->step -= 1.0;
    field->kind++;
    expect_difference(self, "its kind is");
    field->kind--;
    component->n_fields--;
    expect_difference(self, "only here");
    component->n_fields++;
    char* name = field->name;
    field->name = (char[]){"other"};
    expect_difference(self, "other in the log");
    field->name = name;
    expect_difference(self, NULL);
}

static void a_missing_item_is_named_with_its_side(void** state) {
    const fixture* self = *state;
    Shoal__Log__Schema* schema = self->log->schema;
    struct {
        size_t* count;
        const char* word;
    } lists[] = {{&schema->n_components, "component "},
                 {&schema->n_templates, "template "},
                 {&schema->n_messages, "message "}};
    for (uint32_t i = 0; i < BASE_COUNT(lists); i++) {
        *lists[i].count -= 1;
        expect_difference(self, lists[i].word);
        expect_difference(self, "is only here");
        *lists[i].count += 1;
    }
    char* name = schema->templates[0]->name;
    schema->templates[0]->name = (char[]){"gone"};
    expect_difference(self, "template gone is only in the log");
    schema->templates[0]->name = name;
}

// A schema that did not fit its block has no templates, or names alone.
static void a_schema_that_was_shortened_is_compared_as_far_as_it_goes(void** state) {
    const fixture* self = *state;
    Shoal__Log__Schema* schema = self->log->schema;
    size_t templates = schema->n_templates;
    schema->n_templates = 0;
    expect_difference(self, NULL);
    first_with_fields(self)->fields[0]->bits++;
    expect_difference(self, "its bits");
    first_with_fields(self)->fields[0]->bits--;
    schema->n_templates = templates;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_equal_schema_differs_in_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_field_is_named_with_what_changed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_missing_item_is_named_with_its_side, setup, teardown),
        cmocka_unit_test_setup_teardown(a_schema_that_was_shortened_is_compared_as_far_as_it_goes,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
