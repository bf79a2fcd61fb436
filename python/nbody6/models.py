"""Curves of models: density and mass within a radius, of unit mass and unit half-mass radius."""

import math

import numpy as np

PLUMMER_HALF_MASS = 1 / math.sqrt(2**(2 / 3) - 1)  # half-mass radius in scale lengths: 1.305
erf = np.vectorize(math.erf)


class Plummer:
    """Plummer (1911): rho ~ (1 + r^2/a^2)^(-5/2)."""

    name = "Plummer model"

    def __init__(self):
        self.a = 1 / PLUMMER_HALF_MASS

    def density(self, r):
        return 3 / (4 * np.pi * self.a**3) * (1 + (r / self.a)**2)**-2.5

    def mass(self, r):
        return (r / self.a)**3 * (1 + (r / self.a)**2)**-1.5


class King:
    """King (1966) of central potential W0, by integration of Poisson's equation outwards from the centre.

    Raises ValueError: W0 is not in 0.01 ... 16, the models that the program makes."""

    def __init__(self, w0):
        if not 0.01 <= w0 <= 16:
            raise ValueError("W0 = %g: King models have 0.01 to 16" % w0)
        self.name = "King model, W0 = %g" % w0
        r, rho, mass = self._integrate(float(w0))
        scale = np.interp(0.5 * mass[-1], mass, r)
        self._r, self._mass = r / scale, mass / mass[-1]
        self._rho = rho * scale**3 / mass[-1]

    @staticmethod
    def _density(w):
        w = np.maximum(w, 0.0)
        return np.exp(w) * erf(np.sqrt(w)) - np.sqrt(4 * w / np.pi) * (1 + 2 * w / 3)

    def _integrate(self, w0, steps=4000):
        """Arrays r, rho, M(r) from the centre to the edge, in core radii. The independent variable is W, which falls
        from W0 to 0; dW/dr is 0 at the centre, so that the first step is a series."""
        w = w0 * np.sin(np.linspace(np.pi / 2, 0, steps + 1))  # close together at the centre and at the edge
        rho0 = float(self._density(w0))

        def slope(w, state):
            """d(r, M)/dW, where dW/dr = -9 M / (4 pi rho0 r^2) and dM/dr = 4 pi rho r^2, in core radii."""
            r, mass = state
            dr = -4 * np.pi * rho0 * r * r / (9 * mass)
            return np.array([dr, 4 * np.pi * float(self._density(w)) * r * r * dr])

        r = np.sqrt(2 * (w0 - w[1]) / 3)  # W = W0 - 3 r^2/2 near the centre
        state = np.array([r, 4 * np.pi / 3 * rho0 * r**3])
        rows = [(0.0, 0.0), tuple(state)]
        for a, b in zip(w[1:-1], w[2:]):
            h = b - a
            k1 = slope(a, state)
            k2 = slope(a + h / 2, state + h / 2 * k1)
            k3 = slope(a + h / 2, state + h / 2 * k2)
            k4 = slope(b, state + h * k3)
            state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            rows.append(tuple(state))
        r, mass = np.array(rows).T
        return r, self._density(w), mass

    def density(self, r):
        return np.interp(r, self._r, self._rho, right=0.0)

    def mass(self, r):
        return np.interp(r, self._r, self._mass)
