import sbt._

/** Where the jars of a Spark release come from. */
sealed trait JarSource
case object MavenCentral extends JarSource
case object PySparkPackage extends JarSource

/** One Spark release that eventtide is built for. */
final case class SparkVersion(release: String, jars: JarSource) {

  /** "4.3" for 4.3.0: one jar each. */
  val minor: String = release.split('.').take(2).mkString(".")

  /** The folder of sources that are not the same for all releases. */
  val shims: String = if (minor == "4.1") "spark-4.1" else "spark-4.2+"

  /** What Maven Central provides; nothing for a release it lacks. */
  def dependencies: Seq[ModuleID] = jars match {
    case MavenCentral =>
      Seq(
        "org.apache.spark" %% "spark-sql" % release % Provided,
        // its dependencies are inside, apart from one that Maven Central lacks
        ("org.apache.spark" %% "spark-connect" % release % Provided).intransitive()
      )
    case PySparkPackage => Nil
  }

  /** What the PySpark package in `.venv` provides; scala-library is sbt's own business. */
  def unmanagedJars(root: File): Seq[File] = jars match {
    case MavenCentral => Nil
    case PySparkPackage =>
      val folder = root / ".venv" / "lib" * "python3*" / "site-packages" / "pyspark" / "jars"
      if ((folder / s"spark-sql_2.13-$release.jar").get().isEmpty)
        sys.error(
          s"Spark $release is compiled against the jars inside PySpark $release, " +
            "which is not in .venv: run dev/setup first."
        )
      (folder * ("*.jar" -- "scala-library-*.jar" -- "scala-reflect-*.jar" -- "scala-compiler-*.jar"))
        .get()
  }
}

/** The Spark releases of this build; `-Dspark.version=...` chooses one.
  *
  * To add a release, add a line to `all` and, where it differs, a folder of
  * `jvm/spark/src/main/scala-shims`, which `shims` names. The scripts in dev/ and
  * project/hatch_jars.py read the lines of `all`, so keep one release a line.
  */
object SparkVersions {

  val all: Seq[SparkVersion] = Seq(
    SparkVersion("4.1.3", MavenCentral),
    SparkVersion("4.2.0", MavenCentral),
    SparkVersion("4.3.0", PySparkPackage)
  )

  /** The newest: what the tests run on in full. */
  val default: SparkVersion = all.last

  def named(release: String): SparkVersion =
    all
      .find(_.release == release)
      .getOrElse(
        sys.error(
          s"spark.version is $release, but must be one of ${all.map(_.release).mkString(", ")}."
        )
      )

  def chosen: SparkVersion = sys.props.get("spark.version").fold(default)(named)
}
