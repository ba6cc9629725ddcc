"""Elements of SVG. Every text is escaped; nothing has a style of its own, which the policy would refuse."""

from markupsafe import Markup, escape


def element(name: str, content: str = "", **attributes: object) -> Markup:
    """One element. `class_` is `class`, and any other underscore a hyphen. `content` is escaped if it is text."""
    named = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _plain(value)) for key, value in attributes.items()
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, named, escape(content))


def joined(parts: list[Markup]) -> Markup:
    """One after the other."""
    return Markup("").join(parts)


def picture(width: float, height: float, content: Markup, *, label: str, class_: str) -> Markup:
    """The whole, which a screen reader names by its label."""
    return element(
        "svg",
        element("title", label) + content,
        class_=class_,
        viewBox=f"0 0 {_plain(width)} {_plain(height)}",
        role="img",
    )


def _plain(value: object) -> object:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
