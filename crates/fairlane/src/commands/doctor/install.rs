//! Installs what is missing with the distribution's package manager, through sudo where needed.

use super::Survey;
use super::programs::{self, NoServices};
use crate::failure::Failure;
use crate::signals;
use crate::terminal::say;
use model::packages::Distribution;
use std::process::{Command, Stdio};

/// First the guests, because which tools are of use depends on what their kernels mount; `with_programs`: at
/// last the servers and programs of suites.
///
/// # Errors
/// When the package manager is not known, there is no way to be root, or a package cannot be installed.
pub fn install(with_programs: bool) -> Result<(), Failure> {
    let guests = Survey::take().guest_packages();
    packages(&guests, None)?;
    packages(&Survey::take().tool_packages().into_iter().collect::<Vec<_>>(), None)?;
    if with_programs { programs_without_services() } else { Ok(()) }
}

/// A database server's package starts it as a service, which nobody asked for here.
fn programs_without_services() -> Result<(), Failure> {
    let missing = programs::packages();
    let list: Vec<&str> = missing.iter().map(String::as_str).collect();
    // Elsewhere packages start nothing by themselves.
    let has_apt = lanes::missing::distribution().is_some_and(Distribution::has_apt);
    let brings_service = has_apt && list.contains(&"postgresql");
    if brings_service && !lanes::host::is_root() {
        return Err(Failure::missing(
            "that no database server is started by its package takes root: sudo fairlane doctor --install --programs",
        ));
    }
    let quiet = brings_service.then(NoServices::for_a_while).transpose();
    let quiet = quiet.map_err(|error| Failure::failed(format!("services cannot be kept from starting: {error}")))?;
    // Ctrl-C reaches apt-get too, which ends; this process then takes its folder away.
    if quiet.is_some() {
        hold_signals()?;
    }
    packages(&list, quiet.as_ref())
}

/// The signals of a terminal and of a session's end do not end this process from here on.
fn hold_signals() -> Result<(), Failure> {
    let noticed = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    signals::stop(&noticed)?;
    Ok(())
}

fn packages(packages: &[&str], quiet: Option<&NoServices>) -> Result<(), Failure> {
    if packages.is_empty() {
        return Ok(());
    }
    let Some(distribution) = lanes::missing::distribution().filter(|of| has(of.manager())) else {
        return Err(Failure::missing(format!(
            "this distribution's packages are not known; install with its package manager what Debian calls: {}",
            packages.join(" ")
        )));
    };
    let names = lanes::missing::names(packages.iter().copied());
    if names.is_empty() {
        say!("this distribution has no package of {}", packages.join(", "));
        return Ok(());
    }
    let root = lanes::host::is_root();
    if !root && !has("sudo") {
        let list = names.join(" ");
        return Err(Failure::missing(format!(
            "installing needs root; as root: fairlane doctor --install installs {list}{}",
            if distribution.has_apt() { "; or without it: fairlane doctor --install --user" } else { "" }
        )));
    }
    let manager = distribution.manager();
    if distribution.has_apt() {
        run(root, manager, &["update", "-qq"])?;
    }
    let client = if distribution.has_apt() { "apt-cache" } else { manager };
    let (names, lacking): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| is_offered(Command::new(found(client)), distribution, name));
    if !lacking.is_empty() {
        say!("{}", left_out(&lacking));
    }
    if names.is_empty() {
        return Ok(());
    }
    let setting = quiet.filter(|_| distribution.has_apt()).map(NoServices::setting);
    let mut arguments: Vec<&str> = setting.iter().flat_map(|setting| ["-o", setting.as_str()]).collect();
    arguments.extend(match distribution {
        Distribution::Debian | Distribution::Ubuntu => vec!["install", "-y", "-qq", "--no-install-recommends"],
        Distribution::Fedora => vec!["install", "-y", "-q", "--setopt=install_weak_deps=False"],
        // Not -Sy: without an upgrade of everything that breaks what is installed.
        Distribution::Arch => vec!["-S", "--needed", "--noconfirm"],
        Distribution::Suse => vec!["--non-interactive", "--quiet", "install", "--no-recommends"],
    });
    arguments.extend(names.iter().map(String::as_str));
    run(root, manager, &arguments)
}

/// The sentence for packages that the machine's repositories do not have.
pub fn left_out(packages: &[String]) -> String {
    format!("the repositories of this machine do not have {}: what needs them is left out", packages.join(", "))
}

/// Whether the repositories have a package; `client` is the program that knows. Where the question cannot be asked
/// the package is taken for there, and the installation tells.
pub fn is_offered(mut client: Command, distribution: Distribution, name: &str) -> bool {
    // As scripts/install-tools asks.
    let question: &[&str] = match distribution {
        Distribution::Debian | Distribution::Ubuntu => &["policy"],
        Distribution::Fedora => &["-q", "list"],
        Distribution::Arch => &["-Si"],
        Distribution::Suse => &["--non-interactive", "--quiet", "search", "--match-exact", "--provides"],
    };
    // apt-cache's answer is read: in English.
    client.args(question).arg(name).env("LC_ALL", "C").stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(answer) = client.output() else { return true };
    answer.status.success() && offers(distribution, &String::from_utf8_lossy(&answer.stdout))
}

/// Whether the answer says so: apt-cache and zypper succeed with what they do not know too.
fn offers(distribution: Distribution, answer: &str) -> bool {
    match distribution {
        Distribution::Debian | Distribution::Ubuntu => answer
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Candidate: "))
            .any(|version| !version.starts_with('(')),
        Distribution::Suse => answer.contains('|'),
        Distribution::Fedora | Distribution::Arch => true,
    }
}

/// Whether a program is there.
pub fn has(program: &str) -> bool {
    lanes::command::find_program(program).is_some()
}

/// Where a program lies: relative elements of PATH lead root into somebody's folder.
pub(super) fn found(program: &str) -> std::path::PathBuf {
    lanes::command::find_program(program).unwrap_or_else(|| program.into())
}

fn run(root: bool, manager: &str, arguments: &[&str]) -> Result<(), Failure> {
    const QUIET: (&str, &str) = ("DEBIAN_FRONTEND", "noninteractive");
    let mut command = match root {
        true => Command::new(found(manager)),
        false => {
            // Behind sudo, which drops variables.
            let mut behind = Command::new(found("sudo"));
            behind.args(["env", &format!("{}={}", QUIET.0, QUIET.1), manager]);
            behind
        }
    };
    let status = command
        .env(QUIET.0, QUIET.1)
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .map_err(|error| Failure::failed(format!("cannot run {manager}: {error}")))?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure::failed(format!(
            "{manager} {} failed ({status}); run it by hand to see why",
            arguments.join(" ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_a_candidate_is_not_offered() {
        let known = "jfsutils:\n  Installed: (none)\n  Candidate: 1.1.15-5\n";
        let gone = "reiserfsprogs:\n  Installed: (none)\n  Candidate: (none)\n  Version table:\n";
        for (answer, is) in [(known, true), (gone, false), ("", false)] {
            assert_eq!(offers(Distribution::Debian, answer), is, "{answer}");
        }
        assert!(offers(Distribution::Suse, "S | Name | Summary\n--+--\n  | jfsutils | IBM JFS\n"));
        assert!(!offers(Distribution::Suse, "No matching items found.\n"));
    }
}
