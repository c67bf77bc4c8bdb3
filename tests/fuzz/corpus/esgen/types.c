#include "types.es.h"
ES_REGISTER_TYPES
ES_STRUCT(Thing) ES_EVENT(a) ES_EVENT(b, exported)
typedef struct thing {
  const float x, y[2] ES_QUANT(-1.5, 0.25, (4 + 4));
  ecs_vec3 path[N][2 * M]; // "
} thing;
ES_EVENT(alone) typedef struct { uint8_t u; } noise;
ES_ON_ENTER(in) ES_ON_LEAVE(out) ES_FIRST(one) ES_QUANTUM(ROWS) ES_STAGE(render)
static void f_es(thing* thing) {}
