"""All pictures by name, as parts of the page: functions of a Report that return a Panel of that name, or None where the
run has nothing to draw."""

import functools

from . import (panels_binaries, panels_cluster, panels_energy, panels_evolution, panels_integrator, panels_motion,
               panels_profiles, panels_stars)

VIEWS = {"view-" + "xyz"[i] + "xyz"[j]: functools.partial(panels_cluster.view, i=i, j=j, side=side)
         for i, j, side in panels_cluster.SIDES}
PROFILES = {"density": panels_profiles.density, "cumulative-mass": panels_profiles.cumulative,
            "surface-density": panels_profiles.surface_density, "dispersion": panels_profiles.dispersion,
            "anisotropy": panels_profiles.anisotropy, "masses": panels_profiles.masses}
EVOLUTION = {"radii": panels_evolution.radii, "mass-groups": panels_evolution.radii_by_mass,
             "core": panels_evolution.core, "stars": panels_evolution.mass_and_number,
             "virial": panels_evolution.virial, "escapers": panels_evolution.escapers,
             "relaxation": panels_motion.relaxation, "drift": panels_motion.drift,
             "galactic-orbit": panels_motion.orbit}
STARS = {"hr-diagram": panels_stars.diagram, "mass-by-type": panels_stars.mass_by_type,
         "remnants": panels_stars.remnants}
BINARIES = {"orbits": panels_binaries.orbits, "hardness": panels_binaries.hardness,
            "binary-numbers": panels_binaries.numbers, "binding": panels_binaries.binding}
ENERGY = {"energy-error": panels_energy.error, "force-error": panels_energy.force_error,
          "energy-budget": panels_energy.budget,
          "field-work": panels_energy.field_work, "energy-channels": panels_energy.channels}
INTEGRATOR = {"steps": panels_integrator.steps, "neighbours": panels_integrator.neighbours,
              "wall-time": panels_integrator.wall_time, "pace": panels_integrator.pace}
ALL = {**VIEWS, **PROFILES, **EVOLUTION, **STARS, **BINARIES, **ENERGY, **INTEGRATOR}
