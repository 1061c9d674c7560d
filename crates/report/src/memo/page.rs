//! One page of Markdown that reads as plain text too: paragraphs, sections of points, a command; wrapped
//! at [`COLUMNS`] and cut to [`LINES`].

use crate::clean::columns;
use crate::layout::{GLUE, Phrase, Tone};
use crate::markdown::escape;
use unicode_width::UnicodeWidthChar;

/// Lines of an A4 page.
pub(crate) const LINES: usize = 45;
/// Columns of a line.
pub(crate) const COLUMNS: usize = 90;
/// Columns that text takes: [`cut`] needs the others for its mark.
const TEXT_COLUMNS: usize = COLUMNS - 3;
/// Lines that one point may take.
const POINT_LINES: usize = 6;
/// In front of a point and of its further lines.
const POINT: &str = "- ";

/// A heading with its points.
#[derive(Debug, Default)]
struct Section {
    heading: String,
    points: Vec<Vec<String>>,
    /// So many of its points, the first, are never dropped.
    kept: usize,
    /// Points that the page has no room for.
    dropped: usize,
}

impl Section {
    fn lines(&self) -> usize {
        let points: usize = self.points.iter().map(Vec::len).sum();
        2 + points + usize::from(self.dropped > 0)
    }
}

/// A page that is being written.
#[derive(Debug, Default)]
pub(crate) struct Page {
    head: Vec<String>,
    sections: Vec<Section>,
    tail: Vec<String>,
}

impl Page {
    /// The first line; it is never wrapped.
    pub(crate) fn title(&mut self, title: &Phrase) {
        self.head.push(format!("# {}", wrap(title, usize::MAX).concat()));
        self.head.push(String::new());
    }

    /// A paragraph under the title.
    pub(crate) fn paragraph(&mut self, text: &Phrase) {
        self.head.extend(cut(wrap(text, TEXT_COLUMNS), POINT_LINES));
        self.head.push(String::new());
    }

    /// A heading with its points; nothing where there are none.
    pub(crate) fn section(&mut self, heading: &str, points: &[Phrase]) {
        self.section_keeping(heading, points, 1);
    }

    /// The same; the first points, so many, are never dropped.
    pub(crate) fn section_keeping(&mut self, heading: &str, points: &[Phrase], kept: usize) {
        let points: Vec<Vec<String>> = points.iter().filter(|point| !point.is_empty()).map(point).collect();
        if !points.is_empty() {
            self.sections.push(Section { heading: format!("## {heading}"), points, kept, dropped: 0 });
        }
    }

    /// The last section: a command in lines that a shell takes as one.
    pub(crate) fn command(&mut self, heading: &str, lines: &[String]) {
        self.tail = vec![format!("## {heading}"), String::new()];
        self.tail.extend(lines.iter().map(|line| format!("    {line}")));
    }

    /// The text, at most [`LINES`] long. `more` says in a line how many points a section has beyond those
    /// shown; the second way where the first takes more than that.
    pub(crate) fn text(mut self, more: impl Fn(usize) -> [Phrase; 2]) -> String {
        while self.lines() > LINES && self.shorten() {}
        let mut lines = self.head;
        for section in self.sections {
            lines.push(section.heading);
            lines.extend(section.points.concat());
            if section.dropped > 0 {
                let [first, second] = more(section.dropped).map(|said| point(&said));
                lines.extend(if first.len() == 1 { first } else { cut(second, 1) });
            }
            lines.push(String::new());
        }
        lines.extend(self.tail);
        lines.join("\n").trim_end().to_owned() + "\n"
    }

    fn lines(&self) -> usize {
        self.head.len() + self.sections.iter().map(Section::lines).sum::<usize>() + self.tail.len()
    }

    /// Takes something away: the last point of the longest section that has several, otherwise a line
    /// of the longest point. `false`: nothing is left to take.
    fn shorten(&mut self) -> bool {
        let several = self.sections.iter_mut().filter(|section| section.points.len() > section.kept.max(1));
        if let Some(section) = several.max_by_key(|section| section.lines()) {
            section.points.pop();
            section.dropped += 1;
            return true;
        }
        let points = self.sections.iter_mut().flat_map(|section| &mut section.points);
        let Some(longest) = points.filter(|point| point.len() > 1).max_by_key(|point| point.len()) else {
            return false;
        };
        let lines = longest.len() - 1;
        *longest = cut(std::mem::take(longest), lines);
        true
    }
}

/// The lines of a point.
fn point(text: &Phrase) -> Vec<String> {
    let lines = cut(wrap(text, TEXT_COLUMNS - POINT.len()), POINT_LINES);
    let indent = |(at, line): (usize, String)| if at == 0 { format!("{POINT}{line}") } else { format!("  {line}") };
    lines.into_iter().enumerate().map(indent).collect()
}

/// At most so many lines; the last one says that there was more, and closes the code that it cuts.
fn cut(mut lines: Vec<String>, most: usize) -> Vec<String> {
    if lines.len() > most {
        lines.truncate(most);
        let end = if ends_in_code(&lines) { "` …" } else { " …" };
        if let Some(last) = lines.last_mut() {
            last.push_str(end);
        }
    }
    lines
}

/// Whether a span of code is still open. Within code a backslash is a character like any other.
fn ends_in_code(lines: &[String]) -> bool {
    let mut code = false;
    let mut characters = lines.iter().flat_map(|line| line.chars());
    while let Some(character) = characters.next() {
        match character {
            '`' => code = !code,
            '\\' if !code => {
                let _ = characters.next();
            }
            _ => {}
        }
    }
    code
}

/// One character as it is written, and how a line may end behind it.
struct Atom {
    text: String,
    columns: usize,
    character: char,
    code: bool,
}

/// How good a place is to end a line.
#[derive(PartialEq)]
enum Break {
    Good,
    Fair,
    No,
}

/// The phrase as Markdown in lines of at most `width` columns. Scripts without spaces are broken behind
/// punctuation where that leaves no short line, otherwise between two characters.
pub(crate) fn wrap(phrase: &Phrase, width: usize) -> Vec<String> {
    let atoms = atoms(phrase);
    let mut lines: Vec<String> = Vec::new();
    let mut start = 0;
    while start < atoms.len() {
        if atoms[start].character == ' ' {
            start += 1;
            continue;
        }
        let (mut end, mut used) = (start, 0);
        let (mut good, mut fair) = (None, None);
        while end < atoms.len() && used + atoms[end].columns <= width {
            used += atoms[end].columns;
            end += 1;
            match atoms.get(end).map_or(Break::No, |next| between(&atoms[end - 1], next)) {
                Break::Good => good = Some((end, used)),
                Break::Fair => fair = Some((end, used)),
                Break::No => {}
            }
        }
        let at = match (good, fair) {
            _ if end == atoms.len() => end,
            (Some((at, columns)), _) if columns >= width / 2 => at,
            (Some((good, _)), Some((fair, _))) => good.max(fair),
            (_, Some((at, _))) | (Some((at, _)), None) => at,
            (None, None) => end.max(start + 1),
        };
        let line: String = atoms[start..at].iter().map(|atom| atom.text.as_str()).collect();
        lines.push(no_list(line.trim_end()));
        start = at;
    }
    lines
}

/// A line that would begin a list or underline a heading begins with a backslash.
fn no_list(line: &str) -> String {
    let word = line.split(' ').next().unwrap_or_default();
    let digits = word.trim_end_matches(['.', ')']);
    let numbered = digits.len() + 1 == word.len() && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if numbered {
        return format!("{digits}\\{}", &line[digits.len()..]);
    }
    let marks = !word.is_empty() && word.chars().all(|character| "-+*=".contains(character));
    if marks { format!("\\{line}") } else { line.to_owned() }
}

fn between(before: &Atom, after: &Atom) -> Break {
    const OPENING: &str = "（“「《【([‘„";
    const CLOSING: &str = "，。；：、？！）”」》】’,.;:?!)]%…";
    if before.character == ' ' || after.character == ' ' {
        return Break::Good;
    }
    let wide = |atom: &Atom| atom.character.width() == Some(2);
    if before.code && after.code || OPENING.contains(before.character) || CLOSING.contains(after.character) {
        return Break::No;
    }
    match "，。；：、？！".contains(before.character) {
        true => Break::Good,
        false if wide(before) || wide(after) => Break::Fair,
        false => Break::No,
    }
}

/// The phrase, character by character. Names and commands are code, labels are bold.
fn atoms(phrase: &Phrase) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for span in &phrase.spans {
        let from = atoms.len();
        // No fence of several backticks: it could begin a block at the start of a line.
        let code = span.tone == Tone::Name && !span.text.contains('`');
        let text: Vec<char> = if code { span.text.trim().chars().collect() } else { span.text.chars().collect() };
        for (at, &character) in text.iter().enumerate() {
            let written = match character {
                ' ' | GLUE => " ".to_owned(),
                other if code => other.to_string(),
                // What becomes a link by itself, as `markdown::escape` breaks it.
                ':' if text[at + 1..].starts_with(&['/', '/']) => ":<!-- -->".to_owned(),
                '.' if text[..at].ends_with(&['w', 'w', 'w']) => "<!-- -->.".to_owned(),
                other => escape(&other.to_string()),
            };
            atoms.push(Atom { columns: columns(&written), text: written, character, code });
        }
        let around = match span.tone {
            _ if code => "`",
            Tone::Label => "**",
            _ => continue,
        };
        mark(&mut atoms[from..], around);
    }
    atoms
}

/// Puts a mark around these.
fn mark(atoms: &mut [Atom], around: &str) {
    if let Some(first) = atoms.first_mut() {
        first.text.insert_str(0, around);
        first.columns += around.len();
    }
    if let Some(last) = atoms.last_mut() {
        last.text.push_str(around);
        last.columns += around.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(phrase: &Phrase, width: usize) -> Vec<String> {
        wrap(phrase, width)
    }

    #[test]
    fn lines_end_at_spaces_and_never_within_a_figure() {
        let said = Phrase::new("between 6 and 12\u{a0}% faster when ").name("xfs").say(", and more");
        assert_eq!(lines(&said, 16), ["between 6 and", "12 % faster when", "`xfs`, and more"]);
    }

    #[test]
    fn chinese_ends_lines_behind_punctuation_and_begins_none_with_it() {
        let said = Phrase::new("提交写入时快很多，顺序写时相差不到百分之五。");
        assert_eq!(lines(&said, 24), ["提交写入时快很多，", "顺序写时相差不到百分之", "五。"]);
        let said_with_code = Phrase::new("全部数据：").tone(Tone::Name, "a-command-of-one-word");
        assert_eq!(lines(&said_with_code, 25), ["全部数据：", "`a-command-of-one-word`"]);
        for width in 8..60 {
            let all = lines(&said, width);
            assert!(all.iter().all(|line| !line.starts_with(['，', '。']) && columns(line) <= width), "{all:?}");
        }
    }

    #[test]
    fn no_line_begins_what_its_text_does_not_say() {
        for (text, second) in
            [("aaa - b", "\\- b"), ("aaa 12. b", "12\\."), ("aaa === b", "\\==="), ("aaa # b", "\\# b")]
        {
            assert_eq!(lines(&Phrase::new(text), 4)[..2], ["aaa", second]);
        }
        assert_eq!(lines(&Phrase::new("- 1) x"), 40), ["\\- 1) x"]);
    }

    #[test]
    fn what_is_too_long_is_cut_with_its_code_closed() {
        let said = Phrase::new("x ").tone(Tone::Name, "a b c d e f");
        let all = lines(&said, 5);
        assert_eq!(cut(all, 2), ["x `a", "b c d` …"]);
        let said = Phrase::default().name("a\u{60}b<script>").say(" https://x www.y @me");
        assert_eq!(lines(&said, 200), ["a\\`b&lt;script&gt; https:<!-- -->//x www<!-- -->.y @<!-- -->me"]);
    }

    #[test]
    fn a_page_drops_points_of_its_longest_section_and_says_how_many() {
        let mut page = Page::default();
        page.title(&Phrase::new("T"));
        let points = |count: usize| (0..count).map(|at| Phrase::new(format!("point {at}"))).collect::<Vec<_>>();
        page.section("few", &points(2));
        page.section("many", &points(80));
        page.section("none", &[Phrase::default()]);
        page.command("again", &["x".to_owned()]);
        let text = page.text(|count| [Phrase::new("x".repeat(COLUMNS)), Phrase::new(format!("{count} more"))]);
        assert_eq!(text.lines().count(), LINES);
        assert!(text.contains("- point 1\n\n## many") && text.ends_with("## again\n\n    x\n"), "{text}");
        assert!(text.contains(" more\n") && !text.contains("none"), "{text}");
    }
}
