//! What a job's options come to, in fio's names: what fio calls `job options`.

use crate::options::Take;
use crate::syntax::Setting;

/// Options that say what the work is even where a job file leaves them out, with fio's defaults.
const DEFAULTS: [(&str, &str); 27] = [
    ("rw", "read"),
    ("bs", "4k"),
    ("size", ""),
    ("ioengine", "psync"),
    ("iodepth", "1"),
    ("iodepth_batch", "0"),
    ("direct", "0"),
    ("numjobs", "1"),
    ("thread", "0"),
    ("nrfiles", "1"),
    ("fallocate", "native"),
    ("invalidate", "1"),
    ("fadvise_hint", "1"),
    ("overwrite", "0"),
    ("create_on_open", "0"),
    ("randrepeat", "1"),
    ("norandommap", "0"),
    ("random_distribution", "random"),
    ("rwmixread", "50"),
    ("sync", "none"),
    ("fsync", "0"),
    ("fdatasync", "0"),
    ("end_fsync", "0"),
    ("time_based", "0"),
    ("runtime", "0"),
    ("loops", "1"),
    ("verify", "0"),
];

/// Every option of a job, resolved: sections, includes, variables and fio's defaults put together.
///
/// Names are fio's own, never aliases; values are as the file writes them. Options that are only
/// about reports or placement are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolved(pub Vec<(String, String)>);

impl Resolved {
    /// Of a job's settings, the last of each option, in order.
    pub(crate) fn new(settings: &[Setting]) -> Resolved {
        let given = settings.iter().filter(|setting| !matches!(setting.row.take, Take::Note(_)));
        let value = |setting: &Setting| setting.value.as_deref().unwrap_or("1").to_owned();
        let mut out: Vec<(String, String)> =
            DEFAULTS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        for setting in given {
            // `buffered` and `rwmixwrite` say the opposite of options that have a default.
            match setting.row.name {
                "buffered" => set(&mut out, "direct", if value(setting) == "0" { "1" } else { "0" }.to_owned()),
                "rwmixwrite" => {
                    let share = value(setting).parse().map_or(50, |share: u32| 100_u32.saturating_sub(share));
                    set(&mut out, "rwmixread", share.to_string());
                }
                "name" => {}
                name => set(&mut out, name, value(setting)),
            }
        }
        out.retain(|(_, value)| !value.is_empty());
        Resolved(out)
    }

    /// The value of an option, by fio's own name of it.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

fn set(options: &mut Vec<(String, String)>, name: &str, value: String) {
    match options.iter_mut().find(|(key, _)| key == name) {
        Some(pair) => pair.1 = value,
        None => options.push((name.to_owned(), value)),
    }
}
