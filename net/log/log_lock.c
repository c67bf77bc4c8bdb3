// SPDX-License-Identifier: MIT
// A log belongs to the process that holds the lock of its file. Two servers may start at the same
// time with the same name: every step is checked again under the lock.
#include "log/log_lock.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "log/log_queue.h"
#include "log/log_segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool net_log_lock_has_name(int fd, const char* name) {
    struct stat of_fd, of_name;
    return fstat(fd, &of_fd) == 0 && lstat(name, &of_name) == 0 && of_fd.st_dev == of_name.st_dev &&
           of_fd.st_ino == of_name.st_ino;
}

// The number of "NAME.12" or "NAME.12.queue" beside NAME; 0 for other names.
static uint64_t number_of(const char* entry, const char* name, size_t name_bytes) {
    char digits[32];
    if (strncmp(entry, name, name_bytes) != 0 || entry[name_bytes] != '.') return 0;
    if (!base_text_copy(digits, sizeof digits, entry + name_bytes + 1)) return 0;
    char* end = strchr(digits, '.');
    if (end && strcmp(end, ".queue") != 0) return 0;
    if (end) *end = 0;
    uint64_t number;
    return base_text_parse_u64(digits, &number) ? number : 0;
}

// The highest number of an earlier log of this name.
static uint64_t find_newest(const char* path) {
    char folder[4096];
    const char* slash = strrchr(path, '/');
    const char* name = slash ? slash + 1 : path;
    if (!base_text_copy(folder, sizeof folder, slash ? path : ".")) return 0;
    if (slash) folder[slash - path + 1] = 0;
    DIR* entries = opendir(folder);
    if (!entries) return 0;
    uint64_t newest = 0;
    for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
        uint64_t number = number_of(entry->d_name, name, strlen(name));
        if (number > newest) newest = number;
    }
    closedir(entries);
    return newest;
}

// Segments go before their log: when a crash cuts this, the next start moves the rest to the same
// number.
static void move_segments(const char* name, const char* old) {
    char from[4096], to[4096];
    uint32_t *numbers, count, capacity;
    if (net_log_segment_list(NULL, name, &numbers, &count, &capacity) != NET_OK) return;
    for (uint32_t i = 0; i < count; i++)
        if (net_log_segment_name(from, sizeof from, name, numbers[i]) &&
            net_log_segment_name(to, sizeof to, old, numbers[i]))
            (void)rename(from, to);
    BASE_ARRAY_RELEASE(NULL, numbers, capacity);
}

// An earlier log of this name, locked by us, becomes FILE.N, with its queue. No log is replaced, so
// a server that crashes again and again keeps each of its logs. An empty file is no log.
static bool move_locked(const char* name, int fd, const base_reporter* reporter) {
    char old[4096], queue[4096], old_queue[4096];
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_size == 0) return unlink(name) == 0;
    bool is_right = base_text_format(old, sizeof old, "%s.%" PRIu64, name, find_newest(name) + 1) &&
                    net_log_queue_name(queue, sizeof queue, name) &&
                    net_log_queue_name(old_queue, sizeof old_queue, old);
    // The queue first: once the name is free, another server may create a queue beside it.
    if (is_right) move_segments(name, old);
    if (is_right && rename(queue, old_queue) != 0) unlink(old_queue);
    if (is_right && rename(name, old) == 0) {
        base_report(reporter, name, 0, "note: the earlier log of this name is now %s", old);
        return true;
    }
    base_report(reporter, name, 0, "cannot be moved away: %s", strerror(errno));
    return false;
}

// An earlier log of this name is kept as FILE.N.
static bool move_old(const char* name, const base_reporter* reporter) {
    struct stat status;
    if (lstat(name, &status) != 0) return true;
    if (!S_ISREG(status.st_mode)) {
        base_report(reporter, name, 0, "is there and no plain file");
        return false;
    }
    int fd = open(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        base_report(reporter, name, 0, "cannot be opened: %s", base_file_why(errno));
        return false;
    }
    bool is_free = flock(fd, LOCK_EX | LOCK_NB) == 0 && net_log_lock_has_name(fd, name);
    // Moved under the lock: a server that starts at the same time keeps its own.
    bool is_moved = is_free && move_locked(name, fd, reporter);
    close(fd);
    if (!is_free) base_report(reporter, name, 0, "another server writes this log");
    return is_moved;
}

net_result net_log_lock_create(const char* name, const base_reporter* reporter, int* fd) {
    BASE_ASSERT(name && *fd < 0);
    if (!move_old(name, reporter)) return NET_ERR_IO;
    *fd = base_file_create(name);
    if (*fd < 0) {
        int error = errno;
        base_report(reporter, name, 0, "cannot be created: %s",
                    error == EEXIST ? "another server took this log" : strerror(error));
        errno = error;
        return net_log_result_of(error);
    }
    if (flock(*fd, LOCK_EX | LOCK_NB) != 0) {
        base_report(reporter, name, 0, "cannot be locked: %s", strerror(errno));
        return NET_ERR_IO;
    }
    // Only now it is certain: another server may have created, filled or moved the file in between.
    struct stat status;
    if (!net_log_lock_has_name(*fd, name) || fstat(*fd, &status) != 0 || status.st_size != 0) {
        base_report(reporter, name, 0, "another server took this log");
        return NET_ERR_IO;
    }
    // The entry in its folder must survive a power cut too. Some file systems cannot sync a folder.
    (void)!base_file_sync_folder(name);
    return NET_OK;
}
