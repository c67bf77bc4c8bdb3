// SPDX-License-Identifier: MIT
/// Private: a folder of files as a source of templates.
#pragma once

#include "ecs/template_files.h"

#define NET_FOLDER_BYTES_MAX 1024u

/// Everything is looked up below `folder`, and what a link leads out of it is refused. "%game/" names the
/// folder itself.
typedef struct net_template_folder {
    char
        folder[NET_FOLDER_BYTES_MAX]; ///< as the user wrote it; "" is where the program was started
    char real[4096];                  ///< without links, no slash at its end
    const char* roots[1];
    ecs_template_source source; ///< its context is this struct: it must not move
} net_template_folder;

/// The folder of `file`. @return false when it is not there, or its name is too long.
BASE_MUST_USE bool net_template_folder_init(net_template_folder* folder, const char* file);
