from harness.languages.build.ptxas import demangled, parse, without_info
from harness.languages.build.toolchain import find_demangler

RECORDED = """\
ptxas info    : 0 bytes gmem, 24 bytes cmem[3]
ptxas info    : Compiling entry function '_Z7productPKfS0_Pfmmm' for 'sm_90a'
ptxas info    : Function properties for _Z7productPKfS0_Pfmmm
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 2048 bytes smem
ptxas info    : Compile time = 14.755 ms
solution.cu(3): warning #177-D: variable "x" was declared but never referenced
ptxas info    : Compiling entry function '_Z5spillPf' for 'sm_90a'
ptxas info    : Function properties for _Z6helperPf
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for _Z5spillPf
    520 bytes stack frame, 516 bytes spill stores, 512 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 520 bytes cumulative stack size, 400 bytes cmem[0]
"""  # noqa: E501 (as the compiler wrote it)


def test_figures_are_read_from_recorded_text() -> None:
    first, second = parse(RECORDED)
    assert (first.name, first.registers, first.shared_bytes) == ("_Z7productPKfS0_Pfmmm", 32, 2048)
    assert (first.spill_store_bytes, first.spill_load_bytes) == (0, 0)
    assert (second.registers, second.shared_bytes) == (255, 0)
    assert (second.spill_store_bytes, second.spill_load_bytes) == (516, 512)


def test_parsed_lines_are_left_out_of_the_log() -> None:
    assert without_info(RECORDED) == RECORDED.splitlines()[6]


def test_hints_on_speed_stay_in_the_log() -> None:
    hint = (
        "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are "
        "serialized due to the presence of calls in the function 'product'"
    )
    assert without_info(f"{hint}\nptxas info    : 0 bytes gmem") == hint


def test_kernels_have_the_names_of_the_source() -> None:
    names = [kernel.name for kernel in demangled(parse(RECORDED), find_demangler())]
    assert names == ["product", "spill"]
    assert demangled(parse(RECORDED), None) == parse(RECORDED)
    assert demangled(parse(RECORDED), "/no/such/program") == parse(RECORDED)


def test_forged_text_is_bounded() -> None:
    line = "ptxas info : Compiling entry function 'x' for 'y'\nptxas info : Used 1 registers\n"
    assert len(parse(line * 1000)) == 256
    assert parse("ptxas info : Used 1 registers") == ()


def test_numbers_of_thousands_of_digits_are_no_figures() -> None:
    huge = "9" * 5000  # more than Python converts
    for known in ("32 registers", "2048 bytes smem", "516 bytes spill stores", "512 bytes spill"):
        parse(RECORDED.replace(known, huge + known))
    assert len(parse(RECORDED.replace("32 registers", f"{huge} registers"))) == 1
