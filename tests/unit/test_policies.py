"""Policies as values: options, repr, equality, pickling, decorating, explaining."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import eventtide as et
import pytest
from eventtide import WatermarkPolicies, WatermarkPolicy
from eventtide._text.durations import in_words, to_iso
from eventtide.errors import ArgumentTypeError, InvalidArgumentError, InvalidDurationError
from eventtide.policies import FromJar, MinOf, PunctuationPolicies, ThrottleByFrame, WithFixedLag
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    from eventtide._text.durations import Duration

    from tests.unit.fakes import FakeDoor, FakeFrame

LAG = WatermarkPolicies.with_fixed_lag("5s")

durations = st.one_of(
    st.integers(20, 10**15).map(in_words),
    st.integers(20, 10**15).map(lambda length: to_iso("lag", in_words(length))),
    st.timedeltas(dt.timedelta(milliseconds=1), dt.timedelta(days=1000)),
)
steps = st.integers(10**3, 10**15).map(in_words)  # a millisecond and more
plain = st.one_of(
    st.builds(WatermarkPolicies.with_fixed_lag, durations),
    st.builds(
        WatermarkPolicies.with_late_target,
        st.one_of(st.just("0.1%"), st.integers(0, 10**6).map(lambda share: share / 10**6)),
        durations,
        durations,
        st.integers(1, 2**31 - 1),
        st.sampled_from(["recent", "forever"]),
    ),
    st.builds(WatermarkPolicies.limiting_lag_and_delay, durations, durations, st.integers(1, 20)),
    st.builds(WatermarkPolicies.limiting_lag_and_lull, durations, durations),
    st.builds(WatermarkPolicies.limiting_timestamp_and_wall_clock_lag, durations, durations),
    st.builds(WatermarkPolicies.limiting_real_time_lag, durations),
    st.builds(WatermarkPolicies.with_ingestion_time),
    st.builds(WatermarkPolicies.min_event_time),
    st.builds(WatermarkPolicies.min_event_time_of_all),
    st.builds(WatermarkPolicies.max_event_time),
    st.builds(WatermarkPolicies.storm, durations),
)
combined = st.recursive(
    plain,
    lambda children: st.lists(children, min_size=1, max_size=3).flatmap(
        lambda found: st.sampled_from(
            [WatermarkPolicies.min_of(*found), WatermarkPolicies.max_of(*found)]
        )
    ),
    max_leaves=5,
)
by_substream = st.lists(combined, min_size=1, max_size=3).map(
    lambda found: WatermarkPolicies.by_substream(
        {**{f"s{i}-*": policy for i, policy in enumerate(found[1:])}, "*": found[0]}
    )
)
actions = st.sampled_from(["clamp", "late", "fail"])
decorations = st.one_of(
    steps.map(lambda length: lambda policy: policy.throttle_by_min_step(length)),
    steps.map(lambda length: lambda policy: policy.emit_every(length)),
    durations.map(lambda length: lambda policy: policy.throttle_by_frame("70000d", length)),
    st.tuples(durations, actions).map(lambda guard: lambda policy: policy.guard_future(*guard)),
)


@st.composite
def policies(draw: st.DrawFn) -> WatermarkPolicy:
    """Draw any policy, decorated or not."""
    policy: WatermarkPolicy = draw(st.one_of(combined, by_substream))
    for decorate in draw(st.lists(decorations, max_size=3)):
        policy = decorate(policy)
    return policy


@given(policies())
def test_a_repr_pastes_back(policy: WatermarkPolicy) -> None:
    """The repr is an expression for the same policy, with what was written."""
    names = {"WatermarkPolicies": WatermarkPolicies, "datetime": dt}
    copy = eval(repr(policy), names)  # noqa: S307 - the point of the test
    assert copy == policy
    assert repr(copy) == repr(policy)


@given(policies())
def test_a_policy_survives_pickling(policy: WatermarkPolicy) -> None:
    """It can travel with a job."""
    copy = pickle.loads(pickle.dumps(policy))  # noqa: S301 - our own bytes
    assert copy == policy
    assert repr(copy) == repr(policy)


@given(policies(), policies())
def test_policies_are_equal_when_the_jvm_is_told_the_same(
    one: WatermarkPolicy, other: WatermarkPolicy
) -> None:
    """Equality and hash follow the options."""
    assert (one == other) is (one.to_options() == other.to_options())
    assert hash(one) == hash(other) or one != other


@given(policies())
def test_every_policy_explains_itself(policy: WatermarkPolicy) -> None:
    """The tree has a line for each rule and ends with what stock Spark does."""
    *tree, stock = policy.explained().splitlines()
    assert stock == "stock Spark: largest event time anywhere minus one fixed delay"
    for decorator in policy.decorators:
        assert any(decorator.name in line for line in tree)


def test_equality_is_by_meaning_and_the_repr_by_what_was_written() -> None:
    """A minute is sixty seconds, and each prints as its author wrote it."""
    seconds = WatermarkPolicies.with_fixed_lag("60s")
    minute = WatermarkPolicies.with_fixed_lag(dt.timedelta(minutes=1))
    assert seconds == minute
    assert len({seconds, minute, WatermarkPolicies.with_fixed_lag("PT1M")}) == 1
    assert repr(seconds) == "WatermarkPolicies.with_fixed_lag(lag='60s')"
    assert seconds != WatermarkPolicies.storm("60s")
    assert seconds != "with_fixed_lag"


def test_a_decorated_policy_prints_as_it_was_written() -> None:
    """Parameters by name, decorators as calls, defaults left out."""
    policy = WatermarkPolicies.limiting_lag_and_lull("5s", "30s").throttle_by_frame("1s")
    assert repr(policy) == (
        "WatermarkPolicies.limiting_lag_and_lull(lag='5s', max_lull='30s').throttle_by_frame('1s')"
    )
    assert repr(policy.decorators[0]) == "throttle_by_frame('1s')"
    assert repr(WatermarkPolicies.limiting_lag_and_delay("5s", "1m", samples=4)).endswith(
        "(lag='5s', max_delay='1m', samples=4)"
    )
    assert repr(WatermarkPolicies.min_event_time().guard_future("1h", on="late")).endswith(
        "min_event_time().guard_future('1h', on='late')"
    )


def test_options_hold_the_whole_policy() -> None:
    """Children under `of`, decorators in the order in which they apply, durations in ISO 8601."""
    policy = (
        WatermarkPolicies.min_of(
            WatermarkPolicies.limiting_lag_and_delay("0s", "1m"),
            WatermarkPolicies.max_of(WatermarkPolicies.with_ingestion_time()),
        )
        .guard_future("1h", on="fail")
        .throttle_by_frame("1s", offset="250ms")
    )
    assert policy.to_options() == {
        "policy": "min_of",
        "of.0.policy": "limiting_lag_and_delay",
        "of.0.lag": "PT0S",
        "of.0.max_delay": "PT60S",
        "of.0.samples": "16",
        "of.1.policy": "max_of",
        "of.1.of.0.policy": "with_ingestion_time",
        "decorators.0": "guard_future",
        "decorators.0.max_ahead": "PT3600S",
        "decorators.0.on": "fail",
        "decorators.1": "throttle_by_frame",
        "decorators.1.size": "PT1S",
        "decorators.1.offset": "PT0.25S",
    }


def test_decorating_leaves_the_policy_as_it_was() -> None:
    """Policies are values: each method returns a new one."""
    policy = WatermarkPolicies.with_fixed_lag("5s")
    throttled = policy.throttle_by_frame("1s").emit_every("1s")
    assert policy.decorators == ()
    assert [decorator.name for decorator in throttled.decorators] == [
        "throttle_by_frame",
        "emit_every",
    ]
    assert isinstance(throttled, WithFixedLag)
    with pytest.raises(FrozenInstanceError):
        policy.lag = "6s"  # type: ignore[misc]


def test_the_names_of_jet_0_4_make_the_same_policies() -> None:
    """`PunctuationPolicies` is an alias for what 0.4 had."""
    assert {name for name in vars(PunctuationPolicies) if not name.startswith("_")} == {
        "with_fixed_lag",
        "limiting_lag_and_delay",
        "limiting_lag_and_lull",
        "limiting_timestamp_and_wall_clock_lag",
    }
    assert PunctuationPolicies.with_fixed_lag("5s") == WatermarkPolicies.with_fixed_lag("5s")


def test_a_constructor_carries_the_name_that_the_jvm_knows() -> None:
    """One word for one idea on both sides of the border."""
    for name in (name for name in vars(WatermarkPolicies) if not name.startswith("_")):
        maker = getattr(WatermarkPolicies, name)
        if isinstance(maker, type):
            assert issubclass(maker, WatermarkPolicy)
            assert maker.name == name


@pytest.mark.parametrize("lag", ["0s", "PT0S", dt.timedelta(0)])
def test_a_lag_may_be_zero(lag: Duration) -> None:
    """Data in order needs no lag."""
    assert WatermarkPolicies.with_fixed_lag(lag).to_options()["lag"] == "PT0S"


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: WatermarkPolicies.with_fixed_lag("-1s"), "lag"),
        (lambda: WatermarkPolicies.storm("-1s"), "lag"),
        (lambda: WatermarkPolicies.limiting_real_time_lag("-1s"), "lag"),
        (lambda: WatermarkPolicies.limiting_lag_and_lull("-1s", "1s"), "lag"),
        (lambda: WatermarkPolicies.limiting_lag_and_lull("1s", "-1s"), "max_lull"),
        (lambda: WatermarkPolicies.limiting_lag_and_delay("1s", "0s"), "max_delay"),
        (lambda: WatermarkPolicies.limiting_lag_and_delay("1s", "15us"), "max_delay"),
        (
            lambda: WatermarkPolicies.limiting_timestamp_and_wall_clock_lag("-1s", "1s"),
            "timestamp_lag",
        ),
        (
            lambda: WatermarkPolicies.limiting_timestamp_and_wall_clock_lag("1s", "-1s"),
            "wall_clock_lag",
        ),
        (lambda: WatermarkPolicies.min_event_time().throttle_by_frame("0s"), "size"),
        (lambda: WatermarkPolicies.min_event_time().throttle_by_frame("999us"), "size"),
        (lambda: WatermarkPolicies.min_event_time().throttle_by_frame("1s", "-1s"), "offset"),
        (lambda: WatermarkPolicies.min_event_time().throttle_by_frame("1s", "1s"), "offset"),
        (lambda: WatermarkPolicies.min_event_time().throttle_by_min_step("0s"), "step"),
        (lambda: WatermarkPolicies.min_event_time().emit_every("0s"), "interval"),
        (lambda: WatermarkPolicies.min_event_time().guard_future("-1s"), "max_ahead"),
    ],
)
def test_a_duration_out_of_bounds_is_refused_where_it_is_written(
    make: Callable[[], object], parameter: str
) -> None:
    """The error names the parameter, at the line that wrote it."""
    with pytest.raises(InvalidDurationError, match=f"^{parameter}="):
        make()


@pytest.mark.parametrize(
    ("samples", "error"),
    [(0, InvalidArgumentError), (1.5, ArgumentTypeError), (True, ArgumentTypeError)],
)
def test_the_number_of_samples_is_a_count(samples: int, error: type[Exception]) -> None:
    """One slot is the least that has a history."""
    with pytest.raises(error, match=r"^samples="):
        WatermarkPolicies.limiting_lag_and_delay("1s", "1s", samples)


@pytest.mark.parametrize(
    ("action", "nearest"),
    [("drop", "clamp"), ("failed", "fail"), ("LATE", "late"), (["late"], "late"), (5, "clamp")],
)
def test_an_unknown_action_of_the_guard_is_refused(action: Any, nearest: str) -> None:
    """The message lists the actions, and tries the nearest, or the first if none is near."""
    with pytest.raises(InvalidArgumentError, match=f"'clamp', 'late', 'fail'.*on='{nearest}'"):
        WatermarkPolicies.with_fixed_lag("1s").guard_future("1h", on=action)


@pytest.mark.parametrize("combine", [WatermarkPolicies.min_of, WatermarkPolicies.max_of])
def test_decorators_stay_outside_of_a_combination(combine: Callable[..., object]) -> None:
    """A throttle inside would throttle twice; the error shows where to put it."""
    throttled = WatermarkPolicies.with_fixed_lag("5s").throttle_by_frame("1s")
    with pytest.raises(InvalidArgumentError, match=r"\(\.\.\.\)\.throttle_by_frame\('1s'\)"):
        combine(WatermarkPolicies.min_event_time(), throttled)


@pytest.mark.parametrize("combine", [WatermarkPolicies.min_of, WatermarkPolicies.max_of])
def test_a_combination_has_policies_and_at_least_one(combine: Callable[..., object]) -> None:
    """Nothing, and something else, are refused."""
    with pytest.raises(InvalidArgumentError, match="one policy or more"):
        combine()
    with pytest.raises(ArgumentTypeError, match=r"^policies\[1\]='5s' is not a policy"):
        combine(WatermarkPolicies.min_event_time(), "5s")
    with pytest.raises(ArgumentTypeError, match=r"is not called.*Try: storm\(\.\.\.\)\.$"):
        combine(WatermarkPolicies.storm)
    with pytest.raises(ArgumentTypeError, match=r"is not called.*Try: FromJar\(\.\.\.\)\.$"):
        combine(FromJar)


def test_only_decorators_decorate() -> None:
    """The constructor's door is as narrow as the methods."""
    with pytest.raises(ArgumentTypeError, match="is not a decorator"):
        WithFixedLag("5s", decorators=("throttle",))  # type: ignore[arg-type]
    assert WithFixedLag("5s", decorators=(ThrottleByFrame("1s"),)).decorators


def test_the_explanation_is_a_tree_from_the_outside_in(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What a watermark passes last stands first, and each policy says what moves it."""
    policy = MinOf(
        (
            WithFixedLag("5s"),
            WatermarkPolicies.limiting_real_time_lag("1h"),
        )
    )
    policy.throttle_by_frame("1s").guard_future("1h").explain()
    assert capsys.readouterr().out.splitlines() == [
        "guard_future('1h'): rows more than 1h ahead of the clock only count as 1h ahead",
        "+- throttle_by_frame('1s'): emits only the starts of frames of 1s, each once",
        "   +- min_of: the lowest of these; unknown while one of them is",
        "      +- with_fixed_lag(lag='5s'): 5s behind the highest event time",
        "            moves on rows, stands still on the clock alone",
        "      +- limiting_real_time_lag(lag='1h'): 1h behind the clock",
        "            moves on the clock, regardless of the rows",
        "stock Spark: largest event time anywhere minus one fixed delay",
    ]


@pytest.mark.usefixtures("columns")
def test_rules_by_substream_are_a_policy(door: FakeDoor, frame: FakeFrame) -> None:
    """Also as the mapping itself, for a stream and for a window."""
    lag = WatermarkPolicies.with_fixed_lag
    rules = {"north": lag("1m"), "*": lag("5s")}
    et.with_watermark(frame, "ts", rules, substream="site")
    assert door.calls[0].watermark["of.0.substream"] == "north"
    window = et.window(frame).event_time("ts", rules, substream="site")
    assert "of.1.substream" in (window.settings.event_time.watermark or {})  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("rules", "error", "message"),
    [
        ({}, InvalidArgumentError, r"^rules=\[\] do not end with '\*'"),
        ({"a": LAG}, InvalidArgumentError, r"^rules=\['a'\] do not end with '\*'.*Try: \{'eu'"),
        ({"*": LAG, "a": LAG}, InvalidArgumentError, r"do not end with '\*'"),
        ({"a": "5s", "*": LAG}, ArgumentTypeError, r"^rules\['a'\]='5s' is not a policy"),
        (
            {"a*": WatermarkPolicies.with_fixed_lag, "*": LAG},
            ArgumentTypeError,
            r"^rules\['a\*'\]=.* is not called.*Try: with_fixed_lag\(\.\.\.\)\.$",
        ),
        (
            {"a": "5s", "*": LAG},
            ArgumentTypeError,
            r"Try: \{'eu': with_fixed_lag\('1m'\), '\*': with_fixed_lag\('5s'\)\}\.$",
        ),
        ({7: LAG, "*": LAG}, ArgumentTypeError, r"^rules=7 has type int"),
        ({"*": LAG.emit_every("1s")}, InvalidArgumentError, r"decorated inside by_substream"),
        ("north", ArgumentTypeError, r"^rules='north' has type str"),
    ],
)
def test_wrong_rules_are_refused(rules: Any, error: type[Exception], message: str) -> None:
    """With what is allowed."""
    with pytest.raises(error, match=message) as caught:
        WatermarkPolicies.by_substream(rules)
    assert type(caught.value) is error


@given(policies())
def test_a_policy_prints_as_a_table_and_is_plain_data(policy: WatermarkPolicy) -> None:
    """Every decorator has a line, and every rule its values."""
    shown = str(policy)
    assert shown.startswith(repr(policy))
    for decorator in policy.decorators:
        assert f"  {decorator!r}  " in shown
    assert policy._repr_html_().count("<tr>") == len(shown.splitlines()) - 1
    made = policy.to_dict()
    assert json.loads(json.dumps(made)) == made
    assert [one["name"] for one in made.get("decorators", [])] == [
        decorator.name for decorator in policy.decorators
    ]


LARGE = [pytest.param(10**400, id="large"), pytest.param(-(10**400), id="below")]


@pytest.mark.parametrize("share", [2, -0.1, *LARGE, float("nan"), "101%", "much"])
def test_a_target_that_is_no_share_is_refused(share: Any) -> None:
    """However large it is."""
    with pytest.raises(InvalidArgumentError, match="Allowed: a share from 0% to 100%"):
        WatermarkPolicies.with_late_target(share)
