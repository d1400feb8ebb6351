"""Parts of the report by themselves: numbers, captions, and what its pages are made with."""

import shutil
from pathlib import Path

import pytest

from workflow.lib.manifest import LeftOut
from workflow.lib.site import overview, templates
from workflow.lib.site.numbers import short, size_of
from workflow.lib.site.sample_page import Number, limit_of
from workflow.lib.site.subjects import Result


@pytest.mark.parametrize(
    ("number", "text"),
    [(1000, "1000"), (999.6, "1000"), (123456, "123000"), (2.05832, "2.06"), (0.00000123, "0.00000123"), (0, "0")],
)
def test_three_digits_and_no_power_of_ten(number: float, text: str) -> None:
    assert short(number) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1 bytes"), (999, "999 bytes"), (999_600, "1 MB"), (714_321, "714 kB"), (1e9, "1 GB"), (2.5e12, "2500 GB")],
)
def test_sizes_for_people(count: float, text: str) -> None:
    assert size_of(count) == text


def test_error_maps_say_how_far_they_go() -> None:
    """Four times the error, but not less than 8 bits can tell: 4 * 10 ** (-PSNR / 20) is 1/255 at 60.17 dB."""

    def limit(psnr: float) -> tuple[str | Number, ...]:
        return limit_of(Result("blur", "ICB", {"psnr": psnr}, Path()))

    assert limit(40) == (Number("0.04", "blur-ICB"), " of 1, 4 times the root mean square error of ICB blur")
    assert limit(60.1)[0] == Number("0.00395", "blur-ICB")
    assert limit(60.2) == limit(float("inf")) == ("1/255 of 1, the least that 8 bits can tell",)


def test_captions_are_part_of_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = shutil.copytree(templates.CAPTIONS, tmp_path / "report")
    monkeypatch.setattr(templates, "CAPTIONS", Path(copy))
    before = templates.version()
    (tmp_path / "report" / "loss_curves.rst").write_text("Something else.")
    assert templates.version() != before


def test_failures_have_the_names_that_tables_have() -> None:
    """Both published datasets may have the same ids."""
    lost = LeftOut("blur", "RealCMB/0001", "0001", "RealCMB", "ICB", "too dark")
    assert overview.failure(vars(lost)) == {"what": "RealCMB/0001", "where": "blur ICB", "reason": "too dark"}
    unread = LeftOut("samples", "VirtualCMB/0001", None, None, None, "no depth")
    assert overview.failure(vars(unread)) == {"what": "VirtualCMB/0001", "where": "samples", "reason": "no depth"}
