package io.eventtide.kernel.golden

/** What a value of a case may be; a case with any other waits. */
sealed trait Form {

  /** Throws `GoldenWaiting` for a value that the player does not know. */
  def check(where: String, value: Any): Unit

  /** As this, where the value may also be absent. */
  final def optional: Form = Form.Optional(this)

  /** As this, where the value may also be null. */
  final def orNull: Form = Form.either(Form.Null, this)
}

object Form {

  val number: Form = plain("a number") {
    case _: Long | "MIN" | "MAX" => true
    case _ => false
  }

  val decimal: Form = plain("a number") {
    case _: Long | _: java.math.BigDecimal => true
    case _ => false
  }

  val text: Form = plain("a text")(_.isInstanceOf[String])

  val flag: Form = plain("true or false")(_.isInstanceOf[Boolean])

  /** A key or a name, which is only compared. */
  val name: Form = plain("a name")(value => value.isInstanceOf[String] || value.isInstanceOf[Long])

  val anyObject: Form = plain("an object")(_.isInstanceOf[Map[_, _]])

  /** A remark to the reader, of no effect. */
  val remark: Form = plain("anything")(_ => true).optional

  /** A text that is worded as the player reads it. */
  def worded(says: String)(takes: String => Boolean): Form = plain(says) {
    case text: String => takes(text)
    case _ => false
  }

  def oneOf(values: Any*): Form = plain(values.mkString(" or "))(values.contains)

  def listOf(element: Form): Form = ListOf(element)

  def either(forms: Form*): Form = Either(forms)

  def fields(words: (String, Form)*): Fields = Fields(words.toMap)

  /** An output `[tag, ...]` of Jet's. */
  def tagged(tag: String, rest: Form*): Form = Tagged(oneOf(tag) +: rest)

  private[golden] def waits(where: String, value: Any, says: String): Nothing =
    throw new GoldenWaiting(s"$where is $value, which is not $says")

  private def plain(says: String)(takes: Any => Boolean): Form = new Plain(says, takes)

  private val Null: Form = plain("null")(_ == null)

  private final class Plain(says: String, takes: Any => Boolean) extends Form {
    def check(where: String, value: Any): Unit = if (!takes(value)) waits(where, value, says)
  }

  private final case class Optional(form: Form) extends Form {
    def check(where: String, value: Any): Unit = form.check(where, value)
  }

  private final case class ListOf(element: Form) extends Form {
    def check(where: String, value: Any): Unit = value match {
      case all: List[_] => all.foreach(element.check(where, _))
      case other => waits(where, other, "a list")
    }
  }

  private final case class Tagged(parts: Seq[Form]) extends Form {
    def check(where: String, value: Any): Unit = value match {
      case all: List[_] if all.length == parts.length =>
        parts.zip(all).foreach { case (part, one) => part.check(where, one) }
      case other => waits(where, other, s"an output of ${parts.length} parts")
    }
  }

  private final case class Either(forms: Seq[Form]) extends Form {
    def check(where: String, value: Any): Unit = {
      val refusals = forms.flatMap { form =>
        try { form.check(where, value); None }
        catch { case waiting: GoldenWaiting => Some(waiting) }
      }
      if (refusals.length == forms.length) throw refusals.last
    }
  }

  /** An object with these words and no others. */
  final case class Fields(words: Map[String, Form]) extends Form {
    def ++(more: Fields): Fields = Fields(words ++ more.words)

    def -(word: String): Fields = Fields(words - word)

    def check(where: String, value: Any): Unit = value match {
      case map: Map[_, _] => checkAll(where, GoldenFiles.fieldsOf(map))
      case other => waits(where, other, "an object")
    }

    private def checkAll(where: String, values: Map[String, Any]): Unit = {
      (values.keySet -- words.keySet).minOption.foreach { word =>
        throw new GoldenWaiting(s"$where: unknown word $word")
      }
      words.foreach { case (word, form) =>
        values.get(word) match {
          case Some(value) => form.check(s"$where: $word", value)
          case None if form.isInstanceOf[Optional] => ()
          case None => throw new GoldenWaiting(s"$where: no $word")
        }
      }
    }
  }
}
