"""A query whose checkpoint is on S3: ``tests.chaos.s3.victim FOLDER KIND SEED MANAGER URL KEY``.

The manager of the checkpoint's files is eventtide's, or spark's own for object stores.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.chaos.session import FILE_MANAGER, session
from tests.chaos.trial import Run
from tests.jars import JARS

S3A = "spark.hadoop.fs.s3a"
OF_SPARK = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"


def settings(manager: str, url: str, key: str) -> dict[str, str]:
    """Return what a session needs to write checkpoints to a server, with an access key."""
    return {
        **({FILE_MANAGER: OF_SPARK} if manager == "spark" else {}),
        f"{S3A}.endpoint": url,
        f"{S3A}.endpoint.region": "us-east-1",
        f"{S3A}.path.style.access": "true",
        f"{S3A}.connection.ssl.enabled": "false",
        f"{S3A}.access.key": key,
        f"{S3A}.secret.key": "not checked",
    }


def main() -> int:
    """Run to the end."""
    folder, kind, seed, manager, url, key = sys.argv[1:]
    jars = sorted(map(str, (JARS / "s3").glob("*.jar")))
    spark = session(faults=False, more=settings(manager, url, key), beside=jars)
    run = Run(spark, Path(folder), kind, int(seed), scheme="s3a")
    run.start()
    ended = run.finish()
    if ended.error is not None:
        sys.stderr.write(f"ENDED {ended.named} {ended.error}\n")
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
