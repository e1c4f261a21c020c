"""Algorithm G on graphs with an obvious parallel time."""

import itertools
import math

import pytest

from scalegraph.base.errors import InputError
from scalegraph.predict import graph as graphs
from scalegraph.predict.instantiate import instantiate
from scalegraph.predict.policies import AnyOrder, Dedicated, TimeSharing, chosen
from scalegraph.predict.traverse import DeadlockError, Traversal, traverse


def of(text: str, processors: int = 4, policy: object = None, **values: float) -> Traversal:
    return traverse(instantiate(graphs.parse(text), values, processors), policy)  # type: ignore[arg-type]


FORK_JOIN = """
parameters = ["n"]
[costs]
fork = "0.5 * k"
join = "0.25"
[[class]]
name = "main"
steps = [ { segment = "before", time = "1" }, { fork = "team" }, { segment = "own", time = "n" }, { join = "team" },
          { segment = "after", time = "2" } ]
[[class]]
name = "team"
count = "N"
steps = [ { segment = "work", time = "10 + thread" } ]
"""


def test_a_join_waits_for_the_last_thread_and_a_fork_delays_its_threads() -> None:
    # 1 before, 4 x 0.5 fork, the last thread 13, 0.25 join, 2 after
    assert of(FORK_JOIN, n=3).time_s == 1 + 2 + 13 + 0.25 + 2
    # the main thread's own work is longer
    found = of(FORK_JOIN, n=100)
    assert found.time_s == 1 + 2 + 100 + 0.25 + 2
    assert found.spent == {"before": 1, "own": 100, "after": 2, "work": 10 + 11 + 12 + 13}
    assert found.waited == {}
    assert of(FORK_JOIN, n=3).waited == {("join", "team"): 10}


BARRIERS = """
parameters = ["m"]
[costs]
barrier = "0.5"
[[class]]
name = "team"
count = "N"
steps = [ { loop = "i", iterations = "m", steps = [
            { segment = "uneven", time = "1 + max(0, 1 - thread)" }, { barrier = "b" } ] } ]
"""


def test_every_pass_of_a_barrier_takes_what_the_slowest_thread_takes() -> None:
    found = of(BARRIERS, m=7)
    assert found.time_s == 7 * (2 + 0.5)
    assert found.waited == {("barrier", "b"): 7 * 3}


@pytest.mark.parametrize("alike", ["true", "false"])
def test_critical_sections_follow_each_other(alike: str) -> None:
    text = f"""
    parameters = []
    costs = {{ lock = "0.125" }}
    [[class]]
    name = "team"
    count = "N"
    alike = {alike}
    steps = [ {{ segment = "all at once", time = "3" }},
              {{ critical = "sum", steps = [ {{ segment = "alone", time = "2" }} ] }} ]
    """
    assert of(text, 5).time_s == 3 + 5 * (2 + 0.125)


PIPELINE = """
parameters = ["m"]
costs = { send = "0.5", receive = "0.25", transit = "0.0625 * bytes" }
[[class]]
name = "stage"
count = "N"
steps = [ { loop = "item", iterations = "m", steps = [
    { receive = "pipe", when = "thread" },
    { segment = "work", time = "1" },
    { send = "pipe", to = "thread + 1", bytes = "16", when = "N - 1 - thread" } ] } ]
"""


def test_a_pipeline_of_messages_takes_its_length_and_its_slowest_stage() -> None:
    # a stage between two others takes 0.25 + 1 + 0.5 per item, and the first item passes all stages
    first = (1 + 0.5 + 1) + 2 * (0.25 + 1 + 0.5 + 1) + 0.25 + 1
    assert of(PIPELINE, m=1).time_s == first
    assert of(PIPELINE, m=9).time_s == first + 8 * 1.75


def nested(m: int, k: int) -> str:
    return f"""
    parameters = []
    [[class]]
    name = "one"
    steps = [ {{ loop = "i", iterations = "{m}", steps = [
                 {{ segment = "s", time = "1" }},
                 {{ loop = "j", iterations = "{k}", steps = [ {{ segment = "t", time = "0.25" }} ] }},
                 {{ segment = "u", time = "8" }} ] }},
              {{ segment = "end", time = "0.5" }} ]
    """


@pytest.mark.parametrize(("m", "k"), [(1, 1), (1, 5), (3, 1), (4, 7), (6, 0), (0, 3)])
def test_a_loop_passes_as_often_as_it_says_also_when_it_is_entered_again(m: int, k: int) -> None:
    found = of(nested(m, k))
    assert found.time_s == m * (1 + k * 0.25 + 8) + 0.5
    # eq. (2.1): an event inside loops is processed as often as the product of their sizes; (2.2): the sum over all
    inner = m * k
    assert found.events == 2 + 2 * m + 2 * inner
    assert found.spent.get("t", 0) == inner * 0.25
    assert found.spent["end"] == 0.5


def test_the_iterations_of_a_loop_may_depend_on_the_pass_of_another() -> None:
    text = """
    parameters = ["n"]
    [[class]]
    name = "one"
    steps = [ { loop = "k", iterations = "n", steps = [
                { loop = "i", iterations = "n - 1 - k", steps = [ { segment = "row", time = "n - k" } ] },
                { segment = "step", time = "1" } ] } ]
    """
    n = 9
    expected = sum((n - 1 - k) * (n - k) for k in range(n))
    found = of(text, n=n)
    assert found.time_s == expected + n
    assert found.spent == {"row": expected, "step": n}


def test_three_threads_share_two_processors() -> None:
    text = """
    parameters = []
    [[class]]
    name = "team"
    count = "3"
    steps = [ { segment = "work", time = "2" } ]
    """
    assert of(text, 2, TimeSharing(2)).time_s == pytest.approx(3)
    assert of(text, 2, Dedicated()).time_s == 2
    assert chosen(3, 2) == TimeSharing(2)
    assert chosen(2, 2) == Dedicated()


def test_shared_processors_serve_those_that_are_left_faster() -> None:
    text = """
    parameters = []
    [[class]]
    name = "team"
    count = "2"
    steps = [ { segment = "work", time = "1 + 2 * thread" }, { barrier = "b" }, { segment = "rest", time = "1" } ]
    """
    # one processor: both until 2, then the second alone until 4; both again until 6
    assert of(text, 1, TimeSharing(1)).time_s == pytest.approx(6)


def test_messages_arrive_in_actual_time_where_processors_are_shared() -> None:
    text = """
    parameters = []
    costs = { transit = "10" }
    [[class]]
    name = "team"
    count = "2"
    steps = [ { segment = "work", time = "2" }, { send = "c", to = "1 - thread" }, { receive = "c" },
              { segment = "rest", time = "1" } ]
    """
    assert of(text, 1, TimeSharing(1)).time_s == pytest.approx(2 * 2 + 10 + 2 * 1)


def test_shared_and_dedicated_processors_agree_where_there_are_enough() -> None:
    for text, values in ((FORK_JOIN, {"n": 3.0}), (BARRIERS, {"m": 7.0}), (PIPELINE, {"m": 5.0})):
        dedicated, shared = of(text, 4, Dedicated(), **values), of(text, 4, TimeSharing(100), **values)
        assert shared.time_s == pytest.approx(dedicated.time_s)
        assert shared.events == dedicated.events


def test_the_order_of_simultaneous_events_is_the_policys() -> None:
    text = """
    parameters = []
    [[class]]
    name = "team"
    count = "3"
    steps = [ { critical = "lock", steps = [ { segment = "in", time = "1" } ] }, { segment = "then", time = "thread" } ]
    """
    times = {of(text, 4, AnyOrder(Dedicated(), seed)).time_s for seed in range(40)}
    # the sum of queue position and number: the longest thread first, or last
    orders = {max(place + 1 + who for place, who in enumerate(order)) for order in itertools.permutations(range(3))}
    assert times == orders
    assert of(text, 4).time_s == 5
    again = [of(text, 4, AnyOrder(Dedicated(), 3)).time_s for _ in range(3)]
    assert len(set(again)) == 1


def test_a_deadlock_names_threads_and_events() -> None:
    text = """
    parameters = []
    [[class]]
    name = "left"
    steps = [ { acquire = "a" }, { segment = "s", time = "1" },
              { acquire = "b" }, { release = "b" }, { release = "a" } ]
    [[class]]
    name = "right"
    steps = [ { acquire = "b" }, { segment = "s", time = "1" },
              { acquire = "a" }, { release = "a" }, { release = "b" } ]
    """
    with pytest.raises(DeadlockError) as caught:
        of(text)
    assert sorted(caught.value.waiting) == [("'left'", "acquire 'b'"), ("'right'", "acquire 'a'")]


def test_a_barrier_that_not_all_reach_is_a_deadlock() -> None:
    text = """
    parameters = []
    [[class]]
    name = "team"
    count = "3"
    steps = [ { barrier = "b", when = "thread" } ]
    """
    with pytest.raises(DeadlockError, match=r"'team' 1 waits at barrier 'b' \(2 of 3 have arrived\)"):
        of(text)


def test_a_receive_without_a_message_is_a_deadlock() -> None:
    with pytest.raises(DeadlockError, match="'one' waits at receive 'c'"):
        of('parameters = []\n[[class]]\nname = "one"\nsteps = [ { receive = "c" } ]')


def test_a_cluster_is_a_segment_in_which_threads_run_and_a_part_is_included() -> None:
    text = """
    parameters = []
    [[class]]
    name = "main"
    steps = [ { part = "phase" }, { part = "phase" } ]
    [[class]]
    name = "team"
    count = "N"
    steps = [ { segment = "work", time = "12 / N" }, { barrier = "b" } ]
    [[part]]
    name = "phase"
    steps = [ { cluster = "team" }, { segment = "serial", time = "1" } ]
    """
    assert of(text, 4).time_s == 2 * (12 / 4 + 1)
    assert math.isclose(of(text, 6).spent["work"], 2 * 12)


def test_a_branch_takes_its_share_of_the_time() -> None:
    text = """
    parameters = []
    [[class]]
    name = "one"
    steps = [ { branch = "rare", share = "0.25", steps = [ { segment = "s", time = "8" } ] } ]
    """
    assert of(text).time_s == 2


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ('{ fork = "teem" }', "there is no class 'teem'; did you mean 'team'"),
        ('{ segment = "s" }', "the segment 's' needs the key 'time'"),
        ('{ segment = "s", barrier = "b", time = "1" }', "got segment and barrier"),
        ('{ segment = "s", time = "m * 2" }', "uses 'm', which is not known here"),
        ('{ part = "loop" }', "nested too deeply"),
    ],
)
def test_a_graph_that_is_wrong_is_refused_in_a_sentence(step: str, said: str) -> None:
    text = f"""
    parameters = ["n"]
    [[class]]
    name = "team"
    steps = [ {step} ]
    [[part]]
    name = "loop"
    steps = [ {{ part = "loop" }} ]
    """
    with pytest.raises(InputError, match=said):
        graphs.parse(text)


def test_values_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="needs a value of 'n'"):
        of(FORK_JOIN)
    with pytest.raises(InputError, match="'n' is -1; at least 0 was expected"):
        of(FORK_JOIN, n=-1)


@pytest.mark.parametrize("text", [FORK_JOIN, BARRIERS, PIPELINE, nested(2, 3)])
def test_a_graph_that_is_written_is_read_as_the_same(text: str) -> None:
    graph = graphs.parse(text)
    assert graphs.parse(graphs.dump(graph)) == graph
