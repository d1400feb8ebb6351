"""Locks on open files and folders: held until these are closed, however their process ends."""


def lock(handle: int, *, wait: bool = True) -> bool:
    """Lock what ``handle`` has open, against all others who ask; False where the file system knows no locks.

    Without ``wait`` a BlockingIOError says that another has it.
    """
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except (ImportError, OSError):  # the former on Windows, which has no shared folders of clusters either
        return False
    return True
