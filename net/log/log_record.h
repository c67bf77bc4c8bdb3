// SPDX-License-Identifier: MIT
/// Records of event logs: written into fixed memory, read from untrusted bytes without a tree. The
/// header record: game, settings and schema.
#pragma once

#include "base/bytes.h"
#include "ecs/entity.h"
#include "ecs/world.h"
#include "net/limits.h"
#include "net/log.h"
#include "net/match.h"
#include "proto/pb_wire.h"
#include "state/rows.h"

#define NET_LOG_RECORD_BYTES_MAX (1u << 19)
#define NET_LOG_ITEM_BYTES_MAX /* packed, without its head */                                      \
    (NET_EVENT_PAYLOAD_BYTES_MAX + NET_RECORD_BYTES_MAX + NET_TRANSFER_BYTES_MAX + 96u)

/// Where a record is among the ticks, which says which tick it names.
typedef enum net_log_stage {
    NET_LOG_ANYWHERE,
    NET_LOG_OPENS,   ///< it begins a tick, or is in it
    NET_LOG_ENDS,    ///< it ends the tick
    NET_LOG_AFTER,   ///< after the end of a tick, which it names
    NET_LOG_BETWEEN, ///< between two ticks: it names the one that comes
    NET_LOG_CLOSES,  ///< after the last tick, which it names
} net_log_stage;

typedef enum net_log_item_kind {
    NET_LOG_ITEM_LEAVE = 2, ///< the field's number in TickBegin
    NET_LOG_ITEM_JOIN = 3,
    NET_LOG_ITEM_EVENT = 4,
    NET_LOG_ITEM_INPUT = 5,
    NET_LOG_ITEM_SERVER_EVENT = 6, ///< the field's number in TickEnd
    NET_LOG_ITEM_KINDS,
} net_log_item_kind;

/// One leave, join, event or input. Pointers borrow from the record's bytes.
typedef struct net_log_item {
    net_log_item_kind kind;
    uint32_t client;
    char name[NET_PLAYER_NAME_BYTES_MAX];
    bool is_bot;
    uint64_t player_id; ///< JOIN; the user data is the payload
    bool is_repeat;
    uint32_t reason;
    uint32_t number; ///< INPUT; EVENT: 0 for an unreliable one
    uint64_t seen;
    uint32_t message;
    ecs_entity target;
    const uint8_t* payload; ///< never NULL
    uint32_t payload_bytes;
    bool has_record; ///< from here on: JOIN, as net_game_player
    uint64_t record_version;
    const uint8_t* record;
    uint32_t record_bytes;
    const uint8_t* transfer;
    uint32_t transfer_bytes;
} net_log_item;

/// A checked record. Pointers borrow from its bytes.
typedef struct net_log_record {
    net_log_kind kind;
    uint32_t size;   ///< of the packed record
    bool is_checked; ///< its items were read before
    ecs_tick tick;
    uint64_t state_hash, world_hash;
    bool has_world_hash;
    const uint8_t* changes; ///< END: sums; STATE: log_recorder.h
    uint32_t changes_bytes;
    uint32_t events_left_out;
    uint32_t item_count[NET_LOG_ITEM_KINDS];
    uint32_t reason;                       ///< ALIVE: a net_idle, or one of a later version
    char verb[NET_CONTROL_VERB_BYTES_MAX]; ///< CONTROL
    uint32_t argument_count;
    const uint8_t* body;
    size_t body_bytes;
} net_log_record;

/// What is known of a kind.
typedef struct net_log_kind_row {
    const char* word;
    net_log_stage stage;
    bool is_run;           ///< a match that runs again takes it
    bool is_streamed;      ///< to those that follow a match
    net_log_kind shown_as; ///< what spectators get of it; OTHER: no writer of ours writes it
    uint32_t shown_fields; ///< bits: the fields of its body that they get
} net_log_kind_row;
extern const net_log_kind_row net_log_kinds[NET_LOG_KINDS];

/// Is it the name of a control: [a-z_], 1 to NET_CONTROL_VERB_BYTES_MAX - 1 of them?
bool net_log_is_verb(const char* verb, size_t size);
/// Check all of a packed record, items included. Total. @return false for bytes that no writer
/// writes.
BASE_MUST_USE bool net_log_record_read(net_log_record* record, const void* data, size_t size);
/// The same for a record that was read before: its items are counted alone.
BASE_MUST_USE bool net_log_record_again(net_log_record* record, const void* data, size_t size);
/// Get the next item of one kind; start with *offset 0. @return false at the end.
bool net_log_item_next(const net_log_record* record, net_log_item_kind kind, size_t* offset,
                       net_log_item* item);
/// @return the player of a JOIN, borrowed from the item.
net_game_player net_log_item_player(const net_log_item* item);

/// Get the next item of a tick's begin, as it is recorded: leaves, joins, events, inputs; start
/// with *position 0. An input has its `seen`. Borrowed from `begin`. @return false at the end.
bool net_log_begin_next(const net_tick_inputs* begin, uint32_t* position, net_log_item* item);

/// Get the next argument of a CONTROL; start with *offset 0. Borrowed from the record's bytes.
/// @return false at the end.
bool net_log_argument_next(const net_log_record* record, size_t* offset,
                           net_match_argument* argument);
/// Copy an argument as text, as all controls of ours are. @return false: its bytes are none.
bool net_log_argument_text(const net_match_argument* argument, char text[ECS_STRING_BYTES_MAX + 1]);

/// Records of unknown kinds that may be between two of known kinds: a later version may write
/// some, and a file of nothing else is no log.
#define NET_LOG_OTHERS_MAX 1024u

/// The order that records keep. Zeroed at the start.
typedef struct net_log_order {
    ecs_tick tick;   ///< of the newest record
    bool is_in_tick; ///< between begin and end
    bool is_closed;
    uint32_t others;   ///< records of unknown kinds since the newest of a known kind
    ecs_tick last_end; ///< newest whole tick
} net_log_order;
/// @return false when the record cannot follow.
BASE_MUST_USE bool net_log_order_add(net_log_order* order, const net_log_record* record);

/// A record while it is written. The memory holds the queue's prefix, the record's own tag and
/// length, and the body; tag and length are written last, right before the body.
#define NET_LOG_QUEUE_PREFIX_BYTES 24u
typedef struct net_log_draft {
    uint8_t* memory; ///< NET_LOG_DRAFT_BYTES
    proto_pb_writer body;
} net_log_draft;
#define NET_LOG_DRAFT_HEAD_BYTES (NET_LOG_QUEUE_PREFIX_BYTES + 8u)
#define NET_LOG_DRAFT_BYTES (NET_LOG_DRAFT_HEAD_BYTES + NET_LOG_RECORD_BYTES_MAX)

/// Begin an empty body.
void net_log_draft_begin(net_log_draft* draft);
/// Append an item to the body of a record. @return false when it does not fit: nothing was written.
BASE_MUST_USE bool net_log_item_write(proto_pb_writer* body, const net_log_item* item);
/// The same for a draft, of which an item has a client unless the server sends it.
BASE_MUST_USE bool net_log_draft_item(net_log_draft* draft, const net_log_item* item);
/// Close as a record of a kind. *size is its length with the queue's prefix. @return its start.
uint8_t* net_log_draft_end(net_log_draft* draft, net_log_kind kind, uint64_t number, ecs_tick tick,
                           uint32_t* size);

/// A record was written from `begin` on: its length goes before it, as blocks have it.
void net_log_frame_record(proto_pb_writer* to, size_t begin);

// ---- the header record ----

// The header record: game, settings and schema of a log.

enum {
    NET_LOG_HEADER_SCHEMA = 12, ///< its field in Header; the others are fields of Schema
    NET_LOG_HEADER_ROW_CODE = 15,
    NET_LOG_HEADER_TEMPLATES = 17,
    NET_LOG_SCHEMA_COMPONENT = 1,
    NET_LOG_SCHEMA_TEMPLATE = 2,
    NET_LOG_SCHEMA_MESSAGE = 3,
    // The last field of the Header of a later segment: required_features again, as fixed64.
    NET_LOG_HEADER_PART_TAG = 14 << 3 | 1,
    NET_LOG_HEADER_PART_BYTES = 1 + 8,
};

/// Bits of Header.required_features; 4 was of version 2.
#define NET_LOG_FEATURE_VIEWS UINT64_C(1)    ///< Input.seen decides
#define NET_LOG_FEATURE_SEGMENT UINT64_C(2)  ///< it begins with a keyframe, after a later tick
#define NET_LOG_FEATURE_CONTROLS UINT64_C(8) ///< it may have records of NET_LOG_KIND_CONTROL
#define NET_LOG_FEATURE_RELOAD UINT64_C(16)  ///< the game is another version from here on
#define NET_LOG_FEATURE_SEEN UINT64_C(32)    ///< a client's record of what it saw
#define NET_LOG_FEATURE_FILES UINT64_C(64)   ///< the game has files: they are in the header
#define NET_LOG_FEATURE_HOSTED UINT64_C(128) ///< the match has a host: joins may have records
#define NET_LOG_FEATURE_LONG UINT64_C(256)   ///< its events may be longer than a part of one

/// Pack the Header of a match. When the whole schema does not fit a
/// record, templates, then fields are left out. *has_values, if it is set, says that states
/// follow; it is cleared when the schema does not describe them all.
/// @return NET_OK; NET_ERR_FULL.
BASE_MUST_USE net_result net_log_header_write(base_bytes* bytes, const net_match* match,
                                              const char* build, uint64_t now_unix_ms,
                                              uint64_t identity, bool* has_values);
/// Pack a SchemaTemplate, without tag and length. Its defaults are those of `rows`.
void net_log_header_write_template(proto_pb_writer* wire, ecs_world* world, const net_rows* rows,
                                   ecs_template_id id);
/// Append more required features to a packed Header: NET_LOG_HEADER_PART_BYTES at its end.
void net_log_header_demand(base_bytes* bytes, uint64_t features);
/// What a Header demands of its reader.
typedef struct net_log_demand {
    uint64_t version;
    uint64_t features; ///< Header.required_features
    char build[64];    ///< of the program that wrote it; may be empty
} net_log_demand;

/// Fill the first half of `info` from a packed Header; demand->features are its bits. Total.
/// @return NET_OK; NET_ERR_VERSION (a later version's, `info` is not touched; `demand` says why);
/// NET_ERR_DAMAGED (one that no writer writes).
BASE_MUST_USE net_result net_log_header_read(net_log_info* info, const void* data, size_t size,
                                             net_log_demand* demand);
/// Header.required_features of a packed Header; 0 for one that no writer writes. Total.
uint64_t net_log_header_features(const void* data, size_t size);
/// The last field of a packed Header with this number and type. @return false: it has none.
bool net_log_header_find(const void* data, size_t size, uint32_t id, uint32_t type,
                         proto_pb_field* field);
/// Header.row_code of a packed Header; 0: no states follow. Total.
uint64_t net_log_header_row_code(const void* data, size_t size);
/// Append NET_LOG_FEATURE_RELOAD and the pack of a module's templates to a packed Header. Without
/// room for it the pack is left out.
void net_log_header_reload(base_bytes* bytes, const net_module* module);
/// The pack of templates in a packed Header, borrowed. @return NULL: it has none.
const uint8_t* net_log_header_templates(const void* data, size_t size, size_t* pack_bytes);
/// Name of a component as the log's writer knew it. @return false when the header does not say.
BASE_MUST_USE bool net_log_header_component(const void* data, size_t size, uint32_t component,
                                            char name[ECS_NAME_BYTES_MAX]);
/// The first thing in which a match of the same game differs from the log's schema, as one
/// sentence: components with their fields, templates with what travels of them, messages.
/// @return false when nothing differs.
bool net_log_header_difference(const void* data, size_t size, const net_match* match, char* text,
                               size_t text_bytes);
/// Copy a text field. @return false for another type, a control character, or when it is too long.
BASE_MUST_USE bool net_log_header_text(const proto_pb_field* field, char* target,
                                       size_t target_bytes);

// ---- the schema as tables ----

// The schema of a log as tables: components with their fields, and rows. Made from Header.schema
// alone, so a reader without the game has the same rows as the match that was recorded.
//
// Memory:  proportional to the schema, and to the templates that a log composes; both are limited.
// Threads: one thread at a time.

/// The version of the row code that state is written in (Header.row_code): ROWS.md's.
#define NET_LOG_ROW_CODE 6u
/// Templates of a log with rows, composed ones included.
#define NET_LOG_TEMPLATES_MAX NET_ROW_TEMPLATES_MAX
#define NET_LOG_DEFINITION_BYTES_MAX 65536u

/// A template with rows. It does not move.
typedef struct net_log_template {
    char name[ECS_NAME_BYTES_MAX * 4];
    uint32_t component_count; ///< with values, in order of name
    const net_log_component* components[ECS_TEMPLATE_COMPONENTS_MAX]; ///< fixed and variable size
    /// [component]: its place in the row's layout; UINT8_MAX: of variable size
    uint8_t places[ECS_TEMPLATE_COMPONENTS_MAX];
    const net_row_template* row;
} net_log_template;

typedef struct net_log_schema {
    base_owner owner;
    const base_allocator* allocator; ///< of the owner
    uint32_t tick_rate_hz;
    uint32_t index_max;                        ///< the highest index of an entity with rows
    struct net_log_component_row** components; ///< by rising id
    uint32_t component_count, component_capacity;
    net_rows_component by_id[ECS_COMPONENTS_MAX + 1];
    net_rows* rows;
    net_log_template** templates; ///< by id of their rows, from 1 on
    uint32_t template_count, template_capacity;
} net_log_schema;

/// *has_values: the log has states in these rows. The caller owns it (base_owner_destroy).
/// @return NET_OK; NET_ERR_VERSION (it has another row code); NET_ERR_DAMAGED (no writer
///         writes such a header).
BASE_MUST_USE net_result net_log_schema_create(const base_allocator* allocator, const void* header,
                                               size_t header_bytes, bool* has_values,
                                               net_log_schema** schema);
/// By rising id; NULL beyond the last.
const net_log_component* net_log_schema_component(const net_log_schema* schema, uint32_t position);
/// The template of a row of these rows.
const net_log_template* net_log_schema_template(const net_log_schema* schema,
                                                const net_row_template* row);
/// Add a composed template, whose parts are wire numbers: a packed SchemaTemplate. One that is
/// there is left out. @return NET_OK; NET_ERR_DAMAGED (it is none, or there are too many).
BASE_MUST_USE net_result net_log_schema_define(net_log_schema* schema, const uint16_t* parts,
                                               uint32_t part_count, const void* data, size_t size);
