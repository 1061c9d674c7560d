//! What Debian's packages are called by other distributions, and the command that installs them there.
//!
//! The table is `scripts/packages`, which `scripts/install-tools` reads too.

const TABLE: &str = include_str!("../../../scripts/packages");

/// A distribution, or a family of them, whose names the table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// Debian and what is made from it.
    Debian,
    /// Ubuntu and what is made from it.
    Ubuntu,
    /// Fedora, RHEL and what is made from them.
    Fedora,
    /// Arch Linux and what is made from it.
    Arch,
    /// openSUSE and SLES.
    Suse,
}

impl Distribution {
    /// By the text of /etc/os-release: what it calls itself, then what it says it is like. `None`: one that the
    /// table does not know.
    pub fn new(os_release: &str) -> Option<Self> {
        let value = |key: &str| {
            os_release.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim_matches(['"', '\''])
        };
        let words = [value("ID="), value("ID_LIKE=")];
        words.iter().flat_map(|words| words.split_whitespace()).find_map(|word| match word {
            "debian" => Some(Distribution::Debian),
            "ubuntu" => Some(Distribution::Ubuntu),
            "fedora" | "rhel" | "centos" => Some(Distribution::Fedora),
            "arch" | "archarm" => Some(Distribution::Arch),
            "suse" | "sles" => Some(Distribution::Suse),
            other if other.starts_with("opensuse") => Some(Distribution::Suse),
            _ => None,
        })
    }

    /// The program that installs packages.
    pub fn manager(self) -> &'static str {
        match self {
            Distribution::Debian | Distribution::Ubuntu => "apt-get",
            Distribution::Fedora => "dnf",
            Distribution::Arch => "pacman",
            Distribution::Suse => "zypper",
        }
    }

    /// Whether Debian's own tools manage its packages.
    pub fn has_apt(self) -> bool {
        self.manager() == "apt-get"
    }

    /// What it calls a package of Debian's; none: it has no such package.
    pub fn names(self, debian: &str) -> Vec<String> {
        let row = TABLE.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row = row.into_iter().find(|columns| columns.first() == Some(&debian));
        let name = row.and_then(|columns| columns.get(self.column()).copied());
        match name.unwrap_or("=") {
            "-" => Vec::new(),
            "=" => vec![debian.to_owned()],
            names => names.split(',').map(str::to_owned).collect(),
        }
    }

    fn column(self) -> usize {
        match self {
            Distribution::Debian => 0,
            Distribution::Ubuntu => 1,
            Distribution::Fedora => 2,
            Distribution::Arch => 3,
            Distribution::Suse => 4,
        }
    }

    /// The words of the command that installs packages, which are named by the caller.
    fn install_words(self) -> &'static str {
        match self {
            Distribution::Debian | Distribution::Ubuntu => "apt install",
            Distribution::Fedora => "dnf install",
            Distribution::Arch => "pacman -S",
            Distribution::Suse => "zypper install",
        }
    }
}

/// How packages of Debian's, parted by spaces, are had on a machine with this /etc/os-release: `apt install fio`, or a
/// clause where there is no such command. `privilege` stands before a command: `sudo `, or nothing.
pub fn remedy(os_release: &str, debian: &str, privilege: &str) -> String {
    let Some(distribution) = Distribution::new(os_release) else {
        return format!("install what Debian calls {debian} with this distribution's package manager");
    };
    let names: Vec<String> = debian.split_whitespace().flat_map(|package| distribution.names(package)).collect();
    match names.is_empty() {
        true => format!("this distribution has no package of it (Debian calls it {debian})"),
        false => format!("{privilege}{} {}", distribution.install_words(), names.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_known_by_their_own_name_first() {
        let of = |text: &str| Distribution::new(text);
        assert_eq!(of("PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n"), Some(Distribution::Debian));
        assert_eq!(of("ID=ubuntu\nID_LIKE=debian\n"), Some(Distribution::Ubuntu));
        assert_eq!(of("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), Some(Distribution::Ubuntu));
        assert_eq!(of("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), Some(Distribution::Fedora));
        assert_eq!(of("ID='manjaro'\nID_LIKE=arch"), Some(Distribution::Arch));
        assert_eq!(of("ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n"), Some(Distribution::Suse));
        // They have an apt-get or names of their own.
        for text in ["ID=altlinux\n", "ID=alpine\n", "ID=nixos\nID_LIKE=\"\"\n", "VARIANT_ID=fedora\n", ""] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn remedies_name_this_machines_manager_and_packages() {
        let fedora = "ID=fedora\n";
        assert_eq!(remedy("ID=debian\n", "nilfs-tools", "sudo "), "sudo apt install nilfs-tools");
        assert_eq!(remedy(fedora, "nilfs-tools", "sudo "), "sudo dnf install nilfs-utils");
        assert_eq!(remedy(fedora, "ntfs-3g coreutils", ""), "dnf install ntfs-3g ntfsprogs coreutils");
        assert_eq!(remedy("ID=arch\n", "build-essential", ""), "pacman -S base-devel");
        assert_eq!(remedy("ID=opensuse-leap\n", "btrfs-progs", ""), "zypper install btrfsprogs");
        assert_eq!(remedy("ID=ubuntu\n", "linux-image-amd64", ""), "apt install linux-image-generic");
        assert!(remedy(fedora, "user-mode-linux", "sudo ").starts_with("this distribution has no package of it"));
        assert!(remedy("ID=alpine\n", "fio", "").contains("what Debian calls fio"));
        // What the table does not have is called the same everywhere.
        assert_eq!(remedy(fedora, "no-such-package", ""), "dnf install no-such-package");
    }

    #[test]
    fn every_line_of_the_table_has_all_its_columns() {
        let rows = TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        for row in rows {
            assert_eq!(row.split_whitespace().count(), 5, "{row}");
        }
    }
}
