ES_TAGS(server) static int a_es(float** f, unsigned int x, ...) {}
static void b_es(pos) float* pos; {}
ES_STRUCT(A) typedef struct a { int x; union { float f; } u; uint32_t b : 3; } a;
#if A
int f(int a) {
#endif
