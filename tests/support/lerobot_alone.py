"""lerobot without torch: recording and reading rows need none of these modules, but lerobot imports them. Import this first."""
import importlib.abc
import importlib.machinery
import os
import sys
import types

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1", SVT_LOG="1")
ABSENT = ("torch", "torchvision", "safetensors", "gymnasium", "cv2", "termcolor")


class Anything(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name, (), {})


class Absent(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name, (), {})


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ABSENT:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Absent(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.insert(0, Finder())
import datasets.config  # noqa: E402

datasets.config.TORCH_AVAILABLE = datasets.config.TORCHVISION_AVAILABLE = datasets.config.TORCHCODEC_AVAILABLE = False
