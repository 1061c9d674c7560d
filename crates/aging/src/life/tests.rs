//! Lives are pure, keep their levels and stay in their tree.

use super::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

const SIZE: u64 = 256 << 20;

/// A hash of the first acts of a life.
fn hash(profile: &Profile, seed: u64, acts: usize) -> Vec<u8> {
    let mut hash = Sha256::new();
    for act in Generator::new(profile, seed, SIZE).take(acts) {
        hash.update(format!("{act:?}"));
    }
    hash.finalize().to_vec()
}

#[test]
fn one_seed_is_one_life_and_another_seed_another() {
    for name in crate::profile::names() {
        let profile = Profile::named(name).unwrap();
        assert_eq!(hash(&profile, 7, 5_000), hash(&profile, 7, 5_000), "{name}");
        assert_ne!(hash(&profile, 7, 5_000), hash(&profile, 8, 5_000), "{name}");
    }
}

/// A tree that is told of each act, and refuses what a filesystem would refuse.
#[derive(Default)]
struct Told {
    directories: BTreeMap<u32, Place>,
    files: BTreeMap<(u32, String), u64>,
    counts: BTreeMap<u32, u32>,
}

impl Told {
    fn add(&mut self, place: Place, bytes: u64) {
        assert!(place.directory == 0 || self.directories.contains_key(&place.directory), "{place:?}: no such folder");
        assert!(self.files.insert((place.directory, place.name.text()), bytes).is_none(), "{place:?} is there");
        *self.counts.entry(place.directory).or_default() += 1;
    }

    fn remove(&mut self, place: Place) -> u64 {
        *self.counts.get_mut(&place.directory).unwrap() -= 1;
        self.files.remove(&(place.directory, place.name.text())).unwrap_or_else(|| panic!("{place:?} is not there"))
    }

    fn tell(&mut self, act: &Operation) {
        let key = |place: Place| (place.directory, place.name.text());
        match *act {
            Operation::MakeDirectory { number, place } => {
                assert!(place.directory == 0 || self.directories.contains_key(&place.directory));
                assert!(self.directories.insert(number, place).is_none());
            }
            Operation::RemoveDirectory { number, place } => {
                assert_eq!(self.directories.remove(&number), Some(place));
                assert_eq!(self.counts.get(&number).copied().unwrap_or(0), 0, "it is not empty");
                assert!(self.directories.values().all(|of| of.directory != number), "folders are in it");
            }
            Operation::Create { place, bytes } => self.add(place, bytes),
            Operation::Append { place, from, bytes } => {
                let size = self.files.get_mut(&key(place)).unwrap();
                assert_eq!(*size, from);
                *size += bytes;
            }
            Operation::Overwrite { place, from, bytes } => {
                assert!(bytes > 0 && from + bytes <= self.files[&key(place)]);
            }
            Operation::Replace { place, temporary, bytes, .. } => {
                assert!(!self.files.contains_key(&(place.directory, temporary.text())));
                self.remove(place);
                self.add(place, bytes);
            }
            Operation::Rename { place, to } => {
                let bytes = self.remove(place);
                self.add(to, bytes);
            }
            Operation::Delete { place } => _ = self.remove(place),
            Operation::Sync { place } => assert!(self.files.contains_key(&key(place))),
            Operation::EndOfCycle { .. } => {}
        }
    }

    fn agrees_with(&self, generator: &Generator) {
        let files: BTreeMap<_, _> = generator
            .files()
            .map(|(group, file)| (generator.place(group, file), file.bytes))
            .map(|(place, bytes)| ((place.directory, place.name.text()), bytes))
            .collect();
        assert!(files == self.files, "the model's tree is not that of its acts");
        assert_eq!(generator.directories().collect::<BTreeMap<_, _>>(), self.directories);
        let used: u64 = files.values().map(|&bytes| space(bytes)).sum();
        assert_eq!(generator.used_bytes(), used + self.directories.len() as u64 * BLOCK_BYTES);
    }
}

#[test]
fn every_act_is_possible_and_every_cycle_ends_where_the_profile_says() {
    for name in crate::profile::names() {
        let profile = Profile::named(name).unwrap();
        let mut generator = Generator::new(&profile, 11, SIZE);
        let (mut told, mut levels) = (Told::default(), Vec::new());
        while levels.len() < 12 {
            let act = generator.next().unwrap();
            told.tell(&act);
            if matches!(act, Operation::EndOfCycle { .. }) {
                levels.push(generator.used_bytes() as f64 / SIZE as f64);
            }
        }
        told.agrees_with(&generator);
        assert!((levels[0] - profile.fill).abs() < 0.005, "{name}: {levels:?}");
        let [low, high] = profile.settle;
        assert!(levels[1..].iter().all(|level| (low - 0.005..high + 0.005).contains(level)), "{name}: {levels:?}");
        let acts = generator.acts();
        assert!(acts > 100 && generator.files().count() > 10, "{name}: {acts} acts");
    }
}

#[test]
fn groups_keep_their_share_of_the_space() {
    let profile = Profile::named("git").unwrap();
    let mut generator = Generator::new(&profile, 3, SIZE);
    while generator.cycles() < 10 {
        generator.next();
    }
    let all: f64 = profile.groups.iter().map(|group| group.space).sum();
    for (at, group) in profile.groups.iter().enumerate() {
        let share = generator.members[at].used as f64 / generator.used_bytes() as f64;
        assert!((share - group.space / all).abs() < 0.1, "{}: {share}", group.name);
    }
}

#[test]
fn a_last_filling_reaches_its_level_and_ends() {
    let profile = Profile::named("churn").unwrap();
    for (cycles, full) in [(0, 0.5), (3, 0.95), (3, 0.4), (0, 0.0)] {
        let mut generator = Generator::new(&profile, 5, SIZE);
        let mut told = Told::default();
        while generator.cycles() < cycles {
            told.tell(&generator.next().unwrap());
        }
        generator.finish(full);
        let rest: Vec<Operation> = generator.by_ref().take(10_000_000).collect();
        rest.iter().for_each(|act| told.tell(act));
        assert!(matches!(rest.last(), Some(Operation::EndOfCycle { .. })), "{full}");
        told.agrees_with(&generator);
        let level = generator.used_bytes() as f64 / SIZE as f64;
        assert!((level - full).abs() < 0.005, "{full}: {level}");
    }
}

#[test]
fn young_files_go_first_where_the_profile_says_so() {
    let mut profile = Profile::named("churn").unwrap();
    let mean_age = |profile: &Profile| {
        let mut generator = Generator::new(profile, 9, SIZE);
        while generator.cycles() < 20 {
            generator.next();
        }
        let born = f64::from(generator.born);
        let (mut sum, mut count) = (0.0, 0.0);
        for (_, file) in generator.files() {
            sum += 1.0 - f64::from(file.born) / born;
            count += 1.0;
        }
        sum / count
    };
    let lifetimes = &mut profile.groups[0].lifetimes;
    (lifetimes.choose, lifetimes.among) = (crate::profile::Choose::Young, 8);
    let young = mean_age(&profile);
    profile.groups[0].lifetimes.choose = crate::profile::Choose::Old;
    let old = mean_age(&profile);
    profile.groups[0].lifetimes.choose = crate::profile::Choose::Any;
    let any = mean_age(&profile);
    assert!(old < any && any < young, "{old} {any} {young}");
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(24))]
    #[test]
    fn no_life_leaves_its_tree_or_loses_a_file(seed in proptest::num::u64::ANY, which in 0_usize..7, megabytes in 16_u64..96, acts in 1_usize..30_000) {
        let profile = Profile::named(crate::profile::names()[which]).unwrap();
        let mut generator = Generator::new(&profile, seed, megabytes << 20);
        let mut told = Told::default();
        for _ in 0..acts {
            told.tell(&generator.next().unwrap());
        }
        // Folders are made some at a time, before the file that they are for.
        while !generator.queue.is_empty() {
            told.tell(&generator.next().unwrap());
        }
        told.agrees_with(&generator);
        let mut text = BTreeSet::new();
        for (directory, name) in told.files.keys() {
            assert!(!name.contains(['/', '.', '\0']) && !name.is_empty());
            text.insert((*directory, name.clone()));
        }
        assert_eq!(text.len(), told.files.len());
    }
}
