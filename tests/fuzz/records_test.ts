import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { z } from "zod";
import { HttpError } from "@/lib/http/errors.ts";
import { validate } from "@/lib/http/operation.ts";
import { mapiFailure, mapiPath, readList, storeAnswer } from "@/lib/mapi/mapi_client.ts";
import * as accounts from "@/lib/mapi/records/accounts.ts";
import * as fields from "@/lib/mapi/records/fields.ts";
import * as namespaces from "@/lib/mapi/records/namespace.ts";
import * as tenants from "@/lib/mapi/records/tenant.ts";
import { bagVersion, parsePayloadOxum } from "@/lib/tasks/fixity/find_manifests.ts";
import { FIXITY, newFixity } from "@/lib/tasks/fixity/fixity.ts";
import { bagItName, LineSplitter, manifestLine, parseManifestLine } from "@/lib/tasks/fixity/manifest_line.ts";
import { csvReport, jsonReport, NO_ROWS, readRows, reportRow, storedRows } from "@/lib/tasks/fixity/report.ts";
import { reportHead } from "@/lib/tasks/fixity/responses.ts";
import { blobDigest } from "@/lib/tasks/task_keys.ts";
import { closedChunk, DamagedPlan, EMPTY_PLAN, objectsIn, plannedEntries } from "@/lib/tasks/zip/zip_format.ts";
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

const isBadGateway = (error: unknown) => error instanceof HttpError && error.status === 502;

const MODULES = [accounts, fields, namespaces, tenants];
const SCHEMAS = MODULES.flatMap((module) => Object.values(module)).flatMap((value: unknown): z.ZodType[] => {
  if (value instanceof z.ZodType) return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).filter((one) => one instanceof z.ZodType);
});

const RECORDS = [
  {
    name: "maps",
    description: "Maps",
    hardQuota: "50.5 GB",
    softQuota: 85,
    hashScheme: "SHA-256",
    tags: { tag: ["letters", "18th century"] },
    versioningSettings: { enabled: true, prune: true, pruneDays: 30, keepDeletionRecords: true },
    servicePlan: "Default",
    aclsUsage: "ENFORCED",
    owner: "curator",
    ownerType: "LOCAL",
  },
  {
    username: "curator",
    fullName: "Ada Curator",
    enabled: true,
    roles: { role: ["ADMINISTRATOR", "MONITOR"] },
    localAuthentication: true,
    forcePasswordChange: false,
    namespacePermission: [{ namespaceName: "maps", permissions: { permission: ["BROWSE", "READ"] } }],
  },
  {
    ipSettings: {
      allowAddresses: { ipAddress: ["192.0.2.0/24", "::1"] },
      denyAddresses: { ipAddress: [] },
      allowIfInBothLists: true,
    },
    cors: "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>",
    contentProperty: [{ name: "a", expression: "/b/c", type: "STRING", multivalued: false }],
    value: "A+7y",
    chargebackData: [{
      namespaceName: "maps",
      objectCount: 5,
      ingestedVolume: 9e15,
      startTime: "2026-01-01T00:00:00+0100",
    }],
  },
];

fuzz("MAPI records", {
  inputs: nearJson(RECORDS),
  check(record) {
    for (const schema of SCHEMAS) {
      const given = resultOr(() => validate(schema, record, "body"), isRefused);
      if (given !== null) JSON.stringify(given);
      const returned = resultOr(() => storeAnswer(schema, record, "maps"), isBadGateway);
      if (returned !== null) JSON.stringify(returned);
    }
    assertNothingInherited();
  },
  growth: {
    seeds: ["192.0.2.0/24", "50.5 GB", "A+7y-3d", "2026-01-01T00:00:00+0100", "maps-1", "*.example.org", "MONITOR"],
    words: ["1.", ":", "-", " ", "1y", "*", "a,", "\\"],
    read: (text) =>
      SCHEMAS.map((schema) => {
        const record = Object.fromEntries(
          Object.entries(RECORDS[0]).concat(Object.entries(RECORDS[1]), Object.entries(RECORDS[2])).map((
            [name],
          ) => [name, text]),
        );
        return [
          resultOr(() => validate(schema, record, "body"), isRefused),
          resultOr(() => validate(schema, text, "body"), isRefused),
        ];
      }),
  },
});

fuzz("errors and paths of MAPI", {
  inputs: fc.tuple(
    near(["The namespace does not exist", "<html>x</html>", "token=abc password: x"], [
      "\0",
      "\u2028",
      "Authorization: HCP a:b",
    ]),
    fc.constantFrom(302, 400, 401, 403, 404, 405, 409, 414, 415, 500, 503, 507, 599),
  ),
  check([body, status]) {
    const failure = mapiFailure(new Response(null, { status }), body, "maps");
    assert.ok(failure.status >= 400 && failure.status <= 599 && String(failure.detail).length <= 1100);
    const path = resultOr(() => mapiPath("/tenants/{body}/namespaces", { body }), isRefused);
    if (path !== null) assert.equal(new URL(`http://h${path}`).pathname, path, "a name is one segment");
  },
  growth: {
    seeds: ["password: x", "eyJ.a.b"],
    read: (text) => mapiFailure(new Response(null, { status: 500 }), text, "maps"),
  },
});

fuzz("long lists of MAPI", {
  inputs: fc.tuple(
    nearBytes([JSON.stringify([RECORDS[0], { name: 'a"]}\\' }]), "[]", '[{"a":"]"}]'], [
      "]",
      "[",
      '"',
      "\\",
      "}{",
      ",",
    ]),
    cuts,
  ),
  async check([bytes, cuts]) {
    const body = ReadableStream.from(inPieces(bytes, cuts));
    const text = await resolvedOr(
      async () => await new Response(await readList(new Response(body), 10, 60_000)).bytes(),
      (error) => error instanceof Error && ["BodyTooLong", "BrokenStream"].includes(error.name),
    );
    if (text !== null && bytes.length > 10) {
      assert.deepEqual(text, bytes, "what is passed on is what came");
      const parsed = resultOr(() => JSON.parse(new TextDecoder().decode(bytes)), () => true);
      if (parsed !== null) assert.ok(Array.isArray(parsed));
    }
  },
});

const ROWS = [
  { key: "a", result: "intact", proved_by: "etag", size: 5, etag: '"x"', sha256: "00" },
  {
    key: "=cmd()|'a'!\r\n\",b",
    version_id: "1",
    result: "changed",
    expected: "00",
    actual: "ff",
    detail: "a sentence",
  },
];
const LINES = ROWS.map((row) => `${JSON.stringify(row)}\n`).join("");
const REQUEST = {
  prefix: "a/",
  rate: null,
  allVersions: false,
  full: false,
  etags: "compare",
  reportTo: "reports/",
  baseline: null,
  schedule: null,
} as const;
const COMPARISON = {
  manifests: [],
  scope: null,
  figures: [null],
  bag: { oxum: { bytes: 5, files: 1 }, problems: ["a sentence"], bytes: 5, files: 1 },
};
const PROGRESS = newFixity({ request: REQUEST, comparison: COMPARISON, baseline: null, startedAt: 5 });
const ENDED = { id: "t1", bucket: "maps", state: "ready", error: null } as const;

fuzz("state of fixity checks", {
  inputs: fc.tuple(nearJson([PROGRESS]), nearBytes([LINES]), nearJson(ROWS)),
  async check([progress, lines, row]) {
    FIXITY.progress.safeParse(progress);
    const state = storedRows.safeParse(Reflect.get(Object(progress), "rows") ?? null).data;
    const gone = (error: unknown) => error instanceof HttpError && error.status === 410;
    if (state) {
      await resolvedOr(
        () => Array.fromAsync(readRows({ ...state, pending: "" }, () => Promise.resolve([lines]))),
        gone,
      );
    }
    const { data } = reportRow.safeParse(row);
    if (!data) return;
    const read = data;
    const blob = gzipSync(`${JSON.stringify(read)}\n`);
    const rows = { ...NO_ROWS, chunks: [blobDigest(blob)], count: 1 };
    assert.deepEqual((await Array.fromAsync(readRows(rows, () => Promise.resolve([blob])))).flat(), [read]);
    async function* some() {
      yield await Promise.resolve([read]);
    }
    const [, line] = await Array.fromAsync(csvReport(some()));
    assert.deepEqual(cellsOf(line)[0].replace(/^'/, ""), read.key.replace(/^'/, ""), "a line of CSV has the key");
    assert.doesNotMatch(cellsOf(line)[0], /^[\s\p{Cc}]*[=+\-@＝＋－＠]/u, "no cell is a formula");
    JSON.parse((await Array.fromAsync(jsonReport(reportHead(ENDED, PROGRESS), some()))).join(""));
  },
});

/** The cells of a line of CSV (RFC 4180), in the plainest way. */
function cellsOf(line: string): string[] {
  const cells: string[] = [];
  for (let rest = line.replace(/\r\n$/, "") + ","; rest !== "";) {
    const [all, quoted, plain] = /^(?:"((?:[^"]|"")*)"|([^,"]*)),/s.exec(rest) ?? assert.fail(rest);
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    rest = rest.slice(all.length);
  }
  return cells;
}

const CHUNK = [
  { key: "a", name: "A", found: { size: 5, etag: '"x"', modifiedMs: 1 } },
  { key: "b/", fileName: "b", missing: "gone" },
];

fuzz("stored plans of archives", {
  inputs: fc.tuple(nearJson([CHUNK]), nearBytes(["not deflated"])),
  async check([chunk, bytes]) {
    const { deflateRawSync } = await import("node:zlib");
    const isDamaged = (error: unknown) => error instanceof DamagedPlan;
    for (const blob of [deflateRawSync(JSON.stringify(chunk) ?? ""), Buffer.from(bytes)]) {
      const entries = resultOr(() => [...plannedEntries([blob])], isDamaged);
      for (const entry of entries ?? []) assert.ok(typeof entry.key === "string" && entry.name.length <= 4 * 65_536);
      resultOr(() => closedChunk(objectsIn(blob), EMPTY_PLAN), isDamaged);
    }
  },
});

const SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const MANIFEST_LINES = [
  `${SHA256}  data/a b%0Ac%25.txt`,
  `\\${SHA256} *./a\\nb`,
  `SHA256 (a (1).txt) = ${SHA256}`,
  "# a comment",
  "d41d8cd98f00b204e9800998ecf8427e  ../a",
];
const MANIFEST_SYNTAXES = (["bagit", "tags", "list"] as const).flatMap((form) =>
  ([null, "sha256", "md5"] as const).map((algorithm) => ({ form, algorithm, escapesPercent: true }))
);
const BAG_TEXTS = [
  "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
  "Bagging-Date: 2026-01-01\r\nPayload-Oxum: 279164409832.1198\r\n",
  "manifest-sha256.txt",
];

fuzz("manifests of checksums", {
  inputs: fc.tuple(
    near(MANIFEST_LINES, ["/../", "./", "%0a", "%25", "\\n", " *", "  ", "\u2028", "data/"]),
    near(["data/a b", "data/å%0A", "data/x\r\ny", "data/ a"], ["%", "\n", "\u2028", "\\", "./", " "]),
    near(BAG_TEXTS, ["\r", "Payload-Oxum: 1.1\n", "9".repeat(17)]),
  ),
  check([line, path, text]) {
    for (const syntax of MANIFEST_SYNTAXES) {
      const read = parseManifestLine(line, syntax);
      if (typeof read === "string") continue;
      assert.ok(read.path !== "" && !read.path.split("/").some((part) => part === "." || part === ".."), read.path);
      assert.match(read.expected, /^[0-9a-f]{32,128}$/);
    }
    const isWritten = path.startsWith("data/") && !path.split("/").some((part) => part === "." || part === "..") &&
      !path.includes("\0");
    if (isWritten) {
      const written = manifestLine(SHA256, path).slice(0, -1);
      const read = parseManifestLine(written, { form: "bagit", algorithm: "sha256", escapesPercent: true });
      assert.deepEqual(read, { path, algorithm: "sha256", expected: SHA256 }, "a line is read as it is written");
    }
    bagVersion(text);
    bagItName(text);
    const oxum = parsePayloadOxum(text);
    if (oxum !== null && oxum !== "invalid") {
      assert.deepEqual(parsePayloadOxum(`Payload-Oxum: ${oxum.bytes}.${oxum.files}`), oxum);
    }
  },
  growth: {
    seeds: [...MANIFEST_LINES, ...BAG_TEXTS],
    words: [" ", "\t", "%0A", "\\n", "./", "\n", "\r", ")", "a", "Payload-Oxum: 1.1\n"],
    read: (text) => [
      MANIFEST_SYNTAXES.map((syntax) => parseManifestLine(text, syntax)),
      bagVersion(text),
      parsePayloadOxum(text),
      bagItName(text),
    ],
  },
});

fuzz("lines of a manifest", {
  inputs: fc.tuple(
    nearBytes(["a\nb\r\nc\rd", "å\n\r\n"], ["\r", "\n", "\r\n", "\ufeff", "x".repeat(9000), "å".repeat(4096)]),
    fc.array(fc.oneof(fc.nat(9), fc.nat(20_000)), { minLength: 1 }),
  ),
  check([bytes, cuts]) {
    const lines: (string | null)[] = [];
    const splitter = new LineSplitter((line) => lines.push(line));
    for (const piece of inPieces(bytes, cuts.map((length) => length + 1))) splitter.push(piece);
    splitter.end();
    const oracle = Buffer.from(bytes).toString("latin1").split(/\r\n|\r|\n/).map((line) => Buffer.from(line, "latin1"));
    if (oracle.at(-1)?.length === 0) oracle.pop();
    // A byte order mark is one at the beginning alone.
    const decoded = (line: Uint8Array, at: number) =>
      resultOr(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: at > 0 }).decode(line), () => true);
    assert.deepEqual(lines, oracle.map((line, at) => line.length > 8192 ? null : decoded(line, at)));
  },
});
