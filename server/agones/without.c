// SPDX-License-Identifier: MIT
// Agones for a program that was built without libcurl or jansson: there is none.
#include "rest.h"
#include "watch.h"

bool server_rest_open(uint16_t port, server_rest* rest) {
    (void)port;
    *rest = (server_rest){0};
    return false;
}

bool server_watch_read(const char* line, size_t size, server_watch_state* state) {
    (void)line, (void)size;
    *state = (server_watch_state){0};
    return false;
}
