#include "nbody6/engine/cuda/host.h"

#include "common/nbc.h"
#include "nbody6/engine/host_service.h"
#include "nbody6/state/sim.h"

#include <string.h>

/* Polls of the mailbox, each of a tenth of a microsecond, between two polls of the kernel. */
enum { LOOKS_BETWEEN = 256 };

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Seconds after which a call ends before the next block that needs the host service, so that a run can be stopped:
 * blocks with chains may take a millisecond each. */
static const double LONG = 0.04;

/* Number of consecutive notes that belong to one block, from the first unread one on. */
static uint32_t notes_in_a_row(const struct nb6_host_mailbox *mailbox, uint32_t noted)
{
    const uint32_t first = mailbox->taken % NB6_DEVICE_NOTES, left = noted - mailbox->taken;
    uint32_t n = 1;
    while (n < left && first + n < NB6_DEVICE_NOTES && mailbox->note[first + n].t == mailbox->note[first].t) n++;
    return n;
}

/* Number of notes that the kernel has published. */
static uint32_t noted_so_far(const struct nb6_host_mailbox *mailbox)
{
    const uint32_t noted = __atomic_load_n(&mailbox->noted, __ATOMIC_ACQUIRE);
    const uint32_t by_notifier = __atomic_load_n(&mailbox->noted_by_notifier, __ATOMIC_ACQUIRE);
    return (int32_t)(by_notifier - noted) > 0 ? by_notifier : noted;
}

/* Read the notes of the kernel; after a failure they are dropped. Time is booked only if there are any. A question
 * carries the number of notes before it, which may exceed the number published so far. */
static int take_notes(struct nb6_sim *sim, struct nb6_dev *home, struct nb6_host_mailbox *mailbox, int has_asked,
                      int status, double *seconds, struct nbc_error *err)
{
    const nb6_time reached = __atomic_load_n(&mailbox->reached, __ATOMIC_ACQUIRE);
    const uint32_t noted = has_asked ? mailbox->noted_before : noted_so_far(mailbox);
    const int is_any = (int32_t)(noted - mailbox->taken) > 0;
    const double start = is_any ? nbc_wtime() : 0;
    while ((int32_t)(noted - mailbox->taken) > 0) {
        const uint32_t n = notes_in_a_row(mailbox, noted);
        if (!status)
            status = nb6_host_service_note(sim, home, n, &mailbox->note[mailbox->taken % NB6_DEVICE_NOTES], err);
        __atomic_store_n(&mailbox->taken, mailbox->taken + n, __ATOMIC_RELEASE);
    }
    if (!status) nb6_host_service_reached(sim, reached);
    if (is_any) *seconds += nbc_wtime() - start;
    return status;
}

/* Whether the call has to end before the next block. It never ends before its first block: a kernel that takes long
 * to start would advance none. */
static int is_over(const struct nb6_dev *home, const struct nb6_host_mailbox *mailbox, double seconds)
{
    return !mailbox->is_after && seconds > LONG && mailbox->now > home->control->ti_now;
}

/* Answer one question.   @param[in] has_to_end  1: no other block is begun
 * @return NBC_OK; the status of the answer, which then is NB6_HOST_SERVICE_FAILED */
static int answer(struct nb6_sim *sim, struct nb6_dev *home, struct nb6_host_mailbox *mailbox, int has_to_end,
                  struct nbc_error *err)
{
    struct nb6_device_reply *reply = &mailbox->reply;
    int status = NBC_OK;
    if (has_to_end)
        reply->answer = NB6_HOST_SERVICE_PAUSED;
    else if (mailbox->is_after)
        reply->answer = nb6_host_service_after(sim, home, mailbox->t, mailbox->n, mailbox->member, mailbox->has_tides,
                                               &status, err);
    else
        reply->answer =
            nb6_host_service_before(sim, home, mailbox->now, mailbox->t, mailbox->n, mailbox->member, &status, err);
    reply->t_ask = home->control->t_ask;
    reply->n_ask = home->control->n_ask;
    reply->n_changed_bodies = 0;
    if (!mailbox->is_after || reply->answer == NB6_HOST_SERVICE_FAILED) return status;
    const int32_t *changed_bodies = nb6_host_service_changed(sim, &reply->n_changed_bodies);
    if (reply->n_changed_bodies > 0)
        memcpy(mailbox->changed_bodies, changed_bodies, (size_t)reply->n_changed_bodies * sizeof *changed_bodies);
    return status;
}

/* Whether the kernel has ended. */
static int has_ended(const struct nb6_device *d, int *status, struct nbc_error *err)
{
    int is_done = 0;
    const int failed = nbd_stream_ask(&d->device, d->stream, &is_done, err);
    if (failed) *status = failed;
    return failed || is_done;
}

static void work_or_pause(struct nb6_sim *sim, double *seconds)
{
    const double start = nbc_wtime();
    if (nb6_host_service_meanwhile(sim))
        *seconds += nbc_wtime() - start;
    else
        pause_briefly();
}

static int is_asked(const struct nb6_host_mailbox *mailbox)
{
    return __atomic_load_n(&mailbox->asked, __ATOMIC_ACQUIRE) != mailbox->answered;
}

int nb6_device_answer(struct nb6_sim *sim, struct nb6_dev *home, const struct nb6_device *d, double begun, int status,
                      double *seconds, struct nbc_error *err)
{
    struct nb6_host_mailbox *mailbox = d->mailbox;
    int looks = 0;
    for (;;) {
        const int has_asked = is_asked(mailbox); /* notes before the question come first */
        status = take_notes(sim, home, mailbox, has_asked, status, seconds, err);
        if (!has_asked) {
            if (++looks % LOOKS_BETWEEN == 0 && has_ended(d, &status, err))
                return take_notes(sim, home, mailbox, 0, status, seconds, err);
            work_or_pause(sim, seconds);
            continue;
        }
        const double start = nbc_wtime();
        const int failed = answer(sim, home, mailbox, status || is_over(home, mailbox, start - begun), err);
        if (!status) status = failed;
        *seconds += nbc_wtime() - start;
        __atomic_store_n(&mailbox->answered, mailbox->asked, __ATOMIC_RELEASE);
    }
}
