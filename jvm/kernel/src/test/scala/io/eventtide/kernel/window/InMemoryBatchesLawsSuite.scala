package io.eventtide.kernel.window

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.time.Frame
import io.eventtide.kernel.watermark._

/** Keys in their own time against the rules word by word: every window with the rows that are in it. */
final class InMemoryBatchesLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import InMemoryBatchesLawsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  test("each row is late, or in its open windows until they close or the key is silent") {
    forAll(settings, scripts) { (settings, script) =>
      val expected = new EveryWindow(settings).play(script)
      assert(new Engine(settings).play(script).map(_.sorted) == expected.map(_.sorted))
    }
  }

  test("in one window a row is in one result, or late") {
    forAll(settings.map(_.copy(windows = 1)), scripts) { (settings, script) =>
      val answers = new Engine(settings).play(script :+ Batch(Long.MaxValue / 2, Nil))
      val answered = answers.flatMap(_.late) ++ answers.flatMap(_.panes).flatMap(_.rows)
      val open = new Engine(settings).left(script)
      assert((answered ++ open).sorted == script.flatMap(_.rows).indices)
    }
  }

  test("a trigger gives the same beside others as alone") {
    forAll(settings, scripts, Gen.atLeastOne(triggers)) { (settings, script, some) =>
      val chosen = some.toSeq
      val together = new Engine(settings.copy(triggers = chosen)).play(script).flatMap(_.panes)
      for ((trigger, i) <- chosen.zipWithIndex) {
        val alone = new Engine(settings.copy(triggers = Seq(trigger))).play(script)
        val results = alone.flatMap(_.panes).map(_.copy(trigger = i, index = 0))
        assert(together.filter(_.trigger == i).map(_.copy(index = 0)) == results)
      }
    }
  }

  test("by any trigger but a condition, the results of a window end with all of its rows") {
    forAll(settings.map(_.copy(timeout = None)), scripts, Gen.oneOf(unconditional)) {
      (settings, script, trigger) =>
        def lasts(triggers: Seq[Trigger]) =
          new Engine(settings.copy(triggers = triggers)).play(script).flatMap(_.panes)
        val all = lasts(Seq(Trigger.AtEnd)).map(pane => (pane.key, pane.end) -> pane.rows)
        val mine = lasts(Seq(trigger)).map(pane => (pane.key, pane.end) -> pane.rows).toMap
        assert(all.forall { case (window, rows) => mine.get(window).contains(rows) })
    }
  }

  test("results of a window are counted from 0, whoever gives them") {
    forAll(settings, scripts, Gen.atLeastOne(triggers)) { (settings, script, some) =>
      val panes = new Engine(settings.copy(triggers = some.toSeq)).play(script).flatMap(_.panes)
      panes.groupBy(pane => (pane.key, pane.end)).values.foreach { results =>
        assert(results.map(_.index) == results.indices)
      }
    }
  }

  test("what is open is shown once, whatever the triggers") {
    forAll(settings, scripts, Gen.atLeastOne(triggers)) { (settings, script, some) =>
      val alone = new Engine(settings.copy(triggers = Seq(Trigger.AtEnd))).left(script)
      assert(new Engine(settings.copy(triggers = some.toSeq)).left(script) == alone)
    }
  }

  test("the order of a batch's rows, and the keys beside them, do not matter to a key") {
    val any = for {
      of <- settings
      gap <- Gen.option(Gen.choose(1L, 10L))
      varies <- Gen.oneOf(true, false)
    } yield of.copy(gap = gap, gapVaries = varies)
    forAll(any.map(_.copy(inEventTime = false)), scripts, Gen.long) { (settings, script, seed) =>
      val random = new scala.util.Random(seed)
      val numbered = numbers(script)
      val shuffled = numbered.map { case (now, rows) => now -> random.shuffle(rows) }
      val alone = numbered.map { case (now, rows) => now -> rows.filter(_._1.key == 0) }
      val answers = new Engine(settings).playNumbered(numbered)
      assert(new Engine(settings).playNumbered(shuffled).map(_.sorted) == answers.map(_.sorted))
      assert(
        new Engine(settings).playNumbered(alone).map(_.panes) ==
          answers.map(_.panes.filter(_.key == 0))
      )
    }
  }

  test("row by row, it does not matter where batches are cut") {
    forAll(settings.map(_.copy(timeout = None)), scripts) { (settings, script) =>
      val cut = script.flatMap { case Batch(now, rows) =>
        if (rows.isEmpty) Seq(Batch(now, rows)) else rows.map(row => Batch(now, Seq(row)))
      }
      def answered(script: Seq[Batch], maxRowsPerStep: Int) = {
        val answers = new Engine(settings.copy(maxRowsPerStep = maxRowsPerStep)).play(script)
        val panes = answers.flatMap(_.panes).sortBy(pane => (pane.key, pane.end, pane.index))
        (panes, answers.flatMap(_.late).sorted, answers.last.watermarks)
      }
      assert(answered(script, 1) == answered(cut, Int.MaxValue))
    }
  }

  test("rows of a frame that are together count as they do one by one, if none of them is late") {
    forAll(settings, scripts, Gen.option(Gen.atLeastOne(triggers)), Gen.oneOf(groups)) {
      (settings, script, some, group) =>
        val chosen = settings.copy(triggers = some.fold(settings.triggers)(_.toSeq), group = group)
        val answers = new Engine(chosen.copy(isTogether = true)).play(script)
        assert(answers.map(_.sorted) == new Engine(chosen).play(script).map(_.sorted))
    }
  }

  test("a key that is a group of its own has its own time") {
    forAll(settings.map(_.copy(inEventTime = false)), scripts) { (settings, script) =>
      val alone = new Engine(settings.copy(group = Some(key => key))).play(script)
      assert(alone.map(_.sorted) == new Engine(settings).play(script).map(_.sorted))
    }
  }

  test("a group has the watermark of all its rows, and none of another's") {
    forAll(settings.map(_.copy(inEventTime = false)), scripts) { (settings, script) =>
      val pairs = Some((key: Int) => key / 2) // 0 with 1, and 2
      val answers = new Engine(settings.copy(group = pairs)).play(script)
      def only(has: Int => Boolean) = {
        val mine = numbers(script).map { case (now, rows) =>
          now -> rows.filter(row => has(row._1.key))
        }
        new Engine(settings.copy(group = KeyRules.Together)).playNumbered(mine)
      }
      Seq[Int => Boolean](_ < 2, _ == 2).foreach { has =>
        val expected = only(has).map(_.sorted)
        assert(answers.map(_.sorted.panes.filter(pane => has(pane.key))) == expected.map(_.panes))
        assert(answers.map(_.watermarks.filter(of => has(of._1))) == expected.map(_.watermarks))
      }
    }
  }
}

object InMemoryBatchesLawsSuite {
  final case class Row(key: Int, ts: Long)
  final case class Batch(now: Long, rows: Seq[Row])
  type Numbered = Seq[(Long, Seq[(Row, Int)])]

  final case class Result(
      key: Int,
      start: Long,
      end: Long,
      timing: PaneTiming,
      trigger: Int,
      index: Int,
      rows: Seq[Int]
  )

  final case class Answer(panes: Seq[Result], late: Seq[Int], watermarks: Map[Int, Long]) {
    def sorted: Answer = copy(panes.sortBy(pane => (pane.key, pane.end, pane.index)), late.sorted)
  }

  final case class Settings(
      size: Long,
      windows: Int,
      delay: Long,
      lateRule: LateRule,
      highest: Boolean,
      timeout: Option[Long],
      inEventTime: Boolean,
      triggers: Seq[Trigger] = Seq(Trigger.AtEnd),
      group: Option[Int => Any] = None,
      maxRowsPerStep: Int = Int.MaxValue,
      gap: Option[Long] = None, // of sessions, in place of windows
      gapVaries: Boolean = false, // from row to row
      isTogether: Boolean = false // rows that cannot be late are put together before they are added
  ) {
    val profile: Profile =
      Profile.voltsp.copy(lateRule = lateRule, session = SessionRules(lateRule = lateRule))
    val spec: WindowSpec = WindowSpec(Frame(size, 0), Sliding(windows), profile, delay)
    def rules: KeyRules[Int] = KeyRules(
      if (highest) MaxEventTime() else MinEventTime(),
      group,
      KeyIdleness(timeout, ttl = Long.MaxValue, inEventTime),
      triggers,
      maxRowsPerStep
    )
  }

  val settings: Gen[Settings] = for {
    size <- Gen.choose(1L, 10L)
    windows <- Gen.oneOf(1, 1, 2, 3)
    delay <- Gen.oneOf(0L, 0L, 3L)
    rule <- Gen.oneOf(LateRule.all)
    highest <- Gen.oneOf(true, false)
    timeout <- Gen.option(Gen.choose(1L, 15L))
    inEventTime <- Gen.oneOf(true, false)
  } yield Settings(size, windows, delay, rule, highest, timeout, inEventTime)

  val unconditional: Seq[Trigger] = Seq(
    Trigger(onUpdate = true),
    Trigger(every = Some(3)),
    Trigger(rows = Some(2)),
    Trigger(every = Some(5), rows = Some(4))
  )

  val triggers: Seq[Trigger] = Trigger.AtEnd +: Trigger(onCondition = true) +: unconditional

  val groups: Seq[Option[Int => Any]] = Seq(None, Some(key => key / 2), KeyRules.Together)

  private val anyRow: Gen[Row] =
    for (key <- Gen.choose(0, 2); ts <- Gen.choose(-10L, 60L)) yield Row(key, ts)

  val scripts: Gen[Seq[Batch]] =
    Gen
      .listOf(for (passed <- Gen.choose(0L, 8L); rows <- Gen.listOf(anyRow)) yield passed -> rows)
      .map {
        _.scanLeft(Batch(0, Nil)) { case (before, (passed, rows)) =>
          Batch(before.now + passed, rows.take(6))
        }
      }

  def numbers(script: Seq[Batch]): Numbered = {
    val firsts = script.scanLeft(0)(_ + _.rows.length)
    script.zip(firsts).map { case (batch, first) =>
      batch.now -> batch.rows.zipWithIndex.map { case (row, i) => row -> (first + i) }
    }
  }

  final class Engine(settings: Settings) {
    private val buffers = new ObjectBufferPool
    private def windows(): WindowSet = settings.gap match {
      case Some(gap) =>
        val all = Option.when(!settings.gapVaries)(gap)
        new Sessions(SessionSpec(all, None, settings.profile, settings.delay), buffers)
      case None => new FrameWindows(settings.spec, buffers, state _)
    }
    private def state() = FrameWindowState(
      settings.spec.shape,
      buffers,
      FrameCombining.Merge,
      BlockStore.None,
      Int.MaxValue
    )
    private val engine =
      new InMemoryBatches[Int](settings.rules, windows(), buffers(_).length >= 2)

    def play(script: Seq[Batch]): Seq[Answer] = playNumbered(numbers(script))

    def playNumbered(script: Numbered): Seq[Answer] = script.map { case (now, rows) =>
      val (sure, others) = rows.partition { case (row, _) => settings.isTogether && isSure(row) }
      val made = others.map { case (row, number) =>
        settings.gap.filter(_ => settings.gapVaries) match {
          case Some(gap) =>
            val own = gap * (1 + number % 3)
            InMemoryBatches.Row.withGap(row.key, row.ts, own, buffers.of(number))
          case None => InMemoryBatches.Row(row.key, row.ts, buffers.of(number))
        }
      }
      val panes = Seq.newBuilder[Result]
      val late = engine.batch(now, made ++ together(sure))(panes += shown(_))
      val lateRows = late.map(row => others(made.indexOf(row))._2)
      Answer(panes.result(), lateRows, watermarks)
    }

    private def isSure(row: Row): Boolean =
      engine.watermark(row.key).forall(row.ts >= settings.spec.lateBelow(_))

    private def together(rows: Seq[(Row, Int)]): Seq[InMemoryBatches.Row[Int]] =
      rows.groupBy { case (row, _) => (row.key, settings.spec.frames.index(row.ts)) }.toSeq.map {
        case ((key, _), mine) =>
          val times = mine.map(_._1.ts)
          val buffer = buffers.of(mine.map(_._2): _*)
          InMemoryBatches.Row(key, times.min, times.max, mine.length.toLong, buffer)
      }

    private def shown(pane: InMemoryBatches.Pane[Int]): Result = {
      import pane._
      Result(key, start, end, timing, trigger, index, buffers(buffer).sorted)
    }

    private def watermarks: Map[Int, Long] =
      engine.keys.flatMap(key => engine.watermark(key).map(key -> _)).toMap

    /** The rows that are in a window still, after all batches. */
    def left(script: Seq[Batch]): Seq[Int] = {
      play(script :+ Batch(Long.MaxValue / 2, Nil)): Unit
      val rows = Seq.newBuilder[Int]
      engine.open(pane => rows ++= buffers(pane.buffer))
      rows.result()
    }
  }

  /** Keeps each window with its rows. */
  final class EveryWindow(settings: Settings) {
    private final class Key {
      var watermark = Option.empty[Long]
      var lastSign = Long.MinValue
      val open = collection.mutable.SortedMap.empty[Long, Seq[Int]] // by its end
      val before = collection.mutable.Map.empty[Long, Int] // idle results, by the end
    }
    private val keys = collection.mutable.Map.empty[Int, Key]
    private var overall = Option.empty[Long]
    private val length = settings.size * settings.windows

    def play(script: Seq[Batch]): Seq[Answer] = numbers(script).map { case (now, rows) =>
      val judged = rows.map { case (row, number) =>
        val key = keys.getOrElseUpdate(row.key, new Key)
        key.lastSign = math.max(key.lastSign, if (settings.inEventTime) row.ts else now)
        (row, number, isOnTime(key, row.ts))
      }
      val accepted = judged.collect { case (row, number, true) => row -> number }
      accepted.foreach { case (row, number) => put(keys(row.key), row.ts, number) }
      overall = moved(overall, accepted.map(_._1.ts))
      val touched = rows.map(_._1.key).distinct
      val panes = touched.flatMap { key =>
        val mine = accepted.collect { case (row, _) if row.key == key => row.ts }
        keys(key).watermark = moved(keys(key).watermark, mine)
        closed(key) ++ silent(key, if (settings.inEventTime) overall else Some(now))
      }
      val others = keys.keys.toSeq.sorted.filterNot(touched.contains).flatMap { key =>
        silent(key, if (settings.inEventTime) overall else Some(now))
      }
      Answer(
        panes ++ others,
        judged.collect { case (_, number, false) => number },
        keys.toSeq.flatMap { case (name, key) => key.watermark.map(name -> _) }.toMap
      )
    }

    private def moved(watermark: Option[Long], times: Seq[Long]): Option[Long] =
      if (times.isEmpty) watermark
      else (watermark ++ Some(if (settings.highest) times.max else times.min)).maxOption

    private def endsOf(ts: Long): Seq[Long] = {
      val first = Math.floorDiv(ts, settings.size) * settings.size + settings.size
      (0 until settings.windows).map(i => first + i * settings.size)
    }

    private def isClosed(key: Key, end: Long): Boolean =
      key.watermark.exists(_ - settings.delay >= end)

    private def isOnTime(key: Key, ts: Long): Boolean =
      settings.lateRule match {
        case LateRule.BehindWatermark => !key.watermark.exists(ts < _ - settings.delay)
        case LateRule.FrameClosed => !isClosed(key, endsOf(ts).head)
        case LateRule.WindowClosed => endsOf(ts).exists(!isClosed(key, _))
      }

    private def put(key: Key, ts: Long, number: Int): Unit =
      endsOf(ts).filterNot(isClosed(key, _)).foreach { end =>
        key.open(end) = key.open.getOrElse(end, Nil) :+ number
      }

    private def closed(name: Int): Seq[Result] = {
      val key = keys(name)
      val ends = key.open.keys.toSeq.filter(isClosed(key, _))
      ends.map(end => result(name, end, PaneTiming.OnTime))
    }

    private def silent(name: Int, clock: Option[Long]): Seq[Result] = {
      val key = keys(name)
      if (!settings.timeout.exists(timeout => clock.exists(_ >= key.lastSign + timeout))) Nil
      else key.open.keys.toSeq.map(end => result(name, end, PaneTiming.Idle))
    }

    private def result(name: Int, end: Long, timing: PaneTiming): Result = {
      val key = keys(name)
      val index = key.before.getOrElse(end, 0)
      if (timing == PaneTiming.Idle) key.before(end) = index + 1
      Result(name, end - length, end, timing, 0, index, key.open.remove(end).get.sorted)
    }
  }
}
