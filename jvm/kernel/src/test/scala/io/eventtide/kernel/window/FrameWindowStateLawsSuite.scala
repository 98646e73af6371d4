package io.eventtide.kernel.window

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** A state against the plainest thing that is right: all rows kept, every window looked at. */
final class FrameWindowStateLawsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import FrameWindowStateLawsSuite._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  for (saves <- Seq(Never, Always, WithRows))
    test(s"a state gives what looking at all rows gives, saved $saves") {
      forAll(cases) { one =>
        val expected = new AllRows(one.shape).play(one.steps)
        assert(play(one, deducts = false, saves) == expected)
        assert(play(one, deducts = true, saves) == expected)
      }
    }

  test("blocks may have another size whenever a state is read") {
    forAll(cases, Gen.nonEmptyListOf(Gen.oneOf(1, 3, 8, 50, Int.MaxValue))) { (one, sizes) =>
      val expected = new AllRows(one.shape).play(one.steps)
      for (deducts <- Seq(false, true)) {
        val player = new RingPlayer(one, deducts, Always, sizes)
        assert(player.play(one.steps) == expected)
        player.play(Seq(Close(Far)))
        assert(player.isEmpty)
      }
    }
  }

  test("frames that were deducted go on in two stacks, from any step on") {
    forAll(cases, Gen.choose(0, 120)) { (one, changed) =>
      val (before, after) = one.steps.splitAt(changed)
      val player = new RingPlayer(one, deducts = true, Always)
      val outcomes = player.play(before)
      player.mergeFromNowOn()
      assert(outcomes ++ player.play(after) == new AllRows(one.shape).play(one.steps))
      player.play(Seq(Close(Far)))
      assert(player.isEmpty)
    }
  }

  test("windows may have another size from any step on, and begin with the frames that are held") {
    forAll(cases, WindowGenerators.spacedShapes, Gen.choose(0, 120)) { (one, next, changed) =>
      whenever(one.shape.isInstanceOf[Sliding]) {
        for (deducts <- Seq(false, true); saves <- Seq(Never, Always, WithRows)) {
          val (before, after) = one.steps.splitAt(changed)
          val player = new RingPlayer(one, deducts, saves)
          val all = new AllRows(one.shape)
          assert(player.play(before) == all.play(before))
          val shape = next.copy(from = one.shape.startAfter(player.closedAt))
          player.reshape(shape)
          all.reshape(shape)
          val held = after.filter { case Row(frame) => frame >= shape.from; case _ => true }
          assert(player.play(held) == all.play(held))
          player.play(Seq(Close(Far)))
          assert(player.isEmpty)
        }
      }
    }
  }

  for (deducts <- Seq(false, true)) {
    test(s"when all has closed, nothing is left anywhere, deducting: $deducts") {
      forAll(cases) { one =>
        val player = new RingPlayer(one, deducts, Never)
        player.play(one.steps :+ Close(Far))
        assert(player.isEmpty)
      }
    }

    test(
      s"after every step a buffer is held for each open frame and a few more, deducting: $deducts"
    ) {
      forAll(cases) { one =>
        val player = new RingPlayer(one, deducts, Never)
        one.steps.foreach { step =>
          player.play(Seq(step))
          assert(player.buffersOverFrames <= 4)
        }
      }
    }
  }

  test("a row reads a block at most, and writes two") {
    forAll(cases) { one =>
      val player = new RingPlayer(one, deducts = false, Always)
      one.steps.foreach { step =>
        player.play(Seq(step))
        val (reads, writes) = player.newReadsAndWrites()
        if (step.isInstanceOf[Row]) assert(reads <= 1 && writes <= 2)
      }
    }
  }

  private def play(one: Case, deducts: Boolean, saves: Saves): Seq[Outcome] =
    new RingPlayer(one, deducts, saves).play(one.steps)
}

object FrameWindowStateLawsSuite {
  private val Far = 1000000L

  /** After which steps a state is saved. */
  sealed trait Saves
  case object Never extends Saves
  case object Always extends Saves

  /** Not after windows have closed, unless a block was written or removed then. */
  case object WithRows extends Saves

  sealed trait Step
  final case class Row(frame: Long) extends Step
  final case class Close(boundary: Long) extends Step

  /** A row taken or late, or the results of closing: their ends, and which rows are in them. */
  sealed trait Outcome
  final case class Taken(taken: Boolean) extends Outcome
  final case class Results(windows: Seq[(Long, Seq[Int])]) extends Outcome

  final case class Case(shape: WindowShape, blockSize: Int, steps: Seq[Step])

  // Time moves on by fits and starts, rows are about it or up to `lead` before it is their turn, and
  // a few are nowhere near.
  private def steps(at: Long, lead: Long, left: Int): Gen[List[Step]] =
    if (left == 0) Gen.const(Nil)
    else
      Gen
        .frequency(
          4 -> Gen.choose(-15L, 6L).map(by => at -> Row(at + by)),
          4 -> Gen.choose(-9L, 6L).map(by => at -> Row(at + lead + by)),
          2 -> Gen.choose(0L, lead).map(by => at -> Row(at + by)),
          1 -> Gen.oneOf(-2000L, -100L, 60L, 3000L).map(by => at -> Row(at + by)),
          3 -> Gen.oneOf(0L, 1L, 1L, 2L, 5L, 50L).map(by => (at + by) -> Close(at + by))
        )
        .flatMap { case (now, step) => steps(now, lead, left - 1).map(step :: _) }

  val cases: Gen[Case] = for {
    shape <- WindowGenerators.shapes
    blockSize <- Gen.choose(1, 8)
    lead <- Gen.oneOf(0L, 0L, 30L, 200L)
    start <- Gen.choose(-30L, 30L)
    count <- Gen.choose(0, 120)
    steps <- steps(start, lead, count)
  } yield Case(shape, blockSize, steps)

  /** Keeps every row, and looks at every window at every step. */
  final class AllRows(first: WindowShape) {
    private var shape = first
    private var rows = Vector.empty[(Long, Int)]
    private var closed = Long.MinValue / 2
    private var count = 0

    def play(steps: Seq[Step]): Seq[Outcome] = steps.map {
      case Row(frame) =>
        count += 1
        val open = ends(frame).exists(_ > closed)
        if (open) rows :+= frame -> count
        Taken(open)
      case Close(boundary) =>
        val due = rows.flatMap(row => ends(row._1)).distinct.sorted
        val results = due.filter(end => end > closed && end <= boundary).map { end =>
          end -> rows.collect { case (f, row) if f >= shape.start(end) && f < end => row }
        }
        closed = math.max(closed, boundary)
        Results(results)
    }

    def reshape(next: WindowShape): Unit = shape = next

    private def ends(frame: Long): Seq[Long] = (frame + 1 to shape.lastEnd(frame)).filter { end =>
      shape match {
        case Sliding(_, every, phase, from) => frame >= from && Math.floorMod(end, every) == phase
        case _ => true
      }
    }
  }

  /** Plays the same on a state, which is written and read into another one after a step.
    *
    * @param blockSizes
    *   those of the rings, before that of the case, and again
    */
  final class RingPlayer(
      one: Case,
      deducts: Boolean,
      saves: Saves,
      blockSizes: Seq[Int] = Nil
  ) {
    private val buffers = new ObjectBufferPool
    private val archive = new MemoryArchive
    private val sizes = Iterator.continually(blockSizes :+ one.blockSize).flatten
    private var combining = FrameCombining(deducts)
    private var shape = one.shape
    private var state = make()
    private var frames = Set.empty[Long]
    private var count = 0
    private var closed = Long.MinValue / 2
    state.begin(closed)
    private var saved = Records.bytes(state.write)

    def isEmpty: Boolean = state.isEmpty && archive.size == 0 && buffers.live == 0

    /** How many buffers are held, over one for each frame that a window can still need. */
    def buffersOverFrames: Int =
      buffers.live - frames.count(frame => one.shape.lastEnd(frame) > state.closed)

    def newReadsAndWrites(): (Int, Int) = {
      val both = (archive.reads, archive.writes)
      archive.reads = 0
      archive.writes = 0
      both
    }

    def play(steps: Seq[Step]): Seq[Outcome] = steps.map { step =>
      val before = archive.changes
      val outcome = take(step)
      if (saves != Never) {
        val mayWait = saves == WithRows && step.isInstanceOf[Close] && archive.changes == before
        if (!mayWait) saved = Records.bytes(state.write)
        read()
      }
      outcome
    }

    private def make() = FrameWindowState(shape, buffers, combining, archive, sizes.next())

    def closedAt: Long = closed

    /** Goes on with other windows over the frames of this state. */
    def reshape(next: Sliding): Unit = {
      if (saves == Never) saved = Records.bytes(state.write)
      shape = next
      val before = archive.changes
      read()
      if (archive.changes != before) saved = Records.bytes(state.write)
    }

    def mergeFromNowOn(): Unit = {
      combining = FrameCombining.MergeDeducted
      read()
      saved = Records.bytes(state.write)
      combining = FrameCombining.Merge
      read()
    }

    private def take(step: Step): Outcome = step match {
      case Row(frame) =>
        count += 1
        frames += frame
        val row = buffers.of(count)
        val taken = state.add(frame, row)
        buffers.release(row)
        Taken(taken)
      case Close(boundary) =>
        closed = math.max(closed, boundary)
        val results = Iterator.continually(state.next(boundary)).takeWhile(identity)
        Results(results.map(_ => state.end -> buffers(state.result).sorted).toList)
    }

    private def read(): Unit = {
      buffers.reset()
      state = make()
      Records.readAll(saved)(state.read)
      if (saves == WithRows)
        state.discardClosedUpTo(closed) // otherwise the record says what was closed
    }
  }
}
