package io.eventtide.kernel

/** An invalid argument; the message has its name, the allowed values and the actual value.
  *
  *   - '''Guarantee:''' thrown before any state has changed.
  *   - '''Source:''' Eventtide; `what`, `value` and `allowed` are fields so that a caller can
  *     reword the message.
  */
final class InvalidArgument(val what: String, val value: Any, val allowed: String)
    extends IllegalArgumentException(s"$what must be $allowed, but was $value")

/** Saved state in an unknown format, written by a newer version or one that is no longer read.
  *
  *   - '''Guarantee:''' thrown before any state has been restored from the record.
  */
final class UnknownStateVersion(val piece: String, val found: Int, val newest: Int)
    extends IllegalStateException(
      s"state of $piece has format version $found, but the newest known here is $newest"
    )

/** A record that needs more bytes than an array can hold.
  *
  *   - '''Guarantee:''' no part of the record has been saved.
  */
final class RecordTooLarge(val limit: Int)
    extends IllegalStateException(s"a record takes more than $limit bytes")

/** Saved state that does not match the present configuration: another policy, other throttles.
  *
  *   - '''Guarantee:''' parameters may change between runs; kinds and their nesting may not.
  */
final class IncompatibleState(val piece: String, val saved: String, val present: String)
    extends IllegalStateException(s"state of $piece was saved by $saved, but this is $present")
