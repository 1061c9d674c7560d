//! Whether user-mode Linux runs programs on this machine.

use lanes::guest::{GuestKind, Kernel, uml};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

/// What a trial boot tells; where nothing runs, why the test is skipped is printed. Where its package is missing on a
/// processor that has it, the test fails: `make test` installs it.
pub fn user_mode_linux() -> bool {
    static RUNS: OnceLock<Result<(), String>> = OnceLock::new();
    let runs = RUNS.get_or_init(|| {
        let kernel = match Kernel::find(GuestKind::Uml, None) {
            Err(missing) if !cfg!(target_arch = "x86_64") => return Err(missing.to_string()),
            found => found.expect("user-mode Linux is installed"),
        };
        let program = Path::new(env!("CARGO_BIN_EXE_fairlane"));
        let tried = uml::ptrace_for(&kernel, program, &AtomicBool::new(false));
        tried.map(|_| ()).map_err(|why| why.to_string())
    });
    if let Err(why) = runs {
        eprintln!("skipped: {why}");
    }
    runs.is_ok()
}
