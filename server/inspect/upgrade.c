// SPDX-License-Identifier: MIT
// libmicrohttpd would hold the connection until it ends, among those that may ask. So the socket is
// duplicated, and libmicrohttpd's own is given back at once.
#include "http.h"

#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>

#define KEY_BYTES 24u // base64 of 16

bool server_upgrade_accept(const char* key, char accept[29]) {
    static const char magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455, 1.3
    uint8_t nonce[18], digest[20];
    char text[KEY_BYTES + sizeof magic];
    size_t size = 0;
    if (strlen(key) != KEY_BYTES ||
        sodium_base642bin(nonce, sizeof nonce, key, KEY_BYTES, NULL, &size, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0 ||
        size != 16)
        return false;
    memcpy(text, key, KEY_BYTES);
    memcpy(text + KEY_BYTES, magic, sizeof magic);
    if (gnutls_hash_fast(GNUTLS_DIG_SHA1, text, sizeof text - 1, digest) != 0) return false;
    return sodium_bin2base64(accept, 29, digest, sizeof digest, sodium_base64_VARIANT_ORIGINAL) !=
           NULL;
}

// Is `word` among those of a header with commas?
static bool has_word(const char* list, const char* word) {
    const size_t size = strlen(word);
    for (; list && *list; list += strcspn(list, ","), list += *list == ',') {
        list += strspn(list, " \t");
        if (strncasecmp(list, word, size) != 0) continue;
        const char* end = list + size + strspn(list + size, " \t");
        if (*end == '\0' || *end == ',') return true;
    }
    return false;
}

// An MHD_UpgradeHandler, on the thread of HTTP.
static void take_socket(void* inspect, struct MHD_Connection* connection, void* request,
                        const char* first, size_t first_size, MHD_socket socket,
                        struct MHD_UpgradeResponseHandle* handle) {
    (void)connection;
    server_inspect* self = inspect;
    const http_visit* visit = request;
    const int own = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    const net_address from = visit->from;
    (void)MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE);
    if (own < 0) return;
    const server_upgrade* to = self->config.upgrade;
    to->take(to->context, own, &from, (const uint8_t*)first, first_size);
}

enum MHD_Result http_upgrade(server_inspect* self, http_visit* visit) {
    struct MHD_Connection* connection = visit->connection;
    char accept[29];
    const char *upgrade = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Upgrade"),
               *how = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Connection"),
               *version = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                      "Sec-WebSocket-Version"),
               *key = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-WebSocket-Key");
    if (!self->config.upgrade)
        return http_send_error(visit, 404, "this server has no place for players in browsers");
    if (self->is_standby) // a proxy asks the next one
        return http_send_error(visit, 503, "this is a standby: the match is at another server");
    if (!net_address_is_private(&visit->from))
        return http_send_error(visit, 403,
                               "this port does not encrypt: put a proxy with TLS before it");
    if (strcmp(visit->method, "GET") != 0 || !has_word(upgrade, "websocket") ||
        !has_word(how, "upgrade") || !version || strcmp(version, "13") != 0 || !key ||
        !server_upgrade_accept(key, accept))
        return http_send_error(visit, 400, "this is for WebSocket connections, version 13");
    struct MHD_Response* response = MHD_create_response_for_upgrade(take_socket, self);
    if (!response) return MHD_NO;
    enum MHD_Result result = MHD_NO;
    if (MHD_add_response_header(response, "Upgrade", "websocket") == MHD_YES &&
        MHD_add_response_header(response, "Sec-WebSocket-Accept", accept) == MHD_YES)
        result = MHD_queue_response(connection, 101, response);
    MHD_destroy_response(response);
    if (result == MHD_YES) self->responses[1]++;
    return result;
}
