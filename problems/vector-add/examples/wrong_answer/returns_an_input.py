# Returns one of the inputs: a tensor of the right shape and type, and not the sum.
# verdict: wrong_answer


def custom_kernel(data):
    x, y, z = data
    return x
