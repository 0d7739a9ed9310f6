"""What runs in the confined process of a foreign problem: its Python, and what tells of it.

Whatever happens here is the problem's author's to decide, and is believed of that problem only.
"""
