// SPDX-License-Identifier: MIT
/// NATS JetStream as the broker of a stream (net/stream.h, proto/STREAM.md).
///
/// Threads: all functions on one thread, the one that polls. The library's own threads call `wake`,
/// one at a time.
#pragma once

#include "base/report.h"
#include "net/stream.h"

#define SERVER_NATS_URL_BYTES 512u

typedef struct server_nats server_nats;

typedef struct server_nats_config {
    /// "nats://HOST[:PORT],HOST/SHOAL_<identity>?replicas=3&ca=FILE&creds=FILE", or with tls://
    const char* url;
    uint64_t identity;           ///< of the match; 0: the one in the URL
    bool creates;                ///< make the stream when it is not there
    const char* reader;          ///< what a read is called at the broker: "standby"; NULL: "reader"
    void (*wake)(void* context); ///< something may be taken; from any thread. NULL: it is polled
    void* context;
} server_nats_config;

/// Read the URL and begin to connect; that goes on until it is closed, also after refused logins.
/// @return NET_OK; NET_ERR_ADDRESS (reported: the URL is not of this form); NET_ERR_MEMORY;
///         NET_ERR_UNKNOWN (reported: this build has no NATS).
BASE_MUST_USE net_result server_nats_open(const server_nats_config* config,
                                          const base_reporter* reporter, server_nats** nats);
/// NULL does nothing.
void server_nats_close(server_nats* nats);
/// The broker; lives as long as `nats`.
net_broker server_nats_broker(server_nats* nats);
/// From here on it is a writer's alone, on the thread that `wake` wakes: nothing is read any more.
void server_nats_write(server_nats* nats, void (*wake)(void* context), void* context);
/// Of a program that follows, in each pass of its loop: report why there is no connection, once for
/// each reason, and when it is back.
void server_nats_say(server_nats* nats, const base_reporter* reporter, uint64_t now_us);
/// Its match is over and stored: the broker drops its messages `keep-min` of the URL later. Waits
/// for the broker, 2 s at most.
void server_nats_end(server_nats* nats, const base_reporter* reporter);
/// Write the URL with which others follow: without user and password.
void server_nats_url(const server_nats* nats, char* text, size_t text_bytes);
