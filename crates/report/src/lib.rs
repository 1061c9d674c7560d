//! Pure renderers of findings: text, Markdown, CSV, JSON.
