//! Whose files these are: under sudo the user who called it, known by the system's own databases or by sudo alone.
//!
//! The users of a company or of systemd-homed do not stand in /etc/passwd, and a program that is linked statically
//! cannot ask the C library for them. So sudo's own variables come next, then `getent`, which asks every database that
//! the machine is set to.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Where `getent` and `id` are looked for: what root runs here is no choice of a PATH.
const PROGRAM_FOLDERS: [&str; 3] = ["/usr/bin", "/bin", "/run/current-system/sw/bin"];
/// Groups of one user, at most (limits.h, NGROUPS_MAX).
const MOST_GROUPS: usize = 65_536;

/// The user whose files these are: under sudo the one who called it, not root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    /// User id and group id of whoever called sudo; none where the process is its own user.
    ids: Option<(u32, u32)>,
}

impl Owner {
    /// Reads SUDO_UID and SUDO_GID where the process is root.
    pub fn current() -> Self {
        let number = |key: &str| std::env::var(key).ok()?.parse::<u32>().ok();
        let ids = match (rustix::process::geteuid().is_root(), number("SUDO_UID"), number("SUDO_GID")) {
            // The largest number stands for "unchanged" in system calls.
            (true, Some(user), Some(group)) if user != 0 && user != u32::MAX && group != u32::MAX => {
                Some((user, group))
            }
            _ => None,
        };
        Owner { ids }
    }

    /// User id of that user.
    pub fn uid(&self) -> u32 {
        self.ids.map_or_else(|| rustix::process::geteuid().as_raw(), |(user, _)| user)
    }

    /// User id and group id, where they are not those of this process.
    pub fn ids(&self) -> Option<(u32, u32)> {
        self.ids
    }

    /// Home folder of that user; `None`: nobody knows it.
    pub fn home(&self) -> Option<PathBuf> {
        static HOME: OnceLock<Option<PathBuf>> = OnceLock::new();
        match self.ids {
            // HOME is root's under sudo.
            Some((user, _)) => HOME.get_or_init(|| home_of(user)).clone(),
            None => absolute(std::env::var_os("HOME").map(PathBuf::from)),
        }
    }

    /// All groups of that user; its own alone where no database tells them.
    pub fn groups(&self) -> &'static [u32] {
        static GROUPS: OnceLock<Vec<u32>> = OnceLock::new();
        let Some((user, group)) = self.ids else { return &[] };
        GROUPS.get_or_init(|| {
            let told = asked("id", &["-G", &user.to_string()]).unwrap_or_default();
            let mut groups: Vec<u32> = told.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
            // Group 0 is root's: nobody gets it from a database of a stranger's machine.
            groups.retain(|&of| of != group && of != 0);
            groups.truncate(MOST_GROUPS - 1);
            groups.push(group);
            groups
        })
    }
}

/// Sets HOME, where a service or a container left it out, to what the system's databases know. Call it before any thread
/// begins.
pub fn find_home() {
    let is_known = std::env::var_os("HOME").is_some_and(|home| !home.is_empty());
    if is_known {
        return;
    }
    if let Some(home) = home_of(rustix::process::geteuid().as_raw()) {
        // SAFETY: this process has one thread yet, so nobody reads the environment meanwhile.
        unsafe { std::env::set_var("HOME", home) };
    }
}

/// /etc/passwd first, because it costs nothing; sudo's own word next; then every other database.
fn home_of(user: u32) -> Option<PathBuf> {
    let file = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    in_passwd(&file, user)
        .or_else(|| absolute(std::env::var_os("SUDO_HOME").map(PathBuf::from)))
        .or_else(|| in_passwd(&asked("getent", &["passwd", &user.to_string()])?, user))
}

/// The home folder in lines of passwd(5).
fn in_passwd(lines: &str, user: u32) -> Option<PathBuf> {
    let fields = lines
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>())
        .find(|fields| fields.len() > 5 && fields[2].parse() == Ok(user))?;
    absolute(Some(PathBuf::from(fields[5])))
}

fn absolute(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| path.is_absolute())
}

/// What a program of the system answers; `None` where it is missing or knows nothing.
fn asked(program: &str, arguments: &[&str]) -> Option<String> {
    let path = PROGRAM_FOLDERS.iter().map(|folder| Path::new(folder).join(program)).find(|path| path.is_file())?;
    let output = Command::new(path)
        .args(arguments)
        .env_clear()
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_found_by_its_user_and_only_where_it_is_a_whole_path() {
        let lines =
            "root:x:0:0:root:/root:/bin/sh\nli:x:1000:1000:,,,:/home/li:/bin/sh\nbare:x:7:7::relative:/bin/sh\n";
        assert_eq!(in_passwd(lines, 1000), Some(PathBuf::from("/home/li")));
        // As getent answers of LDAP and systemd-homed.
        assert_eq!(
            in_passwd("ada:*:200042:200042:Ada:/home/corp/ada:/bin/zsh\n", 200_042),
            Some("/home/corp/ada".into())
        );
        for unknown in [7, 1, 100] {
            assert_eq!(in_passwd(lines, unknown), None);
        }
        assert_eq!(in_passwd("", 0), None);
    }

    #[test]
    fn a_program_of_the_system_is_asked_without_a_shell_and_without_our_environment() {
        assert_eq!(in_passwd(&asked("getent", &["passwd", "0"]).unwrap(), 0), Some("/root".into()));
        assert_eq!(asked("getent", &["passwd", "4294967000"]), None);
        assert_eq!(asked("no-such-program", &[]), None);
        assert!(asked("id", &["-G", "0"]).unwrap().split_ascii_whitespace().any(|group| group == "0"));
    }
}
