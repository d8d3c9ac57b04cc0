"""Whether pages can be tried in a browser here; a test that needs one is skipped where there is none."""
import os
import shutil
import subprocess

import pytest


def browser():
    if os.environ.get("HUB_TEST_BROWSER") == "off":
        return False
    if not shutil.which("chromium") or subprocess.run(["node", "-e", "require('axe-core'), require('playwright-core')"], capture_output=True).returncode:
        pytest.skip("no chromium, or no playwright-core and axe-core in NODE_PATH")
    return True
