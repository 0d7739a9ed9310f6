"""What fusion gains: the same steps unfused, fused by a library and fused by hand.

For every timed shape: launches and DRAM bytes of a call, the gain that the roofline predicts, and
the one that was measured. The formula is in docs/explanation/fusion.md, which shows the data.
`ways` says which files, `grades` how fast they are, `profiles` what their kernels move, `rows` puts
it together, `page` writes it into the document.
"""
