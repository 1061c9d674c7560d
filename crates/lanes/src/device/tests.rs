//! What is refused about block devices.

use super::*;

fn found() -> Found {
    Found {
        named: "/dev/sdb".into(),
        path: "/dev/sdb".into(),
        kernel_name: "sdb".to_owned(),
        number: (8, 16),
        sequence: 1,
        size_bytes: 1 << 40,
        model: "ACME".to_owned(),
        serial: "S1234567".to_owned(),
        signature: Some("xfs".to_owned()),
        read_only: false,
        uses: Vec::new(),
    }
}

fn erase(path: &str) -> Vec<Erasable> {
    vec![(path.into(), (8, 16))]
}

#[test]
fn a_device_in_use_is_refused_whatever_was_passed() {
    let used = Found { uses: vec!["/dev/sdb1 is mounted at /home".to_owned()], ..found() };
    for terminal in [true, false] {
        let error = decide(&used, &erase("/dev/disk/by-id/x"), terminal).unwrap_err();
        assert!(error.to_string().contains("mounted at /home"), "{error}");
    }
}

#[test]
fn an_unnamed_device_is_refused_with_the_option_that_names_it() {
    for terminal in [true, false] {
        let error = decide(&found(), &[], terminal).unwrap_err();
        assert_eq!(error.to_string(), "/dev/sdb holds xfs; pass --erase /dev/sdb to overwrite it");
        let other = vec![(PathBuf::from("/dev/sdc"), (8, 32))];
        assert!(decide(&found(), &other, terminal).is_err());
    }
}

#[test]
fn a_path_that_only_begins_like_a_stable_name_is_none() {
    for named in [
        "/dev/disk/by-id/../../sdb",
        "/dev/disk/by-id/ata-ACME/../../../sdb",
        "/dev/disk/by-id/./../by-id/../../sdb",
        "/dev/disk/by-id/x/y",
        "/dev/disk/by-id",
        "/dev/disk/by-id/",
        "/dev/disk/by-id-else/x",
        "dev/disk/by-id/x",
        "/tmp/dev/disk/by-id/x",
    ] {
        let error = decide(&found(), &erase(named), false).unwrap_err();
        assert!(error.to_string().contains("takes only a name that stays the same"), "{named}: {error}");
    }
    for named in ["/dev/disk/by-id/ata-ACME", "/dev//disk/./by-id/ata-ACME", "/dev/disk/by-id/a..b"] {
        assert_eq!(decide(&found(), &erase(named), false), Ok(Decision::Go), "{named}");
    }
}

#[test]
fn without_a_terminal_only_a_stable_name_or_a_loop_device_goes() {
    assert!(decide(&found(), &erase("/dev/sdb"), false).unwrap_err().to_string().contains("by-id"));
    assert_eq!(decide(&found(), &erase("/dev/disk/by-id/ata-ACME"), false), Ok(Decision::Go));
    let both = [erase("/dev/sdb"), erase("/dev/disk/by-id/ata-ACME")].concat();
    assert_eq!(decide(&found(), &both, false), Ok(Decision::Go));
    let looped = Found { number: (7, 0), ..found() };
    assert_eq!(decide(&looped, &[("/dev/loop0".into(), (7, 0))], false), Ok(Decision::Go));
}

#[test]
fn read_only_and_empty_devices_are_refused() {
    let error = decide(&Found { read_only: true, ..found() }, &erase("/dev/disk/by-id/x"), false).unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    let error = decide(&Found { size_bytes: 0, ..found() }, &erase("/dev/disk/by-id/x"), false).unwrap_err();
    assert!(error.to_string().contains("no size"), "{error}");
}

struct Typing(Option<&'static str>, Vec<String>);
impl Confirm for Typing {
    fn ask(&mut self, shown: &[String], _: &str) -> Option<String> {
        self.1.extend_from_slice(shown);
        self.0.map(str::to_owned)
    }
}

#[test]
fn on_a_terminal_the_end_of_the_serial_number_must_be_typed() {
    let decision = decide(&found(), &erase("/dev/sdb"), true).unwrap();
    let mut right = Typing(Some("4567"), Vec::new());
    confirm(&found(), &decision, &mut right).unwrap();
    let shown = right.1.join("\n");
    for part in ["ACME", "S1234567", "1 TiB", "xfs"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    for wrong in [Some("y"), Some("yes"), Some(""), Some("S1234567"), None] {
        assert!(confirm(&found(), &decision, &mut Typing(wrong, Vec::new())).is_err(), "{wrong:?}");
    }
}

#[test]
fn every_serial_number_can_be_confirmed_by_typing_what_is_asked_for() {
    struct Types<'a>(&'a str);
    impl Confirm for Types<'_> {
        fn ask(&mut self, _: &[String], _: &str) -> Option<String> {
            Some(self.0.to_owned())
        }
    }
    for (serial, of, typed) in [
        ("", "name", "n1p3"),
        ("    ", "name", "n1p3"),
        ("ABC 123", "serial number (without spaces)", "C123"),
        ("ABC 123", "serial number (without spaces)", "C 123"),
        ("12 34", "serial number (without spaces)", "12 34"),
        ("12\u{a0}34 ", "serial number (without spaces)", " 1234 "),
        ("  S1234567", "serial number (without spaces)", "4567"),
        ("1 2 3", "name", "n1p3"),
        ("A1", "name", "n1p3"),
        ("Ünïcödé", "name", "n1p3"),
        ("WD-W\u{200b}X", "serial number", "D-WX"),
    ] {
        let disk = Found { serial: serial.to_owned(), kernel_name: "nvme0n1p3".to_owned(), ..found() };
        let decision = decide(&disk, &erase("/dev/sdb"), true).unwrap();
        let Decision::Ask { shown, .. } = &decision else { panic!("{decision:?}") };
        assert_eq!(shown.last().unwrap(), &format!("To go on, type the last 4 characters of its {of}."), "{serial:?}");
        confirm(&disk, &decision, &mut Types(typed)).unwrap_or_else(|error| panic!("{serial:?}: {error}"));
        for wrong in ["", "    ", "yes", "123"] {
            assert!(confirm(&disk, &decision, &mut Types(wrong)).is_err(), "{serial:?}: {wrong:?}");
        }
    }
}

#[test]
fn what_a_disk_says_of_itself_moves_no_cursor() {
    assert_eq!(shown(" \u{1b}[2JA\u{202e}B\n"), "[2JAB");
}
