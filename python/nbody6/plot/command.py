"""One page of a run of nbody6, NAME.html: what was run, the cluster, its evolution, binaries and encounters, energy,
the integrator, each figure with a sentence that says what is normal. Several names: one page that compares the runs.

NAME is what the run's files are called, with their folder: nbody6-plot out/plummer-1k. The run may still be going.
"""

import argparse
import glob
import sys

from ..errors import ReadError, WriteError
from ..files import write_whole
from ..run import Run
from .progress import Progress
from .report import Report


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(prog="nbody6-plot", description=__doc__,
                                     usage="%(prog)s [options] NAME [NAME ...]",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", metavar="NAME", nargs="*", help="name of the run, or any of its files")
    parser.add_argument("-o", "--out", metavar="PREFIX", help="write PREFIX.html (default: the first NAME)")
    parser.add_argument("-s", "--snapshot", metavar="FILE", help="show this snapshot (default: the last one)")
    parser.add_argument("-t", "--title", help="title of the page (default: the name of the run)")
    parser.add_argument("-l", "--live", action="store_true",
                        help="serve the page on this machine's loopback address, renewed while the run continues")
    parser.add_argument("-p", "--port", type=int, default=0, help="with --live: port (default: a free one)")
    parser.add_argument("-m", "--movie", metavar="FILE", nargs="?", const="", help="a film of all snapshots in place "
        "of "
                        "the page: FILE.mp4 (by ffmpeg) or FILE.gif (by Pillow; default: PREFIX and what there is)")
    options = parser.parse_args(arguments)
    if options.movie and not options.name and not options.movie.endswith((".mp4", ".gif")):
        options.name, options.movie = [options.movie], ""  # --movie NAME
    if not options.name:
        parser.error("the following arguments are required: NAME")
    for given, name in ((options.live, "--live"), (options.movie is not None,
                        "--movie"), (options.snapshot, "--snapshot")):
        if given and len(options.name) > 1:
            parser.error("%s takes one run" % name)
    if options.live and options.movie is not None:
        parser.error("--live and --movie do not go together")
    if not 0 <= options.port < 65536:
        parser.error("--port %d: from 1 to 65535, or 0" % options.port)
    return options


def printable(path):
    """Names of files may be any bytes, of which a terminal takes characters."""
    return path.encode("utf-8", "replace").decode("utf-8")


def make_report(name, options, tell):
    report = Report(Run(name), options.snapshot, tell)
    report.history  # reads the snapshots, of which some may be skipped
    for text in report.notes:
        print("nbody6-plot: skipped " + text, file=sys.stderr)
    return report


def make_page(options, tell):
    reports = [make_report(name, options, tell) for name in options.name]
    from . import compare, page  # matplotlib takes its time: what is wrong with the names is told before
    if len(reports) > 1:
        text = compare.make_page(reports, options.title)
    else:
        text = page.make_page(reports[0], options.title)
    path = (options.out or reports[0].run.name) + ".html"
    try:
        write_whole(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise WriteError("cannot write %s: %s" % (path, error.strerror)) from None
    return path


def make_movie(options, tell):
    run = Run(options.name[0])
    if not run.snapshots:
        raise ReadError("%s: the run has written no snapshots, of which a film is made: KZ(3)=1" % run.name)
    from . import movie
    path = options.movie or (options.out or run.name) + movie.default_ending()
    movie.write(path, movie.frames(run, Report.scale_of(run), tell, movie.ending_of(path)))
    return path


def serve(options):
    run = Run(options.name[0])  # a name that is wrong is told now, not in the browser
    from . import live

    def make():
        from . import page  # matplotlib takes its time, in which the address is there already
        return page.make_page(make_report(run.name, options, lambda *_: None), options.title, live.REFRESH_S)

    def watched():
        return [run.name + ".log.csv", *sorted(glob.glob(glob.escape(run.name) + ".snap.*.h5"))]

    live.serve(live.Pages(make, watched), options.port,
               lambda address: print("%s shows %s; Ctrl-C ends it" % (address, printable(run.name)), flush=True))


def main(arguments=None):
    options = parse_arguments(arguments)
    tell = Progress()
    try:
        if options.live:
            serve(options)
            return 0
        path = make_movie(options, tell) if options.movie is not None else make_page(options, tell)
    except (ReadError, WriteError, OSError) as error:
        tell.close()
        sys.exit("nbody6-plot: %s" % error)
    tell.close()
    print(printable(path))
    return 0
