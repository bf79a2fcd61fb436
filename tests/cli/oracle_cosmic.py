"""COSMIC for tests/cli/long_stellar_oracles.py: reads jobs from stdin, writes what becomes of the stars to a file.

A job has flags that differ from those here, a metallicity, masses and the ages at which they end. For each star the
answer has a row [type, age, mass, luminosity, radius] where a phase begins, and one at its end.
"""

import json
import sys
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
from cosmic.evolve import Evolve  # noqa: E402
from cosmic.sample.initialbinarytable import InitialBinaryTable  # noqa: E402

FLAGS = {
    "xi": 1.0, "bhflag": 1, "neta": 0.5, "windflag": 0, "wdflag": 1, "alpha1": [1.0, 1.0], "pts1": 0.0005,
    "pts2": 0.001, "pts3": 0.002, "epsnov": 0.001, "hewind": 0.5, "ck": 1000, "bwind": 0.0, "lambdaf": 0.0,
    "mxns": 2.5, "beta": -1.0, "tflag": 1, "acc2": 1.5, "grflag": 1, "remnantflag": 1, "ceflag": 0, "eddfac": 1.0,
    "ifflag": 0, "bconst": 3000, "sigma": 0.0, "gamma": -2.0, "pisn": 0, "polar_kick_angle": 90,
    "natal_kick_array": [[-100.0, -100.0, -100.0, -100.0, 0.0]] * 2, "bhsigmafrac": 1.0, "qcrit_array": [0.0] * 16,
    "cekickflag": 2, "cehestarflag": 0, "cemergeflag": 0, "ecsn": 0.0, "ecsn_mlow": 0.0, "aic": 1, "ussn": 0,
    "sigmadiv": -20.0, "qcflag": 1, "eddlimflag": 0, "fprimc_array": [2.0 / 21.0] * 16, "bhspinflag": 0,
    "bhspinmag": 0.0, "rejuv_fac": 1.0, "rejuvflag": 0, "htpmb": 1, "ST_cr": 1, "ST_tide": 1, "bdecayfac": 1,
    "rembar_massloss": 0.5, "kickflag": 1, "zsun": 0.02, "bhms_coll_flag": 0, "don_lim": -1, "acc_lim": [-1, -1],
    "rtmsflag": 0, "wd_mass_lim": 1, "LBV_flag": 1, "ce2stageflag": 0, "maltsev_mode": 0, "ppi_co_shift": 0.0,
    "ppi_extra_ml": 0.0, "maltsev_fallback": 0.5, "maltsev_pf_prob": 0.1, "fryer_mass_limit": 0, "fryer_fmix": 1.0,
    "fryer_mcrit_nsbh": 5.75, "mm_mu_ns": 400.0, "mm_mu_bh": 200.0, "smt_periastron_check": 0}
COLUMNS = ("kstar_1", "tphys", "mass_1", "lum_1", "rad_1")


def evolve(flags, z, masses, ends):
    n, mass = len(masses), np.array(masses, float)
    table = InitialBinaryTable.InitialBinaries(
        m1=mass, m2=np.zeros(n), porb=np.zeros(n), ecc=np.full(n, -1.0), tphysf=np.array(ends, float),
        kstar1=np.where(mass < 0.7, 0, 1), kstar2=np.full(n, 15), metallicity=np.full(n, z))
    found = Evolve.evolve(initialbinarytable=table, BSEDict={**FLAGS, **flags}, dtp=max(ends), nproc=1)[0]
    names, values = found["bin_num"].to_numpy(), found[list(COLUMNS)].to_numpy(float)
    stars = []
    for i in range(n):
        rows = values[names == i]
        begins = np.flatnonzero(np.diff(rows[:, 0], prepend=-1))
        stars.append({"begins": rows[begins].tolist(), "end": rows[-1].tolist()})
    return stars


if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump([evolve(*job) for job in json.load(sys.stdin)], file)
