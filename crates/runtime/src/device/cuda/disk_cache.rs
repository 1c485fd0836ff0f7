//! Machine code kept from one run of a program to the next, in a folder.
//!
//! An entry is a file that holds all that the code depends on (its key) and the code. The file's name is a hash of the
//! key; what is found there is used only if the key in it is the same to the last byte, and if the file is whole. Files are
//! written under another name first and then renamed, so a reader sees all of an entry or nothing. Whatever goes wrong
//! here costs time, not correctness, so nothing here is an error.

use std::env;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustc_hash::FxHasher;

/// The first bytes of an entry; they change with the layout of the file.
const MAGIC: &[u8; 16] = b"tilewise cubin 1";

/// Name and ending of an entry's file.
const ENDING: &str = "cubin";

/// Ending of a file that is being written.
const UNFINISHED: &str = "unfinished";

/// The most bytes of all entries.
const CAPACITY: u64 = 256 << 20;

/// A folder of machine code.
#[derive(Debug)]
pub(super) struct DiskCache {
    folder: PathBuf,
    capacity: u64,
}

impl DiskCache {
    /// The cache that the environment asks for; `None` if it is turned off or there is no place for it.
    pub(super) fn from_environment() -> Option<DiskCache> {
        let folder = folder(|name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))?;
        Some(DiskCache { folder, capacity: CAPACITY })
    }

    /// The code that was stored with this key.
    pub(super) fn load(&self, key: &[u8]) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut bytes = Vec::new();
        let mut file = File::open(&path).ok()?;
        file.read_to_end(&mut bytes).ok()?;
        let code = parse(&bytes, key)?.to_vec();
        // What was used lately is removed last.
        let _ =
            File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(code)
    }

    /// Keeps code with its key, in place of what was there.
    pub(super) fn store(&self, key: &[u8], code: &[u8]) {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        if fs::create_dir_all(&self.folder).is_err() {
            return;
        }
        let path = self.path(key);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unfinished = path.with_extension(format!("{}-{number}.{UNFINISHED}", std::process::id()));
        let written = File::create(&unfinished)
            .and_then(|mut file| file.write_all(&entry(key, code)))
            .and_then(|()| fs::rename(&unfinished, &path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        self.shrink();
    }

    fn path(&self, key: &[u8]) -> PathBuf {
        self.folder.join(format!("{:016x}.{ENDING}", hash(key)))
    }

    /// Removes the oldest entries until the others take no more than the capacity; also what other processes have begun and
    /// not finished within a day.
    fn shrink(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let now = SystemTime::now();
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in entries.flatten() {
            let (path, Ok(data)) = (entry.path(), entry.metadata()) else { continue };
            let modified = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            match path.extension().and_then(|ending| ending.to_str()) {
                Some(ENDING) => files.push((modified, data.len(), path)),
                Some(UNFINISHED) if now.duration_since(modified).is_ok_and(|age| age.as_secs() > 86_400) => {
                    let _ = fs::remove_file(path);
                }
                _ => {}
            }
        }
        let mut total: u64 = files.iter().map(|(_, len, _)| len).sum();
        files.sort();
        for (_, len, path) in files {
            if total <= self.capacity {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= len;
            }
        }
    }
}

/// The folder for machine code, by the environment's `variable`s.
fn folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if let Some(chosen) = variable("TILEWISE_CACHE") {
        let off = ["0", "off"].iter().any(|off| chosen.as_os_str().eq_ignore_ascii_case(off));
        return (!off).then_some(chosen);
    }
    let caches = if cfg!(windows) {
        variable("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        variable("HOME")?.join("Library").join("Caches")
    } else {
        // A path that is not absolute is to be ignored, by the specification of these folders.
        let named = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        named.or_else(|| variable("HOME").map(|home| home.join(".cache")))?
    };
    Some(Path::new(&caches).join("tilewise"))
}

/// `MAGIC`, the length of the key, that of the code, a hash of both, the key, the code.
fn entry(key: &[u8], code: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAGIC.len() + 24 + key.len() + code.len());
    bytes.extend(MAGIC);
    bytes.extend((key.len() as u64).to_le_bytes());
    bytes.extend((code.len() as u64).to_le_bytes());
    bytes.extend(checksum(key, code).to_le_bytes());
    bytes.extend(key);
    bytes.extend(code);
    bytes
}

/// The code of an entry, if it is whole and has this key.
fn parse<'a>(bytes: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    fn number<'a>(bytes: &mut &'a [u8]) -> Option<u64> {
        let (number, rest): (&'a [u8; 8], _) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u64::from_le_bytes(*number))
    }
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let (key_len, code_len, sum) = (number(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
    let code = rest.strip_prefix(key)?;
    let whole = key_len == key.len() as u64 && code_len == code.len() as u64 && sum == checksum(key, code);
    whole.then_some(code)
}

fn checksum(key: &[u8], code: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    hasher.write(code);
    hasher.finish()
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(key);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A cache in a folder of its own, which is removed at the end.
    struct Temporary(DiskCache);

    impl Temporary {
        fn new(name: &str, capacity: u64) -> Temporary {
            let folder = env::temp_dir().join(format!("tilewise-cache-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&folder);
            Temporary(DiskCache { folder: folder.join("tilewise"), capacity })
        }

        fn files(&self) -> Vec<PathBuf> {
            fs::read_dir(&self.0.folder).unwrap().map(|entry| entry.unwrap().path()).collect()
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(self.0.folder.parent().unwrap());
        }
    }

    #[test]
    fn what_was_stored_is_loaded() {
        let cache = Temporary::new("round-trip", CAPACITY);
        assert_eq!(cache.0.load(b"key"), None);
        cache.0.store(b"key", b"code");
        cache.0.store(b"other", b"");
        assert_eq!(cache.0.load(b"key").as_deref(), Some(&b"code"[..]));
        assert_eq!(cache.0.load(b"other").as_deref(), Some(&b""[..]));
        assert_eq!(cache.0.load(b"ke"), None);
        cache.0.store(b"key", b"newer");
        assert_eq!(cache.0.load(b"key").as_deref(), Some(&b"newer"[..]));
        assert_eq!(cache.files().len(), 2, "nothing unfinished is left");
    }

    #[test]
    fn damaged_and_foreign_files_are_ignored_and_rewritten() {
        let cache = Temporary::new("damage", CAPACITY);
        cache.0.store(b"the key", b"some code");
        let path = cache.0.path(b"the key");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(cache.0.load(b"the key"), None, "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.0.load(b"the key"), None, "{at} bytes");
        }
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(cache.0.load(b"the key"), None);
        cache.0.store(b"the key", b"some code");
        assert_eq!(cache.0.load(b"the key").as_deref(), Some(&b"some code"[..]));
    }

    #[test]
    fn equal_hashes_do_no_harm() {
        let cache = Temporary::new("hashes", CAPACITY);
        cache.0.store(b"one", b"code of one");
        fs::rename(cache.0.path(b"one"), cache.0.path(b"two")).unwrap();
        assert_eq!(cache.0.load(b"two"), None);
    }

    #[test]
    fn many_may_write_at_once() {
        let cache = Temporary::new("threads", CAPACITY);
        let code = |writer: u8| vec![writer; 100_000];
        thread::scope(|scope| {
            for writer in 0..4 {
                let cache = &cache.0;
                scope.spawn(move || {
                    for _ in 0..20 {
                        cache.store(b"shared", &code(writer));
                        let read = cache.load(b"shared").expect("an entry is replaced as a whole");
                        assert!(read.iter().all(|&byte| byte == read[0]) && read.len() == 100_000);
                    }
                });
            }
        });
        assert_eq!(cache.files().len(), 1);
    }

    #[test]
    fn the_oldest_go_first() {
        let cache = Temporary::new("size", 1100);
        for (age, key) in [b"a", b"b", b"c"].iter().enumerate() {
            cache.0.store(*key, &[0; 300]);
            let time = SystemTime::now() - std::time::Duration::from_secs(100 - age as u64);
            let file = File::options().append(true).open(cache.0.path(*key)).unwrap();
            file.set_modified(time).unwrap();
        }
        assert!(cache.0.load(b"a").is_some(), "was used now");
        cache.0.store(b"d", &[0; 300]);
        let kept = [b"a", b"b", b"c", b"d"].map(|key| cache.0.load(key).is_some());
        // An entry takes 341 bytes, so three fit.
        assert_eq!(kept, [true, false, true, true]);
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_nothing() {
        let file = env::temp_dir().join(format!("tilewise-cache-file-{}", std::process::id()));
        fs::write(&file, "").unwrap();
        let cache = DiskCache { folder: file.join("inside"), capacity: CAPACITY };
        cache.store(b"key", b"code");
        assert_eq!(cache.load(b"key"), None);
        fs::remove_file(file).unwrap();
    }

    #[test]
    fn the_environment_says_where() {
        let with = |variables: &'static [(&str, &str)]| {
            folder(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| PathBuf::from(value)))
        };
        assert_eq!(with(&[("TILEWISE_CACHE", "0"), ("HOME", "/home/u")]), None);
        assert_eq!(with(&[("TILEWISE_CACHE", "Off")]), None);
        assert_eq!(with(&[("TILEWISE_CACHE", "/here")]), Some(PathBuf::from("/here")));
        assert_eq!(with(&[]), None);
        if cfg!(target_os = "linux") {
            assert_eq!(with(&[("HOME", "/home/u")]), Some(PathBuf::from("/home/u/.cache/tilewise")));
            let both: &[_] = &[("XDG_CACHE_HOME", "/x"), ("HOME", "/home/u")];
            assert_eq!(with(both), Some(PathBuf::from("/x/tilewise")));
            let relative: &[_] = &[("XDG_CACHE_HOME", "x"), ("HOME", "/home/u")];
            assert_eq!(with(relative), Some(PathBuf::from("/home/u/.cache/tilewise")));
        }
    }
}
