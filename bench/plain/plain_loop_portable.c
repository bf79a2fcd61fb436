#define PLAIN_LOOP plain_loop_portable
#include "bench/plain/plain_loop_body.h"
