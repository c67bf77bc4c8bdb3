// SPDX-License-Identifier: MIT
/// libshoal_client: a client of a Shoal server, for any language and any engine. Plain C, readable
/// by C++; client/python/shoal.py is the same in Python, client/lua/shoal.lua in LuaJIT.
///
///     shoal_client_options options = {sizeof options};
///     options.address = "127.0.0.1:7777";
///     shoal_client* client = shoal_client_create(&options);
///     while (shoal_client_service(client, 10) != SHOAL_ENDED) { read the world, set the input }
///     shoal_client_destroy(client);
///
/// The client opens the game's module (NAME.so and NAME.blk, as shoal-client does) and keeps the
/// world that the server shows it. What is in the world is read by name: entity, component, field.
///
/// ABI:     Functions are only added. Objects are opaque. The one struct begins with its size; new
///          fields come at its end. Enumerators keep their values, lists of them grow. Figures that
///          may become more are read by name.
/// Memory:  Texts that are returned are borrowed until the next call with the same object. What is
///          passed in is copied. Without memory the process ends: shoal_memory_handler_set.
/// Faults:  NULL objects are accepted and give 0, NULL or SHOAL_ERR_UNKNOWN; unknown entities,
///          components, fields and names too. An object that cannot be used exists all the same and
///          says why (shoal_client_text, shoal_log_text).
/// Threads: One thread of a process makes all calls: the transport below has one state a process.
#ifndef SHOAL_CLIENT_H
#define SHOAL_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_API __attribute__((visibility("default")))
#define SHOAL_ABI_VERSION 1u

typedef struct shoal_client shoal_client;
typedef struct shoal_log shoal_log;
typedef struct shoal_world shoal_world; ///< of a client or a log, which owns it
typedef struct shoal_shape shoal_shape; ///< the fields of a component or message; lives as long
typedef uint32_t shoal_entity;          ///< a handle, the same as on the server; 0: none

/// Results: 0 is success.
enum {
    SHOAL_OK = 0,
    SHOAL_ERR_MEMORY = -1,
    SHOAL_ERR_FULL = -2,      ///< a queue is full: try the next tick
    SHOAL_ERR_SCHEMA = -5,    ///< another version of the game wrote the log
    SHOAL_ERR_CLOSED = -9,    ///< the client does not play; the log has no further tick
    SHOAL_ERR_MODULE = -10,   ///< the game cannot be used
    SHOAL_ERR_IO = -11,       ///< the file cannot be read
    SHOAL_ERR_DAMAGED = -12,  ///< the log is damaged
    SHOAL_ERR_DIVERGED = -13, ///< the replay has another state than the log says
    SHOAL_ERR_UNKNOWN = -14,  ///< no such object, message, field or name
    SHOAL_ERR_VERSION = -16,  ///< a later version wrote the log
};

/// Phases of a client.
enum {
    SHOAL_ASKING = 0, ///< which game the server runs
    SHOAL_CONNECTING = 1,
    SHOAL_PLAYING = 2,
    SHOAL_RESUMING = 3, ///< nothing came for 3 s: connecting again as the same player
    SHOAL_ENDED = 4,    ///< shoal_client_end says why
};

/// How a client ended.
enum {
    SHOAL_END_NONE = 0,
    SHOAL_END_GOODBYE = 1,     ///< the match is over
    SHOAL_END_LEFT = 2,        ///< shoal_client_leave
    SHOAL_END_LOST = 3,        ///< the connection, or the server sent what it must not
    SHOAL_END_UNREACHABLE = 4, ///< no answer
    SHOAL_END_REFUSED = 5,
    SHOAL_END_FAILED = 6,      ///< here: the game or an option cannot be used
    SHOAL_END_TRANSFERRED = 7, ///< the player goes on in another match: shoal_client_follow
};

/// The worlds of a client.
enum {
    SHOAL_NEWEST = 0, ///< as the newest packet says; what a bot sees
    SHOAL_SHOWN = 1,  ///< a little in the past and between ticks, for a picture (SHOAL_SHOW)
};

/// Flags of a client.
enum {
    SHOAL_BOT = 1,     ///< the server lists the player as a bot
    SHOAL_THINK = 2,   ///< the game's own bot makes the inputs
    SHOAL_SHOW = 4,    ///< keep a world that is interpolated between packets
    SHOAL_PREDICT = 8, ///< in it own entities are ahead, where the game predicts them
};

/// What a field holds. Numbers pass as double or int64_t, whatever the kind.
enum {
    SHOAL_BOOL = 0,
    SHOAL_I8 = 1,
    SHOAL_I16 = 2,
    SHOAL_I32 = 3,
    SHOAL_I64 = 4,
    SHOAL_U8 = 5,
    SHOAL_U16 = 6,
    SHOAL_U32 = 7,
    SHOAL_U64 = 8,
    SHOAL_F32 = 9,
    SHOAL_F64 = 10,
    SHOAL_HANDLE = 11, ///< an entity
};

/// Kinds of messages.
enum {
    SHOAL_INPUT = 0,      ///< sent in each tick, as it was set last
    SHOAL_TO_SERVER = 1,  ///< sent by shoal_client_send
    SHOAL_TO_CLIENTS = 2, ///< comes by shoal_client_next_event
};

/// Get the version of the library's ABI: SHOAL_ABI_VERSION of the header that it was built with.
SHOAL_API uint32_t shoal_abi_version(void);
/// "0.1.0". Static text.
SHOAL_API const char* shoal_version(void);
/// A sentence for a result. Static text.
SHOAL_API const char* shoal_result_text(int32_t result);
/// Called with the bytes that were asked for when the system has no memory, on any thread. It may
/// report and save, but not allocate. It ends the process: it must not return.
typedef void (*shoal_memory_fn)(void* context, size_t bytes);
/// Set what happens without memory, for the whole process and before the first client or log. NULL,
/// as it is at the start: one line to stderr, then exit code 1.
SHOAL_API void shoal_memory_handler_set(shoal_memory_fn handler, void* context);

/// Zero all, set size_bytes and address.
typedef struct shoal_client_options {
    size_t size_bytes;   ///< sizeof(shoal_client_options)
    const char* address; ///< "HOST:PORT"
    const char* name;    ///< of the player; NULL: "player"
    const char* game;    ///< a name or FILE.so; NULL: the server is asked
    /// Folders with games, between colons. NULL: SHOAL_MODULE_PATH, then shoal/games beside the
    /// library and in the folder above.
    const char* game_path;
    const char* token; ///< a connect token, for servers with keys; NULL: the built-in key
    /// A bad network for the whole process, as --net of shoal-client: "loss=5,delay=80".
    const char* network;
    /// Gets each line for a person: refused, connection lost, back. NULL: shoal_client_text only.
    void (*report)(void* context, const char* text);
    void* report_context;
    uint64_t seed;           ///< of the random numbers of the game's bot
    uint32_t flags;          ///< SHOAL_BOT...
    uint32_t rate_bytes_max; ///< that the server may send in a second; 0: the server decides
} shoal_client_options;

/// Make a client. It connects in shoal_client_service.
/// @return NULL: no address, or an impossible size_bytes.
SHOAL_API shoal_client* shoal_client_create(const shoal_client_options* options);
/// The server gets no goodbye: shoal_client_leave and service until SHOAL_ENDED for that.
SHOAL_API void shoal_client_destroy(shoal_client* client);
/// Wait at most `wait_ms` until there is something to do; receive; run the ticks that are due. Call
/// it in each frame with 0, or in a loop with some milliseconds. @return the phase.
SHOAL_API int32_t shoal_client_service(shoal_client* client, uint32_t wait_ms);
/// Say goodbye. Go on with service until SHOAL_ENDED, 1 s at most.
SHOAL_API void shoal_client_leave(shoal_client* client);

/// After SHOAL_END_TRANSFERRED: go on in the match that the server named, from SHOAL_ASKING on.
/// Worlds, shapes, messages and entities of the match before are gone: look them up again when the
/// client plays. @return SHOAL_OK; SHOAL_ERR_CLOSED (it did not end so); SHOAL_ERR_FULL (it
/// followed six in this minute: call it later).
SHOAL_API int32_t shoal_client_follow(shoal_client* client);

/// The phase now, and how it ended (SHOAL_END_NONE before).
SHOAL_API int32_t shoal_client_phase(const shoal_client* client);
SHOAL_API int32_t shoal_client_end(const shoal_client* client);
/// The newest line for a person, "" before the first: after the end the reason.
SHOAL_API const char* shoal_client_text(const shoal_client* client);
SHOAL_API const char* shoal_client_game(const shoal_client* client);   ///< "" before it is known
SHOAL_API uint32_t shoal_client_number(shoal_client* client);          ///< 1, 2...; 0: not welcomed
SHOAL_API uint64_t shoal_client_tick(const shoal_client* client);      ///< the newest that came
SHOAL_API uint32_t shoal_client_tick_rate(const shoal_client* client); ///< of the server, in Hz
/// The player's own entity; 0: none yet.
SHOAL_API shoal_entity shoal_client_player(const shoal_client* client);
/// The name of a player by client number; NULL: there is none.
SHOAL_API const char* shoal_client_player_name(const shoal_client* client, uint32_t number);
/// The hash of the newest world. At the end of a match it equals scope_hash of the server's peer
/// line. Walks the world.
SHOAL_API uint64_t shoal_client_hash(shoal_client* client);
/// A figure by name: rtt_ms, loss_percent, jitter_ms, in_bytes, out_bytes, quiet_ms, resumes,
/// input_depth, delay_ms, lead_ms, corrections, events_lost.
/// @return SHOAL_OK; SHOAL_ERR_UNKNOWN (no such figure; *value is 0).
SHOAL_API int32_t shoal_client_figure(shoal_client* client, const char* name, double* value);

/// A world of the client (SHOAL_NEWEST, SHOAL_SHOWN). NULL while the game is not known, or without
/// SHOAL_SHOW.
SHOAL_API shoal_world* shoal_client_world(shoal_client* client, int32_t which);
/// Bring the shown world to this moment: once before each picture. @return 1; 0: nothing to show.
SHOAL_API int32_t shoal_client_frame(shoal_client* client);
/// The shown moment in ticks: 1200.25 is a quarter of the way from 1200 to 1201.
SHOAL_API double shoal_client_shown_tick(const shoal_client* client);

/// Messages of the game have numbers 1..count; 0 is none. What an unknown number asks for is NULL,
/// its kind -1. The shape lists the fields of the message's struct.
SHOAL_API uint32_t shoal_client_message(const shoal_client* client, const char* name);
SHOAL_API uint32_t shoal_client_message_count(const shoal_client* client);
SHOAL_API const char* shoal_client_message_name(const shoal_client* client, uint32_t message);
SHOAL_API int32_t shoal_client_message_kind(const shoal_client* client, uint32_t message);
SHOAL_API const shoal_shape* shoal_client_message_shape(const shoal_client* client,
                                                        uint32_t message);
/// Set the first `count` elements of a field of an input or of a message to the server. Values
/// beyond what the field holds become the nearest it can hold, no number becomes 0.
/// @return SHOAL_OK; SHOAL_ERR_UNKNOWN (no such message or field, more elements than it has).
SHOAL_API int32_t shoal_client_set(shoal_client* client, uint32_t message, int32_t field,
                                   const double* values, uint32_t count);
/// Queue a message for the server, then make its fields 0 again.
/// @return SHOAL_OK; SHOAL_ERR_CLOSED (not playing); SHOAL_ERR_FULL (try the next tick);
///         SHOAL_ERR_UNKNOWN (not of this kind).
SHOAL_API int32_t shoal_client_send(shoal_client* client, uint32_t message);
/// Go to the next event that came, oldest first. The newest 256 are kept.
/// @return its message; 0: no more.
SHOAL_API uint32_t shoal_client_next_event(shoal_client* client);
SHOAL_API uint64_t shoal_client_event_tick(const shoal_client* client);
SHOAL_API shoal_entity shoal_client_event_target(const shoal_client* client); ///< 0: for all
/// Read a field of that event. @return the elements written, at most `capacity`.
SHOAL_API uint32_t shoal_client_event_read(const shoal_client* client, int32_t field,
                                           double* values, uint32_t capacity);

/// Components have numbers 1..count, in this run; 0 is none. What an unknown number asks for is
/// NULL.
SHOAL_API uint32_t shoal_world_component(const shoal_world* world, const char* name);
SHOAL_API uint32_t shoal_world_component_count(const shoal_world* world);
SHOAL_API const char* shoal_world_component_name(const shoal_world* world, uint32_t component);
SHOAL_API const char* shoal_world_component_type(const shoal_world* world, uint32_t component);
SHOAL_API const shoal_shape* shoal_world_component_shape(const shoal_world* world,
                                                         uint32_t component);
SHOAL_API uint64_t shoal_world_tick(const shoal_world* world);
SHOAL_API uint32_t shoal_world_entity_count(const shoal_world* world);
/// Walk the entities that have a component (0: all) by rising index: begin with 0. @return 0: no
/// more.
SHOAL_API shoal_entity shoal_world_next(const shoal_world* world, uint32_t component,
                                        shoal_entity after);
/// Does it live here? @return 1 or 0.
SHOAL_API int32_t shoal_world_has(const shoal_world* world, shoal_entity entity);
/// "breakout_ball"; NULL: it does not live.
SHOAL_API const char* shoal_world_template(const shoal_world* world, shoal_entity entity);
/// Read the elements of a field. @return how many were written, at most `capacity`; 0: the entity
/// does not live, or does not have it.
SHOAL_API uint32_t shoal_world_read(const shoal_world* world, shoal_entity entity,
                                    uint32_t component, int32_t field, double* values,
                                    uint32_t capacity);
/// The same as whole numbers, exact for 64 bits; parts are cut off.
SHOAL_API uint32_t shoal_world_read_whole(const shoal_world* world, shoal_entity entity,
                                          uint32_t component, int32_t field, int64_t* values,
                                          uint32_t capacity);
/// Write a value as text, NUL-terminated: "330,-550", any type. @return 1; 0: it was cut, or there
/// is none.
SHOAL_API int32_t shoal_world_text(const shoal_world* world, shoal_entity entity,
                                   uint32_t component, char* text, size_t text_bytes);

/// Fields have positions 0..count-1; a scalar has one field, "value". @return -1: no such field.
SHOAL_API int32_t shoal_shape_field(const shoal_shape* shape, const char* name);
SHOAL_API uint32_t shoal_shape_field_count(const shoal_shape* shape);
SHOAL_API const char* shoal_shape_field_name(const shoal_shape* shape, int32_t field);
SHOAL_API int32_t shoal_shape_field_kind(const shoal_shape* shape, int32_t field); ///< -1: none
SHOAL_API uint32_t shoal_shape_field_elements(const shoal_shape* shape, int32_t field);

/// Open an event log. `game` and `game_path` as in shoal_client_options; the module is opened when
/// it is needed first. @return NULL: no file is named.
SHOAL_API shoal_log* shoal_log_open(const char* file, const char* game, const char* game_path);
SHOAL_API void shoal_log_close(shoal_log* log);
/// Could it be opened? @return SHOAL_OK, SHOAL_ERR_IO...
SHOAL_API int32_t shoal_log_result(const shoal_log* log);
/// The newest line for a person; "" before the first.
SHOAL_API const char* shoal_log_text(const shoal_log* log);
/// A text of the header by name: game, build. NULL: no such text.
SHOAL_API const char* shoal_log_word(const shoal_log* log, const char* name);
/// A number by name: tick_rate, seed, first_tick, last_tick, started_unix_ms, schema_hash, is_cut,
/// is_damaged, lost_bytes.
/// @return SHOAL_OK; SHOAL_ERR_UNKNOWN (no such number; *value is 0).
SHOAL_API int32_t shoal_log_number(const shoal_log* log, const char* name, uint64_t* value);
/// Gets one line of JSON, valid during the call. @return 0 to stop.
typedef int32_t (*shoal_line_fn)(void* context, const char* line);
/// The whole log as JSON, one object a line: the header, then each tick. Messages are decoded when
/// the game is here.
/// @return SHOAL_OK; SHOAL_ERR_DAMAGED.
SHOAL_API int32_t shoal_log_lines(shoal_log* log, shoal_line_fn line, void* context);
/// Run the next tick of the match again, and compare it with the log.
/// @return SHOAL_OK; SHOAL_ERR_CLOSED (there is none); SHOAL_ERR_DIVERGED (the tick ran, with
///         another state); SHOAL_ERR_MODULE, SHOAL_ERR_SCHEMA, SHOAL_ERR_DAMAGED.
SHOAL_API int32_t shoal_log_step(shoal_log* log);
/// The world of the replay, after the first step; NULL before.
SHOAL_API shoal_world* shoal_log_world(shoal_log* log);
/// The state hash of that world, as `state_hash` of shoal-replay.
SHOAL_API uint64_t shoal_log_state_hash(shoal_log* log);

#ifdef __cplusplus
}
#endif

#endif
