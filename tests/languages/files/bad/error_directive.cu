// expect: COMPILE_ERROR 2 \x1b]0;x
#error it is "\x1b]0;x" and solution.cu(99): error
