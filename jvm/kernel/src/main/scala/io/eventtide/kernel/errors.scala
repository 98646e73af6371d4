package io.eventtide.kernel

/** An argument that cannot be accepted; the message names it, what is allowed and what it was.
  *
  *   - '''Guarantee:''' thrown before anything has changed.
  *   - '''Source:''' ours; `what`, `value` and `allowed` are fields so that a caller can reword.
  */
final class InvalidArgument(val what: String, val value: Any, val allowed: String)
    extends IllegalArgumentException(s"$what must be $allowed, but was $value")

/** Saved state in a format that this version does not know: it was written by a newer one.
  *
  *   - '''Guarantee:''' thrown before anything has been restored from the record.
  */
final class UnknownStateVersion(val piece: String, val found: Int, val newest: Int)
    extends IllegalStateException(
      s"state of $piece has format version $found, but the newest known here is $newest"
    )

/** Something to save that takes more bytes than an array can have.
  *
  *   - '''Guarantee:''' nothing of it has been saved.
  */
final class RecordTooLarge(val limit: Int)
    extends IllegalStateException(s"a record takes more than $limit bytes")

/** Saved state that belongs to something else: another policy, other throttles.
  *
  *   - '''Guarantee:''' parameters may change between runs, kinds and their nesting may not.
  */
final class IncompatibleState(val piece: String, val saved: String, val present: String)
    extends IllegalStateException(s"state of $piece was saved by $saved, but this is $present")
