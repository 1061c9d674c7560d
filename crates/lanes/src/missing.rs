//! How what is missing is had: with the package manager, or without root.

use model::packages::Distribution;
use std::sync::OnceLock;

/// What this distribution says of itself; empty: nothing.
pub fn os_release() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let files = ["/etc/os-release", "/usr/lib/os-release"];
        files.iter().find_map(|file| std::fs::read_to_string(file).ok()).unwrap_or_default()
    })
}

/// The distribution; `None`: none whose packages are known.
pub fn distribution() -> Option<Distribution> {
    Distribution::new(os_release())
}

/// What packages of Debian's are called here, each once; those that are not there are left out. Where the
/// distribution is not known they keep Debian's names.
pub fn names<'a>(debian: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let here = |package: &str| distribution().map_or_else(|| vec![package.to_owned()], |of| of.names(package));
    let mut names: Vec<String> = Vec::new();
    for name in debian.into_iter().flat_map(here) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The command that installs packages of Debian's by their names here, or a clause where there is none.
pub fn remedy(package: &str) -> String {
    model::packages::remedy(os_release(), package, "")
}

/// How a Debian package is installed: `install it: …`. Who is not root is told of the way without it first.
pub fn install(package: &str) -> String {
    install_as(os_release(), package, crate::host::is_root())
}

/// The sentence for a program that is missing.
pub fn missing(program: &str, package: &str) -> String {
    format!("{program} is missing; {}", install(package))
}

/// The command that installs what is missing, as far as this user can.
pub fn doctor() -> &'static str {
    doctor_as(os_release(), crate::host::is_root())
}

fn doctor_as(os_release: &str, root: bool) -> &'static str {
    match (root, Distribution::new(os_release)) {
        (true, _) => "fairlane doctor --install",
        // Without root packages are unpacked by Debian's own tools.
        (false, Some(distribution)) if distribution.has_apt() => "fairlane doctor --install --user",
        (false, _) => "sudo fairlane doctor --install",
    }
}

fn install_as(os_release: &str, package: &str, root: bool) -> String {
    let doctor = doctor_as(os_release, root);
    let remedy = model::packages::remedy(os_release, package, if root { "" } else { "sudo " });
    match root {
        true => format!("install it: {remedy}, or run `{doctor}`"),
        false if Distribution::new(os_release).is_none_or(|of| !of.has_apt()) => format!("install it: {remedy}"),
        false => format!("install it: without root run `{doctor}`, with root {remedy}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_root_is_told_the_way_without_root() {
        let said = install_as("ID=debian\n", "jfsutils", false);
        assert!(
            said.contains("`fairlane doctor --install --user`") && said.contains("sudo apt install jfsutils"),
            "{said}"
        );
        let said = install_as("ID=debian\n", "jfsutils", true);
        assert!(!said.contains("--user") && !said.contains("sudo") && said.contains("apt install jfsutils"), "{said}");
    }

    #[test]
    fn elsewhere_its_own_package_manager_is_named() {
        let said = install_as("ID=fedora\n", "nilfs-tools", false);
        assert_eq!(said, "install it: sudo dnf install nilfs-utils");
        let said = install_as("ID=arch\n", "nilfs-tools", true);
        assert_eq!(said, "install it: pacman -S nilfs-utils, or run `fairlane doctor --install`");
    }
}
