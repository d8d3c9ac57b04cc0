"""The tests that clients publish with themselves, where they can be told where to ask. Of huggingface_hub that is what it says of its file
system: its other tests make a repo first, which a hub that only reads refuses, or ask for models by name. Google's and Minari's replace the
transport or upload first. Of these, four want pull requests or Xet."""
import os

from conftest import CLIENTS
from hub import serving

FILES = {"README.md": "# Dataset card", "data/text_data.txt": "dummy text data", "data/binary_data.bin": "dummy binary data"}
LACKING = {"test_glob_with_revision", "test_read_file_with_revision", "test_list_data_directory_with_revision", "test_get_file_with_xet"}

# Instead of the fixture that uploads these files to a repo of its own.
HERE = '''
import pytest
from .test_hf_file_system import TestHfFileSystemRepositoryRO
TestHfFileSystemRepositoryRO.__test__ = False

class TestHub(TestHfFileSystemRepositoryRO):
    __test__ = True

    @pytest.fixture(scope="class", autouse=True)
    def _shared_repo(self, request):
        own = request.cls
        own.repo_id, own.readme_file_path, own.text_file_path = "farama-minari/dummy", "README.md", "data/text_data.txt"
        own.hf_path = "datasets/" + own.repo_id
        own.readme_file, own.text_file = f"{own.hf_path}/{own.readme_file_path}", f"{own.hf_path}/{own.text_file_path}"
'''


def unpack(clients, folder, package):
    """The source of the release that is installed."""
    version = clients.python("suites", [package], f"print(json.dumps(m.version({package!r})))")
    clients.run(os.path.join(CLIENTS, "suites", "bin", "pip"), "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary", package, "-d", str(folder),
                f"{package}=={version}", timeout=300)
    clients.run("tar", "-xzf", str(folder / f"{package}-{version}.tar.gz"), "-C", str(folder))
    return folder / f"{package}-{version}"


def test_file_system_of_huggingface_hub(clients, tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "root" / "dummy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    tests = unpack(clients, tmp_path, "huggingface_hub") / "tests"
    with serving(str(tmp_path / "root")) as hub:
        hub.checker = None
        constants = tests / "testing_constants.py"
        constants.write_text(constants.read_text().replace("https://hub-ci.huggingface.co", hub.base))
        (tests / "__init__.py").touch()
        (tests / "conftest.py").write_text("RepoFactory = None\n")
        (tests / "test_here.py").write_text(HERE)
        out = clients.run(os.path.join(CLIENTS, "suites", "bin", "python"), "-m", "pytest", "-q", "-rA", "--tb=no", "-p", "no:cacheprovider", "-o", "addopts=",
                          f"{tests}/test_here.py::TestHub", env={"HF_ENDPOINT": hub.base}, code=1, timeout=300)
    ends = {line.split("::")[-1].split(" ")[0]: line.split(" ")[0] for line in out.splitlines() if "::" in line and line.startswith(("PASSED", "FAILED", "ERROR"))}
    assert {name for name, end in ends.items() if end != "PASSED"} == LACKING
    assert len(ends) > 40
