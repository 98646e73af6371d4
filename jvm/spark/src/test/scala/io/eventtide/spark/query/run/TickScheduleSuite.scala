package io.eventtide.spark.query.run

import org.scalatest.funsuite.AnyFunSuite

class TickScheduleSuite extends AnyFunSuite {

  private def ticked(): TickSchedule = {
    val schedule = new TickSchedule
    assert(schedule.batchSince(None) == false && schedule.mayTick(isAwaited = true))
    schedule.ticked()
    assert(schedule.batchSince(Some(0)))
    schedule
  }

  test("while somebody waits, a trigger without a tick comes after each") {
    val schedule = ticked()
    assert(!schedule.mayTick(isAwaited = true))
    assert(schedule.mayTick(isAwaited = true))
  }

  test("when nobody waits, every trigger may tick, however long apart they are") {
    assert(ticked().mayTick(isAwaited = false))
  }

  test("what is due next is worked out once, until something changes it") {
    val schedule = new TickSchedule
    assert(!schedule.due(5)(Some(7)))
    assert(schedule.due(7)(throw new AssertionError("worked out twice")))
    schedule.reschedule()
    assert(!schedule.due(7)(None))
    schedule.postpone(7)
    assert(!schedule.due(8)(fail()) && schedule.due(1000007)(fail()))
  }
}
