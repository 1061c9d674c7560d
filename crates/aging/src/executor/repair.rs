//! After a kill: what the tree has and the model has not goes, what is missing or has another size is made again.

use super::Executor;
use crate::beneath::{entries, remove_tree};
use crate::error::AgingError;
use crate::life::{Generator, Name, Operation, Place};
use crate::state;
use rustix::fs::{FileType, Mode, mkdirat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::AsFd;

/// What the model has under a name.
enum Expected {
    Folder(u32),
    File { name: Name, bytes: u64 },
}

type Names = HashMap<CString, Expected>;

impl Executor<'_> {
    /// Makes the tree what the model has. Answers how many files and folders were removed or made.
    ///
    /// # Errors
    /// What the system answers, but for want of space.
    pub(crate) fn repair(&mut self, generator: &Generator) -> Result<u64, AgingError> {
        let mut expected: HashMap<u32, Names> = HashMap::new();
        let c_name = |name: Name| name.write(&mut [0; crate::life::NAME_BYTES]).to_owned();
        for (number, place) in generator.directories() {
            expected.entry(place.directory).or_default().insert(c_name(place.name), Expected::Folder(number));
        }
        for (group, file) in generator.files() {
            let place = generator.place(group, file);
            let of = Expected::File { name: place.name, bytes: file.bytes };
            expected.entry(place.directory).or_default().insert(c_name(place.name), of);
        }
        let mut repaired = 0;
        let mut folders = vec![0];
        while let Some(number) = folders.pop() {
            let names = expected.remove(&number).unwrap_or_default();
            repaired += self.repair_folder(number, &names)?;
            folders.extend(names.values().filter_map(|of| match of {
                Expected::Folder(number) => Some(*number),
                Expected::File { .. } => None,
            }));
        }
        self.sync_all()?;
        Ok(repaired)
    }

    /// Repairs one folder; those in it are there afterwards.
    fn repair_folder(&mut self, number: u32, names: &Names) -> Result<u64, AgingError> {
        let of_folder = |executor: &Self, act, errno| {
            let place = executor.places.get(number as usize).copied();
            let path = place.filter(|_| number != 0).map_or_else(|| ".".to_owned(), |place| executor.path(place));
            AgingError::system(act, path, errno)
        };
        let folder = match self.folder(number) {
            Ok(folder) => folder,
            // There was no room for it.
            Err(Errno::NOENT) if self.refused > 0 => return Ok(0),
            Err(errno) => return Err(of_folder(self, "open", errno)),
        };
        let found = entries(folder.as_fd()).map_err(|errno| of_folder(self, "list", errno))?;
        let (mut repaired, mut there) = (0, HashMap::new());
        for (name, kind) in found {
            let name_here = name.as_c_str();
            if number == 0 && (state::NAMES.contains(&name_here) || name_here == state::LOST_AND_FOUND) {
                continue;
            }
            let fits = match names.get(&name) {
                Some(Expected::Folder(_)) => kind == FileType::Directory,
                Some(&Expected::File { name, bytes }) => {
                    kind == FileType::RegularFile && self.size(Place { directory: number, name }) == Some(bytes)
                }
                None => false,
            };
            if fits {
                there.insert(name, ());
            } else {
                remove_tree(folder.as_fd(), &name).map_err(|errno| of_folder(self, "remove what lies in", errno))?;
                repaired += 1;
            }
        }
        // In one order, whatever order the map has.
        let mut missing: Vec<&CString> = names.keys().filter(|name| !there.contains_key(*name)).collect();
        missing.sort();
        for name in missing {
            repaired += u64::from(self.remake(number, name, &names[name])?);
        }
        Ok(repaired)
    }

    fn remake(&mut self, directory: u32, name: &CString, of: &Expected) -> Result<bool, AgingError> {
        match *of {
            Expected::Folder(number) => {
                let place = self.places[number as usize];
                let folder = self.folder(directory).map_err(|errno| self.error("open the folder of", place, errno))?;
                let made = mkdirat(folder.as_fd(), name, Mode::from_raw_mode(0o755));
                made.or_else(|errno| self.refuse("make the folder", place, errno))?;
            }
            Expected::File { name: of, .. } if self.lost.contains(&of.serial) => return Ok(false),
            Expected::File { name, bytes } => {
                self.apply(&Operation::Create { place: Place { directory, name }, bytes })?;
            }
        }
        Ok(true)
    }
}
