// SPDX-License-Identifier: MIT
/// Finding, opening and checking game modules: by name in a search path, or by file.
///
/// Threads: any, one call at a time per module. An opened module is constant and may be shared.
#pragma once

#include "base/bytes.h"
#include "base/report.h"
#include "base/workers.h"
#include "net/game.h"
#include "net/result.h"

BASE_C_BEGIN

#define NET_GAME_NAME_BYTES_MAX 33u

/// An opened module with its templates. All pointers live until net_module_close.
typedef struct net_module {
    const net_game_module* game; ///< checked copy, arrays too: missing fields are zero
    const char* templates;       ///< text of NAME.blk, NUL-terminated
    size_t template_bytes;
    const char* templates_file; ///< for messages
    const void* pack;           ///< NAME.blk and all its imports: ecs/template_files.h
    size_t pack_bytes;
    uint64_t content_hash; ///< of the .so and the pack
    void* library;         ///< dlopen handle; NULL for a linked-in module
    base_workers* workers; ///< for matches of this module (net_match_config_default); NULL: none
} net_module;

/// Open a module by NAME or by file, and check its table. NAME is [a-z0-9_]{1,32}; NAME.so is
/// looked up in each folder of `search_path`, separated by colons (net_module_default_path). A name
/// with a slash or with ".so" at its end is a file. NAME.blk must lie beside the library; what it
/// imports must lie below the same folder. What all users may
/// write is not run: neither the library nor the folder with it may be so. The caller closes the
/// module; *module is NULL after an error.
/// @return NET_OK; NET_ERR_UNKNOWN (reported, with the nearest name in the path); NET_ERR_MODULE
///         (reported: open to all users, not a module, another contract or core, a missing
///         function, no .blk); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_module_open(const char* name_or_file, const char* search_path,
                                         const base_reporter* reporter, net_module** module);
/// Is it [a-z0-9_]{1,32}? Check a name from outside of the program before it is looked up.
bool net_module_name_is_valid(const char* name);
/// Write the module path of a program: SHOAL_MODULE_PATH, then ../lib/shoal/games beside the folder
/// of the executable (the same place in a build folder and after an installation), separated by
/// colons. NUL-terminated and cut to `path_bytes`.
void net_module_default_path(char* path, size_t path_bytes);
/// Open a table that is linked into the program, with the text of its templates. For tests and
/// tools.
/// @return NET_OK; NET_ERR_MODULE (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_module_wrap(const net_game_module* game, const char* templates,
                                         const char* templates_file, const base_reporter* reporter,
                                         net_module** module);
/// Close a module after everything that uses it was destroyed. NULL does nothing.
void net_module_close(net_module* module);

/// Append NAME.blk and all that it imports from below its folder ("%game/" names that folder) to a
/// pack. A link that leads out of the folder is refused.
/// @return NET_OK; NET_ERR_MODULE (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_template_pack_read(const char* file, const base_reporter* reporter,
                                                base_bytes* pack);
/// A reporter that puts the folder of `templates_file` before the file names of a pack's texts.
typedef struct net_template_reporter {
    const base_reporter* next;
    const char* templates_file;
} net_template_reporter;
/// Make the reporter. `self` and what it points to must outlive it.
base_reporter net_template_reporter_make(net_template_reporter* self);

/// Check a module file, which is untrusted, before any of its code runs: no writable globals (.data
/// and .bss beyond the loader's own), no imports of libm, rand or time; then its table. Reports
/// each fault.
/// @return NET_OK; NET_ERR_MODULE (reported); NET_ERR_IO (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_module_check(const char* file, const base_reporter* reporter);

BASE_C_END
