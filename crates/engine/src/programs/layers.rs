//! Layers of a container image: archives of many small files, some of them hard links.

use super::sandbox::Sandbox;
use super::{cannot, process};
use crate::databases::Random;
use crate::error::EngineError;
use crate::workloads::heed;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Layers.
pub(super) const LAYERS: u64 = 4;
/// Files of a directory.
const FILES: u64 = 40;

/// Makes `layer1.tar` to `layer4.tar` with equal numbers of files. One file in ten is a hard link to the one
/// before it; of each later layer one file in five replaces one of the layer below.
pub(super) fn make(path: &Path, files: u64, stop: &AtomicBool) -> Result<(), EngineError> {
    let each = files / LAYERS;
    for layer in 1..=LAYERS {
        let root = path.join("root");
        let _ = std::fs::remove_dir_all(&root);
        for number in 0..each {
            heed(stop)?;
            file(&root, layer, number)?;
        }
        let archive = path.join(format!("layer{layer}.tar"));
        let fixed = ["tar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=2026-01-01", "-cf"];
        let mut words: Vec<String> = fixed.map(str::to_owned).to_vec();
        words.extend([archive.to_string_lossy().into_owned(), "-C".to_owned()]);
        words.extend([root.to_string_lossy().into_owned(), ".".to_owned()]);
        process::run(&words, &Sandbox::own(path)?, stop)?;
        std::fs::remove_dir_all(&root).map_err(|error| cannot("remove", &root, &error))?;
    }
    Ok(())
}

fn file(root: &Path, layer: u64, number: u64) -> Result<(), EngineError> {
    // One in five has the name of a file of the layer below, of one that this layer has not replaced itself.
    let replaces = layer > 1 && number.is_multiple_of(5);
    let (of, named) = if replaces { (layer - 1, number + 1) } else { (layer, number) };
    let folder = root.join(format!("usr/layer{of}/directory{:04}", named / FILES));
    std::fs::create_dir_all(&folder).map_err(|error| cannot("create directory", &folder, &error))?;
    let path = folder.join(format!("file{named:06}"));
    if number % 10 == 9 {
        // Its neighbour of the same layer.
        let before = folder.join(format!("file{:06}", number - 1));
        return std::fs::hard_link(&before, &path).map_err(|error| cannot("link", &path, &error));
    }
    let mut random = Random::new(number ^ (layer << 40));
    let bytes = 128usize << random.below(8);
    let contents: Vec<u8> = (0..bytes / 8).flat_map(|_| random.next().to_le_bytes()).collect();
    std::fs::write(&path, contents).map_err(|error| cannot("write", &path, &error))
}
