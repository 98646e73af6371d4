package io.eventtide.kernel.watermark

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

final class DeadlinesSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import WatermarkPolicy.Never

  private val clock = Gen.option(Gen.choose(0L, 12L))

  /** The rule as it is written, asked at one clock value. */
  private def reached(members: Seq[(Option[Long], Option[Long])], at: Long): Boolean = {
    def by(deadline: Option[Long]): Boolean = deadline.exists(_ <= at)
    val active = members.filterNot { case (_, idle) => by(idle) }
    if (active.isEmpty) members.exists { case (due, _) => by(due) }
    else active.forall { case (due, _) => by(due) }
  }

  test("the answer is the first clock value at which the rule holds") {
    forAll(Gen.resize(5, Gen.listOf(Gen.zip(clock, clock)))) { members =>
      // a value of the lowest long, "always", is what an active member without rows may answer
      val first = (0L to 13L).find(reached(members, _))
      assert(Deadlines.earliest(members).filter(_ <= 13) == first || members.isEmpty)
    }
  }

  test("without members nothing is due, and all are idle") {
    assert(Deadlines.earliest(Nil).isEmpty)
    assert(new Deadlines().idle.isDefined)
  }

  test("one member that is neither due nor idle ever holds the others back for ever") {
    assert(Deadlines.earliest(Seq((Some(1), None), (None, None))).isEmpty)
  }

  test("when the last one goes idle, what the others reached is released") {
    assert(Deadlines.earliest(Seq((Some(3), Some(5)), (None, Some(9)))) == Some(9))
    assert(Deadlines.earliest(Seq((Some(20), Some(5)), (None, Some(9)))) == Some(20))
  }

  test("what a member that has left reached is released once all are idle") {
    val deadlines = new Deadlines
    deadlines.add(Never, 9)
    deadlines.addRemoved(2)
    assert(deadlines.earliest == Some(9))
  }

  test("all are idle when the last one is") {
    val deadlines = new Deadlines
    deadlines.add(Never, 9)
    deadlines.add(Never, 4)
    assert(deadlines.idle == Some(9))
    deadlines.add(1, Never)
    assert(deadlines.idle.isEmpty)
  }
}
