# Says that it has filled the output in place, and has not.
# threat: 43
# problem: vector-add
# verdict: wrong_answer


def custom_kernel(data):
    return None
