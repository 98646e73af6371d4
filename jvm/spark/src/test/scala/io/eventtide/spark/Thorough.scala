package io.eventtide.spark

import org.scalatest.Tag

/** One more of cases that are alike: CI runs some of them, `dev/test --thorough` all. */
object Thorough extends Tag("io.eventtide.Thorough") {

  /** The tags of a case that CI runs if it is quick. */
  def unless(quick: Boolean): Seq[Tag] = if (quick) Nil else Seq(Thorough)
}
