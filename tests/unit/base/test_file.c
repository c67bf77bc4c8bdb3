// SPDX-License-Identifier: MIT
// Files in folders where others write: links and second names as traps.
#include "test.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct trap {
    char folder[32], victim[64], name[64];
} trap;

static void trap_open(trap* at) {
    strcpy(at->folder, "/tmp/shoal-file-XXXXXX");
    assert_non_null(mkdtemp(at->folder));
    snprintf(at->victim, sizeof at->victim, "%s/victim", at->folder);
    snprintf(at->name, sizeof at->name, "%s/name", at->folder);
    int fd = open(at->victim, O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(fd, "kept", 4), 4);
    close(fd);
}

static void trap_close(trap* at) {
    char text[8] = {0};
    int fd = open(at->victim, O_RDONLY);
    assert_int_equal(read(fd, text, sizeof text), 4);
    assert_string_equal(text, "kept");
    close(fd);
    unlink(at->victim);
    unlink(at->name);
    assert_int_equal(rmdir(at->folder), 0);
}

#define TRAP_CASE(name) CASE_WITH(trap, at, trap_open(at), trap_close(at), name)

static mode_t rights_of(const char* path) {
    struct stat status;
    assert_int_equal(lstat(path, &status), 0);
    return status.st_mode & 07777;
}

TRAP_CASE(a_new_file_is_for_its_user_alone) {
    mode_t before = umask(0);
    int fd = base_file_create(at->name);
    assert_true(fd >= 0 && base_file_is_own(fd));
    assert_int_equal(rights_of(at->name), 0600);
    close(fd);
    assert_int_equal(base_file_create(at->name), -1);
    assert_int_equal(errno, EEXIST);
    unlink(at->name);
    fd = base_file_overwrite(at->name);
    assert_true(fd >= 0);
    assert_int_equal(rights_of(at->name), 0600);
    close(fd);
    umask(before);
}

TRAP_CASE(an_own_file_is_emptied_and_closed_to_others) {
    int fd = open(at->name, O_WRONLY | O_CREAT, 0644);
    assert_int_equal(write(fd, "old", 3), 3);
    close(fd);
    fd = base_file_overwrite(at->name);
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(rights_of(at->name), 0600);
    close(fd);
}

TRAP_CASE(a_link_is_not_followed) {
    assert_int_equal(symlink(at->victim, at->name), 0);
    assert_int_equal(base_file_overwrite(at->name), -1);
    assert_int_equal(errno, ELOOP);
    assert_non_null(strstr(base_file_why(errno), "link"));
    assert_int_equal(base_file_create(at->name), -1);
    assert_int_equal(errno, EEXIST);
    unlink(at->name);
    assert_int_equal(symlink("/tmp/shoal-no-such-file", at->name), 0);
    assert_int_equal(base_file_overwrite(at->name), -1);
    assert_int_equal(base_file_create(at->name), -1);
    assert_int_equal(access("/tmp/shoal-no-such-file", F_OK), -1);
}

TRAP_CASE(a_second_name_of_a_file_is_refused) {
    assert_int_equal(link(at->victim, at->name), 0);
    assert_int_equal(base_file_overwrite(at->name), -1);
    assert_int_equal(errno, EPERM);
    assert_non_null(strstr(base_file_why(errno), "second name"));
    assert_int_equal(rights_of(at->victim), 0644);
}

CASE(a_file_of_another_user_is_refused) {
    if (geteuid() != 0) skip();
    trap at;
    trap_open(&at);
    int fd = open(at.name, O_WRONLY | O_CREAT, 0644);
    assert_int_equal(fchown(fd, 12345, 12345), 0);
    assert_false(base_file_is_own(fd));
    close(fd);
    assert_int_equal(base_file_overwrite(at.name), -1);
    assert_int_equal(errno, EPERM);
    trap_close(&at);
}

CASE(devices_are_opened_and_folders_are_not) {
    int fd = base_file_overwrite("/dev/null");
    assert_true(fd >= 0 && !base_file_is_own(fd));
    close(fd);
    assert_int_equal(base_file_overwrite("/tmp"), -1);
    assert_int_equal(errno, EISDIR);
    assert_string_equal(base_file_why(EISDIR), strerror(EISDIR));
}

CASE(the_first_three_descriptors_are_never_files) {
    int saved[3];
    for (int i = 0; i < 3; i++) {
        saved[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
        close(i);
    }
    bool is_open = base_file_open_standard();
    int fd = base_file_overwrite("/dev/null");
    for (int i = 0; i < 3; i++) {
        if (saved[i] < 0) continue;
        dup2(saved[i], i);
        close(saved[i]);
    }
    assert_true(is_open);
    assert_true(fd > 2);
    close(fd);
    assert_true(base_file_open_standard()); // and nothing happens when they are open
}
