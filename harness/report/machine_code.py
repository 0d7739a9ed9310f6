"""Machine code as text: each instruction behind the line of the file that it comes from."""

from harness.languages.build.machine_code import MachineCode
from harness.text.plain import plain

_LONGEST = 300
"""Characters of an instruction, and of a kernel's name."""


def machine_code_text(code: MachineCode) -> str:
    """``code`` line by line: ``  12  0070  FADD R9, R2, R5``; a label has neither number."""
    lines = [f"{plain(code.compiler, 60)}: line of the file, address, instruction"]
    for kernel in code.kernels:
        lines += ["", plain(kernel.name, _LONGEST)]
        for each in kernel.instructions:
            text = plain(each.text, _LONGEST)
            number = str(each.line) if each.line else ""
            lines.append(f"{number:>5}  {each.address}  {text}" if each.address else f"{text}:")
    if not code.whole:
        lines += ["", "… (this is the beginning)"]
    return "\n".join(lines) + "\n"
