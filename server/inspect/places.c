// SPDX-License-Identifier: MIT
// Who has a place among the connections. Peers without a token can hold many by silence; then those
// that ask something, and those that ask whether the server lives, still get one.
#include "http.h"

#include <sys/socket.h>

// Connections of an address (NULL: all), in every state or only those that ask something.
static uint32_t count_of(const server_inspect* self, const net_address* from, bool is_asking) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < HTTP_VISITS_MAX; i++) {
        const http_visit* it = &self->visits[i];
        count += it->connection && !(is_asking && it->state == HTTP_IDLE) &&
                 (!from || net_address_is_same_home(&it->from, from));
    }
    return count;
}

bool http_has_place(const http_visit* visit) {
    const server_inspect* self = visit->inspect;
    const net_address* from = net_address_is_loopback(&visit->from) ? NULL : &visit->from;
    return count_of(self, NULL, true) <= HTTP_CONNECTIONS_MAX &&
           (!from || count_of(self, from, true) <= HTTP_ADDRESS_CONNECTIONS_MAX);
}

// Close the connection without a request that rests for the longest time; `from`: of this address,
// NULL: of any. It keeps its place until MHD runs next. A place is made while some are left, so
// that none is closed whose request is on its way.
static void make_room(server_inspect* self, const net_address* from) {
    http_visit* oldest = NULL;
    for (uint32_t i = 0; i < HTTP_VISITS_MAX; i++) {
        http_visit* it = &self->visits[i];
        if (!it->connection || it->state != HTTP_IDLE || it->until_us == 0 ||
            (from && !net_address_is_same_home(&it->from, from)))
            continue;
        if (!oldest || it->rests_us < oldest->rests_us) oldest = it;
    }
    if (!oldest) return;
    (void)shutdown(oldest->descriptor, SHUT_RDWR);
    oldest->until_us = 0;
}

void http_make_place(server_inspect* self, const net_address* from) {
    if (from && !net_address_is_loopback(from) &&
        count_of(self, from, false) >= HTTP_ADDRESS_CONNECTIONS_MAX + HTTP_SPARE_MAX / 2)
        make_room(self, from);
    else if (self->visit_count >= HTTP_VISITS_MAX - HTTP_SPARE_MAX / 2 ||
             self->acceptor.spare_count <= 1)
        make_room(self, NULL);
}
