//! The command that installs what is missing on this machine.

/// `apt install fio`, or as this distribution says it; packages by Debian's names, parted by spaces.
pub(crate) fn remedy(packages: &str) -> String {
    model::packages::remedy(&os_release(), packages, "")
}

/// What this distribution says of itself; empty: nothing.
pub(crate) fn os_release() -> String {
    let files = ["/etc/os-release", "/usr/lib/os-release"];
    files.iter().find_map(|file| std::fs::read_to_string(file).ok()).unwrap_or_default()
}
