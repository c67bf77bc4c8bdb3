ES_ON_EVENT(hit, "a-b") static void a_es_event_handler(ES_CONTEXT g* g, const hit* event, int32_t* i) {}
ES_TRACK(pos) static void b_es_event_handler(const ecs_event* event, ES_NAME(q.r) float* r) {}
static bool c_ecs_query(ES_CONTEXT float* sum, ES_CONTEXT uint32_t n, float f) {}
ES_REQUIRE_ANY(x:i, y:r) static void d_ecs_query(ES_CONTEXT float* sum) {}
