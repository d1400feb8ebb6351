"""The paper's tables from hand-made metrics: every cell, in every format, and what is said about them."""

import numpy as np
import pandas as pd
import pytest

from tests.table_rows import (
    DASH,
    MINUS,
    PAPER,
    ROWS,
    SIMULATED,
    cost,
    index_of,
    markdown_rows,
    metric,
    restoration,
    restored,
    sample,
    virtual,
    words,
)
from workflow.lib import paper_numbers
from workflow.lib.summaries.ablation import ablation
from workflow.lib.summaries.blur_formation import blur_in_real
from workflow.lib.summaries.captured import captured
from workflow.lib.summaries.costs import costs
from workflow.lib.summaries.latex import latex
from workflow.lib.summaries.markdown import markdown
from workflow.lib.summaries.page import html_page
from workflow.lib.summaries.summary import WHOLE


def test_table_2_of_simulated_samples_every_cell() -> None:
    summary = virtual(ROWS)
    assert markdown_rows(summary) == [
        ["Motion", "Case", "Model", "Samples", "PSNR [dB] ↑", "PSNR at depth edges [dB] ↑", "SSIM ↑",
         "SSIM, as in the paper ↑", "LPIPS ↓", "LPIPS, as in the paper (\N{MULTIPLICATION SIGN}10⁻⁵) ↓",
         "PSNR of doing nothing [dB]"],
        # psnr_edge of b is missing: the mean is that of a. 1/40 and 1/42: 0.0244; 1/38 and 1/39: 0.0260.
        words("parallax Macro ICB 2 **41.00** **38.00** **0.4100** **0.8200** **0.0244** 4.100 20.00"),
        words("parallax Macro PWB 2 38.50 36.50 0.3850 0.7700 0.0260 **3.850** 20.00"),
        # A tie: both.
        words("parallax Trucking ICB 1 **36.00** **34.00** **0.3600** **0.7200** **0.0278** **3.600** 20.00"),
        words("parallax Trucking PWB 1 **36.00** **34.00** **0.3600** **0.7200** **0.0278** **3.600** 20.00"),
        words("6-DoF Standard ICB 1 30.00 28.00 0.3000 0.6000 0.0333 **3.000** 20.00"),
        words("6-DoF Standard PWB 1 **32.00** **30.00** **0.3200** **0.6400** **0.0312** 3.200 20.00"),
    ]  # fmt: skip
    assert summary.title == "Blur formation in VirtualCMB (simulated samples)"
    notes = " ".join(summary.notes)
    assert "VirtualCMB: 4 samples (4 simulated)" in notes and "say nothing about the published" in notes
    assert "config/paper/table2.csv" in notes and "not shown beside them" in notes
    assert summary.rows.filter(like="_printed").isna().all().all()
    assert set(summary.rows["data"]) == {"simulated"}


def test_table_2_of_published_samples_has_the_papers_numbers_beside_ours() -> None:
    samples = [sample("a"), sample("b", motion="xy-rotation", case="Trucking")]
    rows = [metric(of, model, psnr) for of in samples for model, psnr in (("ICB", 41.0), ("PWB", 39.5))]
    rows.append(metric(samples[0], "ICB_soft", 44.0, sigma=1.5))  # not the paper's parameters: nothing to compare with
    summary = virtual(rows)
    frame = summary.rows.set_index(["case", "model"])
    expected = {  # Table 2 of the paper
        ("Macro", "ICB"): (42.48, 0.993, 4.639e-5),
        ("Macro", "PWB"): (41.54, 0.992, 5.049e-5),
        ("Trucking", "ICB"): (36.99, 0.984, 6.158e-5),
        ("Trucking", "PWB"): (36.21, 0.983, 5.676e-5),
    }
    ours = {"ICB": (41.0, 0.82, 4.1e-5), "PWB": (39.5, 0.79, 3.95e-5)}
    for key, printed in expected.items():
        row = frame.loc[key]
        for name, number, mine in zip(("psnr", "ssim_paper", "lpips_paper"), printed, ours[key[1]], strict=True):
            assert row[f"{name}_printed"] == pytest.approx(number)
            assert row[name] == pytest.approx(mine)
            assert row[f"{name}_difference"] == pytest.approx(mine - number)
    assert frame.loc[("Macro", "ICB_soft")].filter(like="_printed").isna().all()
    (line,) = [row for row in markdown_rows(summary) if row[1:3] == ["Macro", "PWB"]]
    assert line == [
        "parallax", "Macro", "PWB", "1", "39.50", "41.54", f"{MINUS}2.04", "37.50", "0.3950", "0.7900", "0.992",
        f"{MINUS}0.2020", "0.0253", "**3.950**", "5.049", f"{MINUS}1.099", "20.00",
    ]  # fmt: skip
    (line,) = [row for row in markdown_rows(summary) if row[2] == "ICB_soft"]
    assert line[4:7] == ["**44.00**", DASH, DASH]
    assert summary.title == "Blur formation in VirtualCMB"
    notes = " ".join(summary.notes)
    assert "SCIA 2023, Table 2" in notes and "ours minus the paper's" in notes
    assert "In 4 of 5 rows the number of samples is not the paper's, in the first 1 instead of 140" in notes


def test_models_compete_on_samples_that_all_of_them_have() -> None:
    samples = [sample("a"), sample("b"), sample("c", case="Trucking"), sample("d", case="Trucking")]
    rows = [metric(samples[0], "ICB", 40.0), metric(samples[0], "PWB", 39.0), metric(samples[1], "ICB", 20.0)]
    rows += [metric(samples[2], "ICB", 30.0), metric(samples[3], "PWB", 31.0)]
    summary = virtual(rows)
    assert [row[:5] for row in markdown_rows(summary)[1:]] == [
        words("parallax Macro ICB 1 **40.00**"),
        words("parallax Macro PWB 1 39.00"),
        words(f"parallax Trucking ICB 0 {DASH}"),
        words(f"parallax Trucking PWB 0 {DASH}"),
    ]
    note = "Not in any mean, because not every model could do them: b, c, d (3 in all)."
    assert note in summary.notes
    assert note not in virtual(ROWS).notes
    measured = [cost(of, model, 1_000_000, 0.1) for of in samples[:2] for model in ("ICB", "PWB")][:3]
    table = costs(pd.DataFrame(measured), PAPER["table4"])
    assert list(table.rows["samples"]) == [1, 1] and "could do them: b (1 in all)." in " ".join(table.notes)
    # Both datasets may have the same ids.
    alike = [sample("b", dataset) for dataset in ("RealCMB", "VirtualCMB")]
    measured = [cost(of, "ICB", 1_000_000, 0.1) for of in (*alike, sample("c"), sample("c", "RealCMB"))]
    measured += [cost(of, "PWB", 1_000_000, 0.1) for of in (sample("c"), sample("c", "RealCMB"))]
    table = costs(pd.DataFrame(measured), PAPER["table4"])
    assert "could do them: RealCMB/b, VirtualCMB/b (2 in all)." in " ".join(table.notes)


def test_means_at_depth_edges_say_of_how_many_samples_they_are() -> None:
    rows = [{**row, "psnr_edge": np.nan} if row["id"] == "b" else row for row in ROWS]
    text = "PSNR at depth edges leaves out 1 of 4 samples, which have no depth edges."
    assert text in virtual(rows).notes
    assert not any("leaves out" in note for note in blur_in_real(pd.DataFrame(rows), PAPER["table3"], None).notes)


def test_as_many_samples_as_the_paper_has_need_no_warning() -> None:
    samples = [sample(f"s{number}", "RealCMB", case=None) for number in range(58)]
    rows = pd.DataFrame([metric(of, model, 30.0) for of in samples for model in ("ICB", "PWB")])
    summary = blur_in_real(rows, PAPER["table3"], None)
    assert list(summary.rows["samples"]) == [58, 58]
    assert list(summary.rows["psnr_printed"]) == [38.21, 36.31]
    assert list(summary.rows["psnr_difference"]) == [pytest.approx(-8.21), pytest.approx(-6.31)]
    assert not any("number of samples" in note for note in summary.notes)


def test_one_sample_that_is_not_published_keeps_the_papers_numbers_away() -> None:
    for other in ({"simulated": True, "source_format": "published"}, {"source_format": "unity"}):
        samples = [sample("a"), sample("b", **other)]
        summary = virtual([metric(of, "ICB", 40.0) for of in samples])
        assert summary.rows.filter(regex="_printed|_difference").isna().all().all()
        assert not any(column.group for column in summary.shown)
        word = "simulated" if other.get("simulated") else "captured"
        assert summary.title.endswith(f"(published, {word} samples)")
        assert "1 published, 1 " in summary.notes[0]


def test_table_3_every_cell() -> None:
    summary = blur_in_real(pd.DataFrame(ROWS), PAPER["table3"], None)
    assert markdown_rows(summary)[1:] == [
        ["ICB", "1", "**25.00**", "**23.00**", "**0.2500**", "**0.5000**", "**0.0400**", "2.500", "20.00"],
        ["PWB", "1", "20.00", "18.00", "0.2000", "0.4000", "0.0500", "**2.000**", "20.00"],
    ]


def test_without_lpips_the_columns_are_empty_and_the_table_says_why() -> None:
    rows = [{**row, "lpips": None, "lpips_paper": None} for row in ROWS]
    summary = virtual(rows, "no network, and no weights in ~/.cache")
    assert summary.rows[["lpips", "lpips_paper"]].isna().all().all()
    assert {row[8] for row in markdown_rows(summary)[1:]} == {DASH}
    for text in (markdown(summary), latex(summary), html_page(summary)):
        assert "No LPIPS: no network" in text
    # Not of one picture, which was too small: the mean of the rest, and it is said.
    summary = virtual([{**ROWS[0], "lpips": None}, *ROWS[1:4]])
    assert summary.rows["lpips"].iloc[0] == pytest.approx(1 / 42)
    assert any("No LPIPS of 1 of 4 pictures" in note for note in summary.notes)


def test_table_1_every_cell() -> None:
    samples = [
        sample("a", **SIMULATED),
        sample("b", scene="Office", **SIMULATED),
        sample("c", scene="Office", case="Standard", motion="6-DoF", **SIMULATED),
        sample("d", scene="Office", **SIMULATED),
        sample("e", scene=None, case=None, motion=None, **SIMULATED),
        sample("f", "RealCMB"),
    ]
    summary = captured(index_of(*samples), PAPER["table1"], 58)
    head, *rows = markdown_rows(summary)
    cases = [
        f"{case}: {motion}"
        for case in ("Macro", "Trucking", "Standard")
        for motion in ("parallax", "xy-rotation", "6-DoF")
    ]
    assert head == ["Scene", *cases, "Other", "Total"]
    gap = [DASH] * 7
    assert rows == [
        ["Village", "1", *gap, DASH, DASH, "1"],
        ["Office", "2", *gap, "1", DASH, "3"],
        ["unknown", DASH, *gap, DASH, "1", "1"],
        ["Total", "3", *gap, "1", "1", "5"],
    ]
    assert summary.notes[0].startswith("VirtualCMB: 5 samples (5 simulated). RealCMB: 1 sample (1 published).")
    assert "The paper's RealCMB has 58 samples." in summary.notes


def test_table_1_of_all_that_was_published() -> None:
    """983 samples as the paper counts them: nothing is left between its table and ours."""
    samples = [
        sample(
            f"{row['scene']}{row['case']}_{row['motion']}_{number}", **{k: row[k] for k in ("scene", "case", "motion")}
        )
        for row in PAPER["table1"].to_dict("records")
        for number in range(row["samples"])
    ]
    summary = captured(index_of(*samples), PAPER["table1"], 58)
    by_source = {source: part.set_index("scene") for source, part in summary.rows.groupby("source")}
    numbers = [column.name for column in summary.columns if column.type == WHOLE]
    pd.testing.assert_frame_equal(by_source["ours"][numbers], by_source["paper"][numbers])
    totals = [140, 133, 132, 143, 142, 143, None, None, 150, None, 983]
    assert [None if pd.isna(value) else int(value) for value in by_source["paper"].loc["Total", numbers]] == totals
    difference = by_source["difference"][numbers]
    assert (difference.fillna(0) == 0).all().all() and difference.loc["LoftOffice"].notna().sum() == 5
    assert [row[:3] for row in markdown_rows(summary)[1:4]] == [
        ["VikingVillage", "ours", "26"], ["VikingVillage", "paper", "26"], ["VikingVillage", "difference", "0"],
    ]  # fmt: skip


def test_table_1_beside_the_papers_every_cell() -> None:
    """Fewer than the paper has, more, and a scene that it does not have."""
    paper = pd.DataFrame(
        [("Village", "Macro", "parallax", 3), ("Village", "Standard", "6-DoF", 1), ("Office", "Macro", "6-DoF", 2)],
        columns=["scene", "case", "motion", "samples"],
    )
    samples = [sample("a"), sample("b", scene="Office", motion="6-DoF"), sample("c", scene="Office", motion="6-DoF")]
    samples += [sample("d", scene="Office", motion="6-DoF"), sample("e", scene="Attic", case=None)]
    summary = captured(index_of(*samples), paper, 58)
    gap = [DASH] * 5
    # Macro: parallax, xy-rotation, 6-DoF; Trucking: three; Standard: three; other; in all.
    assert markdown_rows(summary)[1:] == [
        ["Village", "ours", "1", DASH, DASH, *gap, DASH, DASH, "1"],
        ["Village", "paper", "3", DASH, DASH, *gap, "1", DASH, "4"],
        ["Village", "difference", f"{MINUS}2", DASH, DASH, *gap, f"{MINUS}1", DASH, f"{MINUS}3"],
        ["Office", "ours", DASH, DASH, "3", *gap, DASH, DASH, "3"],
        ["Office", "paper", DASH, DASH, "2", *gap, DASH, DASH, "2"],
        ["Office", "difference", DASH, DASH, "+1", *gap, DASH, DASH, "+1"],
        ["Attic", "ours", DASH, DASH, DASH, *gap, DASH, "1", "1"],
        ["Attic", "paper", DASH, DASH, DASH, *gap, DASH, DASH, DASH],
        ["Attic", "difference", DASH, DASH, DASH, *gap, DASH, "+1", "+1"],
        ["Total", "ours", "1", DASH, "3", *gap, DASH, "1", "5"],
        ["Total", "paper", "3", DASH, "2", *gap, "1", DASH, "6"],
        ["Total", "difference", f"{MINUS}2", DASH, "+1", *gap, f"{MINUS}1", "+1", f"{MINUS}1"],
    ]


def test_table_4_every_cell() -> None:
    samples = [sample("a"), sample("b"), sample("c", "RealCMB", **SIMULATED)]
    rows = [
        cost(samples[0], "ICB", 20_000_000, 0.02),
        cost(samples[0], "PWB", 14_000_000, 0.08),
        cost(samples[1], "ICB", 30_000_000, 0.04),
        cost(samples[1], "PWB", 14_000_000, 0.10),
        cost(samples[2], "ICB", 5_000_000, 0.001),
        cost(samples[2], "PWB", 4_000_000, 0.002),
    ]
    summary = costs(pd.DataFrame(rows), PAPER["table4"])
    pixels = "1280 \N{MULTIPLICATION SIGN} 720"
    assert markdown_rows(summary)[1:] == [
        ["RealCMB", "ICB", "1", pixels, "5.00", DASH, DASH, "**0.0010**", DASH, DASH, "0.0003", "0.0008"],
        ["RealCMB", "PWB", "1", pixels, "**4.00**", DASH, DASH, "0.0020", DASH, DASH, "0.0005", "0.0015"],
        ["VirtualCMB", "ICB", "2", pixels, "25.00", "48.97", f"{MINUS}23.97",
         "**0.0300**", "7.27", f"{MINUS}7.2400", "0.0075", "0.0225"],
        ["VirtualCMB", "PWB", "2", pixels, "**14.00**", "2799", f"{MINUS}2785.00",
         "0.0900", "13.41", f"{MINUS}13.3200", "0.0225", "0.0675"],
    ]  # fmt: skip
    notes = " ".join(summary.notes)
    assert "in a process of its own" in notes and "median of 5 more times" in notes and "2 threads" in notes
    assert "Abacus 9000" in notes
    assert "of VirtualCMB; differences" in notes and "of the published RealCMB; they cannot be compared" in notes
    unknown = costs(pd.DataFrame([cost(samples[0], "ICB", None, 0.02)]), PAPER["table4"])
    assert markdown_rows(unknown)[1][4] == DASH  # a system that does not say


def test_table_5_every_cell() -> None:
    samples = [sample("a", "RealCMB"), sample("b", **SIMULATED)]
    rows = [
        restoration(samples[0], "ICB", 31.0),
        restoration(samples[0], "PWB", 30.0),
        restoration(samples[1], "ICB", 26.0, epochs=50, restored_width=16),
        restoration(samples[1], "PWB", 25.0, network="fourier"),
    ]
    summary = restored(rows)
    rows_shown = markdown_rows(summary)[1:]
    assert rows_shown[:2] == [
        ["RealCMB", "ICB", "1", "**31.00**", "31.92", f"{MINUS}0.92", "**29.00**", "**0.3100**", "**0.6200**", "0.9546",
         f"{MINUS}0.3346", "**0.0323**", "0.310", "4.032", f"{MINUS}3.722", "20.00"],
        ["RealCMB", "PWB", "1", "30.00", "30.61", f"{MINUS}0.61", "28.00", "0.3000", "0.6000", "0.9429",
         f"{MINUS}0.3429", "0.0333", "**0.300**", "5.398", f"{MINUS}5.098", "20.00"],
    ]  # fmt: skip
    others = ["SRN", "SIUN", "HINet", "BANet", "MIMO-UNet++", "MPRNet", "MAXIM", "Restormer"]
    assert [row[1] for row in rows_shown[2:10]] == others
    assert rows_shown[6] == [
        "RealCMB", "MIMO-UNet++", DASH, DASH, "27.92", DASH, DASH, DASH, DASH, "0.9106", DASH, DASH, DASH, "10.33",
        DASH, DASH,
    ]  # fmt: skip
    assert [row[:5] for row in rows_shown[10:]] == [
        ["VirtualCMB", "ICB", "1", "**26.00**", DASH],
        ["VirtualCMB", "PWB", "1", "25.00", DASH],
    ]
    notes = " ".join(summary.notes)
    times = "\N{MULTIPLICATION SIGN}"
    theirs = "400 epochs, network siren, 192 units a layer, analytic gradient, penalty 8e-06, learning rate 0.0005"
    assert (
        f"The paper restores whole pictures ({theirs}). Here ICB: 50 epochs or 400 epochs, parts of at most "
        f"16 {times} 24 pixels; PWB: network fourier or network siren." in notes
    )
    assert "In 2 of 4 rows the number of samples is not the paper's, in the first 1 instead of 58" in notes
    assert "Table 5, of RealCMB;" in notes and "of the published VirtualCMB; they cannot" in notes


def test_fits_that_are_not_the_papers_are_named_setting_by_setting() -> None:
    other = {"hidden_width": 16, "gradient": "finite-difference", "penalty": 0.0, "learning_rate": 0.01}
    of = sample("a", "RealCMB")
    summary = restored([restoration(of, "ICB", 31.0, **other, patch_height=12.0, patch_width=16.0)])
    (note,) = [note for note in summary.notes if note.startswith("The paper restores")]
    assert note.endswith(
        "Here ICB: 16 units a layer, finite-difference gradient, penalty 0, learning rate 0.01, patches of at most "
        "16 \N{MULTIPLICATION SIGN} 12 pixels."
    )
    assert not any(note.startswith("The paper restores") for note in restored([restoration(of, "ICB", 31.0)]).notes)


def test_the_ablation_every_cell() -> None:
    samples = [sample("a"), sample("b", case="Trucking"), sample("c", case="Trucking")]
    rows = [
        metric(of, f"ICB.s{sigma}", psnr, sigma=sigma, n=3.0, ssim_paper=0.70001)
        for of, psnr in zip(samples, (40.0, 30.0, 34.0), strict=True)
        for sigma in (2.5, 4.0)
    ]
    rows[1]["psnr"] = 41.0
    slips = [str(slip) for slip in paper_numbers.misprints("ablation")]
    summary = ablation(pd.DataFrame(rows), PAPER["ablation"], slips, None)
    less, sigma = f" {MINUS}", "\N{GREEK SMALL LETTER SIGMA}"
    head, *shown = markdown_rows(summary)
    lpips_paper = "LPIPS, as in the paper (\N{MULTIPLICATION SIGN}10⁻⁵) ↓"
    assert head == [
        "Case", sigma, "n", "Samples",
        *(f"PSNR [dB] ↑: {part}" for part in ("ours", "paper", "difference")), "PSNR at depth edges [dB] ↑", "SSIM ↑",
        *(f"SSIM, as in the paper ↑: {part}" for part in ("ours", "paper", "difference")), "LPIPS ↓",
        *(f"{lpips_paper}: {part}" for part in ("ours", "paper", "difference")), "Layers",
        *(f"Time [s]: {part}" for part in ("ours", "paper", "difference")),
    ]  # fmt: skip
    assert shown == [
        words(f"Macro 2.5 3 1 40.000 40.515{less}0.515 **38.000** **0.40000** **0.70001** 0.99072{less}0.29071 "
              f"**0.02500** **4.0000** 3.3375 +0.6625 9.0 0.0400 2.3812{less}2.3412"),
        words(f"Macro 4 3 1 **41.000** 40.524 +0.476 **38.000** **0.40000** **0.70001** 0.99075{less}0.29074 "
              f"**0.02500** **4.0000** 3.3796 +0.6204 9.0 0.0400 2.4356{less}2.3956"),
        # The paper prints 3.6456 here. 1/30 and 1/34: 0.03137.
        words(f"Trucking 2.5 3 2 **32.000** 36.456{less}4.456 **30.000** **0.32000** **0.70001** 0.98225{less}0.28224 "
              f"**0.03137** **3.2000** 6.6283{less}3.4283 9.0 0.0320 2.2431{less}2.2111"),
        words(f"Trucking 4 3 2 **32.000** 36.509{less}4.509 **30.000** **0.32000** **0.70001** 0.98239{less}0.28238 "
              f"**0.03137** **3.2000** 6.6945{less}3.4945 9.0 0.0320 2.2058{less}2.1738"),
    ]  # fmt: skip
    assert any("which 12 images it took; here 3 are chosen" in note for note in summary.notes)
    assert any("3.6456" in note for note in summary.notes)
