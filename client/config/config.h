// SPDX-License-Identifier: MIT
/// The options of shoal-client, read and checked.
#pragma once

#include "base/options.h"
#include "base/workers.h"
#include "net/limits.h"

#define CLIENT_BOTS_MAX 1000u
#define CLIENT_THIN_BOTS_MAX 3000u
#define CLIENT_PEOPLE_MAX 4u  ///< who play at one window
#define CLIENT_PIXELS_MIN 64u ///< limits of a window's width and height
#define CLIENT_PIXELS_MAX 8192u
#define CLIENT_VOLUME_MAX 100u

typedef struct client_config {
    const char* address; ///< the positional argument; NULL with a replay or a list
    bool is_listing;     ///< --list: ask the servers of the list, print a line for each
    bool is_choosing;    ///< a window without an address: one of the list is chosen there
    const char* servers; ///< file with the list; NULL: the user's own
    const char* game;    ///< NULL: ask the server, or read it from the log
    bool is_local;       ///< the server runs in this process; a window is the default
    bool is_headless;
    bool is_spectating; ///< all clients only watch; with --local the window does
    bool is_rendering;  ///< --render; --shot implies it
    uint64_t people;    ///< who play at the window, where no bots do it
    uint64_t bots;      ///< 0: one player, no bot
    uint64_t thin_bots; ///< besides: clients without a world
    const char* name;
    uint64_t ticks; ///< leave after this number of client ticks; 0: stay
    const char* dump_world;
    const char* record;
    const char* trace;
    const char* session_trace; ///< file; NULL: no trace
    const char* net;
    const char* token_file; ///< "-": standard input; NULL: SHOAL_TOKEN, or the built-in key
    uint64_t seed;
    uint64_t rate_bytes_max; ///< 0: the server decides

    const char* shot;    ///< NULL: none
    uint64_t shot_tick;  ///< 0: the last frame
    uint64_t shot_every; ///< then a picture every this many ticks: FILE-0001.png...; 0: one alone
    const char* size;    ///< as given; width and height hold its numbers
    uint32_t width, height;
    double fps; ///< frames per second; 0: the rate of the display
    bool is_fullscreen;
    bool has_panel;
    const char* faults; ///< a file whose lines the window shows while it is there; NULL: none
    uint64_t volume;    ///< of all sounds, 0..CLIENT_VOLUME_MAX; 0: none is opened

    const char* replay;  ///< a log; NULL: play on a server
    double at;           ///< tick at which the replay begins
    double follow_s;     ///< the log is still written: stay so far behind its end; 0: it is not
    uint64_t client;     ///< the replay shows the view of this client; 0: of none
    const char* inspect; ///< "INDEX:GENERATION": the inspector is open there; NULL: closed
    uint64_t entity;     ///< of `inspect`
    double speed;        ///< speed of the replay: 1 is the speed of the match; 0: not given

    uint64_t threads; ///< 0: chosen by cores and game
    const char* config;
    const char* config_dir;  ///< folder of what a person sets in the window; NULL: the user's own
    char config_text[16384]; ///< text of the config file; options borrow from it
} client_config;

/// Write the name of a file in the folder of what a person sets: --window config-dir, or shoal in
/// $XDG_CONFIG_HOME or ~/.config. @return false: nothing says where it is.
BASE_MUST_USE bool client_config_place(const client_config* config, const char* file, char* path,
                                       size_t path_bytes);

/// Read the command line, the environment and the config file.
/// @return BASE_OPTIONS_OK; BASE_OPTIONS_HELP (help is printed: exit with 0); BASE_OPTIONS_ERROR
///         (reported: exit with 2).
BASE_MUST_USE base_options_result client_config_read(client_config* config, int argc, char** argv,
                                                     const base_reporter* reporter);
