// SPDX-License-Identifier: MIT
// A long log is read in pieces: its first picture does not wait for its last join.
//
// The log is untrusted: a message number may be unknown, and a client whose number does not rise
// gets no name (the replay refuses it later).
#include "playback/playback_marks.h"

#include "base/assert.h"
#include "base/search.h"
#include "base/shown.h"
#include "base/text.h"

#include <string.h>

static bool add_mark(net_playback_marks_list* list, net_playback_mark mark) {
    if (list->mark_count == NET_PLAYBACK_MARKS_MAX) return true;
    if (!BASE_ARRAY_RESERVE(list->allocator, list->marks, list->mark_capacity,
                            list->mark_count + 1))
        return false;
    list->marks[list->mark_count++] = mark;
    return true;
}

static bool add_name(net_playback_marks_list* list, const net_log_item* item) {
    uint32_t count = list->name_count;
    if (count == NET_PLAYBACK_NAMES_MAX) return true;
    if (count > 0 && item->client <= list->names[count - 1].client) return true;
    if (!BASE_ARRAY_RESERVE(list->allocator, list->names, list->name_capacity, count + 1))
        return false;
    net_playback_name* name = &list->names[list->name_count++];
    name->client = item->client;
    (void)base_text_copy(name->text, sizeof name->text, item->name);
    return true;
}

static bool is_reliable_event(const net_game_module* game, uint32_t message) {
    if (message < 1 || message > game->message_count) return false;
    const net_message* known = &game->messages[message - 1];
    return known->kind == NET_MESSAGE_TO_CLIENTS && known->is_reliable;
}

// The log is foreign: a name that no operator gives is left out.
static bool add_named(net_playback_marks_list* list, const net_log_record* record) {
    net_playback_mark mark = {.tick = record->tick, .kind = NET_PLAYBACK_NAMED};
    char name[NET_MARK_BYTES] = {0};
    size_t offset = 0;
    net_match_argument argument;
    if (strcmp(record->verb, "mark") != 0 || !net_log_argument_next(record, &offset, &argument) ||
        argument.size >= sizeof name)
        return true;
    memcpy(name, argument.data, argument.size);
    return !base_shown_copy(mark.name, sizeof mark.name, name) || add_mark(list, mark);
}

static bool add_record(net_playback_marks_list* list, const net_game_module* game,
                       const net_log_record* record) {
    size_t offset = 0;
    net_log_item item;
    bool is_kept = true;
    if (record->kind == NET_LOG_KIND_END) {
        while (is_kept && net_log_item_next(record, NET_LOG_ITEM_SERVER_EVENT, &offset, &item)) {
            if (!is_reliable_event(game, item.message)) continue;
            is_kept = add_mark(list, (net_playback_mark){.tick = record->tick,
                                                         .kind = NET_PLAYBACK_EVENT,
                                                         .message = item.message});
        }
        return is_kept;
    }
    if (record->kind == NET_LOG_KIND_CONTROL) return add_named(list, record);
    if (record->kind != NET_LOG_KIND_BEGIN) return true;
    while (is_kept && net_log_item_next(record, NET_LOG_ITEM_LEAVE, &offset, &item))
        is_kept = add_mark(list, (net_playback_mark){.tick = record->tick,
                                                     .kind = NET_PLAYBACK_LEAVE,
                                                     .client = item.client});
    offset = 0;
    while (is_kept && net_log_item_next(record, NET_LOG_ITEM_JOIN, &offset, &item))
        is_kept =
            add_name(list, &item) && add_mark(list, (net_playback_mark){.tick = record->tick,
                                                                        .kind = NET_PLAYBACK_JOIN,
                                                                        .client = item.client});
    return is_kept;
}

void net_playback_marks_init(net_playback_marks_list* list, const base_allocator* allocator,
                             net_log_reader* reader) {
    *list =
        (net_playback_marks_list){.allocator = allocator, .cursor = net_log_cursor_begin(reader)};
}

net_result net_playback_marks_read(net_playback_marks_list* list, net_log_reader* reader,
                                   const net_game_module* game, uint64_t blocks) {
    BASE_ASSERT(list && reader && game);
    ecs_tick last = net_log_reader_info(reader)->last_tick;
    net_log_cursor* cursor = &list->cursor;
    uint64_t limit = cursor->blocks + blocks;
    net_log_record record;
    if (list->is_whole || !net_log_cursor_return(reader, cursor))
        return list->is_whole ? NET_OK : NET_ERR_DAMAGED;
    // A piece ends after the last record of a block.
    while (cursor->blocks < limit || cursor->at < cursor->size) {
        const net_log_cursor before = *cursor;
        bool is_there = net_log_cursor_next(reader, cursor, &record);
        bool is_over = is_there && record.kind != NET_LOG_KIND_OTHER && record.tick > last;
        list->is_whole = !is_there || is_over;
        if (is_over) *cursor = before; // it is read when its tick is whole
        if (list->is_whole) break;
        if (!add_record(list, game, &record)) return NET_ERR_MEMORY;
    }
    return cursor->has_failed ? NET_ERR_DAMAGED : NET_OK;
}

void net_playback_marks_deinit(net_playback_marks_list* list) {
    BASE_ARRAY_RELEASE(list->allocator, list->marks, list->mark_capacity);
    BASE_ARRAY_RELEASE(list->allocator, list->names, list->name_capacity);
    *list = (net_playback_marks_list){0};
}

const char* net_playback_marks_name(const net_playback_marks_list* list, uint32_t client) {
    base_search search = base_search_begin(list->name_count);
    while (base_search_next(&search))
        base_search_step(&search, list->names[search.middle].client < client);
    if (search.low == list->name_count) return NULL;
    const net_playback_name* name = &list->names[search.low];
    return name->client == client ? name->text : NULL;
}
