//! What lanes made of the work that they were given: direct I/O that was none, files that lie elsewhere than in blocks of
//! their own. Seen in the trials, never assumed.

use crate::series::LaneSeries;
use crate::statements::{name, pair as statement};
use model::Sentence;
use model::findings::{Kept, KeptForm, ResultFinding};
use model::job::Data;
use model::kinds::action;
use model::lane::is_compression;
use model::seen::KeptFiles;
use model::sentence::Weight;
use model::workload::Workload;

/// The lanes that keep half and more of the files that were looked at in another form (FIEMAP), all rounds together.
pub(crate) fn kept(lanes: &[LaneSeries], group: &str) -> Vec<Kept> {
    lanes.iter().filter_map(|lane| Some(Kept { lane: lane.lane.name.clone(), form: form(lane, group)? })).collect()
}

/// Lanes that compress, and left as they were files whose data compresses: what they are raced for did not happen.
pub(crate) fn not_compressed(lanes: &[LaneSeries], group: &str, workload: &Workload) -> Vec<Sentence> {
    let compressible = matches!(workload.data(), Some(Data::Ratio16 | Data::Ratio27 | Data::Compress(1.., _)));
    let left_alone = |lane: &&LaneSeries| {
        let seen: Vec<KeptFiles> = lane.group(group).filter_map(|(_, of)| of.kept_files).collect();
        let sum = |of: fn(&KeptFiles) -> u32| seen.iter().map(|files| u64::from(of(files))).sum::<u64>();
        let (all, other) = (sum(|of| of.files), sum(|of| of.compressed_files) + sum(|of| of.inline_files));
        all > 0 && other == 0 && lane.lane.mount_options.iter().any(|option| is_compression(option))
    };
    let left_alone = lanes.iter().filter(|_| compressible).filter(left_alone);
    left_alone.map(|lane| statement::not_compressed(name(&lane.lane.name)).weigh(Weight::Choice)).collect()
}

fn form(lane: &LaneSeries, group: &str) -> Option<KeptForm> {
    let seen: Vec<KeptFiles> = lane.group(group).filter_map(|(_, of)| of.kept_files).collect();
    let sum = |of: fn(&KeptFiles) -> u32| seen.iter().map(|files| u64::from(of(files))).sum::<u64>();
    let all = sum(|files| files.files);
    let forms = [
        (KeptForm::Inline, sum(|files| files.inline_files)),
        (KeptForm::Compressed, sum(|files| files.compressed_files)),
        (KeptForm::Tail, sum(|files| files.tail_files)),
    ];
    forms.into_iter().find(|(_, count)| all > 0 && 2 * count >= all).map(|(form, _)| form)
}

/// What is said beside a verdict: of lanes that sent direct I/O through the page cache, and of those that keep the files
/// in a form of their own.
pub(crate) fn sentences(buffered: &[String], kept: &[Kept], reads: bool) -> Vec<Sentence> {
    let buffers = |lane: &String| {
        if reads { statement::buffers_reads(name(lane)) } else { statement::buffers_writes(name(lane)) }
    };
    buffered.iter().map(buffers).chain(kept.iter().map(keeps)).collect()
}

fn keeps(kept: &Kept) -> Sentence {
    let lane = name(&kept.lane);
    match kept.form {
        KeptForm::Inline => statement::keeps_inline(lane),
        KeptForm::Compressed => statement::keeps_compressed(lane),
        KeptForm::Tail => statement::keeps_in_tails(lane),
    }
}

/// What two lanes did otherwise than each other.
pub(crate) fn between(result: &ResultFinding, lanes: [&String; 2]) -> Vec<Sentence> {
    let buffered: Vec<String> = lanes.into_iter().filter(|lane| result.buffered.contains(lane)).cloned().collect();
    let of = |lane: &String| result.kept.iter().find(|kept| kept.lane == *lane);
    let kept = match lanes.map(of) {
        [Some(one), Some(other)] if one.form == other.form => Vec::new(),
        kept => kept.into_iter().flatten().cloned().collect(),
    };
    let buffered = if buffered.len() == 1 { buffered } else { Vec::new() };
    sentences(&buffered, &kept, action(&result.group) == "read")
}
