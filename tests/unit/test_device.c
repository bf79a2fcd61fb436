/* The device layer (device/device.h) on emulated devices: what is enqueued is done when it is waited for and not
 * before, in the order of streams and events; memory belongs to a device; failures that are asked for come where they
 * should, and leave nothing behind. */
#include "device/device.h"
#include "device/emulated/emulated.h"
#include "device/faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

enum { N = 1000, BYTES = N * (int)sizeof(int32_t) };

static struct nbd_device device[2];

static int open_two(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) assert_int_equal(nbd_open(&device[k], nbd_emulated, k, "test", NULL), NBC_OK);
    return 0;
}

struct add {
    int32_t *value, by;
};

static void add(const void *job)
{
    const struct add *a = job;
    for (int k = 0; k < N; k++) a->value[k] += a->by;
}

static int launch_add(struct nbd_stream *stream, int32_t *value, int32_t by, struct nbc_error *err)
{
    const struct add job = {value, by};
    NBD_LAUNCH(err, &device[0], nbd_emulated_launch(stream, add, &job, sizeof job));
    return NBC_OK;
}

static struct nbd_stream *new_stream(int k)
{
    struct nbd_stream *stream;
    assert_int_equal(nbd_stream_open(&device[k], NBD_MIDDLE, &stream, NULL), NBC_OK);
    return stream;
}

static int32_t *new_memory(int k, enum nbd_where where)
{
    void *memory;
    assert_int_equal(nbd_alloc(&device[k], where, BYTES, &memory, NULL), NBC_OK);
    return memory;
}

static void work_is_done_when_it_is_waited_for(void **state)
{
    (void)state;
    struct nbd_stream *stream = new_stream(0);
    int32_t *there = new_memory(0, NBD_ON_DEVICE), *from = new_memory(0, NBD_ON_HOST), *to = new_memory(0, NBD_ON_HOST);
    int is_done;
    for (int k = 0; k < N; k++) from[k] = k;
    to[5] = 0;
    assert_int_equal(nbd_copy(&device[0], stream, there, from, BYTES, NULL), NBC_OK);
    assert_int_equal(launch_add(stream, there, 7, NULL), NBC_OK);
    assert_int_equal(nbd_copy(&device[0], stream, to, there, BYTES, NULL), NBC_OK);
    assert_int_equal(nbd_stream_ask(&device[0], stream, &is_done, NULL), NBC_OK);
    assert_false(is_done);
    assert_int_equal(to[5], 0); /* an emulation that did it at once would not show a wait that is missing */
    assert_int_equal(nbd_stream_wait(&device[0], stream, NULL), NBC_OK);
    for (int k = 0; k < N; k++) assert_int_equal(to[k], k + 7);
    assert_int_equal(nbd_stream_ask(&device[0], stream, &is_done, NULL), NBC_OK);
    assert_true(is_done);
    nbd_free(&device[0], NBD_ON_DEVICE, there);
    nbd_free(&device[0], NBD_ON_HOST, from);
    nbd_free(&device[0], NBD_ON_HOST, to);
    nbd_stream_close(&device[0], stream);
}

static void ordinary_memory_is_free_when_a_copy_returns(void **state)
{
    (void)state;
    struct nbd_stream *stream = new_stream(0);
    int32_t *there = new_memory(0, NBD_ON_DEVICE), from[N], to[N], pinned[N] = {0};
    void *seen_at;
    for (int k = 0; k < N; k++) from[k] = k;
    assert_int_equal(nbd_copy(&device[0], stream, there, from, sizeof from, NULL), NBC_OK);
    memset(from, 0, sizeof from);
    assert_int_equal(launch_add(stream, there, 7, NULL), NBC_OK);
    assert_int_equal(nbd_copy(&device[0], stream, to, there, sizeof to, NULL), NBC_OK);
    for (int k = 0; k < N; k++) assert_int_equal(to[k], k + 7);
    assert_true(nbd_pin(&device[0], pinned, sizeof pinned, &seen_at));
    assert_int_equal(nbd_copy(&device[0], stream, pinned, there, sizeof pinned, NULL), NBC_OK);
    assert_int_equal(pinned[5], 0);
    nbd_unpin(&device[0], pinned); /* waits */
    assert_int_equal(pinned[5], 12);
    nbd_free(&device[0], NBD_ON_DEVICE, there);
    nbd_stream_close(&device[0], stream);
}

static void events_order_streams_of_two_devices(void **state)
{
    (void)state;
    struct nbd_stream *one = new_stream(0), *other = new_stream(1);
    struct nbd_event *filled, *never;
    int32_t *there = new_memory(0, NBD_ON_DEVICE), *back = new_memory(1, NBD_ON_DEVICE), to[N] = {0};
    assert_int_equal(nbd_event_open(&device[0], &filled, NULL), NBC_OK);
    assert_int_equal(nbd_event_open(&device[0], &never, NULL), NBC_OK);
    assert_int_equal(nbd_event_wait(&device[0], never, NULL), NBC_OK);
    assert_int_equal(nbd_event_await(&device[1], never, other, NULL), NBC_OK);
    assert_int_equal(nbd_fill(&device[0], one, there, 0, BYTES, NULL), NBC_OK);
    assert_int_equal(launch_add(one, there, 3, NULL), NBC_OK);
    assert_int_equal(nbd_event_record(&device[0], filled, one, NULL), NBC_OK);
    assert_int_equal(launch_add(one, there, 100, NULL), NBC_OK); /* after the event */
    assert_int_equal(nbd_event_await(&device[1], filled, other, NULL), NBC_OK);
    assert_int_equal(nbd_copy_from(&device[1], other, back, &device[0], there, BYTES, NULL), NBC_OK);
    assert_int_equal(nbd_copy(&device[1], other, to, back, BYTES, NULL), NBC_OK);
    assert_int_equal(nbd_wait(&device[1], NULL), NBC_OK);
    for (int k = 0; k < N; k++) assert_int_equal(to[k], 3);
    nbd_stream_close(&device[0], one); /* with work on it, and an event of it */
    assert_int_equal(nbd_event_wait(&device[0], filled, NULL), NBC_OK);
    nbd_event_close(&device[0], filled);
    nbd_event_close(&device[0], never);
    nbd_stream_close(&device[1], other);
    nbd_free(&device[0], NBD_ON_DEVICE, there);
    nbd_free(&device[1], NBD_ON_DEVICE, back);
}

static void memory_of_a_device_is_its_own(void **state)
{
    (void)state;
    struct nbd_stream *stream = new_stream(0);
    int32_t *there = new_memory(1, NBD_ON_DEVICE), *host = new_memory(1, NBD_ON_HOST),
            *own = new_memory(0, NBD_ON_DEVICE);
    struct nbc_error err = {0};
    assert_int_equal(nbd_copy(&device[0], stream, own, host, BYTES, &err), NBC_OK);
    assert_int_equal(nbd_copy(&device[0], stream, own, there, BYTES, &err), NBC_DEVICE);
    assert_non_null(strstr(err.text, "test: emulated device 0: a copy failed: memory that the device does not reach"));
    assert_int_equal(nbd_copy(&device[0], stream, own, host, BYTES + 4, &err), NBC_DEVICE); /* more than there is */
    assert_true(nbd_reach(&device[0], &device[1]));
    assert_int_equal(nbd_copy(&device[0], stream, own, there, BYTES, &err), NBC_OK);
    assert_int_equal(nbd_stream_wait(&device[0], stream, &err), NBC_OK);
    nbd_free(&device[0], NBD_ON_DEVICE, own);
    nbd_free(&device[1], NBD_ON_DEVICE, there);
    nbd_free(&device[1], NBD_ON_HOST, host);
    nbd_stream_close(&device[0], stream);
}

static void buffers_grow(void **state)
{
    (void)state;
    for (int where = NBD_ON_DEVICE; where <= NBD_ON_HOST; where++) {
        struct nbd_buffer buffer = {.where = (enum nbd_where)where};
        struct nbd_stream *stream = new_stream(0);
        unsigned char seen[160];
        assert_int_equal(nbd_buffer_reserve(&device[0], &buffer, 80, NULL), NBC_OK);
        assert_int_equal(buffer.bytes, 90); /* an eighth more */
        const void *first = buffer.data;
        assert_int_equal(nbd_buffer_reserve(&device[0], &buffer, 90, NULL), NBC_OK);
        assert_ptr_equal(buffer.data, first);
        assert_int_equal(nbd_fill(&device[0], stream, buffer.data, 3, 90, NULL), NBC_OK);
        assert_int_equal(nbd_stream_wait(&device[0], stream, NULL), NBC_OK);
        assert_int_equal(nbd_buffer_extend(&device[0], &buffer, 160, NULL), NBC_OK);
        assert_int_equal(nbd_copy(&device[0], stream, seen, buffer.data, sizeof seen, NULL), NBC_OK);
        assert_int_equal(nbd_stream_wait(&device[0], stream, NULL), NBC_OK);
        for (int k = 0; k < 90; k++) assert_int_equal(seen[k], 3);
        for (int k = 90; k < 160 && where == NBD_ON_HOST; k++) assert_int_equal(seen[k], 0xff);
        nbd_buffer_release(&device[0], &buffer);
        assert_null(buffer.data);
        nbd_stream_close(&device[0], stream);
    }
}

/* Uses everything once.   @return the first status that is not NBC_OK */
static int use_all(struct nbc_error *err)
{
    struct nbd_device d;
    struct nbd_stream *stream = NULL;
    struct nbd_event *event = NULL;
    struct nbd_buffer buffer = {.where = NBD_ON_DEVICE};
    void *memory = NULL, *seen_at;
    int32_t to[4];
    int is_done, status = nbd_open(&d, nbd_emulated, 2, "test", err);
    if (!status) status = nbd_use(&d, err);
    if (!status) status = nbd_alloc(&d, NBD_ON_HOST, 64, &memory, err);
    if (!status) status = nbd_stream_open(&d, NBD_HIGHEST, &stream, err);
    if (!status) status = nbd_event_open(&d, &event, err);
    if (!status) status = nbd_buffer_reserve(&d, &buffer, 64, err);
    if (!status) status = nbd_fill(&d, stream, buffer.data, 0, 64, err);
    if (!status) status = nbd_event_record(&d, event, stream, err);
    if (!status) status = nbd_event_await(&d, event, stream, err);
    if (!status) status = nbd_event_wait(&d, event, err);
    if (!status) status = nbd_buffer_extend(&d, &buffer, 256, err);
    if (!status) status = nbd_copy(&d, stream, to, buffer.data, sizeof to, err);
    if (!status) status = nbd_stream_ask(&d, stream, &is_done, err);
    if (!status) status = nbd_stream_wait(&d, stream, err);
    if (!status) status = nbd_wait(&d, err);
    if (!status && nbd_pin(&d, to, sizeof to, &seen_at)) nbd_unpin(&d, to);
    nbd_buffer_release(&d, &buffer);
    nbd_free(&d, NBD_ON_HOST, memory);
    nbd_event_close(&d, event);
    nbd_stream_close(&d, stream);
    return status;
}

/* The address sanitizer sees what a failure leaves behind. */
static void each_call_can_fail(void **state)
{
    (void)state;
    struct nbc_error err;
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
    assert_int_equal(use_all(&err), NBC_OK);
    const int64_t calls = nbd_fault_calls();
    assert_int_equal(calls, 19); /* three in an extension, of which one allocates */
    for (int64_t k = 1; k <= calls; k++) {
        nbd_fault_set(NBD_FAULT_FAIL, k, 1);
        /* A failure to pin is none: the caller goes on without. */
        assert_int_equal(use_all(&err), k == calls ? NBC_OK : NBC_DEVICE);
        if (k < calls) assert_non_null(strstr(err.text, "asked for"));
        nbd_fault_set(NBD_FAULT_FAIL, k, NBD_FAULT_FOR_EVER);
        assert_int_equal(use_all(&err), k == calls ? NBC_OK : NBC_DEVICE);
        assert_int_equal(use_all(&err), NBC_DEVICE);
    }
    for (int64_t k = 1; k <= 4; k++) {
        nbd_fault_set(NBD_FAULT_NO_MEMORY, k, 1);
        assert_int_equal(use_all(&err), k == 4 ? NBC_OK : NBC_NO_MEMORY);
        if (k < 4) assert_non_null(strstr(err.text, "out of memory"));
    }
    nbd_fault_set(NBD_FAULT_NONE, 0, 0);
}

static void devices_that_are_not_there(void **state)
{
    (void)state;
    struct nbd_device d;
    struct nbc_error err;
    const char *why = NULL;
    assert_int_equal(nbd_count(NULL, &why), 0);
    assert_non_null(strstr(why, "without CUDA"));
    assert_int_equal(nbd_open(&d, NULL, 0, "test", &err), NBC_UNAVAILABLE);
    assert_int_equal(nbd_open(&d, nbd_emulated, NBD_EMULATED_DEVICES, "test", &err), NBC_DEVICE);
    assert_non_null(strstr(err.text, "there is no such device"));
    if (nbd_count(nbd_cuda, &why) == 0) print_message("skipped: CUDA devices: %s\n", why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_done_when_it_is_waited_for),
        cmocka_unit_test(ordinary_memory_is_free_when_a_copy_returns),
        cmocka_unit_test(events_order_streams_of_two_devices),
        cmocka_unit_test(memory_of_a_device_is_its_own),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(each_call_can_fail),
        cmocka_unit_test(devices_that_are_not_there),
    };
    return cmocka_run_group_tests_name("device", tests, open_two, NULL);
}
