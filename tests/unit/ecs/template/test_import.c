// SPDX-License-Identifier: MIT
// S5.2: files that import other files. Here the files are a table. The letters of a path decide
// whether it is valid.
#include "data_world.h"
#include "text_file.h"

#include "ecs/template_files.h"
#include "template/template_set.h"

typedef struct table_file {
    const char* path;
    const char* text;
} table_file;

typedef struct table {
    const table_file* files;
    uint32_t count;
    uint32_t listed_max; ///< more names than files, to test the limit
    uint32_t reads;
} table;

static ecs_result table_read(void* context, const char* path, base_bytes* text) {
    table* files = context;
    files->reads++;
    for (uint32_t i = 0; i < files->count; i++) {
        if (strcmp(files->files[i].path, path) != 0) continue;
        if (!files->files[i].text) return ECS_ERR_MALFORMED;
        base_bytes_write(text, files->files[i].text, strlen(files->files[i].text));
        return ECS_OK;
    }
    return ECS_ERR_UNKNOWN;
}

static ecs_result table_list(void* context, const char* folder,
                             bool (*found)(void* names, const char* name), void* names) {
    const table* files = context;
    size_t size = strlen(folder);
    for (uint32_t i = 0; i < files->listed_max; i++)
        if (!found(names, "x.txt")) return ECS_OK;
    for (uint32_t i = files->count; i > 0; i--) { // in reverse: the pack must not need this order
        const char* path = files->files[i - 1].path;
        if (size && (strncmp(path, folder, size) != 0 || path[size] != '/')) continue;
        const char* name = size ? path + size + 1 : path;
        if (!strchr(name, '/') && *name != '%' && !found(names, name)) return ECS_OK;
    }
    return ECS_OK;
}

static void table_spell(void* context, const char* path, char* target, size_t bytes) {
    (void)snprintf(target, bytes, "/game/%s", path);
}

static const char* const root_names[] = {"lib", "core"};

static ecs_template_source source_of(table* files) {
    return (ecs_template_source){.context = files,
                                 .read = table_read,
                                 .list = table_list,
                                 .spell = table_spell,
                                 .root_names = root_names,
                                 .root_count = BASE_COUNT(root_names)};
}

#define TABLE(...)                                                                                 \
    (table) {                                                                                      \
        .files = (const table_file[]){__VA_ARGS__},                                                \
        .count = sizeof((const table_file[]){__VA_ARGS__}) / sizeof(table_file)                    \
    }

static ecs_result load_source(ecs_world* world, const ecs_template_source* source, const char* root,
                              base_report_first* report) {
    base_reporter reporter = base_reporter_first(report);
    base_bytes pack;
    base_bytes_init(&pack, NULL);
    ecs_result result = ecs_template_pack(NULL, source, root, &reporter, &pack);
    if (result == ECS_OK) result = ecs_template_load_pack(world, pack.data, pack.size, &reporter);
    base_bytes_deinit(&pack);
    return result;
}

static ecs_result load(ecs_world* world, table* files, const char* root,
                       base_report_first* report) {
    ecs_template_source source = source_of(files);
    return load_source(world, &source, root, report);
}

static void expect_order(ecs_world* world, const char* const* names, uint32_t count) {
    assert_int_equal(ecs_template_count(world), count);
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(ecs_template_get(world, (ecs_template_id)(i + 1))->name, names[i]);
}

static void refused(table files, ecs_result result, const char* message) {
    ecs_world* world = data_world_create(NULL);
    base_report_first report;
    assert_int_equal(load(world, &files, "a.blk", &report), result);
    assert_string_equal(report.text, message);
    assert_int_equal(ecs_template_count(world), 0);
    ecs_world_destroy(world);
}

DATA_CASE(imports_stand_before_their_file_and_each_once) {
    table files =
        TABLE({"a.blk", "import:t=\"sub/b.blk\"\nimport:t='sub/c.blk'; import_optional:t=no.blk\n"
                        "a { _extends:t=b; _use:t=l }"},
              {"sub/b.blk", "b { _use:t=c }\nimport:t=c.blk // after its user\n"},
              {"sub/c.blk",
               "import:t=\"../a.blk\" import:t=c.blk import:t=\"%lib/x/l.blk\"\nc { x:i=1 }"},
              {"%lib/x/l.blk", "import:t=\"../m.blk\"; l { y:i=2 }"},
              {"%lib/m.blk", "import:t=\"#sub/c.blk\"; m { z:i=2 }"});
    base_report_first report;
    assert_ok(load(world, &files, "a.blk", &report));
    assert_int_equal(report.count, 0);
    assert_int_equal(files.reads, 6); // and one more read for the file that does not exist
    expect_order(world, (const char* const[]){"m", "l", "c", "b", "a"}, 5);
    data_expect(world, "a", "x", "1");
    data_expect(world, "a", "y", "2");
    assert_string_equal(ecs_template_get(world, 4)->file, "sub/b.blk");
}

DATA_CASE(wildcards_match_by_name_in_the_order_of_bytes) {
    table files =
        TABLE({"a.blk", "import:t=\"u/*.unit.blk\"; import_optional:t=\"w/*.blk\"\n"
                        "import:t=\"*.blk\"\na { }"},
              {"u/b.unit.blk", "ub { }"}, {"u/a.unit.blk", "ua { }"}, {"u/B.unit.blk", "uB { }"},
              {"u/c.blk", "uc { }"}, {"u/.d.unit.blk", "ud { }"}, {"z.blk", "z { }"});
    base_report_first report;
    assert_ok(load(world, &files, "a.blk", &report));
    expect_order(world, (const char* const[]){"uB", "ua", "ub", "z", "a"}, 5);
}

CASE(faults_name_the_file_and_line_of_the_import) {
    refused(TABLE({"a.blk", "\nimport:t=b.blk"}), ECS_ERR_UNKNOWN,
            "/game/a.blk:2: error: import: '/game/b.blk' is not there");
    refused(TABLE({"a.blk", "import:t=b.blk"}, {"b.blk", NULL}), ECS_ERR_SYNTAX,
            "/game/a.blk:1: error: import: '/game/b.blk' cannot be read");
    refused(TABLE({"a.blk", "import_optional:t=b.blk"}, {"b.blk", NULL}), ECS_ERR_SYNTAX,
            "/game/a.blk:1: error: import: '/game/b.blk' cannot be read");
    refused(TABLE({"a.blk", "import_optional:t=b.blk\nimport:t=b.blk"}), ECS_ERR_UNKNOWN,
            "/game/a.blk:2: error: import: '/game/b.blk' is not there");
    refused(TABLE({"b.blk", ""}), ECS_ERR_UNKNOWN, "/game/a.blk: error: it is not there");
    refused(TABLE({"a.blk", "import:t=\"u/*.blk\""}), ECS_ERR_UNKNOWN,
            "/game/a.blk:1: error: import: no file matches 'u/*.blk'");
    refused(TABLE({"a.blk", "import:t=\"../b.blk\""}), ECS_ERR_SYNTAX,
            "/game/a.blk:1: error: import: '../b.blk' leads outside of its root");
    refused(TABLE({"a.blk", "import:t=\"%lib/../a.blk\""}), ECS_ERR_SYNTAX,
            "/game/a.blk:1: error: import: '%lib/../a.blk' leads outside of its root");
    refused(TABLE({"a.blk", "import:t=\"%game/b.blk\""}), ECS_ERR_SYNTAX,
            "/game/a.blk:1: error: import: '%game/b.blk' names an unknown root");
    refused(TABLE({"a.blk", "import:i=1"}), ECS_ERR_SYNTAX,
            "/game/a.blk:1: error: import: '1' is written import:t=\"...\"");
    refused(TABLE({"a.blk", "import:t=b.blk\na { x:i=1 }"}, {"b.blk", "\nb { x:i=z }"}),
            ECS_ERR_SYNTAX, "b.blk:2: error: component 'x' (i): 'z' is not a whole number");
    refused(TABLE({"a.blk", "import:t=b.blk\na { x:i=1 }"}, {"b.blk", "a { }"}), ECS_ERR_SYNTAX,
            "a.blk:2: error: template 'a' exists already: b.blk:1");
    refused(TABLE({"a.blk", "import:t=b.blk\na { _use:t=c }"}, {"b.blk", "b { }"}), ECS_ERR_SYNTAX,
            "a.blk:2: error: template 'a' extends 'c', which does not exist");
}

CASE(paths_are_plain_words_below_a_root) {
    table none = {0};
    ecs_template_source source = source_of(&none);
    static const char* const cases[][3] = {
        {"a.blk", "b.blk", "b.blk"},
        {"x/a.blk", "b.blk", "x/b.blk"},
        {"x/y/a.blk", ".././/b.blk", "x/b.blk"},
        {"x/a.blk", "../b.blk", "b.blk"},
        {"x/a.blk", "#b/c.blk", "b/c.blk"},
        {"x/a.blk", "#/b.blk", "b.blk"},
        {"x/a.blk", "%lib/b.blk", "%lib/b.blk"},
        {"%lib/x/a.blk", "../b.blk", "%lib/b.blk"},
        {"%lib/a.blk", "%core/b.blk", "%core/b.blk"},
        {"%lib/a.blk", "#b.blk", "b.blk"},
        {"%lib/a.blk", "*.blk", "%lib/*.blk"},
        {"a.blk", "..blk", "..blk"},
    };
    static const char* const faults[][3] = {
        {"a.blk", "", "is empty"},
        {"a.blk", "/etc/passwd", "is absolute: name it from this file or from a %root/"},
        {"a.blk", "../b.blk", "leads outside of its root"},
        {"x/a.blk", "../../b.blk", "leads outside of its root"},
        {"%lib/x/a.blk", "../../b.blk", "leads outside of its root"},
        {"%lib/a.blk", "%lib/x/../../b.blk", "leads outside of its root"},
        {"a.blk", "#../b.blk", "leads outside of its root"},
        {"a.blk", "%other/b.blk", "names an unknown root"},
        {"a.blk", "%/b.blk", "names an unknown root"},
        {"a.blk", "#%lib/b.blk", "has something before its %root/"},
        {"x/a.blk", "../%other/b.blk", "has something before its %root/"},
        {"a.blk", "C:/b.blk", "has bytes that no path has"},
        {"a.blk", "x\\b.blk", "has bytes that no path has"},
        {"a.blk", "x\nb.blk", "has bytes that no path has"},
        {"a.blk", "x/", "names a folder"},
        {"a.blk", ".", "names a folder"},
        {"a.blk", "%lib", "names a folder"},
        {"a.blk", "x/..", "names a folder"},
        {"a.blk", "*/b.blk", "has a wildcard in the name of a folder"},
    };
    char path[ECS_TEXT_PATH_BYTES_MAX];
    for (uint32_t i = 0; i < BASE_COUNT(cases); i++) {
        const char* fault = ecs_text_path_resolve(&source, cases[i][0], cases[i][1], path);
        assert_null(fault);
        assert_string_equal(path, cases[i][2]);
    }
    for (uint32_t i = 0; i < BASE_COUNT(faults); i++) {
        const char* fault = ecs_text_path_resolve(&source, faults[i][0], faults[i][1], path);
        assert_non_null(fault);
        assert_string_equal(fault, faults[i][2]);
    }
    char name[ECS_TEXT_PATH_BYTES_MAX + 2];
    for (size_t size = ECS_TEXT_PATH_BYTES_MAX - 2; size <= ECS_TEXT_PATH_BYTES_MAX; size++) {
        memset(name, 'n', size);
        name[size] = '\0';
        const char* fault = ecs_text_path_resolve(&source, "", name, path);
        assert_int_equal(fault == NULL, size < ECS_TEXT_PATH_BYTES_MAX);
    }
}

CASE(patterns_match_like_a_shell) {
    static const char* const yes[][2] = {
        {"*.blk", "a.blk"}, {"*", ""},   {"a*b*c", "aXbYbZc"}, {"?.blk", "x.blk"},
        {"**", "x"},        {"a*", "a"}, {"*a*", "banana"},    {"*.unit.blk", ".unit.blk"}};
    static const char* const no[][2] = {{"*.blk", "a.blk2"}, {"?", ""}, {"a*b", "aXc"},
                                        {"", "x"},           {"x", ""}, {"*.b", "a.B"}};
    for (uint32_t i = 0; i < BASE_COUNT(yes); i++)
        assert_true(ecs_text_path_matches(yes[i][0], yes[i][1]));
    for (uint32_t i = 0; i < BASE_COUNT(no); i++)
        assert_false(ecs_text_path_matches(no[i][0], no[i][1]));
    char pattern[128], name[4096]; // such patterns make simple matchers slow
    for (uint32_t i = 0; i < sizeof pattern - 1; i++)
        pattern[i] = i % 2 ? 'a' : '*';
    pattern[sizeof pattern - 1] = '\0';
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 2] = 'b';
    name[sizeof name - 1] = '\0';
    pattern[sizeof pattern - 2] = 'c';
    assert_false(ecs_text_path_matches(pattern, name));
}

/// A chain of files. Each one imports the next. File 0 is the root.
typedef struct chain {
    uint32_t count;
    size_t text_bytes; ///< the size of each text, filled with blanks
} chain;

static ecs_result chain_read(void* context, const char* path, base_bytes* text) {
    const chain* files = context;
    uint32_t number = (uint32_t)strtoul(path, NULL, 10);
    if (number >= files->count) return ECS_ERR_UNKNOWN;
    char line[128];
    int size = number + 1 < files->count
                   ? snprintf(line, sizeof line, "import:t=\"%u.blk\"\nt%u { }", number + 1, number)
                   : snprintf(line, sizeof line, "t%u { }", number);
    base_bytes_write(text, line, (size_t)size);
    while (text->size < files->text_bytes)
        base_bytes_write_u8(text, '\n');
    return ECS_OK;
}

static ecs_result pack_chain(chain files, base_report_first* report) {
    base_reporter reporter = base_reporter_first(report);
    const ecs_template_source source = {.context = &files, .read = chain_read};
    base_bytes pack = {0};
    ecs_result result = ecs_template_pack(NULL, &source, "0.blk", &reporter, &pack);
    if (result != ECS_OK) assert_int_equal(pack.size, 0);
    base_bytes_deinit(&pack);
    return result;
}

CASE(limits_of_a_pack_are_tested_at_their_edges) {
    base_report_first report;
    assert_ok(pack_chain((chain){.count = ECS_TEXT_FILES_MAX - 1}, &report));
    assert_ok(pack_chain((chain){.count = ECS_TEXT_FILES_MAX}, &report));
    assert_int_equal(pack_chain((chain){.count = ECS_TEXT_FILES_MAX + 1}, &report), ECS_ERR_FULL);
    assert_string_equal(report.text, "1023.blk:1: error: more than 1024 files of templates");
    uint32_t fits = ECS_TEXT_PACK_BYTES_MAX / ECS_TEXT_BYTES_MAX;
    chain big = {.count = fits, .text_bytes = ECS_TEXT_BYTES_MAX};
    assert_ok(pack_chain(big, &report));
    big.count++;
    assert_int_equal(pack_chain(big, &report), ECS_ERR_FULL);
    assert_string_equal(report.text, "15.blk:1: error: more than 16777216 bytes of templates");
    big = (chain){.count = 2, .text_bytes = ECS_TEXT_BYTES_MAX + 1};
    assert_int_equal(pack_chain(big, &report), ECS_ERR_FULL);
    assert_string_equal(report.text, "0.blk: error: it is longer than a file of templates may be");
    for (uint32_t extra = 0; extra < 3; extra++) {
        table files = TABLE({"a.blk", "import:t=\"*.blk\""});
        files.listed_max = ECS_TEXT_LISTED_MAX - 2 + extra;
        ecs_world* world = data_world_create(NULL);
        assert_int_equal(load(world, &files, "a.blk", &report), extra < 2 ? ECS_OK : ECS_ERR_FULL);
        ecs_world_destroy(world);
    }
}

/// A root that names files, which are there with zeros in them.
typedef struct files_wanted {
    uint32_t count;                ///< files of the root
    size_t file_bytes, root_bytes; ///< the root is filled with blanks
    const char* more;              ///< at the root's end
} files_wanted;

static ecs_result files_read(void* context, const char* path, base_bytes* text) {
    const files_wanted* files = context;
    if (strncmp(path, "g/0.blk", 7) != 0) {
        uint8_t* bytes = base_bytes_extend(text, files->file_bytes);
        memset(bytes, 0, files->file_bytes);
        return strncmp(path, "g/0/", 4) == 0 ? ECS_OK : ECS_ERR_UNKNOWN;
    }
    for (uint32_t i = 0; i < files->count; i++) {
        char line[32];
        const int size = snprintf(line, sizeof line, "file:t=\"f%u\"\n", i);
        base_bytes_write(text, line, (size_t)size);
    }
    if (files->more) base_bytes_write(text, files->more, strlen(files->more));
    while (text->size < files->root_bytes)
        base_bytes_write_u8(text, '\n');
    return ECS_OK;
}

// The size of the pack; 0: it is refused.
static size_t pack_files(files_wanted files, ecs_result result, const char* why) {
    base_report_first report = {0};
    base_reporter reporter = base_reporter_first(&report);
    const ecs_template_source source = {.context = &files, .read = files_read};
    base_bytes pack = {0};
    assert_int_equal(ecs_template_pack(NULL, &source, "g/0.blk", &reporter, &pack), result);
    assert_string_equal(report.text, why);
    const size_t size = pack.size;
    assert_int_equal(size == 0, result != ECS_OK);
    base_bytes_deinit(&pack);
    return size;
}

CASE(limits_of_files_are_tested_at_their_edges) {
    for (uint32_t count = ECS_PACK_FILES_MAX - 1; count <= ECS_PACK_FILES_MAX; count++)
        (void)pack_files((files_wanted){.count = count}, ECS_OK, "");
    (void)pack_files((files_wanted){.count = ECS_PACK_FILES_MAX + 1}, ECS_ERR_FULL,
                     "g/0.blk:65: error: file: more than 64 files");
    for (int step = -1; step <= 1; step++) {
        files_wanted files = {.count = 1, .file_bytes = ECS_PACK_FILE_BYTES_MAX};
        files.file_bytes += (size_t)step;
        (void)pack_files(files, step > 0 ? ECS_ERR_FULL : ECS_OK,
                         step > 0 ? "g/0/f0: error: file: it has more than 262144 bytes" : "");
    }
    files_wanted files = {.count = 1, .file_bytes = ECS_PACK_FILE_BYTES_MAX, .root_bytes = 100000};
    files.root_bytes += ECS_PACK_WHOLE_BYTES_MAX - 1 - pack_files(files, ECS_OK, "");
    assert_int_equal(pack_files(files, ECS_OK, ""), ECS_PACK_WHOLE_BYTES_MAX - 1);
    files.root_bytes++;
    assert_int_equal(pack_files(files, ECS_OK, ""), ECS_PACK_WHOLE_BYTES_MAX);
    files.root_bytes++;
    (void)pack_files(
        files, ECS_ERR_FULL,
        "g/0.blk: error: file: texts and files have 393217 bytes together, more than 393216");
    files = (files_wanted){.root_bytes = ECS_PACK_WHOLE_BYTES_MAX + 1};
    (void)pack_files(files, ECS_OK, ""); // texts alone may be longer
}

CASE(a_file_has_a_name_without_a_folder) {
    static const struct {
        const char *line, *name; ///< NULL: it is right
    } rows[] = {
        {"file:t=\"rules.lua\"", NULL},
        {"file:t='a-b_c.0'; file:t=x; file:t=x", NULL},
        {"file:t=\"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabc\"", NULL},
        {"file:t=\"abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd\"",
         "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcd"},
        {"file:t=\"\"", ""},
        {"file:t=\"../x\"", "../x"},
        {"file:t=\"a/b\"", "a/b"},
        {"file:t=\".x\"", ".x"},
        {"file:t=\"A\"", "A"},
        {"file:t=\"a*\"", "a*"},
        {"file:t=\"a:b\"", "a:b"},
        {"file:i=7", "7"}};
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++) {
        char why[256] = "";
        if (rows[i].name)
            snprintf(why, sizeof why,
                     "g/0.blk:1: error: file: '%s' is not a name: write file:t=\"NAME\", with at "
                     "most 63 of a-z 0-9 _ - and .",
                     rows[i].name);
        (void)pack_files((files_wanted){.more = rows[i].line},
                         rows[i].name ? ECS_ERR_SYNTAX : ECS_OK, why);
    }
}

DATA_CASE(files_stand_after_the_texts_and_no_world_reads_them) {
    table files = TABLE({"a.blk", "file:t=\"two\"; import:t=\"b.blk\"\na { x:i=1 }"},
                        {"b.blk", "file:t=\"one\"\nfile:t=\"two\"\nb { }"},
                        {"a/one", "{ no template"}, {"two", "beside"});
    const ecs_template_source source = source_of(&files);
    base_bytes pack = {0};
    assert_ok(ecs_template_pack(NULL, &source, "a.blk", NULL, &pack));
    static const char* const paths[] = {"b.blk", "a.blk", "one", "two"};
    static const char* const texts[] = {"", "", "{ no template", "beside"};
    size_t offset = 0;
    ecs_pack_text text;
    for (uint32_t i = 0; i < BASE_COUNT(paths); i++) {
        assert_true(ecs_pack_next(pack.data, pack.size, &offset, &text));
        assert_string_equal(text.path, paths[i]);
        assert_int_equal(text.is_file, i >= 2);
        if (i < 2) continue;
        assert_int_equal(text.bytes, strlen(texts[i]));
        assert_memory_equal(text.text, texts[i], text.bytes);
    }
    assert_false(ecs_pack_next(pack.data, pack.size, &offset, &text));
    assert_int_equal(offset, pack.size);
    assert_ok(ecs_template_load_pack(world, pack.data, pack.size, NULL));
    expect_order(world, (const char* const[]){"b", "a"}, 2);
    base_bytes_clear(&pack);
    ecs_pack_add(&pack, "a.blk", "", 0);
    ecs_pack_add(&pack, ":../x", "", 0); // foreign bytes
    assert_int_equal(ecs_template_load_pack(world, pack.data, pack.size, NULL), ECS_ERR_MALFORMED);
    base_bytes_deinit(&pack);
    refused(TABLE({"a.blk", "file:t=\"gone\""}), ECS_ERR_UNKNOWN,
            "/game/a/gone: error: file: it is not there, nor beside the templates: PACK of "
            "shoal_game copies it there");
    refused(TABLE({"a.blk", "file:t=\"bad\""}, {"a/bad", NULL}), ECS_ERR_SYNTAX,
            "/game/a/bad: error: file: it cannot be read");
}

CASE(a_pack_of_damaged_bytes_is_refused) {
    base_bytes pack = {0};
    ecs_pack_add(&pack, "a.blk", "a { x:i=1 }", 11);
    ecs_pack_add(&pack, "b.blk", "", 0);
    base_report_first report;
    base_reporter reporter = base_reporter_first(&report);
    size_t first = 4 + 1 + 5 + 1 + 11; // magic, path, text
    for (size_t cut = 0; cut <= pack.size; cut++) {
        ecs_world* world = data_world_create(NULL);
        ecs_result result = ecs_template_load_pack(world, pack.data, cut, &reporter);
        bool is_whole = cut == pack.size || cut == first;
        assert_int_equal(result, is_whole ? ECS_OK : ECS_ERR_MALFORMED);
        ecs_world_destroy(world);
    }
    for (size_t at = 0; at < pack.size; at++) {
        for (uint32_t bit = 0; bit < 8; bit++) {
            ecs_world* world = data_world_create(NULL);
            pack.data[at] ^= (uint8_t)(1u << bit);
            (void)!ecs_template_load_pack(world, pack.data, pack.size, &reporter);
            pack.data[at] ^= (uint8_t)(1u << bit);
            ecs_world_destroy(world);
        }
    }
    base_bytes_deinit(&pack);
}

/// Split an example into files. Each file begins with "//// PATH" on its own line.
static uint32_t split_files(char* text, table_file* files, uint32_t files_max) {
    uint32_t count = 0;
    for (char* at = strstr(text, "//// "); at; at = strstr(at, "//// ")) {
        at[0] = '\0';
        char* end = strchr(at + 5, '\n');
        assert_non_null(end);
        *end = '\0';
        assert_true(count < files_max);
        files[count++] = (table_file){at + 5, end + 1};
        at = end + 1;
    }
    return count;
}

DATA_CASE(the_files_of_the_manual_load) {
    char* manual = text_file_read(DATABLOCK_MANUAL);
    assert_non_null(manual);
    char* at = strstr(manual, "```blk files\n");
    assert_non_null(at);
    *strstr(at + 3, "```") = '\0';
    table_file files[8];
    table all = {.files = files, .count = split_files(at, files, BASE_COUNT(files))};
    assert_int_equal(all.count, 3);
    ecs_template_source source = source_of(&all);
    static const char* const roots[] = {"game"};
    source.root_names = roots;
    source.root_count = 1;
    base_report_first report;
    assert_ok(load_source(world, &source, "zoo.blk", &report));
    assert_string_equal(report.text, "zoo.blk:3: warning: component 'mane' has the unknown "
                                     "type 'Fur': kept, not used");
    assert_int_equal(report.count, 1);
    expect_order(world, (const char* const[]){"animal", "bear", "lion"}, 3);
    data_expect(world, "bear", "name", "\"B\xC3\xA4r\"");
    free(manual);
}
