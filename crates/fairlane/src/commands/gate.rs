//! `fairlane compare --baseline … --candidate … --fail-if-slower 5%`: the regression gate.

use super::compare::style_of;
use super::report::{print, put};
use super::screen::style;
use super::screening;
use crate::failure::{Failure, Status};
use crate::options::Compare;
use crate::published;
use crate::state::{self, NamedFile};
use model::gate::GateOutcome;
use model::published::PREFIX;
use model::record::Record;
use stats::gate::{Named, Terms};

/// Judges the candidate's records against the baseline's and prints the verdict, or writes it to a file
/// and prints what a person has to know.
///
/// # Errors
/// Exit status 3 where something is slower than allowed, 5 where the resolution asked for was not
/// reached, 2 where the records may not be compared.
pub fn run(options: &Compare, format: &report::Format, fail_if_slower: f64) -> Result<(), Failure> {
    let baseline = side(&options.baseline)?;
    let candidate = side(&options.candidate)?;
    if let Some(both) = baseline.iter().find(|(file, _)| candidate.iter().any(|(other, _)| other.is(file))) {
        return Err(Failure::usage(format!(
            "{} is on both sides; name a record as baseline or as candidate",
            both.0.name
        )));
    }
    let terms = Terms { fail_if_slower, need_resolution: options.need_resolution };
    let gate = stats::gate::gate(&named(&baseline), &named(&candidate), &terms)
        .map_err(|said| Failure::usage(report::clean_text(&said)))?;
    let output = options.output.as_deref();
    let written = put(&(format.gate)(&gate, &style_of(output)).map_err(Failure::usage)?, output);
    // A file that cannot be written takes no verdict away.
    if output.is_some() {
        print(&report::gate_closing(&gate, &style()))?;
    }
    written?;
    match gate.outcome {
        GateOutcome::Fail => Err(Failure::gate(Status::GateFailed)),
        GateOutcome::Unresolved => Err(Failure::gate(Status::GateUnresolved)),
        GateOutcome::Inconclusive | GateOutcome::Pass => Ok(()),
    }
}

fn side(names: &[String]) -> Result<Vec<(NamedFile, Record)>, Failure> {
    let typed = |name: &String| published::record_of(name).unwrap_or(name).to_owned();
    let names: Vec<String> = names.iter().map(typed).collect();
    if let Some(published) = names.iter().find(|name| name.starts_with(PREFIX)) {
        return Err(Failure::usage(format!(
            "{published} holds an article's figures, which are no replicates; name records of races"
        )));
    }
    let load = |file: NamedFile| {
        let record = state::load(&file.path)?;
        let instead = screening::of_proposal("compare", &record, &file.name, Some(&file.path));
        screening::refuse(&record, &file.name, &instead)?;
        Ok::<_, Failure>((file, record))
    };
    state::resolve_all(&names)?.into_iter().map(load).collect()
}

fn named(side: &[(NamedFile, Record)]) -> Vec<Named<'_>> {
    side.iter().map(|(file, record)| Named { name: &file.name, record }).collect()
}
