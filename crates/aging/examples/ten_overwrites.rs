//! Lives a life below a folder and prints what came of it, as JSON: `ten_overwrites DIR PROFILE SEED SIZE UNTIL`.

use aging::measures::{cold_walk, copy_fresh, read_beside_fresh, remove_fresh};
use aging::{Life, Profile, live, measure};
use std::fs::File;
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, profile, seed, size, until] = &words[..] else {
        return Err("write DIR PROFILE SEED SIZE UNTIL".into());
    };
    let life = Life {
        profile: Profile::named(profile)?,
        seed: seed.parse()?,
        capacity_bytes: size.parse::<model::Bytes>()?.get(),
        until: until.parse()?,
        full: None,
    };
    let root = File::open(folder)?;
    let go_on = AtomicBool::new(false);
    let lived = live(root.as_fd(), &life, &mut |_| ControlFlow::Continue(()))?;
    println!("{}", serde_json::to_string(&lived)?);
    println!("{}", serde_json::to_string(&measure(root.as_fd(), &life, &go_on))?);
    let mut drop_caches = || std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok();
    println!("{}", serde_json::to_string(&cold_walk(root.as_fd(), &mut drop_caches, &go_on)?)?);
    if let Some(fresh) = copy_fresh(root.as_fd(), &go_on)? {
        let beside = read_beside_fresh(root.as_fd(), &fresh, lived.files, &mut drop_caches, &go_on)?;
        println!("{}", serde_json::to_string(&beside)?);
        remove_fresh(root.as_fd())?;
    }
    Ok(())
}
