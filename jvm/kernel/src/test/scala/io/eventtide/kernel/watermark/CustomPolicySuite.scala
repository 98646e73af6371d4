package io.eventtide.kernel.watermark

import java.io.{DataInput, DataOutput}

import org.scalatest.funsuite.AnyFunSuite

import io.eventtide.kernel.testkit.{PolicyLaws, PolicyRun}
import io.eventtide.kernel.watermark.CustomPolicySuite._

/** A user's own policies: the laws, each with a policy that breaks it, and the checks of each call.
  */
final class CustomPolicySuite extends AnyFunSuite {

  private def failure(body: => Any): String = intercept[PolicyFailure](body).getMessage

  private def broken(spec: PolicySpec): String =
    intercept[AssertionError](PolicyLaws.check(spec)).getMessage

  test("an own policy that follows the laws passes them, with any lag and in combinations") {
    Seq(0L, 5L).foreach { lag =>
      val own = PolicySpec(new Trimmed, Seq(lag))
      PolicyLaws.check(own)
      PolicyLaws.check(MaxOf(Seq(own, LimitingRealTimeLag(9))))
    }
    PolicyLaws.check(PolicySpec(new Trimmed, Seq(5000)), unit = 1000)
  }

  test("each law is broken by a policy that does not follow it") {
    def law(own: () => Trimmed.Instance) = broken(PolicySpec(new Made(own)))
    assert(
      law(() =>
        new Trimmed.Instance(5) {
          override def watermark: Long = -super.watermark
        }
      ).contains("goes back")
    )
    assert(
      law(() =>
        new Trimmed.Instance(5) {
          override def watermarkAt(now: Long): Long = watermark + 1
        }
      ).contains("looking ahead")
    )
    assert(
      law(() =>
        new Trimmed.Instance(5) {
          override def restore(in: DataInput): Unit = {
            in.readBoolean(): Unit; in.readLong(): Unit
          }
        }
      ).contains("restore took back its watermark")
    )
    assert(
      law(() =>
        new Trimmed.Instance(5) {
          override def save(out: DataOutput): Unit = { super.save(out); out.writeInt(7) }
        }
      ).contains("restore left 4 bytes")
    )
    assert(
      law(() =>
        new Trimmed.Instance(5) {
          override def dueAt(target: Long): Long = 0
        }
      ).contains("dueAt")
    )
    assert(
      law(() =>
        new Trimmed.Instance(5) {
          override def skip(now: Long): Unit = if (known) observe(now, watermark + 100)
        }
      ).contains("a skip")
    )
    assert(
      law(() =>
        new Trimmed.Instance(5) {
          private var ticks = 0
          override def tick(now: Long): Unit = {
            ticks += 1
            if (ticks % 3 == 0 && known) observe(now, watermark + 100)
          }
        }
      ).contains("a restored instance")
    )
  }

  test("a policy that goes back, or loses its watermark, fails with its name") {
    val back = new PolicyRun(
      PolicySpec(
        new Made(() =>
          new Trimmed.Instance(5) {
            override def watermark: Long = -super.watermark
          }
        )
      )
    )
    back.policy.observe(0, 5)
    assert(
      failure(back.policy.observe(0, 9)).startsWith("policy made: observe moved its watermark")
    )
    val lost = new PolicyRun(
      PolicySpec(
        new Made(() =>
          new Trimmed.Instance(5) {
            override def known: Boolean = super.known && watermark < 100
          }
        )
      )
    )
    lost.policy.observe(0, 5)
    assert(failure(lost.policy.observe(0, 1000)).contains("took back its watermark"))
  }

  test("a policy that throws fails with its name and the call, whatever it throws") {
    def run(own: => Trimmed.Instance) = new PolicyRun(PolicySpec(new Made(() => own)))
    val thrown = Seq(new IllegalStateException("no"), new NoSuchMethodError("old"))
    thrown.foreach { error =>
      val one = run(new Trimmed.Instance(5) {
        override def observe(now: Long, ts: Long): Unit = throw error
      })
      val failed = intercept[PolicyFailure](one.policy.observe(0, 1))
      assert(failed.policy == "made" && failed.problem.startsWith("observe failed with"))
      assert(failed.getCause eq error)
    }
    val unsaved = run(new Trimmed.Instance(5) {
      override def save(out: DataOutput): Unit = throw new java.io.NotSerializableException("me")
    })
    assert(failure(unsaved.saved).contains("save failed"))
    val unread = run(new Trimmed.Instance(5) {
      override def restore(in: DataInput): Unit = { super.restore(in); in.readLong(): Unit }
    })
    assert(failure(unread.restarted()).contains("restore failed with java.io.EOFException"))
  }

  test("an interruption is not a failure of the policy") {
    val waiting = new PolicyRun(
      PolicySpec(
        new Made(() =>
          new Trimmed.Instance(5) {
            override def observe(now: Long, ts: Long): Unit = throw new InterruptedException
          }
        )
      )
    )
    intercept[InterruptedException](waiting.policy.observe(0, 1))
  }

  test("a service loader finds it by its name, and kinds of one class are equal") {
    val kind = Policies.find("trimmed").get
    assert(kind == new Trimmed && PolicySpec(kind, Seq(5)) == PolicySpec(new Trimmed, Seq(5)))
    assert(Policies.find("unknown").isEmpty)
    assert(PolicySpec(kind, Seq(5)).customNames == Seq("trimmed"))
    assert(WithFixedLag(5).customNames.isEmpty)
  }
}

object CustomPolicySuite {

  /** A lag that a row far ahead moves by half its distance only. */
  final class Trimmed extends CustomPolicyKind("trimmed", ParamSpec.Lag) {
    def newPolicy(values: Seq[Long]): WatermarkPolicy = new Trimmed.Instance(values.head)
  }

  object Trimmed {
    class Instance(lag: Long) extends WatermarkPolicy {
      private var top = Option.empty[Long]

      def observe(now: Long, ts: Long): Unit =
        top = Some(top.fold(ts)(top => if (ts > top) (top >> 1) + (ts >> 1) max top else top))

      def known: Boolean = top.isDefined
      def watermark: Long = if (top.get < Long.MinValue + lag) Long.MinValue else top.get - lag

      def save(out: DataOutput): Unit = {
        out.writeBoolean(known)
        out.writeLong(top.getOrElse(0))
      }

      def restore(in: DataInput): Unit = {
        val isKnown = in.readBoolean()
        val saved = in.readLong()
        top = Option.when(isKnown)(saved)
      }
    }
  }

  final class Made(own: () => Trimmed.Instance) extends CustomPolicyKind("made") {
    def newPolicy(values: Seq[Long]): WatermarkPolicy = own()
  }
}
