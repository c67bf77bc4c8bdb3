// SPDX-License-Identifier: MIT
/// What a game needs: the contract of modules, and the rules of interest.
#pragma once

#include "base/bytes.h"
#include "ecs/ecs.h"

#include <protobuf-c/protobuf-c.h>

BASE_C_BEGIN

// ---- interest ----

/// Interest: which entities a client gets, by a module's rules. The rules name components.
///
/// The entities that a client should have are its scope. A replicated entity is in the scope when
/// any of these is true:
///   - every client sees it: it has the tag `always`, or no rule applies to it (no position where
///     the rules have a radius, no groups);
///   - it is the client's own: its `owner` is the client's number, or it is the client's player;
///   - its `groups` and the client's groups have a common bit. Other clients do not see an entity
///     that has groups and no position;
///   - its position is within the radius around the client's viewpoint;
///   - it travels together with an entity in the scope (`together`).
/// Then the module's `relevance` decides last.
///
/// Within the scope a component is visible by its class (`_visible:t="team"` in the datablock):
/// public to all clients, owner to the owner, team to clients whose player has the same team,
/// another class to the clients for which `classes` returns it. A hidden component has its
/// template's default on the client. The client gets no data about classes.
///
/// The viewpoint is the position of the client's player, or what services->set_viewpoint gave.
/// After the player was destroyed the client keeps the last position and team. A client that never
/// had a player or a viewpoint sees nothing by distance: a spectator needs a viewpoint.
///
/// The server finds a client's scope every NET_INTEREST_EVERY_TICKS ticks, and when the module
/// requests it (services->refresh_scope). A new entity within sight is seen at once. An entity seen
/// by distance leaves the scope beyond NET_INTEREST_LEAVE times the radius and not before
/// NET_INTEREST_STAY_MS. It leaves at once when its owner, team, groups or `together` changed, when
/// the client's groups changed, or when `relevance` returns NET_RELEVANT_NEVER. Components that the
/// rules name must be tracked (`_track`) in all replicated templates that have them; they need not
/// be replicated.

#define NET_INTEREST_EVERY_TICKS 4u ///< ticks between two searches for a client's scope
#define NET_INTEREST_LEAVE 1.15f
#define NET_INTEREST_STAY_MS 1000u
#define NET_CLASSES_MAX 16u ///< public, owner, team and 13 others, by name

enum { NET_CLASS_PUBLIC, NET_CLASS_OWNER, NET_CLASS_TEAM };

typedef enum net_relevance {
    NET_RELEVANT_BY_RULES,
    NET_RELEVANT_ALWAYS, ///< of what it is asked about: never of what is beyond the radius
    NET_RELEVANT_NEVER,  ///< nor what travels together with it, nor the client's own
} net_relevance;

/// What a module's callback gets: one client and one entity. The callback runs on the thread that
/// owns the world, between two ticks. It only reads the world and keeps no memory of its own. Which
/// pairs it gets, and how often, may change with any version. Today these are entities that the
/// rules show, entities within NET_INTEREST_LEAVE times the radius, and what travels together with
/// either. With callbacks the server searches for each client on its turn, also when nothing near
/// it changed.
typedef struct net_interest_question {
    uint32_t size_bytes;
    ecs_world* world;
    void* context; ///< what register_systems returned
    uint32_t client;
    ecs_entity player; ///< of the client; NONE for a spectator
    ecs_entity entity;
} net_interest_question;

/// A module's rules. Components are given by name; NULL: this game has no such component. Without
/// names the rules do nothing: every client sees every entity, and the owner of an entity is the
/// client whose player it is. The rules are checked when a match begins: an unknown name, a wrong
/// type or a component that is not tracked is refused (NET_ERR_MODULE).
typedef struct net_interest_rules {
    uint32_t size_bytes;
    const char* position; ///< p2 or p3, or a struct that begins with as many floats
    float radius;         ///< of sight, in units of the position; 0: no limit
    const char* always;   ///< a tag: every client sees it
    const char* owner;    ///< i or u32: the owner's client number; to it four times as urgent
    const char* team;     ///< i, u8, u16 or u32; 0: none. A client's team is its player's
    const char* groups; ///< u64: seen by clients whose mask (services->set_groups) has a common bit
    const char*
        together; ///< i or u32: entities with equal numbers enter and leave a client at one tick;
                  ///< larger than NET_GROUP_BYTES_MAX: in parts; 0: alone
    net_relevance (*relevance)(const net_interest_question* question);
    /// Further classes that this client may see of this entity: bits of
    /// services->class_bit.
    uint32_t (*classes)(const net_interest_question* question);
} net_interest_rules;

/// What an event of `net_game_module.sight` begins with: an entity came into the sight of a client
/// or left it. It is posted on the client's player.
///
/// The server makes it where a scope changes, one to three ticks after the cause, and it is an
/// input of its tick: the log has it, so the world may depend on it. The entity may be destroyed
/// by then; one that changed its template comes in again. At most NET_SIGHTS_PER_TICK_MAX of a
/// client come in a tick, in the order of the changes; the others wait.
/// ECS_ENTITY_NONE that is not seen means: forget all; all that is in sight follows. It comes first
/// for each entity that becomes a client's player, and when another server or another version of
/// the game goes on with the match.
typedef struct net_sight {
    ecs_entity entity;
    bool is_seen;
} net_sight;
#define NET_SIGHTS_PER_TICK_MAX 64u

// ---- the contract of modules ----

/// The module contract: what a game module gives to server, client, bots and replay, and what it
/// gets.
///
/// A game is NAME.so (this table, systems, event handlers, bots), NAME.blk (templates) and
/// NAME.proto (inputs and events). The module exports exactly one symbol that programs look for,
/// the function `net_game_module_get`. It may use everything in ecs/, base/ and this header.
///
/// Frozen: new fields are added only at the end of a struct. A program accepts a table whose
/// contract_version is NET_GAME_CONTRACT_VERSION and whose size_bytes covers the fields of version
/// 1 and is not larger than the program's own; missing fields read as zero. The elements of the
/// three arrays follow the same rule: message_bytes, setting_bytes and action_bytes give their
/// size, and the program reads zero-padded copies. core_version must equal the program's
/// ECS_CORE_VERSION.
///
/// Every struct here that a program passes to a module (net_game_services, net_game_start,
/// net_game_player, net_player_context, net_controls, net_draw) begins with its size_bytes as the
/// program was compiled. A module reads a field that was added after 0.3.0 only when size_bytes
/// covers it; the fields of 0.3.0 are always present.
///
/// Rules for modules: no writable globals (ids belong into the context that register_systems
/// returns), no clock, no libm, no rand, no files. Equal inputs must give equal bits. What decides
/// is in components, or in what save_state writes: a match that is restored from a keyframe of its
/// log (seek, slice, --resume) has a new context, which may beside that keep what can be computed
/// again from the world. `shoal-server check NAME.so` checks it, as far as the file and a short
/// match of bots show.
/// Threads: a program calls all functions on the thread that
/// owns the world that it passes.
/// Memory: pointers that a function gets are borrowed for the call,
/// unless their comment names another time.

#define NET_GAME_CONTRACT_VERSION 1u
#define NET_GAME_SYMBOL "net_game_module_get"

typedef enum net_message_kind {
    NET_MESSAGE_INPUT,      ///< client to server, one per client tick; one per module
    NET_MESSAGE_TO_SERVER,  ///< game event, client to server
    NET_MESSAGE_TO_CLIENTS, ///< game event, server to clients
} net_message_kind;

/// One message type. On the wire and in logs it is a protobuf message; in the world it is an ECS
/// event whose payload is a plain struct. The two functions convert; net packs, unpacks and checks
/// sizes.
typedef struct net_message {
    const char* name;                             ///< "BrickHit"; unique
    const ProtobufCMessageDescriptor* descriptor; ///< generated by protoc-c
    const char* event;                            ///< name of the registered ECS event
    net_message_kind kind;
    bool is_reliable; ///< sent again until it arrives; ignored for inputs
    /// Fill `message`, which is initialised, from the payload. Its bytes and strings may point into
    /// the payload.
    void (*to_wire)(const void* payload, ProtobufCMessage* message);
    /// Fill the payload, which is zeroed. The message comes from a peer: clamp its values.
    /// @return false to refuse the message.
    bool (*from_wire)(const ProtobufCMessage* message, void* payload);
    /// Of TO_CLIENTS. An event names its target and the entities in its entity fields. false: it
    /// goes to clients that see all of them. A client holds it until they all exist there, at most
    /// NET_EVENT_WAIT_TICKS_MAX ticks, and drops it when one of them is gone. true: it also goes to
    /// clients that see the target only, and is delivered without the others; the target must
    /// exist.
    bool is_delivered_late;
    /// Say which field makes from_wire refuse a message: "emote is outside of 0..7". The text lives
    /// as long as the module. @return NULL: no field does. The function itself may be NULL.
    const char* (*refusal)(const ProtobufCMessage* message);
} net_message;

/// A value that `--set KEY=VALUE` changes. The log contains the values of its match.
typedef struct net_setting {
    const char* key; ///< [a-z0-9_]{1,31}
    double value_default;
    double min, max; ///< inclusive
    const char* help;
} net_setting;

/// Functions that a program offers to a module while a match runs, on a server and in a replay. All
/// answers are part of the match: a replay gives the same ones.
///
/// Lag compensation, for modules with `is_rewinding`: a client's input names the moment that its
/// player saw (proto/WIRE.md, "Inputs"), and the module gets what was where at that moment.
/// The present is the last finished tick: inside tick N that is N - 1, the newest tick that a
/// player can have seen. A moment more than NET_REWIND_MS_MAX before the present, or after the
/// present, is moved to that limit. Kept are the components that the datablock marks
/// `_interpolate`, quantised as clients have them.
typedef struct net_game_services {
    uint32_t size_bytes;
    void* context;
    /// @return The tick that `client` saw when it made the input of this tick; *fraction is the
    /// part of the tick after it. When no new input came: as far behind the present as for the last
    /// one. For a client that never named a moment: the present.
    ecs_tick (*seen)(void* context, uint32_t client, float* fraction);
    /// Get a component's value at a moment, interpolated as clients interpolate. `value` has the
    /// type's memory form. @return false: the entity did not exist then, or the component is not
    /// kept.
    bool (*rewind)(void* context, ecs_tick tick, float fraction, ecs_entity entity,
                   ecs_component_id component, void* value);

    // ---- for modules with `interest` ---- The server applies these after the step; in a replay
    // they do nothing. `client` must play: from its player_join on until its player_leave. Another
    // number is ignored.
    /// Set the groups of a client: it sees entities whose `groups` component has a common bit.
    void (*set_groups)(void* context, uint32_t client, uint64_t mask);
    /// Set a client's viewpoint and radius (0: the radius of the rules). NULL: its player's
    /// position again.
    void (*set_viewpoint)(void* context, uint32_t client, const float position[3], float radius);
    /// Find a client's scope and classes again in this tick, after a change of team, of
    /// ownership...
    void (*refresh_scope)(void* context, uint32_t client);
    /// @return The bit of a visibility class, for `classes` of the rules; 0 when no template has
    ///          it.
    uint32_t (*class_bit)(void* context, const char* name);

    // A reason is one sentence for players and the operator, at most NET_END_TEXT_BYTES - 1 bytes.
    // In a replay both do nothing: the log has the leaves.
    /// End the match after this tick: it is the last one, every client gets its whole state and
    /// then a goodbye with the reason. The first call counts.
    void (*end_match)(void* context, const char* reason);
    /// End the session of a client that plays; it leaves the match with the next tick. Within its
    /// player_join: it is refused. The first call for a client counts.
    void (*drop_player)(void* context, uint32_t client, const char* reason);
    /// Keep the last seconds, with this tick: a goal, a last shot. A server with --log-ring writes
    /// them as a log of their own (net_log_save), beside the match, which does not wait. `name`
    /// becomes a part of the file's name, at most NET_SAVE_NAME_BYTES - 1 bytes of a-z, 0-9, - and
    /// _. The first call of a tick counts. In a replay, and without a ring, it does nothing.
    void (*save_log)(void* context, const char* name);
    /// @return The name of a player, of the match and of its replay alike, borrowed until the next
    ///         join or leave; NULL for a client that does not play, and within its player_join.
    const char* (*player_name)(void* context, uint32_t client);

    // ---- for matches of a host (shoal-host) ---- The world does not depend on what becomes of
    // them, and in a replay nothing does. All but `open` return false when nothing is done: the
    // match has no host (its log says so, a replay gives the same answer), a text is empty, too
    // long or no UTF-8, bytes are too many.
    /// Show a value in lists; a join may ask for it: map, mode. A key has at most
    /// NET_VALUE_KEY_BYTES - 1 bytes, a value NET_VALUE_BYTES - 1; "" or NULL: it is gone.
    /// @return false also for a further key when there are NET_VALUES_MAX.
    bool (*publish)(void* context, const char* key, const char* value);
    /// May new players come? Seats that are held stay, and who comes back needs none. At first they
    /// may.
    void (*open)(void* context, bool is_open);
    /// The match's result, at most NET_RESULT_BYTES_MAX bytes, for those who run the host.
    /// @return false also when there is one.
    bool (*result)(void* context, const void* bytes, size_t size);
    /// Send a player to another match, by the name of its game or its id: the host finds a seat,
    /// and the client goes there. At most NET_TRANSFER_BYTES_MAX bytes go along, for the
    /// player_join there. When the host finds none, the player stays. The newest call of a tick
    /// counts. @return false also for a client that does not play, or has no identity (player_id
    /// is 0).
    bool (*transfer)(void* context, uint32_t client, const char* to, const void* bytes,
                     size_t size);
    /// Keep at most NET_RECORD_BYTES_MAX bytes of a player for the next match of this game
    /// (net_game_player.record), once the log has this tick. Also in player_join and player_leave.
    /// The newest call counts. When another match of the player kept one in between, that one
    /// stays, and the operator is informed. @return false as for transfer.
    bool (*keep_record)(void* context, uint32_t client, const void* bytes, size_t size);
} net_game_services;

/// A file of the game that is no template: a script, a level.
typedef struct net_game_file {
    const char* name;
    const uint8_t* bytes; ///< any; no NUL after them
    size_t byte_count;
} net_game_file;

/// What the module gets when the match begins: on a server and in a replay before tick 1, on a
/// client after welcome.
typedef struct net_game_start {
    uint32_t size_bytes;
    uint32_t tick_rate_hz;
    float dt; ///< 1 / tick_rate_hz
    uint64_t seed;
    const double* settings; ///< values, in the order of the module's table
    uint32_t setting_count;
    /// Lives as long as the match; NULL on a client.
    const net_game_services* services;
    /// The files that NAME.blk names by `file:t="rules.lua"`, in that order: the same bytes on a
    /// server, on its clients and in a replay. They live as long as the match. A reload begins
    /// another match, with `start` and the files as they are then.
    const net_game_file* files;
    uint32_t file_count;
    /// Report a fault of what the game reads, as a script: at `line` of `file` (NULL: of no file).
    /// During `start` it refuses the match; later a check counts it, other programs say it. As long
    /// as the match; NULL: there is no one who hears it.
    void (*fault)(void* context, const char* file, uint32_t line, const char* text);
    void* fault_context;
    /// NULL, or a check asks which lines of a script run: call it for each line that can run, and
    /// with has_run when one did. As long as the match.
    void (*line)(void* context, const char* file, uint32_t line, bool has_run);
    void* line_context;
    /// As in the services, and on a client, too: names of its roster, which come after the welcome.
    /// As long as the match.
    const char* (*player_name)(void* context, uint32_t client);
    void* name_context;
} net_game_start;

/// A player that joins. Pointers are borrowed for the call.
typedef struct net_game_player {
    uint32_t size_bytes; ///< set by the framework
    uint32_t client;     ///< 1, 2, 3...; a number is never used twice in a match
    const char* name;
    bool is_bot;
    /// What the back end wrote into the player's connect token: who it is, and up to
    /// NET_USER_BYTES_MAX bytes for the game (team, rights...). Without keys there is neither.
    uint64_t player_id;
    const uint8_t* user_data;
    uint32_t user_bytes;
    // Of a match with a host. As the rest of a join it is in the log.
    bool has_record; ///< the host answered. false: there is none, or not within NET_RECORD_MS_MAX
    uint64_t record_version; ///< 0: no record is kept
    const uint8_t* record;   ///< what keep_record kept
    uint32_t record_bytes;
    const uint8_t* transfer; ///< what `transfer` of the match before sent along
    uint32_t transfer_bytes;
} net_game_player;

/// What bot_think and human_input get: the client's own world and nothing else. `memory` is
/// NET_BOT_MEMORY_BYTES of memory, zeroed at first, that a bot keeps between calls; a write beyond
/// it ends the client (asserted).
#define NET_BOT_MEMORY_BYTES 256u
typedef struct net_player_context {
    uint32_t size_bytes;
    ecs_world*
        world; ///< only for reading: the mirror; for a human with prediction the predicted world
    void* context;     ///< what register_systems returned for this world
    ecs_entity player; ///< own entity; NONE until assigned, may not exist yet
    uint32_t client;
    ecs_tick tick; ///< newest tick that was applied
    float dt;
    uint64_t input_number; ///< counts calls: 1, 2, 3...
    base_rng* rng;         ///< this player's own
    void* memory;
    /// Send a game event to the server: the payload struct of message `message` (position in the
    /// table + 1), which has kind TO_SERVER. @return false when the queue is full: try again with
    /// the next input.
    bool (*send)(void* sender, uint32_t message, const void* payload);
    void* sender; ///< the first argument of `send`
    void* block;  ///< of a person: the client's block (net_player_block); else NULL
} net_player_context;

/// An action of a human player, for key bindings and help.
typedef struct net_action {
    const char* name; ///< "left"
    const char* keys; ///< default keys, comma separated SDL key names: "Left,A"
    const char* help;
    /// Default inputs of a game controller, comma separated SDL names: "A", "DPLeft",
    /// "RightTrigger"; a stick's axis with its side: "LeftX-". NULL: none.
    const char* pads;
} net_action;

/// What a person reads of an action. UTF-8; "": its name and help.
typedef struct net_label {
    char text[32];
} net_label;

#define NET_LINE_BYTES_MAX 120u ///< of a line that a person types, with the zero at its end

/// Buttons of the mouse, and keys that are held together with others.
typedef enum net_button { NET_BUTTON_LEFT, NET_BUTTON_MIDDLE, NET_BUTTON_RIGHT } net_button;
enum { NET_MODIFIER_SHIFT = 1, NET_MODIFIER_CTRL = 2, NET_MODIFIER_ALT = 4 };

/// What a human does at this moment. Valid during the call. net/controls.h reads it.
typedef struct net_controls {
    uint32_t size_bytes;
    const bool* actions; ///< held down, in the order of the module's table
    uint32_t action_count;
    bool has_pointer;
    /// In view coordinates (view_width, view_height of the module's table); where the last frame
    /// had a camera, in those of its first one.
    float pointer_x, pointer_y;
    bool pointer_down;     ///< the left button of the mouse
    const bool* pressed;   ///< as actions: went down since the last input, even for a moment
    bool is_pointer_moved; ///< since the last input: the player uses the pointer now
    /// Sticks of a game controller: -1 to 1, y points down; 0 near the middle, and without one.
    float move_x, move_y;              ///< the left stick
    float aim_x, aim_y;                ///< the right stick
    bool is_pad;                       ///< a game controller was used last, not keys or the pointer
    uint32_t buttons, buttons_pressed; ///< a bit (1u << net_button) each; as actions, as pressed
    int32_t wheel;      ///< steps since the last input; above 0: away from the person
    uint32_t modifiers; ///< NET_MODIFIER_..., held now or when a button was pressed
} net_controls;

/// A picture from the game's folder, or a part of it, somewhere on the view. Zeroed fields mean:
/// the whole picture, upright, in its own size and colours. net_draw_sprite (net/draw.h) draws it.
typedef struct net_sprite {
    uint32_t size_bytes;    ///< set by net_draw_sprite
    const char* image;      ///< "ship.png": a PNG file in `assets/` beside the game's sources
    float x, y;             ///< of its middle
    float width, height;    ///< one is 0: it follows from the other; both are 0: a pixel is a unit
    float angle;            ///< radians, from the x axis to the y axis, as ecs_direction
    uint32_t columns, rows; ///< of a sheet of equal frames; 0: 1
    uint32_t frame; ///< from left to right, then down; after the last one comes the first again
    float part_x, part_y, part_width,
        part_height;     ///< pixels: a part, or where the sheet lies in it
    bool flip_x, flip_y; ///< before it is turned
    ecs_color tint;      ///< each channel is multiplied by it / 255; all four 0: as it is
} net_sprite;

/// Drawing, passed to systems of stage "render" as ecs_stage.user. Coordinates are those of the
/// module's view rectangle, y points down; colours are RGBA. The client collects the calls and
/// draws at the end. In stage "act" ecs_stage.user is one that draws nothing; a check names the
/// system that calls it.
typedef struct net_draw {
    uint32_t size_bytes;
    void* context;
    void (*rect)(void* context, float x, float y, float width, float height, ecs_color color);
    void (*circle)(void* context, float x, float y, float radius, ecs_color color);
    void (*line)(void* context, float x0, float y0, float x1, float y1, float width,
                 ecs_color color);
    /// Triangles: `count` corners, three of each triangle, as points (x, y) and one colour each.
    void (*triangles)(void* context, const float* points, const ecs_color* colors, uint32_t count);
    void (*text)(void* context, float x, float y, float height, ecs_color color, const char* text);
    float (*text_width)(void* context, float height, const char* text);
    ecs_entity player; ///< own entity, NONE for a spectator
    double time_s;     ///< presentation time, for effects only
    float frame_dt_s;
    const char* (*player_name)(void* context, uint32_t client); ///< NULL: unknown client
    double tick;           ///< the shown moment: a tick and the part of the next one
    float pixels_per_unit; ///< of the view rectangle on the screen
    /// A picture that is missing or damaged is reported once and drawn as squares of two colours.
    /// Programs without pixels draw none.
    void (*sprite)(void* context, const net_sprite* sprite);
    /// net_draw_camera (net/draw.h) calls it. @return the new pixels_per_unit.
    float (*camera)(void* context, float x, float y, float zoom);
    void* block; ///< the client's block (net_draw_block); NULL: no person plays
    /// Of the picture: the module's view_width and view_height, or its upright ones. 0: no picture.
    float view_width, view_height;
} net_draw;

/// A sound: it is heard when the view's world delivers an event, so at the moment that is shown,
/// and once also where the player's own actions are predicted. The event has a message or none: a
/// picture's systems may send events of their own. Files lie in the game's `assets/`
/// (net_asset_read) and are .wav or .ogg.
typedef struct net_sound {
    const char* event; ///< name of the registered ECS event; one row each
    const char* file;  ///< "hit.wav"
    float volume;      ///< 0..1
    /// How far it is heard, in units of the interest rules' position: it fades with the distance of
    /// the event's target from the player's own entity. 0: everywhere the same.
    float reach;
} net_sound;

/// An entity that is shown at its predicted place.
#define NET_PREDICTED_MAX 16u
typedef struct net_predicted {
    ecs_entity entity;
    float weight; ///< 1: as predicted; 0: as interpolated; between them: a mixture
} net_predicted;

#define NET_BLOCK_BYTES_MAX 1024u ///< of a client's own block

/// What marks the pointer over the window.
typedef enum net_cursor {
    NET_CURSOR_ARROW,
    NET_CURSOR_CROSSHAIR, ///< to aim with
    NET_CURSOR_NONE,      ///< the game draws its own, or uses no pointer
    NET_CURSOR_COUNT
} net_cursor;

/// The module's table. It and all that it points to are constant and live as long as the module.
typedef struct net_game_module {
    uint32_t contract_version; ///< NET_GAME_CONTRACT_VERSION
    uint32_t size_bytes;       ///< sizeof(net_game_module) as the module was compiled
    uint32_t core_version;     ///< ECS_CORE_VERSION; ecs_ and base_ come from the program
    const char* name;  ///< [a-z0-9_]{1,32}; equals the file's name. NULL: it is the file's name
    const char* title; ///< NULL, of a module without a name: the same
    float view_width, view_height; ///< what is drawn, in world units

    const net_message* messages; ///< order is part of the schema
    uint32_t message_count;
    uint32_t message_bytes; ///< sizeof(net_message) as the module was compiled
    const net_setting* settings;
    uint32_t setting_count;
    uint32_t setting_bytes; ///< sizeof(net_setting), as above; may be 0 when there are none
    const net_action* actions;
    uint32_t action_count;
    uint32_t action_bytes; ///< sizeof(net_action), as above; may be 0 when there are none

    /// Register struct types, components and ECS events. Called first, in every world.
    /// @return ECS_OK; another code refuses the match, after a report.
    ecs_result (*register_types)(ecs_world* world, const base_reporter* reporter);
    /// Look up ids, create queries, register systems. Called after the templates are loaded, in
    /// every world; the world's tags decide which systems run. *context is passed to the functions
    /// below; its memory comes from ecs_world_context. @return ECS_OK; another code
    /// refuses the match, after a report.
    ecs_result (*register_systems)(ecs_world* world, void** context, const base_reporter* reporter);
    /// Create the first entities. Server and replay only.
    void (*start)(ecs_world* world, void* context, const net_game_start* start);
    /// A player joined. Called outside of stages. @return The player's entity; NONE for a
    /// spectator.
    ecs_entity (*player_join)(ecs_world* world, void* context, const net_game_player* player);
    /// A player left; `entity` may be destroyed already.
    void (*player_leave)(ecs_world* world, void* context, uint32_t client, ecs_entity entity);
    /// Fill the input event's payload (zeroed) for a bot. NULL: bots send zeroed inputs.
    void (*bot_think)(const net_player_context* player, void* input);
    /// Fill the input event's payload (zeroed) from a human's controls. NULL: humans only watch.
    /// With prediction player->world is the predicted world, so that the input fits what the player
    /// sees.
    void (*human_input)(const net_player_context* player, const net_controls* controls,
                        void* input);

    /// Called on a client once after welcome and before the first tick, in each of its worlds:
    /// mirror ("gameClient"), view ("gameClient", "render"), prediction ("predict"). Settings and
    /// rate are the server's. It creates no entities. NULL: the module needs neither.
    void (*mirror_start)(ecs_world* world, void* context, const net_game_start* start);
    /// Client side prediction. The prediction world has the tag "predict" alone. Systems with this
    /// tag (usually the server's functions, registered once more) run in its stage "act" once per
    /// input, ahead of the server; the input event is posted on the player as on the server. The
    /// client restores the world from the mirror when the server's state differs, so the world
    /// contains what is replicated; other components have their template's defaults. The function
    /// fills `entities` with what is shown as predicted, after each tick of the prediction world.
    /// NULL: nothing is predicted.
    /// @return The number of entities, at most `capacity`.
    uint32_t (*predict)(ecs_world* world, void* context, ecs_entity player, net_predicted* entities,
                        uint32_t capacity);
    /// The module uses seen and rewind of net_game_services: the server keeps what moves for
    /// NET_REWIND_MS_MAX, and the log contains the moments that players saw.
    bool is_rewinding;
    /// Which client gets which entities. NULL: every client gets every entity, with its public
    /// components.
    const net_interest_rules* interest;
    net_cursor cursor; ///< while the game is shown
    /// A person typed a line and ended it with Enter, in a program with a keyboard: chat. `text` is
    /// UTF-8 of 1 to NET_LINE_BYTES_MAX - 1 bytes without control characters, borrowed for the
    /// call. It comes before the human_input of the same tick. NULL: nothing is typed.
    void (*human_text)(const net_player_context* player, const char* text);

    // Sounds, which only a player's window plays.
    const net_sound* sounds;
    uint32_t sound_count; ///< at most NET_SOUNDS_MAX
    uint32_t sound_bytes; ///< sizeof(net_sound), as above; may be 0 when there are none
    const char* music;    ///< a file that is played again and again; NULL: none
    float music_volume;   ///< 0..1

    // What an operator does to a match that runs, between two ticks on a server and in a replay.
    /// Settings changed: `settings` of `start` has all values. NULL: they count at the start only.
    void (*settings_changed)(ecs_world* world, void* context, const net_game_start* start);
    /// The operator says a line to the players: `text` as in human_text. NULL: nothing is heard.
    void (*operator_said)(ecs_world* world, void* context, const char* text);

    // What a module keeps outside of its components, as the world of a library. NULL: nothing.
    /// The world's content is another one now: after a restore (seek, --resume, a standby that
    /// takes over), a reload, and each time the prediction begins again from the mirror. Drop what
    /// was computed from the world before; it is computed again from this one. It only reads the
    /// world.
    void (*restored)(ecs_world* world, void* context);
    /// The world ends, before its components are destroyed: give back what the context owns beside
    /// its own memory. Once for each context that register_systems gave, also when it failed then:
    /// what it did not get to is zero.
    void (*stop)(ecs_world* world, void* context);
    /// Append the module's own state, at most NET_MODULE_SAVE_BYTES_MAX: it is in each keyframe,
    /// and not in the hash of the world. On the thread of the ticks. More, or another result than
    /// ECS_OK: that keyframe is left out, and a reload is refused. Both functions or none.
    ecs_result (*save_state)(ecs_world* world, void* context, base_bytes* bytes);
    /// Read what save_state wrote, after `restored`, which does not read: bytes of a file, which
    /// may be foreign, or of the module before a reload. @return ECS_OK; another code, or bytes
    /// that are left, refuse the save. A save without such bytes does not call it.
    ecs_result (*load_state)(ecs_world* world, void* context, base_reader* reader);
    /// The name of a message of kind TO_SERVER that the server sends by itself, for each client:
    /// its event begins with a net_sight. A client that sends it is refused. NULL: there is none.
    const char* sight;
    /// Of a game with `predict`: which entities of the mirror are in the prediction world and run
    /// again after a correction, for worlds in which that is too much. `player` is the client's own
    /// entity, which belongs to them anyway. The world is the mirror, only for reading. It is asked
    /// for each replicated entity with each restore, at least every half second; not for
    /// singletons, as the state of the match: they belong to them, too, unless
    /// has_area_of_singletons. All others are interpolated: a system of "predict" does not find
    /// them. NULL: all of them.
    bool (*predict_area)(ecs_world* mirror, void* context, ecs_entity player, ecs_entity entity);
    /// The client's own block: zeroed memory of so many bytes, at most NET_BLOCK_BYTES_MAX, that
    /// human_input and human_text (net_player_block) share with the picture (net_draw_block): a
    /// camera, a selection. It is in no world and in no log, and lives as long as the client
    /// plays with this module. 0: none.
    uint32_t block_bytes;
    bool has_area_of_singletons; ///< predict_area is asked for them, too
    /// Called with the files of net_game_start when the module is opened: write what a person reads
    /// of an action in the place of its name and help. `labels` has an empty one for each action.
    /// A fault in the files is for `start`. NULL: none has one.
    void (*label_actions)(const net_game_file* files, uint32_t file_count, net_label* labels);
    /// A second size of what is drawn, for a phone that is held upright: net_draw.view_width and
    /// view_height have the one that is shown. 0: the picture is always the one above.
    float upright_width, upright_height;
} net_game_module;

/// The one symbol: `const net_game_module* net_game_module_get(void);`
typedef const net_game_module* (*net_game_module_get_fn)(void);

BASE_C_END
