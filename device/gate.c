#include "device/gate.h"

#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given_back = PTHREAD_COND_INITIALIZER;
static uint64_t in_use;

void nbd_gate_take(uint64_t devices)
{
    pthread_mutex_lock(&gate);
    while (in_use & devices) pthread_cond_wait(&given_back, &gate);
    in_use |= devices;
    pthread_mutex_unlock(&gate);
}

void nbd_gate_give_back(uint64_t devices)
{
    pthread_mutex_lock(&gate);
    in_use &= ~devices;
    pthread_cond_broadcast(&given_back);
    pthread_mutex_unlock(&gate);
}
