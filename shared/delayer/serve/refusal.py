"""The one exception that ends `delayer serve` with a clear sentence."""


class Refusal(Exception):
    """Says what is wrong, where, and what to do. Nobody sees a stack trace of it.

    Its status is the exit status of the process: 2 is wrong use. 1 is what may pass by itself, so that a service
    manager tries again: another engine that is still running, a port in use.
    """

    def __init__(self, *, what: str, do: str, where: str = "", status: int = 2) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.do = do
        self.status = status

    def __str__(self) -> str:
        """One or two sentences: `what (where). do.`"""
        place = f" ({self.where})" if self.where else ""
        return f"{self.what.rstrip('.')}{place}. {self.do.rstrip('.')}."
