// SPDX-License-Identifier: MIT
// A name in a folder that others may write to can be a trap: a link, or a second name, of a file
// that this process may write and its owner wants to keep. So what exists is looked at through its
// descriptor before a byte of it changes.
#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RIGHTS 0600

int base_file_create(const char* path) {
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, RIGHTS);
}

bool base_file_is_own(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid() && status.st_nlink == 1;
}

int base_file_overwrite(const char* path) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, RIGHTS);
    if (descriptor < 0) return -1;
    struct stat status;
    int error = 0;
    if (fstat(descriptor, &status) != 0)
        error = errno;
    else if (!S_ISREG(status.st_mode))
        return descriptor; // nothing in it can be lost
    else if (!base_file_is_own(descriptor))
        error = EPERM;
    else if (fchmod(descriptor, RIGHTS) != 0 || ftruncate(descriptor, 0) != 0)
        error = errno;
    if (error == 0) return descriptor;
    close(descriptor);
    errno = error;
    return -1;
}

bool base_file_sync_folder(const char* path) {
    char folder[4096];
    const char* slash = strrchr(path, '/');
    if (!base_text_copy(folder, sizeof folder, slash ? path : ".")) return false;
    if (slash) folder[slash - path + 1] = 0;
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_synced = descriptor >= 0 && fsync(descriptor) == 0;
    if (descriptor >= 0) close(descriptor);
    return is_synced;
}

const char* base_error_text(int error) {
    if (error == EMFILE)
        return "no file descriptor is left: raise the limit of open files (ulimit -n, LimitNOFILE)";
    if (error == ENFILE) return "this machine has no file descriptor left: raise fs.file-max";
    return error == ENOMEM ? BASE_NO_MEMORY : strerror(error);
}

const char* base_file_why(int error) {
    if (error == ELOOP) return "it is a link, and links are not followed";
    if (error == EPERM) return "the file belongs to another user or has a second name";
    return base_error_text(error);
}

bool base_file_open_standard(void) {
    int descriptor = open("/dev/null", O_RDWR);
    // The lowest free number is given first.
    while (descriptor >= 0 && descriptor <= STDERR_FILENO)
        descriptor = open("/dev/null", O_RDWR);
    if (descriptor < 0) return false;
    close(descriptor);
    return true;
}
