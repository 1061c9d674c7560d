//! What is said of lanes with a past.

pub(crate) const AGED: &str = "AGED";
pub(crate) const TITLE: &str = "What age did";
pub(crate) const LEGEND: &str = "written: by the life before the race, in sizes of the lane. Extents per file (FIEMAP) and layout score \
     (share of a file's blocks that follow the one before, Smith and Seltzer) are of the aged tree before the race. aged/fresh: below 1 \
     the aged lane is slower; in brackets the interval, a star where it is decided. -: not known, or no such lane was raced.";
pub(crate) const COLUMNS: [&str; 7] =
    ["lane", "written", "refused", "files", "used", "extents per file", "layout score"];
pub(crate) const ABSENT: &str = "-";

/// What is known of one lane beside the table.
pub(crate) fn state(lane: &str, known: &str) -> String {
    format!("{lane}: {known}.")
}

pub(crate) fn dynamic_score(score: &str) -> String {
    format!("{score} of all blocks follow the one before in the order of a walk")
}

pub(crate) fn folders_split(share: &str) -> String {
    format!("{share} of the folders lie in several extents")
}

pub(crate) fn free(all: &str, pieces: &str, small: &str) -> String {
    format!("{all} free in {pieces} pieces, {small} of it in pieces below 64 KiB")
}

/// `times`: of the aged files, of the copy, and their ratio.
pub(crate) fn cold_read(times: (&str, &str, &str), share: &str, disk: &str) -> String {
    let (aged, fresh, ratio) = times;
    let place = if disk.is_empty() { String::new() } else { format!(" on {disk}") };
    format!(
        "{share} of the files read cold: {aged} for a GiB, a fresh copy of them {fresh}, {ratio} as long (each read once{place}, when the \
         image was made)"
    )
}

/// `what`: `size` or `age`.
pub(crate) fn like_profile(what: &str, share: &str, probability: &str) -> String {
    format!(
        "{share} of the files would be in another class of {what} in another life of its profile (chi-squared, p {probability})"
    )
}

/// Shares of the lane's size.
pub(crate) fn filled(reached: &str, by_life: &str) -> String {
    format!("files take {reached} of the lane, by its life {by_life}")
}

pub(crate) fn taken(held: &str, taken: &str) -> String {
    format!("the files hold {held} and take {taken}")
}

pub(crate) fn differing(files: &str) -> String {
    format!("files that are not as its life says: {files}")
}

pub(crate) fn against(lane: &str, fresh: &str, rows: &str) -> String {
    format!("{lane} / {fresh}: {rows}.")
}

pub(crate) fn alone(lane: &str) -> String {
    format!("{lane}: the same lane fresh was not raced, so what age did to it is not known.")
}

pub(crate) fn without_rows(lane: &str, fresh: &str) -> String {
    format!("{lane} / {fresh}: no row has figures of both.")
}

pub(crate) fn row(title: &str, ratio: &str, interval: Option<(String, String)>, decided: bool) -> String {
    let star = if decided { "*" } else { "" };
    let interval = interval.map_or_else(String::new, |(low, high)| format!(" ({low} to {high})"));
    format!("{title} {ratio}{star}{interval}")
}

/// `one` and `other` are pairs: the better lane, then the worse.
pub(crate) fn flip(title: &str, fresh: (&str, &str), aged: (&str, &str)) -> String {
    format!("{title}: fresh {} is ahead of {}, aged {} of {}.", fresh.0, fresh.1, aged.0, aged.1)
}

/// Said of one pair and of more.
pub(crate) fn unequal(pairs: &str) -> String {
    format!("Pairs of lanes of one past that are left out of this, because they are not equally full: {pairs}.")
}

pub(crate) fn ranks(flips: usize, decided: u32, open: u32) -> String {
    let flips = match flips {
        0 => "no rank flips".to_owned(),
        1 => "1 rank flips".to_owned(),
        many => format!("{many} ranks flip"),
    };
    let pairs =
        if decided == 1 { "1 comparison that is".to_owned() } else { format!("{decided} comparisons that are") };
    let others = if open == 1 { "1 more is".to_owned() } else { format!("{open} more are") };
    format!(
        "Of {pairs} decided both fresh and aged, ties among them, {flips}; {others} not decided fresh, aged or both."
    )
}
