// SPDX-License-Identifier: MIT
/// "nats://HOST[:PORT],HOST/SHOAL_<identity>?hours=24&keep-min=60&replicas=3&ca=FILE&creds=FILE",
/// or with tls://; `hours` of a match that runs, `keep-min` of one that is over.
#pragma once

#include "base/macros.h"

#define SERVER_NATS_SERVERS_MAX 8u

typedef struct server_nats_address {
    char servers[SERVER_NATS_SERVERS_MAX][256]; ///< each with scheme and user
    uint32_t server_count;
    bool is_secure;
    char ca[256], credentials[256]; ///< "": not given
    uint64_t identity;              ///< of the path; 0: it names no stream
    uint32_t replicas, hours;       ///< of the stream
    uint32_t keep_min; ///< that the stream of a match that is over is kept; 0: its hours
} server_nats_address;

/// @return false: it is not of this form.
bool server_nats_address_read(server_nats_address* url, const char* text);
