//! How what is missing is had: with the package manager, or without root.

/// How a Debian package is installed: `install it: …`. Who is not root is told of the way without it first.
pub fn install(package: &str) -> String {
    install_as(package, rustix::process::geteuid().is_root())
}

/// The sentence for a program that is missing.
pub fn missing(program: &str, package: &str) -> String {
    format!("{program} is missing; {}", install(package))
}

/// The command that installs what is missing, as far as this user can.
pub fn doctor() -> &'static str {
    doctor_as(rustix::process::geteuid().is_root())
}

fn doctor_as(root: bool) -> &'static str {
    if root { "fairlane doctor --install" } else { "fairlane doctor --install --user" }
}

fn install_as(package: &str, root: bool) -> String {
    let doctor = doctor_as(root);
    match root {
        true => format!("install it: apt install {package}, or run `{doctor}`"),
        false => format!("install it: without root run `{doctor}`, with root sudo apt install {package}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_root_is_told_the_way_without_root() {
        let said = install_as("jfsutils", false);
        assert!(
            said.contains("`fairlane doctor --install --user`") && said.contains("sudo apt install jfsutils"),
            "{said}"
        );
        let said = install_as("jfsutils", true);
        assert!(!said.contains("--user") && !said.contains("sudo") && said.contains("apt install jfsutils"), "{said}");
    }
}
