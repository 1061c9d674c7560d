//! Compiles the two small programs that user-mode Linux needs: they are in C because neither may need any library.

use std::path::{Path, PathBuf};

fn main() {
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    let user_mode_linux = target("ARCH") == "x86_64" && target("OS") == "linux";
    compile("ptrace", &["-shared", "-fPIC", "-fvisibility=hidden"], user_mode_linux);
    compile("init", &["-static", "-no-pie", "-fno-pie"], user_mode_linux);
}

/// User-mode Linux is for x86 alone: elsewhere an empty file stands for what nothing starts.
fn compile(name: &str, kind: &[&str], wanted: bool) {
    let source = format!("src/guest/uml/{name}.c");
    println!("cargo::rerun-if-changed={source}");
    let to = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo names OUT_DIR")).join(name);
    if !wanted {
        std::fs::write(&to, []).expect("the output folder can be written");
        return;
    }
    let common = ["-O2", "-Wall", "-Werror", "-ffreestanding", "-nostdlib", "-fno-stack-protector", "-s"];
    let mut compiler = cc::Build::new().get_compiler().to_command();
    compiler.args(common).args(kind).arg("-o").arg(&to).arg(Path::new(&source));
    let status = compiler.status().expect("a C compiler runs; install build-essential");
    assert!(status.success(), "{source} does not compile: {compiler:?}");
}
