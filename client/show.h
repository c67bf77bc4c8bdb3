// SPDX-License-Identifier: MIT
/// What the parts of the window share while a person plays: window_play.c has the loop and the
/// sessions, show_input.c the people and their keys, show_picture.c what a frame shows.
#pragma once

#include "program.h"

#include "config/servers.h"
#include "window/bindings.h"
#include "window/controls.h"
#include "feed.h"
#include "window/sound.h"
#include "window/screens.h"
#include "window/window.h"

#include "base/assert.h"

#include <pthread.h>

#define SHOW_LEGEND_S 20.0 ///< after the start the keys are shown for so long
#define SHOW_NOTICE_S 4.0

typedef struct show show;

typedef struct show_faults {
    char lines[CLIENT_FAULTS_MAX][CLIENT_FAULT_BYTES];
    uint32_t count;
} show_faults;

/// Faults of the game's files: what a failed build said, and what this process reported, one of
/// each line.
struct client_faults {
    show_faults built, reported;
    uint64_t looked_us;    ///< time of the last look at `built`; 0: none
    pthread_mutex_t mutex; ///< of `reported`: the server of --local has a thread of its own
    base_reporter reporter;
};

/// Who sees a part of the window: a person, or a bot whose play is watched.
typedef struct show_person {
    show* on;
    net_presenter* presenter;
    base_quota memory; // of presenter and player
    client_controls controls;
    char said[NET_LINE_BYTES_MAX]; ///< a whole line that the game gets with the next input
} show_person;

struct show {
    client_program* program;
    client_window* window;
    show_person people[CLIENT_PEOPLE_MAX]; ///< as the program's first players
    uint32_t people_count;                 ///< at least one while a session is open
    client_feed feed;
    client_panel panel;
    client_sound* sound; ///< NULL: nothing is heard
    base_reporter stderr_reporter;
    char last_report[BASE_REPORT_BYTES_MAX]; ///< the reason on the end screen
    bool is_interactive, has_panel, has_help;
    bool is_leaving;                           ///< the user wants to go
    bool is_closed;                            ///< and not back to the list of servers
    char address[CLIENT_SERVER_ADDRESS_BYTES]; ///< of the list
    uint32_t chosen_server;
    bool only_watches; ///< --spectate, whatever is chosen there
    bool wants_again;
    bool is_shot, has_failed;
    uint32_t shot_count; ///< pictures of --shot every
    uint64_t covered_us;
    client_bindings bindings;
    client_binder binder;
    char bindings_file[1024];             ///< "": they are not kept
    client_line line;                     ///< what the first person types
    uint32_t pads;                        ///< a bit for each game controller that is there
    uint32_t pad_person[CLIENT_PADS_MAX]; ///< whose it is, while it is there
    char notice[128];
    uint64_t notice_us;  ///< when it was said
    uint64_t playing_us; ///< when the first picture of the game was shown; 0: not yet
};

static inline client_player* show_player(const show* on, uint32_t person) {
    BASE_ASSERT(on->program->players && person < on->program->player_count);
    return &on->program->players[person];
}

/// Open the players, with the view of each person. @return NET_EXIT_CLEAN; any other: reported.
BASE_MUST_USE int show_open_people(show* on);
/// Find out which keys do what in the game that was opened.
void show_bindings_open(show* on);
/// Handle what came from keys and pointer.
void show_see_events(show* on);
/// A game controller came or went, with any other event nothing happens.
void show_see_pads(show* on, const client_event* event);
/// Close the line that a person types: its session is over.
void show_close_line(show* on);

/// Show the list of servers until one is chosen, or the user leaves (is_leaving). The program's
/// config has its address then, and whether it is watched.
/// @return NET_EXIT_CLEAN; any other exit code: reported.
BASE_MUST_USE int show_choose_server(show* on);
/// Does the person only watch?
bool show_is_watching(const show* on);

typedef enum show_picture {
    SHOW_CONNECTING,
    SHOW_PLAYING,
    SHOW_ENDED,
} show_picture;

/// Draw one frame; with `shot` its picture is written to that file.
void show_draw(show* on, uint64_t now_us, show_picture what, const char* shot);
