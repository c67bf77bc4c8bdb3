// SPDX-License-Identifier: MIT
/// Finding and opening game modules: NAME in the module path, or a file that the user names.
#pragma once

#include "base/bytes.h"
#include "base/report.h"
#include "net/game.h"
#include "net/result.h"

#define NET_GAME_NAME_BYTES_MAX 33u

/// An opened module and its templates text.
typedef struct net_module {
    const net_game_module* game; ///< validated copy; its arrays too: missing tail fields are zero
    const char* templates;       ///< text of NAME.blk, NUL-terminated
    size_t template_bytes;
    const char* templates_file; ///< for messages
    const void* pack;           ///< NAME.blk and all that it imports: ecs/template_files.h
    size_t pack_bytes;
    uint64_t content_hash; ///< of the .so and the pack
    void* library;         ///< dlopen handle, NULL for a linked-in module
} net_module;

/// Open by NAME ([a-z0-9_]{1,32}, looked up as NAME.so in each folder of `search_path`, colon-separated)
/// or by file (anything with a slash or ending in ".so"); NAME.blk lies beside it, and what it imports
/// below the same folder. `search_path` is an
/// argument: programs pass theirs (environment SHOAL_MODULE_PATH, then the build's and the installed one).
/// @return NET_OK; NET_ERR_UNKNOWN (no such name: the report names the nearest found in the path);
///         NET_ERR_MODULE (not a module, another contract or core, missing function, no .blk); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_module_open(const char* name_or_file, const char* search_path,
                                         const base_reporter* reporter, net_module** module);
/// Write the module path of a program: SHOAL_MODULE_PATH, then ../lib/shoal/games beside the folder of the
/// executable (the same place in a build folder and after an installation), separated by colons. NUL-terminated
/// and cut to `path_bytes`.
void net_module_default_path(char* path, size_t path_bytes);
/// Use a table that is linked in (tests, tools).
BASE_MUST_USE net_result net_module_wrap(const net_game_module* game, const char* templates,
                                         const char* templates_file, const base_reporter* reporter,
                                         net_module** module);
void net_module_close(net_module* module);

/// Append NAME.blk and all that it imports from below its folder ("%game/" names that folder); links that
/// lead out of it are refused. @return NET_OK; NET_ERR_MODULE (reported); NET_ERR_MEMORY.
BASE_MUST_USE net_result net_template_pack_read(const char* file, const base_reporter* reporter,
                                                base_bytes* pack);
/// A reporter that puts the folder of `templates_file` before the files that texts of a pack name.
typedef struct net_template_reporter {
    const base_reporter* next;
    const char* templates_file;
} net_template_reporter;
/// `self` and what it names must outlive it.
base_reporter net_template_reporter_make(net_template_reporter* self);

/// Look at a module file as a stranger's: contract, core and size, no writable globals (.data and .bss
/// beyond the loader's own), no imports of libm, rand or time. Reports each fault.
/// @return NET_OK; NET_ERR_MODULE; NET_ERR_IO.
BASE_MUST_USE net_result net_module_check(const char* file, const base_reporter* reporter);
