//! Which module files a guest loads, and in which order: read from the modules themselves, because a kernel
//! package that no package manager set up has no modules.dep.

use crate::command::find_program;
use crate::filesystems::Filesystem;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How distributions compress modules, and what unpacks them to standard output.
const UNPACKERS: [(&str, &str, &str); 3] = [("xz", "xz", "xz-utils"), ("zst", "zstd", "zstd"), ("gz", "gzip", "gzip")];

/// The modules of one kernel.
#[derive(Debug, Clone, Default)]
pub struct Modules {
    /// Files by their name with underscores.
    files: BTreeMap<String, PathBuf>,
    /// What is part of the kernel itself.
    builtin: BTreeSet<String>,
    /// Where they lie.
    folder: PathBuf,
}

/// A module as a guest loads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// Its name with underscores.
    pub name: String,
    /// Its bytes, unpacked.
    pub bytes: Vec<u8>,
}

/// `-` and `_` are the same in a module's name.
fn plain(name: &str) -> String {
    name.replace('-', "_")
}

/// `crc32c_generic` of `crc32c_generic.ko` and `crc32c_generic.ko.xz`.
fn module_name(file: &str) -> Option<String> {
    file.split_once(".ko").filter(|(_, rest)| rest.is_empty() || rest.starts_with('.')).map(|(name, _)| plain(name))
}

/// The file of a module, by the list of dependencies of a kernel's folder such as /lib/modules/6.1.0-9-amd64. `None`: it is a part of
/// the kernel, or nowhere.
pub(crate) fn module_file(folder: &Path, name: &str) -> Option<PathBuf> {
    let text = std::fs::read_to_string(folder.join("modules.dep")).ok()?;
    let wanted = plain(name);
    let is_it = |file: &&str| file.rsplit('/').next().and_then(module_name).is_some_and(|name| name == wanted);
    text.lines().filter_map(|line| line.split_once(':')).map(|(file, _)| file).find(is_it).map(|file| folder.join(file))
}

impl Modules {
    /// Reads a folder such as /lib/modules/6.1.0-9-amd64.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(folder: &Path) -> io::Result<Modules> {
        let mut modules = Modules { folder: folder.to_owned(), ..Modules::default() };
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                // `build` and `source` are links out of it.
                let kind = entry.file_type()?;
                if kind.is_dir() {
                    waiting.push(entry.path());
                } else if let (true, Some(name)) = (kind.is_file(), entry.file_name().to_str().and_then(module_name)) {
                    modules.files.insert(name, entry.path());
                }
            }
        }
        let builtin = std::fs::read_to_string(folder.join("modules.builtin")).unwrap_or_default();
        let name = |line: &str| module_name(line.rsplit('/').next()?);
        modules.builtin = builtin.lines().filter_map(name).collect();
        // What can be no module, fscrypt for one, stands only here: `fscrypto.parm=…`.
        let told = std::fs::read(folder.join("modules.builtin.modinfo")).unwrap_or_default();
        let told = told.split(|&byte| byte == 0).filter_map(|line| std::str::from_utf8(line).ok()?.split_once('.'));
        modules.builtin.extend(told.map(|(name, _)| plain(name)));
        Ok(modules)
    }

    /// Whether the kernel has it, as a module or in itself. Where a kernel does not tell what it has in
    /// itself, the running guest alone knows.
    pub fn has(&self, name: &str) -> bool {
        let name = plain(name);
        self.files.contains_key(&name) || self.builtin.contains(&name)
    }

    /// The module that mounts a filesystem: its own, or another one that says so by an alias. `None`: the kernel has none.
    pub fn of_filesystem(&self, row: &Filesystem) -> Option<&'static str> {
        if self.has(row.module) {
            return Some(row.module);
        }
        let (other, alias) = row.other_module?;
        let aliases = match self.files.get(other) {
            Some(path) => unpacked(path).map(|bytes| words(&bytes, "alias")).unwrap_or_default(),
            None => {
                let told = std::fs::read(self.folder.join("modules.builtin.modinfo")).unwrap_or_default();
                words(&told, &format!("{other}.alias"))
            }
        };
        aliases.iter().any(|known| known == alias).then_some(other)
    }

    /// Whether nothing is known of what the kernel has in itself.
    pub fn knows_builtin(&self) -> bool {
        !self.builtin.is_empty()
    }

    /// These modules and what they need, each behind what it depends on. What is not there is left out: it may
    /// be part of the kernel.
    ///
    /// # Errors
    /// When a file cannot be read or unpacked.
    pub fn load_order(&self, names: &[&str]) -> io::Result<Vec<Module>> {
        let mut order =
            Order { modules: self, algorithms: self.algorithms()?, seen: BTreeSet::new(), found: Vec::new() };
        names.iter().try_for_each(|name| order.visit(&plain(name)))?;
        Ok(order.found)
    }

    /// Algorithms by name (`crc32c`), and the module that has each in plain code, which runs on any CPU:
    /// modules ask for algorithms, not for modules.
    fn algorithms(&self) -> io::Result<BTreeMap<String, String>> {
        let mut algorithms = BTreeMap::new();
        let folder = self.folder.join("kernel/crypto");
        for (name, path) in self.files.iter().filter(|(_, path)| path.parent() == Some(&folder)) {
            for algorithm in words(&unpacked(path)?, "alias").iter().map(|alias| plain(alias)) {
                let known = algorithms.entry(algorithm).or_insert_with(|| name.clone());
                if name.ends_with("_generic") {
                    known.clone_from(name);
                }
            }
        }
        Ok(algorithms)
    }
}

/// An order that grows.
struct Order<'a> {
    modules: &'a Modules,
    algorithms: BTreeMap<String, String>,
    seen: BTreeSet<String>,
    found: Vec<Module>,
}

impl Order<'_> {
    fn visit(&mut self, name: &str) -> io::Result<()> {
        let name = match self.algorithms.get(name) {
            Some(module) if !self.modules.files.contains_key(name) => module.clone(),
            _ => name.to_owned(),
        };
        let Some(path) = self.modules.files.get(&name) else { return Ok(()) };
        // A name that comes again, in a circle too, is loaded already or on its way.
        if !self.seen.insert(name.clone()) {
            return Ok(());
        }
        let bytes = unpacked(path)?;
        let needs = needs(&bytes);
        needs.before.iter().try_for_each(|before| self.visit(before))?;
        self.found.push(Module { name, bytes });
        needs.after.iter().try_for_each(|after| self.visit(after))
    }
}

/// A module's bytes, whether it is compressed or not: the kernel of a guest need not know how to unpack it.
fn unpacked(path: &Path) -> io::Result<Vec<u8>> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !UNPACKERS.iter().any(|(of, ..)| *of == ending) {
        return std::fs::read(path);
    }
    unpack(File::open(path)?, ending)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// What a file holds that is compressed as files with this ending are.
///
/// # Errors
/// When the program that unpacks it is missing, or cannot.
pub(super) fn unpack(packed: File, ending: &str) -> io::Result<Vec<u8>> {
    let known = UNPACKERS.iter().find(|(of, ..)| *of == ending);
    let (_, name, package) = known.ok_or_else(|| io::Error::other(format!("nothing unpacks .{ending}")))?;
    let program = find_program(name).ok_or_else(|| {
        io::Error::other(format!("it is compressed and {name} is missing; {}", crate::missing::install(package)))
    })?;
    let output = Command::new(program).args(["-d", "-c"]).stdin(packed).output()?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(io::Error::other(format!("{name} cannot unpack it ({})", output.status))),
    }
}

/// What a module names.
#[derive(Debug, Default, PartialEq)]
struct Needs {
    before: Vec<String>,
    after: Vec<String>,
}

/// The `depends=` and `softdep=` words of .modinfo.
fn needs(bytes: &[u8]) -> Needs {
    let mut needs = Needs::default();
    for list in words(bytes, "softdep") {
        let mut later = false;
        for word in list.split_whitespace() {
            match word {
                "pre:" => later = false,
                "post:" => later = true,
                name if later => needs.after.push(plain(name)),
                name => needs.before.push(plain(name)),
            }
        }
    }
    let depends = words(bytes, "depends");
    needs.before.extend(depends.iter().flat_map(|list| list.split(',')).filter(|name| !name.is_empty()).map(plain));
    needs
}

/// The values of a key of .modinfo, whose texts stand between zero bytes.
fn words(bytes: &[u8], key: &str) -> Vec<String> {
    let start = format!("{key}=");
    let texts = bytes.split(|&byte| byte == 0);
    let values = texts.filter_map(|text| text.strip_prefix(start.as_bytes()));
    values.filter_map(|value| std::str::from_utf8(value).ok()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modules_own_words_are_read() {
        let bytes = b"\x7fELF\0license=GPL\0softdep=pre: crc32c-generic post: zstd\0depends=jbd2,mbcache,\0depends\0x";
        let found = needs(bytes);
        assert_eq!(found.before, ["crc32c_generic", "jbd2", "mbcache"]);
        assert_eq!(found.after, ["zstd"]);
        assert_eq!(needs(b""), Needs::default());
    }

    #[test]
    fn modules_are_loaded_behind_what_they_need_each_once() {
        let folder = std::env::temp_dir().join(format!("fairlane-modules-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("kernel/fs")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join("kernel/fs").join(name), text).unwrap();
        write("a.ko", "\0depends=b-c,d\0");
        write("b_c.ko", "\0depends=d\0softdep=pre: gone\0");
        // A circle, as softdep makes them, and an algorithm.
        write("d.ko", "\0depends=\0softdep=pre: a pre: crc-32\0");
        std::fs::create_dir_all(folder.join("kernel/crypto")).unwrap();
        for (name, alias) in [("crc_fast", "crc-32"), ("crc_generic", "crc-32"), ("crc_odd", "other")] {
            std::fs::write(folder.join(format!("kernel/crypto/{name}.ko")), format!("\0alias={alias}\0")).unwrap();
        }
        write("packed.ko", "\0depends=d\0");
        for (program, ending) in [("xz", "xz"), ("zstd", "zst"), ("gzip", "gz")] {
            let (plain, packed) = ("kernel/fs/packed.ko", format!("kernel/fs/packed_{ending}.ko.{ending}"));
            let to = std::fs::File::create(folder.join(packed)).unwrap();
            let status = Command::new(program).args(["-q", "-c"]).arg(folder.join(plain)).stdout(to).status();
            assert!(status.is_ok_and(|status| status.success()), "{program} packs");
        }
        write("torn.ko.xz", "no archive");
        std::fs::write(folder.join("modules.builtin"), "kernel/fs/ext4/ext4.ko\n").unwrap();
        let modules = Modules::read(&folder).unwrap();
        let order = |names: &[&str]| {
            let found = modules.load_order(names)?;
            Ok::<_, io::Error>(found.into_iter().map(|module| module.name).collect::<Vec<_>>())
        };
        let found = order(&["a", "ext4", "a"]);
        let packed = order(&["packed_xz", "packed-zst", "packed_gz"]);
        let bytes = modules.load_order(&["packed_zst"]).map(|all| all.last().unwrap().bytes.clone());
        let torn = order(&["torn"]);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.unwrap(), ["crc_generic", "d", "b_c", "a"]);
        assert_eq!(packed.unwrap(), ["b_c", "a", "crc_generic", "d", "packed_xz", "packed_zst", "packed_gz"]);
        assert_eq!(bytes.unwrap(), b"\0depends=d\0");
        assert!(torn.unwrap_err().to_string().contains("torn.ko.xz: xz cannot unpack"));
        assert!(modules.has("ext4") && modules.has("b-c") && !modules.has("ntfs3"));
    }
}
