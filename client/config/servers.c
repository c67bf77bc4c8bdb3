// SPDX-License-Identifier: MIT
// The list of servers as text. The file is a person's own, but it may come from elsewhere: names
// are shown without control characters, and every limit has a message with the line.
#include "config/servers.h"

#include "base/assert.h"
#include "base/shown.h"
#include "base/text.h"
#include "net/result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool client_is_address(const char* text) {
    const char* colon = strrchr(text, ':');
    uint64_t port = 0;
    return colon && colon != text && base_text_parse_u64(colon + 1, &port) && port > 0 &&
           port <= UINT16_MAX;
}

bool client_place(const char* file, char* path, size_t path_bytes) {
    const char* config = getenv("XDG_CONFIG_HOME");
    const char* home = getenv("HOME");
    // A relative path there is to be ignored, as the standard of these folders demands.
    if (config && config[0] == '/')
        return base_text_format(path, path_bytes, "%s/shoal/%s", config, file);
    return home && home[0] && base_text_format(path, path_bytes, "%s/.config/shoal/%s", home, file);
}

// @return what is wrong with the line; NULL: nothing.
static const char* parse_line(char* line, client_server* server) {
    char* space = line + strlen(line);
    while (space > line && !base_text_is_blank(*space))
        space--;
    if (space == line) return "write a name and an address: \"Living room 192.168.1.20:7777\"";
    const char* address = space + 1;
    *space = '\0';
    (void)base_text_trim(line);
    if (!client_is_address(address)) return "the last word is not an address: write HOST:PORT";
    if (!base_text_copy(server->address, sizeof server->address, address))
        return "the address is longer than 255 bytes";
    if (strlen(line) >= sizeof server->name) return "the name is longer than 47 bytes";
    if (!base_shown_copy(server->name, sizeof server->name, line))
        return "the name has no letter that can be seen";
    return NULL;
}

bool client_servers_parse(char* text, const char* file, const base_reporter* reporter,
                          client_servers* servers) {
    BASE_ASSERT(text && servers);
    uint32_t number = 0;
    servers->count = 0;
    for (char* next = text; next;) {
        char* line = next;
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        number++;
        char* comment = strchr(line, '#');
        if (comment) *comment = '\0';
        line = base_text_trim(line);
        if (!*line) continue;
        client_server server;
        const char* fault = servers->count == CLIENT_SERVERS_MAX
                                ? "a list has at most 64 servers: leave this one out"
                                : parse_line(line, &server);
        if (fault) return base_report(reporter, file, number, "%s", fault);
        servers->entries[servers->count++] = server;
    }
    return true;
}

bool client_servers_read(const char* file, const base_reporter* reporter, client_servers* servers) {
    base_bytes text = {0};
    if (access(file, F_OK) != 0)
        return base_report(reporter, file, 0,
                           "no list of servers: %s (write a name and an address a line)",
                           strerror(errno));
    bool is_right = net_file_read(file, CLIENT_SERVERS_BYTES_MAX, reporter, &text) == NET_OK;
    if (is_right && text.size > 0 && memchr(text.data, '\0', text.size))
        is_right = base_report(reporter, file, 0, "is not text");
    base_bytes_write_u8(&text, '\0');
    is_right = is_right && client_servers_parse((char*)text.data, file, reporter, servers);
    base_bytes_deinit(&text);
    return is_right;
}
