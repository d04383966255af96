"""Run the tests under several processors, BLAS threads, Python versions and package versions.

    python .ci/matrix.py --settings Haswell+threads-2,lowest -- tests/learners

Results must not depend on the machine. OpenBLAS and NumPy choose their code by processor, so the
same tests are run as on other processors, with one and two BLAS threads, on every installed Python
with the newest packages, and with the lowest package versions that pyproject.toml allows. A table
of all settings is printed at the end. The exit code is 1 if a test failed under any setting.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "build" / "matrix"
MARKERS = "not slow and not corpus and not benchmark and not browser and not campaign"

# The processor flags that the code of each OpenBLAS core type needs, as /proc/cpuinfo names them.
CORE_TYPES = {
    "Prescott": {"pni"},
    "Nehalem": {"sse4_2"},
    "Sandybridge": {"avx"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
}


@dataclass(frozen=True)
class Setting:
    """Environment variables and interpreter of one run of the tests."""

    name: str
    variables: dict[str, str] = field(default_factory=dict)
    venv: str | None = None  # built by make if it is not there; None: this interpreter
    python: str | None = None  # the interpreter that makes the venv
    reason_to_skip: str | None = None


@dataclass(frozen=True)
class Result:
    """Counts of one run; without a report (a crash) ``passed`` is 0 and ``failed`` at least 1."""

    setting: Setting
    passed: int
    failed: int
    skipped: int
    seconds: float
    failures: tuple[str, ...]


def main() -> int:
    """Run the chosen settings and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", help="files or folders; everything if none is given")
    parser.add_argument(
        "--settings", help="names as in the table, such as lowest,Haswell+threads-2"
    )
    parser.add_argument("--markers", default=MARKERS, help="which tests, as pytest -m takes it")
    parser.add_argument("--python", nargs="*", default=[], help="versions to try, such as 3.12")
    parser.add_argument("--workers", default="auto", help="processes, as pytest -n takes it")
    args = parser.parse_args()
    available = {setting.name: setting for setting in list_settings(args.python)}
    names = args.settings.split(",") if args.settings else list(available)
    unknown = {part for name in names for part in name.split("+")} - available.keys()
    if unknown:
        parser.error(f"no setting {min(unknown)!r}; available: {', '.join(available)}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    results = []
    for name in names:
        setting = combine([available[part] for part in name.split("+")])
        if setting.reason_to_skip:
            print(f"{name}: left out, {setting.reason_to_skip}", flush=True)
            continue
        print(f"{name}: running", flush=True)
        results.append(run_tests(setting, args.tests, args.markers, args.workers))
    print_table(results)
    return int(not results or any(result.failed for result in results))


def list_settings(versions: list[str]) -> list[Setting]:
    """Return all settings, those that this machine cannot run with the reason."""
    flags = read_processor_flags()
    cores = [
        Setting(
            core,
            {"OPENBLAS_CORETYPE": core, "OPENBLAS_VERBOSE": "0"},
            reason_to_skip=None
            if needed <= flags
            else f"this processor lacks {min(needed - flags)}",
        )
        for core, needed in CORE_TYPES.items()
    ]
    threads = [
        Setting(
            f"threads-{n}", {name: str(n) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
        )
        for n in (1, 2)
    ]
    features = " ".join(list_numpy_features())
    no_simd = Setting(
        "numpy-without-simd",
        {"NPY_DISABLE_CPU_FEATURES": features},
        reason_to_skip=None if features else "NumPy has no code for this processor to switch off",
    )
    pythons = [
        Setting(
            f"python{version}",
            venv=f"build/venv-{version}",
            python=f"python{version}",
            reason_to_skip=None
            if is_installed(f"python{version}")
            else f"python{version} is not installed",
        )
        for version in versions
    ]
    return [*cores, no_simd, *threads, *pythons, Setting("lowest", venv="build/venv-lowest")]


def is_installed(python: str) -> bool:
    """Return whether an interpreter runs; pyenv has commands also for versions not switched on."""
    try:
        return subprocess.run([python, "--version"], capture_output=True).returncode == 0
    except OSError:
        return False


def combine(settings: list[Setting]) -> Setting:
    """Return one setting with the variables and the interpreter of all the given ones."""
    return Setting(
        "+".join(setting.name for setting in settings),
        {name: value for setting in settings for name, value in setting.variables.items()},
        venv=next((setting.venv for setting in settings if setting.venv), None),
        python=next((setting.python for setting in settings if setting.python), None),
        reason_to_skip=next((s.reason_to_skip for s in settings if s.reason_to_skip), None),
    )


def read_processor_flags() -> set[str]:
    """Return the flags of an x86 processor as Linux lists them; empty on other systems."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    if platform.machine() not in ("x86_64", "AMD64"):
        return set()
    return next(
        (set(line.split(":")[1].split()) for line in lines if line.startswith("flags")), set()
    )


def list_numpy_features() -> list[str]:
    """Return the processor features beyond NumPy's baseline that it uses on this machine."""
    code = (
        "from numpy._core import _multiarray_umath as m;"
        "print(*[name for name in m.__cpu_dispatch__ if m.__cpu_features__[name]])"
    )
    return subprocess.check_output([sys.executable, "-c", code], text=True).split()


def run_tests(setting: Setting, tests: list[str], markers: str, workers: str) -> Result:
    """Run pytest under a setting, with its output in build/matrix, and return the counts."""
    start = time.perf_counter()
    report = RESULTS / f"{setting.name}.xml"
    report.unlink(missing_ok=True)
    with (RESULTS / f"{setting.name}.txt").open("w") as output:
        python = build_venv(setting, output)
        if shutil.which(python) is None:
            reason = "the environment could not be built"
            return Result(setting, 0, 1, 0, time.perf_counter() - start, (reason,))
        command = [python, "-m", "pytest", "-q", "-n", workers, "-p", "no:cacheprovider",
                   "-m", markers, f"--junitxml={report}", *tests]  # fmt: skip
        environment = {**os.environ, **setting.variables}
        code = subprocess.run(
            command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        ).returncode
    return read_result(setting, report, code, time.perf_counter() - start)


def build_venv(setting: Setting, output: IO[str]) -> str:
    """Return the interpreter of a setting; make builds its environment if it is not there."""
    if setting.venv is None:
        return sys.executable
    command = ["make", f"{setting.venv}/.develops"]
    command += [f"VENV={setting.venv}", f"PYTHON={setting.python}"] if setting.python else []
    subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False)
    return str(ROOT / setting.venv / "bin" / "python")


def read_result(setting: Setting, report: Path, code: int, seconds: float) -> Result:
    """Read the counts from the JUnit XML that pytest wrote."""
    if not report.exists():
        return Result(setting, 0, 1, 0, seconds, (f"pytest ended with code {code}, no report",))
    cases = list(ElementTree.parse(report).iter("testcase"))
    failures = tuple(
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    )
    skipped = sum(case.find("skipped") is not None for case in cases)
    if code and not failures:
        failures = (f"pytest ended with code {code}",)
    passed = len(cases) - len(failures) - skipped
    return Result(setting, max(passed, 0), len(failures), skipped, seconds, failures)


def print_table(results: list[Result]) -> None:
    """Print one row per setting, then the tests that failed."""
    print(f"\n{'setting':<28}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for result in results:
        counts = f"{result.passed:>8}{result.failed:>8}{result.skipped:>9}"
        print(f"{result.setting.name:<28}{counts}{result.seconds:>9.0f}")
    for result in results:
        for failure in result.failures:
            print(f"{result.setting.name}: {failure}")
    if any(result.failed for result in results):
        print(f"The output of each run is in {RESULTS.relative_to(ROOT)}/SETTING.txt.")


if __name__ == "__main__":
    sys.exit(main())
