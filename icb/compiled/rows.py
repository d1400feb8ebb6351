"""Moving a run of pixels along one image row, border replicated; and the transpose of that."""

from icb.compiled import njit


@njit
def add_shifted(target, source, begin, end, dx, weight, channels):
    """``target[c - begin] += weight * source[clamp(c - dx)]`` for columns ``begin <= c < end``."""
    width = source.size // channels
    low = min(max(begin, dx), end)
    high = max(min(end, width + dx), low)
    moved = source[(low - dx) * channels : (high - dx) * channels]
    here = target[(low - begin) * channels : (high - begin) * channels]
    for i in range(moved.size):
        here[i] += weight * moved[i]
    for column in range(begin, low):
        for channel in range(channels):
            target[(column - begin) * channels + channel] += weight * source[channel]
    for column in range(high, end):
        for channel in range(channels):
            target[(column - begin) * channels + channel] += weight * source[(width - 1) * channels + channel]


@njit
def add_shifted_back(target, source, begin, end, dx, weight, channels):
    """The transpose: ``target[clamp(c - dx)] += weight * source[c - begin]``."""
    width = target.size // channels
    low = min(max(begin, dx), end)
    high = max(min(end, width + dx), low)
    moved = source[(low - begin) * channels : (high - begin) * channels]
    here = target[(low - dx) * channels : (high - dx) * channels]
    for i in range(moved.size):
        here[i] += weight * moved[i]
    for column in range(begin, low):
        for channel in range(channels):
            target[channel] += weight * source[(column - begin) * channels + channel]
    for column in range(high, end):
        for channel in range(channels):
            target[(width - 1) * channels + channel] += weight * source[(column - begin) * channels + channel]
