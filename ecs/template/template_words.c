// SPDX-License-Identifier: MIT
// The words of the language: flags, tags and quantisation of a component or a group, and the
// message about an unknown word.
#include "template/template_bind.h"

#include "base/assert.h"
#include "base/text.h"
#include "type/world.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ecs_bind_fault(ecs_bind_pass* binder, uint32_t line, const char* format, ...) {
    char message[BASE_REPORT_BYTES_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return ecs_template_set_fault(binder->set, binder->text->file, line, "%s", message);
}

bool ecs_bind_has_type(ecs_bind_pass* binder, const ecs_text_node* node, const char* type) {
    if (!node->is_block && strcmp(type_of(binder, node), type) == 0) return true;
    return ecs_bind_fault(binder, node->line, "'%s' is written %s:%s=...", name_of(binder, node),
                          name_of(binder, node), type);
}

bool ecs_bind_check_name(ecs_bind_pass* binder, const char* name, uint32_t line, const char* what) {
    if (name[0] == '_')
        return ecs_bind_fault(binder, line,
                              "%s '%.80s': names that begin with '_' belong to the language", what,
                              name);
    if (ecs_name_is_valid(name)) return true;
    return ecs_bind_fault(binder, line, "%s '%.80s': a name is 1 to %u of A-Z a-z 0-9 _ . -", what,
                          name, ECS_NAME_BYTES_MAX - 1);
}

static bool bind_check_tags(ecs_bind_pass* binder, const ecs_text_node* node) {
    BASE_ASSERT(binder->set && binder->text);
    if (!ecs_bind_has_type(binder, node, "t")) return false;
    const char* tags = value_of(binder, node);
    if (strlen(tags) >= ECS_TEXT_TAGS_BYTES_MAX)
        return ecs_bind_fault(binder, node->line, "a list of tags has at most %u bytes",
                              ECS_TEXT_TAGS_BYTES_MAX - 1);
    while (*tags) {
        size_t size = strcspn(tags, ",; \t");
        char tag[ECS_NAME_BYTES_MAX] = {0};
        if (size < sizeof tag) memcpy(tag, tags, size);
        if (size && !ecs_name_is_valid(tag))
            return ecs_bind_fault(binder, node->line, "'%.80s' is not a valid tag list", tags);
        tags += size;
        tags += strspn(tags, ",; \t");
    }
    return true;
}

bool ecs_bind_bool(ecs_bind_pass* binder, const ecs_text_node* node, bool* value) {
    if (!ecs_bind_has_type(binder, node, "b")) return false;
    if (base_text_parse_bool(value_of(binder, node), value)) return true;
    return ecs_bind_fault(binder, node->line, "%s: '%.80s' is neither yes nor no",
                          name_of(binder, node), value_of(binder, node));
}

static void read_flag(ecs_bind_pass* binder, const ecs_text_node* node, uint8_t flag,
                      ecs_template_slot* slot) {
    bool is_set;
    if (!ecs_bind_bool(binder, node, &is_set)) return;
    slot->stated |= flag;
    slot->flags = (uint8_t)(is_set ? slot->flags | flag : slot->flags & ~flag);
}

static void read_bound(ecs_bind_pass* binder, const ecs_text_node* node, double* target,
                       bool* has) {
    const char* type = type_of(binder, node);
    if (strcmp(type, "i") != 0 && !ecs_bind_has_type(binder, node, "r")) return;
    double value;
    if (!base_text_parse_f64(value_of(binder, node), &value) || !isfinite(value)) {
        ecs_bind_fault(binder, node->line, "%s: '%.80s' is not a number", name_of(binder, node),
                       value_of(binder, node));
        return;
    }
    *target = value;
    *has = true;
}

static void read_teleport(ecs_bind_pass* binder, const ecs_text_node* node,
                          ecs_template_slot* slot) {
    double distance = 0;
    bool has = false;
    read_bound(binder, node, &distance, &has);
    if (!has) return;
    if (!(distance >= 0 && distance <= FLT_MAX)) {
        ecs_bind_fault(binder, node->line, "_teleport: '%.80s' is not a distance",
                       value_of(binder, node));
        return;
    }
    slot->teleport = (float)distance;
    slot->has_teleport = true;
}

// An empty `_integral` removes an inherited one, as "public" does for `_visible`.
static const char* read_name(ecs_bind_pass* binder, const ecs_text_node* node, bool may_be_empty,
                             const char* before) {
    if (!ecs_bind_has_type(binder, node, "t")) return before;
    const char* name = value_of(binder, node);
    if (ecs_name_is_valid(name) || (may_be_empty && !*name)) return name;
    ecs_bind_fault(binder, node->line, "%s: '%.80s' is not a name", name_of(binder, node), name);
    return before;
}

// A text for people, at most `bytes_max` long.
static const char* read_remark(ecs_bind_pass* binder, const ecs_text_node* node, uint32_t bytes_max,
                               const char* before) {
    if (!ecs_bind_has_type(binder, node, "t")) return before;
    const char* text = value_of(binder, node);
    if (strlen(text) <= bytes_max) return text;
    ecs_bind_fault(binder, node->line, "%s: '%.80s' is longer than %u bytes", name_of(binder, node),
                   text, bytes_max);
    return before;
}

void ecs_bind_priority(ecs_bind_pass* binder, const ecs_text_node* node, uint32_t* priority) {
    BASE_ASSERT(priority);
    if (!ecs_bind_has_type(binder, node, "i")) return;
    int64_t value;
    if (!base_text_parse_i64(value_of(binder, node), &value) || value < 1 ||
        value > ECS_PRIORITY_MAX) {
        ecs_bind_fault(binder, node->line, "_priority: '%.80s' is not a whole number from 1 to %u",
                       value_of(binder, node), ECS_PRIORITY_MAX);
        return;
    }
    *priority = (uint32_t)value;
}

static void read_bits(ecs_bind_pass* binder, const ecs_text_node* node, ecs_quant_draft* quant) {
    if (!ecs_bind_has_type(binder, node, "i")) return;
    if (!base_text_parse_i64(value_of(binder, node), &quant->bits)) {
        ecs_bind_fault(binder, node->line, "%s: '%.80s' is not a whole number",
                       name_of(binder, node), value_of(binder, node));
        return;
    }
    quant->has_bits = true;
    quant->is_angle |= strcmp(name_of(binder, node), "_angle") == 0;
}

bool ecs_bind_scope_word(ecs_bind_pass* binder, const ecs_text_node* node, ecs_bind_scope* scope) {
    BASE_ASSERT(scope);
    ecs_template_slot* slot = &scope->slot;
    const char* name = name_of(binder, node);
    if (binder->is_scene || node->is_block || name[0] != '_') return false;
    if (strcmp(name, "_track") == 0)
        read_flag(binder, node, ECS_COMPONENT_TRACKED, slot);
    else if (strcmp(name, "_replicate") == 0)
        read_flag(binder, node, ECS_COMPONENT_REPLICATED, slot);
    else if (strcmp(name, "_interpolate") == 0)
        read_flag(binder, node, ECS_COMPONENT_INTERPOLATED, slot);
    else if (strcmp(name, "_rotation") == 0)
        read_flag(binder, node, ECS_SLOT_ROTATION, slot);
    else if (strcmp(name, "_visible") == 0)
        slot->visible = read_name(binder, node, false, slot->visible);
    else if (strcmp(name, "_integral") == 0)
        slot->integral = read_name(binder, node, true, slot->integral);
    else if (strcmp(name, "_unit") == 0)
        slot->unit = read_remark(binder, node, ECS_UNIT_BYTES_MAX, slot->unit);
    else if (strcmp(name, "_about") == 0)
        slot->about = read_remark(binder, node, ECS_ABOUT_BYTES_MAX, slot->about);
    else if (strcmp(name, "_teleport") == 0)
        read_teleport(binder, node, slot);
    else if (strcmp(name, "_min") == 0)
        read_bound(binder, node, &scope->quant.min, &scope->quant.has_min);
    else if (strcmp(name, "_max") == 0)
        read_bound(binder, node, &scope->quant.max, &scope->quant.has_max);
    else if (strcmp(name, "_step") == 0)
        read_bound(binder, node, &scope->quant.step, &scope->quant.has_step);
    else if (strcmp(name, "_bits") == 0 || strcmp(name, "_angle") == 0)
        read_bits(binder, node, &scope->quant);
    else if (strcmp(name, "_tags") == 0)
        slot->tags = bind_check_tags(binder, node) ? value_of(binder, node) : slot->tags;
    else
        return false;
    return true;
}

// Words that editors and other engines use in the same files. They have no effect on a world.
bool ecs_bind_is_remark(const char* name) {
    static const char* const words[] = {"_info",
                                        "_hide",
                                        "_hidden",
                                        "_deps",
                                        "_skipInitialReplication",
                                        "_ignoreInitialReplication"};
    for (uint32_t i = 0; i < BASE_COUNT(words); i++)
        if (strcmp(name, words[i]) == 0) return true;
    return false;
}

const char* ecs_bind_type_name(const char* name) {
    if (strcmp(name, "i32") == 0) return "i";
    return strcmp(name, "list<i32>") == 0 ? "list<i>" : name;
}

bool ecs_bind_spells(const char* type, const char* spelling) {
    static const char* const whole[] = {"i", "i64", "u8", "u16", "u32", "u64", "eid"};
    type = ecs_bind_type_name(type);
    spelling = ecs_bind_type_name(spelling);
    if (strcmp(type, spelling) == 0) return true;
    if (strcmp(spelling, "i") != 0 && strcmp(spelling, "i64") != 0) return false;
    for (uint32_t i = 0; i < BASE_COUNT(whole); i++)
        if (strcmp(type, whole[i]) == 0) return true;
    return false;
}

const char* ecs_bind_value_text(const char* type, const char* spelling, const char* text) {
    BASE_ASSERT(type && spelling && text);
    if (strcmp(type, spelling) == 0 || strcmp(text, "-1") != 0) return text;
    if (strcmp(type, "u8") == 0) return "0xFF";
    if (strcmp(type, "u16") == 0) return "0xFFFF";
    if (strcmp(type, "u32") == 0) return "0xFFFFFFFF";
    return strcmp(type, "u64") == 0 ? "0xFFFFFFFFFFFFFFFF" : text;
}

void ecs_bind_unknown_word(ecs_bind_pass* binder, const ecs_text_node* node) {
    static const char* const words[] = {
        "_extends",  "_use",   "_tracked",   "_replicated",  "_tags",     "_singleton",
        "_group",    "_track", "_replicate", "_interpolate", "_teleport", "_min",
        "_max",      "_step",  "_bits",      "_visible",     "_integral", "_rotation",
        "_priority", "_angle", "_unit",      "_about"};
    if (binder->is_scene) {
        ecs_bind_fault(binder, node->line, "'%.80s' means nothing in a scene: it is the template's",
                       name_of(binder, node));
        return;
    }
    base_nearest nearest = base_nearest_begin(name_of(binder, node));
    char hint[BASE_HINT_BYTES];
    for (uint32_t i = 0; i < BASE_COUNT(words); i++)
        base_nearest_offer(&nearest, words[i]);
    ecs_bind_fault(binder, node->line, "'%.80s' means nothing here%s", name_of(binder, node),
                   base_nearest_hint(&nearest, hint));
}

// Opaque components: their type is not registered. Files that several programs share contain some.
// Their names are kept: a flag on one is no fault, and a query for one is refused with it.
// Archetypes, rows and schemas ignore them, and templates do not inherit them.

void ecs_bind_opaque(ecs_bind_pass* binder, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    const ecs_text* text = binder->text;
    const char* name = ecs_bind_type_name(type_of(binder, node));
    if (binder->is_scene && ecs_opaque_is_known(set, name_of(binder, node))) return;
    base_nearest nearest = base_nearest_begin(name);
    char hint[BASE_HINT_BYTES];
    for (uint32_t id = 1; id <= set->world->types->type_count && *name; id++)
        base_nearest_offer(&nearest, ecs_type_at(set->world->types, id)->name);
    if (binder->is_scene) {
        ecs_bind_fault(binder, node->line, "component '%.80s' has the unknown type '%.80s'%s",
                       name_of(binder, node), name, base_nearest_hint(&nearest, hint));
        return;
    }
    if (*name)
        base_report(set->reporter, text->file, node->line,
                    "warning: component '%.80s' has the unknown type '%.80s'%s: kept, not used",
                    name_of(binder, node), name, base_nearest_hint(&nearest, hint));
    else
        base_report(
            set->reporter, text->file, node->line,
            "warning: component '%.80s' has no type here or above, as in \"%.80s:type\"{ }: "
            "kept, not used",
            name_of(binder, node), name_of(binder, node));
    ecs_opaque* opaque = ECS_SET_PUSH(set, opaque);
    (void)base_text_copy(opaque->component, sizeof opaque->component, name_of(binder, node));
    (void)base_text_copy(opaque->type, sizeof opaque->type, name);
    (void)base_text_copy(opaque->file, sizeof opaque->file, text->file);
    opaque->line = node->line;
}

const ecs_opaque* ecs_opaque_seek(const ecs_opaque* opaques, uint32_t count,
                                  const char* component) {
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(opaques[i].component, component) == 0) return &opaques[i];
    return NULL;
}

bool ecs_opaque_is_known(const ecs_template_set* set, const char* component) {
    const ecs_templates* templates = set->world->templates;
    return ecs_opaque_seek(set->opaques, set->opaque_count, component) ||
           ecs_opaque_seek(templates->opaques, templates->opaque_count, component);
}
