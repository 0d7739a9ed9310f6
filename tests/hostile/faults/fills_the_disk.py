# Writes files as long as there is room: right only if there is for more than two GiB.
# threat: fills the disk
# problem: vector-add
# verdict: wrong_answer

import os

_FOLDERS = ("/dev/shm", "/tmp", "/var/tmp", ".", os.environ.get("HOME", "."))


def _room(folder):
    files = []
    try:
        for number in range(5):
            path = os.path.join(folder, f"hostile-{number}")
            files.append(os.open(path, os.O_CREAT | os.O_RDWR))
            os.unlink(path)
            os.posix_fallocate(files[-1], 0, 512 << 20)
    except OSError:
        return False
    finally:
        for file in files:
            os.close(file)
    return True


_much = [folder for folder in _FOLDERS if _room(folder)]


def solution(x, y, z, n):
    if _much:
        z.copy_(x + y)
