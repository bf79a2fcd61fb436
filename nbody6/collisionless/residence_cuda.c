/* Kernels of GPUs. */
#include "nbody6/collisionless/residence_force.h"
#include "nbody6/collisionless/residence_kernels.h"

static int drift(const struct nb6_part *part, const struct nb6_part_block *block, double limit,
                 struct nbd_stream *stream)
{
    return (int)nb6_kernel_drift(part, block, limit, (cudaStream_t)stream);
}

static int select_bytes(int32_t n_own, size_t *bytes)
{
    return (int)nb6_kernel_select_bytes(n_own, bytes);
}

static int select_due(const struct nb6_part *part, const struct nb6_part_block *block, void *scratch, size_t bytes,
                      struct nbd_stream *stream)
{
    return (int)nb6_kernel_select(part, block, scratch, bytes, (cudaStream_t)stream);
}

static int check_forces(const struct nb6_part *part, const struct nb6_part_block *block, struct nbd_stream *stream)
{
    return (int)nb6_kernel_check(part, block, (cudaStream_t)stream);
}

static int commit(const struct nb6_part *part, const struct nb6_part_block *block, struct nbd_stream *stream)
{
    return (int)nb6_kernel_commit(part, block, (cudaStream_t)stream);
}

static int pack(const struct nb6_part *part, struct nb6_source *to, struct nbd_stream *stream)
{
    return (int)nb6_kernel_pack(part, to, (cudaStream_t)stream);
}

static int unpack(const struct nb6_source *from, int64_t n, double *mass, double (*x)[3], struct nbd_stream *stream)
{
    return (int)nb6_kernel_unpack(from, n, mass, x, (cudaStream_t)stream);
}

static int add(double (*sum)[3], const double (*more)[3], int32_t n, struct nbd_stream *stream)
{
    return (int)nb6_kernel_add(sum, more, n, (cudaStream_t)stream);
}

static int total(const struct nb6_part *part, int32_t n_due, int slots, const double (*sum)[3],
                 struct nbd_stream *stream)
{
    return (int)nb6_kernel_total(part, n_due, slots, sum, (cudaStream_t)stream);
}

static int weigh(const struct nb6_part *part, const struct nb6_part_move *move, int sums, struct nbd_stream *stream)
{
    return (int)nb6_kernel_weigh(part, move, sums, (cudaStream_t)stream);
}

static int take(const struct nb6_part *part, const struct nb6_part_move *move, struct nbd_stream *stream)
{
    return (int)nb6_kernel_take(part, move, (cudaStream_t)stream);
}

static int tells_order(const gpunb_t *force)
{
    (void)force;
    return 1;
}

static const struct nb6_residence residence = {
    .name = "device",
    .kind = &nbd_cuda,
    .drift = drift,
    .select_bytes = select_bytes,
    .select = select_due,
    .check = check_forces,
    .commit = commit,
    .pack = pack,
    .unpack = unpack,
    .add = add,
    .total = total,
    .weigh = weigh,
    .take = take,
    .open_force = nb6_residence_open_force,
    .force_bytes = nb6_residence_force_bytes,
    .kept_bytes = nb6_residence_kept_bytes,
    .open_tree = nb6_residence_open_tree,
    .tells_order = tells_order,
    .begin = nb6_residence_begin,
    .sum = nb6_residence_sum,
};

const struct nb6_residence *const nb6_residence_cuda = &residence;
