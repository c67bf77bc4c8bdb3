// SPDX-License-Identifier: MIT
/// What the files of a match share. match_control.c is above match.c, and that above the
/// others.
#pragma once

#include "game/rewind.h"
#include "interest/interest_lists.h"

#include "net/result.h"
#include "net/match.h"

typedef struct net_sounds net_sounds; ///< sounds.c

/// Why the module ends something.
typedef struct net_match_end {
    bool is_decided;
    bool is_taken;
    char reason[NET_END_TEXT_BYTES];
} net_match_end;

/// Moments that inputs named, on a server whose module rewinds; zeros elsewhere.
typedef struct net_rewind_stats {
    uint64_t inputs; ///< that named a moment
    uint64_t ahead;  ///< newer than the present: moved to it
    uint64_t behind; ///< older than NET_REWIND_MS_MAX: moved to that
} net_rewind_stats;

/// Who a player is, for a host.
typedef struct net_player_kept {
    uint64_t player_id, record_version; ///< of its join
} net_player_kept;

/// A client that plays.
typedef struct net_player {
    uint32_t client;
    ecs_entity entity; ///< NONE: a spectator; may be destroyed
    char name[NET_PLAYER_NAME_BYTES_MAX];
    bool is_bot;           ///< as it joined; false after a restore: a save does not have it
    bool is_homeless;      ///< its server took the match over, has no place for it, and ends it
    bool has_input;        ///< `input` holds the last one
    bool has_seen;         ///< some input named the moment that the player saw
    ecs_tick seen_tick;    ///< the present when it did
    uint64_t seen;         ///< that moment, in ticks * 256
    uint32_t input_number; ///< of the newest input of its client that a tick had
    uint32_t event_number; ///< of the newest reliable event
    net_player_kept kept;
    bool is_refused; ///< `end` was decided within its player_join
    net_match_end end;
    _Alignas(8) uint8_t input[NET_INPUT_BYTES_MAX]; ///< the input event's struct
} net_player;

struct net_match {
    base_owner owner; ///< of all but the world
    net_match_config config;
    const net_game_module* game;
    ecs_world* world;
    net_schema* schema;
    void* context;          ///< the module's
    bool has_stop;          ///< its context was made: its stop is called at the end
    base_reporter reporter; ///< of faults of its save_state and load_state
    float dt;
    net_match_reader reader;
    ecs_event_type events[NET_MESSAGES_MAX]; ///< by position
    uint32_t event_bytes[NET_MESSAGES_MAX];
    bool has_long_events;                         ///< of more than NET_EVENT_STRUCT_BYTES_MAX
    uint32_t message_of[ECS_EVENT_TYPES_MAX + 1]; ///< position + 1 by event type
    uint32_t input_message;                       ///< position + 1
    uint32_t sight_message;                       ///< the same; 0: there is none
    size_t message_bytes_max;                     ///< of the largest message, unpacked
    net_player* players;                          ///< by rising client
    uint32_t player_count;
    uint32_t player_capacity;
    uint32_t client_last; ///< highest number that ever joined
    net_rewind* rewind;   ///< NULL: the module does not rewind
    net_rewind_stats rewind_stats;
    uint32_t joining;       ///< the client whose player_join runs; 0: none
    net_match_end join_end; ///< of that client
    net_player_kept joins_as;
    ecs_tick stepping;       ///< the tick that runs; 0: none
    net_match_told* told;    ///< NULL: there is no host
    net_match_end end;       ///< of the match
    bool has_other_settings; ///< an operator changed them; `first_settings` are those of the start
    double first_settings[NET_SETTINGS_MAX];
    bool is_save_asked; ///< in this tick
    char save_name[NET_SAVE_NAME_BYTES];
    net_game_services services;
    net_interest_requests requests; ///< of the module; empty on a client's world
    uint32_t asked_classes;         ///< bits that the module asked for by class_bit
    net_draw unseen;                ///< what stage act gets for a picture: it draws nothing
    net_sounds* sounds;             ///< NULL: none is heard
    /// Each call of a system that draws outside of stage render is reported there, of a match
    /// without workers; NULL: none is.
    const base_reporter* strays;
    const base_reporter* starting; ///< while the module's start runs; a fault refuses the match
    bool is_refused;
};

/// @return what draws nothing. Calls are reported to `strays`; `match` NULL: none is. The match is
///         borrowed.
net_draw net_match_draw_nothing(net_match* match);

/// Which sounds of a module's table are heard: a handler in the view's world notes the events.

/// Find the events of the module's sounds in a world before its seal. When it is drawn, note them
/// from then on. *sounds is NULL where nothing is noted; `allocator` owns it.
/// @return NET_OK; NET_ERR_MODULE (reported: an unknown event, or a sound that fades in a game
///         without positions).
BASE_MUST_USE net_result net_sounds_create(const base_allocator* allocator,
                                           const net_game_module* game, ecs_world* world,
                                           bool is_drawn, const base_reporter* reporter,
                                           net_sounds** sounds);

/// @return The player with this number, borrowed until the next join or leave; NULL when none
///          plays.
net_player* net_match_find_player(const net_match* match, uint32_t client);

/// Find the event of each message and prepare the codec. @return NET_OK; NET_ERR_MODULE (reported).
BASE_MUST_USE net_result net_match_messages_init(net_match* match, const base_reporter* reporter);
/// Pack the event of the module's `sight`. @return NET_OK; NET_ERR_FULL (longer than `bytes`);
/// NET_ERR_MALFORMED (the module refuses it).
BASE_MUST_USE net_result net_match_pack_sight(net_match* match, const net_sight* sight,
                                              uint8_t* target, size_t bytes, size_t* size);
/// Unpack a message of any kind into its event's struct. `payload` has room for that,
/// aligned to 16. @return false: malformed, or the module refuses it.
bool net_match_unpack(net_match* match, uint32_t message, const void* data, size_t size,
                      void* payload);

// Services for matches with a host, and what they leave in saves (match_host.c).
bool net_match_publish(void* match, const char* key, const char* value);
void net_match_open(void* match, bool is_open);
bool net_match_result(void* match, const void* bytes, size_t size);
bool net_match_transfer(void* match, uint32_t client, const char* to, const void* bytes,
                        size_t size);
bool net_match_keep_record(void* match, uint32_t client, const void* bytes, size_t size);
void net_match_save_told(const net_match* match, base_bytes* bytes);
/// After the players. @return false: no match writes such bytes.
BASE_MUST_USE bool net_match_restore_told(net_match* match, base_reader* bytes);
void net_match_copy_told(net_match* match, const net_match* from);

// A save has the settings when an operator changed them.
const char* net_match_find_name(void* match, uint32_t client); ///< player_name of a module
/// What a module gets when its match begins, or its settings changed.
net_game_start net_match_start(net_match* match);
#define NET_MATCH_SAVE_SETTINGS (UINT32_C(1) << 31) ///< in the save's number of players
#define NET_MATCH_SAVE_STATE (UINT32_C(1) << 30)    ///< the same: it has the module's own state
void net_match_save_settings(const net_match* match, base_bytes* bytes);
/// The settings of a save, by their positions in the game that wrote it. Any bytes.
/// @return how many; 0: those of the start hold.
uint32_t net_match_saved_settings(const void* save, size_t size, double settings[NET_SETTINGS_MAX]);
/// Read them (has_settings), or go back to those of the start, and tell the module.
/// @return false: no match of this module writes such bytes.
BASE_MUST_USE bool net_match_restore_settings(net_match* match, bool has_settings,
                                              base_reader* bytes);
