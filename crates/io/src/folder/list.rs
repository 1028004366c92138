//! The list of the files that we wrote to a folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::Crc;

use super::carry::Tree;

/// Its name, in the folder that it is about.
pub(super) const LIST: &str = ".bethe-files";
/// Its first line.
const HEAD: &str = "bethe files 1\n";
/// Its last line; without it the list is not whole.
const END: &str = "end\n";

/// After a crash a name must not point to half of the content, so files are brought to the disk
/// first. More files than this are brought there together: hundreds one by one take seconds.
const FEW: usize = 16;

/// Files with a fingerprint of their content, by their path in the folder.
#[derive(Debug, Default)]
pub(super) struct List(BTreeMap<String, Fingerprint>);

#[derive(Debug, PartialEq, Eq)]
struct Fingerprint {
    checksum: u32,
    bytes: u64,
}

impl Fingerprint {
    fn of(file: &mut File) -> io::Result<Self> {
        let (mut crc, mut bytes, mut buffer) = (Crc::new(), 0, vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self { checksum: crc.sum(), bytes }),
                count => {
                    crc.update(&buffer[..count]);
                    bytes += count as u64;
                }
            }
        }
    }
}

/// Removes a folder of ours. The list goes last: a run that is killed meanwhile leaves a folder that
/// the next one knows.
pub(crate) fn remove_folder(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let gone = match entry.file_type()?.is_dir() {
            _ if entry.file_name() == LIST => continue,
            true => fs::remove_dir_all(entry.path()),
            false => fs::remove_file(entry.path()),
        };
        // Another run may be removing the same leftovers.
        gone.or_else(
            |error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) },
        )?;
    }
    let _ = fs::remove_file(folder.join(LIST));
    fs::remove_dir(folder)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn sync_many(folder: &Path, _: &[String]) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn sync_many(folder: &Path, names: &[String]) -> io::Result<()> {
    names.iter().try_for_each(|name| File::open(folder.join(name))?.sync_all())
}

impl List {
    /// The list of a folder, empty where there is none; `None` if a file of somebody else has its
    /// name.
    pub(super) fn of(folder: &Path) -> io::Result<Option<Self>> {
        match fs::read(folder.join(LIST)) {
            Ok(bytes) => Ok(Self::parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(Self::default())),
            Err(error) => Err(error),
        }
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut list = Self::default();
        for line in text.strip_prefix(HEAD)?.strip_suffix(END)?.lines() {
            let mut parts = line.splitn(3, ' ');
            let checksum = u32::from_str_radix(parts.next()?, 16).ok()?;
            let bytes = parts.next()?.parse().ok()?;
            list.0.insert(parts.next()?.to_string(), Fingerprint { checksum, bytes });
        }
        Some(list)
    }

    /// Whether we wrote a file of this name.
    pub(super) fn names(&self, name: &str) -> bool {
        name == LIST || self.0.contains_key(name)
    }

    /// Whether a file is the one that we wrote, unchanged.
    pub(super) fn holds(&self, name: &str, path: &Path) -> bool {
        let is_file = fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        let found = || File::open(path).and_then(|mut file| Fingerprint::of(&mut file));
        name == LIST
            || is_file && self.0.get(name).is_some_and(|own| found().is_ok_and(|f| f == *own))
    }

    /// Writes the list of all files in a folder, and sees to it that they are on the disk. Returns
    /// their names.
    pub(super) fn write(folder: &Path, mut list: &File) -> io::Result<Vec<String>> {
        let mut text = HEAD.to_string();
        let names = Tree::of(folder)?.files;
        let names: Vec<String> = names.into_iter().filter(|name| name != LIST).collect();
        for name in &names {
            let mut file = File::open(folder.join(name))?;
            let Fingerprint { checksum, bytes } = Fingerprint::of(&mut file)?;
            text.push_str(&format!("{checksum:08x} {bytes} {name}\n"));
            if names.len() <= FEW {
                file.sync_all()?;
            }
        }
        list.write_all((text + END).as_bytes())?;
        list.sync_all()?;
        if names.len() > FEW {
            sync_many(folder, &names)?;
        }
        Ok(names)
    }

    /// Leaves an empty list in a folder that has none, so that it is known once it is moved aside.
    pub(super) fn mark(folder: &Path) -> io::Result<()> {
        let created = File::options().write(true).create_new(true).open(folder.join(LIST));
        match created {
            Ok(mut list) => write!(list, "{HEAD}{END}"),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }
}
