//! Which file is next.

use super::draw::below;
use model::job::FileService;
use rand_core::Rng;

/// The files that are not complete, and the one being served.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    service: FileService,
    /// Operations on a file before the next is chosen.
    count: u64,
    /// Of these, how many the current file still gets.
    serving: u64,
    current: u32,
    /// Random: the files left, and the position of the current one.
    left: Vec<u32>,
    position: usize,
    /// Otherwise: the ring of the files left, each with its successor.
    next: Vec<u32>,
    previous: u32,
    alive: u32,
    /// At most so many files are open to choice: another joins when one is complete, as in fio.
    window: u32,
    files: u32,
    /// The next file to join.
    outside: u32,
}

impl Choice {
    /// Begins with file 0, or a random one. `files` from 1; at most `window` of them, from 1, are
    /// open to choice at the same time.
    pub fn new(service: FileService, count: u32, files: u32, window: u32) -> Self {
        let window = window.clamp(1, files);
        let random = service == FileService::Random;
        let mut choice = Choice {
            service,
            count: if service == FileService::Sequential { u64::MAX } else { u64::from(count.max(1)) },
            serving: 0,
            current: 0,
            left: if random { (0..window).collect() } else { Vec::new() },
            position: 0,
            next: if random { Vec::new() } else { vec![0; files as usize] },
            previous: 0,
            alive: window,
            window,
            files,
            outside: window,
        };
        choice.reset();
        choice
    }

    /// Every file is open to choice again.
    pub fn reset(&mut self) {
        self.serving = 0;
        self.alive = self.window;
        self.outside = self.window;
        if self.service == FileService::Random {
            self.left.clear();
            self.left.extend(0..self.window);
        } else {
            for (file, next) in (0..self.window).zip(&mut self.next) {
                *next = (file + 1) % self.window;
            }
            // The first step leads to file 0.
            self.current = self.window - 1;
            self.previous = self.current;
        }
    }

    /// The file of the next operation; `None` when all are complete.
    #[inline]
    pub fn file(&mut self, random: &mut impl Rng) -> Option<u32> {
        if self.serving == 0 {
            if self.alive == 0 {
                return None;
            }
            if self.service == FileService::Random {
                self.position = below(random, u64::from(self.alive)) as usize;
                self.current = self.left[self.position];
            } else {
                self.previous = self.current;
                self.current = self.next[self.current as usize];
            }
            self.serving = self.count;
        }
        self.serving -= 1;
        Some(self.current)
    }

    /// The file that was last chosen is complete: it is not chosen again.
    pub fn complete(&mut self) {
        self.serving = 0;
        if self.outside < self.files {
            return self.replace();
        }
        self.alive -= 1;
        if self.service == FileService::Random {
            self.left.swap_remove(self.position);
        } else {
            self.next[self.previous as usize] = self.next[self.current as usize];
            self.current = self.previous;
        }
    }

    /// The next file from outside the window takes the place of the one that is complete.
    #[cold]
    fn replace(&mut self) {
        let file = self.outside;
        self.outside += 1;
        if self.service == FileService::Random {
            self.left[self.position] = file;
            return;
        }
        let after = self.next[self.current as usize];
        // A ring of one is followed by itself.
        self.next[file as usize] = if after == self.current { file } else { after };
        if self.previous == self.current {
            self.current = file;
            self.previous = file;
        } else {
            self.next[self.previous as usize] = file;
            self.current = self.previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Files chosen until all are complete, where file n is complete after `lengths[n]` operations.
    fn served(service: FileService, count: u32, lengths: &[u32]) -> Vec<u32> {
        served_within(service, count, lengths, lengths.len() as u32)
    }

    /// The same where so many files are open at the same time.
    fn served_within(service: FileService, count: u32, lengths: &[u32], window: u32) -> Vec<u32> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut choice = Choice::new(service, count, lengths.len() as u32, window);
        let mut done = vec![0; lengths.len()];
        let mut order = Vec::new();
        while let Some(file) = choice.file(&mut random) {
            if done[file as usize] == lengths[file as usize] {
                choice.complete();
            } else {
                done[file as usize] += 1;
                order.push(file);
            }
        }
        assert_eq!(done, lengths);
        order
    }

    #[test]
    fn round_robin_takes_turns_and_skips_files_that_are_complete() {
        assert_eq!(served(FileService::RoundRobin, 1, &[2, 4, 0, 3]), [0, 1, 3, 0, 1, 3, 1, 3, 1]);
        assert_eq!(served(FileService::RoundRobin, 2, &[3, 3]), [0, 0, 1, 1, 0, 1]);
    }

    #[test]
    fn a_file_is_opened_only_when_another_is_complete() {
        assert_eq!(served_within(FileService::RoundRobin, 1, &[2, 3, 2, 1], 2), [0, 1, 0, 1, 2, 1, 2, 3]);
        for service in [FileService::RoundRobin, FileService::Random, FileService::Sequential] {
            assert_eq!(served_within(service, 1, &[2, 3, 0, 2], 1), [0, 0, 1, 1, 1, 3, 3], "{service:?}");
            let order = served_within(service, 2, &[40; 9], 3);
            let mut left = [40; 9];
            for file in order {
                left[file as usize] -= 1;
                let begun = left.iter().filter(|left| (1..40).contains(*left)).count();
                assert!(begun <= 3, "{service:?}: {left:?}");
            }
        }
    }

    #[test]
    fn sequential_service_ends_each_file_before_the_next() {
        assert_eq!(served(FileService::Sequential, 1, &[2, 0, 3]), [0, 0, 2, 2, 2]);
    }

    #[test]
    fn random_service_gives_each_file_about_the_same_and_keeps_to_its_count() {
        let order = served(FileService::Random, 8, &[8000; 4]);
        let early = |file| order[..8000].iter().filter(|of| **of == file).count();
        assert!((0..4).all(|file| (1500..2500).contains(&early(file))));
        assert!(order[..8000].chunks(8).all(|turn| turn.iter().all(|file| *file == turn[0])));
    }
}
