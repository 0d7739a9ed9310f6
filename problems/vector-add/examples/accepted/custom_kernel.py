# One tuple in, the sum out, as on GPU MODE: what is read comes first, the output last.
# verdict: accepted

from task import input_t, output_t


def custom_kernel(data: input_t) -> output_t:
    x, y, z = data
    return x + y
