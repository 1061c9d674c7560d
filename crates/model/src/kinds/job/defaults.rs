//! Defaults for serde, and what is left out when it is written.

pub(super) fn default_ioengine() -> String {
    "sync".to_owned()
}

pub(super) fn one() -> u32 {
    1
}

pub(super) fn fifty() -> u32 {
    50
}

pub(super) fn yes() -> bool {
    true
}

pub(super) fn default_slices() -> u32 {
    5
}

pub(super) fn default_slice_seconds() -> f64 {
    0.15
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

// serde hands references to `skip_serializing_if`.
#[allow(clippy::trivially_copy_pass_by_ref)]
pub(super) fn is_zero(value: &u32) -> bool {
    *value == 0
}

// As above.
#[allow(clippy::trivially_copy_pass_by_ref)]
pub(super) fn is_one(value: &u32) -> bool {
    *value == 1
}

#[allow(clippy::trivially_copy_pass_by_ref)]
pub(super) fn is_fifty(value: &u32) -> bool {
    *value == 50
}

#[allow(clippy::trivially_copy_pass_by_ref)]
pub(super) fn is_true(value: &bool) -> bool {
    *value
}

#[allow(clippy::trivially_copy_pass_by_ref)]
pub(super) fn is_false(value: &bool) -> bool {
    !*value
}
