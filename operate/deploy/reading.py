"""Reads a template."""

from pathlib import Path
from typing import Any

import yaml
from samtranslator.yaml_helper import intrinsics_multi_constructor

from operate.deploy.errors import TemplateError


class TemplateLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads the short intrinsic functions, such as !Ref, as SAM does."""


TemplateLoader.add_multi_constructor("!", intrinsics_multi_constructor)


def read_template(template_file: Path) -> dict[str, Any]:
    """The template as a dictionary, its short intrinsic functions written out. Errors: TemplateError."""
    try:
        # The loader picks the class: with libyaml, it takes a fifth of a second instead of more than half.
        template = yaml.load(template_file.read_text(encoding="utf-8"), TemplateLoader)  # noqa: S506 - a safe one
    except FileNotFoundError:
        raise TemplateError(f"There is no {template_file.name} in {template_file.parent}.") from None
    except Exception as error:
        reason = " ".join(str(error).split())
        raise TemplateError(f"{template_file.name} is not valid YAML: {reason}.") from error
    if not isinstance(template, dict):
        raise TemplateError(f"{template_file.name} does not hold a template.")
    return template
