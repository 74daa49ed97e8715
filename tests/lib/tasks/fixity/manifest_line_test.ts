import assert from "node:assert/strict";
import { bagItName, LineSplitter, manifestLine, parseManifestLine } from "@/lib/tasks/fixity/manifest_line.ts";

const SHA256 = "ab".repeat(32);
const MD5 = "cd".repeat(16);
const BAG = { form: "bagit", algorithm: "sha256", escapesPercent: true } as const;
const TAGS = { ...BAG, form: "tags" } as const;
const LIST = { form: "list", algorithm: null, escapesPercent: false } as const;

Deno.test("bagItName: reads the algorithm of payload and tag manifests", () => {
  assert.deepEqual(bagItName("manifest-sha256.txt"), { algorithm: "sha256", form: "bagit" });
  assert.deepEqual(bagItName("tagmanifest-SHA-512.txt"), { algorithm: "sha512", form: "tags" });
  assert.deepEqual(bagItName("manifest-sha3256.txt"), { algorithm: null, form: "bagit" });
  for (const name of ["manifest.txt", "SHA256SUMS", "xmanifest-md5.txt", "manifest-md5.txt.bak"]) {
    assert.equal(bagItName(name), null, name);
  }
});

Deno.test("parseManifestLine: reads BagIt lines with blanks, tabs, marks and escapes", () => {
  const path = (line: string) => {
    const read = parseManifestLine(line, BAG);
    return typeof read === "string" ? read : read.path;
  };
  assert.deepEqual(parseManifestLine(`${SHA256.toUpperCase()}  data/a b.tif`, BAG), {
    path: "data/a b.tif",
    algorithm: "sha256",
    expected: SHA256,
  });
  assert.equal(path(`${SHA256}\tdata/a`), "data/a");
  assert.equal(path(`${SHA256} *data/a`), "data/a");
  assert.equal(path(`${SHA256} \t  data/a`), "data/a");
  assert.equal(path(`${SHA256}  ./data/a`), "data/a");
  assert.equal(path(`${SHA256}  data/100%25%0Aok%0d%41`), "data/100%\nok\r%41");
  assert.equal(path(`${SHA256}  data/x/`), "data/x/");
  const before = parseManifestLine(`${SHA256}  data/100%25`, { ...BAG, escapesPercent: false });
  assert.equal(typeof before === "object" && before.path, "data/100%25");
});

Deno.test("parseManifestLine: outside of bags a path may begin with a blank", () => {
  const line = manifestLine(SHA256, " draft.txt").trimEnd();
  const read = parseManifestLine(line, { ...BAG, form: "folder" });
  assert.equal(typeof read === "object" && read.path, " draft.txt");
});

Deno.test("parseManifestLine: a line that names no file of its bag is invalid", () => {
  const hostile = [
    "data/a",
    `${SHA256}`,
    `${SHA256}  `,
    `${SHA256}data/a`,
    `${MD5}  data/a`,
    `${SHA256.slice(1)}  data/a`,
    `${SHA256}  data/../bagit.txt`,
    `${SHA256}  /data/a`,
    `${SHA256}  data/./a`,
    `${SHA256}  other/a`,
    `${SHA256}  data/a\0b`,
    `x${SHA256.slice(1)}  data/a`,
  ];
  for (const line of hostile) {
    const read = parseManifestLine(line, BAG);
    assert.ok(read === "invalid" || read === "empty", JSON.stringify(line));
  }
  assert.equal(parseManifestLine("  \t", BAG), "empty");
  assert.equal(parseManifestLine(`${SHA256}  data/a`, TAGS), "invalid");
  assert.deepEqual(parseManifestLine(`${SHA256}  other/a%25`, { ...BAG, form: "folder" }), {
    path: "other/a%",
    algorithm: "sha256",
    expected: SHA256,
  });
  assert.notEqual(parseManifestLine(`${SHA256}  bagit.txt`, TAGS), "invalid");
});

Deno.test("parseManifestLine: reads the lists of md5sum and sha256sum, marks and escaped names among them", () => {
  const read = (line: string) => parseManifestLine(line, LIST);
  assert.deepEqual(read(`${MD5}  a.tif`), { path: "a.tif", algorithm: "md5", expected: MD5 });
  assert.deepEqual(read(`${SHA256} *./b/a.tif`), { path: "b/a.tif", algorithm: "sha256", expected: SHA256 });
  assert.deepEqual(read(`\\${MD5}  a\\nb\\\\c`), { path: "a\nb\\c", algorithm: "md5", expected: MD5 });
  assert.deepEqual(read(`${MD5}  a\\nb %0A`), { path: "a\\nb %0A", algorithm: "md5", expected: MD5 });
  assert.deepEqual(read(`${MD5}    two`), { path: "  two", algorithm: "md5", expected: MD5 });
  assert.deepEqual(read(`SHA256 (a (1).tif) = ${SHA256}`), {
    path: "a (1).tif",
    algorithm: "sha256",
    expected: SHA256,
  });
  assert.equal(read("# made on a Monday"), "empty");
  for (const line of [`\\${MD5}  a\\x`, `${MD5} a`, `${MD5}\ta`, `${"a".repeat(50)}  a`, `${MD5}  ../a`]) {
    assert.equal(read(line), "invalid", line);
  }
});

function linesOf(chunks: readonly Uint8Array[]): (string | null)[] {
  const lines: (string | null)[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) {
    const own = chunk.slice();
    splitter.push(own);
    // As a reader does that uses its memory again.
    own.fill(0x2a);
  }
  splitter.end();
  return lines;
}

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("LineSplitter: cuts at LF, CR LF and CR wherever chunks end", () => {
  const text = "a\nb\r\nc\rd\r\n\né";
  const whole = ["a", "b", "c", "d", "", "é"];
  assert.deepEqual(linesOf([bytes(text)]), whole);
  assert.deepEqual(linesOf([...bytes(text)].map((byte) => Uint8Array.of(byte))), whole);
});

Deno.test("LineSplitter: a line that is too long or not UTF-8 is null, the next one is read", () => {
  const long = "x".repeat(9000);
  assert.deepEqual(linesOf([bytes(`${long}\nb`)]), [null, "b"]);
  assert.deepEqual(linesOf([bytes(long.slice(0, 5000)), bytes(`${long}\n`), bytes("b")]), [null, "b"]);
  assert.deepEqual(linesOf([bytes(long)]), [null]);
  assert.deepEqual(linesOf([Uint8Array.of(0x61, 0xff, 0x0a, 0x62)]), [null, "b"]);
});

Deno.test("LineSplitter: a line is as long as its bytes, and a byte order mark is one at the beginning alone, wherever chunks end", () => {
  const [long, fitting] = ["å".repeat(4097), "å".repeat(4096)];
  const all = bytes(`\ufeffa\n${long}\n${fitting}\n\ufeffb\n`);
  const lines = ["a", null, fitting, "\ufeffb"];
  assert.deepEqual(linesOf([all]), lines);
  for (const size of [1, 3, 8192, 8193]) {
    const chunks = Array.from(
      { length: Math.ceil(all.length / size) },
      (_, n) => all.subarray(n * size, (n + 1) * size),
    );
    assert.deepEqual(linesOf(chunks), lines, `chunks of ${size}`);
  }
});
