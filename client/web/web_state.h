// SPDX-License-Identifier: MIT
/// What the exports of web.c and play.c share.
#pragma once

#include "web.h"

#include "base/quota.h"
#include "log/log_read.h"
#include "net/client.h"

/// What a page reads after each call, as doubles.
typedef enum web_number {
    WEB_RESULT, // a net_result; 0: nothing is wrong
    WEB_IS_READY,
    WEB_TICK, // shown
    WEB_FIRST,
    WEB_LAST,
    WEB_IS_CLOSED,
    WEB_BYTES_USED,
    WEB_ANSWER, // where it is, and its bytes
    WEB_ANSWER_BYTES,
    WEB_NEWS, // lines of the reporter, which the page takes with the call
    WEB_NEWS_BYTES,
    WEB_CALLS, // of the picture
    WEB_CALLS_BYTES,
    WEB_CALL_COUNT,
    WEB_PHASE, // of a player: a net_client_phase, and a net_client_end
    WEB_END,
    WEB_CLIENT,
    WEB_HEARD, // pairs of floats: a row of the game's sounds, its volume
    WEB_HEARD_COUNT,
    WEB_NUMBERS
} web_number;

/// Of the re-run: what differs from the log.
typedef struct web_check {
    net_log_reader* reader;
    net_log_replay* replay;
    double ticks, differs, first_differs, world_hashes, world_differs, ms;
    net_result result; // after a failure it stays as it is
    bool is_done;
} web_check;

/// A player.
typedef struct web_play {
    const struct web* page;
    char token[NET_TOKEN_TEXT_BYTES], later[NET_TOKEN_TEXT_BYTES];
    char name[NET_PLAYER_NAME_BYTES_MAX];
    char said[NET_LINE_BYTES_MAX];
    uint8_t secret[NET_RESUME_BYTES];
    bool has_secret;
    base_quota memory;
    net_transport* transport;
    net_match* match;
    net_presenter* presenter;
    net_client* client;
    const net_game_module* game;
    net_controls controls; // as the page says it; the arrays below
    bool held[NET_ACTIONS_MAX], pressed[NET_ACTIONS_MAX], was_pressed[NET_ACTIONS_MAX];
    bool given[NET_ACTIONS_MAX];
    uint32_t input_bytes; // above 0: the page makes the inputs itself
    _Alignas(16) uint8_t input[NET_INPUT_BYTES_MAX];
    double begun_ms, drawn_ms;
    float heard[2 * NET_HEARD_MAX];
} web_play;

/// Numbers go to the page in `state`, texts as JSON or lines in `answer`.
typedef struct web {
    double state[WEB_NUMBERS];
    base_bytes answer, news;
    base_reporter reporter;
    net_module* module;
    net_log_reader* reader;
    net_playback* playback;
    net_result failure;   ///< why this log cannot be shown at all
    uint64_t retry_bytes; ///< a start that is none is looked at again with more bytes
    web_drawing drawing;
    web_check check;
    web_play* play;  ///< NULL: this page plays none
    base_bytes room; ///< where the page puts bytes for a call
} web;

/// Write the numbers, after each call.
void web_note(web* self, net_result result);
void web_clear_answers(web* self);

/// Append the events that the mirror got to the answer; of `net_client_config.stepped`.
bool web_read_stepped(void* self);
