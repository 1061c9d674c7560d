//! Errors of calls by their names.

macro_rules! errors {
    ($($name:ident),+) => {
        static ERRORS: &[(&str, i32)] = &[$((stringify!($name), libc::$name)),+];
    };
}

errors!(
    EPERM,
    ENOENT,
    EIO,
    ENXIO,
    EBADF,
    EAGAIN,
    ENOMEM,
    EACCES,
    EFAULT,
    EBUSY,
    EEXIST,
    EXDEV,
    ENODEV,
    ENOTDIR,
    EISDIR,
    EINVAL,
    ENFILE,
    EMFILE,
    ENOTTY,
    ETXTBSY,
    EFBIG,
    ENOSPC,
    ESPIPE,
    EROFS,
    EMLINK,
    EPIPE,
    ENAMETOOLONG,
    ENOSYS,
    ENOTEMPTY,
    ELOOP,
    ENODATA,
    EOVERFLOW,
    EOPNOTSUPP,
    ENOTSUP,
    EDQUOT,
    EINTR,
    ESTALE,
    E2BIG,
    ENOKEY,
    EUCLEAN,
    ENOTCONN,
    ESRCH,
    ECHILD
);

/// `ENOSPC` of its number; `None`: no call of a trace answers that.
pub fn error_name(errno: i32) -> Option<&'static str> {
    ERRORS.iter().find(|(_, number)| *number == errno).map(|(name, _)| *name)
}

/// The number of an error's name.
pub(crate) fn number(name: &str) -> Option<i32> {
    ERRORS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_to_each_other() {
        assert_eq!(
            (number("ENOENT"), number("EWHAT"), error_name(2), error_name(9999)),
            (Some(2), None, Some("ENOENT"), None)
        );
        assert_eq!(number("ENOTSUP").and_then(error_name), Some("EOPNOTSUPP"));
    }
}
