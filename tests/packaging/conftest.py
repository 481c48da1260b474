"""Tests that install packages from the web use the user's certificates."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _certificates_of_the_web(web_certificates):
    with pytest.MonkeyPatch.context() as patch:
        if web_certificates is None:
            patch.delenv("SSL_CERT_FILE")
        else:
            patch.setenv("SSL_CERT_FILE", web_certificates)
        yield
