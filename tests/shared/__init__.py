"""Code that tests of several folders share: workloads, platforms, fields, spoilt inputs."""
