#define PLAIN_LOOP plain_loop_avx512
#define PLAIN_SOFTENED plain_softened_avx512
#include "bench/plain/plain_loop_body.h"
