package io.eventtide.planted

// A class for each rule of `ArchitectureSuite` that breaks it.

package spark.planning {
  class Plan
}

package spark.options {
  class OptionThatPlans(val plan: io.eventtide.planted.spark.planning.Plan)
}

package spark.api {
  class ServerApi(val plugin: org.apache.spark.sql.connect.plugin.RelationPlugin)
}

package spark.spi {
  class Upper(val lower: io.eventtide.planted.spark.state.Lower)
}

package spark.state {
  class Lower(val upper: io.eventtide.planted.spark.spi.Upper)
}

package kernel.time {
  class SparkClock(val conf: org.apache.spark.SparkConf)
  class TimeOfWindow(val window: io.eventtide.planted.kernel.window.WindowOfTime)
}

package kernel.window {
  class WindowOfTime(val time: io.eventtide.planted.kernel.time.TimeOfWindow)
}

package bridge {
  class Bridge(val plan: io.eventtide.planted.spark.planning.Plan)
}
