// SPDX-License-Identifier: MIT
/// Look into a server: why a client has an entity or not, where the bits of the last seconds went,
/// and a packet bit by bit.
///
/// Nothing here changes the match or a bit that is sent. But it may wait: net_server_explain,
/// net_server_ledger and net_server_packet begin with net_server_collect, which waits until the
/// threads of the server have sent the last tick. Call it as other functions of a server
/// that are not const (net/server.h). Texts are static or those of the world's schema, valid while
/// the server lives. Ticks: 0 means none.
#pragma once

#include "net/server.h"

BASE_C_BEGIN

// ---- what looks at the packets of a server

typedef struct net_send_tap net_send_tap;
/// net_server_config.tap: for net_server_ledger and net_server_packet.
extern const net_send_tap net_explain_tap;
/// The same, and it accounts every bit by client, component and cause, for net_server_accounts.
extern const net_send_tap net_account_tap;

// ---- why a client has an entity, or not

/// The rules by which a scope is found (net/game.h). NET_RULE_RELEVANCE decides last.
typedef enum net_rule {
    NET_RULE_REPLICATED, ///< it lives, and its template is replicated
    NET_RULE_PLAYER,     ///< it is the client's player
    NET_RULE_OWNER,      ///< the client owns it
    NET_RULE_ALWAYS,     ///< the game's tag
    NET_RULE_EVERYWHERE, ///< it has neither position nor groups: all clients have it
    NET_RULE_GROUPS,     ///< a common bit of its groups and the client's
    NET_RULE_RANGE,      ///< within the radius; one in scope: within the larger radius to leave
    NET_RULE_STAY,       ///< in scope for less than NET_INTEREST_STAY_MS
    NET_RULE_TOGETHER,   ///< one that it travels with is shown
    NET_RULE_RELEVANCE,  ///< the game's own function
    NET_RULE_COUNT
} net_rule;

typedef enum net_rule_answer {
    NET_RULE_UNUSED, ///< the game has no such rule, or the entity no such component
    NET_RULE_SILENT, ///< it leaves the decision to others
    NET_RULE_SHOWS,
    NET_RULE_HIDES,
} net_rule_answer;

/// What the client has of the entity, as far as the server knows.
typedef enum net_has {
    NET_HAS_NOT,
    NET_HAS_CREATE_WAITS,
    NET_HAS_CREATE_SENT, ///< not acknowledged yet
    NET_HAS_LIVE,        ///< acknowledged
    NET_HAS_DESTROY_WAITS,
    NET_HAS_DESTROY_SENT,
    NET_HAS_COUNT
} net_has;

/// Why the newest packet to the client has nothing of the entity.
typedef enum net_held {
    NET_HELD_NOT,     ///< it has
    NET_HELD_SCOPE,   ///< not in scope, and nothing to destroy
    NET_HELD_NOTHING, ///< nothing waits: the client has all, or it is on its way
    NET_HELD_CREATE,  ///< its create is in flight, and is sent again only when it is lost
    NET_HELD_FLYING,  ///< as many packets in flight as may be carry it
    NET_HELD_LATER,   ///< it waits since after the newest packet
    NET_HELD_BUDGET,  ///< all packets of the tick were full of more urgent ones
    NET_HELD_RATE,    ///< the client's rate held packets back
    NET_HELD_TURN,    ///< it was not the client's turn (send_divisor)
    NET_HELD_AWAY,    ///< its connection is lost
    NET_HELD_DEAF,    ///< it acknowledges nothing, so it gets a packet now and then
    NET_HELD_COUNT
} net_held;

/// "replicated", "range"...
const char* net_rule_name(net_rule rule);
/// "unused", "silent", "shows", "hides".
const char* net_rule_answer_name(net_rule_answer answer);
/// "not", "create waits", "live"...
const char* net_has_name(net_has has);
/// One sentence for a person.
const char* net_held_text(net_held held);

#define NET_EXPLAINED_COMPONENTS_MAX 96u ///< of a row, and of variable size

typedef struct net_explained_component {
    const char *name, *class_name;
    ecs_component_id component;
    bool is_visible;     ///< to this client; without that nothing of it is ever sent
    bool is_varsize;     ///< it travels beside state packets, by version
    bool waits;          ///< the newest value was not sent, or only in packets that were lost
    bool is_unconfirmed; ///< it was sent, and its acknowledgement has not come
} net_explained_component;

typedef struct net_explanation {
    uint32_t client;
    ecs_entity entity;
    ecs_tick tick;             ///< of the newest step
    const char* template_name; ///< NULL: no such entity lives
    // The scope.
    bool is_in_scope;
    net_rule rule; ///< that decides: its answer is SHOWS or HIDES
    net_rule_answer answers[NET_RULE_COUNT];
    uint32_t turn_ticks; ///< when the rules say other than is_in_scope: ticks until the client's
                         ///< scope is looked at
    bool has_viewpoint, has_position;
    float viewpoint[3], position[3];
    double distance;             ///< with both; else -1
    double radius, leave_radius; ///< 0: distance does not limit
    uint32_t owner, team, together;
    uint64_t groups;
    uint32_t client_team;
    uint64_t client_groups;
    uint32_t looks_as; ///< the client number whose eyes are used: a spectator's player
    uint32_t classes;  ///< bits of the visible classes; 0: not in scope
    // What the client has.
    net_has has;
    uint32_t slot;           ///< UINT32_MAX: none
    ecs_tick entered;        ///< in scope since
    ecs_tick changed;        ///< newest change that it may see
    ecs_tick acked_tick;     ///< of the newest row that it certainly has
    ecs_tick base_tick;      ///< of the row that the next one is coded against; 0: absolute
    uint32_t packets_flying; ///< without an answer, with the entity
    // What waits.
    bool waits;
    bool is_repeat;  ///< only because a packet was lost
    bool is_resync;  ///< the client requested the whole row
    bool is_overdue; ///< so long that it goes before all that waits for less
    ecs_tick waits_since;
    uint32_t weight;  ///< importance x distance band x 4 for its owner
    uint32_t rank;    ///< 1: goes first, as of this tick; 0: it does not wait, or is held
    uint32_t waiting; ///< entities that wait for this client
    net_held held;
    // The newest packet with the entity, of those that are known; and the newest at all.
    bool has_packet, is_packet_acked, is_packet_lost;
    uint16_t packet_seq;
    ecs_tick packet_tick;
    ecs_tick newest_packet_tick;
    uint32_t component_count;
    net_explained_component components[NET_EXPLAINED_COMPONENTS_MAX];
} net_explanation;

/// Explain what a client has of an entity. The game's `relevance` and `classes` may be called.
/// `entity` may be any handle. @return false: no such client plays or watches.
bool net_server_explain(net_server* server, uint32_t client, ecs_entity entity,
                        net_explanation* explanation);

// ---- where the bits of the last seconds went

#define NET_LEDGER_SECONDS 10u
#define NET_LEDGER_ENTITIES_MAX 65536u ///< indices from there on are counted as "-"
#define NET_LEDGER_ASK_MS 15000u ///< so long after the last question nothing is counted any more

typedef enum net_ledger_by {
    NET_LEDGER_BOTH, ///< component and cause
    NET_LEDGER_COMPONENT,
    NET_LEDGER_CAUSE,
    NET_LEDGER_TEMPLATE,
    NET_LEDGER_CLIENT, ///< of those that are here
    NET_LEDGER_ENTITY, ///< those that live
    NET_LEDGER_BY_COUNT
} net_ledger_by;

typedef struct net_ledger_line {
    const char* name;  ///< of a component, cause, template or player; of an entity its template;
                       ///< "-": bits of none
    const char* cause; ///< with BOTH; else NULL
    uint32_t client;
    ecs_entity entity;
    uint64_t bits;
    double share; ///< of all bits, 0..1
} net_ledger_line;
typedef void (*net_ledger_line_fn)(void* context, const net_ledger_line* line);

typedef struct net_ledger_span {
    uint32_t seconds;                         ///< that were counted, whole ones
    uint64_t bits;                            ///< 8 times what the transport sent in them
    uint64_t second_bits[NET_LEDGER_SECONDS]; ///< the newest last; 0 before the first
    bool is_cut;                              ///< there are more lines than were listed
} net_ledger_span;

/// List where the bits of the last NET_LEDGER_SECONDS went, most first. The first call begins to
/// count; until then, and NET_LEDGER_ASK_MS after the last call, nothing is counted and no memory
/// held. Entities are counted from the first call with NET_LEDGER_ENTITY on in the same way, since
/// they cost most: 20,000 of them 0.1 ms a second. `line` may be NULL. Lists nothing without a tap.
void net_server_ledger(net_server* server, net_ledger_by by, uint32_t lines_max,
                       net_ledger_line_fn line, void* context, net_ledger_span* span);

/// List where all sent bits went since the beginning, by component and cause, most first: all
/// clients together (`client` is 0), then at most `client_lines_max` lines of each client,
/// connected or gone (of the first 4,096); `share` is of the client's bits. The bits of all
/// together are exactly 8 times the transport's sent_bytes. The bytes that the transport adds are
/// listed there only, as "transport". Lists nothing without net_account_tap.
void net_server_accounts(net_server* server, uint32_t client_lines_max, net_ledger_line_fn line,
                         void* context);

// ---- a packet bit by bit

#define NET_PACKET_VALUE_BYTES 256u

typedef struct net_packet_part {
    uint32_t first_bit, bits; ///< in the packet as a client decodes it
    uint32_t depth; ///< 0: of the packet; 1: of a list or run; 2: of an entity; 3: of a component
    const char* what;
    const char* cause;                  ///< as in the ledger
    ecs_entity entity;                  ///< ECS_ENTITY_NONE: no entity
    const char* component;              ///< NULL: no component
    char value[NET_PACKET_VALUE_BYTES]; ///< may be ""
} net_packet_part;

typedef struct net_packet {
    uint32_t client;
    uint16_t seq;
    ecs_tick tick;
    uint32_t bits; ///< of all parts
    bool is_solo;  ///< rows are in solo code: where a number begins and ends is rounded to a bit
    uint32_t part_count;
    const net_packet_part* parts; ///< in the order of their bits, without gaps
} net_packet;

/// The newest state packet to a client, taken apart. The first call for a client begins to look at
/// its packets, instead of those of another one; NET_LEDGER_ASK_MS after the last call that ends.
/// @return it, borrowed until the server's next service or tick; NULL: none was sent since, or no
///         such client plays or watches.
const net_packet* net_server_packet(net_server* server, uint32_t client);

BASE_C_END
