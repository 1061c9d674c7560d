//! dm-crypt, as cryptsetup sets up LUKS2 by default, with a key of our own and without a header.

use super::build::{Building, size};
use super::device_mapper::{DMSETUP, make_one};
use super::{Layer, LayerOption, Options, Takes, never, unchanged};
use crate::failure::LaneFailure;
use std::fmt::Write;
use std::path::PathBuf;

/// What cryptsetup takes by default of LUKS2 and of plain devices, with the bytes of their keys.
const CIPHERS: [(&str, usize); 2] = [("aes-xts-plain64", 64), ("aes-cbc-essiv:sha256", 32)];
const FLAGS: [&str; 4] = ["no_read_workqueue", "no_write_workqueue", "same_cpu_crypt", "submit_from_crypt_cpus"];

/// The row.
pub(super) static CRYPT: Layer = Layer {
    name: "crypt",
    hides: true,
    wipes: false,
    on_host: true,
    discards: never,
    about: "dm-crypt",
    devices: 1..=1,
    options: &[
        LayerOption { key: "cipher", takes: Takes::Words(&["aes-xts-plain64", "aes-cbc-essiv:sha256"]) },
        LayerOption { key: "sector", takes: Takes::Size(512, 4096) },
        LayerOption { key: FLAGS[0], takes: Takes::Nothing },
        LayerOption { key: FLAGS[1], takes: Takes::Nothing },
        LayerOption { key: FLAGS[2], takes: Takes::Nothing },
        LayerOption { key: FLAGS[3], takes: Takes::Nothing },
    ],
    capacity: super::of_one,
    programs: &[DMSETUP],
    // encrypted_keys, which dm_crypt asks for, asks for cbc and hmac when it is loaded.
    helpers: &["aes_generic", "aesni_intel", "aes_ce_blk", "ecb", "cbc", "xts", "sha256_generic", "hmac", "essiv"],
    drivers: &["dm_crypt"],
    promises: unchanged,
    build,
};

fn build(building: &mut Building, below: &[PathBuf], options: &Options) -> Result<PathBuf, LaneFailure> {
    let cipher = options.text("cipher").unwrap_or(CIPHERS[0].0);
    let key = key(CIPHERS.iter().find(|(name, _)| *name == cipher).map_or(64, |(_, bytes)| *bytes));
    let mut more: Vec<String> = FLAGS.iter().filter(|flag| options.has(flag)).map(|&flag| flag.to_owned()).collect();
    let sector = options.size("sector", 512);
    if sector != 512 {
        more.push(format!("sector_size:{sector}"));
    }
    let more = if more.is_empty() { String::new() } else { format!(" {} {}", more.len(), more.join(" ")) };
    let bytes = size(&below[0])? / sector * sector;
    make_one(building, "crypt", bytes, &format!("crypt {cipher} {key} 0 {} 0{more}", below[0].display()))
}

/// A key in hexadecimal, always the same, so that what was encrypted is read again, by another process too. It protects
/// nothing: that is a benchmark's data.
fn key(bytes: usize) -> String {
    (0..bytes).fold(String::new(), |mut text, at| {
        let _ = write!(text, "{:02x}", (at * 37 + 11) % 256);
        text
    })
}
