// SPDX-License-Identifier: MIT
// Files of secrets: which are refused, and what remains in memory.
#include "hear.h"

#include "host/keys.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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
        assert_int_equal(write(file->descriptor, "K", 1), 1);
}

static void file_close(key_file* file) {
    close(file->descriptor);
    unlink(file->path);
}

#define FILE_CASE(name, size)                                                                      \
    CASE_WITH(key_file, file, file_open(file, size), file_close(file), name)

static void assert_wiped(void) {
    static const net_host_secret none;
    assert_memory_equal(&secret, &none, sizeof none);
}

static void assert_refused(key_file* file, const char* why) {
    memset(&secret, 'x', sizeof secret);
    assert_false(net_host_read_secret_file(file->path, &secret, hear()));
    assert_int_equal(said.count, 1);
    assert_said(why);
    assert_null(strstr(said.text, "KK"));
    assert_int_equal(secret.size, 0);
}

FILE_CASE(a_file_for_its_owner_alone_is_read_and_wiped, 64) {
    assert_true(net_host_read_secret_file(file->path, &secret, hear()));
    assert_int_equal(secret.size, 64);
    assert_int_equal(secret.bytes[63], 'K');
    assert_int_equal(said.count, 0);
    net_host_wipe_secret(&secret);
    assert_wiped();
    assert_int_equal(fchmod(file->descriptor, 0400), 0);
    assert_true(net_host_read_secret_file(file->path, &secret, hear()));
    net_host_wipe_secret(&secret);
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

CASE(a_file_of_another_user_is_refused) {
    if (geteuid() != 0) skip();
    key_file file;
    file_open(&file, 64);
    assert_int_equal(fchown(file.descriptor, 12345, 12345), 0);
    assert_refused(&file, "another user");
    file_close(&file);
}

CASE(files_have_between_one_byte_and_the_limit) {
    static const struct {
        size_t size;
        const char* why;
    } cases[] = {{0, "empty"},
                 {1, NULL},
                 {NET_HOST_SECRET_BYTES_MAX - 1, NULL},
                 {NET_HOST_SECRET_BYTES_MAX, NULL},
                 {NET_HOST_SECRET_BYTES_MAX + 1, "longer than 4096 bytes"}};
    for (size_t i = 0; i < BASE_COUNT(cases); i++) {
        key_file file;
        file_open(&file, cases[i].size);
        if (cases[i].why) {
            assert_refused(&file, cases[i].why);
            assert_wiped();
        } else {
            assert_true(net_host_read_secret_file(file.path, &secret, hear()));
            assert_int_equal(secret.size, cases[i].size);
        }
        file_close(&file);
    }
}

CASE(what_is_no_file_is_refused) {
    key_file file = {.path = "/tmp"};
    assert_refused(&file, "no plain file");
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
