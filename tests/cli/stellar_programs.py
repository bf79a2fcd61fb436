"""SSE, BSE and programs that descend from them differ from the papers: changes of the sources in stellar/ by which
these do the same. With these, all numbers agree (tests/cli/long_stellar_oracles.py), so that they are the whole
explanation; docs/algorithms/stellar.md has them as a table."""

import glob
import os
import shutil
import subprocess

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# File, text here, text there
FITS = (
    # Shell of helium, HPT eq. 68
    ("giant.c", "A_HE = 7.66e-5", "A_HE = 8.0e-5"),
    ("helium_star.c", "A_HE = 7.66e-5", "A_HE = 8.0e-5"),
    # Blue phase, eq. 58
    ("giant_fits.c", "stellar_power(x, 0.414)", "stellar_power(x, 0.4805428)"),
    ("giant_fits.c", "stellar_power(m / f->m_fgb, 0.414)", "stellar_power(m / f->m_fgb, 0.4805428)"),
    # b17, below eq. 51
    ("tables.c", "pow(zeta + 1, 2.862149)", "pow(zeta + 1, 0.637176)"),
    # Least t_MS / t_BGB, eq. 6
    ("tables.c", "fmin(0.95 - 0.03 * (zeta + 0.30103), 0.99)",
     "fmax(0.95 - (z - 0.01) * 10 / 3, fmin(0.99, 0.98 - (z - 0.001) * 100 / 7))"),
    # M_FGB with more digits, eq. 3
    ("tables.c", "13.048 * pow(z / 0.02, 0.06) / (1 + 0.0012 * pow(0.02 / z, 1.27))",
     "16.5 * pow(z, 0.06) / (1 + pow(1e-4 / z, 1.27))"),
    # p, q and D, below eq. 38
    ("giant_fits.c", "(m - f->m_hef) / (2.5 - f->m_hef)", "(m - 2) / 0.5"),
    # Core mass in R_ZAHB, eq. 54: that of now
    ("giant.c", "blue_begin_radius(const struct stellar_fits *f, const struct stellar_giant *g, double m)",
     "blue_begin_radius(const struct stellar_fits *f, const struct stellar_giant *g, double m, double mc)"),
    ("giant.c", "stellar_r_zahb(f, m, g->mc_hei)", "stellar_r_zahb(f, m, mc)"),
    ("giant.c", "blue_begin_radius(f, g, m),", "blue_begin_radius(f, g, m, *mc),"),
    # xi of eq. 61 above 12 Msun if no blue phase follows
    ("giant.c", "(branch ? r_mhe : r_least) / r_x)", "(branch ? r_mhe : g->m0 > 12 ? r_x : r_least) / r_x)"))
# COSMIC, windflag 3
WINDS = (
    # Winds of luminous blue variables come on top of others.
    ("wind.c", "if (is_beyond_limit(l, r)) return model->options.flbv * 1e-4;",
     "const double more = is_beyond_limit(l, r) ? model->options.flbv * 1e-4 : 0;"),
    # No wind of a thin envelope
    ("wind.c", "return fmax(bare, hot_star(z, m, l, t, t <= 25000 && model->options.mdflag == 3));",
     "return more + hot_star(z, m, l, t, t <= 25000);"),
    ("wind.c", "return fmax(bare, giant_winds(model, type, m, l, r));\n}",
     "return more + giant_winds(model, type, m, l, r);\n}"),
    # The exponent of the metallicity that was set before, in place of 0.85, for hot stars
    ("wind.c", "0.85 * log_z +\n                           0.933", "0.5 * log_z +\n                           0.933"),
    # Beyond the ranges of temperatures, too
    ("wind.c", "fmin(fmax(t, 27500), 50000)", "t"),
    ("wind.c", "fmin(t, 22500)", "t"))


def copy(folder, changes):
    """The sources with changes.   Raises ValueError for one that does not find its place once."""
    shutil.copytree(os.path.join(SOURCE, "stellar"), os.path.join(folder, "stellar"))
    for name, here, there in changes:
        path = os.path.join(folder, "stellar", name)
        with open(path) as file:
            text = file.read()
        if text.count(here) != 1:
            raise ValueError("stellar/%s has %d of: %s" % (name, text.count(here), here))
        with open(path, "w") as file:
            file.write(text.replace(here, there))


def build(folder, changes):
    """A library of the sources with changes.   :return: its path"""
    copy(folder, changes)
    common = [path for path in glob.glob(os.path.join(SOURCE, "common", "*.c")) if not path.endswith("loaded.c")]
    made = os.path.join(folder, "libstellar.so")
    subprocess.run([*os.environ.get("CC", "cc").split(), "-O2", "-std=c11", "-D_GNU_SOURCE", "-fopenmp", "-fPIC",
                    "-shared", "-ffp-contract=off", "-I", folder, "-I", SOURCE, "-o", made,
                    *glob.glob(os.path.join(folder, "stellar", "*.c")), *common, "-lm"], check=True)
    return made
