"""These errors end a deployment before it begins."""


class TemplateError(Exception):
    """The template, or a value for it, is wrong; the text says what, in one sentence."""
