from .core import ScramException as ScramException
from .core import ScramMechanism as ScramMechanism
