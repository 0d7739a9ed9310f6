"""Write the pages and schemas in docs/ that are made from the code: python -m tools.reference."""

from tools import ROOT
from tools.reference.pages import pages

for path, text in pages().items():
    path.write_text(text, encoding="utf-8")
    print(path.relative_to(ROOT))
