// SPDX-License-Identifier: MIT
// The keys of logs, in files.
#include "host/log_keys.h"

#include "host/keys.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool net_host_make_log_key(const char* path, net_log_public_key* key,
                           const base_reporter* reporter) {
    char public_path[512], line[NET_LOG_KEY_TEXT_BYTES];
    net_log_secret_key secret;
    if (!base_text_format(public_path, sizeof public_path, "%s.pub", path))
        return base_report(reporter, path, 0, "the name is longer than %zu bytes",
                           sizeof public_path - 5);
    net_log_key_make(&secret, key);
    net_log_key_print(&secret, line);
    net_log_key_wipe(&secret);
    static const char is_taken[] = ": a key is never written over; name another file";
    bool is_made = net_host_create_file(path, S_IRUSR | S_IWUSR, line, is_taken, reporter);
    explicit_bzero(line, sizeof line);
    if (!is_made) return false;
    net_log_public_key_print(key, line);
    is_made = net_host_create_file(public_path, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH, line,
                                   is_taken, reporter);
    if (!is_made) (void)unlink(path);
    return is_made;
}

bool net_host_load_log_key(const char* path, net_log_secret_key* key,
                           const base_reporter* reporter) {
    net_host_secret secret;
    net_log_key_wipe(key);
    if (!net_host_read_secret_file(path, &secret, reporter)) return false;
    const bool is_key = net_log_key_parse((const char*)secret.bytes, secret.size, key);
    net_host_wipe_secret(&secret);
    if (!is_key)
        base_report(reporter, path, 0,
                    "is not a signing key of logs: make one with shoal-server keygen --log FILE");
    return is_key;
}

bool net_host_load_public_log_key(const char* path, net_log_public_key* key,
                                  const base_reporter* reporter) {
    char line[NET_LOG_KEY_TEXT_BYTES + 1];
    *key = (net_log_public_key){.bytes = {0}};
    FILE* file = fopen(path, "rbe");
    if (!file) return base_report(reporter, path, 0, "cannot be opened: %s", strerror(errno));
    const size_t size = fread(line, 1, sizeof line, file);
    (void)fclose(file);
    if (net_log_public_key_parse(line, size, key)) return true;
    net_log_secret_key secret;
    const bool is_secret = net_log_key_parse(line, size, &secret);
    net_log_key_wipe(&secret);
    explicit_bzero(line, sizeof line);
    return base_report(
        reporter, path, 0,
        is_secret ? "is the secret key: name its .pub, and let no one else read it"
                  : "is not a public key of logs (shoal-server keygen --log makes FILE.pub)");
}
