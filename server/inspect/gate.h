// SPDX-License-Identifier: MIT
/// Who may ask what: tokens, the names under which the server is asked, and where a page came from.
/// Pure: time and addresses are arguments.
///
/// Without tokens everyone who reaches the port is an operator, so it is a port of loopback then. A
/// browser reaches loopback for any page that it shows: Host (against DNS names that change to
/// 127.0.0.1), Origin and the type of a body keep foreign pages out.
#pragma once

#include "verbs.h"

#include "base/options.h"
#include "net/token.h"

#define SERVER_TOKEN_BYTES_MIN 16u
#define SERVER_TOKEN_BYTES_MAX 128u
#define SERVER_GATE_WRONG_MAX                                                                      \
    5u ///< wrong tokens of an address in a minute; a right one always comes in
#define SERVER_GATE_ADDRESSES_MAX 256u ///< that are remembered; the one that was quiet longest goes
#define SERVER_HOST_BYTES_MAX 256u     ///< of a name of --http host

typedef struct server_wrong {
    net_address from; ///< and its home (net_address_is_same_home)
    uint32_t count;
    uint64_t since_us, newest_us;
} server_wrong;

typedef struct server_gate {
    bool has_tokens;
    uint8_t tokens[2][SERVER_TOKEN_BYTES_MAX]; ///< by right, zero behind the token
    net_address listens;                       ///< its own literal is a good Host
    const base_option_list* hosts;             ///< --http host, borrowed
    const base_option_list* pages;             ///< --stream page, borrowed
    server_wrong wrong[SERVER_GATE_ADDRESSES_MAX];
    uint32_t wrong_count;
} server_gate;

/// What the headers of a request say; NULL: there is no such header. Borrowed.
typedef struct server_knock {
    const char* host;
    const char* origin;
    const char* authorization;
    const char* content_type;
    net_address from;
    bool is_post;
    bool is_open;   ///< needs no token: the page itself
    bool is_socket; ///< pages of the match's other servers may ask, too
} server_knock;

/// What came of it: status 200 and the right, or a status and the sentence that says why.
typedef struct server_welcome {
    int status;
    server_right right;
    const char* error;
} server_welcome;
static inline server_welcome server_gate_refuse(int status, const char* error) {
    return (server_welcome){.status = status, .error = error};
}

/// Open the gate of a server that listens at `listens`. The lines of `token_file` (NULL: none) are
/// "reader TOKEN" and "operator TOKEN". `pages` are https://HOST[:PORT]/PATH.
/// @return false: reported.
BASE_MUST_USE bool server_gate_init(server_gate* gate, const net_address* listens,
                                    const char* token_file, const base_option_list* hosts,
                                    const base_option_list* pages, const base_reporter* reporter);
/// Overwrite the tokens.
void server_gate_deinit(server_gate* gate);
/// The bytes of scheme, host and port in the URL of a page; 0: it is none of http or https.
size_t server_gate_origin(const char* page);
/// May this request come in, and with which right?
server_welcome server_gate_check(server_gate* gate, const server_knock* knock, uint64_t now_us);
/// Read the content of a token file. Exposed for tests. @return false: reported.
BASE_MUST_USE bool server_gate_read(server_gate* gate, const char* file, char* text,
                                    const base_reporter* reporter);
