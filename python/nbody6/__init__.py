"""Runs of nbody6 read and made from Python.

    import nbody6
    run = nbody6.Run("plummer-1k")               # log, events, escapers, snapshots, energies, parameters
    stars = run.snapshot(-1)                     # a Snapshot: arrays, radii, profiles, mass function, segregation
    sim = nbody6.Simulation.from_input("a.inp")  # libnbody6: integrate, read arrays, hear of events
    nbody6.initial.king(1000, w0=6)              # stars to begin with
    nbody6.forces.softened(stars.mass, stars.x, 0.02, force_error=1e-3)  # accelerations, by a tree
    nbody6.stellar.Model(z=0.02).track(5)        # single stars that age
    nbody6.export.to_nbody6pp(stars, "conf.3_0") # for scripts and programs of others

Quantities are in N-body units (G = 1) unless a unit is named: stars.get("x", "pc").
"""

from . import events, export, forces, galaxy, initial, models, stellar, structure
from .errors import ReadError, SimulationError, UnitError
from .run import Run
from .simulation import Simulation
from .snapshot import Pairs, Snapshot, read_snapshot
from .stars import Stars
from .tables import Table, read_table
from .units import Units
from .version import VERSION

__version__ = VERSION
__all__ = ["Pairs", "ReadError", "Run", "Simulation", "SimulationError", "Snapshot", "Stars", "Table", "UnitError",
           "Units", "events", "export", "forces", "galaxy", "initial", "models", "read_snapshot", "read_table",
           "stellar", "structure"]
