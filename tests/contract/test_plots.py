"""The plots of the performance page."""

from xml.etree import ElementTree as ET

import plots
import pytest

PLOT = plots.Plot(
    "sends",
    "send",
    "Sends & pages of mail4agent",
    "in flight",
    "p50, ms",
    ("1", "64"),
    [plots.Curve("mail4agent", [(0, 0.5), (1, 81.0)]), plots.Curve("a <floor>", [(1, 7.5)], dashed=True)],
    log=True,
)


def test_a_plot_is_sound_svg_that_says_what_its_axes_are() -> None:
    """Names are escaped, both axes are named, and each curve has its points, and a mark beside its name."""
    root = ET.fromstring(plots.svg(PLOT))
    said = [each.text for each in root.iter() if each.text]
    assert {"Sends & pages of mail4agent", "in flight", "p50, ms", "a <floor>", "1", "64"} <= set(said)
    marks = [each for each in root.iter() if each.tag.endswith(("}circle", "}rect"))]
    assert len(marks) == 3 + 2


@pytest.mark.parametrize(
    ("bottom", "top", "log", "wanted"),
    [
        (0.5, 81, True, [0.1, 1, 10, 100]),
        (1, 9, True, [1, 10]),
        (0, 926, False, [0, 200, 400, 600, 800, 1000]),
        (0, 0.3, False, pytest.approx([0, 0.1, 0.2, 0.3])),
    ],
)
def test_an_axis_has_round_numbers_and_room_for_every_value(
    bottom: float, top: float, log: bool, wanted: list[float]
) -> None:
    """Powers of ten around what there is, or steps from zero."""
    assert plots.steps(top, log=log, bottom=bottom) == wanted
