"""The exceptions that users' mistakes raise."""


class InputError(ValueError):
    """Input that cannot be used. The message names the value (and the file) and what was expected."""


class OutputError(InputError):
    """A place that cannot be written to: nothing is wrong with what was read."""


class DivergenceError(InputError):
    """A fit whose loss is no finite number any more. The message names the sample and the epoch."""


class CheckpointError(InputError):
    """A checkpoint that the fit cannot go on from: of another fit, or damaged."""
