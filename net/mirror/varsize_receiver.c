// SPDX-License-Identifier: MIT
// The client's side of variable-size values.
//
// Channels 0 and 1 are not ordered against each other, so a value may arrive long before its entity
// or long after the entity is gone. `since` decides: the value belongs to the entity as records of
// that tick and later ones describe it. With h and t the handle and tick of the newest record for
// the index:
//
//     t < since             the entity, or its present incarnation, is yet to come: the value waits
//     t >= since, h is it   applied
//     t > since, h is not   that incarnation is over: dropped
//     t = since, h is not   another packet of the same tick may create it: the value waits
//
// Versions rise over all values of a client and channel 0 keeps order, so a version that is not
// above the last one is a repetition. Of one value only the newest waits.
//
// Left to others: answering the server (session), the newest record of an index (mirror, scene).
#include "state/varsize.h"

#include "core/fault.h"
#include "base/assert.h"

#include <string.h>

typedef struct waiting_value {
    net_varsize_message message; ///< owns its bytes
    ecs_component_id component;
} waiting_value;

struct net_varsize_receiver {
    base_owner owner;
    net_varsize_receiver_config config; // its allocator is the owner's
    waiting_value* waiting;             ///< in order of arrival
    uint32_t waiting_count, waiting_capacity;
    uint32_t waiting_bytes;
    net_varsize_lost* evicted; ///< not reported yet
    uint32_t evicted_count, evicted_capacity;
    uint64_t version; ///< the newest received
    net_varsize_receiver_counters counters;
};

net_varsize_receiver* net_varsize_receiver_create(const net_varsize_receiver_config* config) {
    BASE_ASSERT(config && config->world && config->rows && config->known);
    BASE_ASSERT(config->waiting_bytes_max == 0 ||
                config->waiting_bytes_max >= NET_VARSIZE_BYTES_MAX);
    net_varsize_receiver* made = base_owner_create(config->allocator, sizeof *made);
    made->config = *config;
    made->config.allocator = &made->owner.allocator;
    if (config->waiting_max == 0) made->config.waiting_max = NET_VARSIZE_WAITING_MAX;
    if (config->waiting_bytes_max == 0)
        made->config.waiting_bytes_max = NET_VARSIZE_WAITING_BYTES_MAX;
    return made;
}

static void release_value(net_varsize_receiver* receiver, const waiting_value* value) {
    BASE_ASSERT(receiver->waiting_bytes >= value->message.size);
    receiver->waiting_bytes -= value->message.size;
    base_release(receiver->config.allocator, (void*)(uintptr_t)value->message.bytes,
                 value->message.size);
}

// A component that the entity lacks, or a world that could not load it, is no fault of the
// connection.
static void apply(net_varsize_receiver* receiver, const net_varsize_message* message,
                  ecs_component_id component) {
    if (net_fault_is_planted(NET_FAULT_VARSIZE_LOST) && message->version % 16 == 9) return;
    const net_varsize_receiver_config* config = &receiver->config;
    const void* bytes = message->is_default ? NULL : message->bytes;
    bool is_applied = true;
    if (config->keep)
        config->keep(config->keep_context, message->handle, component, bytes, message->size);
    else
        is_applied = net_varsize_apply(config->world, config->rows, message->handle, component,
                                       bytes, message->size) == NET_OK;
    receiver->counters.applied += is_applied;
    receiver->counters.dropped += !is_applied;
}

// @return false: it waits.
static bool settle(net_varsize_receiver* receiver, const net_varsize_message* message,
                   ecs_component_id component) {
    const net_varsize_receiver_config* config = &receiver->config;
    ecs_entity handle = ECS_ENTITY_NONE;
    ecs_tick tick = 0;
    if (!config->known(config->known_context, ecs_entity_index(message->handle), &handle, &tick) ||
        tick < message->since || (tick == message->since && handle != message->handle))
        return false;
    if (handle == message->handle)
        apply(receiver, message, component);
    else
        receiver->counters.dropped++;
    return true;
}

static void forget(net_varsize_receiver* receiver, const net_varsize_message* message) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < receiver->waiting_count; i++) {
        const net_varsize_message* other = &receiver->waiting[i].message;
        if (other->handle == message->handle && other->number == message->number)
            release_value(receiver, &receiver->waiting[i]);
        else
            receiver->waiting[kept++] = receiver->waiting[i];
    }
    receiver->waiting_count = kept;
}

// The oldest are dropped first: most likely their entities never came.
static void make_room(net_varsize_receiver* receiver, uint32_t size) {
    const net_varsize_receiver_config* config = &receiver->config;
    uint32_t count = 0;
    uint32_t bytes = receiver->waiting_bytes;
    while (count < receiver->waiting_count &&
           (receiver->waiting_count - count >= config->waiting_max ||
            size > config->waiting_bytes_max - bytes))
        bytes -= receiver->waiting[count++].message.size;
    if (count == 0) return;
    BASE_ARRAY_RESERVE(config->allocator, receiver->evicted, receiver->evicted_capacity,
                       receiver->evicted_count + count);
    for (uint32_t i = 0; i < count; i++) {
        const net_varsize_message* message = &receiver->waiting[i].message;
        receiver->evicted[receiver->evicted_count++] =
            (net_varsize_lost){message->handle, message->number, message->version};
        release_value(receiver, &receiver->waiting[i]);
    }
    receiver->waiting_count -= count;
    memmove(receiver->waiting, receiver->waiting + count,
            receiver->waiting_count * sizeof *receiver->waiting);
    receiver->counters.evicted += count;
}

bool net_varsize_receiver_next_evicted(net_varsize_receiver* receiver, net_varsize_lost* lost) {
    BASE_ASSERT(lost);
    if (receiver->evicted_count == 0) return false;
    *lost = receiver->evicted[--receiver->evicted_count];
    return true;
}

static void keep(net_varsize_receiver* receiver, const net_varsize_message* message,
                 ecs_component_id component) {
    BASE_ASSERT(component != ECS_COMPONENT_NONE);
    const base_allocator* allocator = receiver->config.allocator;
    make_room(receiver, message->size);
    BASE_ARRAY_RESERVE(allocator, receiver->waiting, receiver->waiting_capacity,
                       receiver->waiting_count + 1);
    waiting_value* value = &receiver->waiting[receiver->waiting_count];
    *value = (waiting_value){.message = *message, .component = component};
    value->message.bytes = NULL;
    if (message->size > 0) {
        value->message.bytes =
            memcpy(base_allocate(allocator, message->size), message->bytes, message->size);
    }
    receiver->waiting_bytes += message->size;
    receiver->waiting_count++;
}

// A message is checked completely before it changes anything.
static net_result check_message(const net_varsize_receiver* receiver,
                                const net_varsize_message* message, ecs_component_id component) {
    uint32_t index = ecs_entity_index(message->handle);
    if (component == ECS_COMPONENT_NONE || message->version == 0 || index < 1 ||
        index > receiver->config.index_max || ecs_entity_generation(message->handle) < 1)
        return NET_ERR_MALFORMED;
    if (message->is_default) return message->size == 0 ? NET_OK : NET_ERR_MALFORMED;
    if (message->size == 0) return NET_ERR_MALFORMED;
    return net_varsize_check(receiver->config.world, component, message->bytes, message->size);
}

net_result net_varsize_receiver_receive(net_varsize_receiver* receiver,
                                        const net_varsize_message* message) {
    BASE_ASSERT(message && (message->bytes || message->size == 0));
    ecs_component_id component = net_rows_varsize(receiver->config.rows, message->number);
    net_result result = check_message(receiver, message, component);
    if (result != NET_OK) {
        receiver->counters.malformed++;
        return result;
    }
    receiver->counters.received++;
    if (message->version <= receiver->version) {
        receiver->counters.stale++;
        return NET_OK;
    }
    receiver->version = message->version;
    forget(receiver, message);
    if (!settle(receiver, message, component)) keep(receiver, message, component);
    return NET_OK;
}

void net_varsize_receiver_tick(net_varsize_receiver* receiver) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < receiver->waiting_count; i++) {
        waiting_value* value = &receiver->waiting[i];
        if (settle(receiver, &value->message, value->component))
            release_value(receiver, value);
        else
            receiver->waiting[kept++] = *value;
    }
    receiver->waiting_count = kept;
}

uint32_t net_varsize_receiver_waiting(const net_varsize_receiver* receiver) {
    return receiver->waiting_count;
}

const net_varsize_receiver_counters*
net_varsize_receiver_get_counters(const net_varsize_receiver* receiver) {
    return &receiver->counters;
}
