"""Reads safetensors files of f32 and i32 tensors with nothing but the standard library."""
import json
import struct
from array import array

TYPECODE = {"F32": "f", "I32": "i"}


class Tensors:
    def __init__(self, path):
        with open(path, "rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            self.entries = json.loads(file.read(length))
            self.data = file.read()
        self.entries.pop("__metadata__", None)

    def shape(self, name):
        return self.entries[name]["shape"]

    def flat(self, name):
        entry = self.entries[name]
        begin, end = entry["data_offsets"]
        values = array(TYPECODE[entry["dtype"]])
        values.frombytes(self.data[begin:end])
        return values

    def rows(self, name):
        """The rows along the last dimension, as a list of arrays."""
        values, width = self.flat(name), self.shape(name)[-1]
        return [values[i:i + width] for i in range(0, len(values), width)]
