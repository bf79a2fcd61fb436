#define PLAIN_LOOP plain_loop_portable
#define PLAIN_SOFTENED plain_softened_portable
#include "bench/plain/plain_loop_body.h"
