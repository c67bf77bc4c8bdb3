// SPDX-License-Identifier: MIT
// The list of servers: its file, where a click goes, and the picture.
#include "config/servers.h"
#include "window/screens.h"

#include "picture.h"

#include <sys/stat.h>
#include <unistd.h>

// ---- the file

typedef struct heard {
    uint32_t line, count;
    char text[256];
} heard;

static void hear(void* context, const char* file, uint32_t line, const char* message) {
    heard* to = context;
    assert_string_equal(file, "list");
    to->line = line;
    to->count++;
    (void)base_text_copy(to->text, sizeof to->text, message);
}

static client_servers servers;

static bool parse(const char* text, heard* what) {
    static char copy[CLIENT_SERVERS_BYTES_MAX + 1];
    *what = (heard){0};
    const base_reporter reporter = {hear, what};
    assert_true(base_text_copy(copy, sizeof copy, text));
    const bool is_right = client_servers_parse(copy, "list", &reporter, &servers);
    assert_int_equal(what->count, !is_right);
    return is_right;
}

CASE(a_line_has_a_name_and_an_address) {
    heard what;
    assert_true(parse("# those at home\n"
                      "Living room \t 192.168.1.20:7777  # upstairs\r\n"
                      "\n"
                      "  six [::1]:7778\n"
                      "J\x1b[31m\xc3\xb6rg game.example:1",
                      &what));
    assert_int_equal(servers.count, 3);
    assert_string_equal(servers.entries[0].name, "Living room");
    assert_string_equal(servers.entries[0].address, "192.168.1.20:7777");
    assert_string_equal(servers.entries[1].name, "six");
    assert_string_equal(servers.entries[1].address, "[::1]:7778");
    assert_string_equal(servers.entries[2].name, "J[31m\xc3\xb6rg"); // a terminal obeys none of it
    assert_true(parse("", &what) && servers.count == 0);
}

CASE(a_line_that_is_not_right_is_named_with_what_to_write) {
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {"one 127.0.0.1:1\n127.0.0.1:7777\n", "write a name and an address"},
        {"\ntwo 127.0.0.1\n", "the last word is not an address: write HOST:PORT"},
        {"#\nthree 127.0.0.1:0\n", "the last word is not an address: write HOST:PORT"},
        {"\nfour 127.0.0.1:65536\n", "the last word is not an address: write HOST:PORT"},
        {"\nfive :7777\n", "the last word is not an address: write HOST:PORT"},
        {"\n\x01\x02 127.0.0.1:7777\n", "the name has no letter that can be seen"},
    };
    for (uint32_t i = 0; i < BASE_COUNT(CASES); i++) {
        heard what;
        assert_false(parse(CASES[i].text, &what));
        assert_int_equal(what.line, 2);
        if (!strstr(what.text, CASES[i].says)) fail_msg("%s: %s", CASES[i].text, what.text);
    }
    heard what;
    assert_true(parse("max 127.0.0.1:65535\nmin 127.0.0.1:1\n", &what));
}

CASE(a_list_has_at_most_64_servers) {
    for (uint32_t count = CLIENT_SERVERS_MAX - 1; count <= CLIENT_SERVERS_MAX + 1; count++) {
        char text[4096] = "";
        for (uint32_t i = 0; i < count; i++)
            strcat(text, "a 127.0.0.1:1\n"); // it fits
        heard what;
        assert_int_equal(parse(text, &what), count <= CLIENT_SERVERS_MAX);
        if (count <= CLIENT_SERVERS_MAX) assert_int_equal(servers.count, count);
        if (count > CLIENT_SERVERS_MAX) assert_int_equal(what.line, CLIENT_SERVERS_MAX + 1);
        if (count > CLIENT_SERVERS_MAX) assert_non_null(strstr(what.text, "at most 64 servers"));
    }
}

CASE(names_and_addresses_are_as_long_as_their_limits) {
    for (int off = -1; off <= 1; off++) {
        const int name = (int)CLIENT_SERVER_NAME_BYTES - 1 + off;
        const int host = (int)CLIENT_SERVER_ADDRESS_BYTES - 1 + off - 5;
        char text[1024];
        heard what;
        assert_true(base_text_format(text, sizeof text, "%0*d 127.0.0.1:1", name, 1));
        assert_int_equal(parse(text, &what), off <= 0);
        if (off > 0) assert_string_equal(what.text, "the name is longer than 47 bytes");
        assert_true(base_text_format(text, sizeof text, "a %0*d:7777", host, 1));
        assert_int_equal(parse(text, &what), off <= 0);
        if (off > 0) assert_string_equal(what.text, "the address is longer than 255 bytes");
    }
}

// ---- reading it

static bool read_bytes(const void* bytes, size_t size, heard* what) {
    static const char FILE_NAME[] = "list";
    *what = (heard){0};
    const base_reporter reporter = {hear, what};
    FILE* file = fopen(FILE_NAME, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    const bool is_right = client_servers_read(FILE_NAME, &reporter, &servers);
    (void)unlink(FILE_NAME);
    return is_right;
}

CASE(a_file_is_a_text_of_at_most_64_kb) {
    char folder[] = "/tmp/shoal-servers.XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    heard what;
    static char text[CLIENT_SERVERS_BYTES_MAX + 1];
    memset(text, '\n', sizeof text);
    for (size_t size = CLIENT_SERVERS_BYTES_MAX - 1; size <= CLIENT_SERVERS_BYTES_MAX + 1; size++)
        assert_int_equal(read_bytes(text, size, &what), size <= CLIENT_SERVERS_BYTES_MAX);
    assert_string_equal(what.text, "is larger than 65536 bytes");
    assert_false(read_bytes("a\0b", 3, &what));
    assert_string_equal(what.text, "is not text");
    const base_reporter reporter = {hear, &what};
    assert_false(client_servers_read("list", &reporter, &servers));
    assert_non_null(strstr(what.text, "no list of servers: No such file"));
    assert_int_equal(mkdir("list", 0700), 0);
    assert_false(client_servers_read("list", &reporter, &servers));
    assert_non_null(strstr(what.text, "is not a regular file"));
    (void)rmdir("list");
    (void)rmdir(folder);
}

CASE(the_users_own_list_has_its_place) {
    char path[64];
    assert_int_equal(setenv("XDG_CONFIG_HOME", "/x", 1), 0);
    assert_int_equal(setenv("HOME", "/home/ada", 1), 0);
    assert_true(client_place("servers", path, sizeof path));
    assert_string_equal(path, "/x/shoal/servers");
    assert_int_equal(setenv("XDG_CONFIG_HOME", "not/absolute", 1), 0);
    assert_true(client_place("servers", path, sizeof path));
    assert_string_equal(path, "/home/ada/.config/shoal/servers");
    assert_false(client_place("servers", path, 16));
    assert_int_equal(unsetenv("HOME"), 0);
    assert_false(client_place("servers", path, sizeof path));
}

// ---- the picture

static void draw_rows(picture* p, uint32_t first, uint32_t count, uint32_t chosen) {
    client_servers_row rows[CLIENT_SERVERS_MAX];
    for (uint32_t i = 0; i < count; i++)
        rows[i] = (client_servers_row){.name = "Living room",
                                       .address = "192.168.1.20:7777",
                                       .game = "breakout",
                                       .players = "3 / 64",
                                       .ping = "21 ms",
                                       .note = i == 1 ? "no server answers" : NULL,
                                       .is_fault = i == 1};
    SHOWN(p, client_servers_draw(&p->screen, WIDTH, HEIGHT, rows, first, count, chosen,
                                 "Enter: play"));
}

SCREEN_CASE(each_server_has_a_row_and_the_chosen_one_a_mark) {
    draw_rows(p, 0, 3, 2);
    // The mark lies where a click on that row goes.
    const int mark_x = (WIDTH - 820) / 2 + 2;
    uint32_t rows_marked = 0;
    for (int y = 40; y < HEIGHT - 60; y++) {
        if (!picture_is(p, mark_x, y, accent, 2)) continue;
        assert_int_equal(client_servers_row_at(WIDTH, HEIGHT, 0, 3, (float)mark_x, (float)y), 2);
        rows_marked++;
    }
    assert_int_equal(rows_marked, 46);
    assert_true(picture_count(p, 500, 100, 380, 46, bright_text, 40) > 100); // its answer
    assert_true(picture_count(p, 500, 148, 380, 46, warm, 40) > 100);        // why there is none
    assert_int_equal(picture_count(p, 500, 148, 380, 46, bright_text, 2), 0);
    assert_int_equal(picture_count(p, 500, 242, 380, 100, bright_text, 40), 0); // no fourth row
}

SCREEN_CASE(texts_that_are_too_long_stay_in_their_columns) {
    char wide[200];
    memset(wide, 'W', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    const client_servers_row row = {
        .name = wide, .address = wide, .game = wide, .players = "1 / 4", .ping = "9 ms"};
    client_servers_draw(&p->screen, WIDTH, HEIGHT, &row, 0, 1, 0, wide);
    client_draw_end(p->draw);
    assert_int_equal(picture_count(p, 892, 0, 68, HEIGHT, bright_text, 40), 0);
    assert_int_equal(picture_count(p, 500, 100, 10, 46, bright_text, 40), 0); // before the game
    assert_int_equal(picture_count(p, 678, 100, 50, 46, bright_text, 40), 0); // before the players
}

CASE(a_click_finds_its_row_and_nothing_beside_the_table) {
    const uint32_t shown = client_servers_rows_max(HEIGHT);
    const float last = 102.0f + 46.0f * (float)shown;
    assert_in_range(shown, 7, 9);
    assert_int_equal(client_servers_rows_max(64), 1); // the smallest window
    const struct {
        uint32_t first, count;
        float x, y;
        uint32_t row;
    } rows[] = {
        {0, 64, 480, 101, CLIENT_NO_ROW},  {0, 64, 480, 102, 0},
        {5, 64, 480, 102 + 46, 6},         {0, 1, 480, 102 + 46, CLIENT_NO_ROW},
        {0, 64, 69, 120, CLIENT_NO_ROW},   {0, 64, 890, 120, CLIENT_NO_ROW},
        {0, 64, 480, last - 1, shown - 1}, {0, 64, 480, last, CLIENT_NO_ROW},
    };
    for (uint32_t i = 0; i < BASE_COUNT(rows); i++)
        assert_int_equal(client_servers_row_at(WIDTH, HEIGHT, rows[i].first, rows[i].count,
                                               rows[i].x, rows[i].y),
                         rows[i].row);
}

CASE(a_long_list_is_scrolled_to_the_chosen_row) {
    const uint32_t shown = client_servers_rows_max(HEIGHT);
    assert_int_equal(client_servers_scroll(HEIGHT, 0, 64, shown - 1), 0);
    assert_int_equal(client_servers_scroll(HEIGHT, 0, 64, shown), 1);
    assert_int_equal(client_servers_scroll(HEIGHT, 5, 64, 4), 4);
    assert_int_equal(client_servers_scroll(HEIGHT, 5, 64, 5), 5);
    assert_int_equal(client_servers_scroll(HEIGHT, 0, 64, 63), 64 - shown);
    assert_int_equal(client_servers_scroll(HEIGHT, 60, 64, 63), 64 - shown);
    assert_int_equal(client_servers_scroll(HEIGHT, 3, 2, 1), 0); // the window grew
}

SCREEN_CASE(a_list_in_a_steady_window_allocates_nothing) {
    draw_rows(p, 0, 64, 0);
    const uint64_t calls = p->memory.calls;
    draw_rows(p, 10, 64, 12);
    assert_int_equal(p->memory.calls, calls);
}
