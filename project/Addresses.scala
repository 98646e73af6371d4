import scala.xml.NodeSeq

import sbt._

/** The addresses of project/addresses.toml, or of the file in EVENTTIDE_ADDRESSES. */
object Addresses {

  def of(root: File): Map[String, String] = {
    val file =
      sys.env.get("EVENTTIDE_ADDRESSES").fold(root / "project" / "addresses.toml")(new File(_))
    val line = """(\w+)\s*=\s*"(.*?)".*""".r
    IO.readLines(file)
      .collect { case line(key, address) if address.nonEmpty => key -> address }
      .toMap
  }

  /** What a POM says of the project; an address that is empty is left out. */
  def pom(root: File): NodeSeq = {
    val known = of(root)
    val authors = <developers><developer><name>The Eventtide authors</name></developer></developers>
    val home = known.get("home").map(address => <url>{address}</url>)
    val source = known.get("source").map { address =>
      <scm>
        <url>{address}</url>
        <connection>scm:git:{address}</connection>
        <developerConnection>scm:git:{address}</developerConnection>
      </scm>
    }
    val issues = known.get("issues").map { address =>
      <issueManagement><url>{address}</url></issueManagement>
    }
    Seq(home, Some(authors), source, issues).flatten.foldLeft(NodeSeq.Empty)(_ ++ _)
  }
}
