"""Where the project's files are."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
