import assert from "node:assert/strict";
import fc from "fast-check";

import { tiffSize } from "@/lib/presentation/storage/preview/tiff_size.ts";

interface Entry {
  readonly tag: number;
  readonly type: number;
  readonly count?: number;
  readonly value: number;
}

/** A TIFF file with one directory at an offset. */
function tiff({ isLittle = true, isBig = false, offset = isBig ? 16 : 8, count, entries }: {
  readonly isLittle?: boolean;
  readonly isBig?: boolean;
  readonly offset?: number;
  readonly count?: number;
  readonly entries: readonly Entry[];
}): Uint8Array {
  const [countBytes, entryBytes] = isBig ? [8, 20] : [2, 12];
  const file = new Uint8Array(offset + countBytes + entries.length * entryBytes);
  const view = new DataView(file.buffer);
  file.set(new TextEncoder().encode(isLittle ? "II" : "MM"));
  view.setUint16(2, isBig ? 43 : 42, isLittle);
  if (isBig) view.setUint16(4, 8, isLittle);
  const wide = (at: number, value: number) => view.setBigUint64(at, BigInt(value), isLittle);
  if (isBig) wide(8, offset);
  else view.setUint32(4, offset, isLittle);
  if (isBig) wide(offset, count ?? entries.length);
  else view.setUint16(offset, count ?? entries.length, isLittle);
  for (const [index, { tag, type, count: values = 1, value }] of entries.entries()) {
    const at = offset + countBytes + index * entryBytes;
    view.setUint16(at, tag, isLittle);
    view.setUint16(at + 2, type, isLittle);
    if (isBig) wide(at + 4, values);
    else view.setUint32(at + 4, values, isLittle);
    const place = at + (isBig ? 12 : 8);
    if (type === 3) view.setUint16(place, value, isLittle);
    else if (type === 4) view.setUint32(place, value, isLittle);
    else if (type === 16 && isBig) wide(place, value);
  }
  return file;
}

/** How a file is read: its parts, and how many bytes of it in all. */
function readerOf(file: Uint8Array) {
  const reads: number[] = [];
  return {
    reads,
    read(from: number, length: number) {
      const part = file.subarray(from, from + length);
      reads.push(part.length);
      return Promise.resolve(part);
    },
  };
}

const sizeEntries = (width: number, height: number, type = 4): Entry[] => [
  { tag: 254, type: 4, value: 0 },
  { tag: 256, type, value: width },
  { tag: 257, type, value: height },
];

Deno.test("TIFF: the size in either byte order, classic and BigTIFF, wherever the directory stands", async () => {
  const size = fc.integer({ min: 1, max: 0xffff });
  const layout = fc.record({ isLittle: fc.boolean(), isBig: fc.boolean(), gap: fc.nat(20_000) });
  await fc.assert(
    fc.asyncProperty(size, size, fc.constantFrom(3, 4), layout, async (width, height, type, { gap, ...rest }) => {
      const { reads, read } = readerOf(tiff({ ...rest, offset: 16 + gap, entries: sizeEntries(width, height, type) }));
      assert.deepEqual(await tiffSize(read), { width, height });
      assert.ok(reads.length <= 2 && reads.every((bytes) => bytes <= 4096));
    }),
  );
  const big = tiff({ isBig: true, entries: sizeEntries(2 ** 33, 7, 16) });
  assert.deepEqual(await tiffSize(readerOf(big).read), { width: 2 ** 33, height: 7 });
});

Deno.test("TIFF: what is no TIFF, or points to nowhere, has no size", async () => {
  const nowhere = tiff({ entries: sizeEntries(5, 5) });
  new DataView(nowhere.buffer).setUint32(4, 0xfffffff0, true);
  const files = [
    new Uint8Array(),
    new TextEncoder().encode("II but not an image at all"),
    nowhere,
    tiff({ entries: [] }),
    tiff({ entries: sizeEntries(0, 5) }),
    tiff({ entries: [{ tag: 256, type: 4, count: 2, value: 5 }, { tag: 257, type: 2, value: 5 }] }),
  ];
  for (const file of files) assert.equal(await tiffSize(readerOf(file).read), null);
});

Deno.test("TIFF: a directory of millions of entries costs no more than a hundred", async () => {
  const entries = [...Array.from({ length: 200 }, (_, tag) => ({ tag, type: 4, value: 1 })), ...sizeEntries(5, 6)];
  const { reads, read } = readerOf(tiff({ isBig: true, count: 2 ** 40, entries }));
  assert.equal(await tiffSize(read), null);
  assert.ok(reads.reduce((sum, bytes) => sum + bytes, 0) < 8192);
});

Deno.test("TIFF: any bytes behind a right beginning are read without an error", async () => {
  const start = fc.constantFrom(
    "II*\0",
    "II*\0\b\0\0\0",
    "MM\0*\0\0\0\b",
    "II+\0\b\0\0\0",
    "MM\0+\0\b\0\0\0\0\0\0\0\0\0\x10",
  );
  await fc.assert(fc.asyncProperty(start, fc.uint8Array({ maxLength: 300 }), async (start, rest) => {
    await tiffSize(readerOf(new Uint8Array([...new TextEncoder().encode(start), ...rest])).read);
  }));
});
