// The one version number stands in pyproject.toml.
ThisBuild / version := {
  val line = "version = \"(.+)\"".r
  IO.readLines((ThisBuild / baseDirectory).value / "pyproject.toml")
    .collectFirst { case line(version) => version }
    .getOrElse(sys.error("pyproject.toml has no line like: version = \"0.1.0\""))
}
ThisBuild / organization := "io.eventtide"
ThisBuild / organizationName := "The Eventtide authors"
ThisBuild / scalaVersion := "2.13.18"
ThisBuild / publish / skip := true // the plugin is what is published, and nothing else
ThisBuild / versionScheme := Some("early-semver")

lazy val sparkVersion = SparkVersions.chosen

val scalatest = "org.scalatest" %% "scalatest" % "3.2.19" % Test
val scalacheck = Seq(
  "org.scalacheck" %% "scalacheck" % "1.18.1" % Test,
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test
)
// the layers of jvm/spark, as a test
val archunit = "com.tngtech.archunit" % "archunit" % "1.4.1" % Test
// the version that Spark 4.2 and 4.3 have too
val jackson = "com.fasterxml.jackson.core" % "jackson-databind" % "2.21.2" % Test

// the baselines that the benchmarks have beside ours
val hazelcast = "com.hazelcast" % "hazelcast" % "5.7.0"
val hazelcastKafka = "com.hazelcast.jet" % "hazelcast-jet-kafka" % "5.6.0"
def flink(artifact: String) = "org.apache.flink" % artifact % "2.2.0"
val flinkKafka = "org.apache.flink" % "flink-connector-kafka" % "5.0.0-2.2"

val compilerSettings = Seq(
  scalacOptions ++= Seq("-Xlint", "-Werror", "-deprecation", "-feature", "-release", "17"),
  javacOptions ++= Seq("--release", "17")
)

val testSettings = Seq(
  Test / fork := true,
  Test / javaOptions ++= Seq(
    "-Xmx2g",
    "-Duser.timezone=UTC",
    s"-Deventtide.root=${(ThisBuild / baseDirectory).value}"
  ),
  // of dev/coverage
  Test / javaOptions ++= sys.env.get("EVENTTIDE_TEST_AGENT").toSeq.map(a => s"-javaagent:$a"),
  // what a suite prints comes out as it is: dev/test reads the golden line
  Test / outputStrategy := Some(StdoutOutput)
)

// in two JVMs, as one alone leaves a core idle much of the time
val inTwoJvms = Test / testGrouping := {
  val jvm = Tests.SubProcess((Test / forkOptions).value)
  val suites = (Test / definedTests).value.sortBy(_.name).zipWithIndex
  suites.groupBy(_._2 % 2).toSeq.map { case (half, tests) =>
    Tests.Group(s"half $half", tests.map(_._1), jvm)
  }
}

// what code for Spark compiles against
val sparkSettings = Seq(
  libraryDependencies ++= sparkVersion.dependencies,
  Compile / unmanagedJars ++=
    Attributed.blankSeq(sparkVersion.unmanagedJars((ThisBuild / baseDirectory).value))
)

// what the documentation leaves out: what is private to Spark and reached from there, and the inside
// of the plugin
val hidden = "org.apache.spark" +: Seq(
  "api",
  "checkpoint",
  "connect",
  "latelog",
  "operators",
  "options",
  "planning",
  "policies",
  "query",
  "repair",
  "source",
  "spi",
  "sql",
  "state"
).map(inside => s"io.eventtide.spark.$inside")

// each published jar has it
val license = Def.setting((ThisBuild / baseDirectory).value / "LICENSE" -> "META-INF/LICENSE")

// what Maven publishes: a jar with the kernel inside, its sources and its documentation
val publishSettings = Seq(
  publish / skip := false,
  moduleName := name.value, // with its dot, as the file is named: sbt would write 4-3
  publishMavenStyle := true,
  description := "Event-time watermarks and windows for Apache Spark Structured Streaming",
  licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
  pomIncludeRepository := (_ => false),
  pomExtra := Addresses.pom((ThisBuild / baseDirectory).value),
  pomPostProcess := PublishedPom.withProvided(
    ("org.scala-lang", "scala-library", scalaVersion.value),
    ("org.apache.spark", "spark-sql_2.13", sparkVersion.release)
  ),
  // a folder, from which dev/release signs and uploads
  publishTo := Some(
    Resolver.file(
      "release",
      sys.env
        .get("EVENTTIDE_MAVEN_FOLDER")
        .fold {
          (ThisBuild / baseDirectory).value / ".build" / "release" / "maven"
        }(file)
    )(Resolver.mavenStylePatterns)
  ),
  Compile / packageSrc / mappings ++= (kernel / Compile / packageSrc / mappings).value,
  Compile / packageBin / mappings += license.value,
  Compile / packageSrc / mappings += license.value,
  Compile / packageDoc / mappings += license.value,
  Compile / doc / sources ++= (kernel / Compile / doc / sources).value,
  Compile / doc / scalacOptions := Seq(
    "-doc-title",
    s"Eventtide ${version.value} for Spark ${sparkVersion.minor}",
    "-skip-packages",
    hidden.mkString(":"),
    "-no-link-warnings", // classes of Java and of Spark have pages elsewhere
    "-Werror",
    "-release",
    "17"
  )
)

// what runs at a time, of tests in JVMs of their own too
Global / concurrentRestrictions := Seq(Tags.limitAll(2), Tags.limit(Tags.ForkedTestGroup, 2))

lazy val kernel = (project in file("jvm/kernel"))
  .settings(
    compilerSettings,
    testSettings,
    inTwoJvms,
    name := "eventtide-kernel",
    // for the tests only: the kernel itself needs nothing
    libraryDependencies ++= Seq(scalatest, jackson) ++ scalacheck
  )

lazy val spark = (project in file("jvm/spark"))
  .dependsOn(kernel)
  .settings(
    compilerSettings,
    testSettings,
    inTwoJvms,
    sparkSettings,
    publishSettings,
    name := s"eventtide-spark-${sparkVersion.minor}",
    // a folder for each minor, so that switching does not compile everything again
    target := baseDirectory.value / "target" / s"spark-${sparkVersion.minor}",
    libraryDependencies ++= Seq(scalatest, archunit) ++ scalacheck,
    Compile / unmanagedSourceDirectories +=
      (Compile / sourceDirectory).value / "scala-shims" / sparkVersion.shims,
    // the shims of the other minors keep the same form
    Compile / scalafmt / unmanagedSources :=
      ((Compile / sourceDirectory).value ** "*.scala").get(),
    Compile / resourceGenerators += Def.task {
      val file = (Compile / resourceManaged).value / "eventtide.properties"
      val minors = SparkVersions.all.map(_.minor).mkString(", ")
      val lines =
        Seq(
          s"version=${version.value}",
          s"sparkMinor=${sparkVersion.minor}",
          s"sparkMinors=$minors",
          s"docs=${Addresses.of((ThisBuild / baseDirectory).value).getOrElse("docs", "")}"
        )
      IO.writeLines(file, lines)
      Seq(file)
    }.taskValue,
    Test / javaOptions ++= SparkJvm.options ++ Seq(
      "-XX:TieredStopAtLevel=1", // most of the code of a query runs a few times only
      "-XX:ReservedCodeCacheSize=256m",
      "-XX:+UseSerialGC",
      "-Xmn600m",
      "-Dspark.ui.enabled=false",
      s"-Dspark.sql.warehouse.dir=${target.value / "spark-warehouse"}"
    ),
    // one jar holds plugin and kernel; it is written where the wheel takes it from
    Compile / packageBin / mappings ++= (kernel / Compile / packageBin / mappings).value,
    Compile / packageBin / artifactPath :=
      (ThisBuild / baseDirectory).value / "python" / "eventtide" / "jars" /
        s"${name.value}_${scalaBinaryVersion.value}-${version.value}.jar"
  )

lazy val benchmarks = (project in file("benchmarks/jmh"))
  .enablePlugins(JmhPlugin)
  .dependsOn(kernel)
  .settings(
    name := "eventtide-benchmarks",
    libraryDependencies ++= Seq(hazelcast, flink("flink-core"))
  )

// whole engines that read one workload, each started in a JVM of its own
lazy val externalEngines = (project in file("benchmarks/external-engines"))
  .settings(
    compilerSettings,
    name := "eventtide-external-engines",
    libraryDependencies ++= Seq(
      hazelcast,
      hazelcastKafka,
      flink("flink-clients"),
      flink("flink-connector-base"),
      flinkKafka,
      flink("flink-table-api-java-bridge"),
      flink("flink-table-planner-loader"),
      flink("flink-table-runtime"),
      "org.slf4j" % "slf4j-nop" % "1.7.36", // Flink's log, which nobody reads
      scalatest
    )
  )

// for the benchmarks of queries: their source, and Spark programs that ours stands beside
lazy val baselines = (project in file("benchmarks/spark"))
  .settings(
    compilerSettings,
    sparkSettings,
    name := "eventtide-baselines",
    // the encoders of case classes are found by it
    libraryDependencies += "org.scala-lang" % "scala-reflect" % scalaVersion.value % Provided,
    // where benchmarks/turns.py takes it from
    Compile / packageBin / artifactPath :=
      (ThisBuild / baseDirectory).value / ".build" / s"${name.value}.jar"
  )

// for the tests: a file system in which calls go wrong, a file manager and a source beside it
lazy val chaos = (project in file("jvm/chaos"))
  .settings(
    compilerSettings,
    sparkSettings,
    name := s"eventtide-chaos-${sparkVersion.minor}",
    target := baseDirectory.value / "target" / s"spark-${sparkVersion.minor}",
    // where tests/chaos takes it from
    Compile / packageBin / artifactPath :=
      (ThisBuild / baseDirectory).value / ".build" / s"${name.value}.jar"
  )

// the benchmarks are left out: nobody should fetch the baselines to run the tests
lazy val jvm = (project in file(".")).aggregate(kernel, spark)

// `useSpark 4.2.0` goes on with another Spark release in the same sbt session
commands += Command.single("useSpark") { (state, release) =>
  if (SparkVersions.named(release) == SparkVersions.chosen) state
  else {
    sys.props("spark.version") = release
    "reload" :: state
  }
}

// `publishJars` publishes the jar of each Spark release, with sources and documentation
commands += Command.command("publishJars") { state =>
  SparkVersions.all.reverse.flatMap(v => List(s"useSpark ${v.release}", "spark/publish")).toList :::
    state
}

// `jars` writes the jar of each Spark release
commands += Command.command("jars") { state =>
  SparkVersions.all.reverse.flatMap(v => List(s"useSpark ${v.release}", "spark/package")).toList :::
    state
}
