import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";

/** Bytes that are not all in memory. */
export interface RandomAccess {
  readonly length: number;
  /** Bytes from one offset to another. */
  slice(from: number, to: number): Uint8Array;
}

export interface StrictEntry {
  readonly name: string;
  readonly size: number;
  readonly crc: number;
  readonly offset: number;
  readonly dataOffset: number;
  readonly mode: number;
  readonly modifiedSeconds: number;
}

/**
 * Reads an archive of stored entries and accepts nothing that APPNOTE.TXT does not ask for: no gaps, no bytes behind the
 * end, equal local and central records, Zip64 fields exactly where they are announced.
 */
export function readStrictly(archive: RandomAccess, options: { readonly checksData?: boolean } = {}): StrictEntry[] {
  const at = (from: number, length: number) => Buffer.from(archive.slice(from, from + length));
  const end = at(archive.length - 22, 22);
  assert.equal(end.readUInt32LE(0), 0x06054b50, "the end record is the last");
  assert.equal(end.readUInt16LE(20), 0, "no comment");
  assert.equal(end.readUInt32LE(4), 0, "one disk");
  let count = end.readUInt16LE(10);
  let centralBytes = end.readUInt32LE(12);
  let centralOffset = end.readUInt32LE(16);
  let centralEnd = archive.length - 22;
  const isZip64 = count === 0xffff || centralBytes === 0xffffffff || centralOffset === 0xffffffff;
  if (isZip64) {
    const locator = at(centralEnd - 20, 20);
    assert.equal(locator.readUInt32LE(0), 0x07064b50);
    assert.equal(locator.readUInt32LE(16), 1);
    const offset = Number(locator.readBigUInt64LE(8));
    assert.equal(offset, centralEnd - 76);
    const zip64 = at(offset, 56);
    assert.equal(zip64.readUInt32LE(0), 0x06064b50);
    assert.equal(Number(zip64.readBigUInt64LE(4)), 44);
    assert.equal(zip64.readUInt16LE(14), 45);
    assert.equal(Number(zip64.readBigUInt64LE(24)), Number(zip64.readBigUInt64LE(32)));
    count = Number(zip64.readBigUInt64LE(32));
    centralBytes = Number(zip64.readBigUInt64LE(40));
    centralOffset = Number(zip64.readBigUInt64LE(48));
    centralEnd = offset;
    assert.ok(count >= 0xffff || centralBytes >= 0xffffffff || centralOffset >= 0xffffffff, "Zip64 without need");
  }
  assert.equal(centralOffset + centralBytes, centralEnd, "no gap before the end record");

  const entries: StrictEntry[] = [];
  const central = at(centralOffset, centralBytes);
  let position = 0;
  let expectedOffset = 0;
  for (let number = 0; number < count; number++) {
    assert.equal(central.readUInt32LE(position), 0x02014b50);
    const flags = central.readUInt16LE(position + 8);
    assert.equal(flags & ~0x0808, 0, "only the descriptor and UTF-8");
    assert.ok(flags & 0x0800, "UTF-8");
    assert.equal(central.readUInt16LE(position + 10), 0, "stored");
    const crc = central.readUInt32LE(position + 16);
    let size = central.readUInt32LE(position + 24);
    assert.equal(central.readUInt32LE(position + 20), size);
    const nameBytes = central.readUInt16LE(position + 28);
    const extraBytes = central.readUInt16LE(position + 30);
    assert.equal(central.readUInt16LE(position + 32), 0);
    const mode = central.readUInt32LE(position + 38) >>> 16;
    let offset = central.readUInt32LE(position + 42);
    const nameField = central.subarray(position + 46, position + 46 + nameBytes);
    const name = new TextDecoder("utf-8", { fatal: true }).decode(nameField);
    const extra = fieldsOf(central.subarray(position + 46 + nameBytes, position + 46 + nameBytes + extraBytes));
    const large = size === 0xffffffff;
    const zip64 = extra.get(1);
    assert.equal(zip64?.length ?? 0, (large ? 16 : 0) + (offset === 0xffffffff ? 8 : 0));
    if (zip64 && large) {
      size = Number(zip64.readBigUInt64LE(0));
      assert.equal(Number(zip64.readBigUInt64LE(8)), size);
    }
    if (zip64 && offset === 0xffffffff) offset = Number(zip64.readBigUInt64LE(large ? 16 : 0));
    assert.equal(central.readUInt16LE(position + 6), zip64 ? 45 : 20);
    const stamp = extra.get(0x5455);
    assert.ok(stamp && stamp.length === 5 && stamp[0] === 1);
    position += 46 + nameBytes + extraBytes;

    assert.equal(offset, expectedOffset, `${name}: no gap before it`);
    const local = at(offset, 30 + nameBytes);
    assert.equal(local.readUInt32LE(0), 0x04034b50);
    assert.equal(local.readUInt16LE(4), large ? 45 : 20);
    assert.equal(local.readUInt16LE(6), flags);
    assert.deepEqual(
      local.subarray(8, 14),
      central.subarray(position - 46 - nameBytes - extraBytes + 10).subarray(0, 6),
    );
    const hasDescriptor = (flags & 8) !== 0;
    assert.equal(hasDescriptor, size > 0, "a descriptor behind bytes alone");
    assert.equal(local.readUInt32LE(14), 0);
    for (const field of [18, 22]) assert.equal(local.readUInt32LE(field), large ? 0xffffffff : 0);
    assert.equal(local.readUInt16LE(26), nameBytes);
    assert.deepEqual(local.subarray(30), nameField);
    const localExtra = fieldsOf(at(offset + 30 + nameBytes, local.readUInt16LE(28)));
    assert.equal(localExtra.get(1)?.length ?? 0, large ? 16 : 0);
    assert.deepEqual(localExtra.get(0x5455), stamp);
    const dataOffset = offset + 30 + nameBytes + local.readUInt16LE(28);
    expectedOffset = dataOffset + size;
    if (hasDescriptor) {
      const width = large ? 8 : 4;
      const descriptor = at(expectedOffset, 8 + 2 * width);
      assert.equal(descriptor.readUInt32LE(0), 0x08074b50);
      assert.equal(descriptor.readUInt32LE(4), crc);
      for (const field of [8, 8 + width]) {
        assert.equal(large ? Number(descriptor.readBigUInt64LE(field)) : descriptor.readUInt32LE(field), size);
      }
      expectedOffset += descriptor.length;
    }
    if (options.checksData ?? true) assert.equal(crc32(archive.slice(dataOffset, dataOffset + size)), crc, name);
    entries.push({ name, size, crc, offset, dataOffset, mode, modifiedSeconds: stamp.readInt32LE(1) });
  }
  assert.equal(position, centralBytes, "no bytes behind the last record");
  assert.equal(expectedOffset, centralOffset, "no gap before the central directory");
  return entries;
}

/** Names and bytes of an archive that is in memory. */
export function unzipped(archive: Uint8Array): Map<string, Uint8Array> {
  const entries = readStrictly(archive);
  return new Map(entries.map(({ name, dataOffset, size }) => [name, archive.subarray(dataOffset, dataOffset + size)]));
}

function fieldsOf(extra: Buffer): Map<number, Buffer> {
  const fields = new Map<number, Buffer>();
  let at = 0;
  while (at < extra.length) {
    const id = extra.readUInt16LE(at);
    assert.ok(!fields.has(id), "each field once");
    const end = at + 4 + extra.readUInt16LE(at + 2);
    assert.ok(end <= extra.length);
    fields.set(id, extra.subarray(at + 4, end));
    at = end;
  }
  return fields;
}
