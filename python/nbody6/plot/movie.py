"""The cluster as a film: the stars move smoothly from one snapshot to the next, and the time is in each picture; put
together by ffmpeg (MP4) or Pillow (GIF)."""

import os
import shutil
import subprocess

import numpy as np

from ..errors import WriteError
from ..files import replacing
from .frames import Interval, snapshots
from .panels_cluster import mass_classes
from .style import figure, plain, styled

RATE = 24  # pictures a second
SIZE = 1080  # pixels, even as H.264 wants it
LEAST_S, MOST_S = 10, 60  # seconds that a film takes
A_SNAPSHOT_S = 0.25  # and from one snapshot to the next, within these limits
GIF_RATE = 12  # its pictures take more room
SKY, WHITE = "#0b0d12", "#ffffff"
# Light stars to heavy ones: brighter, as for a film seen in the dark.
ALIKE = "#cbd8ff"  # stars of one mass
STARS = ("#5b7fd6", "#7f88dc", "#a592de", "#c99cd9", "#e6aac6", "#f6bcae", "#fdd39f", "#fff1c4")


def count_of_frames(snapshots_there, rate):
    """Of the whole film: at least LEAST_S seconds, at most MOST_S."""
    return int(round(rate * min(max(LEAST_S, A_SNAPSHOT_S * (snapshots_there - 1)), MOST_S)))


def width_of(snapshot):
    """Half of the frame, in N-body units."""
    r = snapshot.r
    return (1.15 * r.max() if len(r) <= 12 else min(1.1 * r.max(), 2.2 * np.quantile(r, 0.85))) or 1.0


class Screen:
    """One figure, in which only what changes is drawn anew."""

    def __init__(self, title, width, scale):
        """width: half of the frame in units of the scale"""
        self.figure, self.axes = figure(6, 6)
        self.figure.set_layout_engine("none")
        self.figure.set_dpi(SIZE / 6)
        self.figure.set_facecolor(SKY)
        self.axes.set_position((0, 0, 1, 1))
        self.axes.set_xlim(-width, width)
        self.axes.set_ylim(-width, width)
        self.axes.axis("off")
        self.dots, self.time = None, self.axes.text(0.97, 0.965, "", transform=self.axes.transAxes, color=WHITE,
                                                    fontsize=13, va="top", ha="right")
        self.axes.text(0.03, 0.965, plain(title), transform=self.axes.transAxes, color=WHITE, fontsize=13, va="top")
        bar = 10.0**np.floor(np.log10(width / 2))
        self.axes.plot([-0.94 * width, -0.94 * width + bar], [-0.93 * width] * 2, color=WHITE, lw=2)
        self.axes.text(-0.94 * width, -0.91 * width, "%g %s" % (bar, scale.label("length")), color=WHITE, fontsize=10,
                       va="bottom")

    def show_stars(self, mass):
        """Prepares dots for stars of these masses; heavy ones come last, above the others."""
        if self.dots is not None:
            self.dots.remove()
        kind = mass_classes(mass)[0]
        colours = np.array(STARS if kind is not None else [ALIKE] * len(STARS))
        kind = np.full(len(mass), len(STARS) // 2) if kind is None else kind
        self.order = np.argsort(kind, kind="stable")
        size = float(np.clip(6000 / len(mass), 0.8, 16)) * (0.5 + (kind[self.order] / 7)**2 * 5)
        if len(mass) <= 12:
            size = size + 20
        self.dots = self.axes.scatter(np.zeros(len(mass)), np.zeros(len(mass)), size, linewidths=0, zorder=2,
                                      c=colours[kind[self.order]])

    def picture(self, x, text):
        """Pixels [SIZE][SIZE][3].   x: [n][2] in units of the scale"""
        self.dots.set_offsets(x[self.order])
        self.time.set_text(text)
        self.figure.canvas.draw()
        return np.asarray(self.figure.canvas.buffer_rgba())[:, :, :3].copy()


def _times_of_frames(times, frames):
    """Of each picture: evenly from the first snapshot to the last; a film of one snapshot has one time."""
    return np.linspace(times[0], times[-1], frames if len(times) > 1 else 1)


@styled
def _draw(run, scale, tell, ending):
    rate = GIF_RATE if ending == ".gif" else RATE
    known = [t for t in run.snapshot_times() if np.isfinite(t)]
    if not known:
        return
    frames = count_of_frames(len(known), rate)
    moments, myr, factor = _times_of_frames(sorted(known), frames), run.time_myr, scale.factor("length")
    shown, done, screen, first = snapshots(run, 4 * frames), 0, None, None

    def texts(t):
        return "%.2f Myr" % (t * myr) if myr and scale.unit == "physical" else "t = %.2f" % t

    for snapshot in shown:
        if screen is None:
            screen = Screen(run.title, width_of(snapshot) * factor, scale)
        if first is not None:
            interval = Interval(first, snapshot)
            screen.show_stars(first.mass)
            while done < len(moments) and moments[done] < snapshot.t:
                tell("drawing the film", done, len(moments))
                x = interval.at((moments[done] - first.t) / interval.h)
                yield screen.picture(x[:, :2] * factor, texts(moments[done]))
                done += 1
        first = snapshot
    if first is not None:
        screen.show_stars(first.mass)
        yield screen.picture((first.x - first.centre)[:, :2] * factor, texts(first.t))
    tell("drawing the film", len(moments), len(moments))


def frames(run, scale, tell, ending=".mp4"):
    """Pictures [SIZE][SIZE][3] of the whole run.   ending: of the file, .mp4 or .gif"""
    return _draw(run, scale, tell, ending)


def ending_of(path):
    """.mp4 or .gif.   Raises WriteError: another one, or there is no ffmpeg for the first."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in (".mp4", ".gif"):
        raise WriteError("%s: a film ends in .mp4 (by ffmpeg) or .gif (by Pillow)" % path)
    if ending == ".mp4" and not shutil.which("ffmpeg"):
        raise WriteError("%s: there is no ffmpeg on this machine; a name that ends in .gif does without" % path)
    return ending


def write(path, pictures):
    """MP4 by ffmpeg, or GIF by Pillow, as the name ends.   Raises WriteError."""
    if ending_of(path) == ".gif":
        return _write_gif(path, pictures)
    with replacing(path, ".mp4") as (_, partial):
        _run_ffmpeg(path, partial, pictures)


def default_ending():
    return ".mp4" if shutil.which("ffmpeg") else ".gif"


def _run_ffmpeg(path, partial, pictures):
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
               "-s", "%dx%d" % (SIZE, SIZE), "-r", str(RATE), "-i", "-", "-an", "-c:v", "libx264",
               "-pix_fmt", "yuv420p", "-crf", "20", "-movflags", "+faststart", partial]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for picture in pictures:
            process.stdin.write(picture.tobytes())
        process.stdin.close()
    except BrokenPipeError:
        pass  # what ffmpeg has to say comes below
    said = process.stderr.read().decode(errors="replace")
    process.stderr.close()
    if process.wait() != 0:
        raise WriteError("%s: ffmpeg failed: %s" % (path, said.strip()[-400:]))


def _write_gif(path, pictures):
    try:
        from PIL import Image
    except ImportError:
        raise WriteError("%s: a GIF needs Pillow: pip install pillow" % path) from None
    images = [Image.fromarray(picture).quantize(64) for picture in pictures]
    if not images:
        raise WriteError("%s: there is no snapshot to draw" % path)
    with replacing(path) as (handle, _), os.fdopen(handle, "wb", closefd=False) as file:
        images[0].save(file, format="GIF", save_all=True, append_images=images[1:], duration=1000 // GIF_RATE, loop=0)
