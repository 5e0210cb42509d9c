"""Where the parts of the picture of a flow stand."""

from mail4agent_daemon.console.flow_picture import PAIRS_MAX, WIDTH, Pair, picture


def test_each_end_stands_once_and_each_pair_has_its_line():
    """Senders on the left, receivers on the right, in the order of their numbers."""
    drawn = picture([Pair("ann", "bob", 10), Pair("ann", "#hall", 4), Pair("bob", "ann", 1)])
    assert [each.whole for each in drawn.senders] == ["ann", "bob"]
    assert [each.whole for each in drawn.targets] == ["bob", "#hall", "ann"]
    assert [each.step for each in drawn.strokes] == [5, 2, 1]
    assert max(each.x for each in drawn.senders) < WIDTH / 2 < min(each.x for each in drawn.targets)
    assert all(0 < each.y < drawn.height for each in (*drawn.senders, *drawn.targets))


def test_a_picture_is_bounded_and_says_what_it_leaves_out():
    """The pairs with the most messages are drawn; a long name is cut and kept whole beside it."""
    pairs = [Pair(f"{'a' * 60}-{n}", f"b-{n}", 300 - n) for n in range(PAIRS_MAX + 7)]
    drawn = picture(pairs)
    assert (len(drawn.strokes), drawn.left_out) == (PAIRS_MAX, 7)
    assert len(drawn.senders[0].text) < len(drawn.senders[0].whole) == 62


def test_no_pair_is_an_empty_picture():
    """It still has a size."""
    drawn = picture([])
    assert (drawn.strokes, drawn.senders) == ((), ())
    assert drawn.height > 0
