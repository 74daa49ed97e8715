import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { bodySource, jsonDepth, parseForm, parseJson } from "@/lib/http/body.ts";
import { fileInForm } from "@/lib/http/multipart_form.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import {
  assertNothingInherited,
  cuts,
  fuzz,
  inPieces,
  isRefused,
  near,
  nearBytes,
  nearJson,
  resolvedOr,
  resultOr,
} from "./hostile.ts";

const TYPE = "multipart/form-data; boundary=bound";
const MULTIPART = [
  '--bound\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: text/plain\r\n\r\nbytes\r\n--bound--\r\n',
  'preamble\r\n--bound\r\nContent-Disposition: form-data; name="note"\r\n\r\nx\r\n--bound\r\n' +
  'Content-Disposition: form-data; name="file"; filename="b"\r\n\r\n\r\n--bound--',
  "--bound\r\nContent-Disposition: form-data; name=file\r\n\r\n--bound\r\n--boun\r\n--bound--",
];
const MULTIPART_WORDS = ["\r\n--bound", "--bound--", "\r\n\r\n", "--", 'name="file"', "\r\n--boun", "filename="];

fuzz("multipart forms", {
  inputs: fc.tuple(
    nearBytes(MULTIPART, MULTIPART_WORDS),
    near([TYPE, 'multipart/form-data; boundary="bound"'], ["; boundary=x"]),
    cuts,
  ),
  async check([bytes, type, cuts]) {
    const whole = await resolvedOr(() => fileOf(bytes, type, [bytes.length + 1]), isRefused);
    const inChunks = await resolvedOr(() => fileOf(bytes, type, cuts), isRefused);
    assert.deepEqual(inChunks, whole, "it does not matter how the bytes arrive");
    const text = Buffer.from(bytes).toString("latin1");
    if (whole) assert.ok(text.includes(Buffer.from(whole).toString("latin1")), "a file is a run of the body's bytes");
    await resolvedOr(() => parseForm(bytes, type), isRefused);
  },
  growth: {
    seeds: MULTIPART,
    words: MULTIPART_WORDS,
    read: (text) => resolvedOr(() => fileOf(Buffer.from(text), TYPE, [4096]), isRefused),
  },
});

fuzz("multipart forms that two readers take", {
  inputs: fc.array(
    fc.record({
      name: fc.constantFrom("file", "note", "files", "FILE"),
      value: near(["bytes", "\r\n--boun", "a\r\n\r\nb", ""], ["--", "\r\n"]),
      isFile: fc.boolean(),
    }),
    { maxLength: 5 },
  ),
  async check(parts) {
    const fields = parts.filter(({ value }) => !value.includes("--bound"));
    const body = fields.map(({ name, value, isFile }) =>
      `--bound\r\nContent-Disposition: form-data; name="${name}"${isFile ? '; filename="f"' : ""}\r\n\r\n${value}\r\n`
    ).join("") + "--bound--\r\n";
    const bytes = Uint8Array.from(Buffer.from(body));
    const own = await resolvedOr(() =>
      fileOf(bytes, TYPE, [7]), isRefused);
    const named = fields.filter(({ name }) => name === "file");
    assert.deepEqual(
      own && Buffer.from(own).toString(),
      named.length === 1 ? Buffer.from(named[0].value).toString() : null,
    );
    const form = await parseForm(bytes, TYPE);
    const texts = await new Response(bytes, { headers: { "Content-Type": TYPE } }).formData();
    for (const [name, value] of form) {
      assert.equal(texts.getAll(name).filter((one) => typeof one === "string").at(-1), value);
    }
  },
});

async function fileOf(bytes: Uint8Array, type: string, cuts: readonly number[]): Promise<Uint8Array> {
  const stream = ReadableStream.from(inPieces(bytes, cuts));
  const file = await fileInForm(bodySource(stream), type, "file");
  const parts: Uint8Array[] = [];
  for (let part; (part = await file.source.read(64)) !== null;) parts.push(part.slice());
  return Uint8Array.from(Buffer.concat(parts));
}

const BODIES = [
  { username: "archive/curator", password: "p", versioning: { enabled: true, keep: [1, 2.5, null] } },
  { objects: [{ key: "a", version_id: "1" }], quiet: false },
  [[[["deep"]]]],
];

fuzz("JSON bodies", {
  inputs: fc.oneof(
    nearBytes(BODIES.map((body) => JSON.stringify(body)), [
      '"__proto__":{"polluted":1},',
      "[[[[",
      "\\u0000",
      "\\ud800",
    ]),
    nearJson(BODIES).map((body) => Uint8Array.from(Buffer.from(JSON.stringify(body) ?? ""))),
  ),
  check(bytes) {
    const parsed = resultOr(() => parseJson(bytes), isRefused);
    const text = resultOr(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes), () => true);
    const oracle = text === null || text === "" ? null : resultOr(() => JSON.parse(text), () => true);
    if (parsed !== null && parsed !== undefined) assert.deepEqual(parsed, oracle);
    if (text !== null) assert.deepEqual(parsedJson(bytes) ?? null, oracle ?? null);
    if (oracle !== null && text !== null) assert.equal(jsonDepth(text), depthOf(oracle));
    assertNothingInherited();
  },
  growth: {
    seeds: BODIES.map((body) => JSON.stringify(body)),
    words: ["[", '{"a":', "\\\\", '"a",', '"§":1,'],
    read: (text) => resultOr(() => parseJson(Uint8Array.from(Buffer.from(text))), isRefused),
  },
});

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
