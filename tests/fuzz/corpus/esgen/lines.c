#if 0
{ don't
#else
#define X "/*" \
 {
#endif
/* } */ static const char* t = "\"a\
";
static inline void a_es(void)
{ } // x \
 {
