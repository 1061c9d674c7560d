# make race   installs what is missing, builds, and races ext4, xfs and btrfs here
# make test   installs what the tests need and passes them
# The rest: mpi, page, build, bench, fuzz, evidence, distributions, check, aarch64, static, dist, dist-check, clean.
SHELL := /bin/bash
.DEFAULT_GOAL := build
CARGO ?= cargo
# Empty for root, and where sudo is not there or would ask nobody: then a race takes a guest or a directory.
SUDO := $(if $(filter 0,$(shell id -u)),,$(shell sudo -n true 2>/dev/null || test -t 0 && command -v sudo))
# What a lane of the default race and the tests need: command, then the package that carries it.
RACE_TOOLS := mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs mkfs.btrfs:btrfs-progs cc:build-essential
# The page's tests: a browser, and letters for its Chinese screenshots.
PAGE_TOOLS := chromium:chromium node:nodejs npm:npm /usr/share/fonts/truetype/wqy/wqy-microhei.ttc:fonts-wqy-microhei
# Database servers and programs of the suites database, media and applications; install-tools starts no service.
SUITE_TOOLS := mariadbd:mariadb-server-core /usr/lib/postgresql:postgresql ffmpeg:ffmpeg git:git tar:tar
# Guests (two kernels, to be raced against each other), and the filesystems that a host's kernel seldom has.
GUESTS_x86_64 := linux.uml:user-mode-linux qemu-system-x86_64:qemu-system-x86 /usr/share/doc/linux-image-amd64:linux-image-amd64 \
	/usr/share/doc/linux-image-cloud-amd64:linux-image-cloud-amd64
GUESTS_aarch64 := qemu-system-aarch64:qemu-system-arm /usr/share/doc/linux-image-arm64:linux-image-arm64 \
	/usr/share/doc/linux-image-cloud-arm64:linux-image-cloud-arm64
GUEST_TOOLS := $(GUESTS_$(shell uname -m)) xz:xz-utils zstd:zstd mkfs.jfs:jfsutils mkfs.reiserfs:reiserfsprogs mkfs.nilfs2:nilfs-tools ntfs-3g:ntfs-3g mkudffs:udftools mdadm:mdadm dmsetup:dmsetup make-bcache:bcache-tools
# Two MPIs to race over, and what rsmpi is built with.
MPI_TOOLS := mpicc.openmpi:libopenmpi-dev mpirun.openmpi:openmpi-bin mpicc.mpich:libmpich-dev mpirun.mpich:mpich /usr/share/doc/libclang-dev:libclang-dev
TEST_TOOLS := $(RACE_TOOLS) $(SUITE_TOOLS) $(GUEST_TOOLS) $(MPI_TOOLS) cpio:cpio losetup:mount findmnt:util-linux mkfs.exfat:exfatprogs mkfs.f2fs:f2fs-tools fio:fio sysbench:sysbench bonnie++:bonnie++ setfattr:attr python3:python3 /usr/share/doc/python3-venv:python3-venv groff:groff-base /usr/share/bash-completion/bash_completion:bash-completion zsh:zsh fish:fish $(PAGE_TOOLS)
# What packages are made with, and what looks at them.
DIST_TOOLS := cc:build-essential python3:python3 dpkg-deb:dpkg rpmbuild:rpm xz:xz-utils
DIST_CHECK_TOOLS := mmdebstrap:mmdebstrap lintian:lintian rpm2cpio:rpm2cpio cpio:cpio readelf:binutils zsh:zsh fish:fish
STATIC_TARGET := $(shell uname -m)-unknown-linux-gnu
# The other architecture, for which everything is checked here, and tested in an emulator.
AARCH64 := aarch64-unknown-linux-gnu
AARCH64_COMPILER := aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu /usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross
AARCH64_TOOLS := $(AARCH64_COMPILER) qemu-aarch64:qemu-user qemu-system-aarch64:qemu-system-arm unshare:util-linux
AARCH64_CARGO := env CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc $(CARGO)
HAS_AARCH64 := test -d "$$(rustc --print sysroot)/lib/rustlib/$(AARCH64)/lib"
RACE_ARGUMENTS ?=

MPICC ?= mpicc

.PHONY: build mpi race page test bench fuzz evidence distributions check check-aarch64 aarch64 static dist dist-check clean race-tools test-tools dist-tools

build:
	$(CARGO) build --release --locked

# Races over the ranks of an MPI job: docs/mpi.md. Which MPI is the machine's own matter (`module load`, MPICC=mpicc.mpich), so
# nothing is installed. An MPI that is not the last one's takes another CARGO_TARGET_DIR.
mpi:
	@command -v $(MPICC) >/dev/null || { echo "$(MPICC) is missing: load this site's MPI, or install one (Debian: libopenmpi-dev openmpi-bin," \
		"or libmpich-dev mpich)" >&2; exit 4; }
	@test -n "$$LIBCLANG_PATH" || { for place in /usr/lib/llvm-*/lib /usr/lib* /usr/lib/*; do compgen -G "$$place/libclang*.so*"; done; } | grep -q . || \
		{ echo "libclang is missing: install it (Debian: libclang-dev), or set LIBCLANG_PATH to its folder" >&2; exit 4; }
	MPICC=$(MPICC) $(CARGO) build --release --locked --features fairlane-mpi/mpi
	@echo "$${CARGO_TARGET_DIR:-target}/release/fairlane-mpi, which starts the fairlane beside it"

# The tools come first: a fresh machine has no linker.
race:
	@if test $$(id -u) -eq 0; then ./scripts/install-tools $(RACE_TOOLS); else ./scripts/install-tools $(RACE_TOOLS) 2>/dev/null || true; fi
	@$(MAKE) --no-print-directory build
	@root=; if test -n "$(SUDO)" && $(SUDO) -v 2>/dev/null; then root="$(SUDO)"; fi; set -x; $$root ./target/release/fairlane race $(RACE_ARGUMENTS)

# The page of the report and the dashboard, built from ui/ and committed.
page:
	@./scripts/install-tools node:nodejs npm:npm
	@./scripts/ui

# The page is tested with the binary that was just built: its reports, its server, its races.
# It is built once, as the tests take it: `cargo build` chooses other features and would build everything again. Examples
# are built where they are run, and `make check` looks at them.
test: test-tools
	$(CARGO) test --workspace --locked --tests --no-run
	@./scripts/in-memory ./scripts/ui test
	@./scripts/fio-examples target/fio-examples
	@./scripts/install-fio-consumer
	@./scripts/install-fleet-consumer
	@CARGO="$(CARGO)" ./scripts/in-memory ./scripts/test-programs
	@CARGO="$(CARGO)" FAIRLANE="$${CARGO_TARGET_DIR:-target}/debug/fairlane" ./scripts/in-memory ./scripts/test-mpi

# Timings are printed here and asserted nowhere: machines are shared. About an hour, as root, alone
# on the machine; docs/performance.md keeps a run. BENCH=rows, agreement, memory, operations, sysbench,
# appenders, guests, restore (kept images), index, ranks, page or durability (crash images an hour and memory) runs a part.
BENCH ?= rows agreement memory operations sysbench appenders guests restore index ranks page durability
bench: race-tools
	@./scripts/install-tools fio:fio fs_mark:fsmark sysbench:sysbench $(SUITE_TOOLS) $(GUEST_TOOLS)
	$(CARGO) build --release --locked --bin fairlane --example performance
	for part in $(filter-out page durability,$(BENCH)); do $(SUDO) ./target/release/examples/performance $$part || exit; done
	$(if $(filter page,$(BENCH)),./scripts/ui bench)
	$(if $(filter durability,$(BENCH)),$(CARGO) build --release --locked)
	$(if $(filter durability,$(BENCH)),$(SUDO) ./target/release/fairlane powercut ext4 btrfs xfs --cuts 3000 --no-speed --quiet)

# Ten million hostile inputs for every reader of what strangers write, at most 256 MiB for all of them together, and a
# million of job files made from their options; hours. make test takes a minute of it. FUZZ names a part, as cargo test does.
CASES ?= 10000000
FUZZ ?=
fuzz:
	FUZZ_INPUTS=$(CASES) $(CARGO) test --release --locked -p fairlane --test fuzz $(FUZZ) -- --nocapture
	$(if $(FUZZ),,PROPTEST_CASES=$$(($(CASES) / 10)) $(CARGO) test --release --locked -p jobfile --test fuzz)

# Long runs whose tables go into docs/. The simulation behind the verdicts takes FAMILIES per row; EVIDENCE names parts of
# the races: seeds, equal, slowed, general, causes, screenings, planted, pairs, aging-equal, aging-seeds, aging-btrfs, aging-ext4,
# replays.
FAMILIES ?= 200000
EVIDENCE ?=
evidence: build race-tools
	@./scripts/install-tools python3:python3
	@./scripts/install-tools perf:linux-perf || echo "perf is missing: what it sees is not compared"
	$(CARGO) run --release --locked -p stats --example sequential -- $(FAMILIES)
	$(CARGO) run --release --locked -p stats --example gate
	$(CARGO) run --release --locked -p stats --example compare
	$(CARGO) run --release --locked -p stats --example screening
	$(CARGO) build --release --locked -p crashes -p profile --example slow-filesystem --example one-window
	$(SUDO) ./scripts/evidence $(EVIDENCE)

# Fresh machines of these releases, in QEMU with systemd, and README's two commands there. Takes hours;
# docs/evidence.md keeps a run.
RELEASES ?= bookworm trixie
distributions: static
	@./scripts/install-tools mmdebstrap:mmdebstrap qemu-system-x86_64:qemu-system-x86 mkfs.btrfs:btrfs-progs
	$(SUDO) ./scripts/distributions $(RELEASES)

check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	@command -v cargo-deny >/dev/null || $(CARGO) install --locked cargo-deny
	@if command -v $(MPICC) >/dev/null && compgen -G "/usr/lib/llvm-*/lib/libclang*.so*" >/dev/null; then \
		MPICC=$(MPICC) $(CARGO) clippy -p fairlane-mpi --features mpi --locked -- -D warnings; \
	else echo "not checked: fairlane-mpi, which needs $(MPICC) and libclang"; fi
	$(CARGO) deny --all-features check licenses bans sources
	@if test "$$(uname -m)" != aarch64; then $(MAKE) --no-print-directory check-aarch64; fi

# Everything compiles for the other architecture, without a warning. Rust's library for it is added where rustup is; a
# machine that cannot have it is told what it takes, and its check counts without this part.
check-aarch64:
	@$(HAS_AARCH64) || ! command -v rustup >/dev/null || rustup target add $(AARCH64) || true
	@if ! $(HAS_AARCH64); then \
		echo "not checked for aarch64: Rust has no library for it here. Type: rustup target add $(AARCH64)" \
			"(or with Debian's Rust: dpkg --add-architecture arm64 && apt update && apt install libstd-rust-dev:arm64)"; \
	elif ! ./scripts/install-tools $(AARCH64_COMPILER); then \
		echo "not checked for aarch64: its C compiler is missing"; \
	else set -x; \
		$(AARCH64_CARGO) clippy --workspace --all-targets --locked --target $(AARCH64) -- -D warnings; \
	fi

# The binary for aarch64, its unit tests under qemu-user with pages of 4 and of 64 KiB, and a guest of that architecture
# that boots, mounts and works, started by that binary. With large pages qemu-user crashes where a backtrace maps a file.
AARCH64_GUEST := $(CURDIR)/target/$(AARCH64)/data
aarch64:
	@$(HAS_AARCH64) || rustup target add $(AARCH64)
	@./scripts/install-tools $(AARCH64_TOOLS)
	@./scripts/aarch64-kernel $(AARCH64_GUEST)/fairlane/guest
	$(AARCH64_CARGO) build --release --locked --target $(AARCH64)
	$(AARCH64_CARGO) test --no-run --locked --target $(AARCH64) --workspace --lib --bins
	$(AARCH64_CARGO) test --no-run --locked --target $(AARCH64) -p fairlane --test integration
	./scripts/emulated $(AARCH64_CARGO) test --locked --target $(AARCH64) --workspace --lib --bins --no-fail-fast
	RUST_BACKTRACE=0 QEMU_PAGESIZE=65536 ./scripts/emulated $(AARCH64_CARGO) test --locked --target $(AARCH64) --workspace --lib --bins --no-fail-fast
	XDG_DATA_HOME=$(AARCH64_GUEST) ./scripts/emulated $(AARCH64_CARGO) test --locked --target $(AARCH64) -p fairlane --test integration guests::qemu_mounts
	@echo "target/$(AARCH64)/release/fairlane"

# One file that runs on any recent Linux of this architecture, without Rust.
static:
	RUSTFLAGS='-C target-feature=+crt-static' $(CARGO) build --release --locked --target $(STATIC_TARGET)
	@echo "target/$(STATIC_TARGET)/release/fairlane"

# What Fairlane is distributed as, in target/dist: a tarball, a .deb and an .rpm of one static program, licences, a bill of
# materials; for this architecture and for aarch64. The same commit and tools make the same bytes.
dist: dist-tools
	@CARGO="$(CARGO)" ./scripts/dist

# Builds that twice, at two places, and compares; then lintian, rpm, and a fresh Debian in which the .deb is installed, used
# and purged. Half an hour, 6 GB, and root for the last part.
dist-check: dist-tools
	@./scripts/install-tools $(DIST_CHECK_TOOLS)
	@CARGO="$(CARGO)" ./scripts/dist-check

clean:
	$(CARGO) clean

race-tools:
	@./scripts/install-tools $(RACE_TOOLS)

test-tools:
	@./scripts/install-tools $(TEST_TOOLS)

# A machine that cannot have what builds for aarch64 is told so by scripts/dist, and makes the packages of its own architecture.
dist-tools:
	@./scripts/install-tools $(DIST_TOOLS)
	@if test "$$(uname -m)" != aarch64; then \
		$(HAS_AARCH64) || ! command -v rustup >/dev/null || rustup target add $(AARCH64) || true; \
		./scripts/install-tools $(AARCH64_COMPILER) || true; \
	fi
