"""Both policies are put to the checks of the harness."""

import harness.testing


class TestAgedArea(harness.testing.PolicyTests):
    policy = "aged-area"
    examples = 10


class TestPatient(harness.testing.PolicyTests):
    policy = "patient"
    examples = 10


class TestPatientAndStrict(harness.testing.PolicyTests):
    policy = "patient(strict=true)"
    examples = 10
