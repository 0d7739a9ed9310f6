"""The control groups that this process is in, of either version, and those above them."""

from pathlib import Path


def own_groups(listed: Path, root: Path, controller: str) -> list[Path]:
    """The folders of our groups that ``controller`` may limit, the innermost first.

    ``listed`` is a file as ``/proc/self/cgroup``, ``root`` where the groups are mounted.
    """
    found: list[Path] = []
    try:
        lines = listed.read_text().splitlines()
    except OSError:
        return found
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers or controller in controllers.split(","):
            # Of the first version some are mounted together, some by a link with one name.
            tops = [root / controllers, root / controller] if controllers else [root]
            top = next((each for each in tops if each.is_dir()), tops[0])
            own = top / path.strip("/")
            # A container may see its own group at the top, under the name that it has outside.
            chain = [own, *own.parents] if own.is_dir() else [top]
            found += [group for group in chain if group.is_relative_to(top)]
    return found
