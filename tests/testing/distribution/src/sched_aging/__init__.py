"""Policies that do not let anybody wait for ever."""
