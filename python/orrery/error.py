"""The one exception of the package."""


class Error(Exception):
    """Says why there is no result: in the words of the program, or of what cannot be read.

    status: the exit status of the program; None if it did not run.
    results: the opened run or study that the program left behind, if there is one; else None.
    """

    def __init__(self, words, status=None, results=None):
        super().__init__(words)
        self.status = status
        self.results = results
