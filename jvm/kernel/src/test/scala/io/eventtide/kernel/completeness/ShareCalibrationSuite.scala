package io.eventtide.kernel.completeness

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.Saved

final class ShareCalibrationSuite extends AnyFunSuite {
  import ShareCalibration.stepOf

  test("without windows the share is the expected one") {
    Seq(0.0, 0.03, 0.5, 1.0).foreach(share => assert(close(new ShareCalibration, share, share)))
  }

  test("the share of many windows is that of the rows that they missed") {
    val shares = of(stepOf(0.1), had = 700000, missed = 300000)
    assert(close(shares, 0.1, 0.3))
    assert(close(shares, 0.4, 0.4)) // of another step
  }

  test("a few windows draw the share towards theirs") {
    assert(close(of(stepOf(0.1), had = 0, missed = 100), 0.1, 0.55))
  }

  test("a step is half an octave of the odds") {
    assert(stepOf(0.5) - stepOf(1.0 / 3) == 2) // one to one, one to two
    assert(stepOf(2.0 / 3) - stepOf(0.5) == 2)
    assert(stepOf(0) == 0)
    assert(stepOf(1) == 80)
  }

  test("an unknown share stays unknown, and is not learnt from") {
    val shares = of(stepOf(Double.NaN), had = 10, missed = 10)
    assert(shares.corrected(Double.NaN).isNaN)
    assert(Saved.by(shares.save(_)) == Saved.by(new ShareCalibration().save(_)))
  }

  test("halved rows count half") {
    val shares = of(stepOf(0.5), had = 200, missed = 0)
    shares.halve()
    assert(close(shares, 0.5, 0.25))
  }

  test("a copy and a restored record go on as the original") {
    val shares = of(stepOf(0.0), had = 5, missed = 200)
    shares.close(stepOf(1.0), 7)
    val restored = of(stepOf(0.5), had = 1, missed = 1)
    Saved.by(shares.save(_)).into(restored.restore)
    val copied = shares.copied
    Seq(0.0, 0.5, 1.0).foreach { share =>
      Seq(restored, copied).foreach(other => assert(close(other, share, shares.corrected(share))))
    }
  }

  private def of(step: Int, had: Long, missed: Long): ShareCalibration = {
    val shares = new ShareCalibration
    shares.close(step, had)
    shares.miss(step, missed)
    shares
  }

  private def close(shares: ShareCalibration, expected: Double, corrected: Double): Boolean =
    math.abs(shares.corrected(expected) - corrected) < 1e-4
}
