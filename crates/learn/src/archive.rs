//! Named tensors and JSON metadata in one safetensors file.
//!
//! A file is read whole and checked before use; it is written whole or not at all.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors, View};
use serde::Serialize;
use serde::de::DeserializeOwned;

use bethe_core::MemoryLimit;
use bethe_io::{PendingFile, ReadFault, TooLarge, in_words, read_within};

/// The metadata entry that holds our JSON.
const METADATA: &str = "bethe";

/// The tensor that holds the checksum.
const CHECKSUM: &str = "checksum";

/// A byte of a file is in the file, in a tensor and in what is made of it.
const SHARE: f64 = 4.0;
/// A byte of the header may be the better part of a name, which takes a hundred bytes.
const HEADER_SHARE: f64 = 16.0;

/// What messages call a file that has no path.
const NAMELESS: &str = "model";

/// Tensors by name, and metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Archive {
    metadata: String,
    tensors: BTreeMap<String, Tensor>,
}

/// An array with a shape, little-endian as in the file.
#[derive(Clone, Debug, PartialEq)]
struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// Why a file could not be read or written as an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file system failed.
    #[error("{}: {}", path.display(), in_words(error))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The file takes more memory than it may.
    #[error("{}: {error}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How far.
        error: TooLarge,
    },
    /// Not a safetensors file, or a broken one.
    #[error("{}: not a model file, or damaged: {error}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: safetensors::SafeTensorError,
    },
    /// The content changed after it was written.
    #[error("{}: damaged: its checksum is {found:016x}, expected {expected:016x}", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The checksum of the content.
        found: u64,
        /// The checksum in the file.
        expected: u64,
    },
    /// A safetensors file from another program.
    #[error("{}: a safetensors file, but not a model of bethe", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Something in the file is not as expected.
    #[error("{place}: found {found}, expected {expected}")]
    Content {
        /// Where.
        place: String,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
}

/// A number type of an archive.
pub trait Element: Copy + Send + Sync {
    /// Its name in the file.
    const DTYPE: Dtype;
    /// From its bytes.
    fn from_bytes(bytes: &[u8]) -> Self;
    /// Adds its bytes.
    fn push_bytes(self, bytes: &mut Vec<u8>);
}

macro_rules! element {
    ($type:ty, $dtype:ident) => {
        impl Element for $type {
            const DTYPE: Dtype = Dtype::$dtype;

            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("the size of the type"))
            }

            fn push_bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
        }
    };
}

element!(f64, F64);
element!(f32, F32);
element!(u64, U64);
element!(u32, U32);
element!(u16, U16);
element!(i16, I16);
element!(u8, U8);

impl Archive {
    /// An archive without tensors.
    ///
    /// # Panics
    /// If `metadata` cannot be written as JSON.
    pub fn new(metadata: &impl Serialize) -> Self {
        let metadata = serde_json::to_string(metadata).expect("metadata is plain data");
        Self { metadata, tensors: BTreeMap::new() }
    }

    /// Adds a tensor.
    ///
    /// # Panics
    /// If the shape does not fit the values, or the name is taken.
    pub fn insert<E: Element>(&mut self, name: &str, shape: &[usize], values: &[E]) {
        assert_eq!(shape.iter().product::<usize>(), values.len(), "shape of {name}");
        let mut bytes = Vec::with_capacity(size_of_val(values));
        values.iter().for_each(|value| value.push_bytes(&mut bytes));
        let tensor = Tensor { dtype: E::DTYPE, shape: shape.to_vec(), bytes };
        assert!(self.tensors.insert(name.to_string(), tensor).is_none(), "two tensors {name}");
    }

    /// The names of all tensors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The metadata.
    pub fn metadata<M: DeserializeOwned>(&self) -> Result<M, ArchiveError> {
        serde_json::from_str(&self.metadata).map_err(|error| ArchiveError::Content {
            place: "metadata".to_string(),
            found: error.to_string(),
            expected: "metadata of this version".to_string(),
        })
    }

    /// The shape of a tensor, if there is one of this name.
    pub fn shape(&self, name: &str) -> Option<&[usize]> {
        self.tensors.get(name).map(|tensor| &tensor.shape[..])
    }

    /// The values of a tensor of any shape.
    pub fn values<E: Element>(&self, name: &str) -> Result<Vec<E>, ArchiveError> {
        let wrong = |found: String| ArchiveError::Content {
            place: format!("tensor {name}"),
            found,
            expected: format!("values of type {:?}", E::DTYPE),
        };
        let tensor = self.tensors.get(name).ok_or_else(|| wrong("nothing".to_string()))?;
        if tensor.dtype != E::DTYPE {
            return Err(wrong(format!("type {:?}", tensor.dtype)));
        }
        Ok(tensor.bytes.chunks_exact(size_of::<E>()).map(E::from_bytes).collect())
    }

    /// The values of an `f32` or `f64` tensor.
    pub fn floats(&self, name: &str) -> Result<Vec<f64>, ArchiveError> {
        match self.tensors.get(name).map(|tensor| tensor.dtype) {
            Some(Dtype::F32) => Ok(self.values::<f32>(name)?.into_iter().map(f64::from).collect()),
            _ => self.values(name),
        }
    }

    /// The values of a tensor with exactly `expected` values.
    pub fn array<E: Element>(&self, name: &str, expected: usize) -> Result<Vec<E>, ArchiveError> {
        let values = self.values(name)?;
        if values.len() != expected {
            return Err(ArchiveError::Content {
                place: format!("tensor {name}"),
                found: format!("{} values", values.len()),
                expected: expected.to_string(),
            });
        }
        Ok(values)
    }

    /// Reads a file that `bethe` wrote.
    pub fn read(path: &Path) -> Result<Self, ArchiveError> {
        Self::read_within(path, MemoryLimit::NONE)
    }

    /// The same, if the file fits into the limit with what is made of it.
    pub fn read_within(path: &Path, limit: MemoryLimit) -> Result<Self, ArchiveError> {
        Self::read_any(path, limit)?.checked(path)
    }

    /// Reads a file of ours from wherever it comes.
    pub fn from_reader(mut reader: impl Read) -> Result<Self, ArchiveError> {
        let mut bytes = Vec::new();
        let path = PathBuf::from(NAMELESS);
        reader.read_to_end(&mut bytes).map_err(|error| ArchiveError::File { path, error })?;
        Self::from_bytes(&bytes)
    }

    /// Reads a file of ours that is in memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArchiveError> {
        Self::from_bytes_within(bytes, MemoryLimit::NONE)
    }

    /// The same, if what is made of it fits into the limit.
    pub fn from_bytes_within(bytes: &[u8], limit: MemoryLimit) -> Result<Self, ArchiveError> {
        let path = Path::new(NAMELESS);
        check_header(bytes, limit)
            .map_err(|error| ArchiveError::TooLarge { path: path.to_path_buf(), error })?;
        Self::parse(bytes, path)?.checked(path)
    }

    /// Takes the checksum out, which must be there and right.
    fn checked(mut self, path: &Path) -> Result<Self, ArchiveError> {
        let path = path.to_path_buf();
        let checksum = self.tensors.remove(CHECKSUM).filter(|_| !self.metadata.is_empty());
        let Some(expected) = checksum else { return Err(ArchiveError::Foreign { path }) };
        let expected = expected.bytes.try_into().map_or(0, u64::from_le_bytes);
        let found = self.checksum();
        match found == expected {
            true => Ok(self),
            false => Err(ArchiveError::Checksum { path, found, expected }),
        }
    }

    /// Reads any safetensors file; without our metadata, [`Archive::metadata`] fails.
    pub fn read_any(path: &Path, limit: MemoryLimit) -> Result<Self, ArchiveError> {
        let bytes = read_within(path, limit, SHARE).map_err(|error| match error.fault {
            ReadFault::File(error) => ArchiveError::File { path: path.to_path_buf(), error },
            ReadFault::TooLarge(error) => {
                ArchiveError::TooLarge { path: path.to_path_buf(), error }
            }
            ReadFault::Utf16 | ReadFault::NotUtf8 { .. } => unreachable!("an archive is not text"),
        })?;
        check_header(&bytes, limit)
            .map_err(|error| ArchiveError::TooLarge { path: path.to_path_buf(), error })?;
        Self::parse(&bytes, path)
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<Self, ArchiveError> {
        let format = |error| ArchiveError::Format { path: path.to_path_buf(), error };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(format)?;
        let own = header.metadata().as_ref().and_then(|entries| entries.get(METADATA));
        let metadata = own.cloned().unwrap_or_default();
        let mut tensors = BTreeMap::new();
        for (name, view) in SafeTensors::deserialize(bytes).map_err(format)?.tensors() {
            let (dtype, shape) = (view.dtype(), view.shape().to_vec());
            tensors.insert(name, Tensor { dtype, shape, bytes: view.data().to_vec() });
        }
        Ok(Self { metadata, tensors })
    }

    /// The checksum over all names, shapes and values.
    fn checksum(&self) -> u64 {
        let mut state = mix(0, self.metadata.as_bytes());
        for (name, tensor) in &self.tensors {
            state = mix(state, name.as_bytes());
            state = mix(state, format!("{:?} {:?}", tensor.dtype, tensor.shape).as_bytes());
            state = mix(state, &tensor.bytes);
        }
        state
    }

    /// The bytes of the file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ArchiveError> {
        self.serialised(Path::new(NAMELESS))
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ArchiveError> {
        let file = |error| ArchiveError::File { path: path.to_path_buf(), error };
        let bytes = self.serialised(path)?;
        PendingFile::create(path).and_then(|pending| pending.finish(&bytes)).map_err(file)
    }

    fn serialised(&self, path: &Path) -> Result<Vec<u8>, ArchiveError> {
        let mut checksum = Self { metadata: String::new(), tensors: BTreeMap::new() };
        checksum.insert(CHECKSUM, &[1], &[self.checksum()]);
        let tensors = self.tensors.iter().chain(&checksum.tensors);
        let metadata = HashMap::from([(METADATA.to_string(), self.metadata.clone())]);
        let format = |error| ArchiveError::Format { path: path.to_path_buf(), error };
        safetensors::serialize(tensors, Some(metadata)).map_err(format)
    }
}

/// A header is parsed into many small parts, unlike the tensors.
fn check_header(bytes: &[u8], limit: MemoryLimit) -> Result<(), TooLarge> {
    let Some((length, rest)) = bytes.split_first_chunk() else { return Ok(()) };
    // The parser refuses what is not the length of a header.
    let header = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let header = if header <= rest.len() { header as f64 } else { 0.0 };
    limit.check("the file", SHARE * bytes.len() as f64 + HEADER_SHARE * header)
}

/// Folds bytes into a state, a word at a time. Each step is one to one, so every single change
/// shows.
fn mix(state: u64, bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15; // 2⁶⁴ over the golden ratio
    let fold = |state: u64, word: u64| (state ^ word).wrapping_mul(ODD).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let state = words.iter().fold(state, |state, word| fold(state, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    fold(fold(state, u64::from_le_bytes(last)), bytes.len() as u64)
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn example() -> Archive {
        let mut archive = Archive::new(&BTreeMap::from([("version", 1)]));
        archive.insert("weights", &[2, 2], &[1.0, -2.5, f64::MIN_POSITIVE, 0.0]);
        archive.insert("states", &[3], &[1u16, 7, 65535]);
        archive
    }

    #[test]
    fn an_archive_is_read_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        example().write(&path).unwrap();
        let read = Archive::read(&path).unwrap();
        assert_eq!(read, example());
        let bytes = fs::read(&path).unwrap();
        assert_eq!(Archive::from_bytes(&bytes).unwrap(), example());
        assert_eq!(example().to_bytes().unwrap(), bytes);
        assert_eq!(Archive::from_reader(&bytes[..]).unwrap(), example());
        assert!(Archive::from_bytes(&bytes[1..]).unwrap_err().to_string().contains("damaged"));
        assert_eq!(read.array::<f64>("weights", 4).unwrap()[1], -2.5);
        assert_eq!(read.metadata::<BTreeMap<String, u32>>().unwrap()["version"], 1);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no partial file is left");
    }

    #[test]
    fn broken_files_are_refused_with_a_message() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        example().write(&path).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in [0, 4, 20, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            let message = Archive::read(&path).unwrap_err().to_string();
            assert!(message.contains("model") && message.contains("damaged"), "{message}");
        }
        for at in (whole.len() - 38..whole.len()).chain([whole.len() / 2]) {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).unwrap();
            assert!(Archive::read(&path).is_err(), "byte {at}");
        }
        let mut huge = whole.clone();
        huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        fs::write(&path, &huge).unwrap();
        assert!(Archive::read(&path).is_err());
        assert!(matches!(
            Archive::read(&folder.path().join("none")),
            Err(ArchiveError::File { .. })
        ));
    }

    #[test]
    fn a_file_beyond_the_limit_is_refused_and_its_header_counts_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        example().write(&path).unwrap();
        let bytes = fs::metadata(&path).unwrap().len();
        for (limit, fits) in [(3 * bytes, false), (5 * bytes, false), (20 * bytes, true)] {
            let read = Archive::read_within(&path, MemoryLimit::of(limit));
            assert_eq!(read.is_ok(), fits, "{limit}");
            assert!(fits || matches!(read, Err(ArchiveError::TooLarge { .. })), "{limit}");
        }
    }

    #[test]
    fn wrong_types_sizes_and_names_are_told() {
        let archive = example();
        let message = archive.values::<f64>("states").unwrap_err().to_string();
        assert_eq!(message, "tensor states: found type U16, expected values of type F64");
        let message = archive.array::<u16>("states", 4).unwrap_err().to_string();
        assert_eq!(message, "tensor states: found 3 values, expected 4");
        assert!(archive.values::<u8>("nothing").unwrap_err().to_string().contains("found nothing"));
    }
}
