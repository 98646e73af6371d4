addSbtPlugin("org.scalameta" % "sbt-scalafmt" % "2.6.2")
addSbtPlugin("pl.project13.scala" % "sbt-jmh" % "0.4.8")
// dev/coverage alone needs it
libraryDependencies ++= sys.env.get("EVENTTIDE_SCOVERAGE").toSeq.map { _ =>
  Defaults.sbtPluginExtra("org.scoverage" % "sbt-scoverage" % "2.4.4", "1.0", "2.12")
}
