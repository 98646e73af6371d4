package io.eventtide.kernel.window

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Panes against the plainest thing that is right: all rows kept, every window looked at. */
final class PanedRingLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import PanedRingLawsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  for (discards <- Seq(false, true))
    test(s"panes are those that looking at all rows gives, discarding: $discards") {
      forAll(cases) { one =>
        val expected = new AllRows(one, discards).play()
        assert(new Player(one, discards, deducts = false).play() == expected)
        assert(new Player(one, discards, deducts = true).play() == expected)
      }
    }

  test("what is saved shows each window that can change with all its rows") {
    forAll(cases) { one =>
      val rows = new AllRows(one, discards = false)
      val player = new Player(one, discards = false, deducts = false)
      rows.play()
      player.play()
      assert(player.shown() == rows.open)
      assert(player.isEmpty)
    }
  }

  test("when all can change no more, nothing is left") {
    forAll(cases) { one =>
      val end = Batch(Nil, Far, Far, early = false)
      val player =
        new Player(one.copy(batches = one.batches :+ end), discards = false, deducts = false)
      player.play()
      assert(player.isEmpty)
    }
  }
}

object PanedRingLawsSuite {
  private val Far = 1000000L

  /** Rows by frame, and what is reached after them. */
  final case class Batch(rows: Seq[Long], closing: Long, last: Long, early: Boolean)

  final case class Case(shape: WindowShape, blockSize: Int, lateness: Long, batches: Seq[Batch])

  final case class Given(
      end: Long,
      index: Int,
      timing: PaneTiming,
      isLast: Boolean,
      rows: Seq[Int]
  )

  private val shapes: Gen[WindowShape] = Gen.oneOf(
    Gen.oneOf(1, 2, 3, 12).map(Sliding(_)),
    Gen.oneOf(3, 7).map(Cumulative(_))
  )

  private def rowsAbout(at: Long): Gen[List[Long]] =
    Gen.listOf(Gen.oneOf(Gen.choose(-14L, 8L), Gen.choose(0L, 60L)).map(at + _))

  private def batches(at: Long, last: Long, lateness: Long, left: Int): Gen[List[Batch]] =
    if (left == 0) Gen.const(Nil)
    else
      for {
        rows <- Gen.frequency(2 -> rowsAbout(at), 1 -> Gen.const(Nil))
        by <- Gen.oneOf(0L, 1L, 2L, 6L, 30L)
        early <- Gen.oneOf(true, false, false)
        reached = at + by
        next = math.max(last, reached - lateness)
        rest <- batches(reached, next, lateness, left - 1)
      } yield Batch(rows, reached, next, early) :: rest

  val cases: Gen[Case] = for {
    shape <- shapes
    blockSize <- Gen.choose(1, 8)
    lateness <- Gen.oneOf(0L, 1L, 4L, 20L, 70L)
    count <- Gen.choose(0, 12)
    batches <- batches(0, -lateness, lateness, count)
  } yield Case(shape, blockSize, lateness, batches)

  /** Keeps every row, and what each window has shown of it. */
  final class AllRows(one: Case, discards: Boolean) {
    private var rows = Vector.empty[(Long, Int)]
    private var shown = Map.empty[Long, Set[Int]]
    private var panes = Map.empty[Long, Int]
    private var count = 0
    private var passed = Long.MinValue / 2
    private var last = Long.MinValue / 2

    def play(): Seq[Seq[Given]] = one.batches.map { batch =>
      batch.rows.foreach { frame =>
        count += 1
        if (one.shape.lastEnd(frame) > last) rows :+= frame -> count
      }
      val ends = rows.flatMap(row => row._1 + 1 to one.shape.lastEnd(row._1)).distinct.sorted
      val results = ends.filter(_ > last).flatMap(paneOf(_, batch))
      passed = math.max(passed, batch.closing)
      last = math.max(last, batch.last)
      results
    }

    def open: Seq[(Long, Seq[Int])] = {
      val ends = rows.flatMap(row => row._1 + 1 to one.shape.lastEnd(row._1)).distinct.sorted
      ends.filter(_ > last).map(end => end -> rowsOf(end))
    }

    private def rowsOf(end: Long): Vector[Int] =
      rows.collect { case (f, row) if f >= one.shape.start(end) && f < end => row }

    private def paneOf(end: Long, batch: Batch): Option[Given] = {
      val all = rowsOf(end)
      val fresh = all.filterNot(shown.getOrElse(end, Set.empty))
      val timing =
        if (end <= passed) PaneTiming.Late
        else if (end <= batch.closing) PaneTiming.OnTime
        else PaneTiming.Early
      val gives = timing match {
        case PaneTiming.OnTime => true
        case PaneTiming.Late => fresh.nonEmpty
        case PaneTiming.Early => fresh.nonEmpty && batch.early
      }
      Option.when(gives) {
        val index = panes.getOrElse(end, 0)
        panes += end -> (index + 1)
        shown += end -> all.toSet
        Given(end, index, timing, end <= batch.last, if (discards) fresh else all)
      }
    }
  }

  /** Plays the same on a ring that is written and read again after every batch. */
  final class Player(one: Case, discards: Boolean, deducts: Boolean) {
    private val buffers = new ObjectBufferPool
    private val archives = Seq(new MemoryArchive, new MemoryArchive)
    private var ring = make()
    private var count = 0
    private var passed = Long.MinValue / 2
    private var last = Long.MinValue / 2
    ring.begin(passed, last)

    def isEmpty: Boolean = ring.isEmpty && archives.forall(_.size == 0)

    private def make() = new PanedRing(
      one.shape,
      buffers,
      FrameWindowState(one.shape, buffers, deducts, _, one.blockSize),
      PaneArchives(archives(0), Option.when(one.lateness > 0)(archives(1))),
      givesEarly = true,
      discards
    )

    def play(): Seq[Seq[Given]] = one.batches.map { batch =>
      val panes = if (isTouched(batch)) take(batch) else Nil
      passed = math.max(passed, batch.closing)
      last = batch.last
      panes
    }

    // As in a query: a key without rows is left alone until it is due.
    private def isTouched(batch: Batch): Boolean =
      batch.rows.nonEmpty || batch.early || ring.due(one.lateness + 2) <= batch.closing

    private def take(batch: Batch): Seq[Given] = {
      ring.advanceTo(passed, last)
      batch.rows.foreach { frame =>
        count += 1
        val row = buffers.of(count)
        ring.add(frame, row)
        buffers.release(row)
      }
      val early = if (batch.early) EarlyPanes.Always else EarlyPanes.Never
      ring.give(PaneBoundaries(passed, batch.closing, batch.last), early)
      val panes = Iterator.continually(ring.next()).takeWhile(identity).map(_ => pane()).toList
      save()
      panes.sortBy(_.end)
    }

    /** What a reader of the state gives, to whom all windows close now. */
    def shown(): Seq[(Long, Seq[Int])] = {
      val all = PaneBoundaries(Long.MinValue, FrameWindowState.Never, FrameWindowState.Never)
      ring.give(all, EarlyPanes.Never)
      val panes = Iterator.continually(ring.next()).takeWhile(identity).map(_ => pane()).toList
      assert(panes.forall(pane => pane.timing == PaneTiming.OnTime && pane.isLast))
      // a key that was left alone may not have forgotten all that can change no more
      panes.map(pane => pane.end -> pane.rows).filter(_._1 > last)
    }

    private def pane() =
      Given(ring.end, ring.index, ring.timing, ring.isLast, buffers(ring.result).sorted)

    private def save(): Unit = {
      val saved = Records.bytes(ring.write)
      buffers.reset()
      ring = make()
      Records.readAll(saved)(ring.read)
    }
  }
}
