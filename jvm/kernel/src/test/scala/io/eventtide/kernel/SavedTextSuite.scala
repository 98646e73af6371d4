package io.eventtide.kernel

import java.io.{
  ByteArrayInputStream,
  ByteArrayOutputStream,
  DataInputStream,
  DataOutputStream,
  EOFException,
  IOException
}

import org.scalatest.funsuite.AnyFunSuite

class SavedTextSuite extends AnyFunSuite {

  private def read(bytes: Array[Byte]): String =
    SavedText.read(new DataInputStream(new ByteArrayInputStream(bytes)))

  private def saved(text: String): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    SavedText.write(new DataOutputStream(bytes), text)
    bytes.toByteArray
  }

  test("a text is read as it was written, however long it is") {
    for (text <- Seq("", "é", "x" * (1 << 16), "é" * 200001)) assert(read(saved(text)) == text)
  }

  test("a length that no text has fails before it takes memory") {
    assertThrows[EOFException](read(Array[Byte](127, -1, -1, -1, 0)))
    assertThrows[IOException](read(Array[Byte](-1, -1, -1, -1)))
  }
}
