import assert from "node:assert/strict";
import fc from "fast-check";
import { levelOf } from "@/lib/pages/log/log_lines.ts";
import { type RunLog } from "@/lib/pages/log/run_log.ts";
import { stoppedBy } from "@/lib/pages/log/log_sentences.ts";
import { parseRunLog } from "./parsed_log.ts";

function at(second: number, level: string, message: string): string {
  return `2025-11-20 08:${String(Math.floor(second / 60)).padStart(2, "0")}:${
    String(second % 60).padStart(2, "0")
  },250 ${level} ${message}`;
}

const run = [
  at(0, "INFO", "starting"),
  at(2, "INFO", 'HTTP Request: GET https://archive.example/manifest "HTTP/1.1 200 OK"'),
  at(3, "INFO", "[SE-1] 12 pages in manifest"),
  at(4, "INFO", "resume: 2 done, 10 to process"),
  at(5, "INFO", "Initializing model archive/lion"),
  at(10, "INFO", "Running inference on 0003"),
  at(11, "INFO", "HTTP Request: GET https://archive.example/3.jpg"),
  at(12, "INFO", "HTTP Request: GET https://archive.example/4.jpg"),
  at(13, "WARNING", "page 0004 has no lines"),
  at(14, "ERROR", "page 0005 failed"),
  "Traceback (most recent call last):",
  '  File "worker.py", line 3, in run',
  "ValueError: no text",
  at(20, "INFO", "verify: all pages are there"),
  at(22, "INFO", "publishing iiif.json"),
  at(25, "INFO", "[SE-1] COMPLETE 12 pages"),
];

const linesOf = (log: RunLog) => log.stages.flatMap(({ folds }) => folds.flatMap(({ lines }) => lines));

function shape(log: RunLog) {
  return log.stages.map(({ name, folds }) => [name, ...folds.map(({ kind, lines }) => `${kind} ${lines.length}`)]);
}

Deno.test("run log: landmarks group it into stages, and lines of one kind fold within a stage", () => {
  const log = parseRunLog(`${run.join("\n")}\n`);
  assert.deepEqual(shape(log), [
    ["setup", "info 1", "http 1", "info 1"],
    ["resume", "info 1"],
    ["load", "model 1"],
    ["stream", "model 1", "http 2", "warning 1", "error 4"],
    ["verify", "info 1"],
    ["publish", "info 2"],
  ]);
  assert.equal(log.lineCount, run.length);
  assert.equal(log.outcome, "finished");
});

Deno.test("run log: a stage lasts until the next one begins and counts its warnings and errors", () => {
  const [setup, , load, stream, , publish] = parseRunLog(run.join("\n")).stages;
  assert.deepEqual([setup.seconds, load.seconds, stream.seconds, publish.seconds], [4, 5, 10, 3]);
  assert.deepEqual([stream.warnings, stream.errors], [1, 1]);
  assert.equal(parseRunLog("no times here").stages[0].seconds, null);
});

Deno.test("run log: a record is split into time, level and message, another line stays whole", () => {
  const lines = parseRunLog(`${run[0]}\r\nplain\n2025-11-20 08:00:00,1 INFO x\n2025-99-99 08:00:00,250 DEBUG`).stages[0]
    .folds.flatMap((fold) => fold.lines);
  assert.deepEqual(
    lines.map(({ number, time, level, message }) => [number, time, level, message]),
    [
      [1, "08:00:00.250", "INFO", "starting"],
      [2, null, null, "plain"],
      [3, null, null, "2025-11-20 08:00:00,1 INFO x"],
      [4, "08:00:00.250", "DEBUG", ""],
    ],
  );
  assert.equal(lines[3].at, null);
});

Deno.test("run log: a second attempt begins its stages again", () => {
  assert.deepEqual(
    parseRunLog([...run.slice(0, 6), ...run.slice(2, 6)].join("\n")).stages.map(({ name }) => name),
    ["setup", "resume", "load", "stream", "setup", "resume", "load", "stream"],
  );
});

Deno.test("outcome: the last marker counts, within the last 500 lines", () => {
  const complete = "[v] COMPLETE 3 pages";
  const retry = "transient failure in stream: busy";
  const last = "transient failure in stream on the last attempt: busy";
  const cases: [string[], string | null][] = [
    [["still going"], null],
    [[complete], "finished"],
    [[retry], "retrying"],
    [[last], "failed"],
    [["permanent failure in setup: 404"], "failed"],
    [[retry, complete], "finished"],
    [[complete, retry], "retrying"],
    [[complete, ...Array(499).fill("x")], "finished"],
    [[complete, ...Array(500).fill("x")], null],
    [[], null],
  ];
  for (const [lines, outcome] of cases) {
    assert.equal(parseRunLog(lines.join("\n")).outcome, outcome, lines[0]);
  }
});

Deno.test("run log: only its end is shown, from a whole line on, with the numbers of the whole", () => {
  const log = parseRunLog("first\nsecond\nthird\n", 10);
  const lines = log.stages.flatMap((stage) => stage.folds.flatMap((fold) => fold.lines));
  assert.deepEqual(lines.map(({ number, message }) => [number, message]), [[3, "third"]]);
  assert.equal(log.hiddenCharacters, "first\nsecond\n".length);
  assert.equal(log.lineCount, 3);
  const exact = parseRunLog("first\nsecond\n", 7);
  assert.equal(exact.stages[0].folds[0].lines[0].message, "second");
  assert.equal(exact.hiddenCharacters, 6);
  assert.equal(parseRunLog("x".repeat(50), 10).stages[0].folds[0].lines[0].message.length, 10);
  assert.equal(parseRunLog("first\nsecond", Infinity).hiddenCharacters, 0);
});

Deno.test("run log: the printed form of a byte string is unwrapped", () => {
  const lines = (text: string) => parseRunLog(text).stages[0].folds[0].lines.map(({ message }) => message);
  assert.deepEqual(lines(String.raw`b'one\ntwo \xc3\xa5 it\'s \\n \q\n'`), ["one", "two å it's \\n \\q"]);
  assert.deepEqual(lines(`b"it's"\n`), ["it's"]);
  assert.deepEqual(lines("b'open"), ["b'open"]);
  assert.deepEqual(lines("b'two\nlines'"), ["b'two", "lines'"]);
});

Deno.test("run log: an empty one has no stage", () => {
  const { stages, outcome, lineCount, firstNumber, counts } = parseRunLog("");
  assert.deepEqual([stages, outcome, lineCount, firstNumber, counts.all], [[], null, 0, 1, 0]);
});

Deno.test("run log: landmarks count behind the tag of the volume as well", () => {
  const tagged = [
    at(0, "INFO", "[SE-1] pipeline lion-v2, attempt 1"),
    at(1, "INFO", "[SE-1] 3 pages in manifest"),
    at(2, "INFO", "[SE-1] resume: 0 done, 3 to process"),
    at(3, "INFO", "Initializing Segmentation: Riksarkivet/yolov9-lines-within-regions-1"),
    at(4, "INFO", "[SE-1] running inference on 3 pages"),
    at(5, "INFO", "[SE-1] verify: reading the list of results"),
    at(6, "INFO", "[SE-1] publish: writing iiif.json and manifest.json"),
    at(7, "INFO", "[SE-1] COMPLETE 3 pages"),
  ];
  assert.deepEqual(parseRunLog(tagged.join("\n")).stages.map(({ name }) => name), [
    "setup",
    "resume",
    "load",
    "stream",
    "verify",
    "publish",
  ]);
});

Deno.test("run log: only a worker's own words for a failure name a stage", () => {
  const stages = (message: string) => parseRunLog(at(1, "ERROR", message)).stages.map(({ name }) => name);
  assert.deepEqual(stages("[SE-1] transient failure in verify: 3 missing"), ["verify"]);
  assert.deepEqual(stages("[SE-1] permanent failure in publish: denied"), ["publish"]);
  assert.deepEqual(stages("page 0003: failure in stream of bytes"), ["setup"]);
  assert.deepEqual(stages("transient failure in nowhere: x"), ["setup"]);
  const log = parseRunLog([run[2], at(5, "ERROR", "permanent failure in config: no bucket"), "  detail"].join("\n"));
  assert.deepEqual(shape(log), [["setup", "info 1"], ["config", "error 2"]]);
});

Deno.test("run log: colours of terminals are left out, other characters that would not be seen are marked", () => {
  const escape = "\u001b";
  const messages = (text: string) => linesOf(parseRunLog(text)).map(({ message }) => message);
  assert.deepEqual(messages(`${escape}[31m${at(1, "ERROR", `red ${escape}[0mplain`)}`), ["red plain"]);
  assert.deepEqual(messages(`${escape}]8;;https://a.example/\u0007link${escape}]8;;\u0007 ${escape}(`), ["link ␛("]);
  assert.deepEqual(messages("\u0000\t\u009b\u202eab"), ["␀\t<U+009B><U+202E>ab"]);
  assert.deepEqual(
    messages(`\u009b31mred\u009b0m \u009d0;title\u009c${escape}(B${escape}7${escape}P1$r0m${escape}\\end`),
    ["red end"],
  );
});

Deno.test("run log: each line counts for one level, and a line below a record for that of the record", () => {
  const log = parseRunLog([
    at(1, "DEBUG", "model cache"),
    at(2, "INFO", "a"),
    "plain",
    at(3, "WARNING", "slow"),
    "  of 8.0 s",
    at(4, "CRITICAL", "stopped"),
    "Traceback (most recent call last):",
    "ValueError: x",
    "plain again",
  ].join("\n"));
  assert.deepEqual(log.counts, { all: 9, debug: 1, info: 3, warning: 2, error: 3 });
  const levels = linesOf(log).map(levelOf).join(" ");
  assert.equal(levels, "debug info info warning warning error error error info");
});

Deno.test("run log: only a worker's own line stands for a middle that was left out", () => {
  const cut = (text: string) => parseRunLog(text).cutNumber;
  const marker = "... [log truncated: middle dropped by htrflow_batch.logship] ...";
  assert.equal(cut(`${run.join("\n")}\n${marker}\nrest`), run.length + 1);
  assert.equal(cut("[... log truncated: 1234567 bytes dropped ...]"), 1);
  const others = [
    at(1, "INFO", marker),
    "/usr/lib/PIL/TiffImagePlugin.py:870: UserWarning: Truncated File Read",
    "libpng warning: 12 extra bytes skipped",
    "[error] 2000 lines removed",
    "[log truncated]",
    `x ${marker}`,
    ...run,
  ];
  assert.deepEqual(others.map(cut), others.map(() => null));
});

Deno.test("run log: its span and its pages are known, also where its beginning is left out", () => {
  const times = ({ startedAt, endedAt }: RunLog) => Number(endedAt) - Number(startedAt);
  assert.equal(times(parseRunLog(run.join("\n"))), 25_000);
  const end = parseRunLog(run.join("\n"), 100);
  assert.ok(end.firstNumber > 10);
  assert.equal(times(end), 25_000);
  assert.equal(parseRunLog(run.join("\n")).pageCount, 12);
  assert.equal(parseRunLog(run.slice(0, 2).join("\n")).pageCount, null);
  assert.deepEqual([parseRunLog("x").startedAt, parseRunLog("x").endedAt], [null, null]);
  const overNight = parseRunLog(
    "2025-11-20 23:59:59,000 INFO a\n2025-11-21 00:00:01,500 INFO b\n2025-11-21 24:00:01,500 INFO b",
  );
  assert.equal(times(overNight), 2500);
});

Deno.test("run log: where its beginning is left out, it goes on in the stage that the beginning has led to", () => {
  const rest = Array(20).fill(at(30, "INFO", "0007: 20 lines"));
  const first = (...lines: string[]) => parseRunLog([...lines, ...rest].join("\n"), 300).stages[0].name;
  assert.equal(first(run[2], run[3]), "stream");
  assert.equal(first(run[2]), "resume");
  assert.equal(first(run[0]), "setup");
});

const traceback = (
  exception: string,
) => ["Traceback (most recent call last):", '  File "a.py", line 3, in f', exception];
const DIRECT_CAUSE = ["", "The above exception was the direct cause of the following exception:", ""];
const DURING = ["", "During handling of the above exception, another exception occurred:", ""];
const GROUP = [
  "  + Exception Group Traceback (most recent call last):",
  '  |   File "a.py", line 3, in f',
  "  | ExceptionGroup: pages (2 sub-exceptions)",
  "  +-+---------------- 1 ----------------",
  "    | Traceback (most recent call last):",
  '    |   File "a.py", line 3, in f',
  "    | UploadOutage: 1",
  "    +---------------- 2 ----------------",
  "    | Exception Group Traceback (most recent call last):",
  "    | ExceptionGroup: pages (1 sub-exception)",
  "    +-+---------------- 1 ----------------",
  "      | ValueError: 2",
  "      +------------------------------------",
];

Deno.test("run log: chained tracebacks are one error, with the message of the record that they continue", () => {
  const chains: string[][] = [
    [...traceback("ValueError: x"), ...DURING, ...traceback("batch.stream.UploadOutage: 5 failures")],
    [...traceback("Outage: of several"), "lines", ...DIRECT_CAUSE, ...traceback("KeyError"), ...DURING, ...GROUP],
    [...GROUP, ...DIRECT_CAUSE, ...traceback("Outage: x")],
    [
      "concurrent.futures.process._RemoteTraceback: ",
      '"""',
      ...traceback("Outage: remote"),
      '"""',
      ...DIRECT_CAUSE,
      ...traceback("Outage: remote"),
    ],
    ["a message of several lines", ...traceback("Outage: x")],
    ["batch.Outage: without frames"],
  ];
  for (const chain of chains) {
    for (const level of ["ERROR", "CRITICAL", "WARNING"]) {
      const [stage] = parseRunLog([at(1, level, "page 1 failed"), ...chain, at(2, "INFO", "next")].join("\n")).stages;
      assert.deepEqual([stage.errors, stage.warnings], level === "WARNING" ? [0, 1] : [1, 0], chain[0]);
      assert.equal(stoppedBy(stage), level === "WARNING" ? null : "page 1 failed");
    }
  }
});

Deno.test("run log: tracebacks that are not chained to the record before them are errors of their own", () => {
  const stage = (...lines: string[]) => parseRunLog(lines.join("\n")).stages[0];
  const failed = [at(1, "ERROR", "page 1 failed"), ...traceback("Outage: x")];
  assert.equal(stage(...failed, ...traceback("Outage: y")).errors, 2);
  assert.equal(stage(...failed, "Exception in thread Thread-2 (run):", ...traceback("Outage: y")).errors, 2);
  assert.equal(stoppedBy(stage(...failed, ...GROUP, "plain")), "ValueError: 2");
  const bare = stage(at(1, "INFO", "starting"), ...traceback("Outage: x"), ...DURING, ...traceback("Outage: y"));
  assert.deepEqual([bare.errors, stoppedBy(bare)], [1, "Outage: y"]);
  assert.deepEqual(linesOf(parseRunLog([...failed, ...GROUP, "plain"].join("\n"))).at(-1)?.kind, "info");
});

const messagesOf = (text: string) =>
  linesOf(parseRunLog(text)).map(({ level, message }) => `${level ?? ""}|${message}`);
const bar = (done: number) => `pages:  ${done * 5}%|█▌     | ${done}/20 [00:02<00:18,  1.00s/it]`;

Deno.test("run log: an error directly behind a progress bar is an error, and words in a line are not", () => {
  const frames = '  File "a.py", line 1, in f\n';
  for (
    const error of [
      `Traceback (most recent call last):\n${frames}ValueError: boom`,
      `  + Exception Group Traceback (most recent call last):\n  | ${frames}  | ExceptionGroup: two (1 sub-exception)`,
      `Exception in thread Thread-1:\nTraceback (most recent call last):\n${frames}ValueError: boom`,
    ]
  ) {
    const lines = linesOf(parseRunLog(`${run[0]}\n\r${bar(1)}\r${bar(2)}${error}\n`));
    assert.equal(lines.filter(({ opensError }) => opensError).length, 1, error);
  }
  const words = `${at(1, "INFO", "5% failed with Traceback (most recent call last): none")}\r\nno\rmore`;
  assert.ok(linesOf(parseRunLog(words)).every(({ opensError }) => !opensError));
});

Deno.test("run log: the last state of a progress bar is a line, and a record behind it is a record", () => {
  const bars = `\r${bar(1)}\r${bar(2)}`;
  assert.deepEqual(messagesOf(`${run[0]}\n${bars}${at(2, "ERROR", "torn")}\n\r${bar(3)}\r${bar(4)}\n${run[0]}\n`), [
    "INFO|starting",
    `|${bar(2)}`,
    "ERROR|torn",
    `|${bar(4)}`,
    "INFO|starting",
  ]);
  assert.deepEqual(messagesOf(`${bar(2)}${at(2, "ERROR", "torn")}`), [`|${bar(2)}`, "ERROR|torn"]);
  // Cleared, coloured, nested and without percents.
  assert.deepEqual(messagesOf(`${bars}\r${" ".repeat(40)}\r\n`), [`|${bar(2)}`]);
  assert.deepEqual(messagesOf(`\u001b[2K\r\u001b[32m${bar(1)}\u001b[0m\r\u001b[31m${at(2, "ERROR", "red\u001b[0m")}`), [
    `|${bar(1)}`,
    "ERROR|red",
  ]);
  assert.deepEqual(messagesOf(`\r${bar(1)}\n\r${bar(8)}\u001b[A\n\r${bar(9)}\u001b[A\r${bar(2)}\n`), [`|${bar(2)}`]);
  assert.deepEqual(messagesOf("loading |\rloading /\rloading -\rdone\r\n3it [00:01, 2.1it/s]\r4it [00:02, ?it/s]\n"), [
    "|loading -",
    "|done",
    "|4it [00:02, ?it/s]",
  ]);
});

Deno.test("run log: carriage returns end lines where a log has no other line ends", () => {
  const lines = [at(1, "INFO", "a"), at(2, "ERROR", "b"), ...traceback("ValueError: x"), at(3, "INFO", "c")];
  for (const end of ["\r", "\r\n", "\r\r\n", "\n"]) {
    assert.deepEqual(messagesOf(lines.join(end) + end), messagesOf(lines.join("\n")), JSON.stringify(end));
  }
});

Deno.test("run log: bars in any place and chunk take no record away", () => {
  const part = fc.oneof(
    fc.nat({ max: 20 }).map((done) => `\r${bar(done)}`),
    fc.constantFrom("\r", "\n", "\r\n", "\u001b[A", "\u001b[K", "\r   "),
    fc.nat({ max: 99 }).map((page) => `${at(page % 60, "ERROR", `page ${page}`)}\n`),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const log = parseRunLog(parts.join(""), Infinity);
      const wanted = parts.flatMap((part) => /page \d+/.exec(part)?.[0] ?? []);
      assert.deepEqual(linesOf(log).filter(({ level }) => level !== null).map(({ message }) => message), wanted);
    }),
  );
});
