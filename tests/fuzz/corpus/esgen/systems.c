ES_TAG(server | predict) ES_AFTER(b_es) ES_EVERY(12u)
static void a_es(const ecs_stage* stage, ecs_entity eid, ecs_vec2* pos, const float brick__r,
  ES_OPTIONAL struct raw* raw, ES_DEFAULT((ecs_color){1, 2, 3, 4}) ecs_color c) { if (1) {} }
ES_TYPE(struct raw, Raw)
ES_SPAN ES_REQUIRE(x:tag) ES_ONLY
static void s_es(uint32_t count, ES_LIST(p3) const ecs_list* path) {}
