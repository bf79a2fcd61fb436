/** Questions about all bodies on a GPU (stages/survey.h): kernels that run while no blocks are advanced. */
#ifndef NB6_CUDA_SURVEY_H
#define NB6_CUDA_SURVEY_H

#include "common/nbc.h"
#include "nbody6/engine/cuda/memory.h"
#include "nbody6/engine/stages/state.h"
#include "nbody6/engine/stages/survey.h"
#include "nbody6/engine/survey.h"
#include "nbody6/state/survey.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

struct nb6_sim;

/** As the function of state/survey.h. The GPU is in use. */
int nb6_device_find_holders(struct nb6_device *d, const nb6_index of[2], struct nb6_held held[2],
                            struct nbc_error *err);
/** The answer to a question, as nb6_emulated_survey (emulated/survey.h).   @return NBC_OK; NBC_NO_MEMORY; NBC_DEVICE */
int nb6_device_survey(const struct nb6_sim *sim, struct nb6_device *d, struct nb6_dev_question *question,
                      const struct nb6_dev_apart *apart, double sum[NB6_DEV_SURVEY_SUMS], struct nbc_error *err);

#ifdef __cplusplus
extern "C" {
#endif

/** Entries for the holders of bodies at two places, as stages/survey.h has them. */
struct nb6_device_holders {
    int32_t n;
    int32_t entry[1]; /**< [n] */
};

/** Targets of forces, in memory of the device. */
struct nb6_device_survey_job {
    int64_t n, row;
    const struct nb6_dev_survey_target *target; /**< [n] */
    int32_t *nnb, *list;                        /**< [n] 0 before; [n][row] */
    struct nb6_dev_survey_force *force;         /**< [n][NB6_DEV_SURVEY_SLICES] */
    int32_t weighted;
};

/** Enqueue the search.   @param[in,out] found  of the device; n: 0 */
cudaError_t nb6_device_search_lists(const struct nb6_dev *dev, const int32_t place[2], struct nb6_device_holders *found,
                                    cudaStream_t stream);
/** Enqueue: entry_of, where all are -1, gets the entries of the revision. */
cudaError_t nb6_device_note_revised(const struct nb6_dev_revision *revision, cudaStream_t stream);
/** Enqueue sums.   @param[out] sum [NB6_DEV_SURVEY_SLICES] */
cudaError_t nb6_device_survey_sums(const struct nb6_dev *dev, const struct nb6_dev_revision *revision,
                                   const struct nb6_dev_apart *apart, double (*sum)[NB6_DEV_SURVEY_SUMS],
                                   cudaStream_t stream);
/** Enqueue forces and lists. */
cudaError_t nb6_device_survey_forces(const struct nb6_dev *dev, const struct nb6_dev_revision *revision,
                                     const struct nb6_device_survey_job *job, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
