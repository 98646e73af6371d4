import scala.xml.{Elem, Node}

/** The POM of the jar, which holds the kernel and runs inside Spark. */
object PublishedPom {

  /** Names just these modules, which Spark brings: a build with the jar fetches nothing else. */
  def withProvided(modules: (String, String, String)*): Node => Node = {
    case project: Elem =>
      val kept = project.child.filter(_.label != "dependencies")
      val named = modules.map((dependency _).tupled)
      project.copy(child = kept :+ <dependencies>{named}</dependencies>)
    case other => other
  }

  private def dependency(group: String, artifact: String, version: String): Elem =
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
      <scope>provided</scope>
    </dependency>
}
