// SPDX-License-Identifier: MIT
// One table of routes, and the files of the page.
//
// Under /api/v1/ a path is a verb: NAME, NAME/ID, or NAME/ID/VERB, where ID becomes the verb's
// argument "id". So a new verb has its path at once.
#include "route.h"

#include "upgrade.h"

#include "page_files.h" // written by CMake from page/

#include <string.h>

static const struct {
    const char* path;
    server_route route;
} fixed[] = {
    {"/healthz", {.kind = SERVER_ROUTE_HEALTH, .is_open = true, .is_anywhere = true}},
    {"/readyz", {.kind = SERVER_ROUTE_READY, .is_open = true, .is_anywhere = true}},
    {"/log/info", {.kind = SERVER_ROUTE_LOG_INFO}},
    {"/log/bytes", {.kind = SERVER_ROUTE_LOG_BYTES}},
    {"/watch/info", {.kind = SERVER_ROUTE_WATCH_INFO}},
    {"/watch/bytes", {.kind = SERVER_ROUTE_WATCH_BYTES}},
    {"/play/info", {.kind = SERVER_ROUTE_PLAY, .is_open = true}},
    {SERVER_UPGRADE_PATH, {.kind = SERVER_ROUTE_SOCKET, .is_open = true}},
    {"/metrics", {.kind = SERVER_ROUTE_VERB, .name = "metrics", .name_bytes = 7}},
};

static server_route find_verb(const char* path) {
    server_route found = {.kind = SERVER_ROUTE_VERB, .name = path};
    found.name_bytes = strcspn(path, "/");
    path += found.name_bytes;
    if (found.name_bytes == 0) return (server_route){0};
    if (*path == 0) return found;
    found.id = ++path;
    found.id_bytes = strcspn(path, "/");
    path += found.id_bytes;
    if (found.id_bytes == 0) return (server_route){0};
    if (*path == 0) return found;
    found.name = ++path;
    found.name_bytes = strcspn(path, "/");
    return found.name_bytes == 0 || path[found.name_bytes] ? (server_route){0} : found;
}

// "/game/NAME.wasm"
static server_route find_game(const char* path) {
    static const char end[] = ".wasm";
    const size_t size = strlen(path);
    if (size < sizeof end || strcmp(path + size - (sizeof end - 1), end) != 0)
        return (server_route){0};
    return (server_route){.kind = SERVER_ROUTE_GAME,
                          .is_open = true,
                          .name = path,
                          .name_bytes = size - (sizeof end - 1)};
}

server_route server_route_find(const char* path) {
    static const char api[] = "/api/v1/", game[] = "/game/";
    for (uint32_t i = 0; i < BASE_COUNT(fixed); i++)
        if (strcmp(path, fixed[i].path) == 0) return fixed[i].route;
    if (strncmp(path, api, sizeof api - 1) == 0) return find_verb(path + sizeof api - 1);
    if (strncmp(path, game, sizeof game - 1) == 0) return find_game(path + sizeof game - 1);
    if (server_page_find(path))
        return (server_route){
            .kind = SERVER_ROUTE_PAGE, .is_open = true, .name = path, .name_bytes = strlen(path)};
    return (server_route){0};
}

const server_page_file* server_page_find(const char* path) {
    if (strcmp(path, "/") == 0) path = "/index.html";
    if (strcmp(path, SERVER_PLAY_PATH) == 0) path = "/play.html";
    for (uint32_t i = 0; i < BASE_COUNT(page_files); i++)
        if (strcmp(page_files[i].path, path) == 0) return &page_files[i];
    return NULL;
}
