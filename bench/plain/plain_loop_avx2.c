#define PLAIN_LOOP plain_loop_avx2
#define PLAIN_SOFTENED plain_softened_avx2
#include "bench/plain/plain_loop_body.h"
