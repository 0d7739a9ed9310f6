"""What people read on the terminal: results, boards, comparisons, problems, stored submissions.

Records, problems and rows of boards come in; lines and tables on a rich console go out, and the
JSON of problems and of stored submissions. Text of a submission is made safe to print first.
"""
