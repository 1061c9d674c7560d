//! What the kinds of work hold of people's own words: names of files, paths, programs.

use super::sharer::Sharer;
use super::shield::Sort;
use crate::job::{FioRun, Io, Job, Jobs};
use crate::kinds::foreign::Foreign;
use crate::kinds::replay::{Facts, Replay};
use crate::mix::Mix;
use crate::oltp::Oltp;
use crate::operations::Operations;
use crate::programs::{ProgramStep, Programs};
use crate::workload::{Kind, Workload};

/// Options of fio whose value is somebody's own text.
const OWN_TEXTS: [&str; 20] = [
    "cgroup",
    "client",
    "clustername",
    "description",
    "directory",
    "exec_postrun",
    "exec_prerun",
    "hostname",
    "http_host",
    "http_user",
    "merge_blktrace_file",
    "opendir",
    "poolname",
    "profile",
    "rbdname",
    "read_iolog",
    "replay_redirect",
    "server",
    "verify_state_load",
    "write_iolog",
];

/// How the machine is named among the parameters of another tool's work.
const HOST: &str = "host=";

/// The machines that such parameters name.
pub(super) fn hosts(parameters: &str) -> impl Iterator<Item = &str> {
    parameters.split(' ').filter_map(|word| word.strip_prefix(HOST)).filter(|host| !host.is_empty())
}

impl Sharer {
    pub(super) fn workload(&mut self, workload: &mut Workload) {
        let Workload { name, title, kind } = workload;
        self.clean(name);
        *title = match (&*kind, self.trace()) {
            (Kind::Replay(replay), Some(trace)) => replay.title(&trace),
            _ => self.shield.text(title),
        };
        match kind {
            Kind::Io(io) => self.io(io),
            Kind::Jobs(jobs) => self.jobs(jobs),
            Kind::Fio(run) => self.fio(run),
            Kind::Operations(operations) => self.operations(operations),
            Kind::Oltp(oltp) => self.oltp(oltp),
            Kind::Programs(programs) => self.programs(programs),
            Kind::Mix(mix) => self.mix(mix),
            Kind::Replay(replay) => self.replay(replay),
            Kind::Foreign(foreign) => {
                let Foreign { format, parameters, groups } = foreign;
                self.clean(format);
                *parameters = self.foreign_parameters(parameters);
                self.clean_all(groups);
            }
            Kind::SmallFiles(_) | Kind::Appenders(_) | Kind::Streams(_) | Kind::Contention(_) | Kind::Durable(_) => {}
            Kind::OneFile(_) | Kind::Collective(_) => {}
        }
    }

    /// How another tool did it; a host that is an ordinary word stays, and is listed as one.
    fn foreign_parameters(&mut self, parameters: &str) -> String {
        let word = |word: &str| match word.strip_prefix(HOST) {
            Some(host) if !host.is_empty() && !self.shield.ordinary().iter().any(|one| one.text == host) => {
                format!("{HOST}{}", self.shield.stand_in(Sort::Host, host))
            }
            _ => word.to_owned(),
        };
        let words: Vec<String> = parameters.split(' ').map(word).collect();
        self.shield.text(&words.join(" "))
    }

    fn io(&mut self, io: &mut Io) {
        let Io { ioengine, filename, filename_format, .. } = io;
        self.clean(ioengine);
        filename.iter_mut().for_each(|name| *name = self.shield.stand_in(Sort::File, name));
        self.clean(filename_format);
    }

    fn jobs(&mut self, jobs: &mut Jobs) {
        let Jobs { jobs, file, notes } = jobs;
        for Job { name, stonewall: _, exitall: _, wait_for, options, io } in jobs {
            self.clean(name);
            self.clean_optional(wait_for);
            for (key, value) in options {
                *value = self.fio_value(key, value);
                self.clean(key);
            }
            self.io(io);
        }
        self.clean(file);
        self.clean_all(notes);
    }

    fn fio(&mut self, run: &mut FioRun) {
        let FioRun { file, text, jobs, working_set: _ } = run;
        self.clean(file);
        let lines: Vec<String> = text.lines().map(|line| self.fio_line(line)).collect();
        // It ends in a line's end, as it was.
        let end = if text.ends_with('\n') { "\n" } else { "" };
        *text = self.shield.text(&(lines.join("\n") + end));
        jobs.iter_mut().for_each(|job| self.clean(&mut job.name));
    }

    fn fio_line(&mut self, line: &str) -> String {
        match line.split_once('=') {
            Some((key, value)) if !line.starts_with('[') => {
                let value = self.fio_value(key.trim(), value);
                format!("{}={value}", self.shield.text(key))
            }
            _ => self.shield.text(line),
        }
    }

    /// The value of an option of a job file.
    fn fio_value(&mut self, key: &str, value: &str) -> String {
        match key {
            _ if value.is_empty() => String::new(),
            "filename" => {
                let name = |name: &str| self.shield.stand_in(Sort::File, name);
                value.split(':').map(name).collect::<Vec<_>>().join(":")
            }
            key if OWN_TEXTS.contains(&key) || key.ends_with("_log") => self.shield.stand_in(Sort::File, value),
            _ => self.shield.text(value),
        }
    }

    fn operations(&mut self, operations: &mut Operations) {
        for set in &mut operations.files {
            self.clean(&mut set.name);
            self.clean_optional(&mut set.folder);
        }
        for step in &mut operations.step {
            for text in [&mut step.name, &mut step.section, &mut step.files] {
                self.clean(text);
            }
        }
    }

    fn oltp(&mut self, oltp: &mut Oltp) {
        oltp.socket = self.path(&oltp.socket);
        oltp.options.values_mut().for_each(|value| self.clean(value));
        self.clean_keys(&mut oltp.options);
    }

    fn programs(&mut self, programs: &mut Programs) {
        for step in &mut programs.step {
            let ProgramStep { name, program, overlay, folders, cold: _, reads, outputs, check } = step;
            self.clean(name);
            for texts in [program, folders, reads, outputs, check] {
                self.clean_all(texts);
            }
            if let Some(overlay) = overlay {
                self.clean_all(&mut overlay.lower);
            }
        }
    }

    fn mix(&mut self, mix: &mut Mix) {
        mix.files.iter_mut().for_each(|pool| self.clean(&mut pool.name));
        for step in &mut mix.step {
            self.clean(&mut step.name);
            self.clean(&mut step.files);
        }
    }

    fn replay(&mut self, replay: &mut Replay) {
        let Replay { trace, sha256, speed: _, facts } = replay;
        *trace = self.path_of(trace);
        self.clean(sha256);
        let Facts { command, left_out, kinds, .. } = facts;
        if !command.is_empty() {
            // As an anonymous trace has it.
            self.shield.stand_in(Sort::Command, command);
            command.clear();
        }
        self.clean_keys(left_out);
        self.clean_all(kinds);
    }
}
