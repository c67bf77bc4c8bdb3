// SPDX-License-Identifier: MIT
/// Random edits of nested values (S5.6) on the real values and on a simple twin: a tree of fixed
/// arrays, searched from the front and copied as a whole. After every edit both must be equal.
/// Shadows, copies, bytes and hashes are compared with it too (S5.8).

#include "model_scripts.h"

#include "type/container.h"

enum { TWIN_ITEMS = 6, TWIN_TEXT = 8, TWIN_DEPTH = 4, NAMES = 10, EDITS = 60 };

typedef struct twin twin;
struct twin {
    ecs_element_type type;
    int32_t number;       // i
    ecs_vec2 point;       // p2
    char text[TWIN_TEXT]; // t
    uint32_t count;
    twin* items[TWIN_ITEMS];
    char names[TWIN_ITEMS][TWIN_TEXT]; // names in an object, in any order
};

static uint64_t version_of(const ecs_object* object) {
    return object->own.body ? object->own.body->version : 0;
}

static const char* const names[NAMES] = {"a", "aa", "ab", "b", "ba", "B", "hp", "h", "x-y", "10"};

static twin* twin_make(ecs_element_type type) {
    twin* made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->type = type;
    return made;
}

static void twin_free(twin* old) {
    for (uint32_t i = 0; i < old->count; i++)
        twin_free(old->items[i]);
    free(old);
}

static twin* twin_copy(const twin* from) {
    twin* made = twin_make(from->type);
    *made = *from;
    for (uint32_t i = 0; i < from->count; i++)
        made->items[i] = twin_copy(from->items[i]);
    return made;
}

static uint32_t twin_height(const twin* of) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < of->count; i++) {
        uint32_t height = twin_height(of->items[i]);
        if (height > most) most = height;
    }
    return most + (of->type == ECS_ELEMENT_ARRAY || of->type == ECS_ELEMENT_OBJECT ||
                   ecs_element_is_list(of->type));
}

/// Get the items of an object in the order of names, one by one.
static uint32_t twin_next(const twin* of, const char* last) {
    uint32_t best = TWIN_ITEMS;
    for (uint32_t i = 0; i < of->count; i++)
        if ((!last || strcmp(of->names[i], last) > 0) &&
            (best == TWIN_ITEMS || strcmp(of->names[i], of->names[best]) < 0))
            best = i;
    return best;
}

static void compare(const twin* expected, const void* value);

static void compare_items(const twin* expected, const ecs_container_body* body) {
    uint32_t count = body ? body->count : 0;
    assert_int_equal(count, expected->count);
    const char* last = NULL;
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        if (expected->type == ECS_ELEMENT_OBJECT) {
            at = twin_next(expected, last);
            last = expected->names[at];
            assert_string_equal(ecs_container_named_item(body, i)->name, last);
            bytes += (uint32_t)strlen(last);
        }
        const twin* item = expected->items[at];
        const void* value = ecs_container_item(body, i);
        assert_int_equal(ecs_container_item_type(body, i), item->type);
        compare(item, value);
        bytes += ecs_element_weight(item->type, value) + !ecs_element_is_list(expected->type);
        if (ecs_element_is_container(item->type))
            assert_ptr_equal(ecs_container_body_of(value)->parent, body);
    }
    if (body) assert_int_equal(body->bytes, bytes);
}

static void compare(const twin* expected, const void* value) {
    if (expected->type == ECS_ELEMENT_I)
        assert_int_equal(*(const int32_t*)value, expected->number);
    else if (expected->type == ECS_ELEMENT_P2)
        assert_memory_equal(value, &expected->point, sizeof expected->point);
    else if (expected->type == ECS_ELEMENT_T)
        assert_string_equal(ecs_string_text(value), expected->text);
    else
        compare_items(expected, ecs_container_body_of(value));
}

typedef struct model {
    base_rng rng;
    twin* root;
    ecs_object value;
    ecs_object shadow;
    twin* told;
} model;

static uint32_t below(model* m, uint32_t count) {
    return base_rng_below(&m->rng, count);
}

/// Make a random value of a type: the twin, and the memory form in `child`.
static twin* random_value(model* m, ecs_element_type type, ecs_element* child) {
    twin* made = twin_make(type);
    *child = (ecs_element){.type = type};
    made->number = child->as.i = 0;
    if (type == ECS_ELEMENT_I) {
        made->number = child->as.i = base_rng_range(&m->rng, -3, 3);
    } else if (type == ECS_ELEMENT_P2) {
        made->point.x = (float)below(m, 3);
        child->as.p2 = made->point;
    } else if (type == ECS_ELEMENT_T) {
        (void)snprintf(made->text, sizeof made->text, "%.*s", (int)below(m, 6), "abcdef");
        child->as.t = ecs_element_text(made->text, (uint32_t)strlen(made->text));
    } else {
        memset(&child->as, 0, sizeof child->as); // NULL means the empty container
    }
    return made;
}

static ecs_element_type random_type(model* m) {
    static const ecs_element_type types[] = {ECS_ELEMENT_I,
                                             ECS_ELEMENT_P2,
                                             ECS_ELEMENT_T,
                                             ECS_ELEMENT_LIST + ECS_ELEMENT_P2,
                                             ECS_ELEMENT_LIST + ECS_ELEMENT_T,
                                             ECS_ELEMENT_ARRAY,
                                             ECS_ELEMENT_OBJECT};
    return types[below(m, BASE_COUNT(types))];
}

/// Choose a random inner container and its twin.
static twin* walk(model* m, void** value, uint32_t* depth) {
    twin* at = m->root;
    *value = &m->value;
    *depth = 1;
    while (below(m, 3) != 0) {
        uint32_t first = at->count ? below(m, at->count) : 0;
        uint32_t found = TWIN_ITEMS;
        for (uint32_t k = 0; k < at->count && found == TWIN_ITEMS; k++) {
            uint32_t i = (first + k) % at->count;
            if (ecs_element_is_container(at->items[i]->type)) found = i;
        }
        if (found == TWIN_ITEMS) break;
        ecs_element_type type = at->items[found]->type;
        *value = at->type == ECS_ELEMENT_OBJECT
                     ? ecs_object_find_mut(*value, at->names[found], type)
                     : ecs_array_find_mut(*value, found, type);
        assert_non_null(*value);
        at = at->items[found];
        ++*depth;
    }
    return at;
}

static void twin_insert(twin* at, uint32_t index, twin* item) {
    for (uint32_t i = at->count; i > index; i--)
        at->items[i] = at->items[i - 1];
    at->items[index] = item;
    at->count++;
}

static void twin_remove(twin* at, uint32_t index) {
    twin_free(at->items[index]);
    at->count--;
    for (uint32_t i = index; i < at->count; i++) {
        at->items[i] = at->items[i + 1];
        memcpy(at->names[i], at->names[i + 1], TWIN_TEXT);
    }
}

static void edit_list(model* m, twin* at, ecs_list* list) {
    ecs_element_type element = (ecs_element_type)(at->type - ECS_ELEMENT_LIST);
    ecs_element child;
    uint32_t index = below(m, at->count + 2);
    switch (below(m, 6)) {
    case 0: {
        uint32_t count = below(m, TWIN_ITEMS + 1);
        while (at->count > count) {
            twin_remove(at, at->count - 1);
            assert_ok(ecs_list_remove(NULL, list, at->count));
        }
        while (at->count < count) {
            twin_insert(at, at->count, twin_make(element));
            assert_ok(ecs_list_push(NULL, list, NULL));
        }
        return;
    }
    case 1:
        assert_int_equal(ecs_list_remove(NULL, list, index),
                         index < at->count ? ECS_OK : ECS_ERR_MISSING);
        if (index < at->count) twin_remove(at, index);
        return;
    case 2:
        if (below(m, 3) != 0) return;
        ecs_list_clear(NULL, list);
        while (at->count)
            twin_remove(at, 0);
        return;
    case 3: {
        if (at->count == TWIN_ITEMS) return;
        twin* made = random_value(m, element, &child);
        ecs_result result = ecs_list_insert(NULL, list, index, &child.as);
        assert_int_equal(result, index <= at->count ? ECS_OK : ECS_ERR_MISSING);
        if (result == ECS_OK)
            twin_insert(at, index, made);
        else
            twin_free(made);
        return;
    }
    default: {
        twin* made = random_value(m, element, &child);
        ecs_result result = ecs_list_set(NULL, list, index, &child.as);
        assert_int_equal(result, index < at->count ? ECS_OK : ECS_ERR_MISSING);
        if (result == ECS_OK) {
            twin_free(at->items[index]);
            at->items[index] = made;
        } else {
            twin_free(made);
        }
    }
    }
}

/// Make a value for an array or object: a random one, or a copy of an existing one.
static twin* choose_value(model* m, uint32_t depth, ecs_element* child, const void** source) {
    if (below(m, 4) == 0) {
        void* inner;
        uint32_t unused;
        twin* from = walk(m, &inner, &unused);
        if (depth + twin_height(from) <= TWIN_DEPTH) {
            *child = (ecs_element){.type = from->type};
            *source = inner;
            return twin_copy(from);
        }
    }
    ecs_element_type type = random_type(m);
    while (depth == TWIN_DEPTH && ecs_element_is_container(type))
        type = random_type(m);
    twin* made = random_value(m, type, child);
    *source = ecs_element_is_container(type) ? NULL : &child->as;
    return made;
}

static void edit_array(model* m, twin* at, ecs_array* array, uint32_t depth) {
    uint32_t index = below(m, at->count + 2);
    uint32_t op = below(m, 5);
    if (op == 0) {
        assert_int_equal(ecs_array_remove(NULL, array, index),
                         index < at->count ? ECS_OK : ECS_ERR_MISSING);
        if (index < at->count) twin_remove(at, index);
        return;
    }
    if (op == 1 && below(m, 4) == 0) {
        ecs_array_clear(NULL, array);
        while (at->count)
            twin_remove(at, 0);
        return;
    }
    ecs_element child;
    const void* source;
    twin* made = choose_value(m, depth, &child, &source);
    bool is_set = op == 2 || at->count == TWIN_ITEMS;
    ecs_result result = is_set ? ecs_array_set(NULL, array, index, child.type, source)
                               : ecs_array_insert(NULL, array, index, child.type, source);
    assert_int_equal(result, index < at->count + !is_set ? ECS_OK : ECS_ERR_MISSING);
    if (result != ECS_OK) {
        twin_free(made);
    } else if (is_set) {
        twin_free(at->items[index]);
        at->items[index] = made;
    } else {
        twin_insert(at, index, made);
    }
}

static void edit_object(model* m, twin* at, ecs_object* object, uint32_t depth) {
    const char* name = names[below(m, NAMES)];
    uint32_t index = 0;
    while (index < at->count && strcmp(at->names[index], name) != 0)
        index++;
    if (below(m, 4) == 0) {
        assert_int_equal(ecs_object_remove(NULL, object, name),
                         index < at->count ? ECS_OK : ECS_ERR_MISSING);
        if (index < at->count) twin_remove(at, index);
        return;
    }
    if (index == TWIN_ITEMS) return;
    ecs_element child;
    const void* source;
    twin* made = choose_value(m, depth, &child, &source);
    assert_ok(ecs_object_set(NULL, object, name, child.type, source));
    if (index < at->count)
        twin_free(at->items[index]);
    else
        at->count++;
    at->items[index] = made;
    (void)snprintf(at->names[index], TWIN_TEXT, "%s", name);
}

static const ecs_type_context heap = {NULL};

/// Write the value, read it back, and compare its hash.
static void check_bytes(const ecs_object* value) {
    const ecs_type* type = ecs_builtin_type(ECS_ELEMENT_OBJECT);
    base_bytes bytes = {0};
    ecs_type_write(type, value, &bytes);
    assert_true(ecs_type_hash(type, value, 3) == base_hash64(bytes.data, bytes.size, 3));
    ecs_object back = {0};
    base_reader reader = base_reader_make(bytes.data, bytes.size);
    assert_true(ecs_type_read(type, &heap, &back, &reader));
    assert_int_equal(base_reader_left(&reader), 0);
    assert_true(ecs_type_equal(type, &back, value));
    assert_int_equal(back.own.body->bytes, value->own.body ? value->own.body->bytes : 0);
    base_bytes again = {0};
    ecs_type_write(type, &back, &again);
    assert_int_equal(again.size, bytes.size);
    assert_memory_equal(again.data, bytes.data, bytes.size);
    // One byte less must fail.
    base_reader cut = base_reader_make(bytes.data, bytes.size - 1);
    assert_null(ecs_container_read(NULL, ECS_ELEMENT_OBJECT, &cut));
    base_bytes_deinit(&again);
    base_bytes_deinit(&bytes);
    ecs_object_deinit(NULL, &back);
}

static bool twin_equal(const twin* a, const twin* b) {
    if (a->type != b->type || a->count != b->count || a->number != b->number ||
        a->point.x != b->point.x || strcmp(a->text, b->text) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t k = i;
        if (a->type == ECS_ELEMENT_OBJECT)
            for (k = 0; k < b->count && strcmp(a->names[i], b->names[k]) != 0;)
                k++;
        if (k == b->count || !twin_equal(a->items[i], b->items[k])) return false;
    }
    return true;
}

/// Compare as tracking does: the value is listed when it differs from its shadow.
static void check_shadow(model* m) {
    const ecs_type* type = ecs_builtin_type(ECS_ELEMENT_OBJECT);
    bool differs = !twin_equal(m->root, m->told);
    if (differs) assert_false(ecs_value_is_untouched(type, &m->shadow, &m->value));
    assert_int_equal(ecs_value_compare(type, &heap, &m->shadow, &m->value), differs);
    if (m->shadow.own.body) // by its version
        assert_true(ecs_value_is_untouched(type, &m->shadow, &m->value));
    twin_free(m->told);
    m->told = twin_copy(m->root);
    compare(m->told, &m->shadow);
}

static void check_copy(model* m) {
    const ecs_type* type = ecs_builtin_type(ECS_ELEMENT_OBJECT);
    ecs_object copy;
    ecs_value_copy(type, &heap, &copy, &m->value);
    compare(m->root, &copy);
    ecs_object moved;
    ecs_value_move(type, &heap, &moved, &copy);
    if (below(m, 2)) {
        // The copy becomes the value: only the version changes.
        ecs_object empty = {0};
        ecs_value_assign(type, &heap, &m->value, &empty);
        ecs_value_assign(type, &heap, &m->value, &moved);
        compare(m->root, &m->value);
    }
    const uint64_t version = version_of(&m->value);
    ecs_value_assign(type, &heap, &m->value, &moved); // the same: it is no change
    assert_int_equal(version_of(&m->value), version);
    ecs_value_destroy(type, &heap, &moved);
}

static void run_script(model* m) {
    m->root = twin_make(ECS_ELEMENT_OBJECT);
    m->told = twin_make(ECS_ELEMENT_OBJECT);
    m->value = (ecs_object){0};
    m->shadow = (ecs_object){0};
    for (uint32_t i = 0; i < EDITS; i++) {
        void* value;
        uint32_t depth;
        uint64_t version = version_of(&m->value);
        twin* before = twin_copy(m->root);
        twin* at = walk(m, &value, &depth);
        if (at->type == ECS_ELEMENT_OBJECT)
            edit_object(m, at, value, depth);
        else if (at->type == ECS_ELEMENT_ARRAY)
            edit_array(m, at, value, depth);
        else
            edit_list(m, at, value);
        compare(m->root, &m->value);
        if (!twin_equal(before, m->root)) assert_true(version_of(&m->value) > version);
        twin_free(before);
        if (below(m, 4) == 0) check_shadow(m);
        if (below(m, 8) == 0) check_copy(m);
        if (below(m, 8) == 0) check_bytes(&m->value);
    }
    twin_free(m->root);
    twin_free(m->told);
    ecs_object_deinit(NULL, &m->value);
    ecs_object_deinit(NULL, &m->shadow);
}

static model_scripts scripts = {.count = 2000, .seed = 9127};

CASE(random_edits_agree_with_the_twin) {
    for (uint32_t i = 0; i < scripts.count; i++) {
        model m = {.rng = base_rng_make(scripts.seed, i)};
        run_script(&m);
    }
}

MODEL_MAIN(20)
