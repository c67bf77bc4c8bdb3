// SPDX-License-Identifier: MIT
// Keys and tokens of programs: from files and the environment, and what is refused.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

#include "tools/keys.h"

#define KEYS_FILE "test_keys.key"
#define TOKENS_FILE "test_keys.tokens"

typedef struct heard {
    char text[512];
    uint32_t line;
} heard;

static void hear(void* context, const char* file, uint32_t line, const char* message) {
    heard* last = context;
    (void)file;
    last->line = line;
    snprintf(last->text, sizeof last->text, "%s", message);
}

static base_reporter listen_to(heard* last) {
    memset(last, 0, sizeof *last);
    return (base_reporter){.report = hear, .context = last};
}

static void make_ring(net_key_ring* keys, uint32_t count) {
    *keys = (net_key_ring){.count = count};
    for (uint32_t i = 0; i < count; i++)
        net_key_make((uint8_t)(i + 1), net_entropy_system(), &keys->keys[i]);
}

static void write_text(const char* path, const char* text) {
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void token_text(char text[NET_TOKEN_TEXT_BYTES], uint64_t player) {
    net_key key;
    net_key_make(1, net_entropy_system(), &key);
    const net_token_claims claims = {.player_id = player, .expiry_unix_s = 1};
    net_token token;
    assert_ok(net_token_make(&key, &claims, net_entropy_system(), &token));
    assert_true(net_token_print(&token, text, NET_TOKEN_TEXT_BYTES));
}

static void keys_come_back_from_their_file_and_only_the_owner_may_read_it(void** state) {
    (void)state;
    heard last;
    const base_reporter reporter = listen_to(&last);
    net_key_ring keys, again;
    make_ring(&keys, 3);
    (void)unlink(KEYS_FILE);
    assert_true(net_host_save_keys(KEYS_FILE, &keys, true, &reporter));
    struct stat status;
    assert_int_equal(stat(KEYS_FILE, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true(net_host_load_keys(KEYS_FILE, &again, &reporter));
    assert_int_equal(again.count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(net_key_equal(&keys.keys[i], &again.keys[i]));
    assert_string_equal(last.text, "");
}

static void a_key_file_is_not_overwritten_but_replaced_when_asked(void** state) {
    (void)state;
    heard last;
    const base_reporter reporter = listen_to(&last);
    net_key_ring keys, other, again;
    make_ring(&keys, 1);
    make_ring(&other, 2);
    (void)unlink(KEYS_FILE);
    assert_true(net_host_save_keys(KEYS_FILE, &keys, true, &reporter));
    assert_false(net_host_save_keys(KEYS_FILE, &other, true, &reporter));
    assert_non_null(strstr(last.text, "cannot be created"));
    assert_true(net_host_load_keys(KEYS_FILE, &again, &reporter));
    assert_int_equal(again.count, 1);
    assert_true(net_host_save_keys(KEYS_FILE, &other, false, &reporter));
    assert_true(net_host_load_keys(KEYS_FILE, &again, &reporter));
    assert_int_equal(again.count, 2);
}

static void a_folder_that_does_not_exist_is_reported(void** state) {
    (void)state;
    heard last;
    const base_reporter reporter = listen_to(&last);
    net_key_ring keys;
    net_host_tokens tokens;
    make_ring(&keys, 1);
    assert_false(net_host_save_keys("no/such/folder", &keys, true, &reporter));
    assert_non_null(strstr(last.text, "cannot be created"));
    assert_false(net_host_load_keys("no/such/folder", &keys, &reporter));
    assert_int_equal(keys.count, 0);
    assert_false(net_host_load_tokens("no/such/folder", &tokens, &reporter));
    assert_non_null(strstr(last.text, "cannot be opened"));
}

static void the_environment_gives_keys_once(void** state) {
    (void)state;
    heard last;
    const base_reporter reporter = listen_to(&last);
    net_key_ring keys, again;
    make_ring(&keys, 1);
    char line[NET_KEY_TEXT_BYTES];
    assert_true(net_key_print(&keys.keys[0], line, sizeof line));
    assert_int_equal(setenv(NET_HOST_KEYS_VARIABLE, line, 1), 0);
    assert_true(net_host_load_keys(NULL, &again, &reporter));
    assert_int_equal(again.count, 1);
    assert_true(net_key_equal(&keys.keys[0], &again.keys[0]));
    assert_null(getenv(NET_HOST_KEYS_VARIABLE));
    assert_true(net_host_load_keys(NULL, &again, &reporter));
    assert_int_equal(again.count, 0);
}

static void malformed_keys_are_reported_without_their_text(void** state) {
    (void)state;
    heard last;
    const base_reporter reporter = listen_to(&last);
    net_key_ring keys;
    assert_int_equal(setenv(NET_HOST_KEYS_VARIABLE, "1 secretsecret", 1), 0);
    assert_false(net_host_load_keys(NULL, &keys, &reporter));
    assert_int_equal(keys.count, 0);
    assert_true(last.text[0] != '\0');
    assert_null(strstr(last.text, "secretsecret"));
}

static void tokens_come_one_a_line_and_blank_lines_do_not_count(void** state) {
    (void)state;
    heard last;
    const base_reporter reporter = listen_to(&last);
    char first[NET_TOKEN_TEXT_BYTES], second[NET_TOKEN_TEXT_BYTES];
    char file[2 * NET_TOKEN_TEXT_BYTES + 8];
    token_text(first, 1);
    token_text(second, 2);
    snprintf(file, sizeof file, "%s\n\n%s\n", first, second);
    write_text(TOKENS_FILE, file);
    net_host_tokens tokens;
    assert_true(net_host_load_tokens(TOKENS_FILE, &tokens, &reporter));
    assert_int_equal(tokens.count, 2);
    char again[NET_TOKEN_TEXT_BYTES];
    assert_true(net_token_print(&tokens.tokens[1], again, sizeof again));
    assert_string_equal(again, second);
    net_host_wipe_tokens(&tokens);
    assert_null(tokens.tokens);
}

static void a_file_without_a_sound_token_is_refused(void** state) {
    (void)state;
    heard last;
    const base_reporter reporter = listen_to(&last);
    net_host_tokens tokens;
    write_text(TOKENS_FILE, "\n  \n");
    assert_false(net_host_load_tokens(TOKENS_FILE, &tokens, &reporter));
    assert_non_null(strstr(last.text, "has no token"));
    char file[NET_TOKEN_TEXT_BYTES + 32];
    char text[NET_TOKEN_TEXT_BYTES];
    token_text(text, 1);
    snprintf(file, sizeof file, "%s\nnonsense\n", text);
    write_text(TOKENS_FILE, file);
    assert_false(net_host_load_tokens(TOKENS_FILE, &tokens, &reporter));
    assert_int_equal(last.line, 2);
    assert_int_equal(tokens.count, 0);
}

static void a_token_comes_from_the_environment_once_and_none_is_no_fault(void** state) {
    (void)state;
    heard last;
    const base_reporter reporter = listen_to(&last);
    net_host_tokens tokens;
    char text[NET_TOKEN_TEXT_BYTES];
    token_text(text, 7);
    assert_int_equal(setenv(NET_HOST_TOKEN_VARIABLE, text, 1), 0);
    assert_true(net_host_load_tokens(NULL, &tokens, &reporter));
    assert_int_equal(tokens.count, 1);
    net_host_wipe_tokens(&tokens);
    assert_null(getenv(NET_HOST_TOKEN_VARIABLE));
    assert_true(net_host_load_tokens(NULL, &tokens, &reporter));
    assert_int_equal(tokens.count, 0);
}

static int remove_files(void** state) {
    (void)state;
    (void)unlink(KEYS_FILE);
    (void)unlink(TOKENS_FILE);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_come_back_from_their_file_and_only_the_owner_may_read_it),
        cmocka_unit_test(a_key_file_is_not_overwritten_but_replaced_when_asked),
        cmocka_unit_test(a_folder_that_does_not_exist_is_reported),
        cmocka_unit_test(the_environment_gives_keys_once),
        cmocka_unit_test(malformed_keys_are_reported_without_their_text),
        cmocka_unit_test(tokens_come_one_a_line_and_blank_lines_do_not_count),
        cmocka_unit_test(a_file_without_a_sound_token_is_refused),
        cmocka_unit_test(a_token_comes_from_the_environment_once_and_none_is_no_fault),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
