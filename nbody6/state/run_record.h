/** Description of a run of either kind, apart from its stars. A simulation (sim.h) holds one as its member `run`; a
 *  collisionless run holds one beside its bodies. Log, snapshots, ids and checkpoints ask for no more.
 *
 *  A member belongs here if both kinds of run need it:
 *    config        both are made from an input, and checkpoints, snapshots and ids are made from what it became
 *    units         both have logs and snapshots in physical units
 *    external      the field is part of the energy of both, and snapshots tell which one it is
 *    properties    columns of the data file that snapshots and checkpoints of both keep
 *    counters      a row of the log has those of both; a leapfrog counts blocks and steps, the others stay 0
 *    book          times of adjusts and outputs, number of snapshots, ledger of energies, earlier sessions
 *    id            files of both say whose they are
 *    wall_start_s  both log the seconds of all sessions
 *  What only the integrator of stars needs stays in struct nb6_sim: bodies and their number, block times, criteria of
 *  encounters and neighbours (struct nb6_bookkeeping), seconds of its stages, libraries, engine, observer. */
#ifndef NB6_RUN_RECORD_H
#define NB6_RUN_RECORD_H

#include "nbody6/galaxy/external.h"
#include "nbody6/input/config.h"
#include "nbody6/input/units.h"
#include "nbody6/state/ledger.h"

struct nb6_properties;

struct nb6_run_record {
    struct nb6_config config;
    struct nb6_units units;
    struct nb6_external external;
    struct nb6_counters counters;
    struct nb6_run_book book;
    struct nb6_properties *properties; /**< of the stars, by their names; never changed; NULL: nothing */
    char id[NB6_RUN_ID_BYTES];         /**< of the run (output/run_id.h); "": a program that has no runs */
    char unused[7];                    /**< no bytes between the members: output/checkpoint_table.h says why */
    double wall_start_s;               /**< clock at the start of this session */
};

#endif
