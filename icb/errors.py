"""The one exception that users' mistakes raise."""


class InputError(ValueError):
    """Input that cannot be used. The message names the value (and the file) and what was expected."""
