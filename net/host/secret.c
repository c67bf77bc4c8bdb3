// SPDX-License-Identifier: MIT
// A key in a file that others can read is no secret. Such a file is refused, so that an operator
// cannot overlook it.
#define _GNU_SOURCE
#include "host/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_for_us_alone(int descriptor, const char* path, const base_reporter* reporter) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        base_report(reporter, path, 0, "is no plain file");
        return false;
    }
    if (status.st_uid != geteuid() && status.st_uid != 0) {
        base_report(reporter, path, 0, "is a secret of another user: make it your own with chown");
        return false;
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        base_report(reporter, path, 0, "others can read this secret: run chmod 600 %s", path);
        return false;
    }
    return true;
}

// One byte more than fits tells that the file is too long.
static ssize_t read_some(int descriptor, uint8_t* bytes, size_t capacity) {
    size_t size = 0;
    while (size < capacity) {
        ssize_t got = read(descriptor, bytes + size, capacity - size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        size += (size_t)got;
    }
    return (ssize_t)size;
}

static bool read_content(int descriptor, const char* path, net_host_secret* secret,
                         const base_reporter* reporter) {
    ssize_t size = read_some(descriptor, secret->bytes, sizeof secret->bytes);
    uint8_t more;
    if (size < 0) {
        base_report(reporter, path, 0, "cannot be read: %s", strerror(errno));
    } else if (size == 0) {
        base_report(reporter, path, 0, "is empty");
    } else if (read_some(descriptor, &more, 1) != 0) {
        base_report(reporter, path, 0, "is longer than %u bytes", NET_HOST_SECRET_BYTES_MAX);
    } else {
        secret->size = (size_t)size;
        return true;
    }
    return false;
}

bool net_host_read_secret_file(const char* path, net_host_secret* secret,
                               const base_reporter* reporter) {
    secret->size = 0;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) {
        base_report(reporter, path, 0, "cannot be opened: %s", strerror(errno));
        return false;
    }
    bool is_read = is_for_us_alone(descriptor, path, reporter) &&
                   read_content(descriptor, path, secret, reporter);
    close(descriptor);
    if (!is_read) net_host_wipe_secret(secret);
    return is_read;
}

void net_host_wipe_secret(net_host_secret* secret) {
    explicit_bzero(secret, sizeof *secret);
}

bool net_host_forbid_core(void) {
#ifdef NDEBUG
    const struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
#else
    return true;
#endif
}
