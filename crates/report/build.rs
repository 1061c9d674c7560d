//! Deflates the built page, so that the program holds a third of it.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::Write as _;
use std::path::Path;

const PAGE: &str = "../../ui/dist/page.html";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={PAGE}");
    println!("cargo::rerun-if-changed=build.rs");
    let page = std::fs::read(PAGE)?;
    let folder = std::env::var_os("OUT_DIR").ok_or(std::io::ErrorKind::NotFound)?;
    let file = std::fs::File::create(Path::new(&folder).join("page.html.deflate"))?;
    let mut deflate = DeflateEncoder::new(file, Compression::best());
    deflate.write_all(&page)?;
    deflate.finish()?.flush()
}
