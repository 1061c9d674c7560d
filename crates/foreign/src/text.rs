//! Texts of files, of which no more is kept than real ones have.

/// Most characters of a text.
const MOST_CHARACTERS: usize = 200;
/// Characters of a longer text that are told before its number: with that it has as many as may be.
const TOLD_CHARACTERS: usize = 182;
/// Bytes of a text that make its number, beside its length: no option of a real file is longer.
const LOOKED_AT_BYTES: usize = 64 << 10;

/// A name or a setting, of which no more is kept than real ones have: they are repeated in many series.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(MOST_CHARACTERS).collect()
}

/// Makes a text a [`short`] one.
pub(crate) fn cut(text: &mut String) {
    let end = text.char_indices().nth(MOST_CHARACTERS).map(|(end, _)| end);
    if let Some(end) = end {
        text.truncate(end);
        text.shrink_to_fit();
    }
}

/// A setting by which tests are told apart: a long one ends in a number (FNV-1a, 64 bits) of all that it holds, so that
/// two that differ behind what is told stay two.
pub(crate) fn shortened(text: &str) -> String {
    if text.chars().nth(MOST_CHARACTERS).is_none() {
        return text.to_owned();
    }
    let told: String = text.chars().take(TOLD_CHARACTERS).collect();
    let bytes = text.bytes().take(LOOKED_AT_BYTES).chain(text.len().to_le_bytes());
    format!("{told}… {:016x}", model::text::fnv1a(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_stay_and_long_ones_have_as_many_characters_as_may_be() {
        for text in ["", "rw=read bs=4k", &"é".repeat(MOST_CHARACTERS)] {
            assert_eq!((shortened(text).as_str(), short(text).as_str()), (text, text));
        }
        let long = "é".repeat(MOST_CHARACTERS + 1);
        let mut is_cut = long.clone();
        cut(&mut is_cut);
        assert_eq!((is_cut.chars().count(), is_cut), (MOST_CHARACTERS, short(&long)));
        assert_eq!(shortened(&long).chars().count(), MOST_CHARACTERS);
        // What was shortened once is told as it is.
        assert_eq!(shortened(&shortened(&long)), shortened(&long));
    }

    #[test]
    fn long_texts_that_differ_anywhere_stay_apart() {
        let begin = "bs=4k ".repeat(100);
        let all = [begin.clone(), format!("{begin}a"), format!("{begin}b"), "x".repeat(1 << 20), "x".repeat(1 << 21)];
        for (at, one) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| shortened(other) != shortened(one)), "{at}");
        }
    }
}
