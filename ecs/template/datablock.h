// SPDX-License-Identifier: MIT
/// Private: datablock text as a flat tree. Syntax only: template/ gives names and values their
/// meaning.
///
/// Limits: ECS_TEXT_BYTES_MAX, ECS_TEXT_DEPTH_MAX, ECS_TEXT_ITEMS_MAX (faulty statements count
/// too).
/// Trust: The parser accepts any bytes. It always gives a tree and reports every fault.
#pragma once

#include "base/bytes.h"
#include "base/report.h"
#include "ecs/limits.h"
#include "ecs/result.h"

#define ECS_TEXT_FILE_BYTES_MAX 128u

/// A block or a parameter. Node 0 is the file itself; 0 as a link means none.
typedef struct ecs_text_node {
    uint32_t name, type, value; ///< offsets into strings; type and value may be empty
    uint32_t child_first;
    uint32_t next; ///< sibling
    uint32_t line;
    uint16_t child_count;
    bool is_block;
} ecs_text_node;

typedef struct ecs_text {
    const base_allocator* allocator;
    char file[ECS_TEXT_FILE_BYTES_MAX];
    ecs_text_node* nodes;
    uint32_t node_count, node_capacity;
    base_bytes strings; ///< NUL-terminated, unescaped
} ecs_text;

/// Parse a text. The tree holds everything that could be read in spite
/// of faults.
/// @return ECS_OK; ECS_ERR_SYNTAX (each fault reported); ECS_ERR_FULL (a limit above; reported).
///         `text` needs ecs_text_deinit in every case.
BASE_MUST_USE ecs_result ecs_text_parse(ecs_text* text, const base_allocator* allocator,
                                        const char* file, const char* source, size_t source_bytes,
                                        const base_reporter* reporter);
void ecs_text_deinit(ecs_text* text);
/// Is it `import:t=` or `import_optional:t=` at the file's own level, with any type?
bool ecs_text_is_import(const ecs_text* text, const ecs_text_node* node);
/// Get the string at an offset. Never NULL; borrowed until deinit.
const char* ecs_text_string(const ecs_text* text, uint32_t offset);
