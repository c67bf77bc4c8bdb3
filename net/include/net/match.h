// SPDX-License-Identifier: MIT
/// A match: one world driven by one module, tick by tick. The server, the log's verification and each
/// client's mirror use the same code here, so that a re-run cannot differ by its driver.
///
/// Order within a tick (server and replay): leaves, joins, client events, inputs - each in the order
/// in which they were given - then net_match_step.
/// Threads: one thread at a time.
#pragma once

#include "base/bytes.h"
#include "net/limits.h"
#include "net/module.h"

typedef enum net_role {
    NET_ROLE_SERVER,  ///< owns the truth: tags "server"
    NET_ROLE_MIRROR,  ///< a client's copy: tags "gameClient", and "render" with has_render
    NET_ROLE_PREDICT, ///< a client's copy ahead of the server: tag "predict"
} net_role;

typedef struct net_match_config {
    const base_allocator* allocator;
    const net_module* module; ///< must outlive the match
    net_role role;
    bool has_render;
    uint64_t seed;
    uint32_t tick_rate_hz;         ///< NET_TICK_RATE_HZ_MIN..MAX
    uint32_t replicated_index_max; ///< 0: the default of ecs_limits
    double settings
        [NET_SETTINGS_MAX]; ///< from net_match_settings_*; in the order of the module's table
} net_match_config;

typedef struct net_match net_match;
typedef struct net_schema net_schema; ///< net/schema.h

/// A config with every default of the module filled in.
net_match_config net_match_config_default(const net_module* module);
/// Apply "KEY=VALUE". @return NET_OK; NET_ERR_UNKNOWN (report names the nearest key);
///         NET_ERR_MALFORMED (no number, out of range: the report says the range).
BASE_MUST_USE net_result net_match_setting_apply(net_match_config* config, const char* key_value,
                                                 const base_reporter* reporter);

/// Make the world: types, templates, systems, seal, schema; and for a server the module's start.
/// @return NET_OK; NET_ERR_MODULE (reported: template text, types, systems); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_match_create(const net_match_config* config,
                                          const base_reporter* reporter, net_match** match);
void net_match_destroy(net_match* match);

/// Take the templates of a pack (net_template_pack_read) in place of the module's, between steps, on a
/// server: ecs_template_reload with everything replicated locked, since the schema is told to clients and
/// logs when the match begins. A log has no place for it: whoever writes one must not call this.
/// @return NET_OK; NET_ERR_MODULE (reported, nothing changed); NET_ERR_MEMORY (nothing changed).
BASE_MUST_USE net_result net_match_reload(net_match* match, const void* pack, size_t bytes,
                                          const base_reporter* reporter, ecs_reload_report* report);

ecs_world* net_match_world(net_match* match);
const net_schema* net_match_schema(const net_match* match);
const net_match_config* net_match_get_config(const net_match* match);
void* net_match_context(net_match* match);
ecs_tick net_match_tick(const net_match* match); ///< of the last step; 0 before the first
float net_match_dt(const net_match* match);
/// On a mirror: the server's rate, known after welcome.
void net_match_set_tick_rate(net_match* match, uint32_t tick_rate_hz);
/// On a mirror, view or prediction: rate and settings of the server; tells the module (mirror_start).
/// Settings that the server did not name keep their defaults. Whoever takes them from the wire has checked
/// that they are numbers within the module's range.
void net_match_mirror_start(net_match* match, uint32_t tick_rate_hz, const double* settings,
                            uint32_t setting_count);

/// A player comes or goes. Client numbers rise; the same number never comes twice (asserted).
void net_match_join(net_match* match, uint32_t client, const char* name, bool is_bot);
void net_match_leave(net_match* match, uint32_t client);
/// ECS_ENTITY_NONE when there is none.
ecs_entity net_match_player(const net_match* match, uint32_t client);
/// Of a player who joined and did not leave; NULL when there is none. Borrowed until the next join or leave.
const char* net_match_player_name(const net_match* match, uint32_t client);

/// What the module asked about a client's scope (net_game_services): all that holds now.
typedef struct net_match_interest_request {
    uint32_t client;
    bool has_viewpoint; ///< else the client looks from where its player is
    bool
        is_refreshed; ///< judge it anew with this tick; in what net_match_interest_requests gives only
    float position[3]; ///< the viewpoint
    float radius;      ///< 0: as the rules say
    uint64_t groups;
} net_match_interest_request;
/// The clients about whom something was asked since the last call, rising by number. Each is said to the
/// scopes as a whole (net_interest_set_groups, _set_viewpoint or _clear_viewpoint, _refresh). Borrowed until the next
/// call, join or leave. Always none on a mirror, or without `interest`.
const net_match_interest_request* net_match_interest_requests(net_match* match, uint32_t* count);
/// What holds for one client, for who comes to know it only now; NULL when nothing was ever asked.
const net_match_interest_request* net_match_interest_request_find(const net_match* match,
                                                                  uint32_t client);

/// Check a packed input or event without touching the world.
/// @return NET_OK; NET_ERR_MALFORMED (too long, not decodable, refused by the module, wrong direction,
///         bad target).
BASE_MUST_USE net_result net_match_input_check(net_match* match, const void* payload, size_t size);
BASE_MUST_USE net_result net_match_event_check(net_match* match, uint32_t message,
                                               const void* payload, size_t size);
/// Post an input (checked before) as the module's input event on the client's player entity.
/// `payload` NULL repeats the client's last input. Without a player entity it is dropped.
void net_match_input(net_match* match, uint32_t client, const void* payload, size_t size);
/// The same with what the player saw when it made the input, in ticks * 256 (InputPacket.view); 0: unsaid,
/// the last one counts on. Any value is taken: out of reach it is moved to the nearest moment and counted.
/// Without a payload it is not looked at.
void net_match_input_seen(net_match* match, uint32_t client, const void* payload, size_t size,
                          uint64_t view);
/// Of a server's match whose module rewinds: views that inputs brought, and those out of reach.
typedef struct net_rewind_stats {
    uint64_t said;
    uint64_t ahead;  ///< of the present: moved to it
    uint64_t behind; ///< more than NET_REWIND_MS_MAX: moved to that
} net_rewind_stats;
net_rewind_stats net_match_get_rewind_stats(const net_match* match);
/// On a prediction: post an input that this client made, as net_match_input does on the server. A payload
/// that the module refuses is dropped.
void net_match_predict_input(net_match* match, ecs_entity player, const void* payload, size_t size);
/// Post a client's game event (message as on the wire: position + 1) on its player entity.
void net_match_client_event(net_match* match, uint32_t client, uint32_t message,
                            const void* payload, size_t size);
/// On a mirror: post a server's game event. Payload from the wire, checked here.
BASE_MUST_USE net_result net_match_server_event(net_match* match, uint32_t message,
                                                ecs_entity target, const void* payload,
                                                size_t size);

/// Replicated entities that an event's payload struct names in entity fields, each once, in their order.
/// `entities` has room for ECS_EVENT_BYTES_MAX / sizeof(ecs_entity). @return how many.
uint32_t net_match_entities_of(const net_match* match, uint32_t message, const void* payload,
                               ecs_entity* entities);
/// The same of a packed one; 0 when it is malformed.
uint32_t net_match_entities_of_packed(net_match* match, uint32_t message, const void* data,
                                      size_t size, ecs_entity* entities);
/// Pack an ECS event payload struct as message `message` (position + 1). A message of nothing but defaults
/// takes no bytes: hand such an input on with size 0 and a payload that is not NULL.
/// @return NET_OK; NET_ERR_FULL (longer than `capacity`: *size is 0, the module asks too much of it).
BASE_MUST_USE net_result net_match_pack(net_match* match, uint32_t message, const void* payload,
                                        uint8_t* target, size_t capacity, size_t* size);
/// Position + 1 of the message that an exported ECS event type belongs to, among those that this side
/// sends (a server's to clients, a mirror's to the server); 0 when none.
uint32_t net_match_message_of(const net_match* match, ecs_event_type type);
/// Position + 1 of the module's input message.
uint32_t net_match_input_message(const net_match* match);
/// Size of the input event's payload struct.
uint32_t net_match_input_bytes(const net_match* match);

/// Run one tick (tick = last + 1).
void net_match_step(net_match* match);
/// On a mirror: run one tick with the server's number.
void net_match_step_at(net_match* match, ecs_tick tick);

/// Append what the match is now: its world and what it keeps of players. For the same process only: the
/// bytes are neither portable nor checked against strangers. Between steps, outside of stages; the change
/// list is no part of it. @return NET_OK; NET_ERR_MEMORY.
BASE_MUST_USE net_result net_match_save(const net_match* match, base_bytes* bytes);
/// Make a match what it was when it (or one of the same config and module) was saved: the same future
/// under the same calls, bit for bit. What a module keeps outside of the world stays as it is. The change
/// list is cleared. @return NET_OK; NET_ERR_MALFORMED; NET_ERR_MEMORY (either: what is in it is undefined;
/// destroy it or restore it again).
BASE_MUST_USE net_result net_match_restore(net_match* match, const void* data, size_t size);
