// SPDX-License-Identifier: MIT
// file.c for Windows. Rights come from the folder there, and a link needs rights that users do not
// have, so only creating and emptying are left.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <string.h>
#include <sys/stat.h>

#define RIGHTS (_S_IREAD | _S_IWRITE)

int base_file_create(const char* path) {
    return _open(path, _O_RDWR | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, RIGHTS);
}

bool base_file_is_own(int descriptor) {
    struct _stat64 status;
    return _fstat64(descriptor, &status) == 0 && (status.st_mode & _S_IFREG);
}

int base_file_overwrite(const char* path) {
    return _open(path, _O_WRONLY | _O_CREAT | _O_TRUNC | _O_BINARY | _O_NOINHERIT, RIGHTS);
}

// The file system writes entries with the file.
bool base_file_sync_folder(const char* path) {
    return path[0] != '\0';
}

const char* base_error_text(int error) {
    return strerror(error);
}

const char* base_file_why(int error) {
    return strerror(error);
}

bool base_file_open_standard(void) {
    int descriptor = _open("NUL", _O_RDWR);
    while (descriptor >= 0 && descriptor <= 2)
        descriptor = _open("NUL", _O_RDWR);
    if (descriptor < 0) return false;
    _close(descriptor);
    return true;
}
