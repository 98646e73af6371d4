"""Windows of eventtide's own: what `et.window` describes, from the rows to the results.

The package is not named after the function, since both would be ``eventtide.window``.
"""
