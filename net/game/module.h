// SPDX-License-Identifier: MIT
/// What the files of modules share: the checked copy of a module's table, files of modules, and a
/// folder of files as a source of templates.
#pragma once

#include "ecs/template_files.h"
#include "net/limits.h"
#include "net/match.h"
#include "net/result.h"

#include "base/bytes.h"

/// A module's table as this program knows it. Missing fields at the end are zero, in the elements
/// too. The arrays of `game` point into this struct: it must not move.
typedef struct net_module_table {
    net_game_module game;
    net_message messages[NET_MESSAGES_MAX];
    net_setting settings[NET_SETTINGS_MAX];
    net_action actions[NET_ACTIONS_MAX];
    net_sound sounds[NET_SOUNDS_MAX];
    net_interest_rules interest;        ///< `game.interest` points here when the module has one
    char name[NET_GAME_NAME_BYTES_MAX]; ///< `game.name`: the table's, or that of the file
} net_module_table;

/// The part of net_module_check that runs none of the module's code: `data` is the file's content.
BASE_MUST_USE net_result net_module_check_bytes(const void* data, size_t size, const char* file,
                                                const base_reporter* reporter);

#define NET_MODULE_FILE_BYTES_MAX (64u << 20)
#define NET_FOLDER_BYTES_MAX 1024u

/// Everything is looked up below `folder`, and what a link leads out of it is refused. "%game/"
/// names the folder itself.
typedef struct net_template_folder {
    char
        folder[NET_FOLDER_BYTES_MAX]; ///< as the user wrote it; "" is where the program was started
    char real[4096];                  ///< without links, no slash at its end
    const char* roots[1];
    ecs_template_source source; ///< its context is this struct: it must not move
} net_template_folder;

/// The folder of `file`. @return false when it is not there, or its name is too long.
BASE_MUST_USE bool net_template_folder_init(net_template_folder* folder, const char* file);
/// May the code of this file run? Not when all users may write the file, its folder, or the folder
/// that a link leads to. Folders above are not looked at. @return false: reported with path and
/// remedy.
BASE_MUST_USE bool net_module_may_run(const char* file, const base_reporter* reporter);
