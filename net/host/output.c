// SPDX-License-Identifier: MIT
// Results go to stdout and to files that the user names, notes to the reporter.
#include "host/output.h"

#include "base/file.h"
#include "base/text.h"

#include "build_id.h"
#include "wire.pb-c.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DROPPED_BYTES_MAX = 1024 };

void net_host_write_line(void* file, const char* line) {
    fprintf(file, "%s\n", line);
}

static FILE* open_file(const char* path, const base_reporter* reporter) {
    int descriptor = base_file_overwrite(path);
    FILE* file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    struct stat status;
    // Who reads a pipe wants each line when it is written.
    if (file && fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode))
        (void)setvbuf(file, NULL, _IOLBF, BUFSIZ);
    if (file) return file;
    base_report(reporter, path, 0, "%s", base_file_why(errno));
    if (descriptor >= 0) close(descriptor);
    return NULL;
}

bool net_host_write_file(const char* path, net_host_write_fn write, void* context,
                         const base_reporter* reporter) {
    FILE* file = open_file(path, reporter);
    if (!file) return false;
    errno = 0;
    bool is_written = write(context, file) && !ferror(file);
    // A full disk may show only here.
    bool is_closed = fclose(file) == 0;
    if (is_written && is_closed) return true;
    base_report(reporter, path, 0, "cannot be written: %s",
                errno ? strerror(errno) : "its content is not complete");
    net_host_drop_file(path);
    return false;
}

void net_host_drop_file(const char* path) {
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode)) (void)unlink(path);
}

bool net_host_open_file(const char* path, const base_reporter* reporter, void** file) {
    if (!path) return true;
    *file = open_file(path, reporter);
    return *file != NULL;
}

void net_host_write_trace(void* file, const net_trace_event* event) {
    char line[NET_TRACE_LINE_BYTES_MAX];
    net_trace_text(event, line, sizeof line);
    net_host_write_line(file, line); // one call of stdio, so lines of two threads do not mix
}

// Appends " name=count" unless the count is zero.
static void append_count(char* text, const char* name, uint64_t count) {
    size_t size = strlen(text);
    if (count > 0)
        (void)base_text_format(text + size, DROPPED_BYTES_MAX - size, " %s=%" PRIu64, name, count);
}

void net_host_report_dropped(const uint64_t dropped[NET_DROP_COUNT],
                             const net_transport_stats* stats, const base_reporter* reporter) {
    char text[DROPPED_BYTES_MAX];
    uint64_t unusual[NET_DROP_COUNT];
    for (uint32_t i = 0; i < NET_DROP_COUNT; i++)
        unusual[i] = net_drop_is_usual((net_drop)i) ? 0 : dropped[i];
    net_drops_text(unusual, text, sizeof text);
    if (stats) {
        append_count(text, "socket_empty", stats->dropped_empty);
        append_count(text, "socket_oversized", stats->dropped_oversized);
        append_count(text, "socket_malformed", stats->dropped_malformed);
        append_count(text, "socket_repeats", stats->dropped_repeats);
        append_count(text, "socket_connects", stats->dropped_connects);
        append_count(text, "socket_errors", stats->socket_errors);
        append_count(text, "network", stats->sim_dropped);
    }
    if (text[0]) base_report(reporter, NULL, 0, "note: dropped%s", text);
}

// From results to exit codes: one function for each situation, because one result can mean two
// things. A name that does not exist is a wrong option; the same result inside of a log is still a
// wrong --game.

int net_exit_report(int code, const base_reporter* reporter, const char* file, const char* format,
                    ...) {
    char text[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)base_text_vformat(text, sizeof text, format, arguments);
    va_end(arguments);
    base_report(reporter, file, 0, "%s", text);
    return code;
}

int net_exit_of_replay(net_result result) {
    switch (result) {
    case NET_OK:
        return NET_EXIT_CLEAN;
    case NET_ERR_SCHEMA:
    case NET_ERR_VERSION:
        return NET_EXIT_MISMATCH;
    case NET_ERR_DIVERGED:
        return NET_EXIT_DIVERGED;
    case NET_ERR_UNKNOWN:
    case NET_ERR_MODULE:
        return NET_EXIT_USAGE;
    default:
        return NET_EXIT_RUNTIME;
    }
}

int net_exit_of_setup(net_result result) {
    if (result == NET_OK) return NET_EXIT_CLEAN;
    return result == NET_ERR_MEMORY ? NET_EXIT_RUNTIME : NET_EXIT_USAGE;
}

int net_exit_of_bind(int error) {
    const bool is_lack = error == EMFILE || error == ENFILE || error == ENOMEM;
    return is_lack ? NET_EXIT_RUNTIME : NET_EXIT_BIND;
}

int net_exit_report_setup(net_result result, const base_reporter* reporter) {
    if (result == NET_ERR_MEMORY) base_report(reporter, NULL, 0, "%s", net_result_text(result));
    return net_exit_of_setup(result);
}

// Most lines were written long before: the stream remembers that one was not.
int net_exit_of_results(int code, void* file, const base_reporter* reporter) {
    if (fflush(file) == 0 && !ferror(file)) return code;
    base_report(reporter, NULL, 0, "not all of the output could be written");
    return code == NET_EXIT_CLEAN ? NET_EXIT_RUNTIME : code;
}

int net_exit_of_options(base_options_result read) {
    return read == BASE_OPTIONS_HELP ? NET_EXIT_CLEAN : NET_EXIT_USAGE;
}

int net_exit_of_refusal(uint32_t reason) {
    switch (reason) {
    case SHOAL__WIRE__REFUSED_REASON__REFUSED_PROTOCOL:
    case SHOAL__WIRE__REFUSED_REASON__REFUSED_SCHEMA:
    case SHOAL__WIRE__REFUSED_REASON__REFUSED_GAME:
        return NET_EXIT_MISMATCH;
    default:
        return NET_EXIT_CONNECT;
    }
}

// The only file that is compiled again when the commit changes.

const char* net_build_id(void) {
    return SHOAL_BUILD_ID;
}
