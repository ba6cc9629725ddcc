"""Numbers as people read them."""


def grouped(number: float) -> str:
    """With thin gaps between thousands."""
    return f"{number:,.0f}".replace(",", "\u202f")


def lateness(milliseconds: float | None) -> str:
    """Of a schedule that has fired."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1_000:
        return f"{milliseconds:.0f}\u00a0ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1_000:.1f}\u00a0s"
    return f"{milliseconds / 60_000:.1f}\u00a0min"


def counted(number: int, one: str, many: str = "") -> str:
    """1 schedule, 2 schedules."""
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"
