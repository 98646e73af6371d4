package io.eventtide.kernel.window

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.time.Frame

/** Panes of one key against the plainest model: all rows are kept, and every window is looked at. */
final class PanesLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import PanesLawsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500, sizeRange = 30)

  for ((name, kinds) <- Seq("frames" -> frames, "sessions" -> sessions, "counts" -> counted))
    test(s"panes over $name are those of the model") {
      forAll(cases(kinds)) { one =>
        val expected = new PanesModel(one).play()
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
      val (model, player) = (new PanesModel(one), new Player(one, deducts = false))
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

  /** Sessions by one gap, or by gaps of which each row has one. */
  final case class Gaps(gaps: Seq[Long]) extends Kind {
    def of(row: Int): Long = gaps(row % gaps.length)
    def all: Option[Long] = Option.when(gaps.length == 1)(gaps.head)
  }
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

  val sessions: Gen[Kind] = for {
    count <- Gen.oneOf(1, 1, 2, 5)
    gaps <- Gen.listOfN(count, Gen.oneOf(1L, 2L, 5L, 12L, 40L))
  } yield Gaps(gaps)

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

  /** The condition of a result. */
  private[window] def holds(rows: Seq[Int]): Boolean = rows.length >= 3

  /** Plays the same on windows that are written and read again after every batch. */
  final class Player(one: Case, deducts: Boolean) {
    import one._
    private val buffers = new ObjectBufferPool
    private val archive = new MemoryArchive
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
          new CountWindows(spec, newState(spec.shape))
        case gaps: Gaps =>
          val spec = SessionSpec(gaps.all, None, Profile.eventtide, delay + lateness)
          new Sessions(spec, buffers, lateness)
      },
      time,
      KeyIdleness(None, ttl = if (kind.isInstanceOf[Counts]) Long.MaxValue else 0),
      triggers,
      Option.when(discards)(buffers),
      buffer => holds(buffers(buffer))
    )

    private def newState(shape: WindowShape) = () =>
      FrameWindowState(shape, buffers, FrameCombining(deducts), BlockStore.None, Int.MaxValue)

    private def framesOf(shape: WindowShape, blockSize: Int) = new FrameWindows(
      WindowSpec(Frame(1, 0), shape, Profile.eventtide, delay + lateness),
      buffers,
      newState(shape),
      FrameArchive(archive, blockSize),
      lateness
    )

    def isEmpty: Boolean = !isPresent && archive.size == 0

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
        if (key.judgesTogether) first.sortBy(-endOf(_)).filterNot { case (ts, row) =>
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
      val onTime = kind match {
        case gaps: Gaps if gaps.all.isEmpty => key.add(ts, gaps.of(number), now, row)
        case _ => key.add(ts, now, row)
      }
      buffers.release(row)
      onTime
    }

    private def endOf(row: (Long, Int)): Long = kind match {
      case gaps: Gaps => row._1 + gaps.of(row._2)
      case _ => row._1
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
      checkCopy()
      buffers.reset()
      val (due, deadline) = (key.due, key.deadline)
      key = made()
      Records.readAll(saved)(key.read)
      assert(key.due == due && key.deadline == deadline)
    }

    private def checkCopy(): Unit = {
      buffers.reset()
      val copy = Records.bytes(out => Records.readAll(saved)(made().copyRecord(_, out)))
      assert(copy.sameElements(saved), "the copy of a record differs")
    }
  }
}
