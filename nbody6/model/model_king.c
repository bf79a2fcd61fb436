#include "common/nbc.h"
#include "nbody6/input/config.h"
#include "nbody6/model/king.h"
#include "nbody6/model/model.h"
#include "nbody6/model/model_parts.h"
#include "nbody6/model/pieces.h"
#include "nbody6/model/random.h"

int nb6_model_king(const struct nb6_model_config *config, nb6_random_t *position, nb6_random_t *velocity,
                   struct nb6_model *model, double *potential, struct nbc_error *err)
{
    nb6_king_t *king = NULL;
    const int status = nb6_king_solve(config->king_w0, &king, err);
    if (status) return status;
    for (struct nb6_piece p = nb6_pieces(model, 0, NB6_PLACES | NB6_VELOCITIES); nb6_piece_next(&p);)
        for (int64_t i = 0; i < p.count; i++) nb6_king_draw(king, position, velocity, p.x[i], p.v[i]);
    *potential = nb6_king_potential_energy(king);
    nb6_king_free(king);
    return NBC_OK;
}
