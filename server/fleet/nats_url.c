// SPDX-License-Identifier: MIT
#include "nats_url.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    REPLICAS_MAX = 5,
    HOURS_DEFAULT = 24, // that messages are kept
    HOURS_MAX = 24 * 365,
};

static bool read_parameter(const char* text, uint32_t max, uint32_t* number) {
    uint64_t read;
    if (!base_text_parse_u64(text, &read) || read < 1 || read > max) return false;
    *number = (uint32_t)read;
    return true;
}

static bool read_query(server_nats_address* self, char* query) {
    char* rest = query;
    for (char* part; (part = strtok_r(rest, "&", &rest));) {
        char* value = strchr(part, '=');
        if (!value) return false;
        *value++ = 0;
        const bool is_read =
            strcmp(part, "replicas") == 0   ? read_parameter(value, REPLICAS_MAX, &self->replicas)
            : strcmp(part, "hours") == 0    ? read_parameter(value, HOURS_MAX, &self->hours)
            : strcmp(part, "keep-min") == 0 ? read_parameter(value, HOURS_MAX * 60, &self->keep_min)
            : strcmp(part, "ca") == 0
                ? base_text_copy(self->ca, sizeof self->ca, value)
                : strcmp(part, "creds") == 0 &&
                      base_text_copy(self->credentials, sizeof self->credentials, value);
        if (!is_read) return false;
    }
    return true;
}

static bool read_path(server_nats_address* self, const char* path) {
    char* end;
    if (strncmp(path, "SHOAL_", 6) != 0) return *path == 0;
    self->identity = strtoull(path + 6, &end, 16);
    return strlen(path) == 22 && *end == 0;
}

// "broker", "broker:4222", "[::1]:4222"
static bool is_host(const char* text) {
    const char* behind = strrchr(text, ']');
    const char* port = strchr(behind ? behind : text, ':');
    uint64_t number;
    return *text && port != text && !strpbrk(text, " \t") &&
           (!port ||
            (base_text_parse_u64(port + 1, &number) && number > 0 && number <= UINT16_MAX));
}

// A host without a user has that of the one before.
bool server_nats_address_read(server_nats_address* self, const char* url) {
    char text[2048], user[128] = "";
    *self = (server_nats_address){.replicas = 1, .hours = HOURS_DEFAULT};
    if (!base_text_copy(text, sizeof text, url)) return false;
    self->is_secure = strncmp(text, "tls://", 6) == 0;
    if (!self->is_secure && strncmp(text, "nats://", 7) != 0) return false;
    char* hosts = strstr(text, "://") + 3;
    char* query = strchr(hosts, '?');
    if (query) *query++ = 0;
    char* path = strchr(hosts, '/');
    if (path) *path++ = 0;
    if ((query && !read_query(self, query)) || (path && !read_path(self, path))) return false;
    for (char* host; (host = strtok_r(hosts, ",", &hosts));) {
        char* at = strrchr(host, '@');
        if (at && !base_text_format(user, sizeof user, "%.*s@", (int)(at - host), host))
            return false;
        if (at) host = at + 1;
        if (!is_host(host) || self->server_count == SERVER_NATS_SERVERS_MAX ||
            !base_text_format(self->servers[self->server_count++], sizeof self->servers[0],
                              "%s://%s%s", self->is_secure ? "tls" : "nats", user, host))
            return false;
    }
    return self->server_count > 0;
}
