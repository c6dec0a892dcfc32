"""What is not ours to collect."""

collect_ignore = ["distribution"]  # its tests run where it is installed, see test_distribution.py
