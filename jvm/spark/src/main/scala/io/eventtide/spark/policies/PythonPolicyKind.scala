package io.eventtide.spark.policies

import java.io.{DataInput, DataOutput}

import io.eventtide.kernel.watermark.{CustomPolicyKind, PolicyFailure, WatermarkPolicy}
import io.eventtide.kernel.{SavedText, StateVersion}

/** A custom policy in Python: a class and the JSON of its parameters.
  *
  *   - '''Guarantee:''' the class is called on the driver, once per batch for each substream with
  *     rows on time. The clock alone does not call it.
  */
private[spark] final class PythonPolicyKind(className: String, parameters: String)
    extends CustomPolicyKind(PythonPolicyKind.Prefix + className) {

  override def texts: Seq[(String, String)] = Seq(PythonPolicyKind.Parameters -> parameters)

  override def usesLowest: Boolean = true

  override def onlyOnDriver: Boolean = true

  def newPolicy(values: Seq[Long]): WatermarkPolicy = new PythonPolicy(this, className, parameters)
}

private[spark] object PythonPolicyKind {

  /** The prefix of the name of a kind; the name of the class follows. */
  val Prefix = "python:"

  /** The name of the option with the JSON of the parameters. */
  val Parameters = "parameters"
}

/** An instance: the last watermark and the JSON of the state, both from the class in Python.
  *
  *   - '''Restart:''' format 1: known, watermark, state.
  */
private final class PythonPolicy(kind: PythonPolicyKind, className: String, parameters: String)
    extends WatermarkPolicy {
  private var last = Option.empty[Long]
  private var state = "null"

  def known: Boolean = last.isDefined

  def watermark: Long = last.get

  def observe(now: Long, ts: Long): Unit = observe(now, ts, ts)

  override def observe(now: Long, maxTs: Long, minTs: Long): Unit =
    PythonPolicies.advance(className, parameters, now, maxTs, minTs, state) match {
      case PythonAnswer.Advanced(watermark, next) =>
        last = watermark.orElse(last)
        state = next
      case PythonAnswer.Failed(problem) => throw new PolicyFailure(kind.name, problem)
    }

  def save(out: DataOutput): Unit = {
    StateVersion.write(out, 1)
    out.writeBoolean(known)
    out.writeLong(last.getOrElse(0L))
    SavedText.write(out, state)
  }

  def restore(in: DataInput): Unit = {
    StateVersion.read(in, kind.name, known = 1)
    val isKnown = in.readBoolean()
    val saved = in.readLong()
    last = Option.when(isKnown)(saved)
    state = SavedText.read(in)
  }
}
