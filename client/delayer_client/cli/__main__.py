"""The command `delayer`."""

import sys

from delayer_client.errors import install


def main() -> None:
    """As it is started from a shell."""
    try:
        from delayer_client.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("delayer_client"):
            raise
        raise SystemExit(f"The command line needs the package {error.name}. {install('cli')}") from None
    from delayer_client.cli.exits import Exit
    from delayer_client.cli.showing.streams import abandon

    try:
        app(prog_name="delayer")
    except OSError as error:  # of a help text, or of the version: a command reports its own
        abandon(sys.stdout)
        print(f"Standard output takes nothing: {error.strerror}.", file=sys.stderr)
        raise SystemExit(Exit.NOT_WRITTEN) from None


if __name__ == "__main__":
    main()
