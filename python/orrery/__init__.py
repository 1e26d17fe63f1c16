"""Runs the N-body program Orrery and reads its results.

    import orrery
    run = orrery.run("my.cfg", {"time.step": 0.01})
    run.held, run.tables["conservation"], run.frames[-1].positions
    study = orrery.open("my.sweep")
    study.table, study.runs["001"]
"""

from .error import Error
from .frames import Frame, Frames
from .program import run
from .results import Run, Study, open_results as open
from .version import VERSION as __version__

__all__ = ["Error", "Frame", "Frames", "Run", "Study", "open", "run"]
