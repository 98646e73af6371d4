package io.eventtide.kernel.window

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.time.Frame

/** Panes of one key against the plainest model: all rows are kept, and every window is looked at. */
final class PanesLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import PanesLawsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  for ((name, kinds) <- Seq("frames" -> frames, "sessions" -> sessions, "counts" -> counted))
    test(s"panes over $name are those of the model") {
      forAll(cases(kinds)) { one =>
        val expected = new Model(one).play()
        assert(new Player(one, deducts = false).play() == expected)
        assert(new Player(one, deducts = true).play() == expected)
      }
    }

  test("in a discarding window each row is in one pane of a trigger, or late") {
    forAll(cases(Gen.oneOf(tumbling, sessions))) { one =>
      val triggers = one.triggers.map(_.copy(onCondition = false))
      val discarding = one.copy(discards = true, triggers = triggers)
      val end = Batch(Nil, Far, Far)
      val answers = new Player(discarding.ended(end), deducts = false).play()
      for (trigger <- discarding.triggers.indices) {
        val shown = answers.flatMap(_.panes).filter(_.trigger == trigger).flatMap(_.rows)
        val all = discarding.batches.map(_.rows.length).sum
        assert((shown ++ answers.flatMap(_.late)).sorted == (1 to all))
      }
    }
  }

  test("what is saved shows each window that can change with all its rows") {
    forAll(cases(Gen.oneOf(frames, sessions, counted))) { one =>
      val (model, player) = (new Model(one), new Player(one, deducts = false))
      model.play(): Unit
      player.play(): Unit
      assert(player.shown() == model.shown)
    }
  }

  test("when nothing can change any more, nothing is left") {
    forAll(cases(Gen.oneOf(frames, sessions))) { one =>
      val player = new Player(one.ended(Batch(Nil, Far, Far)), deducts = false)
      player.play(): Unit
      assert(player.isEmpty)
    }
  }
}

object PanesLawsSuite {
  private val Far = 1000000L

  final case class Batch(rows: Seq[Long], watermark: Long, now: Long)

  sealed trait Kind
  final case class Frames(shape: WindowShape, blockSize: Int) extends Kind
  final case class Gaps(gap: Long) extends Kind
  final case class Counts(size: Int, slide: Int) extends Kind

  final case class Case(
      kind: Kind,
      lateness: Long,
      delay: Long,
      triggers: Seq[Trigger],
      discards: Boolean,
      batches: Seq[Batch]
  ) {
    def ended(by: Batch): Case = copy(batches = batches :+ by)
  }

  final case class Given(
      start: Long,
      end: Long,
      trigger: Int,
      index: Int,
      timing: PaneTiming,
      isLast: Boolean,
      rows: Seq[Int]
  )

  final case class Answer(panes: Seq[Given], late: Seq[Int])

  val tumbling: Gen[Kind] = Gen.choose(1, 8).map(Frames(Sliding(1), _))

  val frames: Gen[Kind] = for {
    shape <- Gen.oneOf(Gen.oneOf(1, 2, 3, 12).map(Sliding(_)), Gen.oneOf(3, 7).map(Cumulative(_)))
    blockSize <- Gen.choose(1, 8)
  } yield Frames(shape, blockSize)

  val sessions: Gen[Kind] = Gen.oneOf(1L, 2L, 5L, 12L).map(Gaps)

  val counted: Gen[Kind] = for {
    slide <- Gen.choose(1, 6)
    more <- Gen.oneOf(0, 1, 3, 7)
  } yield Counts(slide + more, slide)

  private val someTriggers: Gen[Seq[Trigger]] = Gen.oneOf(
    Gen.const(Seq(Trigger.AtEnd)),
    Gen.oneOf(early.map(_.copy(atEnd = true))).map(Seq(_)),
    Gen.atLeastOne(Trigger.AtEnd +: early).map(_.toSeq)
  )

  private def early = Seq(
    Trigger(onUpdate = true),
    Trigger(onCondition = true),
    Trigger(every = Some(3)),
    Trigger(rows = Some(2)),
    Trigger(rows = Some(4))
  )

  private def rowsAbout(at: Long): Gen[List[Long]] =
    Gen.listOf(Gen.oneOf(Gen.choose(-14L, 8L), Gen.choose(0L, 60L)).map(at + _))

  private def scripts(at: Long, now: Long, left: Int): Gen[List[Batch]] =
    if (left == 0) Gen.const(Nil)
    else
      for {
        rows <- Gen.frequency(2 -> rowsAbout(at), 1 -> Gen.const(Nil))
        by <- Gen.oneOf(0L, 1L, 2L, 6L, 30L)
        passed <- Gen.choose(0L, 3L)
        rest <- scripts(at + by, now + passed, left - 1)
      } yield Batch(rows, at + by, now + passed) :: rest

  def cases(kinds: Gen[Kind]): Gen[Case] = for {
    kind <- kinds
    lateness <- Gen.oneOf(0L, 0L, 1L, 4L, 20L, 70L)
    delay <- Gen.oneOf(0L, 0L, 3L)
    triggers <- someTriggers
    discards <- Gen.oneOf(true, false)
    count <- Gen.choose(0, 12)
    batches <- scripts(0, 0, count)
  } yield {
    val all = if (discards) triggers.map(_.copy(onCondition = false)) else triggers
    Case(kind, lateness, delay, all, discards, batches)
  }

  private final case class Row(ts: Long, number: Int)
  private final case class Window(id: Long, start: Long, end: Long, rows: Seq[Row])

  /** The condition of a result. */
  private def holds(rows: Seq[Int]): Boolean = rows.length >= 3

  /** Keeps every row, and which rows each trigger has emitted in which window. */
  final class Model(one: Case) {
    import one._
    private var rows = Vector.empty[Row]
    private var count = 0
    private var before = Option.empty[Long]
    private var countBefore = 0
    private val states = triggers.map(new State(_))
    private var closed = Set.empty[(Long, Int)] // rows in a result of a closed window
    private val indexes = collection.mutable.Map.empty[Int, Map[Long, Int]]

    private final class State(val trigger: Trigger) {
      var seen = Set.empty[(Long, Int)]
      var dueAt = Option.empty[Long]

      def fresh(window: Window): Seq[Row] =
        window.rows.filterNot(row => seen(window.id -> row.number))

      def close(open: Seq[Window], now: Long): Set[Window] = {
        val changed = open.filter(fresh(_).nonEmpty)
        if (changed.isEmpty) dueAt = None
        else if (dueAt.isEmpty) dueAt = trigger.every.map(now + _)
        if (trigger.onUpdate || trigger.onCondition || dueAt.exists(_ <= now)) changed.toSet
        else trigger.rows.toSet.flatMap(full(changed, _: Int))
      }

      // Windows that share fresh rows, directly or by others, fire together.
      private def full(changed: Seq[Window], least: Int): Set[Window] = {
        def grown(group: Set[Window]): Set[Window] = {
          val rows = group.flatMap(fresh)
          val more = changed.filter(window => fresh(window).exists(rows)).toSet
          if (more == group) group else grown(more)
        }
        changed
          .filter(fresh(_).length >= least)
          .map(window => grown(Set(window)))
          .foldLeft(
            Set.empty[Window]
          )(_ ++ _)
      }

      def see(window: Window): Unit =
        seen ++= window.rows.map(row => window.id -> row.number)
    }

    private def windows: Seq[Window] = kind match {
      case Frames(shape, _) =>
        val ends = rows.flatMap(row => row.ts + 1 to shape.lastEnd(row.ts)).distinct.sorted
        ends.map { end =>
          val start = shape.start(end)
          Window(end, start, end, rows.filter(row => row.ts >= start && row.ts < end))
        }
      case Counts(size, slide) => counts(size, slide)
      case Gaps(gap) =>
        rows.sortBy(_.ts).foldLeft(Vector.empty[Window]) { (all, row) =>
          all.lastOption.filter(row.ts < _.end) match {
            case Some(last) => all.init :+ Window(0, last.start, row.ts + gap, last.rows :+ row)
            case None => all :+ Window(0, row.ts, row.ts + gap, Seq(row))
          }
        }
    }

    private def counts(size: Int, slide: Int): Seq[Window] =
      (slide to rows.length - 1 + size by slide)
        .map { end =>
          val start = math.max(0, end - size)
          Window(
            end.toLong,
            start.toLong,
            math.min(end, rows.length).toLong,
            rows.slice(start, end)
          )
        }
        .filter(_.rows.nonEmpty)

    private def canChange(window: Window, watermark: Option[Long]): Boolean = kind match {
      case _: Counts => window.id > (if (watermark == before) countBefore else rows.length)
      case _ => watermark.forall(window.end > _ - delay - lateness)
    }

    private def closes(window: Window, batch: Batch): Boolean = kind match {
      case _: Counts => window.id <= rows.length
      case _ => window.end <= batch.watermark - delay
    }

    private def take(row: Row): Boolean = {
      rows :+= row
      val taken = windows.filter(_.rows.contains(row)).exists(canChange(_, before))
      if (!taken) rows = rows.init
      taken
    }

    def play(): Seq[Answer] = batches.map { batch =>
      val arrived = batch.rows.map { ts => count += 1; Row(ts, count) }
      val first = arrived.filterNot(take)
      val late = kind match {
        case _: Frames | _: Counts => first
        case _: Gaps => first.sortBy(-_.ts).filterNot(take)
      }
      val panes = emit(batch)
      before = Some(batch.watermark)
      countBefore = rows.length
      kind match { // a row of a session goes with it
        case _: Frames | _: Counts => ()
        case _: Gaps => rows = windows.filter(canChange(_, before)).flatMap(_.rows).toVector
      }
      Answer(panes.sortBy(pane => (pane.end, pane.start, pane.trigger)), late.map(_.number).sorted)
    }

    private def emit(batch: Batch): Seq[Given] = {
      val all = windows.filter(canChange(_, before))
      val (closing, open) = all.partition(closes(_, batch))
      val changed = closing.filter(w => w.rows.exists(row => !closed(w.id -> row.number)))
      val firing = states.map(state => state.close(open, batch.now))
      val atClose = changed.flatMap(paneAtClose(_, batch))
      val early = open.flatMap { window =>
        panesOf(window, PaneTiming.Early, isLast = false) { state =>
          firing(states.indexOf(state))(window) &&
          (!state.trigger.onCondition || holds(window.rows.map(_.number)))
        }
      }
      states.zip(firing).foreach { case (state, windows) => windows.foreach(state.see) }
      states.zip(firing).foreach { case (state, fired) =>
        if (open.forall(state.fresh(_).isEmpty)) state.dueAt = None
      }
      atClose ++ early
    }

    private def isUpdate(window: Window): Boolean =
      !kind.isInstanceOf[Counts] && before.exists(window.end <= _ - delay)

    private def paneAtClose(window: Window, batch: Batch): Seq[Given] = {
      val timing =
        if (isUpdate(window)) PaneTiming.Late else PaneTiming.OnTime
      val isLast = kind.isInstanceOf[Counts] || !canChange(window, Some(batch.watermark))
      val panes = panesOf(window, timing, isLast) { state =>
        state.trigger.atEnd || state.fresh(window).nonEmpty &&
        (!state.trigger.onCondition || holds(window.rows.map(_.number)))
      }
      closed ++= window.rows.map(row => window.id -> row.number)
      states.foreach(_.see(window))
      panes
    }

    private def panesOf(window: Window, timing: PaneTiming, isLast: Boolean)(
        fires: State => Boolean
    ): Seq[Given] = {
      val index = window.rows
        .map(row =>
          indexes
            .getOrElse(row.number, Map.empty)
            .getOrElse(window.id, 0)
        )
        .max
      val panes = states.zipWithIndex.filter(one => fires(one._1)).zipWithIndex.map {
        case ((state, trigger), more) =>
          val rows = if (discards) state.fresh(window) else window.rows
          val numbers = rows.map(_.number).sorted
          Given(window.start, window.end, trigger, index + more, timing, isLast, numbers)
      }
      for (row <- window.rows; of = indexes.getOrElse(row.number, Map.empty))
        indexes(row.number) = of + (window.id -> (index + panes.length))
      panes
    }

    def shown: Seq[(Long, Seq[Int])] =
      windows.filter(canChange(_, before)).map(w => w.end -> w.rows.map(_.number).sorted)
  }

  /** Plays the same on windows that are written and read again after every batch. */
  final class Player(one: Case, deducts: Boolean) {
    import one._
    private val buffers = new ObjectBufferPool
    private val archives = Seq(new MemoryArchive, new MemoryArchive)
    private val time = new SharedWatermark
    private var key = made()
    private var isPresent = false
    private var count = 0
    private var before = Option.empty[Long]

    private def made() = new AggregatingWindows(
      kind match {
        case Frames(shape, blockSize) => framesOf(shape, blockSize)
        case Counts(size, slide) =>
          val spec = CountSpec(size, slide)
          new CountWindows(spec, FrameWindowState(spec.shape, buffers, deducts, _, Int.MaxValue))
        case Gaps(gap) =>
          val spec = SessionSpec(gap, None, Profile.eventtide, delay + lateness)
          new Sessions(spec, buffers, lateness)
      },
      time,
      KeyIdleness(None, ttl = if (kind.isInstanceOf[Counts]) Long.MaxValue else 0),
      triggers,
      Option.when(discards)(buffers),
      buffer => holds(buffers(buffer))
    )

    private def framesOf(shape: WindowShape, blockSize: Int) = new FrameWindows(
      WindowSpec(Frame(1, 0), shape, Profile.eventtide, delay + lateness),
      buffers,
      FrameWindowState(shape, buffers, deducts, _, blockSize),
      FrameArchives(archives(0), archives(1), blockSize, blockSize),
      lateness
    )

    def isEmpty: Boolean = !isPresent && archives.forall(_.size == 0)

    def play(): Seq[Answer] = batches.map { batch =>
      time.set(before, Some(batch.watermark))
      val answer = if (isTouched(batch)) take(batch) else Answer(Nil, Nil)
      before = Some(batch.watermark)
      answer
    }

    // As in a query: a key without rows is left alone until it is due.
    private def isTouched(batch: Batch): Boolean = batch.rows.nonEmpty ||
      isPresent && (key.due <= batch.watermark || key.deadline <= batch.now)

    private def take(batch: Batch): Answer = {
      if (isPresent) reopen() else key.begin()
      val rows = batch.rows.map { ts => count += 1; ts -> count }
      val first = rows.filterNot { case (ts, row) => add(ts, row, batch.now) }
      val late =
        if (key.judgesTogether) first.sortBy(-_._1).filterNot { case (ts, row) =>
          add(ts, row, batch.now)
        }
        else first
      key.close(batch.now, None)
      val panes = Iterator.continually(key.next()).takeWhile(identity).map(_ => pane()).toList
      save()
      Answer(panes.sortBy(pane => (pane.end, pane.start, pane.trigger)), late.map(_._2).sorted)
    }

    private def add(ts: Long, number: Int, now: Long): Boolean = {
      val row = buffers.of(number)
      val onTime = key.add(ts, now, row)
      buffers.release(row)
      onTime
    }

    private def pane(): Given = {
      val rows = buffers(key.result).sorted
      Given(key.start, key.end, key.trigger, key.index, key.timing, key.isLast, rows)
    }

    /** What a reader of the state gives. */
    def shown(): Seq[(Long, Seq[Int])] =
      if (!isPresent) Nil
      else {
        time.set(before, before)
        reopen()
        key.close(now = 0, None)
        key.showAll()
        Iterator
          .continually(key.next())
          .takeWhile(identity)
          .map(_ => key.end -> buffers(key.result).sorted)
          .toList
      }

    private var saved = Array.empty[Byte]

    private def save(): Unit = {
      isPresent = !key.isDone
      saved = Records.bytes(key.write)
    }

    private def reopen(): Unit = {
      buffers.reset()
      val (due, deadline) = (key.due, key.deadline)
      key = made()
      Records.readAll(saved)(key.read)
      assert(key.due == due && key.deadline == deadline)
    }
  }
}
