"""Libraries that the package imports only when they are needed."""

#: What takes long to import, and is needed only once something is simulated or shown.
HEAVY = ("numba", "numpy", "pandas", "plotly", "pooch", "pyarrow", "requests", "scipy")
