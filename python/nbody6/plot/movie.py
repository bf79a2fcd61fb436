"""The cluster as a film: a picture for each snapshot, put together by ffmpeg (MP4) or Pillow (GIF)."""

import os
import shutil
import subprocess

import numpy as np

from ..errors import ReadError, WriteError
from ..files import replacing
from .style import plain, plt

RATE = 12  # pictures a second
SIZE = 720  # pixels, even as H.264 wants it
MOST_FRAMES = 600


def _frame(run, snapshot, width, scale, times):
    figure = plt.figure(figsize=(6, 6), dpi=SIZE / 6, facecolor="#0b0d12")
    axes = figure.add_axes((0, 0, 1, 1), facecolor="#0b0d12")
    d = (snapshot.x - snapshot.centre) * scale.factor("length")
    mass = snapshot.mass / max(snapshot.mass.max(), 1e-300)
    order = np.argsort(mass)
    n = len(mass)
    size = float(np.clip(6000 / n, 0.5, 14)) * (0.4 + 3 * mass[order]**0.5)
    axes.scatter(d[order, 0], d[order, 1], size, c=mass[order]**0.4, cmap="magma", vmin=-0.6, vmax=1.0, linewidths=0,
                 alpha=0.9)
    axes.set_xlim(-width, width)
    axes.set_ylim(-width, width)
    axes.axis("off")
    axes.text(0.03, 0.96, plain(run.title), transform=axes.transAxes, color="white", fontsize=12, va="top")
    axes.text(0.97, 0.96, times(snapshot.t), transform=axes.transAxes, color="white", fontsize=12, va="top", ha="right")
    bar = 10.0**np.floor(np.log10(width / 2))
    axes.plot([-0.94 * width, -0.94 * width + bar], [-0.93 * width] * 2, color="white", lw=2)
    axes.text(-0.94 * width, -0.91 * width, "%g %s" % (bar, scale.label("length")), color="white", fontsize=10,
              va="bottom")
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[:, :, :3].copy()
    plt.close(figure)
    return pixels


def frames(run, scale, tell):
    """Pictures [SIZE][SIZE][3] of all snapshots that can be read, at most MOST_FRAMES."""
    which = np.unique(np.linspace(0, len(run.snapshots) - 1, min(len(run.snapshots), MOST_FRAMES)).round().astype(int))
    width = None
    for done, k in enumerate(which):
        tell("drawing the film", done, len(which))
        try:
            snapshot = run.snapshot(int(k))
        except ReadError:
            continue  # is being written
        if width is None:
            r = snapshot.r * scale.factor("length")
            width = 1.15 * r.max() if len(r) <= 12 else min(1.1 * r.max(), 2.2 * np.quantile(r, 0.85))
            width = width or 1.0
        myr = run.time_myr if scale.unit == "physical" else None
        yield _frame(run, snapshot, width, scale, lambda t: "%.1f Myr" % (t * myr) if myr else "t = %.4g" % t)
    tell("drawing the film", len(which), len(which))


def write(path, pictures):
    """MP4 by ffmpeg, or GIF by Pillow, as the name ends.   Raises WriteError."""
    kind = os.path.splitext(path)[1].lower()
    if kind == ".mp4":
        return _write_mp4(path, pictures)
    if kind == ".gif":
        return _write_gif(path, pictures)
    raise WriteError("%s: a film ends in .mp4 (by ffmpeg) or .gif (by Pillow)" % path)


def default_ending():
    return ".mp4" if shutil.which("ffmpeg") else ".gif"


def _write_mp4(path, pictures):
    if not shutil.which("ffmpeg"):
        raise WriteError("%s: there is no ffmpeg on this machine; a name that ends in .gif does without" % path)
    with replacing(path, ".mp4") as (_, partial):
        _run_ffmpeg(path, partial, pictures)


def _run_ffmpeg(path, partial, pictures):
    command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
               "-s", "%dx%d" % (SIZE, SIZE), "-r", str(RATE), "-i", "-", "-an", "-c:v", "libx264",
               "-pix_fmt", "yuv420p", "-crf", "22", "-movflags", "+faststart", partial]
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
    images = [Image.fromarray(picture).resize((480, 480)).quantize(64) for picture in pictures]
    if not images:
        raise WriteError("%s: there is no snapshot to draw" % path)
    with replacing(path) as (handle, _), os.fdopen(handle, "wb", closefd=False) as file:
        images[0].save(file, format="GIF", save_all=True, append_images=images[1:], duration=1000 // RATE, loop=0)
