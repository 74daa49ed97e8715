import assert from "node:assert/strict";
import fc from "fast-check";

import { isShown, LEVEL_FILTERS, summarizeRequests } from "@/lib/pages/log/log_lines.ts";
import {
  blocksOf,
  findLinkedLine,
  linesOf,
  readLineLink,
  rowsOf,
  searchLines,
  writeLineLink,
} from "@/lib/pages/log/log_rows.ts";
import { formatOffset, requestsSentence } from "@/lib/pages/log/log_sentences.ts";
import { parseRunLog } from "./parsed_log.ts";

const record = (second: number, text: string, ms = "000") =>
  `2026-11-21 08:15:${String(second).padStart(2, "0")},${ms} ${text}`;
const request = (second: number, status: number | string = 200, ms?: string) =>
  record(second, `INFO HTTP Request: GET https://a.example/${second} "HTTP/1.1 ${status} X"`, ms);

const sentence = (...lines: string[]) =>
  requestsSentence(summarizeRequests(parseRunLog(lines.join("\n")).stages[0].folds[0].lines));

Deno.test("requests: one sentence with their statuses and the median time from one to the next", () => {
  assert.equal(
    sentence(request(1), request(1, 200, "210"), request(1, 200, "400"), request(9)),
    "4 requests, all answered 200, median 0.21 s apart",
  );
  assert.equal(
    sentence(request(1), request(2, 503), request(3)),
    "3 requests: 2 answered 200, 1 answered 503, median 1.00 s apart",
  );
  const bare = record(1, "INFO HTTP Request: GET https://a.example/");
  assert.equal(sentence(bare, bare), "2 requests, median 0.00 s apart");
  assert.equal(sentence(bare), "1 request");
  assert.match(sentence(bare, request(2)), /1 without a status/);
});

/** Rows of a log's first stage by the numbers of their lines, those of folded requests in brackets. */
function shape(lines: readonly string[], filter: Parameters<typeof rowsOf>[1] = "all"): string {
  const numbers = (lines: readonly { readonly number: number }[]) => lines.map(({ number }) => number).join(" ");
  return rowsOf(parseRunLog(lines.join("\n")).stages[0], filter)
    .map((row) => "requests" in row ? `[${numbers(row.requests)}]${row.line?.number ?? ""}` : String(row.number))
    .join(" ");
}

Deno.test("rows: three requests in a row fold, two do not; a filter leaves out the lines of other levels", () => {
  const lines = [request(1), request(2), record(3, "WARNING w"), request(4), request(5), request(6)];
  assert.equal(shape(lines), "1 2 3 [4 5 6]");
  assert.equal(shape(lines, "warning"), "3");
  assert.equal(shape(lines, "error"), "");
});

Deno.test("rows: one or two answered requests fold into the line behind them, if that says that all went well", () => {
  const page = (second: number) => record(second, "INFO page read");
  assert.equal(shape([request(1), page(2), request(3), request(4, 304), page(5), page(6)]), "[1]2 [3 4]5 6");
  assert.equal(shape([request(1), page(2), record(3, "WARNING slow"), request(4), page(5)], "info"), "[1]2 [4]5");
  const failures = [
    request(1),
    record(2, "ERROR torn"),
    request(3, 503),
    page(4),
    request(5),
    request(6, 404),
    page(7),
  ];
  assert.equal(shape(failures), "1 2 3 4 5 6 7");
  assert.equal(shape([request(1), "  untimed"]), "1 2");
  assert.equal(shape([record(1, "INFO HTTP Request: GET https://a.example/"), page(2)]), "1 2");
  // Nothing is known of what comes of a request while the log ends with it.
  assert.equal(shape([page(1), request(2)]), "1 2");
});

Deno.test("rows: each line of any log is in exactly one filter, row and block, in order", () => {
  const line = fc.oneof(
    fc.constantFrom(
      request(1),
      record(2, "ERROR x"),
      "  File x",
      record(3, "WARNING y"),
      record(4, "DEBUG z"),
      record(5, "INFO a"),
      "plain",
    ),
    fc.nat({ max: 30_000 }).map((length) => "x".repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 300, size: "max" }), (lines) => {
      const { stages } = parseRunLog(lines.join("\n"), Infinity);
      const own = LEVEL_FILTERS.filter((filter) => filter !== "all");
      const all = stages.flatMap(({ folds }) => folds.flatMap(({ lines }) => lines));
      assert.ok(all.every((line) => own.filter((filter) => isShown(line, filter)).length === 1));
      for (const filter of LEVEL_FILTERS) {
        const blocks = stages.flatMap((stage) => blocksOf(rowsOf(stage, filter)));
        const shown = blocks.flatMap(({ rows }) => rows.flatMap(linesOf));
        assert.deepEqual(shown, all.filter((line) => isShown(line, filter)));
        assert.ok(blocks.every(({ rows }) => rows.length <= 100));
        assert.ok(
          blocks.every(({ rows, first, last }) =>
            linesOf(rows[0])[0].number === first && linesOf(rows[rows.length - 1]).at(-1)?.number === last
          ),
        );
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("search: it finds what is shown, without regard to case, as plain text, within the filter", () => {
  const { stages } = parseRunLog([
    record(1, "INFO Sidan är tom (1/2)", "250"),
    record(2, "ERROR sidan ÄR"),
    "Traceback (most recent call last):",
    record(3, "INFO [a-z]+"),
  ].join("\n"));
  const found = (query: string, filter: Parameters<typeof searchLines>[1] = "all") =>
    searchLines(stages, filter, query)?.lines;
  assert.deepEqual(found("SIDAN är"), [1, 2]);
  assert.deepEqual(found("sidan", "error"), [2]);
  assert.deepEqual(found("(1/2)"), [1]);
  assert.deepEqual(found("[a-z]+"), [4]);
  assert.deepEqual(found("08:15:01.250 info sidan"), [1]);
  assert.deepEqual(found("nothing"), []);
  assert.equal(found("  "), undefined);
});

Deno.test("line links: the number of the whole file, and behind a cut the time as well", () => {
  const log = parseRunLog([
    record(1, "INFO a"),
    "[log truncated: 5 bytes dropped]",
    record(2, "INFO b", "500"),
    record(3, "INFO c"),
    record(2, "INFO d", "500"),
  ].join("\n"));
  const lines = log.stages.flatMap(({ folds }) => folds.flatMap(({ lines }) => lines));
  assert.deepEqual(lines.map((line) => writeLineLink(line, log)), [
    "#L1",
    "#L2",
    "#L3@08:15:02.500",
    "#L4@08:15:03.000",
    "#L5@08:15:02.500",
  ]);
  const found = (hash: string) => {
    const link = readLineLink(hash);
    return link && findLinkedLine(log, link)?.number;
  };
  assert.deepEqual(["#L1", "#L3@08:15:02.500", "#L9@08:15:03.000", "#L4@08%3A15%3A02.500"].map(found), [1, 3, 4, 3]);
  assert.deepEqual(["#L9", "#L3@08:15:09.000", "#l1", "#L", "#log", ""].map(found), [
    undefined,
    undefined,
    null,
    null,
    null,
    null,
  ]);
});

Deno.test("offsets: the time since the start, as wide as a clock", () => {
  assert.deepEqual([0, 65_250, 360_000_001, -1].map(formatOffset), [
    "+00:00:00.000",
    "+00:01:05.250",
    "+100:00:00.001",
    "−00:00:00.001",
  ]);
});
