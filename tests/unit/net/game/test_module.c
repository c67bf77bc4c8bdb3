// SPDX-License-Identifier: MIT
// Opening modules by name and by file, refusing files that are no modules, and reading module files
// as untrusted input.

#include "hear.h"
#include "heard.h"

#include "breakout.h"
#include "game/module.h"
#include "float_hosts.h"
#include "net/limits.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

// Opening this file ends with this result, and the report has these words.
static void refuse_file(const char* name, const char* path, net_result result, const char* why) {
    net_module* module;
    assert_int_equal(net_module_open(name, path, hear(), &module), result);
    assert_null(module);
    assert_said(why);
}

static void refuse_check(const char* file, net_result result, const char* why) {
    assert_int_equal(net_module_check(file, hear()), result);
    assert_said(why);
}

// ---- opening ----

static bool has_text(const net_module* module, const char* text) {
    for (size_t i = 0; i + strlen(text) <= module->pack_bytes; i++)
        if (memcmp((const uint8_t*)module->pack + i, text, strlen(text)) == 0) return true;
    return false;
}

// S2.3
CASE(a_name_is_found_in_the_search_path) {
    const base_reporter* reporter = hear();
    net_module* module;
    assert_ok(net_module_open("breakout", "/nowhere::" GAMES_DIR, reporter, &module));
    assert_string_equal(module->game->name, "breakout");
    assert_int_equal(module->game->message_count, BREAKOUT_MESSAGE_COUNT);
    assert_true(has_text(module, "breakout_brick"));
    assert_non_null(module->library);
    assert_true(module->content_hash != 0);
    uint64_t hash = module->content_hash;
    net_module_close(module);
    assert_ok(net_module_open(GAMES_DIR "/breakout.so", NULL, reporter, &module));
    assert_true(module->content_hash == hash);
    net_module_close(module);
    assert_int_equal(said.count, 0);
}

CASE(an_unknown_name_is_answered_with_the_nearest) {
    refuse_file("brakout", GAMES_DIR, NET_ERR_UNKNOWN, "did you mean \"breakout\"");
    refuse_file("breakout", NULL, NET_ERR_UNKNOWN, "SHOAL_MODULE_PATH");
    refuse_file("zzzzz", "/no/such", NET_ERR_UNKNOWN,
                "in the module path /no/such: set SHOAL_MODULE_PATH to the folder of zzzzz.so, or "
                "name the file");
    refuse_file("", GAMES_DIR, NET_ERR_UNKNOWN, "");
    refuse_file("./none.so", GAMES_DIR, NET_ERR_UNKNOWN, "");
}

CASE(a_name_never_leaves_the_search_path) {
    net_module* module;
    assert_int_equal(net_module_open("..", GAMES_DIR, NULL, &module), NET_ERR_UNKNOWN);
    refuse_file("Breakout", GAMES_DIR, NET_ERR_UNKNOWN, "");
    refuse_file("breakout%", GAMES_DIR, NET_ERR_UNKNOWN, "");
    assert_false(net_module_name_is_valid("abcdefghijklmnopqrstuvwxyz0123456"));
    assert_true(net_module_name_is_valid("abcdefghijklmnopqrstuvwxyz012345"));
    assert_false(net_module_name_is_valid(""));
    assert_false(net_module_name_is_valid("a/b"));
}

static void copy_file(const char* from, const char* to) {
    FILE* in = fopen(from, "rb");
    FILE* out = fopen(to, "wb");
    assert_true(in && out);
    for (int c = fgetc(in); c != EOF; c = fgetc(in))
        fputc(c, out);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

// A folder of its own with breakout under a name.
typedef struct pack {
    char folder[32], so[64], blk[64];
} pack;

static void pack_open(pack* made, const char* name) {
    strcpy(made->folder, "/tmp/shoal_module_XXXXXX");
    assert_non_null(mkdtemp(made->folder));
    snprintf(made->so, sizeof made->so, "%s/%s.so", made->folder, name);
    snprintf(made->blk, sizeof made->blk, "%s/%s.blk", made->folder, name);
    copy_file(GAMES_DIR "/breakout.so", made->so);
    copy_file(GAMES_DIR "/breakout.blk", made->blk);
}

static void pack_close(const pack* old) {
    unlink(old->so);
    unlink(old->blk);
    assert_int_equal(rmdir(old->folder), 0);
}

#define PACK_CASE(name, pack_name)                                                                 \
    CASE_WITH(pack, at, pack_open(at, pack_name), pack_close(at), name)

PACK_CASE(a_module_needs_its_own_name_and_its_templates, "other") {
    unlink(at->blk);
    refuse_file(at->so, NULL, NET_ERR_MODULE, "other.blk");
    copy_file(GAMES_DIR "/breakout.blk", at->blk);
    refuse_file(at->so, NULL, NET_ERR_MODULE, "calls itself breakout");
    // A NUL would hide the rest of the text.
    FILE* out = fopen(at->blk, "wb");
    assert_int_equal(fwrite("a{}\0b{}", 1, 7, out), 7);
    fclose(out);
    refuse_file(at->so, NULL, NET_ERR_MODULE, "is not a text");
    copy_file(at->blk, at->so);
    copy_file(GAMES_DIR "/breakout.blk", at->blk);
    refuse_file(at->so, NULL, NET_ERR_MODULE, "");
}

static void append(const char* file, const void* data, size_t size) {
    FILE* out = fopen(file, "ab");
    assert_true(out && fwrite(data, 1, size, out) == size);
    assert_int_equal(fclose(out), 0);
}

// The same library with other templates; then another library, beside the old one.
PACK_CASE(a_module_is_opened_again_when_its_files_changed, "breakout") {
    const base_reporter* reporter = hear();
    net_module *first = NULL, *second = NULL, *third = NULL, *none = NULL;
    assert_ok(net_module_open(at->so, NULL, reporter, &first));
    assert_ok(net_module_reopen(first, reporter, &none));
    assert_null(none);
    append(at->blk, "\nlamp { }\n", 10);
    assert_ok(net_module_reopen(first, reporter, &second));
    assert_true(has_text(second, "lamp { }"));
    assert_true(second->library == first->library);
    unlink(at->so);
    copy_file(GAMES_DIR "/breakout.so", at->so);
    append(at->so, "", 1); // other bytes, the same code
    assert_ok(net_module_reopen(second, reporter, &third));
    assert_true(third->library != first->library);
    assert_true(third->game->start != first->game->start);
    net_module_close(first);
    append(at->blk, "\nlamp2 { }\n", 11);
    assert_ok(net_module_reopen(third, reporter, &first)); // of one that is a copy
    assert_int_equal(said.count, 0);
    append(at->so, "x", 1);
    FILE* out = fopen(at->so, "wb"); // no library
    assert_int_equal(fclose(out), 0);
    assert_int_equal(net_module_reopen(third, reporter, &none), NET_ERR_MODULE);
    assert_null(none);
    net_module_close(first);
    net_module_close(second);
    net_module_close(third);
}

static void put(const char* file, const void* data, size_t size) {
    unlink(file);
    append(file, data, size);
}

PACK_CASE(a_module_has_the_files_that_its_templates_name, "breakout") {
    const base_reporter* reporter = hear();
    net_module *first, *second = NULL, *third;
    char folder[64], inside[80], beside[80], level[80], why[128];
    snprintf(folder, sizeof folder, "%s/breakout", at->folder);
    snprintf(inside, sizeof inside, "%s/rules.lua", folder);
    snprintf(level, sizeof level, "%s/level", folder);
    snprintf(beside, sizeof beside, "%s/rules.lua", at->folder);
    append(at->blk, "\nfile:t=\"rules.lua\"\nfile:t=level\n", 33);
    snprintf(why, sizeof why, "%s: error: file: it is not there", inside);
    refuse_file(at->so, NULL, NET_ERR_MODULE, why);
    assert_int_equal(mkdir(folder, 0700), 0);
    put(level, "", 0);
    put(beside, "beside", 6);
    assert_ok(net_module_open(at->so, NULL, reporter, &first));
    assert_int_equal(first->file_count, 2);
    assert_string_equal(first->files[0].name, "rules.lua");
    assert_memory_equal(first->files[0].bytes, "beside", first->files[0].byte_count);
    assert_string_equal(first->files[1].name, "level");
    assert_int_equal(first->files[1].byte_count, 0);
    put(inside, "a\0{", 3);
    assert_ok(net_module_reopen(first, reporter, &second));
    assert_int_equal(second->files[0].byte_count, 3);
    assert_memory_equal(second->files[0].bytes, "a\0{", 3);
    assert_true(first->content_hash != second->content_hash);
    assert_ok(net_module_reopen_pack(first, second->pack, second->pack_bytes, reporter, &third));
    assert_true(third->content_hash == second->content_hash && third->file_count == 2);
    assert_memory_equal(third->files[0].bytes, "a\0{", 3);
    net_module_close(third);
    unlink(inside);
    assert_int_equal(symlink("/etc/passwd", inside), 0);
    snprintf(why, sizeof why, "%s: error: file: it cannot be read", inside);
    assert_int_equal(net_module_reopen(second, hear(), &third), NET_ERR_MODULE);
    assert_said(why);
    unlink(inside);
    unlink(beside);
    unlink(level);
    rmdir(folder);
    net_module_close(first);
    net_module_close(second);
}

// @return whether the module opens; otherwise the report says `part`.
static bool opens(const char* file, const char* part) {
    net_module* module;
    net_result result = net_module_open(file, NULL, hear(), &module);
    net_module_close(module);
    if (result == NET_OK) return true;
    assert_int_equal(result, NET_ERR_MODULE);
    assert_said(part);
    return false;
}

PACK_CASE(what_all_users_may_write_is_not_run, "breakout") {
    pack link;
    char wanted[128];
    pack_open(&link, "breakout");
    unlink(link.so);
    assert_int_equal(symlink(at->so, link.so), 0);
    assert_int_equal(chmod(at->folder, 0775), 0); // a group is not all users
    assert_int_equal(chmod(at->so, 0664), 0);
    assert_true(opens(at->so, ""));
    assert_true(opens(link.so, ""));
    assert_int_equal(chmod(at->so, 0646), 0);
    snprintf(wanted, sizeof wanted, "%s: error: all users may write it", at->so);
    assert_false(opens(at->so, wanted));
    assert_false(opens(link.so, "chmod o-w"));
    assert_int_equal(chmod(at->so, 0644), 0);
    assert_int_equal(chmod(at->folder, 0757), 0);
    snprintf(wanted, sizeof wanted, "chmod o-w %s", at->folder);
    assert_false(opens(at->so, wanted));
    assert_false(opens(link.so, wanted));
    assert_int_equal(chmod(at->folder, 01777), 0); // as /tmp itself
    assert_false(opens(at->so, "put the game into a folder of its own"));
    assert_int_equal(chmod(at->folder, 0755), 0);
    assert_int_equal(chmod(link.folder, 0777), 0);
    assert_false(opens(link.so, link.folder));
    assert_true(opens(at->so, ""));
    pack_close(&link);
}

PACK_CASE(folders_and_pipes_are_no_modules, "breakout") {
    for (uint32_t is_pipe = 0; is_pipe < 2; is_pipe++) {
        assert_int_equal(remove(at->so), 0);
        assert_int_equal(is_pipe ? mkfifo(at->so, 0600) : mkdir(at->so, 0700), 0);
        refuse_file(at->so, NULL, NET_ERR_MODULE, "is not a regular file");
        refuse_check(at->so, NET_ERR_IO, "");
    }
}

// ---- pictures and sounds ----

CASE(a_name_of_a_picture_has_a_checked_form) {
    const char* const good[] = {"ship.png", "a", "sounds/Hit-2.wav", "a/b/c_d.e.png", "-"};
    for (uint32_t i = 0; i < BASE_COUNT(good); i++)
        assert_true(net_asset_name_is_valid(good[i]));
    const char* const bad[] = {NULL,   "",     "/etc/a", "../a",    "a/../b",  "a/..",
                               "a//b", "a/",   ".a",     "a/.b",    ".",       "..",
                               "a b",  "a\\b", "a\n",    "C:a.png", "%game/a", "\xc3\xa4.png"};
    for (uint32_t i = 0; i < BASE_COUNT(bad); i++)
        assert_false(net_asset_name_is_valid(bad[i]));
    char name[NET_ASSET_NAME_BYTES + 1] = {0};
    memset(name, 'a', NET_ASSET_NAME_BYTES - 2);
    assert_true(net_asset_name_is_valid(name)); // two below the limit's bytes
    name[NET_ASSET_NAME_BYTES - 2] = 'a';
    assert_true(net_asset_name_is_valid(name));
    name[NET_ASSET_NAME_BYTES - 1] = 'a';
    assert_false(net_asset_name_is_valid(name));
}

// Reading it ends with this result, this text, and this size.
static void read_asset(const char* folder, const char* name, net_result result, const char* why,
                       size_t size) {
    base_bytes bytes;
    base_bytes_init(&bytes, NULL);
    assert_int_equal(net_asset_read(folder, name, hear(), &bytes), result);
    assert_said(why);
    assert_int_equal(said.count, result != NET_OK);
    if (!result) assert_int_equal(bytes.size, size);
    base_bytes_deinit(&bytes);
}

CASE(a_picture_is_read_from_the_games_folder_alone) {
    char dir[] = "/tmp/shoal_asset_XXXXXX", file[128], outside[64], link_out[128];
    assert_non_null(mkdtemp(dir));
    char folder[64];
    snprintf(folder, sizeof folder, "%s/hop", dir);
    snprintf(file, sizeof file, "%s/ship.png", folder);
    snprintf(outside, sizeof outside, "%s/hop.png", dir);
    snprintf(link_out, sizeof link_out, "%s/out.png", folder);
    read_asset(folder, "ship.png", NET_ERR_IO, "put ship.png into the folder assets", 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    read_asset(folder, "ship.png", NET_ERR_IO, "hop/ship.png", 0);
    read_asset(folder, "../hop.png", NET_ERR_MALFORMED, "is not the name of a picture", 0);
    FILE* stream = fopen(outside, "wb");
    assert_non_null(stream);
    assert_int_equal(fputs("png", stream) >= 0 && fclose(stream) == 0, 1);
    assert_int_equal(symlink(outside, link_out), 0);
    read_asset(folder, "out.png", NET_ERR_IO, "leads out of the game's folder", 0);
    assert_int_equal(rename(outside, file), 0);
    read_asset(folder, "ship.png", NET_OK, "", 3);
    read_asset(folder, "Ship.PNG", NET_ERR_IO,
               "Ship.PNG: error: is missing, did you mean 'ship.png'?", 0);
    read_asset(folder, "explosion.wav", NET_ERR_IO, "is missing: put explosion.wav into", 0);
    // The limit, and a byte on each side of it.
    for (int step = -1; step <= 1; step++) {
        size_t size = NET_ASSET_BYTES_MAX + (size_t)step;
        assert_int_equal(truncate(file, (off_t)size), 0);
        if (step <= 0)
            read_asset(folder, "ship.png", NET_OK, "", size);
        else
            read_asset(folder, "ship.png", NET_ERR_IO, "is larger than 16777216 bytes", 0);
    }
    unlink(link_out);
    unlink(file);
    assert_int_equal(mkdir(file, 0700), 0);
    read_asset(folder, "ship.png", NET_ERR_IO, "is not a regular file", 0);
    rmdir(file);
    rmdir(folder);
    rmdir(dir);
}

CASE(a_module_names_the_folder_of_its_pictures) {
    const base_reporter* reporter = hear();
    net_module* module;
    assert_ok(net_module_open("breakout", GAMES_DIR, reporter, &module));
    assert_string_equal(module->asset_folder, GAMES_DIR "/breakout");
    net_module* next;
    assert_ok(net_module_reopen_pack(module, module->pack, module->pack_bytes, reporter, &next));
    assert_string_equal(next->asset_folder, GAMES_DIR "/breakout");
    net_module_close(next);
    net_module_close(module);
    assert_ok(net_module_wrap(breakout_module(), "a{}", "a.blk", reporter, &module));
    assert_string_equal(module->asset_folder, "breakout");
    net_module_close(module);
}

CASE(files_without_symbol_or_with_another_contract_are_refused) {
    refuse_file(SAMPLES_DIR "/sample_symbol.so", NULL, NET_ERR_MODULE,
                "no symbol net_game_module_get: no source has ES_GAME");
#ifndef TEST_SANITIZED
    refuse_file(SAMPLES_DIR "/sample_undefined.so", NULL, NET_ERR_MODULE,
                "undefined symbol: human_input: correct the name, or add the source that has it to "
                "shoal_game(...) in CMakeLists.txt");
#endif
    refuse_file(SAMPLES_DIR "/sample_version.so", NULL, NET_ERR_MODULE,
                "made for module contract 2, this program has 1");
}

// ---- tables ----

static net_result wrap(const net_game_module* table) {
    net_module* module;
    net_result result = net_module_wrap(table, "a{}", "a.blk", hear(), &module);
    if (!result) net_module_close(module);
    return result;
}

static void refuse(const net_game_module* table, const char* why) {
    assert_int_equal(wrap(table), NET_ERR_MODULE);
    assert_said(why);
}

// The table of breakout with other settings, sounds and actions, and with a change, is refused, and
// this is said.
#define REFUSE(why, ...)                                                                           \
    do {                                                                                           \
        net_message messages[BREAKOUT_MESSAGE_COUNT];                                              \
        net_setting settings[] = {{"speed", 1.0, 0.0, 2.0, "help"}, {"size", 1.0, 0.0, 2.0, ""}};  \
        net_sound sounds[] = {{"e0", "hit.ogg", 0.0f, 1.0f}, {"e1", "hit.ogg", 0.0f, 1.0f}};       \
        net_action actions[] = {{"left", "Left", "help", "DPLeft"}};                               \
        net_game_module table = *breakout_module();                                                \
        memcpy(messages, table.messages, sizeof messages);                                         \
        table.messages = messages;                                                                 \
        table.settings = settings;                                                                 \
        table.sounds = sounds;                                                                     \
        table.actions = actions;                                                                   \
        table.setting_count = table.sound_count = 2;                                               \
        table.action_count = 1;                                                                    \
        assert_ok(wrap(&table));                                                                   \
        __VA_ARGS__;                                                                               \
        refuse(&table, why);                                                                       \
    } while (false)

static ecs_result save_nothing(ecs_world* world, void* context, base_bytes* bytes) {
    return ECS_OK;
}

static ecs_result load_nothing(ecs_world* world, void* context, base_reader* reader) {
    return ECS_OK;
}

CASE(each_function_that_drives_a_match_is_required) {
    assert_ok(wrap(breakout_module()));
    REFUSE("register_types is missing", table.register_types = NULL);
    REFUSE("register_systems is missing", table.register_systems = NULL);
    REFUSE("start is missing", table.start = NULL);
    REFUSE("player_join is missing", table.player_join = NULL);
    REFUSE("player_leave is missing", table.player_leave = NULL);
    REFUSE("the function load_state is missing: save_state and load_state come together",
           table.save_state = save_nothing);
    REFUSE("the function save_state is missing", table.load_state = load_nothing);
    REFUSE("the cursor is unknown", table.cursor = NET_CURSOR_COUNT);
    REFUSE("the cursor is unknown", table.cursor = (net_cursor)UINT32_MAX);
    net_game_module table = *breakout_module();
    table.bot_think = NULL;
    table.human_input = NULL;
    table.cursor = NET_CURSOR_COUNT - 1;
    assert_ok(wrap(&table)); // a game may have no bots and no humans
}

CASE(a_module_without_a_name_has_that_of_its_file) {
    const base_reporter* reporter = hear();
    net_game_module table = *breakout_module();
    net_module *module, *next;
    table.name = NULL;
    assert_ok(wrap(&table)); // with a title of its own
    table.title = NULL;
    assert_ok(net_module_wrap(&table, "a{}", "games/hop_2.blk", reporter, &module));
    assert_string_equal(module->game->name, "hop_2");
    assert_string_equal(module->game->title, "hop_2");
    assert_non_null(strstr(module->asset_folder, "games/hop_2"));
    assert_ok(net_module_reopen_pack(module, module->pack, module->pack_bytes, reporter, &next));
    net_module_close(module);
    assert_string_equal(next->game->name, "hop_2");
    assert_string_equal(next->game->title, "hop_2");
    net_module_close(next);
    assert_int_equal(net_module_wrap(&table, "a{}", "Hop.blk", hear(), &module), NET_ERR_MODULE);
    assert_said("the name Hop is not [a-z0-9_]{1,32}");
    assert_int_equal(
        net_module_wrap(&table, "a{}", "a234567890123456789012345678901234.blk", hear(), &module),
        NET_ERR_MODULE);
    assert_said("the name  is not");
}

/// Write the message "built against core 3, this program has core 2: rebuild the module".
static const char* other_core(char* text, size_t text_bytes, uint32_t core) {
    assert_true(base_text_format(text, text_bytes,
                                 "built against core %u, this program has core %u: rebuild the "
                                 "module",
                                 core, ECS_CORE_VERSION));
    return text;
}

CASE(a_module_for_another_core_is_told_to_rebuild) {
    char text[128];
    net_module* module;
    assert_int_equal(net_module_open(SAMPLES_DIR "/sample_core.so", NULL, hear(), &module),
                     NET_ERR_MODULE);
    assert_null(module);
    assert_said(other_core(text, sizeof text, ECS_CORE_VERSION + 1));
    assert_int_equal(said.count, 1);
    net_game_module table = *breakout_module();
    table.core_version = ECS_CORE_VERSION - 1;
    refuse(&table, other_core(text, sizeof text, ECS_CORE_VERSION - 1));
    // The table of a later core may also be longer. The message asks for a rebuild.
    table.core_version = ECS_CORE_VERSION + 1;
    table.size_bytes += 8;
    refuse(&table, other_core(text, sizeof text, ECS_CORE_VERSION + 1));
    // A table from before core versions ends before the core version.
    table.size_bytes = 136;
    char sizes[96];
    assert_true(base_text_format(sizes, sizeof sizes,
                                 "its table has 136 bytes, this program takes 144 to %zu",
                                 sizeof(net_game_module)));
    refuse(&table, sizes);
}

CASE(version_size_name_and_view_are_checked) {
    REFUSE("made for module contract 0", table.contract_version = 0);
    REFUSE("bytes, this program takes", table.size_bytes = sizeof table + 8);
    REFUSE("its table has 16 bytes", table.size_bytes = 16);
    REFUSE("the name Break Out is not", table.name = "Break Out");
    REFUSE("title", table.title = NULL);
    REFUSE("view is empty", table.view_width = 0.0f);
    REFUSE("upright view is empty", table.upright_width = 360.0f);
    REFUSE("the client's block is larger than 1024 bytes",
           table.block_bytes = NET_BLOCK_BYTES_MAX + 1);
    net_game_module table = *breakout_module();
    table.block_bytes = NET_BLOCK_BYTES_MAX;
    assert_ok(wrap(&table));
}

CASE(message_tables_are_checked) {
    REFUSE("more than one message of kind input", messages[1].kind = NET_MESSAGE_INPUT);
    REFUSE("no message of kind input", messages[0].kind = messages[1].kind = NET_MESSAGE_TO_SERVER);
    REFUSE("message LevelCleared: to_wire or from_wire is missing", messages[3].from_wire = NULL);
    REFUSE("message Cheer is listed twice", messages[2].name = "Cheer");
    REFUSE("event cheer belongs to two messages", messages[2].event = "cheer");
    REFUSE("message LifeLost: no protobuf descriptor", messages[4].descriptor = NULL);
    REFUSE("message LifeLost: no event", messages[4].event = NULL);
    REFUSE("a message has no name", messages[4].name = "");
    REFUSE("the message table is missing", table.messages = NULL);
}

// A table with as many elements as are allowed, one fewer and one more.
static void expect_limit(net_game_module* table, uint32_t* count, uint32_t most, const char* why) {
    for (*count = most - 1; *count <= most; ++*count)
        assert_ok(wrap(table));
    refuse(table, why);
}

CASE(tables_have_limits) {
    static char names[NET_MESSAGES_MAX + NET_SETTINGS_MAX + NET_SOUNDS_MAX][8];
    net_message messages[NET_MESSAGES_MAX + 1];
    net_setting settings[NET_SETTINGS_MAX + 1];
    net_sound sounds[NET_SOUNDS_MAX + 1];
    net_action actions[NET_ACTIONS_MAX + 1];
    for (uint32_t i = 0; i < BASE_COUNT(names); i++)
        (void)base_text_format(names[i], sizeof names[i], "e%u", i);
    for (uint32_t i = 0; i < BASE_COUNT(messages); i++) {
        messages[i] = breakout_module()->messages[i ? BREAKOUT_MESSAGE_CHEER : 0];
        messages[i].name = messages[i].event = names[i];
    }
    for (uint32_t i = 0; i < BASE_COUNT(settings); i++)
        settings[i] = (net_setting){names[i], 1.0, 0.0, 2.0, "help"};
    for (uint32_t i = 0; i < BASE_COUNT(sounds); i++)
        sounds[i] = (net_sound){names[i], "a/hit.wav", 1.0f, 0.0f};
    for (uint32_t i = 0; i < BASE_COUNT(actions); i++)
        actions[i] = (net_action){"left", "Left", "help", "DPLeft"};
    net_game_module table = *breakout_module();
    table.messages = messages;
    table.settings = settings;
    table.sounds = sounds;
    table.actions = actions;
    table.setting_count = table.sound_count = table.action_count = 1;
    expect_limit(&table, &table.message_count, NET_MESSAGES_MAX, "the message table is too long");
    table.message_count = 1;
    expect_limit(&table, &table.setting_count, NET_SETTINGS_MAX, "the settings table is too long");
    table.setting_count = 1;
    expect_limit(&table, &table.sound_count, NET_SOUNDS_MAX, "the sound table is too long");
    table.sound_count = 1;
    expect_limit(&table, &table.action_count, NET_ACTIONS_MAX, "the action table is too long");
}

CASE(settings_sounds_and_actions_are_checked) {
    REFUSE("setting speed: default out of min..max", settings[0].value_default = 3.0);
    REFUSE("setting speed: default out of min..max", settings[0].value_default = (double)NAN);
    REFUSE("setting Speed: a key is", settings[0].key = "Speed");
    REFUSE("setting speed is listed twice", settings[1].key = "speed");
    REFUSE("event e0 has two sounds: keep one", sounds[1].event = "e0");
    REFUSE("a sound has no event", sounds[0].event = "");
    REFUSE("its file is not a .wav", sounds[0].file = NULL);
    REFUSE("its file is not a .wav", sounds[0].file = "../hit.wav");
    REFUSE("its file is not a .wav", sounds[0].file = "hit.mp3");
    REFUSE("its file is not a .wav", sounds[0].file = ".wav");
    REFUSE("its volume is not within 0..1", sounds[0].volume = 1.01f);
    REFUSE("its volume is not within 0..1", sounds[0].volume = NAN);
    REFUSE("its reach is not a distance", sounds[0].reach = -1.0f);
    REFUSE("its reach is not a distance", sounds[0].reach = NAN);
    REFUSE("the music song is not a .wav", table.music = "song");
    REFUSE("the volume of the music song.ogg", table.music = "song.ogg",
           table.music_volume = -0.1f);
    REFUSE("an action has no name", actions[0].name = "");
    REFUSE("the action table is missing", table.actions = NULL);
}

// ---- elements of another length ----

CASE(shorter_elements_read_as_zero_behind_their_end) {
    // Settings and actions as they would be if their help text had been added later.
    struct {
        const char* key;
        double value_default, min, max;
    } settings[] = {{"speed", 1, 0, 2}, {"size", 5, 4, 6}};
    struct {
        const char *name, *keys;
    } actions[] = {{"left", "Left"}, {"right", "Right"}, {"up", "Up"}};
    net_game_module table = *breakout_module();
    table.settings = (const net_setting*)(const void*)settings;
    table.setting_count = BASE_COUNT(settings);
    table.setting_bytes = sizeof settings[0];
    table.actions = (const net_action*)(const void*)actions;
    table.action_count = BASE_COUNT(actions);
    table.action_bytes = sizeof actions[0];
    assert_true(table.setting_bytes < sizeof(net_setting));
    assert_true(table.action_bytes < sizeof(net_action));
    net_module* module;
    assert_ok(net_module_wrap(&table, "a{}", "a.blk", hear(), &module));
    const net_game_module* game = module->game;
    assert_ptr_not_equal(game->settings, table.settings);
    assert_string_equal(game->settings[1].key, "size");
    assert_true(game->settings[0].max == 2.0 && game->settings[1].min == 4.0);
    assert_null(game->settings[0].help);
    assert_null(game->settings[1].help);
    assert_string_equal(game->actions[2].name, "up");
    assert_string_equal(game->actions[1].keys, "Right");
    for (uint32_t i = 0; i < game->action_count; i++)
        assert_null(game->actions[i].help);
    assert_int_equal(game->setting_bytes, sizeof(net_setting));
    assert_int_equal(game->action_bytes, sizeof(net_action));
    assert_int_equal(game->message_bytes, sizeof(net_message));
    net_module_close(module);
}

CASE(a_field_that_a_shorter_element_lacks_is_missing) {
    enum { BYTES = offsetof(net_message, from_wire) };
    uint8_t messages[BREAKOUT_MESSAGE_COUNT][BYTES];
    for (uint32_t i = 0; i < BREAKOUT_MESSAGE_COUNT; i++)
        memcpy(messages[i], &breakout_module()->messages[i], BYTES);
    net_game_module table = *breakout_module();
    table.messages = (const net_message*)(const void*)messages;
    table.message_bytes = BYTES;
    refuse(&table, "message PadInput: to_wire or from_wire is missing");
}

CASE(elements_that_are_longer_or_empty_are_refused) {
    REFUSE("an element of its message table has 72 bytes, this program takes 8 to 64",
           table.message_bytes = sizeof(net_message) + 8);
    REFUSE("an element of its settings table has 48 bytes",
           table.setting_bytes = sizeof(net_setting) + 8);
    REFUSE("an element of its action table has 40 bytes",
           table.action_bytes = sizeof(net_action) + 8);
    REFUSE("an element of its action table has 4294967295 bytes", table.action_bytes = UINT32_MAX);
    REFUSE("an element of its message table has 0 bytes", table.message_bytes = 0);
    REFUSE("an element of its settings table has 0 bytes", table.setting_bytes = 0);
    REFUSE("an element of its action table has 0 bytes", table.action_bytes = 0);
    REFUSE("an element of its action table has 31 bytes",
           table.action_bytes = sizeof(net_action) - 1); // this size would cut a pointer in two
    net_game_module table = *breakout_module();
    table.settings = NULL;
    table.actions = NULL;
    table.setting_count = table.setting_bytes = 0;
    table.action_count = table.action_bytes = 0;
    assert_ok(wrap(&table));
}

// ---- module files ----

CASE(a_proper_module_passes_the_check) {
    net_result result = net_module_check(GAMES_DIR "/breakout.so", hear());
    if (result) print_error("%s\n", said.text);
    assert_ok(result);
    assert_int_equal(said.count, 0);
}

static heard reported;
static const char* const lines = reported.text;

CASE(writable_globals_are_named_with_their_file) {
    const base_reporter* reporter = heard_begin(&reported);
    assert_int_equal(net_module_check(SAMPLES_DIR "/sample_global.so", reporter), NET_ERR_MODULE);
#ifndef TEST_SANITIZED // some of them are the sanitizer's
    assert_non_null(strstr(lines, " bytes of writable globals, which no log and no client has\n"));
#endif
    assert_non_null(strstr(lines, "writable global sample_counter of sample_module.c: keep it in a "
                                  "component or in the context\n"));
    assert_non_null(strstr(lines, "writable global sample_buffer of sample_module.c: "));
    refuse_check(SAMPLES_DIR "/sample_thread.so", NET_ERR_MODULE, "");
}

CASE(imports_of_mathematics_chance_and_time_are_named) {
    const base_reporter* reporter = heard_begin(&reported);
    assert_int_equal(net_module_check(SAMPLES_DIR "/sample_imports.so", reporter), NET_ERR_MODULE);
    assert_non_null(strstr(lines, "imports libm's pow: "));
    assert_non_null(strstr(lines, "imports libm's sinf: its bits differ between machines; "));
    assert_non_null(strstr(lines, "imports rand: chance is ecs_world_rng or ecs_stage_rng\n"));
    assert_non_null(strstr(lines, "imports time: time is stage->tick and stage->dt\n"));
}

CASE(what_a_library_in_the_module_has_is_one_note) {
    static const char* const files[] = {SAMPLES_DIR "/sample_library.so",
                                        SAMPLES_DIR "/sample_beside.so"};
    for (uint32_t is_beside = 0; is_beside < 2; is_beside++) {
        const base_reporter* reporter = heard_begin(&reported);
        base_bytes code;
        base_bytes_init(&code, NULL);
        assert_ok(net_file_read(files[is_beside], 64u << 20, NULL, &code));
        assert_int_equal(net_module_check_bytes(code.data, code.size, "", reporter),
                         is_beside ? NET_ERR_MODULE : NET_OK);
        base_bytes_deinit(&code);
        // The game's own are faults all the same.
        assert_int_equal(strstr(lines, "imports rand: chance is") != NULL, is_beside);
        assert_int_equal(strstr(lines, "writable global sample_counter of sam") != NULL, is_beside);
        const char* note = strstr(lines, "note: contains library part, which the play ");
        assert_non_null(note);
        assert_non_null(strstr(note, "checks: has variables per thread; "));
        assert_int_equal(strstr(note, "; rand") != NULL, !is_beside);
        assert_non_null(strstr(note, "; pow"));
        assert_null(strstr(note, "sqrt"));
        assert_non_null(
            strstr(lines, "--local and ./play call libraries from two threads at once"));
        assert_null(strstr(lines, "part_last"));
    }
}

// A library of the system: its bytes are the game's.
PACK_CASE(what_a_module_needs_is_in_its_content, "breakout") {
    const base_reporter* reporter = hear();
    net_module *first, *second;
    char part[64];
    snprintf(part, sizeof part, "%s/libsample_part.so", at->folder);
    copy_file(SAMPLES_DIR "/sample_needed.so", at->so);
    copy_file(SAMPLES_DIR "/libsample_part.so", part);
    assert_ok(net_module_open(at->so, NULL, reporter, &first));
    assert_string_equal(first->needed, "libsample_part.so");
    append(part, "", 1);
    assert_ok(net_module_reopen(first, reporter, &second));
    assert_non_null(second);
    assert_true(second->library == first->library);
    assert_true(second->content_hash != first->content_hash);
    assert_int_equal(said.count, 0);
    net_module_close(second);
    net_module_close(first);
    unlink(part);
}

CASE(start_up_code_of_fast_math_is_named_and_its_setting_undone) {
    refuse_check(SAMPLES_DIR "/sample_floats.so", NET_ERR_MODULE,
                 "has start-up code of -ffast-math, which makes small numbers zero: build and link "
                 "it without -ffast-math, -Ofast and -funsafe-math-optimizations");
    for (uint32_t i = 0; i < BASE_COUNT(float_hosts); i++) {
        net_module* module;
        base_float_mode_restore(&float_hosts[i]);
        (void)!net_module_open(SAMPLES_DIR "/sample_floats.so", NULL, NULL, &module);
        assert_true(float_hosts_end(float_hosts[i]));
        net_module_close(module);
    }
}

CASE(other_files_are_no_modules) {
    refuse_check("/nowhere/x.so", NET_ERR_IO, "");
    refuse_check(GAMES_DIR "/breakout.blk", NET_ERR_MODULE, "is not a shared object");
    refuse_check(SAMPLES_DIR "/sample_symbol.so", NET_ERR_MODULE, "");
    refuse_check(SAMPLES_DIR "/sample_version.so", NET_ERR_MODULE, "");
    assert_int_equal(net_module_check(SAMPLES_DIR "/sample_core.so", hear()), NET_ERR_MODULE);
    char text[128];
    assert_said(other_core(text, sizeof text, ECS_CORE_VERSION + 1));
}

CASE(damaged_files_are_read_within_their_bounds) {
    base_rng rng = test_rng(1120, 1);
    base_bytes whole;
    base_bytes_init(&whole, NULL);
    // It has a library, so the tables of symbols and of addresses are read too.
    assert_ok(net_file_read(SAMPLES_DIR "/sample_library.so", 64u << 20, NULL, &whole));
    // A separate block of the exact size lets the sanitizer see a read past the end.
    for (size_t size = 0; size < whole.size; size += 1 + whole.size / 150) {
        uint8_t* part = malloc(size ? size : 1);
        memcpy(part, whole.data, size);
        assert_int_equal(net_module_check_bytes(part, size, "cut.so", NULL), NET_ERR_MODULE);
        free(part);
    }
    uint8_t* copy = malloc(whole.size);
    uint64_t section_table;
    memcpy(&section_table, whole.data + 40, 8);
    for (uint32_t i = 0; i < 1500; i++) {
        memcpy(copy, whole.data, whole.size);
        uint32_t changes = 1 + base_rng_below(&rng, 8);
        for (uint32_t c = 0; c < changes; c++) {
            // The offsets are in the header and in the section table.
            bool in_header = base_rng_chance(&rng, 0.3);
            size_t from = in_header ? 0 : (size_t)section_table;
            size_t span = in_header ? 64 : whole.size - (size_t)section_table;
            copy[from + base_rng_below(&rng, (uint32_t)span)] = (uint8_t)base_rng_u32(&rng);
        }
        (void)!net_module_check_bytes(copy, whole.size, "damaged.so", NULL);
    }
    free(copy);
    base_bytes_deinit(&whole);
}
