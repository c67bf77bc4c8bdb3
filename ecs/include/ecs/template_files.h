// SPDX-License-Identifier: MIT
/// Templates in several files: `import:t="file"`.
///
/// The core opens no files. It asks a source for texts by path and puts a root file and all its
/// imports into one pack: bytes that a world loads and that a log or a message can carry. The hash
/// of the pack is the hash of the content. Paths belong to the language, not to an operating
/// system: words between '/', below the source's own folder ("a/b.blk") or below a named one
/// ("%name/a/b.blk"). The source never sees "." or "..", and no path leads outside of its folders.
///
/// Order: the imports of a file stand before it, in the order of its import lines. Names that match
/// a wildcard come in the order of their bytes. Each file is read once, where it is named first, so
/// a cycle is no fault.
///
/// `file:t="rules.lua"` puts a file into the pack that is no template: bytes that no world reads.
/// Of the root "zoo.blk" it is zoo/rules.lua, or rules.lua beside the root where that is not there.
/// Files stand after all texts, in the order of the lines that name them.
#pragma once

#include "base/bytes.h"
#include "ecs/template.h"

BASE_C_BEGIN

#define ECS_TEXT_PATH_BYTES_MAX 256u        ///< of a file, with the NUL
#define ECS_TEXT_FILES_MAX 1024u            ///< in a pack
#define ECS_TEXT_LISTED_MAX 10000u          ///< names in a folder that a wildcard looks at
#define ECS_TEXT_IMPORTS_MAX 160000u        ///< imports and names looked at for a pack
#define ECS_TEXT_PACK_BYTES_MAX (16u << 20) ///< texts of a pack

// Files that are no templates. A pack that has some is small: each log carries it.
#define ECS_PACK_FILES_MAX 64u
#define ECS_PACK_NAME_BYTES_MAX 64u ///< a-z 0-9 _ - and ., which is not first; with the NUL
#define ECS_PACK_FILE_BYTES_MAX (256u << 10)
#define ECS_PACK_WHOLE_BYTES_MAX (384u << 10) ///< of a pack with files

/// Where texts come from. Functions are called during the call that gets the source, on its thread.
typedef struct ecs_template_source {
    void* context;
    /// Append the text of a file. @return ECS_OK; ECS_ERR_UNKNOWN (no such file); ECS_ERR_FULL
    /// (longer than ECS_TEXT_BYTES_MAX); any other code: it cannot be read. After a
    /// failure the caller drops what was appended.
    ecs_result (*read)(void* context, const char* path, base_bytes* text);
    /// Call `found` for the name of each file in a folder ("": the source's own; "%name": a named
    /// one), in any order, until it returns false. NULL: wildcards match nothing. @return ECS_OK;
    /// ECS_ERR_UNKNOWN (no such folder); any other code: it cannot be read.
    ecs_result (*list)(void* context, const char* folder,
                       bool (*found)(void* names, const char* name), void* names);
    /// Write a path as messages show it, cut at `bytes`. NULL: as it is.
    void (*spell)(void* context, const char* path, char* target, size_t bytes);
    const char* const* root_names; ///< the names that "%name/" may use
    uint32_t root_count;
} ecs_template_source;

/// Append a root file and all its imports to `pack`. Only import lines are checked; the rest of a
/// text is checked when it is loaded. `reporter` may be NULL. After an error `pack` is unchanged.
/// @return ECS_OK; ECS_ERR_SYNTAX (a bad path, or a text that cannot be parsed; reported with file
///         and line); ECS_ERR_UNKNOWN (a file does not exist; reported where it is imported);
///         ECS_ERR_FULL (a limit above, reported).
BASE_MUST_USE ecs_result ecs_template_pack(const base_allocator* allocator,
                                           const ecs_template_source* source, const char* root,
                                           const base_reporter* reporter, base_bytes* pack);

/// Load all texts of a pack at once: each may name templates of the others. The bytes may be
/// foreign.
/// @return ECS_OK; ECS_ERR_MALFORMED (no pack: refuse the bytes); ECS_ERR_SYNTAX, ECS_ERR_FULL,
///         ECS_ERR_SEALED (ecs_template_load says when).
BASE_MUST_USE ecs_result ecs_template_load_pack(ecs_world* world, const void* pack, size_t bytes,
                                                const base_reporter* reporter);

/// One text of a pack; borrowed from it.
typedef struct ecs_pack_text {
    char path[ECS_TEXT_PATH_BYTES_MAX]; ///< of a file its name
    const char* text;                   ///< no NUL after it; of a file any bytes
    size_t bytes;
    bool is_file; ///< no template
} ecs_pack_text;
/// Walk the texts of a pack: begin with *offset = 0. The bytes may be foreign.
/// @return false at the end (*offset is `bytes`) and for bytes that are no pack (*offset is less).
bool ecs_pack_next(const void* pack, size_t bytes, size_t* offset, ecs_pack_text* text);
/// Append one text to a pack, as ecs_template_pack does, or a file with the path ":NAME". The
/// limits of path and text are asserted.
void ecs_pack_add(base_bytes* pack, const char* path, const char* text, size_t bytes);

BASE_C_END
