// SPDX-License-Identifier: MIT
/// Templates in several files: `import:t="file"`.
///
/// The core opens no files. A source is asked for texts by path, and all that a root file imports is put
/// into one pack: bytes that a world loads, that a log or another machine can carry, and whose hash is
/// the content's. Paths are texts of the language, not of a system: words between '/', below the source's
/// own folder ("a/b.blk") or below a named one ("%name/a/b.blk"); "." and ".." are gone before the source
/// sees them, and none leads outside.
///
/// Order: what a file imports stands before it, in the order of its imports; names that match a wildcard
/// come in the order of their bytes. Each file is taken once, where it is named first, so that a cycle is
/// no fault.
#pragma once

#include "base/bytes.h"
#include "ecs/template.h"

#define ECS_TEXT_PATH_BYTES_MAX 256u        ///< of a file, with the NUL
#define ECS_TEXT_FILES_MAX 1024u            ///< in a pack
#define ECS_TEXT_LISTED_MAX 10000u          ///< names in a folder that a wildcard looks at
#define ECS_TEXT_IMPORTS_MAX 160000u        ///< imports and names looked at for a pack
#define ECS_TEXT_PACK_BYTES_MAX (16u << 20) ///< texts of a pack

typedef struct ecs_template_source {
    void* context;
    /// Append the text of a file. @return ECS_OK; ECS_ERR_UNKNOWN (not there); ECS_ERR_FULL (longer than
    /// ECS_TEXT_BYTES_MAX); ECS_ERR_MEMORY; any other: it cannot be read. What is appended then is dropped.
    ecs_result (*read)(void* context, const char* path, base_bytes* text);
    /// Tell the names of the files in a folder ("" is the source's own; "%name" a named one), in any order;
    /// `found` says false when it wants no more. NULL: wildcards match nothing. @return as read.
    ecs_result (*list)(void* context, const char* folder,
                       bool (*found)(void* names, const char* name), void* names);
    /// How messages spell a path; NULL: as it is. Cut at `bytes`.
    void (*spell)(void* context, const char* path, char* target, size_t bytes);
    const char* const* root_names; ///< of "%name/"
    uint32_t root_count;
} ecs_template_source;

/// Append a root file and all that it imports to `pack`. Only imports are looked at; texts are judged
/// when they are loaded. @return ECS_OK; ECS_ERR_SYNTAX (a path, or a text that cannot be parsed;
///         reported with file and line); ECS_ERR_UNKNOWN (a file that is not there, reported where it is
///         imported); ECS_ERR_FULL (a limit above, reported); ECS_ERR_MEMORY.
///         After an error `pack` is as it was.
BASE_MUST_USE ecs_result ecs_template_pack(const base_allocator* allocator,
                                           const ecs_template_source* source, const char* root,
                                           const base_reporter* reporter, base_bytes* pack);

/// ecs_template_load for all texts of a pack at once: they may name one another's templates. The bytes may
/// be a stranger's. @return as ecs_template_load; ECS_ERR_MALFORMED (no pack).
BASE_MUST_USE ecs_result ecs_template_load_pack(ecs_world* world, const void* pack, size_t bytes,
                                                const base_reporter* reporter);
/// Pack and load.
BASE_MUST_USE ecs_result ecs_template_load_files(ecs_world* world,
                                                 const ecs_template_source* source,
                                                 const char* root, const base_reporter* reporter);

/// One text of a pack; borrowed from it.
typedef struct ecs_pack_text {
    char path[ECS_TEXT_PATH_BYTES_MAX];
    const char* text; ///< no NUL behind it
    size_t bytes;
} ecs_pack_text;
/// The text at *offset (0 at first). @return false at the end, and for bytes that are no pack: then *offset
/// is not `bytes`.
bool ecs_pack_next(const void* pack, size_t bytes, size_t* offset, ecs_pack_text* text);
/// Append one text, as ecs_template_pack does: for a pack of texts that are there already. Asserts the
/// limits of path and text.
void ecs_pack_add(base_bytes* pack, const char* path, const char* text, size_t bytes);

/// What a reload did.
typedef struct ecs_reload_report {
    uint32_t templates_changed, templates_added; ///< composed ones are not counted
    uint32_t entities_changed;                   ///< some value or component of theirs is another
} ecs_reload_report;

/// Take the templates of a pack in place of those that are loaded: between ticks, outside of stages and
/// walks (asserted), in a sealed world. Everything is judged first; when something is wrong it is reported
/// with file and line and nothing changes, and so it is when memory runs out.
/// - Every loaded template is in the pack again; new ones get ids behind all others. Ids stay.
/// - Components that no template or registration had when the world was sealed cannot come, and what a
///   query asks for cannot go from the last template that has it.
/// - A value of a living entity that equals its old default becomes the new one (and is tracked like any
///   change); one that was written stays. Entities whose template has other components now are recreated
///   in the order of their indices: what both have is kept, the rest is the default.
/// - With `is_replicated_locked` nothing may change that clients or a schema know: components that are
///   replicated, how they are sent, their defaults; and no replicated template may come.
/// Pointers to templates and opaque components are void afterwards. The same reload of equal worlds ends in
/// equal worlds, so a log that carries the pack can be run again.
/// @return ECS_OK; ECS_ERR_SYNTAX; ECS_ERR_UNKNOWN (a template is missing); ECS_ERR_TYPE (a component, or
///         what is locked); ECS_ERR_MALFORMED (no pack); ECS_ERR_FULL; ECS_ERR_MEMORY. `report` may be NULL.
BASE_MUST_USE ecs_result ecs_template_reload(ecs_world* world, const void* pack, size_t bytes,
                                             bool is_replicated_locked,
                                             const base_reporter* reporter,
                                             ecs_reload_report* report);
