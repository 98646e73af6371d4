/** Flags of the JVMs that tests with a Spark session run in. */
object SparkJvm {

  // what Spark's own launcher opens, see org.apache.spark.launcher.JavaModuleOptions
  private val opened = Seq(
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5"
  )

  val options: Seq[String] = opened.map(p => s"--add-opens=$p=ALL-UNNAMED") ++ Seq(
    "-XX:+IgnoreUnrecognizedVMOptions", // the next two are newer than JDK 17
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "--add-modules=jdk.incubator.vector",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled"
  )
}
