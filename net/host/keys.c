// SPDX-License-Identifier: MIT
// A secret comes from a file of its owner or from the environment, never from the command line.
#define _GNU_SOURCE

#include "host/keys.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// Copy a variable and remove it: programs that this one starts, and /proc, do not see it any more.
static bool take_variable(const char* name, net_host_secret* secret) {
    char* value = getenv(name);
    secret->size = 0;
    if (!value || !value[0]) return false;
    size_t size = strlen(value);
    if (size <= sizeof secret->bytes) {
        memcpy(secret->bytes, value, size);
        secret->size = size;
    }
    explicit_bzero(value, size);
    unsetenv(name);
    return true;
}

bool net_host_load_keys(const char* path, net_key_ring* keys, const base_reporter* reporter) {
    net_host_secret secret;
    keys->count = 0;
    const char* source = path ? path : NET_HOST_KEYS_VARIABLE;
    if (path) {
        if (!net_host_read_secret_file(path, &secret, reporter)) return false;
    } else if (!take_variable(NET_HOST_KEYS_VARIABLE, &secret)) {
        return true;
    }
    net_result result =
        net_key_ring_parse(keys, source, (const char*)secret.bytes, secret.size, reporter);
    net_host_wipe_secret(&secret);
    return result == NET_OK;
}

bool net_host_create_file(const char* path, mode_t mode, const char* text, const char* if_taken,
                          const base_reporter* reporter) {
    const int descriptor = base_file_create(path);
    if (descriptor < 0)
        return base_report(reporter, path, 0, "cannot be created: %s%s", base_file_why(errno),
                           errno == EEXIST ? if_taken : "");
    const ssize_t size = (ssize_t)strlen(text);
    bool is_written = write(descriptor, text, (size_t)size) == size &&
                      fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0;
    is_written = close(descriptor) == 0 && is_written;
    if (is_written) return true;
    base_report(reporter, path, 0, "cannot be written: %s", base_error_text(errno));
    (void)unlink(path);
    return false;
}

bool net_host_save_keys(const char* path, const net_key_ring* keys, bool is_new,
                        const base_reporter* reporter) {
    // The file is replaced in one step, so a server that reads it meanwhile finds whole keys.
    char fresh[512], text[NET_KEYS_MAX * NET_KEY_TEXT_BYTES + 1] = "";
    if (!base_text_format(fresh, sizeof fresh, "%s%s", path, is_new ? "" : ".new"))
        return base_report(reporter, path, 0, "the name is longer than %zu bytes",
                           sizeof fresh - 5);
    char* at = text;
    for (uint32_t i = 0; i < keys->count; i++, *at++ = '\n') {
        (void)net_key_print(&keys->keys[i], at, NET_KEY_TEXT_BYTES);
        at += strlen(at);
    }
    const char* if_taken = is_new ? ": it has keys; --rotate puts a new one before them" : "";
    const bool is_saved = net_host_create_file(fresh, S_IRUSR | S_IWUSR, text, if_taken, reporter);
    explicit_bzero(text, sizeof text);
    if (!is_saved || is_new || rename(fresh, path) == 0) return is_saved;
    base_report(reporter, fresh, 0, "cannot be written: %s", base_error_text(errno));
    (void)unlink(fresh);
    return false;
}

// ---- tokens

// With the NUL.
enum { TOKENS_BYTES_MAX = NET_HOST_TOKENS_MAX * NET_TOKEN_TEXT_BYTES + 1 };

static void release_text(char* text) {
    explicit_bzero(text, TOKENS_BYTES_MAX);
    base_release(NULL, text, TOKENS_BYTES_MAX);
}

// A key in a file that others can read is no secret. Such a file is refused, so that an operator
// cannot overlook it.

// What systemd hands over (LoadCredential) is for the service alone, by an entry of an ACL, which
// shows among the rights of the group.
static bool is_credential(const char* path) {
    const char* folder = getenv("CREDENTIALS_DIRECTORY");
    const size_t length = folder ? strlen(folder) : 0;
    return length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/' &&
           !strchr(path + length + 1, '/');
}

static bool is_for_us_alone(int descriptor, const char* path, const base_reporter* reporter) {
    struct stat status;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        return base_report(reporter, path, 0, "is not a regular file");
    if (status.st_uid != geteuid() && status.st_uid != 0)
        return base_report(reporter, path, 0,
                           "is a secret of another user: make it your own with chown");
    const mode_t others = is_credential(path) ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
    if ((status.st_mode & others) != 0)
        return base_report(reporter, path, 0, "others can read this secret: run chmod 600 %s",
                           path);
    return true;
}

// @return the text with a NUL; NULL: reported.
static char* read_tokens(const char* path, const base_reporter* reporter) {
    bool is_input = strcmp(path, "-") == 0;
    FILE* file = is_input ? stdin : fopen(path, "rb");
    if (!file)
        return BASE_REPORT_AS(NULL, reporter, path, 0, "cannot be opened: %s",
                              base_error_text(errno));
    struct stat status; // a pipe has no other readers
    const bool is_plain = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    if (!is_input && is_plain && !is_for_us_alone(fileno(file), path, reporter)) {
        (void)fclose(file);
        return NULL;
    }
    char* text = base_allocate_zero(NULL, TOKENS_BYTES_MAX);
    size_t size = fread(text, 1, TOKENS_BYTES_MAX, file);
    bool is_sound = !ferror(file) && size < TOKENS_BYTES_MAX;
    if (!is_input) (void)fclose(file);
    if (is_sound) return text;
    base_report(reporter, path, 0, "cannot be read, or is longer than %u tokens",
                NET_HOST_TOKENS_MAX);
    release_text(text);
    return NULL;
}

static char* take_token_variable(void) {
    net_host_secret secret;
    if (!take_variable(NET_HOST_TOKEN_VARIABLE, &secret)) return NULL;
    char* text = base_allocate_zero(NULL, TOKENS_BYTES_MAX);
    memcpy(text, secret.bytes, secret.size);
    net_host_wipe_secret(&secret);
    return text;
}

static bool add_token(net_host_tokens* tokens, const char* line, const char* source,
                      uint32_t line_number, const base_reporter* reporter) {
    if (tokens->count == NET_HOST_TOKENS_MAX)
        return base_report(reporter, source, line_number, "more than %u tokens",
                           NET_HOST_TOKENS_MAX);
    net_result result = net_token_parse(line, &tokens->tokens[tokens->count]);
    if (result == NET_OK) {
        tokens->count++;
        return true;
    }
    return base_report(reporter, source, line_number, "%s", net_result_text(result));
}

static bool parse_tokens(net_host_tokens* tokens, char* text, const char* source,
                         const base_reporter* reporter) {
    bool is_sound = true;
    char* rest = text;
    for (uint32_t number = 1; rest && is_sound; number++) {
        char* line = strsep(&rest, "\n");
        if (line[strspn(line, " \t\r")] == '\0') continue;
        is_sound = add_token(tokens, line, source, number, reporter);
    }
    if (is_sound && tokens->count == 0) {
        base_report(reporter, source, 0, "has no token: make one with shoal-server token");
        is_sound = false;
    }
    return is_sound;
}

bool net_host_load_tokens(const char* path, net_host_tokens* tokens,
                          const base_reporter* reporter) {
    *tokens = (net_host_tokens){0};
    char* text = path ? read_tokens(path, reporter) : take_token_variable();
    if (!text) return path == NULL;
    tokens->tokens = base_allocate_zero(NULL, NET_HOST_TOKENS_MAX * sizeof *tokens->tokens);
    const bool is_sound =
        parse_tokens(tokens, text, path ? path : NET_HOST_TOKEN_VARIABLE, reporter);
    release_text(text);
    if (!is_sound) net_host_wipe_tokens(tokens);
    return is_sound;
}

void net_host_wipe_tokens(net_host_tokens* tokens) {
    for (uint32_t i = 0; i < tokens->count; i++)
        net_token_wipe(&tokens->tokens[i]);
    base_release(NULL, tokens->tokens, NET_HOST_TOKENS_MAX * sizeof *tokens->tokens);
    *tokens = (net_host_tokens){0};
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
        base_report(reporter, path, 0, "cannot be read: %s", base_error_text(errno));
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
    if (descriptor < 0)
        return base_report(reporter, path, 0, "cannot be opened: %s", base_error_text(errno));
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
