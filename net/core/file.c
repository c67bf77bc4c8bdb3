// SPDX-License-Identifier: MIT
#include "net/result.h"

#include "base/assert.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

net_result net_file_read(const char* file, size_t bytes_max, const base_reporter* reporter,
                         base_bytes* bytes) {
    BASE_ASSERT(file && bytes_max > 0);
    // Not blocking: opening a pipe would wait for a writer, and signals would wait too.
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE* stream = fd < 0 ? NULL : fdopen(fd, "rb");
    if (!stream) {
        base_report(reporter, file, 0, "cannot be opened: %s", base_error_text(errno));
        if (fd >= 0) close(fd);
        return NET_ERR_IO;
    }
    struct stat status;
    const bool is_regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    for (bool is_more = is_regular; is_more && bytes->size <= bytes_max;) {
        uint8_t buffer[4096];
        size_t size = fread(buffer, 1, sizeof buffer, stream);
        base_bytes_write(bytes, buffer, size);
        is_more = size == sizeof buffer;
    }
    const bool is_whole = is_regular && !ferror(stream) && bytes->size <= bytes_max;
    if (!is_regular)
        base_report(reporter, file, 0, "is not a regular file");
    else if (ferror(stream))
        base_report(reporter, file, 0, "cannot be read: %s", base_error_text(errno));
    else if (!is_whole)
        base_report(reporter, file, 0, "is larger than %zu bytes", bytes_max);
    fclose(stream);
    return is_whole ? NET_OK : NET_ERR_IO;
}
