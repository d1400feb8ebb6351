"""How a command line of this project runs: mistakes end in one line, never in a traceback."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from icb import files
from icb.errors import InputError


def run_command(
    program: str, build_parser: Callable[[], argparse.ArgumentParser], arguments: Sequence[str] | None
) -> int:
    """Parse, call ``options.run(options)`` and return the exit code: 2, and a line on standard error, for mistakes."""
    try:
        try:
            options = build_parser().parse_args(arguments)
            with _terminable():
                options.run(options)
        finally:
            sys.stdout.flush()  # here, where a failure can be caught
    except InputError as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        # Keep the interpreter from trying, and complaining, again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # whoever read the output has gone
            return 141
        print(f"{program}: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr)
        return 2
    except Exception as error:
        if not (isinstance(error, MemoryError) or files.machine_at_fault(error)):
            raise
        print(f"{program}: the machine cannot do this: {_first_line(error)}", file=sys.stderr)
        return 2
    return 0


def _first_line(error: Exception) -> str:
    """What an error says, without the advice that libraries let follow; its kind where it says nothing."""
    return f"{error}".partition("\n")[0] or type(error).__name__


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM, which schedulers send, unwind as Ctrl-C does, so that nothing half-made is left."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
