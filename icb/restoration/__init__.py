"""Sharp images from blur: coordinate networks fitted through a blur operator. Needs torch."""

from icb.restoration.fit import Restoration, restore
from icb.restoration.history import History
from icb.restoration.network import Network, load_network
from icb.restoration.settings import Settings

__all__ = ["History", "Network", "Restoration", "Settings", "load_network", "restore"]
