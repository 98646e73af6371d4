package io.eventtide.kernel

/** An invalid argument; the message has its name, the allowed values and the actual value.
  *
  *   - '''Guarantee:''' thrown before any state has changed.
  */
final class InvalidArgument(what: String, value: Any, allowed: String)
    extends IllegalArgumentException(s"$what must be $allowed, but was $value")

/** Saved state in a format of another version.
  *
  *   - '''Guarantee:''' thrown before any state has been restored from the record.
  */
final class UnknownStateVersion(piece: String, found: Int, known: Int)
    extends IllegalStateException(
      s"state of $piece has format version $found, but the one known here is $known"
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
final class IncompatibleState(piece: String, saved: String, present: String)
    extends IllegalStateException(s"state of $piece was saved by $saved, but this is $present")
