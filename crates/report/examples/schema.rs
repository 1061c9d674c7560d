//! Writes the JSON schemas into `schema/`, from the types: `cargo run -p report --example schema`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema");
    for file in &report::schema::FILES {
        let path = folder.join(file.name);
        if let Err(error) = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, file.text())) {
            eprintln!("{} cannot be written ({error}); check the folder's permissions", path.display());
            return ExitCode::FAILURE;
        }
        println!("{}", path.display());
    }
    ExitCode::SUCCESS
}
