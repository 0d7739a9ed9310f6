# Returns the sum as a column: a copy would have to guess what is meant.
# verdict: runtime_error


def custom_kernel(data):
    x, y, z = data
    return (x + y).reshape(-1, 1)
