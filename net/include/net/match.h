// SPDX-License-Identifier: MIT
/// Game modules and the matches that run them: calls, messages, the schema that both sides must
/// share, and the digest that proves two worlds equal.
#pragma once

#include "base/bytes.h"
#include "base/report.h"
#include "base/workers.h"
#include "ecs/ecs.h"
#include "net/game.h"
#include "net/limits.h"
#include "net/result.h"
#include "proto/codec.h"

BASE_C_BEGIN

// ---- modules ----

/// Finding, opening and checking game modules: by name in a search path, or by file.
///
/// Threads: any, one call at a time per module. An opened module is constant and may be shared.

#define NET_GAME_NAME_BYTES_MAX 33u

/// An opened module with its templates. All pointers live until net_module_close.
typedef struct net_module {
    const net_game_module* game; ///< checked copy, arrays too: missing fields are zero
    const char* templates_file;  ///< for messages
    const void* pack;            ///< NAME.blk, all its imports and its files: ecs/template_files.h
    size_t pack_bytes;
    uint64_t content_hash;    ///< of the .so, of what it needs, and of the pack
    void* library;            ///< dlopen handle; NULL for a linked-in module
    base_workers* workers;    ///< for matches of this module (net_match_config_default); NULL: none
    const char* asset_folder; ///< of its pictures and sounds; it need not be there: net_asset_read
    const net_game_file* files; ///< of the pack
    uint32_t file_count;
    const char* needed; ///< libraries of the system that the .so needs: "libx.so.7, liby.so.1"; ""
    const net_label* labels; ///< of the game's actions
} net_module;

/// Open a module by NAME or by file, and check its table. NAME is [a-z0-9_]{1,32}; NAME.so is
/// looked up in each folder of `search_path`, separated by colons (net_module_default_path). A name
/// with a slash or with ".so" at its end is a file. NAME.blk must lie beside the library; what it
/// imports must lie below the same folder. What all users may
/// write is not run: neither the library nor the folder with it may be so. The caller closes the
/// module; *module is NULL after an error.
/// @return NET_OK; NET_ERR_UNKNOWN (reported, with the nearest name in the path); NET_ERR_MODULE
///         (reported: open to all users, not a module, another contract or core, a missing
///         function, no .blk); NET_ERR_MEMORY (reported: the system maps no more code).
BASE_MUST_USE net_result net_module_open(const char* name_or_file, const char* search_path,
                                         const base_reporter* reporter, net_module** module);
/// Open the files of a module again, beside it: a new library, or the same one with new templates.
/// The new module borrows the old one's workers. The caller closes both; *next is NULL after an
/// error, and when both files are as they were. `module` has a library (asserted).
/// @return NET_OK; NET_ERR_MODULE (reported, as net_module_open).
BASE_MUST_USE net_result net_module_reopen(const net_module* module, const base_reporter* reporter,
                                           net_module** next);
/// The same library with other templates: a pack, which may be foreign. The caller closes it before
/// `module`. @return NET_OK; NET_ERR_MODULE (reported).
BASE_MUST_USE net_result net_module_reopen_pack(const net_module* module, const void* pack,
                                                size_t bytes, const base_reporter* reporter,
                                                net_module** next);
/// Is it [a-z0-9_]{1,32}? Check a name from outside of the program before it is looked up.
bool net_module_name_is_valid(const char* name);
/// Write the module path of a program: SHOAL_MODULE_PATH, then ../lib/shoal/games beside the folder
/// of the executable (the same place in a build folder and after an installation), separated by
/// colons. NUL-terminated and cut to `path_bytes`.
void net_module_default_path(char* path, size_t path_bytes);
/// Open a table that is linked into the program, with the text of its templates and no files. For
/// tests and tools.
/// @return NET_OK; NET_ERR_MODULE (reported).
BASE_MUST_USE net_result net_module_wrap(const net_game_module* game, const char* templates,
                                         const char* templates_file, const base_reporter* reporter,
                                         net_module** module);
/// Close a module after everything that uses it was destroyed. NULL does nothing.
void net_module_close(net_module* module);

/// A game's pictures and sounds lie in the folder NAME beside NAME.blk; the build copies them there
/// from `assets/` beside the game's sources. The match never reads them: they are in no hash and in
/// no log.
/// @return Is it the name of such a file: 1 to NET_ASSET_NAME_BYTES - 1 of A-Z a-z 0-9 . _ - and /,
///         where no part of the path is empty or begins with a dot?
bool net_asset_name_is_valid(const char* name);
/// Append a whole file to `bytes`, at most NET_ASSET_BYTES_MAX. What it holds is untrusted. A link
/// that leads out of the folder is refused. Each fault is reported, with what to do.
/// @return NET_OK; NET_ERR_MALFORMED (the name is none); NET_ERR_IO (missing, outside, too large,
///         not readable).
BASE_MUST_USE net_result net_asset_read(const char* folder, const char* name,
                                        const base_reporter* reporter, base_bytes* bytes);
/// The same for a picture of net_sprite, with its size. It says that it is a PNG file with sides of
/// at most NET_IMAGE_SIDE_MAX and at most NET_IMAGE_PIXELS_MAX pixels; what follows may be damaged.
/// @return NET_OK; NET_ERR_MALFORMED (no name, or no PNG file); NET_ERR_FULL (a larger picture);
///         NET_ERR_IO (missing, outside, too large, not readable). All but the last
///         are reported.
BASE_MUST_USE net_result net_image_read(const char* folder, const char* name,
                                        const base_reporter* reporter, base_bytes* bytes,
                                        uint32_t* width, uint32_t* height);

/// @return Do the bytes begin as a file of sound: WAVE, or Ogg?
bool net_asset_is_sound(const void* bytes, size_t size);

/// Append NAME.blk and all that it imports from below its folder ("%game/" names that folder) to a
/// pack. A link that leads out of the folder is refused.
/// @return NET_OK; NET_ERR_MODULE (reported).
BASE_MUST_USE net_result net_template_pack_read(const char* file, const base_reporter* reporter,
                                                base_bytes* pack);
/// A reporter that puts the folder of `templates_file` before the file names of a pack's texts.
typedef struct net_template_reporter {
    const base_reporter* next;
    const char* templates_file;
} net_template_reporter;
/// Make the reporter. `self` and what it points to must outlive it.
base_reporter net_template_reporter_make(net_template_reporter* self);

/// Check a module file, which is untrusted, before any of its code runs: no writable globals (.data
/// and .bss beyond the loader's own), no imports of libm, rand or time; then its table. Reports
/// each fault. What a library in it has (shoal_game(... LIBRARY name)) is a note and no fault.
/// @return NET_OK; NET_ERR_MODULE (reported); NET_ERR_IO (reported).
BASE_MUST_USE net_result net_module_check(const char* file, const base_reporter* reporter);

// ---- the schema ----

/// The replicated part of a world as both sides must agree on it, and its hash.
///
/// Covers, sorted by name: replicated templates with their resolved default rows (quantised),
/// components in name order with fields, kinds, counts and quantisation, singleton flags, and
/// message descriptors (names, field ids, types) in table order. Anything else may differ between
/// two builds.

typedef struct net_schema net_schema;

typedef struct net_schema_item {
    char name[ECS_NAME_BYTES_MAX +
              16]; ///< "template brick", "component pos", "message Hit", "file a"
    uint64_t hash;
} net_schema_item;

/// Make the schema of a sealed world and the messages of its module, which may be none. `allocator`
/// NULL: the heap. The world is only read. @return NET_OK; NET_ERR_SCHEMA (reported: a component or
/// message cannot be sent: mend the module). The caller owns it (base_owner_destroy).
BASE_MUST_USE net_result net_schema_create(const base_allocator* allocator, ecs_world* world,
                                           const net_message* messages, uint32_t message_count,
                                           const base_reporter* reporter, net_schema** schema);
/// Add an item of each file of a game, once.
void net_schema_add_files(net_schema* schema, const net_game_file* files, uint32_t count);
/// Equal on both sides when all items are equal.
uint64_t net_schema_hash(const net_schema* schema);
/// Has a component a visibility class, so that some clients do not see it?
bool net_schema_hides(const net_schema* schema);
/// Items sorted by name, as SchemaAnswer carries them. Borrowed from the schema.
const net_schema_item* net_schema_items(const net_schema* schema, uint32_t* count);
/// Write the first item that differs as one sentence (`"template brick" differs`, `"component hp"
/// is missing on the client`), NUL-terminated and cut to `text_bytes`. The client's items are
/// untrusted. @return false when none differs.
bool net_schema_difference(const net_schema* server, const net_schema_item* client_items,
                           uint32_t client_item_count, char* text, size_t text_bytes);

// ---- matches ----

/// A match: one world driven by one game module, tick by tick.
///
/// The server, the replay of a log and each world of a client use the same code, so a replay cannot
/// differ from the match because another program drives it.
///
/// Order within a tick, on a server and in a replay: leaves, joins, client events, inputs, each in
/// the order in which they arrived; then net_match_step.
/// Threads: one thread at a time, the one that owns the world.

typedef enum net_role {
    NET_ROLE_SERVER,  ///< decides what happens: tag "server"; also the role of a replay
    NET_ROLE_MIRROR,  ///< a client's copy: tags "gameClient", and "render" with has_render
    NET_ROLE_PREDICT, ///< a client's copy ahead of the server: tag "predict"
} net_role;

/// Where a client's world finds the names of players; find NULL: nowhere.
typedef struct net_match_names {
    const char* (*find)(const void* context, uint32_t client);
    const void* context;
} net_match_names;

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
    bool is_hosted;        ///< of a server: a host is there (net_match_get_told); its log says so
    /// For net_game_start; NULL: no one asks.
    void (*line)(void* context, const char* file, uint32_t line, bool has_run);
    void* line_context;
    net_match_names names; ///< of a client's world (net_match_mirror_start)
} net_match_config;

typedef struct net_match net_match;

/// A config for a server with the default tick rate and the module's default settings.
net_match_config net_match_config_default(const net_module* module);
/// Apply "KEY=VALUE" to the settings of a config.
/// @return NET_OK; NET_ERR_UNKNOWN (the report names the nearest key: show it to the operator);
///         NET_ERR_MALFORMED (no KEY=VALUE, no number, or out of range: the report gives the
///         range).
BASE_MUST_USE net_result net_match_setting_apply(net_match_config* config, const char* key_value,
                                                 const base_reporter* reporter);

/// Create the world: types, templates, systems, seal, schema. On a server call the module's start.
/// The caller owns the match; *match is NULL after an error. What the reporter points to outlives
/// the match: faults of the module's save_state and load_state are reported there, too.
/// @return NET_OK; NET_ERR_MODULE (reported: a fault in templates, types, systems or interest
///         rules).
BASE_MUST_USE net_result net_match_create(const net_match_config* config,
                                          const base_reporter* reporter, net_match** match);
/// Destroy the match with its world, after the module's stop. NULL does nothing.
void net_match_destroy(net_match* match);

/// Make a match of another version of the game that goes on where `from` is: its config with
/// the settings that `module` has too, its tick, what lives in it (ecs_world_take_over), players
/// and what was requested for them, and what save_state of the old module and load_state of the new
/// one carry over. The newest inputs, the past of lag compensation and what the module keeps beside
/// that start again. Server only, between steps. `from` is only read, so that
/// it can go on after an error; destroy it otherwise.
/// @return NET_OK; the errors of net_match_create; NET_ERR_MODULE also when the world cannot be
///         taken over, or a module refuses to save or to load (reported).
BASE_MUST_USE net_result net_match_create_from(const net_match* from, const net_module* module,
                                               const base_reporter* reporter, net_match** match);

/// Parts of the match. All pointers are borrowed and live as long as the match.
ecs_world* net_match_world(net_match* match);
const net_schema* net_match_schema(const net_match* match);
/// Append all that a client in another language needs of this game, as JSON (WIRE.md, "Schema as
/// JSON").
void net_match_print_schema(const net_match* match, base_bytes* json);
const net_match_config* net_match_get_config(const net_match* match);
/// A sound of the module's table (net_sound) that an event called.
typedef struct net_heard {
    uint32_t sound; ///< its row
    float volume;   ///< more than 0, up to 1: the row's, less what the distance takes
} net_heard;
/// Take the sounds of the events that a drawn world delivered since the last call, in their order,
/// NET_HEARD_MAX at most: the rest of a burst is dropped. Distances are from `listener`, the own
/// entity; without it from where it was last, and before there was one nothing fades.
/// @return their number. They are borrowed until the next call.
uint32_t net_match_hear(net_match* match, ecs_entity listener, const net_heard** heard);
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
                            uint32_t setting_count, net_match_names names);
/// The world became a copy of another one: tell the module (net_game_module.restored).
void net_match_restored(net_match* match);

/// Add a player, on a server, between steps. Client numbers rise; a number is never used twice
/// (asserted). The name is copied; size_bytes may be 0.
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

/// What the game of a match with a host says to it (net_game_services). It is in saves.
typedef struct net_match_value {
    char key[NET_VALUE_KEY_BYTES], value[NET_VALUE_BYTES];
} net_match_value;
/// What the host is to do for a player.
typedef struct net_match_effect {
    uint64_t player_id;
    uint64_t record_version; ///< of its join
    ecs_tick tick;           ///< in which the game asked for it
    uint32_t client;
    uint32_t size;
    uint8_t is_transfer; ///< 0: a record is to be kept
    char to[NET_TRANSFER_TO_BYTES];
    // What is above is saved as it is: it has no gaps.
    uint8_t bytes[NET_RECORD_BYTES_MAX];
} net_match_effect;
typedef struct net_match_told {
    net_match_value values[NET_VALUES_MAX];
    uint32_t value_count;
    bool is_closed;       ///< no new players
    ecs_tick result_tick; ///< 0: there is no result
    uint32_t result_bytes;
    uint8_t result[NET_RESULT_BYTES_MAX];
    net_match_effect* effects; ///< at most one of a kind for each player; the oldest are forgotten
    uint32_t effect_count, effect_capacity;
} net_match_told;
/// @return all of it, borrowed, between steps; NULL: the match has no host.
const net_match_told* net_match_get_told(const net_match* match);

/// What an operator does to a match that runs. It is in the log before its tick; server
/// and re-run do it by this one call, before the tick's leaves. Arguments are texts:
///     set KEY=VALUE             a setting (net_game_module.settings_changed)
///     put INDEX:GENERATION PATH VALUE  a value of an entity (ecs_put)
///     say TEXT                  to the players (net_game_module.operator_said)
///     mark NAME                 nothing: a place on the timeline (NET_PLAYBACK_NAMED)
/// Any bytes: they may come from a log. `verb` is any text.
#define NET_MARK_BYTES 32u             ///< of a mark's name, with the NUL
#define NET_CONTROL_VERB_BYTES_MAX 32u ///< of a control, with its NUL
#define NET_CONTROL_ARGUMENTS_MAX 16u
typedef struct net_match_argument {
    const void* data;
    size_t size;
} net_match_argument;
/// Do it, on a server, between steps; with is_trial only check that it can be done.
/// @return NET_OK; NET_ERR_UNKNOWN (there is no such verb); NET_ERR_MALFORMED (it cannot be done:
///         reported, nothing changed).
BASE_MUST_USE net_result net_match_control(net_match* match, const char* verb,
                                           const net_match_argument* arguments, uint32_t count,
                                           bool is_trial, const base_reporter* reporter);

/// Run the next tick: the last one + 1. The change list of the world describes this tick until the
/// caller clears it (ecs_changes_clear).
void net_match_step(net_match* match);
/// Let other threads help from now on, between steps; NULL: none. As `workers` of the config.
void net_match_set_workers(net_match* match, base_workers* workers);
/// Run one tick with a given number, on a client's world, whose ticks are the server's.
void net_match_step_at(net_match* match, ecs_tick tick);

/// Append a save of the match: world, players, the past that lag compensation needs, the module's
/// own state. For this process only: the bytes are not portable. Between steps. The change list is
/// not saved.
/// @return NET_OK; NET_ERR_MODULE (reported: save_state failed, or wrote too much).
BASE_MUST_USE net_result net_match_save(const net_match* match, base_bytes* bytes);
/// Restore a save of this match, or of a match with the same config and module. The same calls then
/// give the same future, bit for bit. What a module keeps outside of the world and of the save does
/// not change, but its `restored` is called. Clears the change list.
/// @return NET_OK; NET_ERR_MALFORMED; NET_ERR_MODULE (reported: load_state refused its part).
///         After an error the content is undefined: restore another save or destroy
///         the match.
BASE_MUST_USE net_result net_match_restore(net_match* match, const void* data, size_t size);

// ---- players, inputs and events ----

/// Messages of a match: check, pack and post the inputs and game events of the module.
///
/// A message has a number: its position in the module's table + 1. On the wire and in logs it is a
/// packed protobuf message, in the world an ECS event with a plain struct. The check functions take
/// untrusted bytes. The functions that post a client's message assert that it was checked before.
///
/// Threads: the thread that owns the world, between steps. Only net_match_input_take and
/// net_match_event_take may run on several threads at once, each with a reader of its own: the
/// module's from_wire and to_wire depend on their arguments alone.

/// Check a packed input or client event. The world does not change.
/// @return NET_OK; NET_ERR_MALFORMED (too long, not decodable, refused by the module, not of this
///         kind): drop it and count it against its sender.
BASE_MUST_USE net_result net_match_input_check(net_match* match, const void* payload, size_t size);
BASE_MUST_USE net_result net_match_event_check(net_match* match, uint32_t message,
                                               const void* payload, size_t size);

/// Scratch of a thread that reads messages of clients.
typedef struct net_match_reader {
    proto_codec codec;
    ProtobufCMessage* scratch; ///< room for the largest message
    size_t scratch_bytes;
    /// "Chat: text is no UTF-8...": the newest message that was refused with a reason; "": none.
    char refusal[NET_END_TEXT_BYTES];
} net_match_reader;
void net_match_reader_init(const net_match* match, const base_allocator* allocator,
                           net_match_reader* reader);
/// Not needed where an owner has the memory. A zeroed one is fine.
void net_match_reader_deinit(net_match_reader* reader);

/// The same check; then write the message in its canonical form: the fields that the module reads,
/// as it clamps them, and nothing else. What a client adds (unknown fields, repeated ones, longer
/// encodings) reaches neither the match nor the log. Our own clients send the canonical form.
/// @return NET_OK; NET_ERR_MALFORMED, also when the canonical form is too long, or the module
///         refuses it.
BASE_MUST_USE net_result net_match_input_take(const net_match* match, net_match_reader* reader,
                                              const void* payload, size_t size,
                                              uint8_t target[NET_INPUT_BYTES_MAX],
                                              size_t* target_size);
BASE_MUST_USE net_result net_match_event_take(const net_match* match, net_match_reader* reader,
                                              uint32_t message, const void* payload, size_t size,
                                              uint8_t target[NET_EVENT_PAYLOAD_BYTES_MAX],
                                              size_t* target_size);

/// Post an input on the client's player entity. `payload` NULL repeats the client's last input.
/// Without a player entity the input is kept for later repeats and not posted.
/// `seen` is the moment that the player saw when it made the input, in ticks * 256
/// (InputPacket.view). 0: not known, the last one stays in force. Any value is valid: one out of
/// reach is moved to the nearest moment within reach and counted. Ignored without a payload.
void net_match_input(net_match* match, uint32_t client, const void* payload, size_t size,
                     uint64_t seen);
/// Post a client's game event on its player entity. Without a player entity it is dropped.
void net_match_client_event(net_match* match, uint32_t client, uint32_t message,
                            const void* payload, size_t size);

// ---- what enters a tick ----

typedef struct net_tick_leave {
    uint32_t client;
    uint32_t reason; ///< a net_end (net/result.h)
} net_tick_leave;
typedef struct net_tick_input {
    uint32_t client;
    uint32_t number;     ///< the client's count of its inputs
    const void* payload; ///< packed; NULL: the last one is repeated
    uint32_t size;
    uint64_t seen; ///< as for net_match_input; written only when the module rewinds
} net_tick_input;
typedef struct net_tick_event {
    uint32_t client;
    uint32_t message; ///< position in the module's table + 1
    ecs_entity target;
    const void* payload; ///< packed
    uint32_t size;
    uint32_t number; ///< the client's count of its reliable events; 0: an unreliable one
} net_tick_event;

/// What enters a tick, in the order in which it is applied: leaves, joins, events, inputs.
/// Borrowed for the call.
typedef struct net_tick_inputs {
    ecs_tick tick; ///< the last one + 1
    const net_tick_leave* leaves;
    uint32_t leave_count;
    const net_game_player* joins;
    uint32_t join_count;
    const net_tick_event* events;
    uint32_t event_count;
    const net_tick_input* inputs;
    uint32_t input_count;
} net_tick_inputs;

/// Apply what enters the next tick. All of it was checked: clients that leave play, numbers of
/// those that join rise, net_match_input_check and net_match_event_check accept the payloads.
void net_match_apply(net_match* match, const net_tick_inputs* inputs);

/// Why no tick runs.
typedef enum net_idle {
    NET_IDLE_WAITING = 1, ///< for players
    NET_IDLE_PAUSED,
    NET_IDLE_SETTLING, ///< the last tick is over; clients get the rest
    NET_IDLE_HANDOVER, ///< a standby shall take the match over, at once
    NET_IDLE_EMPTY,    ///< paused until a player comes: the next word may be NET_IDLE_ALIVE_MS away
} net_idle;
/// So often while no tick runs: silence without a close means that the server is dead.
#define NET_IDLE_MS 100u
/// An empty match says at once that it is empty, and again so often, at most a rest of its loop
/// later.
#define NET_IDLE_ALIVE_MS 5000u
/// A rest of its loop, where a host or a stream's readers watch it.
#define NET_IDLE_EMPTY_MS 1000u

/// Who records a match: a log, a stream, a test. A server calls it on the thread of its ticks. Any
/// member may be NULL.
struct net_history;
typedef struct net_observer {
    void* context;
    void (*begin)(void* context,
                  const net_tick_inputs* inputs); ///< before the step, which may crash
    /// After the step, before ecs_changes_clear. The rows are borrowed until the next begin or
    /// exchange, or until what observes is closed, before the server.
    void (*rows)(void* context, net_match* match, const struct net_history* history);
    /// An operator does this to the match after the call, unless it returns another result than
    /// NET_OK.
    net_result (*control)(void* context, const char* verb, const net_match_argument* arguments,
                          uint32_t count);
    void (*idle)(void* context, net_idle why); ///< each NET_IDLE_MS, or NET_IDLE_ALIVE_MS
    /// The game keeps the last seconds (net_match_take_save).
    void (*save)(void* context, const char* name);
    bool (*may_exchange)(const void* context); ///< now, after a tick
    /// Another match goes on at the same tick. The one before is not read any more.
    void (*exchange)(void* context, net_match* match);
} net_observer;

/// The newest numbers of a client's inputs and reliable events in the ticks that this match has
/// run; 0: none, or it began later at a keyframe of a log, or there is no such player.
void net_match_get_numbers(const net_match* match, uint32_t client, uint32_t* input,
                           uint32_t* event);

/// Post an input that this client made, on its prediction world. An input that the module refuses
/// is dropped, as the server drops it.
void net_match_predict_input(net_match* match, ecs_entity player, const void* payload, size_t size);
/// Post a server's game event on a client's world. `target` NONE: for all entities. The bytes are
/// untrusted.
/// @return NET_OK; NET_ERR_MALFORMED (not a message of a server, bad target, refused by the
///         module); NET_ERR_FULL (the world's event queue is full: the event is lost).
BASE_MUST_USE net_result net_match_server_event(net_match* match, uint32_t message,
                                                ecs_entity target, const void* payload,
                                                size_t size);

/// Find the replicated entities that an event's struct names in entity fields: each once, in the
/// order of the fields. `entities` has room for ECS_EVENT_BYTES_MAX / sizeof(ecs_entity). @return
/// their count.
uint32_t net_match_entities_of(const net_match* match, uint32_t message, const void* payload,
                               ecs_entity* entities);
/// The same for a packed message. @return their count; 0 for a malformed message.
uint32_t net_match_entities_of_packed(net_match* match, uint32_t message, const void* data,
                                      size_t size, ecs_entity* entities);
/// Pack an event's struct as a message. A message whose fields all have their default takes 0
/// bytes: pass such an input on with size 0 and a payload that is not NULL.
/// @return NET_OK; NET_ERR_FULL (longer than `capacity`: the module asks for too much);
///         NET_ERR_MALFORMED (a peer would refuse it: a text is no UTF-8; net_match_refusal says
///         which). After both *size is 0: do not send the message.
BASE_MUST_USE net_result net_match_pack(net_match* match, uint32_t message, const void* payload,
                                        uint8_t* target, size_t capacity, size_t* size);
/// @return Why net_match_pack packed nothing, borrowed until the next message.
const char* net_match_refusal(const net_match* match);
/// @return The message of an exported ECS event type that this side sends (a server to clients, a
///         mirror to the server); 0 when there is none.
uint32_t net_match_message_of(const net_match* match, ecs_event_type type);
/// The module's input message, and the size of its struct in bytes.
uint32_t net_match_input_message(const net_match* match);
uint32_t net_match_input_bytes(const net_match* match);

// ---- the digest of a world ----

/// Digest of a world: a hash over its replicated rows. A client that has caught up and its server
/// get the same one.
///
/// Rows are hashed in the order of (entity, template, component name, quantised bytes). On a server
/// the digest covers what the interest rules give to a client, on a client what its world contains
/// (state CREATED). Each call reads the whole world: for checks and tests, not for every tick.
/// Threads: the thread that owns the world, outside of stages.

typedef struct net_world_digest {
    uint64_t hash;
    uint32_t entities;
    uint32_t components;
    uint64_t bytes; ///< of the quantised rows, packed
} net_world_digest;

/// Compute the digest of a whole world. `line` (may be NULL) gets the same rows as text:
/// "entity=5:1 template=ball component=pos x=600 y=700", with dequantised values, so two dumps
/// differ exactly where the hashes do.
net_world_digest net_world_digest_walk(const net_schema* schema, ecs_world* world, ecs_line_fn line,
                                       void* context);

/// @return The classes of an entity's components that one client may see; 0: the entity is not in
///          its scope.
typedef uint32_t (*net_world_digest_classes_fn)(void* context, ecs_entity entity);
/// Compute the digest of what one client should have: the entities that `classes` gives it, with
/// the template's defaults for hidden components. It equals the client's own digest when both are
/// in sync.
net_world_digest net_world_digest_walk_seen(const net_schema* schema, ecs_world* world,
                                            net_world_digest_classes_fn classes,
                                            void* classes_context, ecs_line_fn line, void* context);

/// The same when it is known which entities these are: `entities`, by rising index (asserted). It
/// costs as much as they are, not as the world.
net_world_digest net_world_digest_walk_list(const net_schema* schema, ecs_world* world,
                                            const ecs_entity* entities, uint32_t count,
                                            net_world_digest_classes_fn classes, void* context);

/// @return The digest of a world without replicated entities.
net_world_digest net_world_digest_empty(void);

/// @return The hash of one entity's quantised row, as --trace writes it; 0 when it has none.
uint64_t net_world_digest_row_hash(const net_schema* schema, ecs_world* world, ecs_entity entity);
/// @return Whether `hash` is the entity's row as some client may see it: with any set of its
///         visibility classes hidden. Tries 2 to the power of the classes beside "public" that its
///         template uses.
bool net_world_digest_row_has_hash(const net_schema* schema, ecs_world* world, ecs_entity entity,
                                   uint64_t hash);

BASE_C_END
