// SPDX-License-Identifier: MIT
// Scenes: entities with which a match begins, as `_scene { name { _template:t="x" pos:p2=1,2 } }`.
//
// They are bound when all templates of a set are resolved, so that a scene may be above the
// templates that it names, or in another file. A component of an entity is a value and nothing
// else; its template decides what is tracked and sent. Fields that are left out are the template's.
#include "template/template_bind.h"

#include "base/assert.h"
#include "base/text.h"
#include "type/world.h"

// The template of an entity, as it will be after commit.
typedef struct scene_template {
    const char* name; ///< NULL: none is given
    ecs_template_id id;
    const ecs_template_slot* slots;
    uint32_t slot_count;
} scene_template;

// @return false: there is none.
static bool find_template(const ecs_template_set* set, scene_template* from) {
    const ecs_templates* templates = set->world->templates;
    const ecs_draft* draft = ecs_template_set_draft(set, from->name);
    from->id = draft ? (ecs_template_id)(templates->count + 1 + (uint32_t)(draft - set->drafts))
                     : ecs_template_seek(set->world, from->name);
    if (from->id == ECS_TEMPLATE_NONE) return false;
    from->slots = draft ? draft->slots : templates->rows[from->id - 1]->slots;
    from->slot_count = draft ? draft->slot_count : templates->rows[from->id - 1]->slot_count;
    return true;
}

// @return false: the entity has no template that is there, or the set is alone and cannot know.
static bool bind_template(ecs_bind_pass* binder, const ecs_text_node* entity,
                          scene_template* from) {
    const ecs_template_set* set = binder->set;
    for (uint32_t at = entity->child_first; at; at = binder->text->nodes[at].next) {
        const ecs_text_node* node = &binder->text->nodes[at];
        const char* name = name_of(binder, node);
        if (node->is_block || name[0] != '_' || ecs_bind_is_remark(name)) continue;
        if (strcmp(name, "_template") != 0)
            ecs_bind_unknown_word(binder, node);
        else if (from->name)
            ecs_bind_fault(binder, node->line, "_template is given twice");
        else if (ecs_bind_has_type(binder, node, "t"))
            from->name = value_of(binder, node);
    }
    if (!from->name)
        return ecs_bind_fault(binder, entity->line, "entity '%s' needs _template:t=\"NAME\"",
                              binder->template_name);
    if (find_template(set, from)) return true;
    if (set->is_alone) return false;
    base_nearest nearest = base_nearest_begin(from->name);
    char hint[BASE_HINT_BYTES];
    for (uint32_t i = 0; i < set->draft_count; i++)
        base_nearest_offer(&nearest, set->drafts[i].name);
    return ecs_bind_fault(binder, entity->line, "entity '%s': there is no template '%.80s'%s",
                          binder->template_name, from->name, base_nearest_hint(&nearest, hint));
}

static void add_init(ecs_bind_pass* binder, const scene_template* from,
                     const ecs_draft_component* component) {
    ecs_template_set* set = binder->set;
    ecs_templates* templates = set->world->templates;
    const char* name = ecs_template_set_component_name(set, component->slot.component);
    base_nearest nearest = base_nearest_begin(name);
    char hint[BASE_HINT_BYTES];
    for (uint32_t i = 0; i < from->slot_count; i++) {
        const ecs_template_slot* slot = &from->slots[i];
        base_nearest_offer(&nearest, ecs_template_set_component_name(set, slot->component));
        if (slot->component != component->slot.component) continue;
        const void* value = ecs_draft_value(set, component, slot);
        ecs_init* init =
            value ? ecs_template_set_push(set, (void**)&templates->inits, &set->init_count,
                                          &templates->init_capacity, sizeof *init)
                  : NULL;
        if (init) *init = (ecs_init){slot->component, value};
        return;
    }
    ecs_bind_fault(binder, component->slot.line,
                   "entity '%s': template '%s' has no component '%s'%s", binder->template_name,
                   from->name, name, base_nearest_hint(&nearest, hint));
}

static void bind_entity(ecs_bind_pass* binder, const ecs_text_node* node) {
    ecs_template_set* set = binder->set;
    ecs_templates* templates = set->world->templates;
    scene_template from = {0};
    binder->template_name = name_of(binder, node);
    binder->component_first = set->component_count;
    if (!ecs_bind_check_name(binder, binder->template_name, node->line, "entity")) return;
    const bool has_template = bind_template(binder, node, &from);
    ecs_bind_components(binder, node, (ecs_bind_scope){0}, false);
    if (!has_template) return;
    const uint32_t init_first = set->init_count;
    for (uint32_t i = binder->component_first; i < set->component_count; i++)
        add_init(binder, &from, &set->components[i]);
    if (set->scene_count == ECS_SCENE_ENTITIES_MAX) {
        base_report(set->reporter, binder->text->file, node->line,
                    "more than %u entities in all scenes", ECS_SCENE_ENTITIES_MAX);
        ecs_template_set_fail(set, ECS_ERR_FULL);
        return;
    }
    ecs_scene_entity* entity =
        ecs_template_set_push(set, (void**)&templates->scenes, &set->scene_count,
                              &templates->scene_capacity, sizeof *entity);
    if (!entity) return;
    *entity = (ecs_scene_entity){from.id, init_first, set->init_count - init_first, node->line, ""};
    (void)base_text_copy(entity->file, sizeof entity->file, binder->text->file);
}

static void bind_scene(ecs_bind_pass* binder, const ecs_text_node* scene) {
    for (uint32_t at = scene->child_first; at; at = binder->text->nodes[at].next) {
        const ecs_text_node* node = &binder->text->nodes[at];
        const char* name = name_of(binder, node);
        if (binder->set->result == ECS_ERR_FULL || binder->set->result == ECS_ERR_MEMORY) return;
        if ((node->is_block && node->name == 0) || ecs_bind_is_remark(name)) continue;
        if (node->is_block && *type_of(binder, node) == '\0')
            bind_entity(binder, node);
        else
            ecs_bind_fault(binder, node->line,
                           "'%.80s' is no entity of a scene: name { _template:t=\"NAME\" }", name);
    }
}

void ecs_scene_bind(ecs_template_set* set) {
    BASE_ASSERT(set->result == ECS_OK && "templates come first");
    set->scene_count = set->world->templates->scene_count;
    set->init_count = set->world->templates->init_count;
    for (uint32_t i = 0; i < set->text_count; i++) {
        ecs_bind_pass binder = {.set = set, .text = set->texts[i], .is_scene = true};
        const ecs_text_node* nodes = binder.text->nodes;
        for (uint32_t at = nodes[0].child_first; at; at = nodes[at].next)
            if (nodes[at].is_block && strcmp(name_of(&binder, &nodes[at]), "_scene") == 0)
                bind_scene(&binder, &nodes[at]);
    }
}
