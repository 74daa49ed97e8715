import fc from "fast-check";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readingText } from "@/lib/pages/alto/line_text.ts";
import { printXmlInSteps } from "@/lib/pages/alto/printed_xml.ts";
import { readLineLink, rowsOf, searchLines } from "@/lib/pages/log/log_rows.ts";
import { MAX_LOG_CHARACTERS, parseRunLogInSteps, type RunLog } from "@/lib/pages/log/run_log.ts";
import { readRunManifest, summarizeRun } from "@/lib/pages/log/run_manifest.ts";
import { readCsvTable } from "@/lib/pages/storage/preview/csv_table.ts";
import { imageSize, tiffSize } from "@/lib/pages/storage/preview/image_size.ts";
import { prettyJson } from "@/lib/pages/storage/preview/pretty_json.ts";
import { readTextBeginning } from "@/lib/pages/storage/preview/text_beginning.ts";
import { ALTO_2, ALTO_3, ALTO_4, ALTO_ORDERED, readAlto } from "@/tests/lib/pages/alto/samples.ts";
import {
  BASE,
  canvas2,
  canvas3,
  manifest2,
  manifest3,
  readManifest,
  served2,
  served3,
} from "@/tests/lib/pages/iiif/manifests.ts";
import { resultOf } from "@/tests/result_of.ts";
import { assertNothingInherited, fuzz, near, nearBytes, nearJson } from "./hostile.ts";

const ALTO = [ALTO_2, ALTO_3, ALTO_4, ALTO_ORDERED];
const ALTO_WORDS = [
  ...["HPOS=", "1e999", "<String CONTENT='x'/>", "<TextLine>", "<Shape>", "POINTS='1,2 3'", "&#0;", "<HYP/>"],
];

fuzz("ALTO", {
  inputs: near(ALTO, ALTO_WORDS),
  check(xml) {
    const reading = readAlto(xml);
    if (reading.ok) {
      for (const { box } of reading.page.blocks) if (box) assert.ok(Object.values(box).every(Number.isFinite));
      assert.equal(typeof readingText(reading.page), "string");
    }
    const { lines } = resultOf(printXmlInSteps(xml));
    assert.ok(lines.every((line) => !line.includes("\n")));
  },
  growth: {
    seeds: ALTO,
    words: [...ALTO_WORDS, "<a>", " a§='1'", "<TextBlock ID='§'/>", "<String CONTENT='a' ID='§'/>", "1,2 "],
    read(xml) {
      const reading = readAlto(xml);
      return [reading.ok && readingText(reading.page), resultOf(printXmlInSteps(xml))];
    },
  },
});

const structures = [{ "@id": "r1", "@type": "sc:Range", label: "a", ranges: ["r2"], canvases: [BASE] }];
const MANIFESTS = [
  manifest3([canvas3("p1", [served3("p1")]), canvas3("p2", [served3("p2")])], {
    structures: [{ id: "r", type: "Range", items: [] }],
  }),
  manifest2([canvas2("p1", [served2("p1")]), canvas2("p2", [served2("p2")])], { structures }),
];

fuzz("manifests", {
  inputs: nearJson(MANIFESTS),
  check(json) {
    const read = readManifest(json, BASE, ["sv", "en"]);
    const text = JSON.stringify(read);
    assert.ok(typeof read.ok === "boolean" && !/"(?:href|image|id|url)":"(?:javascript|data):/i.test(text), text);
    assertNothingInherited();
  },
  growth: {
    seeds: MANIFESTS.map((manifest) => JSON.stringify(manifest)),
    words: ['"§",', '{"id":"§"},', "[", '{"@id":"§","@type":"sc:Range","ranges":["§"]},'],
    read(text) {
      try {
        return readManifest(JSON.parse(text), BASE, ["sv"]);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    },
  },
});

fuzz("manifests with many canvases", {
  inputs: fc.tuple(fc.integer({ min: 1, max: 40 }), nearJson([served3("p1"), served2("p1")])),
  check([count, body]) {
    const names = Array.from({ length: count }, (_, n) => `p${n}`);
    for (
      const json of [
        manifest3(names.map((name) => canvas3(name, [body]))),
        manifest2(names.map((name) => canvas2(name, [body]))),
      ]
    ) {
      const read = readManifest(json, BASE);
      if (read.ok) assert.ok(read.manifest.canvases.length <= count);
    }
  },
  growth: {
    seeds: ["0"],
    read(text) {
      const names = Array.from({ length: text.length / 200 }, (_, n) => `p${n}`);
      const structures = names.map((name, n) => ({
        "@id": name,
        "@type": "sc:Range",
        label: name,
        ranges: [names[n + 1] ?? names[0]],
        canvases: names.slice(0, 3),
      }));
      readManifest(manifest2(names.map((name) => canvas2(name, [served2(name)])), { structures }), BASE);
      const items = names.map((name) => ({ id: name, type: "Range", items: [{ id: names[0], type: "Range" }] }));
      return readManifest(manifest3(names.map((name) => canvas3(name, [served3(name)])), { structures: items }), BASE);
    },
  },
});

const LOGS = [
  '2025-11-20 08:00:02,250 INFO HTTP Request: GET https://archive.example/manifest "HTTP/1.1 200 OK"\n' +
  "2025-11-20 08:00:03,250 INFO [SE-1] 12 pages in manifest\n2025-11-20 08:00:14,250 ERROR page 0005 failed\n" +
  'Traceback (most recent call last):\n  File "worker.py", line 3, in run\nValueError: no text\n',
  "2025-11-20 08:00:25,250 INFO [SE-1] COMPLETE 12 pages\r\n… 5 lines left out …\n\x1b[31mred\x1b[0m\x00\n",
  `b'2025-11-20 08:00:25,250 INFO a\\nline \\xc3\\xa5\\n'\n`,
];
const LOG_WORDS = [
  ...["\n", "b'", "\\x", "\\n", "2025-11-20 08:00:02,250 INFO ", "HTTP Request: GET ", "\x1b[", "page ", "COMPLETE "],
];

fuzz("run logs", {
  inputs: fc.tuple(
    near(LOGS, LOG_WORDS),
    fc.constantFrom(10, 100, MAX_LOG_CHARACTERS),
    near(["#L12@08:15:00.250", "#L1"]),
  ),
  check([text, most, hash]) {
    const log: RunLog = resultOf(parseRunLogInSteps(text, most));
    const lines = log.stages.flatMap(({ folds }) => folds.flatMap(({ lines }) => lines));
    assert.equal(log.counts.all, lines.length);
    assert.deepEqual(
      lines.map(({ number }) => number),
      lines.map((_, n) => log.firstNumber + n),
      "numbers without a gap",
    );
    for (const stage of log.stages) rowsOf(stage, "all");
    searchLines(log.stages, "all", text.slice(0, 5));
    const link = readLineLink(hash);
    if (link) assert.ok(Number.isSafeInteger(link.number));
  },
  growth: {
    seeds: LOGS,
    words: [...LOG_WORDS, "\\", "a", "0", "Traceback (most recent call last):\n", "2025-11-20 08:00:02,250 ERROR §\n"],
    read(text) {
      const log = resultOf(parseRunLogInSteps(text));
      return [log.stages.map((stage) => rowsOf(stage, "all")), searchLines(log.stages, "all", "a")];
    },
  },
});

const RUNS = [{
  pages: 2,
  results: {
    "0001": { status: "ok", seconds: 1.5, quality: 0.9 },
    "0002": { status: "failed", error: "no text", seconds: 2 },
  },
  wall_seconds: 9,
  quality: { mean: 0.5, min: 0.1, scored: 1, lowest: [{ page: "0001", quality: 0.9 }] },
  started_at: "2025-11-20T08:00:00Z",
}];

fuzz("run manifests", {
  inputs: nearJson(RUNS),
  check(value) {
    const manifest = readRunManifest(value);
    if (manifest === null) return;
    const figures = Object.values(summarizeRun(manifest)).filter((value) => typeof value === "number");
    assert.ok(figures.every(Number.isFinite), figures.join());
    assertNothingInherited();
  },
  growth: {
    seeds: [JSON.stringify(RUNS[0])],
    words: ['"§":{"status":"ok"},', '"§":1,'],
    read(text) {
      try {
        const manifest = readRunManifest(JSON.parse(text));
        return manifest && summarizeRun(manifest);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    },
  },
});

const TEXTS = [
  'a;b;c\n1;"x\n""y""";3\n',
  "a,b\r\n1,2\r\n",
  '{"a":[1,2.50,{"b":"\\u00e5"}],"a":null}',
  "plain\ttext\n\xff",
];
const PICTURES = [
  ...["\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\x02\0\x08\x06\0\0\0", "GIF89a\x10\0\x20\0"],
  ...["\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\x01\0\x02\0\x03"],
  ...["RIFF\x20\0\0\0WEBPVP8X\n\0\0\0\0\0\0\0\xff\0\0\xff\0\0"],
  ...["II*\0\x08\0\0\0\x02\0\0\x01\x04\0\x01\0\0\0\x10\0\0\0\x01\x01\x03\0\x01\0\0\0\x20\0\0\0"],
  ...["MM\0+\0\x08\0\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\x01\x01\0\0\x04"],
];

fuzz("previews of objects", {
  inputs: fc.tuple(
    near(TEXTS, ['"', ";", "\n", "[", "\\"]),
    nearBytes(PICTURES, ["\0\0", "\xff\xc2", "\xff\xff", "II*\0"]).map((bytes) => Uint8Array.from(bytes)),
    fc.boolean(),
  ),
  async check([text, picture, isCut]) {
    const table = readCsvTable(text, isCut);
    if (table) assert.ok(table.rows.length <= 1000 && table.columns <= 100);
    const pretty = prettyJson(text);
    if (pretty) assert.ok(pretty.lines.length <= 20_001);
    readTextBeginning(Buffer.from(text), isCut);
    const reads: number[] = [];
    const sizes = [
      imageSize(picture),
      await tiffSize((from, length) => {
        reads.push(length);
        return Promise.resolve(picture.subarray(from, from + length));
      }),
    ];
    assert.ok(reads.length <= 3 && reads.every((length) => length <= 64 * 1024));
    for (const size of sizes) {
      if (size) assert.ok(size.width > 0 && size.height > 0 && Number.isSafeInteger(size.width));
    }
  },
  growth: {
    seeds: [...TEXTS, ...PICTURES],
    words: ['"', ";", ",", "\n", "[", "{", "\\", '"a",', "\xff\xe1\0\x04aa", "\xff"],
    read: (
      text,
    ) => [
      readCsvTable(text, false),
      prettyJson(text),
      readTextBeginning(Buffer.from(text), false),
      imageSize(Buffer.from(text, "latin1")),
    ],
  },
});
