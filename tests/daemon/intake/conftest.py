"""One intake for all tests of this folder that do not need their own."""

from collections.abc import Iterator

import pytest

from .house import House, house
from .manifests import EVERYTHING, TALK, UNPROVED, VISIT


@pytest.fixture(scope="package")
def open_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """An intake with the types visit, talk, everything and unproved."""
    with house(tmp_path_factory.mktemp("intake") / "box", VISIT, TALK, EVERYTHING, UNPROVED) as made:
        yield made
        assert '"level":"error"' not in made.log_file.read_text()
