"""The page in a browser that is here: the picture in three dimensions answers keys, pointers and buttons, the units
change, and nothing moves for readers who asked for that."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

import numpy as np

from test_plot import Page, plot, write_log

import h5py

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# Each answer is a word of the list; a picture is compared by its pixels.
TRY = """<script>
addEventListener("load", function () {
  var canvas = document.querySelector("canvas"), button = document.querySelector(".scene button"), said = [];
  canvas.setPointerCapture = function () {};
  function shot() { return canvas.toDataURL(); }
  function key(name) {
    canvas.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true}));
  }
  function pointer(kind, x, y) {
    canvas.dispatchEvent(new PointerEvent(kind, {pointerId: 1, clientX: x, clientY: y, bubbles: true}));
  }
  said.push("load=" + button.textContent);
  if (button.textContent === "Stop") button.click();
  said.push("click=" + button.textContent);
  var first = shot();
  [["ArrowLeft", "ArrowRight"], ["ArrowUp", "ArrowDown"], ["+", "-"]].forEach(function (pair) {
    key(pair[0]);
    said.push(pair[0] + "=" + (shot() !== first));
    key(pair[1]);
    said.push(pair[1] + "=" + (shot() === first));
  });
  key(" ");
  said.push("space=" + button.textContent);
  key(" ");
  first = shot();
  pointer("pointerdown", 100, 100);
  pointer("pointermove", 150, 120);
  pointer("pointerup", 150, 120);
  said.push("drag=" + (shot() !== first));
  first = shot();
  var hidden = function (unit) { return getComputedStyle(document.querySelector("#view-xy .in-" + unit)).display; };
  said.push("before=" + hidden("physical") + "," + hidden("nbody"));
  document.getElementById("show-nbody").click();
  said.push("after=" + hidden("physical") + "," + hidden("nbody"), "axes=" + (shot() !== first));
  said.push("wide=" + (document.documentElement.scrollWidth <= innerWidth));
  var together = true;
  for (var width = 240; width <= 480; width += 10) {
    document.body.style.width = width + "px";
    document.querySelectorAll("input[name=units]").forEach(function (radio) {
      var box = radio.getBoundingClientRect(), words = radio.nextElementSibling.getClientRects()[0];
      together = together && box.top < words.bottom && words.top < box.bottom;
    });
  }
  said.push("together=" + together);
  document.title = "SAID " + said.join(" ");
});
</script></body>"""


@unittest.skipUnless(BROWSER, "the page in a browser: there is none of chromium, google-chrome")
class BrowserTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.name = os.path.join(cls.folder, "run")
        write_log(cls.name + ".log.csv", 3)
        random = np.random.default_rng(1)
        with h5py.File(cls.name + ".snap.00000.h5", "w") as file:
            file.create_group("Header").attrs["Time"] = 0.0
            file.create_group("nbody6").attrs.update(length_pc=2.0, mass_msun=300.0, velocity_kms=0.8, time_myr=2.4,
                                                     rbar_pc=2.0, zmbar_msun=1.0)
            stars = file.create_group("PartType4")
            stars["Coordinates"], stars["Velocities"] = random.normal(size=(2, 300, 3))
            stars["Masses"] = random.uniform(0.1, 3, 300)**2 / 300
            stars["ParticleIDs"] = np.arange(1, 301)
        assert plot(cls.name).returncode == 0
        with open(cls.name + ".html", encoding="utf-8") as file:
            text = file.read()
        Page(text)
        cls.tried = os.path.join(cls.folder, "tried.html")
        with open(cls.tried, "w", encoding="utf-8") as file:
            file.write(text.replace("</body>", TRY))

    def said(self, *options):
        done = subprocess.run([BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000",
                               "--user-data-dir=" + os.path.join(self.folder, "profile"), *options, "--dump-dom",
                               "file://" + self.tried], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, timeout=120)
        found = re.search(r"<title>SAID ([^<]*)</title>", done.stdout)
        self.assertIsNotNone(found, done.stdout[:500])
        return dict(word.split("=") if word.count("=") == 1 else word.rsplit("=", 1) for word in found.group(1).split())

    def test_keys_pointers_and_units(self):
        said = self.said("--window-size=1000,900")
        del said["together"]  # on a narrow page alone
        self.assertEqual(said, {"load": "Stop", "click": "Turn", "ArrowLeft": "true", "ArrowRight": "true",
                                "ArrowUp": "true", "ArrowDown": "true", "+": "true", "-": "true", "space": "Stop",
                                "drag": "true", "before": "block,none", "after": "none,block", "axes": "true",
                                "wide": "true"})

    def test_reduced_motion(self):
        """It stands still until the reader starts it; and a narrow page does not move sideways, and has each switch
        on the line of its words."""
        said = self.said("--force-prefers-reduced-motion", "--window-size=500,900")
        self.assertEqual([said[name] for name in ("load", "space", "wide", "together")],
                         ["Turn", "Stop", "true", "true"])


if __name__ == "__main__":
    unittest.main()
