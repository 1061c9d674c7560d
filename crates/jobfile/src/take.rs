//! How each option that shapes the work is taken.
//!
//! A function per option, named as the option; the table in `options` points to them.

use crate::draft::{Amount, ByDirection, Draft, Input};
use crate::names::{self, Name, inside, list};
use crate::shown;
use crate::values::{self, Base, by_direction, number};
use model::Bytes;
use model::job::{
    Distribution, FadviseHint, Fallocate, FileService, MOST_FILES, MOST_IODEPTH, MOST_WORKERS, Pattern, PerDirection,
    Rate, RateProcess, SyncMode, Verify,
};

type Taken = Result<(), String>;

/// Functions for options that set one field.
macro_rules! take_simply {
    ($($name:ident: |$draft:ident, $input:ident| $body:expr;)*) => {$(
        pub(crate) fn $name($draft: &mut Draft, $input: &Input) -> Taken {
            $body;
            Ok(())
        }
    )*};
}

take_simply! {
    // Numbers.
    number_ios: |draft, input| draft.number_ios = Some(input.number()?).filter(|number| *number > 0);
    offset: |draft, input| draft.io.offset = Bytes(input.number()?);
    offset_increment: |draft, input| draft.io.offset_increment = Bytes(input.number()?);
    iodepth: |draft, input| draft.io.iodepth = input.count(1, MOST_IODEPTH)?;
    iodepth_batch: |draft, input| draft.iodepth_batch = Some(input.count(0, MOST_IODEPTH)?);
    iodepth_low: |draft, input| draft.io.iodepth_low = Some(input.count(0, MOST_IODEPTH)?).filter(|low| *low > 0);
    numjobs: |draft, input| draft.io.numjobs = input.count(1, MOST_WORKERS)?;
    nrfiles: |draft, input| draft.io.nrfiles = input.count(1, MOST_FILES)?;
    openfiles: |draft, input| draft.io.openfiles = Some(input.count(0, u32::MAX)?).filter(|files| *files > 0);
    // As in fio, no loop is one.
    loops: |draft, input| draft.io.loops = input.count(0, u32::MAX)?.max(1);
    fsync: |draft, input| draft.io.fsync = input.count(0, u32::MAX)?;
    fdatasync: |draft, input| draft.io.fdatasync = input.count(0, u32::MAX)?;
    rwmixread: |draft, input| draft.io.rwmixread = input.count(0, 100)?;
    rwmixwrite: |draft, input| draft.io.rwmixread = 100 - input.count(0, 100)?;
    thinktime_blocks: |draft, input| draft.io.thinktime_blocks = input.count(0, u32::MAX)?.max(1);
    dedupe_percentage: |draft, input| draft.io.dedupe_percentage = input.count(0, 100)?;
    buffer_compress_percentage: |draft, input| draft.compress_percent = Some(input.count(0, 100)?);
    buffer_compress_chunk: |draft, input| draft.compress_chunk = Some(input.count(0, 1 << 30)?);
    verify_interval: |draft, input| draft.io.verify_interval = Bytes(u64::from(input.count(0, 1 << 30)?));
    // Switches.
    direct: |draft, input| draft.io.direct = input.switch()?;
    buffered: |draft, input| draft.io.direct = !input.switch()?;
    bs_unaligned: |draft, input| draft.io.bs_unaligned = input.switch()?;
    norandommap: |draft, input| draft.io.norandommap = input.switch()?;
    randrepeat: |draft, input| draft.io.randrepeat = input.switch()?;
    thread: |draft, input| draft.io.thread = input.switch()?;
    create_on_open: |draft, input| draft.io.create_on_open = input.switch()?;
    create_only: |draft, input| draft.io.create_only = input.switch()?;
    create_fsync: |draft, input| draft.io.create_fsync = input.switch()?;
    allow_file_create: |draft, input| draft.io.allow_file_create = input.switch()?;
    file_append: |draft, input| draft.io.file_append = input.switch()?;
    overwrite: |draft, input| draft.io.overwrite = input.switch()?;
    pre_read: |draft, input| draft.io.pre_read = input.switch()?;
    invalidate: |draft, input| draft.io.invalidate = input.switch()?;
    unlink: |draft, input| draft.io.unlink = input.switch()?;
    unlink_each_loop: |draft, input| draft.io.unlink_each_loop = input.switch()?;
    fsync_on_close: |draft, input| draft.io.fsync_on_close = input.switch()?;
    end_fsync: |draft, input| draft.io.end_fsync = input.switch()?;
    time_based: |draft, input| draft.time_based = input.switch()?;
    do_verify: |draft, input| draft.io.do_verify = input.switch()?;
    verify_fatal: |draft, input| draft.io.verify_fatal = input.switch()?;
    zero_buffers: |draft, input| draft.zero_buffers = input.switch()?;
    stonewall: |draft, input| draft.stonewall = input.switch()?;
    exitall: |draft, input| draft.exitall = input.switch()?;
    hipri: |draft, input| draft.io.hipri = input.switch()?;
    sqthread_poll: |draft, input| draft.io.sqthread_poll = input.switch()?;
    // An integer in fio: any but 0 switches it on.
    uncached: |draft, input| draft.io.uncached = input.number()? > 0;
    // Times.
    ramp_time: |draft, input| draft.io.ramp_time_seconds = input.seconds()?;
    runtime: |draft, input| draft.io.runtime_seconds = Some(input.seconds()?).filter(|seconds| *seconds > 0.0);
    thinktime: |draft, input| draft.io.thinktime_seconds = input.microseconds()?;
    thinktime_spin: |draft, input| draft.io.thinktime_spin_seconds = input.microseconds()?;
    // Texts.
    wait_for: |draft, input| draft.wait_for = Some(input.text().to_owned());
    name: |draft, input| draft.job_name = Some(input.text().to_owned());
}

/// Read before the others, so that a job is refused for its engine rather than for the engine's
/// own options.
pub(crate) fn ioengine(draft: &mut Draft, input: &Input) -> Taken {
    draft.io.ioengine = match input.text() {
        "sync" | "psync" => "sync",
        written @ ("pvsync" | "pvsync2") => {
            draft.note(format!("{written} is taken as sync: one buffer per call"));
            "sync"
        }
        written @ ("io_uring" | "libaio" | "mmap" | "null") => written,
        "posixaio" => return Err("ioengine=posixaio is not supported; write libaio or io_uring".to_owned()),
        "vsync" => {
            return Err("ioengine=vsync joins neighbouring I/Os, which is not supported; write sync".to_owned());
        }
        other => {
            return Err(format!(
                "ioengine {} is not supported; choose sync, io_uring, libaio, mmap or null, or use --with-fio",
                shown(other)
            ));
        }
    }
    .to_owned();
    draft.engine = Some(input.text().to_owned());
    Ok(())
}

/// Scanned before the others, because its place does not matter (as in fio).
pub(crate) fn kb_base(draft: &mut Draft, input: &Input) -> Taken {
    draft.base = base_of(input.text())?;
    Ok(())
}

/// The meaning of `kb_base=`.
pub(crate) fn base_of(text: &str) -> Result<Base, String> {
    match text {
        "1024" => Ok(Base::Binary),
        "1000" => Ok(Base::Decimal),
        other => Err(format!("{} is neither 1000 nor 1024; write one of them", shown(other))),
    }
}

/// The pattern's name, and the text after its colon.
pub(crate) fn pattern(text: &str) -> Result<(Pattern, &str), String> {
    let (name, modifier) = text.split_once(':').unwrap_or((text, ""));
    let pattern = match name {
        "read" => Pattern::Read,
        "write" => Pattern::Write,
        "randread" => Pattern::RandRead,
        "randwrite" => Pattern::RandWrite,
        "rw" | "readwrite" => Pattern::Rw,
        "randrw" => Pattern::RandRw,
        "trim" => Pattern::Trim,
        "randtrim" => Pattern::RandTrim,
        "trimwrite" => Pattern::TrimWrite,
        "randtrimwrite" => return Err("rw=randtrimwrite is not supported; write trimwrite or randtrim".to_owned()),
        other => {
            return Err(format!(
                "{} is no rw; choose read, write, randread, randwrite, rw, randrw, trim, randtrim or trimwrite",
                shown(other)
            ));
        }
    };
    Ok((pattern, modifier.trim()))
}

pub(crate) fn rw(draft: &mut Draft, input: &Input) -> Taken {
    let (pattern, modifier) = pattern(input.text())?;
    draft.io.rw = pattern;
    (draft.io.operations_per_offset, draft.io.sequential_step_bytes) = (1, 0);
    if modifier.is_empty() {
        return Ok(());
    }
    if pattern.random() {
        draft.io.operations_per_offset = values::count(modifier, draft.base, 1, u32::MAX)?;
        return Ok(());
    }
    let (negative, digits) = modifier.strip_prefix('-').map_or((false, modifier), |digits| (true, digits));
    // number() ends at i64::MAX, so that both signs fit.
    let step = i64::try_from(number(digits, input.base)?).unwrap_or(i64::MAX);
    draft.io.sequential_step_bytes = if negative { -step } else { step };
    Ok(())
}

/// One value for each direction that has one.
fn each<T>(input: &Input, read: impl Fn(&str) -> Result<T, String>) -> Result<ByDirection<T>, String> {
    let mut out = [None, None, None];
    for (value, text) in out.iter_mut().zip(by_direction(input.text())?) {
        *value = text.map(&read).transpose()?;
    }
    Ok(out)
}

fn block(text: &str, base: Base) -> Result<u64, String> {
    match number(text, base)? {
        0 => Err("bs is 0; write a size from 1 byte".to_owned()),
        size => Ok(size),
    }
}

pub(crate) fn bs(draft: &mut Draft, input: &Input) -> Taken {
    draft.fixed = each(input, |text| block(text, input.base))?;
    Ok(())
}

pub(crate) fn bsrange(draft: &mut Draft, input: &Input) -> Taken {
    draft.ranges = each(input, |text| {
        let (low, high) =
            text.split_once(['-', ':']).ok_or_else(|| format!("{} is no range; write 1k-4k", shown(text)))?;
        let (low, high) = (block(low.trim(), input.base)?, block(high.trim(), input.base)?);
        Ok((low.min(high), low.max(high)))
    })?;
    Ok(())
}

pub(crate) fn bssplit(draft: &mut Draft, input: &Input) -> Taken {
    draft.splits = each(input, |text| {
        let mut parts = Vec::new();
        for part in text.split(':') {
            let (size, percent) = part.split_once('/').unwrap_or((part, ""));
            parts.push((Bytes(block(size.trim(), input.base)?), share(percent)?));
        }
        if parts.len() > 64 {
            return Err("bssplit has more than 64 sizes; leave some out".to_owned());
        }
        let shares = fill(text, parts.iter().map(|part| part.1))?;
        let whole = parts.iter().zip(shares).map(|(part, share)| (part.0, share));
        Ok(whole.filter(|part| part.1 > 0).collect())
    })?;
    Ok(())
}

/// A percentage, or nothing: to be filled.
fn share(text: &str) -> Result<Option<u32>, String> {
    match text.trim() {
        "" => Ok(None),
        text => values::count(text.strip_suffix('%').unwrap_or(text), Base::Binary, 0, 100).map(Some),
    }
}

/// Percentages that sum to 100; what is left out gets the rest in equal parts, the last one the odd.
fn fill(text: &str, shares: impl Iterator<Item = Option<u32>>) -> Result<Vec<u32>, String> {
    let shares: Vec<Option<u32>> = shares.collect();
    let given: u32 = shares.iter().flatten().sum();
    let open = u32::try_from(shares.iter().filter(|share| share.is_none()).count()).unwrap_or(u32::MAX);
    if given > 100 || (open == 0 && given != 100) {
        return Err(format!("the percentages of {} sum to {given}, not 100; change them", shown(text)));
    }
    let rest = 100 - given;
    let mut left = open;
    let mut spent = 0;
    let one = |share: Option<u32>| {
        share.unwrap_or_else(|| {
            left -= 1;
            let part = if left == 0 { rest - spent } else { rest / open };
            spent += part;
            part
        })
    };
    Ok(shares.into_iter().map(one).collect())
}

pub(crate) fn blockalign(draft: &mut Draft, input: &Input) -> Taken {
    let mut sizes = each(input, |text| number(text, input.base))?.into_iter().map(Option::unwrap_or_default);
    let first = sizes.next().unwrap_or(0);
    if sizes.any(|size| size != first) {
        return Err("blockalign differs by direction, which is not supported; write one value".to_owned());
    }
    draft.io.blockalign = Bytes(first);
    draft.blockalign = first > 0;
    Ok(())
}

pub(crate) fn size(draft: &mut Draft, input: &Input) -> Taken {
    draft.size_percent = input.percent()?;
    draft.size = if draft.size_percent.is_some() { None } else { Some(input.number()?) };
    Ok(())
}

pub(crate) fn io_submit_mode(draft: &mut Draft, input: &Input) -> Taken {
    draft.offload = match input.text() {
        "inline" => false,
        "offload" => true,
        other => return Err(format!("{} is no io_submit_mode; write inline or offload", shown(other))),
    };
    Ok(())
}

pub(crate) fn io_size(draft: &mut Draft, input: &Input) -> Taken {
    draft.io_size = match input.percent()? {
        Some(percent) => Some(Amount::Percent(u64::from(percent))),
        None => Some(Amount::Bytes(input.number()?)).filter(|amount| !matches!(amount, Amount::Bytes(0))),
    };
    Ok(())
}

pub(crate) fn filesize(draft: &mut Draft, input: &Input) -> Taken {
    let text = input.text();
    let (low, high) = text.split_once(['-', ':']).unwrap_or((text, text));
    let (low, high) = (number(low.trim(), input.base)?, number(high.trim(), input.base)?);
    if low == 0 || high == 0 {
        return Err("filesize is 0; write a size from 1 byte".to_owned());
    }
    draft.filesize = Some((low.min(high), low.max(high)));
    Ok(())
}

pub(crate) fn percentage_random(draft: &mut Draft, input: &Input) -> Taken {
    let parts = each(input, |text| values::count(text, input.base, 0, 100))?;
    let [read, write, trim] = parts.map(|part| part.unwrap_or(100));
    draft.io.percentage_random =
        Some(PerDirection { read, write, trim }).filter(|of| (of.read, of.write, of.trim) != (100, 100, 100));
    Ok(())
}

pub(crate) fn random_distribution(draft: &mut Draft, input: &Input) -> Taken {
    let text = input.text();
    if text.contains(',') {
        return Err("random_distribution differs by direction, which is not supported; write one value".to_owned());
    }
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    if name == "zoned" {
        let mut zones = Vec::new();
        for zone in rest.split(':') {
            let (accesses, size) = zone.split_once('/').unwrap_or((zone, ""));
            zones.push((share(accesses)?, share(size)?));
        }
        if zones.len() > 256 {
            return Err("random_distribution has more than 256 zones; leave some out".to_owned());
        }
        let accesses = fill(text, zones.iter().map(|zone| zone.0))?;
        let sizes = fill(text, zones.iter().map(|zone| zone.1))?;
        draft.io.random_distribution = Distribution::Zoned(accesses.into_iter().zip(sizes).collect());
        return Ok(());
    }
    if name == "zoned_abs" || rest.contains(':') {
        return Err(format!("{} is not supported; write zoned:… with percentages, or no second number", shown(text)));
    }
    let read: Result<Distribution, _> = text.parse();
    draft.io.random_distribution = read.map_err(|what| what.chars().map(crate::one_line).collect::<String>())?;
    Ok(())
}

pub(crate) fn file_service_type(draft: &mut Draft, input: &Input) -> Taken {
    let (name, count) = input.text().split_once(':').unwrap_or((input.text(), "1"));
    draft.io.file_service_type = match name {
        "roundrobin" => FileService::RoundRobin,
        "random" => FileService::Random,
        "sequential" => FileService::Sequential,
        other => {
            return Err(format!(
                "file_service_type {} is not supported; choose roundrobin, random or sequential",
                shown(other)
            ));
        }
    };
    draft.io.file_service_count = values::count(count, input.base, 1, u32::MAX)?;
    Ok(())
}

pub(crate) fn fallocate(draft: &mut Draft, input: &Input) -> Taken {
    draft.io.fallocate = match input.text() {
        "native" => Fallocate::Native,
        "none" | "0" => Fallocate::None,
        "posix" | "1" => Fallocate::Posix,
        "keep" => Fallocate::Keep,
        "truncate" => Fallocate::Truncate,
        other => {
            return Err(format!("{} is no fallocate; choose none, native, posix, keep or truncate", shown(other)));
        }
    };
    Ok(())
}

pub(crate) fn fadvise_hint(draft: &mut Draft, input: &Input) -> Taken {
    draft.io.fadvise_hint = match input.text() {
        "0" => FadviseHint::None,
        "1" => FadviseHint::Pattern,
        "sequential" => FadviseHint::Sequential,
        "random" => FadviseHint::Random,
        "noreuse" => FadviseHint::Noreuse,
        other => {
            return Err(format!("{} is no fadvise_hint; choose 0, 1, sequential, random or noreuse", shown(other)));
        }
    };
    Ok(())
}

pub(crate) fn sync(draft: &mut Draft, input: &Input) -> Taken {
    draft.io.sync = match input.text() {
        "none" | "0" => SyncMode::None,
        "sync" | "1" => SyncMode::Sync,
        "dsync" => SyncMode::Dsync,
        other => return Err(format!("{} is no sync; choose none, sync or dsync", shown(other))),
    };
    Ok(())
}

pub(crate) fn verify(draft: &mut Draft, input: &Input) -> Taken {
    draft.io.verify = match input.text() {
        "0" => Verify::None,
        "crc32c" | "crc32c-intel" => Verify::Crc32c,
        other => {
            return Err(format!(
                "verify={} is not supported; write verify=crc32c, or let the installed fio do the job (--with-fio)",
                bare(other)
            ));
        }
    };
    Ok(())
}

/// Text in a message without its backquotes.
fn bare(text: &str) -> String {
    shown(text).trim_matches('`').to_owned()
}

pub(crate) fn startdelay(draft: &mut Draft, input: &Input) -> Taken {
    if input.text().contains('-') {
        return Err("startdelay draws from a range, which is not supported; write one time".to_owned());
    }
    draft.io.startdelay_seconds = input.seconds()?;
    Ok(())
}

pub(crate) fn iodepth_batch_complete_min(draft: &mut Draft, input: &Input) -> Taken {
    let least = input.count(0, MOST_IODEPTH)?;
    if least == 0 {
        draft.note("0 is taken as 1: completions are collected whenever there are any, without polling");
    }
    draft.io.iodepth_batch_complete_min = least.max(1);
    Ok(())
}

pub(crate) fn thinktime_blocks_type(draft: &mut Draft, input: &Input) -> Taken {
    match input.text() {
        "complete" => draft.thinktime_issue = false,
        "issue" => draft.thinktime_issue = true,
        other => return Err(format!("{} is no thinktime_blocks_type; write complete", shown(other))),
    }
    Ok(())
}

pub(crate) fn rate(draft: &mut Draft, input: &Input) -> Taken {
    draft.rates = each(input, |text| number(text, input.base).map(|bytes| limit(bytes, Rate::Bytes)))?;
    Ok(())
}

pub(crate) fn rate_iops(draft: &mut Draft, input: &Input) -> Taken {
    draft.rate_iops = each(input, |text| number(text, input.base).map(|count| limit(count, Rate::Operations)))?;
    Ok(())
}

/// A rate of 0 is none, as in fio.
fn limit(value: u64, of: fn(f64) -> Rate) -> Rate {
    if value == 0 { Rate::Unlimited } else { of(value as f64) }
}

pub(crate) fn rate_process(draft: &mut Draft, input: &Input) -> Taken {
    draft.io.rate_process = match input.text() {
        "linear" => RateProcess::Linear,
        "poisson" => {
            draft.note("latency counts from the intended start of an operation, not from its submission as in fio");
            RateProcess::Poisson
        }
        other => return Err(format!("{} is no rate_process; choose linear or poisson", shown(other))),
    };
    Ok(())
}

pub(crate) fn new_group(draft: &mut Draft, input: &Input) -> Taken {
    draft.new_group = input.switch()?;
    draft.note("accepted without effect: jobs are always reported apart");
    Ok(())
}

pub(crate) fn allrandrepeat(draft: &mut Draft, input: &Input) -> Taken {
    if input.switch()? {
        draft.io.randrepeat = true;
        draft.note("taken as randrepeat=1");
    }
    Ok(())
}

pub(crate) fn scramble_buffers(draft: &mut Draft, input: &Input) -> Taken {
    input.switch()?;
    draft.note("accepted without effect: what is written never repeats unless the job asks for it");
    Ok(())
}

/// `0xHEX`, a number, `"text"`, or several of them.
pub(crate) fn buffer_pattern(draft: &mut Draft, input: &Input) -> Taken {
    let wrong = || format!("{} is no pattern; write 0xHEX, a number or \"text\"", shown(input.text()));
    let mut rest = input.text();
    let mut bytes = Vec::new();
    while !rest.is_empty() {
        if rest.starts_with('\'') {
            return Err("buffer_pattern from a file is not supported; write 0xHEX or \"text\"".to_owned());
        }
        if let Some(text) = rest.strip_prefix('"') {
            let (inside, after) = text.split_once('"').ok_or_else(wrong)?;
            bytes.extend_from_slice(inside.as_bytes());
            rest = after;
        } else if let Some(hex) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            let end = hex.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(hex.len());
            let odd = end % 2;
            let mut digits = hex[..end].chars().filter_map(|digit| digit.to_digit(16));
            // As fio: an odd first digit is a byte of its own.
            bytes.extend(digits.by_ref().take(odd).map(|digit| digit as u8));
            while let (Some(high), Some(low)) = (digits.next(), digits.next()) {
                bytes.push((high * 16 + low) as u8);
            }
            rest = if end == 0 { return Err(wrong()) } else { &hex[end..] };
        } else {
            let sign = usize::from(rest.starts_with('-'));
            let end = rest[sign..].find(|letter: char| !letter.is_ascii_digit()).map_or(rest.len(), |end| end + sign);
            let value: i64 = rest[..end].parse().map_err(|_| wrong())?;
            let value = i32::try_from(value).map(i32::cast_unsigned).or(u32::try_from(value)).map_err(|_| wrong())?;
            let word = value.to_le_bytes();
            let used = word.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
            bytes.extend_from_slice(&word[..used]);
            rest = &rest[end..];
        }
        if bytes.len() > 512 {
            return Err("buffer_pattern is above 512 bytes; shorten it".to_owned());
        }
    }
    if bytes.is_empty() {
        return Err(wrong());
    }
    draft.pattern = Some(bytes);
    Ok(())
}

pub(crate) fn filename(draft: &mut Draft, input: &Input) -> Taken {
    let names: Vec<Name> = list(input.text()).iter().map(|name| inside(name)).collect::<Result<_, _>>()?;
    if names.len() > MOST_FILES as usize {
        return Err(format!("filename has more than {MOST_FILES} names; leave some out"));
    }
    let absolute = names.iter().filter(|name| name.inside != name.original && name.original.starts_with('/'));
    for name in absolute.take(4) {
        draft.notes.push(format!("{} is {} in the lane", shown(&name.original), shown(&name.inside)));
    }
    draft.names = names;
    Ok(())
}

pub(crate) fn filename_format(draft: &mut Draft, input: &Input) -> Taken {
    let name = inside(input.text())?;
    if name.original.starts_with('/') {
        draft.note(format!("{} is {} in the lane", shown(&name.original), shown(&name.inside)));
    }
    draft.format = Some(name);
    Ok(())
}

pub(crate) fn directory(draft: &mut Draft, input: &Input) -> Taken {
    draft.directory = names::directory(input.text())?.into();
    draft.note("the lane's directory stands in its place");
    Ok(())
}
