#include "stellar/remnant.h"

#include "stellar/power.h"

#include <math.h>

static const double R_NS = 1.4e-5; /* HPT, below eq. 93 */

double stellar_r_wd(double m, double m_chandrasekhar)
{
    const double x = cbrt(m / m_chandrasekhar), x2 = x * x;
    return fmax(R_NS, fmin(0.1, 0.0115 * sqrt(fmax(0, 1 / x2 - x2))));
}

/* Effective baryon number of the matter of a dwarf: A of HPT eq. 90 */
static double baryon_number(int type)
{
    return type == STELLAR_HE_WD ? 4 : type == STELLAR_CO_WD ? 15 : 17;
}

double stellar_l_wd(const struct stellar_model *model, int type, double m, double age)
{
    const double a = baryon_number(type), scale = m * model->fits.z_cooling, late = 9000; /* Myr: crystallization */
    if (model->options.wdflag == 0) return 635 * scale / stellar_power(a * (age + 0.1), 1.4);
    if (age < late) return 300 * scale / stellar_power(a * (age + 0.1), 1.18);
    return 300 * stellar_power(late * a, 5.3) * scale / stellar_power(a * (age + 0.1), 6.48);
}

void stellar_remnant_point(const struct stellar_model *model, int type, double m, double age, double *l, double *r)
{
    switch (type) {
    case STELLAR_NS:
        *l = 0.02 * stellar_power(m, 2.0 / 3) / stellar_power(fmax(age, 0.1), 2);
        *r = R_NS;
        break;
    case STELLAR_BH:
        *l = 1e-10;
        *r = 4.24e-6 * m;
        break;
    case STELLAR_NONE:
        *l = 0;
        *r = 0;
        break;
    default:
        *l = stellar_l_wd(model, type, m, age);
        *r = stellar_r_wd(m, model->options.mch);
    }
}
