"""Colours of figures and page. Each one has a contrast of at least 4.5 against the page and its cards, in the light and
in the dark scheme, and no figure tells things apart by colour alone."""

BLUE, ORANGE, GREEN, RED = "#0068a8", "#8a5a00", "#00734f", "#b5400a"
SKY, PURPLE, YELLOW = "#3673a5", "#9a3f80", "#6f6400"
INK, GREY, GRID = "#222222", "#63676d", "#e6e6e6"
# A perceptual map, from light stars to heavy ones: equal steps of lightness (CIE L* from 47 to 8), which a grey print
# keeps. In the dark scheme it runs from 60 to 95, so that heavy stars stand out in both.
MASS_MAP = ("#0b77a3", "#28659c", "#45518a", "#553c71", "#5a2855", "#571438", "#4c021c", "#360500")
MASS_MAP_DARK = ("#3997dd", "#8d99e7", "#c89ae2", "#f49ed4", "#ffb1c3", "#fec8c1", "#ffdbc9", "#feeeda")
# Each colour has a name in the style sheet of the page: (name, colour of the dark scheme).
TOKENS = {
    BLUE: ("blue", "#5cb3ea"), ORANGE: ("orange", "#f0b429"), GREEN: ("green", "#2cc79a"), RED: ("red", "#f4803c"),
    SKY: ("sky", "#8ad0f4"), PURPLE: ("purple", "#e0a3c6"), YELLOW: ("yellow", "#f0e442"), INK: ("ink", "#e4e6ea"),
    GREY: ("grey", "#a6acb4"), GRID: ("grid", "#363b44"),
    **{light: ("m%d" % k, dark) for k, (light, dark) in enumerate(zip(MASS_MAP, MASS_MAP_DARK))}}
SERIES = (BLUE, RED, GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (9, 3)), (0, (1, 1)))
MARKERS = "osD^vP"
# (light, dark) of what figures stand on
PAGE, CARD = ("#f4f5f7", "#14171c"), ("#ffffff", "#1d2128")
