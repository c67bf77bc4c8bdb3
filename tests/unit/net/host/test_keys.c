// SPDX-License-Identifier: MIT
// Keys and tokens of programs: from files and the environment, what is refused, and what remains in
// memory.
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hear.h"

#include "host/keys.h"

#define KEYS_FILE "test_keys.key"
#define TOKENS_FILE "test_keys.tokens"

static void no_files(void) {
    (void)unlink(KEYS_FILE);
    (void)unlink(TOKENS_FILE);
}

#define KEYS_CASE(name) CASE_WITH(net_key_ring, keys, no_files(), no_files(), name)

static void make_ring(net_key_ring* keys, uint32_t count) {
    *keys = (net_key_ring){.count = count};
    for (uint32_t i = 0; i < count; i++)
        net_key_make((uint8_t)(i + 1), net_entropy_system(), &keys->keys[i]);
}

static void write_text(const char* path, const char* text) {
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && chmod(path, 0600) == 0);
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

KEYS_CASE(keys_come_back_from_their_file_and_only_the_owner_may_read_it) {
    net_key_ring again;
    make_ring(keys, 3);
    assert_true(net_host_save_keys(KEYS_FILE, keys, true, hear()));
    struct stat status;
    assert_int_equal(stat(KEYS_FILE, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true(net_host_load_keys(KEYS_FILE, &again, hear()));
    assert_int_equal(again.count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_memory_equal(&keys->keys[i], &again.keys[i], sizeof(net_key));
    assert_string_equal(said.text, "");
}

KEYS_CASE(a_key_file_is_not_overwritten_but_replaced_when_asked) {
    net_key_ring other, again;
    make_ring(keys, 1);
    make_ring(&other, 2);
    assert_true(net_host_save_keys(KEYS_FILE, keys, true, hear()));
    assert_false(net_host_save_keys(KEYS_FILE, &other, true, hear()));
    assert_non_null(
        strstr(said.text, "cannot be created: File exists: it has keys; --rotate puts"));
    assert_true(net_host_load_keys(KEYS_FILE, &again, hear()));
    assert_int_equal(again.count, 1);
    assert_true(net_host_save_keys(KEYS_FILE, &other, false, hear()));
    assert_true(net_host_load_keys(KEYS_FILE, &again, hear()));
    assert_int_equal(again.count, 2);
}

KEYS_CASE(the_environment_gives_keys_once) {
    net_key_ring again;
    make_ring(keys, 1);
    char line[NET_KEY_TEXT_BYTES];
    assert_true(net_key_print(&keys->keys[0], line, sizeof line));
    assert_int_equal(setenv(NET_HOST_KEYS_VARIABLE, line, 1), 0);
    assert_true(net_host_load_keys(NULL, &again, hear()));
    assert_int_equal(again.count, 1);
    assert_memory_equal(&keys->keys[0], &again.keys[0], sizeof(net_key));
    assert_null(getenv(NET_HOST_KEYS_VARIABLE));
    assert_true(net_host_load_keys(NULL, &again, hear()));
    assert_int_equal(again.count, 0);
}

KEYS_CASE(malformed_keys_are_reported_without_their_text) {
    assert_int_equal(setenv(NET_HOST_KEYS_VARIABLE, "1 secretsecret", 1), 0);
    assert_false(net_host_load_keys(NULL, keys, hear()));
    assert_int_equal(keys->count, 0);
    assert_true(said.text[0] != '\0');
    assert_null(strstr(said.text, "secretsecret"));
}

KEYS_CASE(a_file_of_tokens_that_is_missing_or_others_can_read_is_refused) {
    (void)keys;
    char text[NET_TOKEN_TEXT_BYTES];
    net_host_tokens tokens;
    assert_false(net_host_load_tokens("no/such/folder", &tokens, hear()));
    assert_said("cannot be opened");
    token_text(text, 1);
    write_text(TOKENS_FILE, text);
    assert_int_equal(chmod(TOKENS_FILE, 0644), 0);
    assert_false(net_host_load_tokens(TOKENS_FILE, &tokens, hear()));
    assert_said("others can read this secret: run chmod 600 ");
    assert_int_equal(chmod(TOKENS_FILE, 0600), 0);
    assert_true(net_host_load_tokens(TOKENS_FILE, &tokens, hear()));
    net_host_wipe_tokens(&tokens);
}

KEYS_CASE(a_file_without_a_sound_token_is_refused) {
    (void)keys;
    net_host_tokens tokens;
    write_text(TOKENS_FILE, "\n  \n");
    assert_false(net_host_load_tokens(TOKENS_FILE, &tokens, hear()));
    assert_said("has no token");
    char file[NET_TOKEN_TEXT_BYTES + 32];
    char text[NET_TOKEN_TEXT_BYTES];
    token_text(text, 1);
    snprintf(file, sizeof file, "%s\nnonsense\n", text);
    write_text(TOKENS_FILE, file);
    assert_false(net_host_load_tokens(TOKENS_FILE, &tokens, hear()));
    assert_said(":2: ");
    assert_int_equal(tokens.count, 0);
}

KEYS_CASE(a_token_comes_from_the_environment_once_and_none_is_no_fault) {
    (void)keys;
    net_host_tokens tokens;
    char text[NET_TOKEN_TEXT_BYTES];
    token_text(text, 7);
    assert_int_equal(setenv(NET_HOST_TOKEN_VARIABLE, text, 1), 0);
    assert_true(net_host_load_tokens(NULL, &tokens, hear()));
    assert_int_equal(tokens.count, 1);
    net_host_wipe_tokens(&tokens);
    assert_null(getenv(NET_HOST_TOKEN_VARIABLE));
    assert_true(net_host_load_tokens(NULL, &tokens, hear()));
    assert_int_equal(tokens.count, 0);
}

// ---- any file of secrets

static net_host_secret secret;

typedef struct key_file {
    char path[32];
    int descriptor;
} key_file;

static void file_open(key_file* file, size_t size) {
    strcpy(file->path, "/tmp/shoal-key-XXXXXX");
    file->descriptor = mkstemp(file->path);
    assert_true(file->descriptor >= 0);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(write(file->descriptor, "#", 1), 1);
}

static void file_close(key_file* file) {
    close(file->descriptor);
    unlink(file->path);
}

#define FILE_CASE(name, size)                                                                      \
    CASE_WITH(key_file, file, file_open(file, size), file_close(file), name)

static void assert_refused(key_file* file, const char* why) {
    memset(&secret, 'x', sizeof secret);
    assert_false(net_host_read_secret_file(file->path, &secret, hear()));
    assert_int_equal(said.count, 1);
    assert_said(why);
    assert_null(strstr(said.text, "##"));
    assert_int_equal(secret.size, 0);
}

FILE_CASE(a_file_that_others_can_read_is_refused_with_the_remedy, 64) {
    static const mode_t modes[] = {0640, 0604, 0610, 0666, 0644, 0602};
    for (size_t i = 0; i < BASE_COUNT(modes); i++) {
        assert_int_equal(fchmod(file->descriptor, modes[i]), 0);
        assert_refused(file, "chmod 600 /tmp/shoal-key-");
    }
}

// systemd hands over a file of its own with a right for the service, which looks like one of the
// group.
FILE_CASE(a_credential_of_systemd_is_read, 64) {
    assert_int_equal(fchmod(file->descriptor, 0440), 0);
    assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "/tmp/other", 1), 0);
    assert_refused(file, "chmod 600");
    assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "/tm", 1), 0);
    assert_refused(file, "chmod 600");
    assert_int_equal(setenv("CREDENTIALS_DIRECTORY", "/tmp", 1), 0);
    assert_true(net_host_read_secret_file(file->path, &secret, hear()));
    net_host_wipe_secret(&secret);
    static const mode_t modes[] = {0444, 0460, 0404, 0450};
    for (size_t i = 0; i < BASE_COUNT(modes); i++) {
        assert_int_equal(fchmod(file->descriptor, modes[i]), 0);
        assert_refused(file, "chmod 600");
    }
    assert_int_equal(unsetenv("CREDENTIALS_DIRECTORY"), 0);
}

CASE_WITH(key_file, file, file_open(file, 64), file_close(file),
          a_file_of_another_user_is_refused) {
    if (geteuid() != 0) skip();
    assert_int_equal(fchown(file->descriptor, 12345, 12345), 0);
    assert_refused(file, "another user");
}

static const struct {
    size_t size;
    const char* why;
} lengths[] = {{0, "empty"},
               {1, NULL},
               {NET_HOST_SECRET_BYTES_MAX - 1, NULL},
               {NET_HOST_SECRET_BYTES_MAX, NULL},
               {NET_HOST_SECRET_BYTES_MAX + 1, "longer than 4096 bytes"}};

CASE_ROWS(key_file, file, file_open(file, lengths[i].size), file_close(file), i,
          BASE_COUNT(lengths), files_have_between_one_byte_and_the_limit) {
    if (lengths[i].why) {
        assert_refused(file, lengths[i].why);
        assert_memory_equal(&secret, &(net_host_secret){0}, sizeof secret); // it is wiped
    } else {
        assert_true(net_host_read_secret_file(file->path, &secret, hear()));
        assert_int_equal(secret.size, lengths[i].size);
    }
}

CASE(what_is_no_file_is_refused) {
    key_file file = {.path = "/tmp"};
    assert_refused(&file, "not a regular file");
    strcpy(file.path, "/no/such/file");
    assert_refused(&file, "cannot be opened: No such file");
}

CASE(a_program_with_secrets_writes_no_core_file) {
    struct rlimit before, now;
    assert_int_equal(getrlimit(RLIMIT_CORE, &before), 0);
    assert_true(net_host_forbid_core());
    assert_int_equal(getrlimit(RLIMIT_CORE, &now), 0);
#ifdef NDEBUG
    assert_int_equal(now.rlim_cur, 0);
    assert_int_equal(now.rlim_max, 0);
    assert_int_equal(prctl(PR_GET_DUMPABLE), 0);
#else
    assert_int_equal(now.rlim_cur, before.rlim_cur);
    assert_int_equal(prctl(PR_GET_DUMPABLE), 1);
#endif
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}
