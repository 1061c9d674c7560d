//! The statistics' sentences in other languages than English: each was made of a template and values
//! (`model::sentence`); the catalogue of the language has the same template.

use super::{TONGUES, Tongue, fill};
use crate::layout::{GLUE, Phrase};
use model::Sentence;
use model::findings::{Findings, Flip};
use model::page::{Language, Sentences};
use model::sentence::{Piece, Value, pieces};
use model::units::percent;
use std::collections::BTreeMap;

/// The templates of a language: name and text. Empty: it needs none.
pub fn catalogue(language: Language) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    Tongue::new(language).said.into_iter().flatten()
}

/// What the findings say, in every language but English, by the English text: sentences of the
/// statistics, and names that data files give. What no language knows is left out; it stays English.
pub fn sentences(findings: &Findings) -> BTreeMap<Language, Sentences> {
    let said = said(findings);
    let names = names(findings);
    let others = TONGUES.iter().filter(|tongue| tongue.language != Language::En);
    let of = |tongue: &Tongue| -> Sentences {
        let mut all = Sentences::new();
        let mut add = |english: &str, own: String| {
            if own != english && !english.is_empty() {
                all.insert(english.to_owned(), own);
            }
        };
        for sentence in &said {
            for part in clauses(sentence) {
                add(part, tongue.sentence(part));
            }
            add(sentence, tongue.sentence(sentence));
        }
        for name in &names {
            add(name, tongue.name(name));
        }
        all
    };
    others.map(|tongue| (tongue.language, of(tongue))).collect()
}

/// Every sentence of the findings.
fn said(findings: &Findings) -> Vec<&Sentence> {
    let answer = findings.answer.iter();
    let of_answer = answer.flat_map(|of| {
        let ground = of.raced.iter().chain(&of.cached_disk);
        of.not_tested.iter().chain(of.not_ranked.iter().map(|fact| &fact.what)).chain(ground)
    });
    let of_options = findings.screening.iter().flat_map(|of| of.raced.iter().chain(&of.not_tested));
    let of_results = findings.results.iter().flat_map(|of| {
        let whys = of.pairs.iter().filter_map(|pair| pair.why.as_ref());
        let failures = of.estimates.iter().filter_map(|lane| lane.failure.as_ref());
        std::iter::once(&of.limit_reason)
            .chain(&of.warnings)
            .chain(&of.explained)
            .chain(&of.unexplained)
            .chain(whys)
            .chain(failures)
    });
    let of_tables = findings.operations.iter().flat_map(|of| {
        let whys = of.pairs.iter().filter_map(|pair| pair.why.as_ref());
        let failures = of.rows.iter().flat_map(|row| &row.figures).filter_map(|lane| lane.failure.as_ref());
        of.warnings.iter().chain(whys).chain(failures)
    });
    let of_appenders =
        findings.appenders.iter().flat_map(|of| &of.rows).flat_map(|row| row.story.iter().chain(&row.failure));
    let of_transactions = findings.transactions.iter().flat_map(|of| &of.rows).filter_map(|row| row.failure.as_ref());
    let of_searches = findings.searches.iter().flat_map(|of| {
        let whys = of.pairs.iter().filter_map(|pair| pair.why.as_ref());
        let lanes = of.lanes.iter().flat_map(|lane| lane.reason.iter().chain(&lane.failure));
        of.warnings.iter().chain(whys).chain(lanes)
    });
    let of_advice = findings.advice.iter().flat_map(|of| {
        let facts = of.excluded.iter().flat_map(|lane| &lane.facts).filter_map(|fact| fact.note.as_ref());
        of.notes.iter().map(|note| &note.text).chain(facts)
    });
    let screened = findings.screening.iter().flat_map(|of| &of.results).filter_map(|of| of.unknown.as_ref());
    let confirmed = findings.screening.iter().filter_map(|of| of.confirmation.as_ref());
    findings
        .warnings
        .iter()
        .chain(screened)
        .chain(confirmed.flat_map(|of| &of.warnings))
        .chain(&findings.unexplained)
        .chain(&findings.code_only)
        .chain(of_answer)
        .chain(of_options)
        .chain(of_results)
        .chain(of_tables)
        .chain(of_appenders)
        .chain(of_transactions)
        .chain(of_searches)
        .chain(of_advice)
        .collect()
}

/// The names that data files gave to what the findings are about.
fn names(findings: &Findings) -> Vec<&str> {
    let of_results = findings.results.iter().flat_map(|of| [of.title.as_str(), of.group.as_str()]);
    let of_tables = findings.operations.iter().map(|of| of.title.as_str());
    let of_ladders = findings.ladders.iter().flat_map(|of| [of.title.as_str(), of.group.as_str()]);
    let of_advice = findings.advice.iter().flat_map(|of| {
        let parts = of.why.iter().map(|part| &part.what).chain(of.equal.iter().map(|part| &part.what));
        let flips = of.flips_if.iter().filter_map(|flip| match flip {
            Flip::Weight { what, .. } | Flip::Undecided { what, .. } => Some(what),
            Flip::Without { .. } | Flip::With { .. } => None,
        });
        let missing = of.not_measured.iter().map(|part| &part.what);
        std::iter::once(&of.title).chain(parts).chain(flips).chain(missing).map(String::as_str)
    });
    let explanations = findings.results.iter().flat_map(|of| &of.explanations);
    let of_causes = explanations.flat_map(|of| &of.causes).map(|of| of.cause.as_str());
    of_results.chain(of_tables).chain(of_ladders).chain(of_advice).chain(of_causes).collect()
}

/// The sentences that stand one behind the other in a sentence; reports show them apart too.
fn clauses(sentence: &Sentence) -> Vec<&Sentence> {
    let values = sentence.said().map(|said| said.values.as_slice()).unwrap_or_default();
    let mut found = Vec::new();
    for (_, value) in values {
        let Value::Clauses(parts) = value else { continue };
        for part in parts {
            if let Value::Part(part) = part {
                found.push(part);
                found.extend(clauses(part));
            }
        }
    }
    found
}

impl Tongue {
    /// A sentence of the statistics; as it is where it came from a file or nobody translated it.
    pub(crate) fn sentence(&self, sentence: &Sentence) -> String {
        let template = sentence.said().and_then(|said| {
            let row = self.said.into_iter().flatten().find(|(id, _)| *id == said.id)?;
            Some((row.1, &said.values))
        });
        let Some((template, values)) = template else { return self.name(sentence) };
        let mut text = String::new();
        for piece in pieces(template) {
            match piece {
                Piece::Text(own) => self.append(&mut text, own),
                Piece::Place(place) => match values.iter().find(|(name, _)| *name == place) {
                    Some((_, value)) => self.append(&mut text, &self.value(value)),
                    None => text.push_str(&format!("{{{place}}}")),
                },
            }
        }
        text
    }

    /// Puts text behind text. Chinese sets a space between its own script and a Latin word or a number,
    /// and none between two characters of its own.
    fn append(&self, text: &mut String, more: &str) {
        if self.language == Language::Zh {
            let han = |character: Option<char>| character.is_some_and(|of| ('\u{4e00}'..='\u{9fff}').contains(&of));
            let latin = |character: Option<char>| character.is_some_and(|of| of.is_ascii_alphanumeric());
            let (last, first) = (text.chars().next_back(), more.chars().next());
            if (han(last) && latin(first)) || (latin(last) && han(first)) {
                text.push(' ');
            }
            // A space that the template has for Latin on either side of it.
            let (before, after) = (text.trim_end(), more.trim_start());
            if han(before.chars().next_back()) && han(after.chars().next()) {
                text.truncate(before.len());
                text.push_str(after);
                return;
            }
        }
        text.push_str(more);
    }

    fn value(&self, value: &Value) -> String {
        let of = |values: &[Value]| values.iter().map(|value| Phrase::new(self.value(value))).collect::<Vec<_>>();
        match value {
            Value::Name(text) => text.clone(),
            Value::Text(text) => self.name(text),
            Value::Part(sentence) => self.sentence(sentence),
            Value::List(values) => self.listed(of(values), self.words.and).plain(),
            Value::Row(values) => self.joined(of(values)).plain(),
            Value::Clauses(values) => Phrase::default().join(of(values), self.words.semicolon).plain(),
            Value::Shares(shares) => self.percents(shares),
            other => self.plain_figure(&other.to_string()),
        }
    }

    /// A figure as this language writes it, with plain spaces.
    fn plain_figure(&self, english: &str) -> String {
        self.figure(&english.replace(' ', &GLUE.to_string())).replace(GLUE, " ")
    }

    /// Shares as a range of percentages, or one where they read alike.
    fn percents(&self, shares: &[f64]) -> String {
        let low = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let high = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = (percent(low), percent(high));
        if low == high {
            return self.plain_figure(&high);
        }
        let number = |text: &str| Phrase::new(self.figure(text.trim_end_matches(" %")));
        fill(self.words.percents, &[("low", number(&low)), ("high", number(&high))]).plain()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(id: &'static str, values: Vec<(&'static str, Value)>) -> Sentence {
        Sentence::new(id, "English", values)
    }

    #[test]
    fn a_sentence_is_filled_into_the_template_of_its_language() {
        let bare = said("bare_device", vec![("figure", Value::Iops(88_100.0))]);
        let ceiling = said(
            "at_the_ceiling",
            vec![
                ("who", said("every_lane", Vec::new()).into()),
                ("share", Value::Shares(vec![0.974, 0.99])),
                ("ceiling", bare.into()),
                ("by_cpu", Sentence::default().into()),
            ],
        );
        assert_eq!(
            Tongue::new(Language::De).sentence(&ceiling),
            "jede Bahn erreicht 97 bis 99 % von dem, was das bloße Gerät leistet (88,1k IOPS): dieser Test kann diese \
             Dateisysteme nicht unterscheiden"
        );
        assert_eq!(
            Tongue::new(Language::Zh).sentence(&ceiling),
            "每条赛道达到裸设备能力（88.1k IOPS）的 97% 到 99%：这项测试分不出这些文件系统的高下"
        );
        assert_eq!(Tongue::new(Language::En).sentence(&ceiling), "English");
    }

    #[test]
    fn chinese_spaces_latin_words_and_none_of_its_own() {
        let of = |who: &str| said("at_the_ceiling", vec![("who", Value::Name(who.to_owned()))]);
        let zh = Tongue::new(Language::Zh);
        assert!(zh.sentence(&of("ext4")).starts_with("ext4 达到"), "{}", zh.sentence(&of("ext4")));
        assert!(zh.sentence(&of("我的盘")).starts_with("我的盘达到"));
        let flushes = |who: Value| said("spends_time_in_flushes", vec![("who", who)]);
        let every = said("every_lane", Vec::new());
        assert!(zh.sentence(&flushes(every.into())).starts_with("每条赛道有 "));
    }

    #[test]
    fn text_of_a_record_stays_as_it_is_and_known_names_are_told() {
        let de = Tongue::new(Language::De);
        assert_eq!(de.sentence(&"a sentence of a record".into()), "a sentence of a record");
        assert_eq!(de.sentence(&"power cut".into()), "Stromausfall");
        let missing = said("never_reached", vec![("work", Value::Text("small files".to_owned()))]);
        assert_eq!(de.sentence(&missing), "kleine Dateien (nie erreicht)");
    }

    #[test]
    fn a_page_gets_whole_sentences_and_their_clauses() {
        let clause = |id| Value::Part(Sentence::new(id, id, Vec::new()));
        let why = Sentence::new(
            "clauses",
            "{parts}",
            vec![("parts", Value::Clauses(vec![clause("one_round"), clause("cache_not_device")]))],
        );
        let parts: Vec<&str> = clauses(&why).into_iter().map(|part| &**part).collect();
        assert_eq!(parts, ["one_round", "cache_not_device"]);
        assert_eq!(
            Tongue::new(Language::Zh).sentence(&why),
            "只有一轮：没有各次运行之间的区间；数据由页缓存返回，不是来自设备"
        );
    }
}
