package io.eventtide.spark.options

import scala.util.Try

/** Shares of rows as text, such as `0.1%`; as values they are in millionths. */
private[spark] object ShareText {
  private val Million = BigDecimal(1000000)

  /** The share in millionths; refuses other text, and parts below a millionth. */
  def millionths(option: String, text: String): Long = {
    val share = Option(text).map(_.trim).filter(_.endsWith("%")).map(_.dropRight(1).trim)
    val found = share.flatMap(number => Try(BigDecimal(number) * Million / 100).toOption)
    found.filter(of => of >= 0 && of <= Million && of.isWhole).map(_.toLong).getOrElse {
      OptionReader.unknown(option, text, "shares from 0% to 100% in steps of 0.0001%, such as 0.1%")
    }
  }

  def text(millionths: Long): String =
    s"${(BigDecimal(millionths) * 100 / Million).bigDecimal.stripTrailingZeros.toPlainString}%"
}
