//! As much of ELF (64 bits, little-endian) as it takes to carry a program into a guest: its loader, the
//! libraries that it needs, and a copy without debugging information.

use crate::architecture::Architecture;
use crate::command;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Where loaders look without being told (ld.so(8)) on the distributions that package guest kernels, behind the
/// folders of the architecture.
const FOLDERS: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;

/// A file read whole.
struct Elf {
    bytes: Vec<u8>,
    /// Whose programs these are: `e_machine`.
    machine: u16,
    segments: Vec<Segment>,
}

struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    file_bytes: u64,
}

/// A program and everything that its loader opens.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// The loader's own path, at which it must lie.
    pub(crate) loader: Option<PathBuf>,
    /// Libraries by the name that is asked for.
    pub(crate) libraries: BTreeMap<String, PathBuf>,
}

fn bad(path: &Path, what: &str) -> io::Error {
    io::Error::other(format!("{}: {what}", path.display()))
}

impl Elf {
    fn read(path: &Path) -> io::Result<Elf> {
        let bytes = std::fs::read(path)?;
        // 64 bits, little-endian.
        if bytes.len() < 64 || bytes[..6] != *b"\x7fELF\x02\x01" {
            return Err(bad(path, "is no 64-bit program of this machine"));
        }
        let machine = u16::from_le_bytes([bytes[18], bytes[19]]);
        let mut elf = Elf { bytes, machine, segments: Vec::new() };
        let broken = || bad(path, "is damaged");
        let table = elf.number(32, 8).ok_or_else(broken)?;
        let size = elf.number(54, 2).ok_or_else(broken)?;
        let count = elf.number(56, 2).ok_or_else(broken)?;
        for index in 0..count {
            let at = table + index * size;
            let field = |offset: u64, width: usize| elf.number(at + offset, width).ok_or_else(broken);
            elf.segments.push(Segment {
                kind: field(0, 4)? as u32,
                offset: field(8, 8)?,
                address: field(16, 8)?,
                file_bytes: field(32, 8)?,
            });
        }
        Ok(elf)
    }

    fn number(&self, offset: u64, width: usize) -> Option<u64> {
        let offset = usize::try_from(offset).ok()?;
        let bytes = self.bytes.get(offset..offset.checked_add(width)?)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn text(&self, offset: u64) -> Option<String> {
        let bytes = self.bytes.get(usize::try_from(offset).ok()?..)?;
        let end = bytes.iter().position(|&byte| byte == 0)?;
        String::from_utf8(bytes[..end].to_vec()).ok()
    }

    fn segment(&self, kind: u32) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    fn interpreter(&self) -> Option<PathBuf> {
        self.text(self.segment(PT_INTERP)?.offset).map(PathBuf::from)
    }

    /// Where in the file an address lies.
    fn offset_of(&self, address: u64) -> Option<u64> {
        let holds = |segment: &&Segment| {
            segment.kind == PT_LOAD && (segment.address..segment.address + segment.file_bytes).contains(&address)
        };
        let segment = self.segments.iter().find(holds)?;
        Some(address - segment.address + segment.offset)
    }

    /// The values of the dynamic section: (tag, value).
    fn dynamic(&self) -> Vec<(u64, u64)> {
        let Some(segment) = self.segment(PT_DYNAMIC) else { return Vec::new() };
        let pair = |at: u64| Some((self.number(at, 8)?, self.number(at + 8, 8)?));
        (0..segment.file_bytes / 16)
            .map_while(|index| pair(segment.offset + index * 16))
            .take_while(|(tag, _)| *tag != 0)
            .collect()
    }

    /// What it needs, and the folders where it says to look.
    fn needs(&self) -> (Vec<String>, Vec<String>) {
        let dynamic = self.dynamic();
        let table = dynamic.iter().find(|(tag, _)| *tag == DT_STRTAB).and_then(|(_, address)| self.offset_of(*address));
        let Some(table) = table else { return (Vec::new(), Vec::new()) };
        let texts = |wanted: &[u64]| {
            let of = dynamic.iter().filter(|(tag, _)| wanted.contains(tag));
            of.filter_map(|(_, value)| self.text(table + value)).collect::<Vec<String>>()
        };
        let folders = texts(&[DT_RPATH, DT_RUNPATH]);
        let folders = folders.iter().flat_map(|list| list.split(':')).map(str::to_owned).collect();
        (texts(&[DT_NEEDED]), folders)
    }
}

fn usual_folders(machine: u16) -> Vec<String> {
    let own =
        Architecture::of_elf(machine).map(|of| ["/lib/", "/usr/lib/"].map(|root| format!("{root}{}", of.multiarch)));
    own.into_iter().flatten().chain(FOLDERS.map(str::to_owned)).collect()
}

/// The loader and the libraries of a program, and those of its libraries. Nothing for a static program.
///
/// # Errors
/// When a file cannot be read or a library is nowhere to be found.
pub(crate) fn carried_by(program: &Path) -> io::Result<Carried> {
    let elf = Elf::read(program)?;
    let mut carried = Carried { loader: elf.interpreter(), libraries: BTreeMap::new() };
    let mut waiting = vec![(program.to_owned(), elf)];
    while let Some((path, elf)) = waiting.pop() {
        let (names, folders) = elf.needs();
        let origin = path.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
        let folders: Vec<String> =
            folders.iter().map(|folder| folder.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin)).collect();
        for name in names {
            let is_loader = carried.loader.as_ref().and_then(|path| path.file_name()).is_some_and(|of| *of == *name);
            if is_loader || carried.libraries.contains_key(&name) {
                continue;
            }
            let usual = usual_folders(elf.machine);
            let mut places = folders.iter().chain(&usual).map(PathBuf::from).chain(command::own_libraries());
            // As the loader does, which goes on where a library is another processor's.
            let of_machine = |library: &Elf| library.machine == elf.machine;
            let fitting = |path: PathBuf| Some((Elf::read(&path).ok().filter(of_machine)?, path));
            let found = places.find_map(|folder| fitting(folder.join(&name)));
            let (library, found) =
                found.ok_or_else(|| bad(&path, &format!("needs the library {name}, which is not found")))?;
            waiting.push((found.clone(), library));
            carried.libraries.insert(name, found);
        }
    }
    Ok(carried)
}

/// The bytes of a program that are loaded; what debuggers read lies behind them and stays out.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn loaded_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let Elf { mut bytes, segments, .. } = Elf::read(path)?;
    let end = segments.iter().map(|segment| segment.offset + segment.file_bytes).max().unwrap_or(0);
    bytes.truncate(usize::try_from(end).unwrap_or(usize::MAX));
    // The table of sections lay behind: where it is, its number of entries, and which one names them.
    for field in [40..48, 60..62, 62..64] {
        if let Some(field) = bytes.get_mut(field) {
            field.fill(0);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn this_program_needs_a_c_library_and_its_loader() {
        let carried = carried_by(Path::new("/proc/self/exe")).unwrap();
        assert!(carried.libraries.keys().any(|name| name.starts_with("libc.so")), "{carried:?}");
        // Opened, as the guest's image does: qemu-user finds another processor's libraries for this call alone.
        assert!(carried.loader.as_ref().is_some_and(|loader| std::fs::File::open(loader).is_ok()), "{carried:?}");
        assert!(carried.libraries.values().all(|path| std::fs::File::open(path).is_ok()));
    }

    #[test]
    fn a_program_without_its_debugging_information_still_runs() {
        let bytes = loaded_bytes(Path::new("/bin/true")).unwrap();
        let path = std::env::temp_dir().join(format!("fairlane-elf-{}", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        let status = std::process::Command::new(&path).status();
        std::fs::remove_file(&path).unwrap();
        assert!(status.unwrap().success());
    }

    #[test]
    fn a_library_of_another_processor_is_passed_over() {
        let folder = std::env::temp_dir().join(format!("fairlane-elf-other-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("program");
        std::fs::write(folder.join("program.c"), "int main(void) { return 0; }").unwrap();
        let rpath = format!("-Wl,-rpath,{}", folder.display());
        let mut cc = std::process::Command::new("cc");
        cc.arg(rpath).args(["-o", "program", "program.c"]).current_dir(&folder);
        assert!(cc.status().unwrap().success());
        let own = carried_by(&program).unwrap().libraries["libc.so.6"].clone();
        let mut bytes = std::fs::read(&own).unwrap();
        bytes[18..20].copy_from_slice(&8u16.to_le_bytes());
        std::fs::write(folder.join("libc.so.6"), bytes).unwrap();
        let found = carried_by(&program).unwrap().libraries["libc.so.6"].clone();
        std::fs::copy(&own, folder.join("libc.so.6")).unwrap();
        let near = carried_by(&program).unwrap().libraries["libc.so.6"].clone();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((found, near), (own, folder.join("libc.so.6")));
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let error = carried_by(Path::new("/etc/passwd")).unwrap_err().to_string();
        assert!(error.contains("/etc/passwd"), "{error}");
    }
}
