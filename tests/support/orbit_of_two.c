#include "tests/support/orbit_of_two.h"

#include <math.h>

void orbit_of_two(double m0, double m1, double a, double e, double tilt, const double x[3], const double v[3],
                  double y[2][3], double w[2][3])
{
    const double m = m0 + m1, r = a * (1 + e), speed = sqrt(m * (1 - e) / r), share[2] = {-m1 / m, m0 / m};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++) {
            y[i][k] = x[k];
            w[i][k] = v[k];
        }
        y[i][0] += share[i] * r;
        w[i][1] += share[i] * speed * cos(tilt);
        w[i][2] += share[i] * speed * sin(tilt);
    }
}
