// SPDX-License-Identifier: MIT
#include "template/data_world.h"
#include "text_file.h"

#include "template/datablock.h"
#include "template/template_registry.h"
#include "type/world.h"

typedef struct parse_run {
    ecs_text text;
    base_report_first report;
    ecs_result result;
} parse_run;

/// The caller frees the text with ecs_text_deinit.
static parse_run parse_bytes(const char* source, size_t size) {
    parse_run parsed;
    base_reporter reporter = base_reporter_first(&parsed.report);
    parsed.result = ecs_text_parse(&parsed.text, NULL, "x.blk", source, size, &reporter);
    return parsed;
}

static const ecs_text_node* child(const ecs_text* text, const ecs_text_node* node, uint32_t index) {
    uint32_t at = node->child_first;
    while (index-- > 0)
        at = text->nodes[at].next;
    return at ? &text->nodes[at] : NULL;
}

static void expect_node(const ecs_text* text, const ecs_text_node* node, const char* name,
                        const char* type, const char* value, uint32_t line) {
    assert_non_null(node);
    assert_string_equal(ecs_text_string(text, node->name), name);
    assert_string_equal(ecs_text_string(text, node->type), type);
    assert_string_equal(ecs_text_string(text, node->value), value);
    assert_int_equal(node->line, line);
}

static void refused(const char* source, const char* message) {
    parse_run parsed = parse_bytes(source, strlen(source));
    assert_int_equal(parsed.result, ECS_ERR_SYNTAX);
    assert_string_equal(parsed.report.text, message);
    ecs_text_deinit(&parsed.text);
}

CASE(blocks_and_parameters_become_a_tree) {
    static const char source[] =
        "\xEF\xBB\xBF// first\n"
        "a { x:i=1;y : r = 2 , 3 /* both */ z:t=\"q;{}\" } /* two\nlines */\r\n"
        "\"b:list<i>\"\n{\n  c.d:p2=-1.5,+2 'e:f'{} }g:t=// nothing\n";
    parse_run parsed = parse_bytes(source, strlen(source));
    assert_int_equal(parsed.result, ECS_ERR_SYNTAX);
    assert_string_equal(parsed.report.text, "x.blk:6: error: a value is missing");
    const ecs_text* text = &parsed.text;
    const ecs_text_node* root = &text->nodes[0];
    assert_int_equal(root->child_count, 2);
    const ecs_text_node* a = child(text, root, 0);
    expect_node(text, a, "a", "", "", 2);
    assert_int_equal(a->child_count, 3);
    expect_node(text, child(text, a, 0), "x", "i", "1", 2);
    expect_node(text, child(text, a, 1), "y", "r", "2,3", 2);
    expect_node(text, child(text, a, 2), "z", "t", "q;{}", 2);
    const ecs_text_node* b = child(text, root, 1);
    expect_node(text, b, "b", "list<i>", "", 4);
    expect_node(text, child(text, b, 0), "c.d", "p2", "-1.5,+2", 6);
    expect_node(text, child(text, b, 1), "e", "f", "", 6);
    assert_true(child(text, b, 1)->is_block);
    assert_false(child(text, b, 0)->is_block);
    ecs_text_deinit(&parsed.text);
}

CASE(strings_are_unescaped) {
    static const char source[] =
        "a:t=\"\\n\\t\\r\\\\\\\"\\'\\x41\\xfF\" b:t='it\"s' c:t=k\xC3\xA4se "
        "d:t=\"\"";
    parse_run parsed = parse_bytes(source, strlen(source));
    assert_ok(parsed.result);
    const ecs_text_node* root = &parsed.text.nodes[0];
    expect_node(&parsed.text, child(&parsed.text, root, 0), "a", "t", "\n\t\r\\\"'A\xFF", 1);
    expect_node(&parsed.text, child(&parsed.text, root, 1), "b", "t", "it\"s", 1);
    expect_node(&parsed.text, child(&parsed.text, root, 2), "c", "t", "k\xC3\xA4se", 1);
    expect_node(&parsed.text, child(&parsed.text, root, 3), "d", "t", "", 1);
    ecs_text_deinit(&parsed.text);
}

CASE(syntax_faults_name_their_line) {
    refused("a {\n\n x:i=\n}", "x.blk:3: error: a value is missing");
    refused("a {\n x:i=1", "x.blk:1: error: block 'a' is never closed: } is missing");
    refused("\n}", "x.blk:2: error: this } closes no block");
    refused("{ }", "x.blk:1: error: a block needs a name");
    refused("a { x=1 }", "x.blk:1: error: parameter 'x' needs a type, as in name:type=value");
    refused("a { x:=1 }", "x.blk:1: error: 'x:' needs a type");
    refused("a { x }", "x.blk:1: error: 'x' needs '=' and a value, or a block in { }");
    refused("a { x:i }", "x.blk:1: error: 'x' needs '=' and a value, or a block in { }");
    refused("a {\n ! }", "x.blk:2: error: a name was expected here, not '!'");
    refused("\x01", "x.blk:1: error: a name was expected here, not '\\x01'");
    refused("a { x:t=\"b\n }",
            "x.blk:1: error: this string never ends: its quote is missing on this "
            "line");
    refused("a { x:t=\"\\q\" }",
            "x.blk:1: error: no such escape: \\n \\t \\r \\\\ \\\" \\' \\x01..\\xff");
    refused("a { x:t=\"\\x00\" }",
            "x.blk:1: error: no such escape: \\n \\t \\r \\\\ \\\" \\' \\x01..\\xff");
    refused("a {\n/* }", "x.blk:2: error: this comment never ends: */ is missing");
    refused("a { x:m=[[1,2,3] }", "x.blk:1: error: a bracket is open: ] is missing");
    refused("a { x:p2=1, }", "x.blk:1: error: a value is missing");
    refused("a { x:t=\"b\"c:i=1 }",
            "x.blk:1: error: the value of 'x' does not end here: quote it or add a ;");
    parse_run parsed = parse_bytes("a\0b{}", 5);
    assert_int_equal(parsed.result, ECS_ERR_SYNTAX);
    ecs_text_deinit(&parsed.text);
}

CASE(after_a_fault_reading_goes_on) {
    static const char source[] = "a b {\n x:i=1\n ! y:i=2\n}\nc { z=1; w:i=3 } d }\n";
    parse_run parsed = parse_bytes(source, strlen(source));
    // "a" without a block, "!", "z" without a type, "d" without a value, "}" too many.
    assert_int_equal(parsed.report.count, 5);
    const ecs_text* text = &parsed.text;
    const ecs_text_node* root = &text->nodes[0];
    expect_node(text, child(text, child(text, root, 0), 0), "x", "i", "1", 2);
    expect_node(text, child(text, child(text, root, 1), 0), "w", "i", "3", 5);
    ecs_text_deinit(&parsed.text);
}

CASE(the_byte_limit_is_tested_at_its_edge) {
    char* source = malloc(ECS_TEXT_BYTES_MAX + 1);
    assert_non_null(source);
    memset(source, ' ', ECS_TEXT_BYTES_MAX + 1);
    for (size_t size = ECS_TEXT_BYTES_MAX - 1; size <= ECS_TEXT_BYTES_MAX + 1; size++) {
        parse_run parsed = parse_bytes(source, size);
        assert_int_equal(parsed.result, size <= ECS_TEXT_BYTES_MAX ? ECS_OK : ECS_ERR_FULL);
        assert_int_equal(parsed.report.count, size <= ECS_TEXT_BYTES_MAX ? 0 : 1);
        ecs_text_deinit(&parsed.text);
    }
    free(source);
}

CASE(the_depth_limit_is_tested_at_its_edge) {
    for (uint32_t depth = ECS_TEXT_DEPTH_MAX - 1; depth <= ECS_TEXT_DEPTH_MAX + 1; depth++) {
        char source[3 * (ECS_TEXT_DEPTH_MAX + 1) + 1] = "";
        for (uint32_t i = 0; i < depth; i++)
            memcpy(source + 2 * i, "a{", 2);
        memset(source + 2 * depth, '}', depth);
        parse_run parsed = parse_bytes(source, 3 * depth);
        assert_int_equal(parsed.result, depth <= ECS_TEXT_DEPTH_MAX ? ECS_OK : ECS_ERR_FULL);
        if (depth > ECS_TEXT_DEPTH_MAX)
            assert_string_equal(parsed.report.text,
                                "x.blk:1: error: more than 32 blocks inside one another");
        ecs_text_deinit(&parsed.text);
    }
}

CASE(the_item_limit_is_tested_at_its_edge) {
    static const char* const items[] = {"x:i=1;", "b{}", "!;", "};"};
    static char source[8 * (ECS_TEXT_ITEMS_MAX + 1) + 1];
    for (uint32_t kind = 0; kind < BASE_COUNT(items); kind++) {
        size_t item_bytes = strlen(items[kind]);
        for (uint32_t i = 0; i < ECS_TEXT_ITEMS_MAX + 1; i++)
            memcpy(source + i * item_bytes, items[kind], item_bytes);
        for (uint32_t count = ECS_TEXT_ITEMS_MAX - 1; count <= ECS_TEXT_ITEMS_MAX + 1; count++) {
            parse_run parsed = parse_bytes(source, count * item_bytes);
            ecs_result fits = kind < 2 ? ECS_OK : ECS_ERR_SYNTAX;
            assert_int_equal(parsed.result, count <= ECS_TEXT_ITEMS_MAX ? fits : ECS_ERR_FULL);
            assert_true(parsed.report.count <= ECS_TEXT_ITEMS_MAX + 1);
            ecs_text_deinit(&parsed.text);
        }
    }
}

static const char rich_text[] =
    "rect { pos:p2 = 0,0; rectSize:p2 = 0,0; color:c=255,255,255,255 }\n"
    "brick { _extends:t=\"rect\" brick.pos:ip2 = 0,0 }\n"
    "pad { _extends:t=\"rect\" isPad:b=yes }\n"
    "ball { _use:t=rect; pos:p2=600,700 vel:p2=330,-550 radius:r=5 _replicated:t=pos }\n"
    "/* all */ it { _tags:t=\"server, render\" _singleton:b=no; // words\n"
    " _group{ _track:b=yes; \"hp:u8\"{ _replicate:b=1; _bits:i=7; value:u8=200 } }\n"
    " \"body:RigidBody\"{ velocity:p3=1,2,3; color:c=1,2,3,4; is_solid:b=true }\n"
    " \"r:r\"{ _min:r=-1; _max:r=1; _step:r=0.01 } \"n:t\"{ value:t=\"a\\\"\\x42\\n\" "
    "_tags:t=render }\n"
    " m:m=[[1,0,0] [0,1,0] [0,0,1] [0,0,0]] big:u64=18446744073709551615 e:eid=0 t:tag=on }\n";

/// Load, and check that a refused text added no template. The text is copied to a block of its
/// exact size, so that a sanitizer sees a read past its end.
static ecs_result load_exact(const char* source, size_t size) {
    ecs_world* world = data_world_create(NULL);
    assert_non_null(world);
    char* copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, source, size);
    data_load load = data_load_bytes(world, copy, size);
    free(copy);
    // The changed byte may give an unknown type or block. The load keeps it and warns.
    if (load.result == ECS_OK)
        assert_int_equal(load.report.count, world->templates->opaque_count);
    else
        assert_true(load.report.count > 0);
    if (load.result != ECS_OK) assert_int_equal(ecs_template_count(world), 0);
    ecs_world_destroy(world);
    return load.result;
}

CASE(a_text_cut_at_any_byte_loads_or_is_refused) {
    size_t size = strlen(rich_text);
    for (size_t cut = 0; cut <= size; cut++)
        (void)load_exact(rich_text, cut);
    assert_ok(load_exact(rich_text, size));
}

CASE(a_text_with_any_byte_changed_loads_or_is_refused) {
    size_t size = strlen(rich_text);
    char source[sizeof rich_text];
    static const char bytes[] = "{}\"=:,;/*[\\\n_0a\xFF";
    for (size_t at = 0; at < size; at++) {
        for (size_t b = at % 4; b < sizeof bytes; b += 4) { // the size includes the terminator
            memcpy(source, rich_text, size);
            source[at] = bytes[b];
            (void)load_exact(source, size);
        }
        memcpy(source, rich_text, at);
        memcpy(source + at, rich_text + at + 1, size - at - 1);
        (void)load_exact(source, size - 1);
    }
}

CASE(random_words_of_the_language_load_or_are_refused) {
    char all[] =
        "a|b|{|}|_extends:t=|_use:t=|_group{|_track:b=yes|\n|;|x:i=1|y:p2=|1,2|\"z:t\"{|value:"
        "|t=\"q\"|_replicate:b=yes| |/*|*/|//|\"|_tags:t=server|_bits:i=8|_min:r=0;_max:r=1"
        "|_tracked:t=|\"w:RigidBody\"{|mass:r=2";
    const char* words[28];
    uint32_t word_count = 0;
    for (const char* word = strtok(all, "|"); word; word = strtok(NULL, "|"))
        words[word_count++] = word;
    enum { SEED = 11, ROUNDS = 2000 };
    print_message("seed %d\n", SEED);
    base_rng rng = base_rng_make(SEED, 0);
    uint32_t loaded = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        char source[1024] = "";
        size_t size = 0;
        uint32_t count = base_rng_below(&rng, 30);
        for (uint32_t i = 0; i < count; i++) {
            const char* word = words[base_rng_below(&rng, word_count)];
            memcpy(source + size, word, strlen(word));
            size += strlen(word);
        }
        loaded += load_exact(source, size) == ECS_OK;
    }
    assert_true(loaded > 0 && loaded < ROUNDS);
}

CASE(the_examples_of_the_manual_load) {
    char* manual = text_file_read(DATABLOCK_MANUAL);
    assert_non_null(manual);
    ecs_world* world = data_world_create(NULL);
    assert_non_null(world);
    uint32_t examples = 0;
    for (char* at = strstr(manual, "```blk\n"); at; at = strstr(at, "```blk\n")) {
        at += strlen("```blk\n");
        char* end = strstr(at, "```");
        assert_non_null(end);
        *end = '\0';
        data_load_ok(world, at);
        at = end + 1;
        examples++;
    }
    assert_true(examples >= 4);
    ecs_world_destroy(world);
    free(manual);
}
