// SPDX-License-Identifier: MIT
/// Other hosts of a fleet, by NATS: messages of its broker without waiting. Not JetStream: nothing
/// is kept there. A broker that is away comes again by itself (fleet/stream_connection.h).
///
/// Threads: all functions on the host's. The library's own thread writes what comes to a pipe; what
/// finds no room there is lost, as anything that the broker carries may be.
#pragma once

#include "base/report.h"

#define SERVER_PEER_SUBJECT_BYTES 96u

typedef struct server_peers server_peers;

/// What came, borrowed until the next one.
typedef struct server_peer_message {
    const char* subject; ///< "shoal.join.GAME"; "": an answer
    const char* reply;   ///< of a question: where the answer goes; "": none is wanted
    uint64_t number;     ///< of an answer: that of the question
    bool is_nobody;      ///< of an answer: no host listens to this subject now
    const char* text;    ///< no NUL at its end
    size_t size;
} server_peer_message;

/// The functions of a build with libnats.
typedef struct server_broker {
    /// Begin to connect to "nats://HOST,HOST?ca=FILE&creds=FILE". @return NULL: reported.
    server_peers* (*create)(const char* url, const base_reporter* reporter);
    /// NULL does nothing.
    void (*destroy)(server_peers* peers);
    /// Readable when something came, or the connection changed.
    int (*descriptor)(const server_peers* peers);
    /// Look at the connection, subscribe again where it is a new one. @return is it there?
    bool (*pass)(server_peers* peers);
    /// Listen to a subject from now on, or not any more. `is_group`: of all hosts that do, one gets
    /// each message.
    void (*listen)(server_peers* peers, const char* subject, bool is_group, bool is_wanted);
    /// Ask other hosts; answers have this number. 0: none is wanted. Own messages do not come back.
    void (*send)(server_peers* peers, const char* subject, uint64_t number, const void* bytes,
                 size_t size);
    void (*answer)(server_peers* peers, const char* reply, const void* bytes, size_t size);
    /// @return false: nothing came.
    bool (*next)(server_peers* peers, server_peer_message* message);
} server_broker;
extern const server_broker server_broker_nats;
