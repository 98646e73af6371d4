package io.eventtide.spark.checkpoint

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.time.Frame
import io.eventtide.spark.options.{AggregateHistory, StoredFrames, Structure}

class CheckpointStructureSuite extends AnyFunSuite {
  private val lag = Structure("policy" -> "with_fixed_lag", Seq("substream" -> "key"))
  private val storm = Structure("policy" -> "storm", Seq("substream" -> "key"))
  private val slow = Structure("kind" -> "sliding", Seq("slide" -> "10s"))
  private val fast = Structure("kind" -> "sliding", Seq("slide" -> "5s"))
  private val grown = Structure("kind" -> "cumulate", Seq("step" -> "5s"))

  private def differences(stored: CheckpointStructure, current: CheckpointStructure): Seq[String] =
    stored.differences(current)

  test("a plan is read as it was written") {
    val plan = CheckpointStructure(Seq(lag, storm), Seq(slow))
    assert(CheckpointStructure.read(plan.json) == plan)
    assert(differences(plan, CheckpointStructure.read(plan.json)).isEmpty)
    assert(
      plan.lines == Seq(
        "input 0: policy=with_fixed_lag, substream=key",
        "input 1: policy=storm, substream=key",
        "window 0: kind=sliding, slide=10s"
      )
    )
  }

  test("each difference has the name of its setting, and both values") {
    assert(
      differences(
        CheckpointStructure(Seq(lag), Seq(slow)),
        CheckpointStructure(Seq(storm), Seq(grown))
      ) == Seq(
        "policy: with_fixed_lag in the checkpoint, storm in this query",
        "kind: sliding in the checkpoint, cumulate in this query",
        "slide: 10s in the checkpoint, none in this query",
        "step: none in the checkpoint, 5s in this query"
      )
    )
  }

  test("of several inputs or windows, it is said which") {
    assert(
      differences(
        CheckpointStructure(Nil, Seq(slow, slow)),
        CheckpointStructure(Nil, Seq(slow, fast))
      ) ==
        Seq("window 1, slide: 10s in the checkpoint, 5s in this query")
    )
    assert(
      differences(
        CheckpointStructure(Seq(lag), Seq(slow)),
        CheckpointStructure(Seq(lag, storm), Nil)
      ) == Seq(
        "input 1: none in the checkpoint, policy=storm, substream=key in this query",
        "window 0: kind=sliding, slide=10s in the checkpoint, none in this query"
      )
    )
  }

  test("what an input and a window both say is said once") {
    val (stored, current) =
      (Structure("policy" -> "storm"), Structure("policy" -> "max_event_time"))
    assert(
      differences(
        CheckpointStructure(Seq(stored), Seq(stored)),
        CheckpointStructure(Seq(current), Seq(current))
      ) ==
        Seq("policy: storm in the checkpoint, max_event_time in this query")
    )
  }

  private def counting(aggregates: String, others: (String, String)*): CheckpointStructure =
    CheckpointStructure(Nil, Seq(slow ++ Seq("agg" -> aggregates) ++ others))

  test("aggregates may change, and each run knows which of its own were added") {
    val (one, two) = (counting("count(1)"), counting("sum(a); count(1)"))
    assert(differences(one, two).isEmpty)
    assert(one.changes(two) == Seq("window 0: sum(a) is added, and begins empty"))
    assert(continued(one, one) == one)
    val added = continued(one, two)
    assert(added == counting("sum(a); count(1)", "agg_added" -> "sum(a)"))
    assert(continued(added, two) == added)
    assert(two.changes(one) == Seq("window 0: sum(a) is dropped"))
    assert(continued(added, one) == counting("count(1)", "agg_added" -> "none"))
    val moved = continued(added, counting("count(1); sum(a); max(b)"))
    assert(moved == counting("count(1); sum(a); max(b)", "agg_added" -> "sum(a); max(b)"))
  }

  private def continued(stored: CheckpointStructure, next: CheckpointStructure) =
    stored.continuedBy(next, _ => None)

  test("an aggregate may have the separator in its name") {
    def listing(names: String*) =
      CheckpointStructure(Nil, Seq(slow ++ AggregateHistory.settings(names, None)))
    val before = listing("count('; ')", "count(1)")
    assert(before.changes(listing("count(1)", "count('; ')")).isEmpty)
    val added = continued(before, listing("count(1)", "sum('; ')"))
    val history = AggregateHistory.of(added.windows.head).get
    assert(history.isAdded("sum('; ')") && !history.isAdded("count(1)"))
  }

  test("aggregates over rows in the state must stay, as the columns of these rows") {
    val columns = "columns" -> "a INT"
    assert(
      differences(counting("sum(a)", columns), counting("max(a)", columns)) ==
        Seq("agg: sum(a) in the checkpoint, max(a) in this query")
    )
  }

  private def sized(kind: String, settings: (String, String)*): CheckpointStructure =
    CheckpointStructure(Nil, Seq(Structure("kind" -> kind, settings)))

  test("sizes may be other multiples of the frames in the state, which stay") {
    val minutes = sized("tumbling", "size" -> "1m", "offset" -> "30s")
    val fives = sized("tumbling", "size" -> "5m", "offset" -> "1m 30s")
    assert(differences(minutes, fives).isEmpty)
    assert(
      minutes.changes(fives) == Seq(
        "window 0: size: 1m, from now on 5m",
        "window 0: offset: 30s, from now on 1m 30s"
      )
    )
    val once = minutes.continuedBy(fives, _ => Some(7))
    val frames = Seq("frame" -> "1m", "frame_offset" -> "30s", "first_frame" -> "7")
    assert(once.windows.head == fives.windows.head ++ frames)
    assert(once.continuedBy(fives, _ => Some(9)) == once)
    val sliding = sized("sliding", "size" -> "20m", "slide" -> "10m", "offset" -> "1m 30s")
    assert(differences(once, sliding).isEmpty)
    val twice = once.continuedBy(sliding, _ => Some(9))
    assert(StoredFrames.of(twice.windows.head).map(_.grid).contains(Frame(60000000, 30000000)))
  }

  test("windows must not end between the ends of those before, whatever the frames are") {
    val minutes = sized("tumbling", "size" -> "1m")
    val fives = minutes.continuedBy(sized("tumbling", "size" -> "5m"), _ => Some(7))
    val between = Seq(
      minutes,
      sized("tumbling", "size" -> "2m"),
      sized("tumbling", "size" -> "5m", "offset" -> "1m"),
      sized("sliding", "size" -> "10m", "slide" -> "2m")
    )
    for (next <- between) assert(differences(fives, next).nonEmpty)
  }

  test("windows that change places are not taken for windows with other aggregates") {
    val minutes = sized("tumbling", "size" -> "1m")
    val both = minutes.copy(windows = minutes.windows ++ minutes.windows)
    val agg = both.copy(windows = both.windows.zip(Seq("count(1)", "sum(n)")).map {
      case (window, name) => Structure(window.settings.filter(_._1 != "agg") :+ ("agg" -> name))
    })
    assert(differences(agg, agg).isEmpty)
    assert(differences(agg, agg.copy(windows = agg.windows.reverse)).nonEmpty)
  }

  test("other sizes, and those of windows whose frames are not known, must stay") {
    val minutes = sized("tumbling", "size" -> "1m")
    val refused = Seq(
      minutes -> sized("tumbling", "size" -> "1m 30s"),
      minutes -> sized("tumbling", "size" -> "2m", "offset" -> "30s"),
      minutes -> sized("sliding", "size" -> "1m", "slide" -> "30s"),
      minutes -> sized("cumulate", "size" -> "2m", "step" -> "1m"),
      sized("tumbling", "size" -> "1 day", "time_zone" -> "UTC") ->
        sized("tumbling", "size" -> "2 days", "time_zone" -> "UTC"),
      minutes.copy(windows = minutes.windows.map(_ ++ Seq(StoredFrames.BesideOtherState))) ->
        sized("tumbling", "size" -> "2m")
    )
    for ((stored, next) <- refused) assert(differences(stored, next).nonEmpty)
  }
}
