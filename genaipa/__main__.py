"""What runs first, as `genaipa` and as `python -m genaipa`: nothing is imported before a signal to end is taken."""

import sys

from genaipa import signals


def main() -> None:
    """Run the command line; whoever ends it while it still starts is told so, and it ends as at Ctrl-C later on."""
    signals.take()
    try:
        from genaipa import cli

        cli.main()
    except KeyboardInterrupt:
        sys.stderr.write("genaipa: interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    # -m puts the working folder first on the path: a file there, of a study that somebody sent, would be imported in
    # place of a library of the same name. With -P it isn't there.
    if not sys.flags.safe_path and not sys.flags.isolated:
        del sys.path[0]
    main()
