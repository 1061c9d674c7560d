//! The dashboard's page: what it opens with, and the policy that it is sent under.

use model::page::{Language, PAGE_SCHEMA, Page, Show};
use std::io;

/// The page's own script and style stand in it, and it asks nobody but this server. A stricter policy in
/// the file itself holds beside this one.
pub const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
    img-src 'self' data: blob:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The page, opening in this language.
///
/// # Errors
/// Those of [`report::html::page`]; memory takes everything.
pub fn dashboard(language: Language) -> io::Result<Vec<u8>> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let mut html = Vec::new();
    report::html::page(&Page { schema: PAGE_SCHEMA, version, language, show: Show::Dashboard }, &mut html)?;
    Ok(html)
}

/// The language that a browser prefers among those there are (RFC 9110, section 12.5.4); English where
/// it names none of them.
pub fn preferred(accept_language: &str) -> Language {
    let mut best = (0.0, Language::En);
    for range in accept_language.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let tag = parts.next().unwrap_or_default();
        let language = match tag.split('-').next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "en" => Language::En,
            "zh" => Language::Zh,
            "de" => Language::De,
            _ => continue,
        };
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(Ok(1.0), str::parse::<f64>);
        // Of equals the first.
        if let Ok(weight) = weight
            && weight <= 1.0
            && weight > best.0
        {
            best = (weight, language);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_holds_its_data_in_one_line() {
        let page = String::from_utf8(dashboard(Language::Zh).unwrap()).unwrap();
        let (_, data) = page.split_once(r#"<script id="data" type="application/json">"#).unwrap();
        let (data, _) = data.split_once("</script>").unwrap();
        let read: Page = serde_json::from_str(data).unwrap();
        assert_eq!((read.language, read.show), (Language::Zh, Show::Dashboard));
    }

    #[test]
    fn the_browsers_first_language_that_there_is() {
        for (accept, language) in [
            ("", Language::En),
            ("de-AT,de;q=0.9,en;q=0.8", Language::De),
            ("fr-FR, fr;q=0.9, zh-CN;q=0.5, en;q=0.4", Language::Zh),
            ("en;q=0.1, DE;q=0.2", Language::De),
            ("zh-Hant-TW", Language::Zh),
            ("de;q=0, en;q=0.1", Language::En),
            ("de;q=0", Language::En),
            ("de, zh", Language::De),
            ("*, xx;q=9, de;q=NaN, zh;q=1e9, ;;=,", Language::En),
        ] {
            assert_eq!(preferred(accept), language, "{accept:?}");
        }
    }
}
