// SPDX-License-Identifier: MIT
/// What a match asks its host for, and the answers: records of players, transfers, its result. Both
/// ways a datagram is one object of JSON; numbers of 64 bits are texts, BASE64 is the usual one
/// with padding. Datagrams may be lost: what has no answer is asked again each
/// SERVER_CHANNEL_AGAIN_MS.
///
///     {"match":ID,"ask":"SEQ","player":"N"}
///         {"ask":"SEQ","version":"V","record":BASE64,"bytes":BASE64}, or "error" for what is kept:
///         then it is asked again, as a keep is, but for "is_final":true: the host keeps none of it
///     {"match":ID,"keep":"SEQ","player":"N","version":"V","record":BASE64}
///         {"keep":"SEQ","version":"V"}, or {"keep":"SEQ","error":"conflict" or a text}
///     {"match":ID,"transfer":"SEQ","player":"N","to":GAME or ID,"bytes":BASE64}
///         {"transfer":"SEQ","address":"A:P","token":TOKEN,"page":URL or ""}, or "error"
///     {"match":ID,"result":BASE64,"tick":"T"}
///         {"result":"T"}
///
/// "version" is that of the record that is kept, 0: none; a keep says which one it replaces. Pure:
/// time is an argument, and datagrams leave by a function.
#pragma once

#include "net/match.h"

#define SERVER_CHANNEL_BYTES_MAX (1u << 13) ///< of an answer
#define SERVER_CHANNEL_AGAIN_MS 500u
#define SERVER_CHANNEL_LATER_MS 2000u ///< after an error that may pass
#define SERVER_CHANNEL_UNLOGGED_S 10u ///< a record waits so long for a log that takes nothing
/// An answer is kept for a join that waits behind others, or does not come.
#define SERVER_CHANNEL_UNASKED_MS 30000u

typedef struct server_channel server_channel;

typedef struct server_channel_config {
    const char* match; ///< its id; borrowed, as the reporter
    const base_reporter* reporter;
    uint64_t now_us; ///< SEQ begins there, so that no answer to a process before is ours
    void* context;
    void (*send)(void* context, const void* text, size_t size);
    /// The host has a seat for the player of a client. Texts are borrowed.
    void (*move)(void* context, uint32_t client, const char* address, const char* token,
                 const char* page);
} server_channel_config;

typedef struct server_channel_counters {
    uint64_t known, unknown; ///< records at joins
    uint64_t kept, conflicts, moved, refused;
    uint64_t malformed; ///< answers
} server_channel_counters;

/// The caller owns the channel; NULL to destroy does nothing.
server_channel* server_channel_create(const server_channel_config* config);
void server_channel_destroy(server_channel* self);
/// As net_server_config.admit.
bool server_channel_admit(server_channel* self, uint64_t now_us, net_game_player* player);
/// What the game asked for since the last call, up to `tick`, its newest. Of the first call records
/// alone: the process before may have sent them or not, and who was to be moved is asked again.
void server_channel_look(server_channel* self, const net_match_told* told, ecs_tick tick,
                         uint64_t now_us);
/// Send what is due. `has_log`: the log has all ticks.
void server_channel_pass(server_channel* self, bool has_log, uint64_t now_us);
/// A datagram of the host came; any bytes.
void server_channel_receive(server_channel* self, const void* text, size_t size, uint64_t now_us);
/// Does it wait for an answer to something that counts after the match?
bool server_channel_waits(const server_channel* self);
server_channel_counters server_channel_count(const server_channel* self);
