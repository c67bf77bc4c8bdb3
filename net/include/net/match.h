// SPDX-License-Identifier: MIT
/// A match: one world driven by one game module, tick by tick.
///
/// The server, the replay of a log and each world of a client use the same code, so a replay cannot
/// differ from the match because another program drives it.
///
/// Order within a tick, on a server and in a replay: leaves, joins, client events, inputs, each in
/// the order in which they arrived; then net_match_step. net/match_messages.h has events and
/// inputs.
/// Threads: one thread at a time, the one that owns the world.
#pragma once

#include "base/bytes.h"
#include "net/limits.h"
#include "net/module.h"

BASE_C_BEGIN

typedef enum net_role {
    NET_ROLE_SERVER,  ///< decides what happens: tag "server"; also the role of a replay
    NET_ROLE_MIRROR,  ///< a client's copy: tags "gameClient", and "render" with has_render
    NET_ROLE_PREDICT, ///< a client's copy ahead of the server: tag "predict"
} net_role;

/// Begin with net_match_config_default.
typedef struct net_match_config {
    const base_allocator* allocator; ///< NULL: the heap
    const net_module* module;        ///< must outlive the match
    net_role role;
    bool has_render; ///< a mirror whose world is drawn
    uint64_t seed;
    uint32_t tick_rate_hz;             ///< NET_TICK_RATE_HZ_MIN..MAX
    uint32_t replicated_index_max;     ///< 0: the default of ecs_limits
    double settings[NET_SETTINGS_MAX]; ///< in the order of the module's table
    /// For many clients in one process: a match of the same module, with the same config but for
    /// memory. This one shares its schema, which saves what the layouts take. It must outlive this
    /// one; one thread runs both, and both play on one server. NULL: a schema of its own.
    const struct net_match* like;
    base_workers* workers; ///< threads that help; NULL: the calling thread alone. Borrowed
} net_match_config;

typedef struct net_match net_match;
typedef struct net_schema net_schema; ///< net/schema.h

/// A config for a server with the default tick rate and the module's default settings.
net_match_config net_match_config_default(const net_module* module);
/// Apply "KEY=VALUE" to the settings of a config.
/// @return NET_OK; NET_ERR_UNKNOWN (the report names the nearest key: show it to the operator);
///         NET_ERR_MALFORMED (no KEY=VALUE, no number, or out of range: the report gives the
///         range).
BASE_MUST_USE net_result net_match_setting_apply(net_match_config* config, const char* key_value,
                                                 const base_reporter* reporter);

/// Create the world: types, templates, systems, seal, schema. On a server call the module's start.
/// The caller owns the match; *match is NULL after an error.
/// @return NET_OK; NET_ERR_MODULE (reported: a fault in templates, types, systems or interest
///         rules); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_match_create(const net_match_config* config,
                                          const base_reporter* reporter, net_match** match);
/// Destroy the match with its world. NULL does nothing.
void net_match_destroy(net_match* match);

/// Replace the module's templates by those of a pack (net_template_pack_read). Server only, between
/// steps. What is replicated must not change, because clients and logs got the schema when the
/// match began. A log cannot record it: do not call this while a log is written.
/// @return NET_OK; NET_ERR_MODULE (reported, nothing changed); NET_ERR_MEMORY (nothing changed).
BASE_MUST_USE net_result net_match_reload(net_match* match, const void* pack, size_t bytes,
                                          const base_reporter* reporter, ecs_reload_report* report);

/// Parts of the match. All pointers are borrowed and live as long as the match.
ecs_world* net_match_world(net_match* match);
const net_schema* net_match_schema(const net_match* match);
/// Append all that a client in another language needs of this game, as JSON (WIRE.md, "Schema as
/// JSON"). @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_match_print_schema(const net_match* match, base_bytes* json);
const net_match_config* net_match_get_config(const net_match* match);
/// What the module's register_systems returned; NULL when it returned nothing.
void* net_match_context(net_match* match);
/// The tick of the last step; 0 before the first.
ecs_tick net_match_tick(const net_match* match);
/// Length of a tick in seconds.
float net_match_dt(const net_match* match);

/// Take over the server's tick rate and settings, on a client's world, once after welcome; then
/// call the module's mirror_start. Settings beyond `setting_count` keep their defaults. The caller
/// has checked that rate and values are within their ranges.
void net_match_mirror_start(net_match* match, uint32_t tick_rate_hz, const double* settings,
                            uint32_t setting_count);

/// Add a player, on a server, between steps. Client numbers rise; a number is never used twice
/// (asserted). The name is copied; size_bytes may be 0. Without memory there is no such player
/// (net_match_lacks_memory).
void net_match_join(net_match* match, const net_game_player* player);
/// Remove a player that joined before (asserted).
void net_match_leave(net_match* match, uint32_t client);
/// @return The player's entity; ECS_ENTITY_NONE for a spectator, for a client that does not play,
///         and after the entity was destroyed.
ecs_entity net_match_player(const net_match* match, uint32_t client);
/// @return The player's name, borrowed until the next join or leave; NULL for a client that does
///          not play.
const char* net_match_player_name(const net_match* match, uint32_t client);
/// The clients that play, rising: at most `capacity` of them. @return how many play.
uint32_t net_match_players(const net_match* match, uint32_t* clients, uint32_t capacity);
/// @return The highest client number that ever joined.
uint32_t net_match_client_last(const net_match* match);

/// A player that the module dropped, or refused within player_join.
typedef struct net_match_dropped {
    uint32_t client;
    bool is_refused;
    const char* reason; ///< borrowed until the next join or leave; may be empty
} net_match_dropped;
/// Take the next one that was not taken yet: end its session. A replay takes none.
/// @return false: there is none.
bool net_match_take_dropped(net_match* match, net_match_dropped* dropped);
/// @return The reason for which the module ended the match, borrowed, may be empty; NULL: it goes
///         on.
const char* net_match_end_reason(const net_match* match);

/// Did the module ask to keep the last seconds (net_game_services.save_log) since the last call?
/// @return true: `name` is what it calls them; may be empty.
bool net_match_take_save(net_match* match, char name[NET_SAVE_NAME_BYTES]);

/// Run the next tick: the last one + 1. The change list of the world describes this tick until the
/// caller clears it (ecs_changes_clear).
void net_match_step(net_match* match);
/// Let other threads help from now on, between steps; NULL: none. As `workers` of the config.
void net_match_set_workers(net_match* match, base_workers* workers);
/// Did memory run out while the match changed? Then a player, an entity or an event is missing, and
/// a replay would have it: end the match. It stays so; a match that is restored after it is as it
/// was saved, and lacks nothing.
bool net_match_lacks_memory(const net_match* match);
/// Run one tick with a given number, on a client's world, whose ticks are the server's.
void net_match_step_at(net_match* match, ecs_tick tick);

/// Append a save of the match: world, players, the past that lag compensation needs. For this
/// process only: the bytes are not portable. Between steps. The change list is not saved.
/// @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_match_save(const net_match* match, base_bytes* bytes);
/// Restore a save of this match, or of a match with the same config and module. The same calls then
/// give the same future, bit for bit. What a module keeps outside of the world does not change.
/// Clears the change list.
/// @return NET_OK; NET_ERR_MALFORMED; NET_ERR_MEMORY. After an error the content is undefined:
///         restore another save or destroy the match.
BASE_MUST_USE net_result net_match_restore(net_match* match, const void* data, size_t size);

BASE_C_END
