//! Which language a person reads: what the option says, otherwise the locale.

use model::page::Language;

/// What `--lang` takes.
const KNOWN: [(&str, Language); 3] = [("en", Language::En), ("zh", Language::Zh), ("de", Language::De)];

/// The variables that name a locale, the strongest first (POSIX, "Internationalization Variables").
const VARIABLES: [&str; 3] = ["LC_ALL", "LC_MESSAGES", "LANG"];

/// The language that was asked for; without an option the locale's, and English where that is none of
/// the others.
pub fn chosen(option: Option<Language>) -> Language {
    let variables = || VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
    option.unwrap_or_else(|| of_locale(variables()))
}

/// Reads what `--lang` takes.
///
/// # Errors
/// When it is none of the languages, with those that there are.
pub fn parse(text: &str) -> Result<Language, String> {
    let known = KNOWN.iter().find(|(name, _)| *name == text);
    known.map(|(_, language)| *language).ok_or_else(|| "write en, zh or de".to_owned())
}

/// What `--lang` takes.
pub fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, _)| *name)
}

/// The language of the first variable that is set: an empty one counts as unset.
fn of_locale(mut variables: impl Iterator<Item = String>) -> Language {
    let locale = variables.find(|value| !value.is_empty()).unwrap_or_default();
    let name = locale.split(['_', '-', '.', '@']).next().unwrap_or_default().to_ascii_lowercase();
    parse(&name).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_names_the_language() {
        for (variables, language) in [
            (vec!["zh_CN.UTF-8"], Language::Zh),
            (vec!["", "de_AT.UTF-8@euro", "zh_CN.UTF-8"], Language::De),
            (vec!["C.UTF-8", "de_DE"], Language::En),
            (vec!["zh-Hans"], Language::Zh),
            (vec!["den_CA", "fr_FR"], Language::En),
            (vec!["", "POSIX"], Language::En),
            (vec![], Language::En),
        ] {
            assert_eq!(of_locale(variables.iter().map(|value| (*value).to_owned())), language, "{variables:?}");
        }
    }

    #[test]
    fn an_option_is_stronger_than_any_locale_and_a_slip_is_told_what_there_is() {
        assert_eq!(chosen(Some(Language::De)), Language::De);
        assert_eq!(parse("zh"), Ok(Language::Zh));
        assert_eq!(parse("fr"), Err("write en, zh or de".to_owned()));
    }
}
