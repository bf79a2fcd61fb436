"""The pictures of a run: nbody6-plot. `page.make_page(Report(run))` is the page; the panels can be used alone."""
