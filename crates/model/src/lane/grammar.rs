//! The text of a lane: read from a command line, and written so that it makes the same lane again.

use super::{Contestant, LaneSpec, Venue, directory};
use crate::aged::{self, Past};
use crate::stack::{self, LayerSpec, PartError};
use std::path::PathBuf;
use std::str::FromStr;

/// Why a lane could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaneError {
    /// Nothing stands where a filesystem should.
    #[error("lane `{0}` names no filesystem; write it like ext4, ext4,nobarrier or lean=xfs,-mreflink=0")]
    Empty(String),
    /// A name that reports could not show.
    #[error("lane `{0}`: a name has 1 to 64 characters and no control characters; give it one: NAME=FILESYSTEM…")]
    Name(String),
    /// An option between two commas is missing.
    #[error("lane `{0}` has an empty option; remove the extra comma")]
    EmptyOption(String),
    /// The brackets of the long form do not close.
    #[error(
        "lane `{0}`: the bracket of FS(MKFS OPTIONS) is not closed, or text follows it; write it like ext4(-b 1024),noatime"
    )]
    Bracket(String),
    /// What lies above a filesystem stands without one.
    #[error(
        "lane `{lane}`: {above} lies above a filesystem; write that in brackets, with all that it stands on: {above}(ext4/raid1:2)"
    )]
    NothingBelow {
        /// The lane.
        lane: String,
        /// What lies above.
        above: String,
    },
    /// What follows a colon is no number of devices.
    #[error("lane `{lane}`: `{count}` is no number of disks; write 1 to {most} behind the colon, like ext4/raid5:3", most = stack::MOST_DEVICES)]
    Devices {
        /// The lane.
        lane: String,
        /// What stands there.
        count: String,
    },
    /// What follows a `/` behind an option is no layer.
    #[error("lane `{lane}`: there is no layer `{layer}`{hint}; layers are {}", stack::LAYERS.join(", "))]
    Layer {
        /// The lane.
        lane: String,
        /// What was taken for a layer.
        layer: String,
        /// What may be meant; empty: nothing is near.
        hint: String,
    },
    /// What lies above a filesystem was given something else.
    #[error(
        "lane `{0}`: one thing lies above a filesystem, and nothing above a directory, which is raced as it is; write it like overlay(ext4)"
    )]
    Above(String),
    /// What follows a `+` is no state.
    #[error("lane `{lane}`: there is no state `{state}`, or it is told twice; states are {}", aged::STATES)]
    State {
        /// The lane.
        lane: String,
        /// What was taken for a state.
        state: String,
    },
    /// A state stands behind a layer, or behind what lies above.
    #[error(
        "lane `{0}`: a state stands behind the filesystem and its options, like ext4,noatime+aged/crypt or overlay(ext4+aged)"
    )]
    StateBehind(String),
    /// What is said of a directory's server is nothing that one does.
    #[error(
        "lane `{lane}`: `{word}` tells nothing of a server; write server=sync or server=async, or a / behind a directory that is called so"
    )]
    Server {
        /// The lane.
        lane: String,
        /// What stands there.
        word: String,
    },
    /// A control character in an option.
    #[error("lane `{0}` has a control character in it; remove it")]
    Control(String),
    /// What stands behind an `@` that no option's value holds names no venue.
    #[error("lane `{lane}`: there is no venue `{venue}`: {remedy}")]
    Venue {
        /// The lane.
        lane: String,
        /// What was taken for a venue.
        venue: String,
        /// What may be meant, and what there is.
        remedy: String,
    },
}

impl FromStr for LaneSpec {
    type Err = LaneError;

    fn from_str(text: &str) -> Result<Self, LaneError> {
        let whole = || crate::text::escaped(text.as_bytes());
        if text.chars().any(char::is_control) {
            return Err(LaneError::Control(whole()));
        }
        let (name, rest) = split_name(text);
        if let Some(name) = name
            && (name.is_empty() || name.chars().count() > 64)
        {
            return Err(LaneError::Name(whole()));
        }
        if rest.is_empty() {
            return Err(LaneError::Empty(whole()));
        }
        if is_path(rest) && !names_toml(rest) {
            return directory::read(name, rest).map_err(|word| no_server(whole(), word));
        }
        let (whole_body, venue) = split_venue(rest);
        let (above, body) = unwrap_above(whole_body, whole)?;
        let path_end = if is_path(body) { path_end(body) } else { 0 };
        let mut parts = stack::split(body, path_end).into_iter();
        let read = |part, from| stack::read(part, from).map_err(|error| in_lane(error, whole()));
        let first = parts.next().unwrap_or(body);
        let (behind_path, Past { aged, full_percent }) = Past::split(&first[path_end..])
            .map_err(|state| LaneError::State { lane: whole(), state: crate::text::escaped(state.as_bytes()) })?;
        let (first, states) = first.split_at(path_end + behind_path.len());
        let stack::Part { name: filesystem, devices, inside, options } = read(first, path_end)?;
        if filesystem.is_empty() {
            return Err(LaneError::Empty(whole()));
        }
        if let Some(venue) = no_venue(filesystem, &options) {
            let venue = crate::text::escaped(venue.as_bytes());
            return Err(LaneError::Venue { lane: whole(), remedy: venue_remedy(&venue), venue });
        }
        let layer = |part| if has_state(part) { Err(LaneError::StateBehind(whole())) } else { read(part, 0) };
        let layers = parts.map(layer).collect::<Result<Vec<_>, _>>()?;
        if layers.iter().any(|part| !part.inside.is_empty()) {
            return Err(LaneError::Bracket(whole()));
        }
        refuse_no_layer(options.iter().chain(layers.iter().flat_map(|part| &part.options)), whole)?;
        let mut mkfs_options: Vec<String> = inside.split_whitespace().map(str::to_owned).collect();
        let mut mount_options = Vec::new();
        for option in options {
            let list = if option.starts_with('-') { &mut mkfs_options } else { &mut mount_options };
            list.push(option.to_owned());
        }
        let contestant = if is_path(filesystem) {
            Contestant::Custom(PathBuf::from(filesystem))
        } else {
            Contestant::Filesystem(filesystem.to_owned())
        };
        let default_name = default_name(&contestant, above.is_some(), whole_body, &body[filesystem.len()..]);
        // `+aged=churn:3x` is `+aged`, and the line that makes the lane again says so.
        let default_name = default_name.replacen(states, &aged::states_line(aged.as_ref(), full_percent), 1);
        let name = name.map_or(default_name, str::to_owned);
        if name.chars().count() > 64 {
            return Err(LaneError::Name(whole()));
        }
        let layers = layers.into_iter().map(LayerSpec::from).collect();
        Ok(LaneSpec {
            name,
            contestant,
            mkfs_options,
            mount_options,
            devices,
            aged,
            full_percent,
            layers,
            above,
            venue,
            server_answers: None,
        })
    }
}

/// What a lane is called that nobody named: as it was typed, without its venue. `behind`: what stands behind the filesystem.
fn default_name(contestant: &Contestant, is_below: bool, whole_body: &str, behind: &str) -> String {
    match contestant {
        // A path makes a poor name: the file's own stem says it shorter.
        Contestant::Custom(path) if !is_below => {
            format!("{}{behind}", path.file_stem().unwrap_or_default().to_string_lossy())
        }
        _ => whole_body.to_owned(),
    }
}

/// What lies above the filesystem, and the rest of the lane.
fn unwrap_above(body: &str, whole: impl Fn() -> String) -> Result<(Option<LayerSpec>, &str), LaneError> {
    let split = stack::split_above(body);
    let is_misplaced = match &split {
        Ok(Some((above, _))) => above.options.iter().any(|option| has_state(option)),
        Ok(None) => false,
        Err(_) => body.rfind(')').is_some_and(|end| has_state(&body[end..])),
    };
    if is_misplaced {
        return Err(LaneError::StateBehind(whole()));
    }
    match split.map_err(|error| in_lane(error, whole()))? {
        Some((_, inside)) if is_path(inside) && !names_toml(inside) => Err(LaneError::Above(whole())),
        Some((_, inside)) if !matches!(stack::split_above(inside), Ok(None)) => Err(LaneError::Above(whole())),
        Some((above, inside)) => Ok((Some(above), inside)),
        None => Ok((None, body)),
    }
}

fn refuse_no_layer<'a>(
    mut told: impl Iterator<Item = &'a &'a str>,
    whole: impl Fn() -> String,
) -> Result<(), LaneError> {
    let Some(layer) = told.find_map(|option| no_layer(option)) else { return Ok(()) };
    let hint = crate::nearest(layer, stack::LAYERS).map(|near| format!(", did you mean {near}?"));
    let layer = crate::text::escaped(layer.as_bytes());
    Err(LaneError::Layer { lane: whole(), layer, hint: hint.unwrap_or_default() })
}

/// `NAME=` stands before any character that the rest of a lane could begin with.
fn split_name(text: &str) -> (Option<&str>, &str) {
    match text[..states_begin(text)].find(['=', ',', '(', '@', '/']) {
        Some(at) if text.as_bytes()[at] == b'=' => (Some(&text[..at]), &text[at + 1..]),
        _ => (None, text),
    }
}

fn has_state(text: &str) -> bool {
    states_begin(text) < text.len()
}

/// Where the first state begins.
fn states_begin(text: &str) -> usize {
    ["+aged", "+full="].iter().filter_map(|state| text.find(state)).min().unwrap_or(text.len())
}

fn is_path(text: &str) -> bool {
    text.starts_with('/') || text.starts_with("./") || text.starts_with("../") || text == "." || text == ".."
}

fn names_toml(text: &str) -> bool {
    let text = &text[..states_begin(text)];
    let name = &text[..text.find([',', '(', '@']).unwrap_or(text.len())];
    // A layer may follow at once: `./my.toml/crypt`.
    let is_on_layer = |at: usize| stack::begins_layer(&name[at + ".toml/".len()..]);
    name.ends_with(".toml") || name.find(".toml/").is_some_and(is_on_layer)
}

/// What follows the last `@` is the venue only where it names one: `subvol=@home` keeps its own.
fn split_venue(text: &str) -> (&str, Option<Venue>) {
    let Some(at) = text.rfind('@') else { return (text, None) };
    let venue = match &text[at + 1..] {
        "image" => Venue::Image(None),
        "uml" => Venue::Uml,
        "qemu" => Venue::Qemu(None),
        "library" => Venue::Library,
        other => match other.strip_prefix("qemu:") {
            Some(kernel) if !kernel.is_empty() => Venue::Qemu(Some(PathBuf::from(kernel))),
            _ if other.starts_with("/dev/") => Venue::Device(PathBuf::from(other)),
            _ if is_path(other) => Venue::Image(Some(PathBuf::from(other))),
            _ => return (text, None),
        },
    };
    (&text[..at], Some(venue))
}

/// What a user took for a venue and is none: no filesystem's name holds an `@`, and of mount options only values do.
fn no_venue<'a>(filesystem: &'a str, options: &[&'a str]) -> Option<&'a str> {
    if !is_path(filesystem)
        && let Some((_, venue)) = filesystem.split_once('@')
    {
        return Some(venue);
    }
    let last = options.last().filter(|option| !option.starts_with('-'))?;
    let (before, venue) = last.split_once('@')?;
    (!before.contains('=')).then_some(venue)
}

/// What may be meant by a venue that there is not.
fn venue_remedy(venue: &str) -> String {
    const VENUES: &str = "venues are image, uml, qemu, qemu:KERNEL, library, a block device (/dev/…) and a folder for \
                          images (/… or ./…)";
    let (word, rest) = venue.split_once(':').map_or((venue, None), |(word, rest)| (word, Some(rest)));
    let meant = match (crate::nearest(word, ["image", "library", "qemu", "uml"]), rest) {
        _ if split_venue(&format!("x@{venue}")).1.is_some() => "options stand before the @".to_owned(),
        (Some("uml"), Some(_)) => "uml has one kernel, that of its package, and qemu:KERNEL takes another".to_owned(),
        (Some("qemu"), Some("")) => "name the kernel behind qemu: or leave the colon out".to_owned(),
        (Some("qemu"), Some(kernel)) => format!("did you mean qemu:{kernel}?"),
        (Some(near), None) => format!("did you mean {near}?"),
        _ => return VENUES.to_owned(),
    };
    format!("{meant}{} {VENUES}", if meant.ends_with('?') { "" } else { ";" })
}

/// Where the path ends that a filesystem of the user's own is named by.
fn path_end(body: &str) -> usize {
    body.find(".toml").map_or(body.len(), |at| at + ".toml".len())
}

/// What a user took for a layer and is none: of mount options only values hold a slash.
fn no_layer(option: &str) -> Option<&str> {
    let (before, rest) = option.split_once('/').filter(|_| !option.starts_with('-'))?;
    let end = rest.find([':', '/']).unwrap_or(rest.len());
    (!before.contains('=')).then_some(&rest[..end])
}

fn no_server(lane: String, word: &str) -> LaneError {
    LaneError::Server { lane, word: crate::text::escaped(word.as_bytes()) }
}

fn in_lane(error: PartError, lane: String) -> LaneError {
    match error {
        PartError::Count(count) => LaneError::Devices { lane, count },
        PartError::EmptyOption => LaneError::EmptyOption(lane),
        PartError::Bracket => LaneError::Bracket(lane),
        PartError::NothingBelow(above) => LaneError::NothingBelow { lane, above },
    }
}

impl LaneSpec {
    /// This lane told something more; where nobody named it, its name is what it would be had that been typed.
    ///
    /// # Errors
    /// [`LaneError::Name`] where that name is too long.
    pub fn told(&self, tell: impl FnOnce(&mut LaneSpec)) -> Result<LaneSpec, LaneError> {
        let typed = |lane: &LaneSpec, form| lane.in_form(form).parse::<LaneSpec>();
        let form = FORMS.into_iter().find(|form| typed(self, *form).is_ok_and(|lane| lane.name == self.name));
        let mut told = self.clone();
        tell(&mut told);
        if let Some(form) = form {
            let renamed = |name: String| LaneSpec { name, ..told.clone() };
            let as_typed = typed(&told, form).ok().filter(|lane| *lane == renamed(lane.name.clone()));
            told.name = as_typed.map_or_else(|| typed(&told, Form::Brackets), Ok)?.name;
        }
        Ok(told)
    }

    /// The line that makes this lane again, as the command line takes it (not quoted for a shell).
    pub fn to_line(&self) -> String {
        let is_same = |line: &String| line.parse::<LaneSpec>().is_ok_and(|lane| lane.name == self.name);
        // A default name may hold characters that `NAME=` may not: it comes back by itself where the options stand as
        // they were written.
        let written = FORMS.map(|form| self.in_form(form));
        let first = written[0].clone();
        written.into_iter().find(is_same).unwrap_or_else(|| format!("{}={first}", self.name))
    }

    fn in_form(&self, form: Form) -> String {
        let mut line = match &self.contestant {
            Contestant::Filesystem(name) => name.clone(),
            Contestant::Directory(path) => directory::line(path, self.server_answers),
            Contestant::Custom(path) => path.to_string_lossy().into_owned(),
        };
        let count = if self.devices == 1 { String::new() } else { format!(":{}", self.devices) };
        let commas = |options: &[String]| options.iter().map(|option| format!(",{option}")).collect::<String>();
        let (mkfs, mount) = (commas(&self.mkfs_options), commas(&self.mount_options));
        line.push_str(&match form {
            Form::Brackets if self.mkfs_options.is_empty() => format!("{count}{mount}"),
            Form::Brackets => format!("{count}({}){mount}", self.mkfs_options.join(" ")),
            Form::MkfsFirst => format!("{count}{mkfs}{mount}"),
            Form::CountBehind => format!("{mkfs}{count}{mount}"),
            Form::MountFirst => format!("{mount}{mkfs}{count}"),
        });
        line.push_str(&aged::states_line(self.aged.as_ref(), self.full_percent));
        for layer in &self.layers {
            line.push('/');
            line.push_str(&layer.to_line());
        }
        if let Some(above) = &self.above {
            let options: String = above.options.iter().map(|option| format!(",{option}")).collect();
            line = format!("{}({line}){options}", above.name);
        }
        match &self.venue {
            None => {}
            Some(Venue::Image(None)) => line.push_str("@image"),
            Some(Venue::Image(Some(path)) | Venue::Device(path)) => line.push_str(&format!("@{}", path.display())),
            Some(Venue::Uml) => line.push_str("@uml"),
            Some(Venue::Qemu(None)) => line.push_str("@qemu"),
            Some(Venue::Qemu(Some(kernel))) => line.push_str(&format!("@qemu:{}", kernel.display())),
            Some(Venue::Library) => line.push_str("@library"),
        }
        line
    }
}

/// How the options of a lane are written.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Those of mkfs in brackets.
    Brackets,
    /// All behind commas, those of mkfs first.
    MkfsFirst,
    /// The same with the number of devices behind those of mkfs.
    CountBehind,
    /// All behind commas, those of mount first.
    MountFirst,
}

const FORMS: [Form; 4] = [Form::Brackets, Form::MkfsFirst, Form::CountBehind, Form::MountFirst];

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(text: &str) -> LaneSpec {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_form_of_the_grammar_is_read() {
        let lean = lane("lean=xfs,-mreflink=0,noatime");
        assert_eq!(lean.name, "lean");
        assert_eq!(lean.mkfs_options, ["-mreflink=0"]);
        assert_eq!(lean.mount_options, ["noatime"]);
        assert_eq!(lane("ext4,nobarrier").name, "ext4,nobarrier");
        assert_eq!(lane("btrfs,compress=zstd:1").mount_options, ["compress=zstd:1"]);
        assert_eq!(lane("jfs@uml").venue, Some(Venue::Uml));
        assert_eq!(lane("ext4@qemu:/boot/vmlinuz-6.12").venue, Some(Venue::Qemu(Some("/boot/vmlinuz-6.12".into()))));
        assert_eq!(lane("xfs@/dev/sdb2").venue, Some(Venue::Device("/dev/sdb2".into())));
        assert_eq!(lane("ext4(-O ^has_journal -b 1024),noatime").mkfs_options, ["-O", "^has_journal", "-b", "1024"]);
        assert_eq!(lane("/mnt/data").contestant, Contestant::Directory("/mnt/data".into()));
        assert_eq!(lane("d=/mnt/a,b@c").contestant, Contestant::Directory("/mnt/a,b@c".into()));
        let custom = lane("./myfs.toml,fast@/dev/sdb2");
        assert_eq!(custom.contestant, Contestant::Custom("./myfs.toml".into()));
        assert_eq!((custom.name.as_str(), custom.mount_options), ("myfs,fast", vec!["fast".to_owned()]));
        let on_layer = lane("./myfs.toml/queue,scheduler=bfq");
        assert_eq!((on_layer.contestant, on_layer.layers.len()), (custom.contestant, 1));
        assert_eq!(lane("./a.toml/b").contestant, Contestant::Directory("./a.toml/b".into()));
    }

    #[test]
    fn states_stand_behind_the_filesystems_options() {
        let old = lane("old=xfs,noatime+aged=git:2000+full=80%/crypt@qemu");
        assert_eq!((old.name.as_str(), &old.mount_options[..]), ("old", &["noatime".to_owned()][..]));
        let aged = old.aged.clone().unwrap();
        assert_eq!((aged.profile.as_str(), aged.age), ("git", crate::aged::Age::Cycles(2000)));
        assert_eq!((old.full_percent, old.layers.len(), old.venue), (Some(80), 1, Some(Venue::Qemu(None))));
        for text in ["ext4+aged", "ext4+aged=git", "ext4,noatime+full=90%"] {
            assert_eq!(lane(text).name, text);
        }
        for (text, name) in [
            ("xfs+aged=churn:3x", "xfs+aged"),
            ("xfs+aged=git:3x:1+full=85%/crypt", "xfs+aged=git+full=85%/crypt"),
            ("overlay(xfs,noatime+aged=churn)", "overlay(xfs,noatime+aged)"),
        ] {
            let lane = lane(text);
            assert_eq!((lane.name.as_str(), lane.to_line().as_str()), (name, name), "{text}");
        }
        let custom = lane("./my.toml+aged");
        assert_eq!((custom.contestant, custom.name.as_str()), (Contestant::Custom("./my.toml".into()), "my+aged"));
        assert_eq!(lane("overlay(ext4+aged)").aged.unwrap().profile, "churn");
        for behind in [
            "ext4/raid1:2+aged",
            "ext4/crypt,cipher=aes+full=90%",
            "overlay(ext4)+aged",
            "overlay(ext4),metacopy=on+full=90%",
        ] {
            let said = behind.parse::<LaneSpec>().unwrap_err().to_string();
            assert!(said.contains("a state stands behind the filesystem"), "{behind}: {said}");
        }
        let wrong = "ext4+agde".parse::<LaneSpec>().unwrap_err().to_string();
        assert!(wrong.contains("there is no state `agde`") && wrong.contains("full=90%"), "{wrong}");
    }

    #[test]
    fn an_at_sign_inside_an_option_stays_the_options() {
        let home = lane("btrfs,subvol=@home");
        assert_eq!((home.mount_options, home.venue), (vec!["subvol=@home".to_owned()], None));
        let both = lane("btrfs,subvol=@home@uml");
        assert_eq!((both.mount_options, both.venue), (vec!["subvol=@home".to_owned()], Some(Venue::Uml)));
    }

    #[test]
    fn a_venue_that_there_is_not_is_not_taken_for_a_filesystem() {
        for (text, venue, told) in [
            ("ext4@umll", "umll", "did you mean uml?"),
            ("jfs@UML", "UML", "did you mean uml?"),
            ("ext4@qmeu", "qmeu", "did you mean qemu?"),
            ("ext4@qemu:", "qemu:", "name the kernel"),
            ("ext4@uml:/boot/vmlinuz-6.1", "uml:/boot/vmlinuz-6.1", "uml has one kernel"),
            ("ext4@uml,noatime", "uml", "options stand before the @"),
            ("ext4,noatime@umll", "umll", "did you mean uml?"),
            ("ext4@nowhere-at-all", "nowhere-at-all", "venues are image, uml, qemu"),
        ] {
            let said = text.parse::<LaneSpec>().unwrap_err().to_string();
            assert!(said.contains(&format!("there is no venue `{venue}`")) && said.contains(told), "{said}");
            assert!(said.contains("qemu:KERNEL") && !said.contains("filesystem"), "{said}");
        }
        // Values and mkfs options keep what they hold.
        assert_eq!(lane("btrfs,subvol=@home").venue, None);
        assert_eq!(lane("ext4,-La@b").mkfs_options, ["-La@b"]);
    }

    #[test]
    fn a_lane_survives_its_own_line() {
        for text in [
            "a=ext4",
            "x=ext4(-O ^has_journal),noatime@image",
            "btrfs,subvol=@home@/dev/sdb1",
            "/mnt/a,b",
            "btrfs,-draid1,-mraid1:2",
            "ext4/raid10:4,chunk=64K@qemu",
            "vault=xfs,noatime/crypt,cipher=aes-xts-plain64/raid1:2",
            "./my.toml:2,fast/crypt",
            "a=./my.toml/queue,scheduler=bfq/raid1:2@image",
            "xfs,-mreflink=0,noatime",
            "ext4,noatime,-b1024:2",
            "btrfs:3,-draid5,-mraid1",
            "btrfs:3,-draid5,noatime",
            "overlay(ext4)",
            "over=overlay(xfs(-m reflink=0),noatime/thin),metacopy=on@qemu",
            "nfs(btrfs,-draid1,-mraid1:2),vers=4.1",
            "ext4(-b 1024),noatime+aged=git:2000+full=80%@qemu",
            "old=overlay(xfs+aged)",
            "btrfs:2(-d raid1 -m raid1)+full=90%/crypt",
            "./my.toml,fast+aged=mine.toml:10x",
        ] {
            let first = lane(text);
            let again = lane(&first.to_line());
            assert_eq!(again, first, "{text}");
        }
    }

    #[test]
    fn a_lane_that_is_told_more_is_called_as_if_that_had_been_typed() {
        let told = |text: &str, tell: fn(&mut LaneSpec)| lane(text).told(tell).map(|lane| lane.name);
        let first_layer = |lane: &mut LaneSpec| lane.layers[0].options.push("degraded".to_owned());
        let mount = |lane: &mut LaneSpec| lane.mount_options.push("degraded".to_owned());
        assert_eq!(told("ext4/raid5:3@qemu", first_layer).unwrap(), "ext4/raid5:3,degraded");
        assert_eq!(
            told("xfs,-mreflink=0/raid1:2/crypt", first_layer).unwrap(),
            "xfs,-mreflink=0/raid1:2,degraded/crypt"
        );
        assert_eq!(told("five=ext4/raid5:3", first_layer).unwrap(), "five");
        assert_eq!(told("btrfs:2(-d raid1 -m raid1)", mount).unwrap(), "btrfs:2(-d raid1 -m raid1),degraded");
        // Behind a mount option the number would be none.
        assert_eq!(told("btrfs,-draid1,-mraid1:2", mount).unwrap(), "btrfs:2(-draid1 -mraid1),degraded");
        assert!(told(&format!("ext4,{}/raid1:2", "a".repeat(50)), first_layer).is_err());
    }

    #[test]
    fn a_filesystem_that_rebuilds_a_disk_takes_one_more() {
        assert_eq!(lane("btrfs:2(-d raid1 -m raid1),rebuilding").disks(), 3);
        assert_eq!((lane("btrfs,rebuilding").disks(), lane("ext4/raid5:3,rebuilding").disks()), (1, 3));
    }

    #[test]
    fn layers_stand_below_the_filesystem_from_top_to_bottom() {
        let vault = lane("vault=xfs,noatime/thin/raid1:2,bitmap=none@uml");
        assert_eq!((vault.name.as_str(), &vault.mount_options[..]), ("vault", &["noatime".to_owned()][..]));
        let layers: Vec<String> = vault.layers.iter().map(LayerSpec::to_line).collect();
        assert_eq!(layers, ["thin", "raid1:2,bitmap=none"]);
        assert_eq!((vault.disks(), vault.venue), (2, Some(Venue::Uml)));
        // Two encrypted devices under one array, and an array of arrays.
        assert_eq!(lane("ext4/raid1:2/crypt").disks(), 2);
        assert_eq!(lane("ext4/raid0:2/raid1:3").disks(), 6);
        let several = lane("btrfs,-draid1,-mraid1c3:4");
        assert_eq!((several.devices, several.mkfs_options), (4, vec!["-draid1".to_owned(), "-mraid1c3".to_owned()]));
        assert_eq!((several.mount_options.len(), several.layers.len()), (0, 0));
    }

    #[test]
    fn what_lies_above_a_filesystem_has_it_in_brackets() {
        let overlay = lane("overlay(ext4(-b 1024),noatime/raid1:2),metacopy=on@uml");
        let above = overlay.above.clone().unwrap();
        assert_eq!((above.name.as_str(), above.options), ("overlay", vec!["metacopy=on".to_owned()]));
        assert_eq!(overlay.mkfs_options, ["-b", "1024"]);
        assert_eq!((overlay.mount_options.len(), overlay.disks(), overlay.venue), (1, 2, Some(Venue::Uml)));
        assert_eq!(lane("nfs(xfs)").contestant, Contestant::Filesystem("xfs".into()));
        let said = |text: &str| text.parse::<LaneSpec>().unwrap_err().to_string();
        for alone in ["overlay", "overlay,metacopy=on", "nfs()", "overlay/raid1:2"] {
            assert!(said(alone).contains("write that in brackets, with all"), "{}", said(alone));
        }
        for other in ["overlay(/mnt)", "overlay(nfs(ext4))", "nfs(overlay(ext4)),async"] {
            assert!(said(other).contains("one thing lies above"), "{}", said(other));
        }
        for broken in ["overlay(ext4", "overlay(ext4)x", "overlay(ext4)/raid1:2", "overlay(ext4),", "overlay(ext4(-b)"]
        {
            assert!(broken.parse::<LaneSpec>().is_err(), "{broken}");
        }
    }

    #[test]
    fn a_layer_that_there_is_not_is_told_with_what_may_be_meant() {
        let said = |text: &str| text.parse::<LaneSpec>().unwrap_err().to_string();
        assert!(said("ext4,noatime/raid15:4").contains("no layer `raid15`"), "{}", said("ext4,noatime/raid15:4"));
        assert!(said("ext4,noatime/cript").contains("did you mean crypt?"), "{}", said("ext4,noatime/cript"));
        assert!(said("ext4/raid5:99").contains("1 to 24"), "{}", said("ext4/raid5:99"));
        assert!(said("ext4/crypt(x)").contains("bracket"), "{}", said("ext4/crypt(x)"));
    }

    #[test]
    fn broken_lanes_are_refused_with_the_remedy() {
        for text in ["", "=ext4", "a=", ",noatime", "ext4,,noatime", "ext4(-b 1024", "ext4(-b)x", "ext4,a\nb", "@uml"] {
            assert!(text.parse::<LaneSpec>().is_err(), "{text:?}");
        }
    }
}
