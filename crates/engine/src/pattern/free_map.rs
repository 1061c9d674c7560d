//! Which blocks have been visited, where operations differ in length.

/// One bit for each block, and above them, level by level, one bit for each full word, so that the
/// next free block is found in a few steps however full the map is.
#[derive(Debug, Clone)]
pub(super) struct FreeMap {
    blocks: u64,
    levels: Vec<Vec<u64>>,
}

const WORD: u64 = u64::BITS as u64;

impl FreeMap {
    /// A map of `blocks` free blocks; `None` where there is no memory for it.
    pub fn new(blocks: u64) -> Option<Self> {
        let mut levels = Vec::new();
        let mut bits = blocks;
        loop {
            let words = usize::try_from(bits.div_ceil(WORD).max(1)).ok()?;
            let mut level = Vec::new();
            level.try_reserve_exact(words).ok()?;
            level.resize(words, 0);
            levels.push(level);
            if words == 1 {
                break;
            }
            bits = words as u64;
        }
        let mut map = FreeMap { blocks, levels };
        map.clear();
        Some(map)
    }

    /// All blocks are free again.
    pub fn clear(&mut self) {
        let mut bits = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            // What lies beyond the end counts as taken.
            let used = bits % WORD;
            if used > 0 || bits == 0 {
                *level.last_mut().expect("a level has a word") = u64::MAX << used;
            }
            bits = level.len() as u64;
        }
    }

    /// The first free block at or after `from`, else the first of all; `None` in a full map.
    #[inline]
    pub fn next_free(&self, from: u64) -> Option<u64> {
        self.first_from(from).or_else(|| self.first_from(0))
    }

    fn first_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        let mut level = 0;
        // Upwards until a word holds a free bit at or after `at` …
        let found = loop {
            let word = *self.levels.get(level)?.get((at / WORD) as usize)?;
            let free = !word & (u64::MAX << (at % WORD));
            if free != 0 {
                break at / WORD * WORD + u64::from(free.trailing_zeros());
            }
            at = at / WORD + 1;
            level += 1;
        };
        // … and down to the first one below it.
        let mut block = found;
        for level in self.levels[..level].iter().rev() {
            block = block * WORD + u64::from((!level[block as usize]).trailing_zeros());
        }
        Some(block)
    }

    /// Free blocks in a row from the free block `from`, at most `most`.
    #[inline]
    pub fn free_run(&self, from: u64, most: u64) -> u64 {
        let mut run = 0;
        while run < most {
            let at = from + run;
            let Some(word) = self.levels[0].get((at / WORD) as usize) else { break };
            let rest = WORD - at % WORD;
            let free = u64::from((word >> (at % WORD)).trailing_zeros()).min(rest);
            run += free;
            if free < rest {
                break;
            }
        }
        run.min(most)
    }

    /// Marks `count` blocks as visited.
    #[inline]
    pub fn mark(&mut self, from: u64, count: u64) {
        let mut at = from;
        let end = (from + count).min(self.blocks);
        while at < end {
            let here = (WORD - at % WORD).min(end - at);
            let bits = (u64::MAX >> (WORD - here)) << (at % WORD);
            let mut index = (at / WORD) as usize;
            self.levels[0][index] |= bits;
            for level in 1..self.levels.len() {
                if self.levels[level - 1][index] != u64::MAX {
                    break;
                }
                self.levels[level][index / 64] |= 1 << (index % 64);
                index /= 64;
            }
            at += here;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_map_agrees_with_a_plain_list(
            blocks in 1_u64..9000,
            steps in prop::collection::vec((any::<u64>(), 1_u64..300), 1..200),
        ) {
            let mut map = FreeMap::new(blocks).unwrap();
            let mut taken = vec![false; blocks as usize];
            for (from, most) in steps {
                let from = from % blocks;
                let rising = (from..blocks).chain(0..from).find(|block| !taken[*block as usize]);
                // The map goes back to the very first free block where none follows.
                prop_assert_eq!(map.next_free(from), rising);
                let Some(free) = rising else { break };
                let run = (free..blocks).take_while(|block| !taken[*block as usize]).count() as u64;
                prop_assert_eq!(map.free_run(free, most), run.min(most));
                map.mark(free, run.min(most));
                taken[free as usize..(free + run.min(most)) as usize].fill(true);
            }
            map.clear();
            prop_assert_eq!(map.free_run(0, u64::MAX >> 1), blocks);
        }
    }

    #[test]
    fn a_full_map_of_three_levels_says_so_and_gives_back_its_last_block() {
        let mut map = FreeMap::new(300_000).unwrap();
        map.mark(0, 299_999);
        assert_eq!(map.next_free(5), Some(299_999));
        map.mark(299_999, 1);
        assert_eq!(map.next_free(0), None);
        assert_eq!(FreeMap::new(0).unwrap().next_free(0), None);
    }
}
