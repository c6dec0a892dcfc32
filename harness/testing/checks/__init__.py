"""The checks, by subject. Importing this declares them all, in the order in which they are made."""
# ruff: noqa: F401, I001 - imported to be declared; whether a run ends at all is asked first

from harness.testing.checks import run_ends, service_sums, repeats
from harness.testing.checks import claims, guarantees, information, time_changes, power_sums, held_jobs
