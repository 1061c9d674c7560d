//! What a misspelt word was probably meant to be.

/// The known word that is nearest to a misspelt one; of equals the last. `None` where none is near: at
/// most two letters differ, and fewer than it has.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_ascii_lowercase();
    let near = known.into_iter().map(|known| (edit_distance(&lower, known), known));
    let best = near.reduce(|best, next| if next.0 <= best.0 { next } else { best })?;
    (best.0 <= 2 && best.0 < best.1.chars().count()).then_some(best.1)
}

/// Levenshtein distance in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_its_neighbour() {
        let known = ["create", "write", "read", "fsync", "a"];
        for (wrong, right) in [
            ("craete", Some("create")),
            ("Wirte", Some("write")),
            ("raed", Some("read")),
            ("sync", Some("fsync")),
            ("truncate", None),
            ("b", None),
            ("", None),
        ] {
            assert_eq!(nearest(wrong, known), right, "{wrong}");
        }
        assert_eq!(nearest("exr4", ["ext2", "ext4"]), Some("ext4"), "of equals the last");
    }
}
