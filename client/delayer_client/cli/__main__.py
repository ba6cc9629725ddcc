"""The command `delayer`."""


def main() -> None:
    """As it is started from a shell."""
    try:
        from delayer_client.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("delayer_client"):
            raise
        raise SystemExit(
            f"The command line needs the package {error.name}. Install it with: pip install 'delayer-client[cli]'"
        ) from None
    app(prog_name="delayer")


if __name__ == "__main__":
    main()
