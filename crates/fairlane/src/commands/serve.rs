//! `fairlane serve`: the dashboard's own process, beside the race that it shows.

use crate::failure::Failure;
use crate::options::Serve;
use crate::serve::{self, Settings};
use crate::state;

/// Serves the dashboard until it is asked to stop, which is no failure.
///
/// # Errors
/// When the folder of the records does not exist, or the address cannot be listened on.
pub fn run(options: &Serve) -> Result<(), Failure> {
    let folder = match &options.records {
        Some(folder) if !folder.is_dir() => {
            return Err(Failure::usage(format!(
                "there is no folder {}; name one that holds records, or leave --records out for your own",
                model::text::escaped_path(folder)
            )));
        }
        Some(folder) => folder.clone(),
        // It may not exist yet, and is not made: the first race does that.
        None => state::state_folder()?.join("runs"),
    };
    serve::run(Settings { address: options.listen, token: options.token.clone(), folder, language: options.lang })
}
