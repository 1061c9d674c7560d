//! What a memo says, sentence by sentence: one field each, so that the compiler finds what a language
//! lacks. `{name}` stands for what is filled in.

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        /// Every sentence of a memo in one language.
        #[derive(Debug)]
        pub(crate) struct Words {
            $($(#[$doc])* pub(crate) $name: &'static str,)*
        }

        #[cfg(test)]
        impl Words {
            /// Every sentence by its name.
            pub(crate) fn all(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), self.$name)),*]
            }
        }
    };
}

words! {
    // How things stand beside each other.
    /// Between the parts of a list.
    comma;
    /// Between sentences that belong together.
    semicolon;
    /// `{before}`, `{last}`: the end of a list.
    and;
    /// `{before}`, `{last}`: the end of a choice.
    or;
    /// `{text}`, `{inside}`.
    brackets;
    /// `{text}`: a name that somebody gave.
    quoted;
    /// `{text}`: something that is asked for.
    wish;
    /// `{low}`, `{high}`: percentages.
    percents;
    /// `{low}`, `{high}`: ratios.
    ratios;
    /// `{list}`, `{count}`: a list that was cut.
    and_more;
    /// `{name}`, `{value}`: a label and what it is.
    labelled;

    // The head.
    /// `{lanes}`.
    title;
    /// `{lanes}`: one filesystem on several kernels.
    title_kernels;
    /// `{lanes}`: options of one filesystem that were screened.
    title_options;
    /// The end of a sentence.
    stop;
    /// A label.
    decision;
    /// A label.
    note;
    /// `{lanes}`: one.
    take_one;
    /// `{lanes}`: several, each better at something.
    take_by_work;
    /// `{lanes}`, `{margin}`: several that nothing sets apart.
    take_alike;
    /// `{lanes}`: several, and what sets them apart may not be named.
    take_unnamed;
    /// `{lanes}`, `{why}`.
    take_open;
    /// `{list}`: lanes with their kernels.
    of_kernels;
    /// Most rounds were disturbed.
    disturbed;
    /// `{why}`.
    undecided_yet;
    /// A reason: the rounds differ too much.
    why_noise;
    /// A reason: too few rounds.
    why_few;
    /// A reason: interrupted.
    why_interrupted;
    /// A reason: the budget was used up.
    why_time;
    /// A reason: other programs.
    why_busy;
    /// The disk was measured everywhere.
    undecided_disk;
    /// No two may be ranked.
    undecided_apart;
    /// None of these.
    undecided_nothing;
    /// A search for the largest number of writers.
    searched;
    /// Stands for `{base}` where nobody could have screened a lane of that name.
    screened_no_lane;
    /// `{base}`: options were screened, and no effect is told.
    screened_nothing;
    /// `{base}`, `{why}`: the same, for one reason.
    screened_because;
    /// `{base}`: nothing is proposed, and the race is not over.
    screened_unfinished;
    /// `{base}`, `{all}`: nothing is proposed of these options.
    screened_keep;
    /// `{base}`, `{of}`, `{count}`, `{open}`: nothing is proposed, and of so many options these cannot be told yet.
    screened_keep_yet;
    /// The same of a screening of one option.
    screened_keep_yet_one;
    /// `{base}`: the proposal is being tuned.
    screened_tuning;
    /// `{base}`, `{options}`: proposed, and not raced against the default.
    screened_yet;
    /// `{base}`, `{options}`: the race confirmed it.
    screened_take;
    /// `{base}`, `{options}`: better in some work and worse in other.
    screened_mixed;
    /// `{base}`, `{options}`: the race did not confirm it.
    screened_not;
    /// `{base}`, `{options}`: the race is over and cannot tell.
    screened_open;
    /// `{base}`, `{options}`, `{why}`: the same, for one reason.
    screened_open_because;
    /// `{base}`, `{options}`: the race is not over.
    screened_running;
    /// `{options}`, `{better}`, `{gains}`: what the race against the default showed, work by work.
    screened_again;
    /// Stands for `{better}`: which side of a percentage is.
    screened_better;
    /// The same where some are ratios.
    screened_better_ratios;
    /// An interval that leaves out nothing.
    screened_all;
    /// `{option}`, `{gains}`: what the screening showed of one option, which its figures chose.
    screened_alone;
    /// `{size}`: what the screening made expect of a piece of work.
    screened_expected;
    /// Stands for what an option costs where no table tells it.
    screened_price;
    /// `{raced}`, `{planned}`: rounds of a screening that its time ended.
    screened_cut;
    /// A screening of so few options that lanes which differ would not be noticed.
    screened_few;
    /// The disk's queue was varied on images.
    screened_queue;
    /// `{option}`, `{level}`, `{usual}`: a level of the default of a screening that is not the usual one.
    screened_unusual;
    /// `{options}`: levels that tuning chose, of options of which the screening does not say that they matter.
    screened_tuned_alone;
    /// A verdict of that race: better.
    row_better;
    /// A verdict: worse.
    row_worse;
    /// A verdict: alike.
    row_tie;
    /// A verdict: not known yet.
    row_undecided;
    /// No verdict.
    row_none;
    /// No figure at all.
    nothing_measured;
    /// One contestant.
    one_lane;
    /// One contestant, which another tool measured.
    one_imported;
    /// One contestant against itself.
    same_twice;
    /// The race did not end by itself.
    interrupted;
    /// The race did not end by itself.
    failed_race;
    /// The race did not end by itself.
    unfinished;
    /// The race goes on.
    running;
    /// The race goes on, and no figure is there yet.
    nothing_yet;
    /// `{outcome}`: the race did not end by itself.
    ended_as;
    /// `{command}`.
    resume;

    // Headings.
    /// What the decision brings.
    brings;
    /// What it costs.
    costs;
    /// What could not be told.
    untold;
    /// What was not tested.
    untested;
    /// What would change it.
    flips;
    /// The commands that set what a screening found.
    set_it;
    /// Machine and lanes.
    place;
    /// The command.
    repeat;

    // Differences.
    /// `{lane}`, `{other}`, `{claims}`.
    against;
    /// `{work}`, `{why}`: where the time of one of these went.
    time_went;
    /// `{low}`, `{high}`.
    percent_between;
    /// `{size}`.
    percent_about;
    /// `{size}`.
    percent_at_least;
    /// `{low}`, `{high}`.
    times_between;
    /// `{size}`.
    times_about;
    /// `{size}`.
    times_at_least;
    /// `{when}`.
    faster;
    /// `{when}`.
    slower;
    /// `{when}`, `{wait}`.
    shorter;
    /// `{when}`, `{wait}`.
    longer;
    /// `{amount}` in percent, `{when}`.
    faster_percent;
    /// `{amount}` in times, `{when}`.
    faster_times;
    /// `{amount}` in percent, `{when}`.
    slower_percent;
    /// `{amount}` in times, `{when}`.
    slower_times;
    /// `{amount}` in percent, `{when}`, `{wait}`.
    shorter_percent;
    /// `{amount}` in times, `{when}`, `{wait}`.
    shorter_times;
    /// `{amount}` in percent, `{when}`, `{wait}`.
    longer_percent;
    /// `{amount}` in times, `{when}`, `{wait}`.
    longer_times;
    /// A latency.
    wait_p50;
    /// A latency.
    wait_p99;
    /// A latency.
    wait_p999;
    /// A latency.
    wait_mean;
    /// Any other latency.
    wait_other;

    // Work: what it is called, and when it happens.
    /// Work.
    commits;
    /// When.
    committing;
    /// Work.
    sequential_writes;
    /// When.
    writing_in_sequence;
    /// Work.
    sequential_reads;
    /// When.
    reading_in_sequence;
    /// Work.
    random_writes;
    /// When.
    writing_at_random;
    /// Work.
    random_reads;
    /// When.
    reading_at_random;
    /// Work.
    creations;
    /// When.
    creating;
    /// Work.
    small_reads;
    /// When.
    reading_small;
    /// Work.
    deletions;
    /// When.
    deleting;
    /// `{work}`: work by the name that somebody gave it.
    at_work;
    /// `{title}`, `{count}`, `{of}`: steps of a table.
    some_steps;

    // Costs.
    /// `{lanes}`.
    costs_nothing;
    /// `{lanes}`.
    costs_unsure;
    /// `{lanes}`, `{other}`, `{what}`.
    not_ranked;
    /// `{lanes}`.
    lacks_journal;
    /// `{lanes}`.
    lacks_fsync;
    /// `{lanes}`.
    lacks_barriers;
    /// `{with}`, `{without}`.
    checksums;
    /// `{when}`, `{list}`.
    cpu_per_operation;
    /// `{when}`, `{list}`.
    cpu_per_gib;
    /// `{when}`, `{list}`.
    extra_writes;

    // What could not be told.
    /// `{lane}`, `{works}`, `{reason}`.
    failed_at;
    /// `{margin}`, `{works}`.
    ties;
    /// `{works}`.
    disk_measured;
    /// `{works}`.
    fairlane_measured;
    /// `{works}`.
    memory_did_it;
    /// `{works}`.
    own_disks_measured;
    different_disks;
    /// `{lanes}`: no flush of theirs reached a disk.
    flushes_short;
    /// `{works}`: the rounds differ too much.
    open_noise;
    /// `{works}`: too few rounds.
    open_few;
    /// `{works}`: interrupted.
    open_interrupted;
    /// `{works}`: the budget was used up.
    open_time;
    /// `{works}`: other programs.
    open_busy;
    /// `{time}`: stands in brackets behind a command.
    about;
    /// `{command}`.
    settle;
    /// `{command}`: it settles some of it.
    settle_some;
    /// `{command}`: too few rounds were asked for.
    settle_first;
    /// Other programs disturbed it.
    settle_quiet;
    /// More racing than is worth it.
    settle_out_of_reach;
    /// `{lane}`, `{count}`, `{all}`.
    self_apart;
    /// Everything was told.
    nothing_open;

    // What was not tested.
    /// `{list}`.
    not_tested;
    /// Nobody says.
    not_tested_unknown;

    // What would change it.
    /// `{scenario}`, `{lanes}`, `{other}`, `{condition}`.
    flip;
    /// `{what}`, `{at}`, `{share}`.
    if_less;
    /// `{what}`, `{at}`, `{share}`.
    if_more;
    /// `{what}`.
    if_noise;
    /// `{need}`.
    if_without;
    /// `{needs}`.
    if_with;
    /// `{lane}`, `{other}`, `{claim}`.
    closest;
    /// Always.
    elsewhere;

    // Where and when.
    /// `{date}`, `{suite}`, `{count}`, `{machine}`.
    measured;
    /// `{formats}`, `{date}`, `{count}`, `{machine}`: other tools measured it.
    imported;
    /// A date that is not known.
    no_date;
    /// A machine that is not known.
    no_machine;
    /// A date: `{year}`, `{month}`, `{day}`, `{time}`.
    date;
    /// The same in a zone that nobody told.
    local_date;
    /// Names of the months, or their numbers, separated by blanks.
    months;
    /// `{count}`.
    cpus;
    /// `{size}`.
    memory;
    /// `{kernel}`.
    kernel;
    /// `{disk}`.
    disk;
    /// Its disk may be anything.
    virtual_machine;
    /// `{filesystem}`.
    images_on;
    /// `{machine}`: it ran guests.
    host;
    /// `{guest}`: kernel, CPUs and memory, as the record names them.
    in_guest;
    /// `{driver}`.
    driver;
    /// A label.
    lanes;
    /// No mkfs.
    as_found;
    /// No mkfs.
    by_library;
    /// No mkfs.
    in_memory;
    /// No mkfs.
    by_another_tool;
    /// `{limits}`.
    held_to;
    /// `{each}`: lanes with the limits of their disks.
    held_apart;
    no_limits;
    /// `{command}`: the whole report.
    full_report;
    /// `{count}`, `{command}`: the whole report and its warnings.
    full_report_warns;
    /// `{count}`, `{command}`: what this page has no room for.
    more_points;
    /// `{count}`: the same where a line has no room for the command.
    more_points_plain;
    /// `{command}`: a command that this page has no room for.
    too_long;
}
