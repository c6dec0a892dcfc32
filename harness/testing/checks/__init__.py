"""The checks, by subject. The import declares all of them, in the order in which they run."""
# ruff: noqa: F401, I001 - imported to be declared; the check that a run ends comes first

from harness.testing.checks import run_ends, service_sums, repeats
from harness.testing.checks import claims, declared_reads, guarantees, information, time_changes, power_sums, held_jobs
