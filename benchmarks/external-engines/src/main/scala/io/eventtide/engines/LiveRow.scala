package io.eventtide.engines

/** A row of a topic: its event time in milliseconds, a comma, its key. */
final class LiveRow(val time: Long, val key: Integer) extends Serializable

object LiveRow {
  private final val Digits = 13

  def parse(value: Array[Byte]): LiveRow = {
    var time = 0L
    var i = 0
    while (i < Digits) {
      time = time * 10 + (value(i) - '0')
      i += 1
    }
    var key = 0
    i += 1
    while (i < value.length) {
      key = key * 10 + (value(i) - '0')
      i += 1
    }
    new LiveRow(time, key)
  }

  /** The value of a result. */
  def format(start: Long, key: Integer, count: Long): String = s"$start,$key,$count"
}

/** The topics of a job, which has one partition each. */
final case class Topics(servers: String, input: String, output: String)
