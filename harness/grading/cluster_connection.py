"""The connection to a Ray cluster: refused where the cluster is open to everybody."""

import contextlib
import ipaddress
import signal
import socket
from collections.abc import Sequence
from typing import Any

from harness import signals
from harness.errors import MachineError
from harness.text.plain import plain

_ANSWER_S = 20.0
"""The time that a cluster's port may take to answer."""
_INSTALL = "--cluster needs Ray: pip install 'kernel-harness[cluster]', here and on every node"
UNPROTECTED = (
    "its token authentication is off, so whoever reaches its ports may run anything on its "
    "machines: ray get-auth-token --generate, the same ~/.ray/auth_token on all of them, "
    "RAY_AUTH_MODE=token in the environment of ray start and of this command"
)


def ray_module() -> Any:
    """Ray, imported when it is first needed.

    Raises:
        MachineError: it is not installed.
    """
    try:
        import ray
    except ImportError as error:
        raise MachineError(_INSTALL) from error
    return ray


def connect(address: str) -> None:
    """Connect to the cluster at ``address``; signals stay the command's.

    Raises:
        MachineError: there is none, it is not reached, or it is elsewhere and open to everybody.
    """
    ray = ray_module()
    host = address.removeprefix("ray://").rpartition(":")[0].strip("[]")
    if host and not on_loopback([host]):
        require_token()
    before = {number: signal.getsignal(number) for number in signals.SIGNALS}
    try:
        _require_answer(address)
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        ray._private.worker._worker_logs_enabled = False  # on deaths, in stdout: we say that
    except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise MachineError(
            f"--cluster {plain(address, 80)}: {gist(error)}; ray status says whether there is a "
            "cluster on this machine, ray start --head begins one"
        ) from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _require_answer(address: str) -> None:
    """Try the port of a cluster, where Ray would try for minutes.

    Raises:
        OSError, ValueError: there is no cluster, or nobody answers.
    """
    from ray._private.services import canonicalize_bootstrap_address_or_die

    if address.startswith("ray://"):
        place = address.removeprefix("ray://")
    else:
        place = canonicalize_bootstrap_address_or_die(address)
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()
    except OSError as error:
        raise ConnectionError(f"nobody answers at {place} ({error})") from error


def require_token() -> None:
    """Refuse a cluster whose token authentication is off.

    Raises:
        MachineError: it is.
    """
    from ray._private.authentication.authentication_utils import is_token_auth_enabled

    if not is_token_auth_enabled():
        raise MachineError(f"--cluster: it is reached beyond this machine, and {UNPROTECTED}")


def on_loopback(addresses: Sequence[str]) -> bool:
    """Whether nobody but this machine reaches any of these; a name is taken for another machine."""

    def loopback(address: str) -> bool:
        with contextlib.suppress(ValueError):
            return ipaddress.ip_address(address).is_loopback
        return address == "localhost"

    return all(map(loopback, addresses))


def gist(error: Exception) -> str:
    """What an error of Ray's says, on one line."""
    return plain(" ".join(str(error).split()), 400)
