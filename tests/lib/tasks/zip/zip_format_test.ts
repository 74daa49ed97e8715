import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import {
  centralRecord,
  centralRecordBytes,
  dataDescriptor,
  endBytes,
  endRecords,
  entryBytes,
  localHeader,
  ZIP64_LIMIT,
} from "@/lib/tasks/zip/zip_format.ts";
import { type RandomAccess, readStrictly } from "./strict_zip.ts";

const MODIFIED = Date.UTC(2026, 10, 23, 4, 50, 11, 700);

interface Given {
  readonly name: string;
  readonly size: number;
  readonly crc: number;
  /** Absent where the bytes are not read. */
  readonly data?: Uint8Array;
  readonly modifiedMs?: number;
}

/** An archive whose bytes between the records are not in memory. */
function archiveOf(given: readonly Given[]): RandomAccess {
  const blocks: { readonly offset: number; readonly bytes: Uint8Array }[] = [];
  let offset = 0;
  const add = (bytes: Uint8Array) => {
    blocks.push({ offset, bytes });
    offset += bytes.length;
  };
  const central: Uint8Array[] = [];
  for (const { name, size, crc, data, modifiedMs = MODIFIED } of given) {
    const record = { name: Buffer.from(name), size, modifiedMs };
    const start = offset;
    add(localHeader(record));
    if (data) add(data);
    else offset += size;
    add(dataDescriptor(size, crc));
    assert.equal(offset - start, entryBytes(record.name.length, size), "the length is known before");
    central.push(centralRecord(record, crc, start));
    assert.equal(central.at(-1)?.length, centralRecordBytes(record.name.length, size, start));
  }
  const centralOffset = offset;
  for (const record of central) add(record);
  const end = { entries: given.length, centralOffset, centralBytes: offset - centralOffset };
  const endOffset = offset;
  add(endRecords(end));
  assert.equal(offset - endOffset, endBytes(end));
  return {
    length: offset,
    slice(from, to) {
      const bytes = Buffer.alloc(to - from);
      for (let number = firstBehind(blocks, from); number < blocks.length; number++) {
        const block = blocks[number];
        if (block.offset >= to) break;
        const cut = block.bytes.subarray(Math.max(0, from - block.offset), to - block.offset);
        bytes.set(cut, Math.max(0, block.offset - from));
      }
      return bytes;
    },
  };
}

const inMemory = (archive: RandomAccess) => archive.slice(0, archive.length);

function stored(name: string, text: string): Given {
  const data = Buffer.from(text);
  return { name, size: data.length, crc: crc32(data), data };
}

const GIVEN = [
  stored("år/första sidan.txt", "hej\n"),
  stored("empty", ""),
  { name: "folder/", size: 0, crc: 0 },
  stored("looks like one", "PK\x07\x08PK\x03\x04PK\x01\x02PK\x05\x06"),
];

Deno.test("zip format: entries have their names, bytes, times and modes in both records", () => {
  const archive = inMemory(archiveOf(GIVEN));
  const entries = readStrictly(archive);
  assert.deepEqual(entries.map(({ name, size, mode }) => [name, size, mode]), [
    ["år/första sidan.txt", 4, 0o100644],
    ["empty", 0, 0o100644],
    ["folder/", 0, 0o040755],
    ["looks like one", 16, 0o100644],
  ]);
  for (const entry of entries) assert.equal(entry.modifiedSeconds, Math.floor(MODIFIED / 1000));
  assert.equal(Buffer.from(archive).readUInt16LE(10), (4 << 11) | (50 << 5) | 5);
  assert.equal(Buffer.from(archive).readUInt16LE(12), (46 << 9) | (11 << 5) | 23);
});

Deno.test("zip format: times before 1980 and after 2107 are the nearest that a record holds", () => {
  const archive = Buffer.from(inMemory(archiveOf([
    { ...stored("old", "1"), modifiedMs: -1000 },
    { ...stored("late", "2"), modifiedMs: Date.UTC(2300, 0) },
  ])));
  const [old, late] = readStrictly(archive);
  assert.deepEqual([old.modifiedSeconds, late.modifiedSeconds], [0, 0x7fffffff]);
  assert.equal(archive.readUInt16LE(old.offset + 12), (1 << 5) | 1);
  assert.equal(archive.readUInt16LE(late.offset + 12), (127 << 9) | (12 << 5) | 31);
});

Deno.test("zip format: an entry above 4 GiB, one that begins there and one at the limit are in Zip64 form", () => {
  const sizes = [5 * 2 ** 30, 3, ZIP64_LIMIT, ZIP64_LIMIT - 1];
  const archive = archiveOf(sizes.map((size, at) => ({ name: `${at}.bin`, size, crc: 0x89abcdef })));
  const entries = readStrictly(archive, { checksData: false });
  assert.deepEqual(entries.map(({ size, crc }) => [size, crc]), sizes.map((size) => [size, 0x89abcdef]));
  assert.ok(entries[1].offset > 2 ** 32);
});

Deno.test("zip format: 65,534 entries have one end record, one more have two", () => {
  const many = (count: number) =>
    archiveOf(Array.from({ length: count }, (_, at) => ({ name: `${at}/`, size: 0, crc: 0 })));
  for (const count of [65_534, 65_535]) {
    const archive = many(count);
    assert.equal(readStrictly(archive).length, count);
    assert.equal(
      Buffer.from(archive.slice(archive.length - 98, archive.length)).readUInt32LE(0) === 0x06064b50,
      count > 65_534,
    );
  }
});

/** The first of the blocks that ends behind an offset. */
function firstBehind(
  blocks: readonly { readonly offset: number; readonly bytes: Uint8Array }[],
  offset: number,
): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (blocks[middle].offset + blocks[middle].bytes.length <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

Deno.test("zip format: an archive without entries is its end record", () => {
  const archive = inMemory(archiveOf([]));
  assert.equal(archive.length, 22);
  assert.deepEqual(readStrictly(archive), []);
});
