package io.eventtide.kernel.disorder

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.eventtide.kernel.Saved

final class LateTargetSuite extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val Tenth = LateTargetSpec(100000, maxLag = 200, start = 5, memory = 60, forgives = true)

  private def repeated(rows: Int, time: Long): Seq[Long] = Seq.fill(rows)(time)

  test("a script of eleven batches, at one row in ten") {
    // Rows of the batch, its late rows, the lag after it, the watermark after it.
    val script = Seq(
      (Seq(10L, 12L, 20L), 0, 5, 15),
      (Seq(18L, 30L, 25L, 22L), 0, 5, 25),
      (Seq(5L, 40L, 35L), 1, 25, 25), // few rows: the lag is the highest disorder, 30 - 5
      (50L +: (41L to 49L), 0, 25, 25),
      (repeated(20, 60) ++ repeated(2, 20), 2, 30, 30),
      (repeated(18, 70) ++ Seq(55L, 40L, 65L), 0, 30, 40),
      (repeated(10, 80) ++ repeated(10, 79) :+ 30L, 1, 40, 40),
      (repeated(30, 90), 0, 0, 90), // enough rows: the few with disorder are less than one in ten
      (repeated(15, 100) ++ Seq(60L, 70L, 80L), 3, 0, 100),
      (Seq(1000L), 0, 0, 1000),
      (repeated(8, 1010) ++ Seq(780L, 900L), 2, 0, 1010)
    )
    val run = new TargetRun(Tenth)
    script.zipWithIndex.foreach { case ((times, late, lag, watermark), batch) =>
      val found = (run.batch(times), run.target.lag, run.watermark.get)
      assert(found == ((late.toLong, lag.toLong, watermark.toLong)), s"in batch $batch")
    }
  }

  test("the lag never exceeds its limit, and begins at its start") {
    val run = new TargetRun(Tenth.copy(start = 300))
    assert(run.target.lag == 200)
    run.batch(Seq(0, 1000))
    run.batch(Seq(10))
    assert(run.target.lag == 200)
  }

  private val batches = for {
    spread <- Gen.oneOf(1L, 20L, 1000L, 100000L)
    jump <- Gen.oneOf(0L, 5L, 5000L)
    sizes <- Gen.listOf(Gen.choose(0, 60))
    ahead <- Gen.listOfN(sizes.size, Gen.choose(0L, jump + 10))
    back <- Gen.listOfN(
      sizes.sum,
      Gen.frequency(9 -> Gen.choose(0L, spread / 10), 1 -> Gen.choose(0L, spread))
    )
  } yield {
    val starts = ahead.scanLeft(0L)(_ + _).tail
    val ends = sizes.scanLeft(0)(_ + _)
    for (((size, start), end) <- sizes.zip(starts).zip(ends))
      yield back.slice(end, end + size).map(start - _)
  }

  private val specs = for {
    share <- Gen.oneOf(0L, 1L, 1000L, 10000L, 100000L, 500000L, 1000000L)
    start <- Gen.choose(0L, 100L)
    memory <- Gen.oneOf(1L, 7L, 50L, 1000L, 1000000L)
    forgives <- Gen.oneOf(true, false)
  } yield LateTargetSpec(share, maxLag = 1000000L, start, memory, forgives)

  test("the late rows stay within the target, an allowance, and what no lag could have foreseen") {
    forAll(specs, batches) { (of, played) =>
      val spec = of.copy(memory = 1000000L, forgives = false)
      val run = new TargetRun(spec)
      played.foreach(run.batch)
      val target = spec.perMillion * run.rows / 1e6
      val allowance = math.max(5, target)
      val most =
        target + 4 * allowance + run.mostInBatch + run.unforeseen + run.whileWaiting
      assert(run.late <= most, s"${run.late} late, with $spec")
    }
  }

  test("the watermark never goes back") {
    forAll(specs, batches) { (spec, played) =>
      val run = new TargetRun(spec)
      val seen = played.map { times =>
        run.batch(times): Unit
        run.watermark
      }
      assert(seen.flatten == seen.flatten.sorted)
    }
  }

  test("with a target of zero, the lag is the highest disorder so far: K-slack") {
    forAll(specs, batches) { (of, played) =>
      val run = new TargetRun(of.copy(perMillion = 0))
      var longest = of.start
      played.foreach { times =>
        run.batch(times): Unit
        longest = math.max(longest, run.target.lag)
        assert(run.target.lag == longest)
      }
      assert(run.late == run.unforeseen + run.whileWaiting)
    }
  }

  test("a constant disorder gives a fixed lag") {
    val run = new TargetRun(LateTargetSpec(10000, 1000000, 0, 65536, forgives = true))
    val lags = (1 to 1000).map { batch =>
      run.batch(Seq.fill(50)(batch * 1000L) ++ Seq.fill(50)(batch * 1000L - 7777)): Unit
      run.target.lag
    }
    assert(lags.drop(1).toSet == Set(6777L) && run.late == 50 + run.whileWaiting)
  }

  test("the order of rows in a batch, and the partitions they are in, do not matter") {
    forAll(specs, batches) { (spec, played) =>
      val (one, other) = (new TargetRun(spec), new TargetRun(spec))
      played.foreach { times =>
        one.batch(times): Unit
        other.batch(times.sorted): Unit
      }
      assert(Saved.by(one.target.save) == Saved.by(other.target.save))
    }
  }

  test("a restored target goes on as the saved one") {
    forAll(specs, batches, batches) { (spec, before, after) =>
      val run = new TargetRun(spec)
      before.foreach(run.batch)
      val restored = new LateTarget(spec)
      Saved.by(run.target.save).into(restored.restore)
      assert(restored.lag == run.target.lag)
      after.foreach { times =>
        val disorder = new DisorderHistogram
        times.foreach(disorder.add)
        Seq(run.target, restored).foreach(_.observe(disorder, late = times.size.toLong / 3))
        assert(restored.lag == run.target.lag)
      }
      assert(Saved.by(run.target.save) == Saved.by(restored.save))
    }
  }

  test("a batch without rows changes nothing") {
    val target = new LateTarget(Tenth)
    val before = Saved.by(target.save)
    target.observe(new DisorderHistogram, late = 0)
    assert(Saved.by(target.save) == before && target.lag == 5)
  }
}
