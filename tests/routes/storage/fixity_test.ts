import assert from "node:assert/strict";

import type { FixityStatus, ListedSchedules } from "@/lib/tasks/fixity/responses.ts";
import { LAST_CHECK, NEW_CHECK, NEW_SCHEDULE } from "@/tests/lib/pages/storage/fixity_samples.ts";
import { PAGES_NOW, type Seen, storagePages, textOf } from "./fake_gateway.ts";

const ACCOUNT = "account=archive%2Folle";
const LIST = `/fixity?${ACCOUNT}`;
const TASK = NEW_CHECK.task_id;
const CHECK = `${LIST}&bucket=letters&task=${TASK}`;
const RUNNING = {
  status: "processing",
  started_at: new Date(PAGES_NOW - 60_000).toISOString(),
  ended_at: null,
} as const;

const status = (more: Partial<FixityStatus> = {}): FixityStatus => ({
  ...NEW_CHECK,
  prefix: "1794/",
  files: 10,
  bytes: 5_000_000,
  intact: 10,
  proved_by: { ...NEW_CHECK.proved_by, checksum: 4, etag: 6 },
  rate: 1_000_000,
  ...more,
});

interface Gateway {
  readonly buckets?: readonly string[] | number;
  readonly tasks?: Readonly<Record<string, readonly FixityStatus[]>>;
  readonly report?: string | number;
  readonly started?: Response;
  readonly schedules?: Readonly<ListedSchedules["schedules"]>;
  readonly partial?: boolean;
}

/** A gateway with these checks by bucket. */
function gateway(
  { buckets = ["letters", "maps"], tasks = {}, report, started, schedules, partial = false }: Gateway = {},
) {
  return ({ call }: Seen): Response | null => {
    const [method, path] = call.split(" ");
    if (path === "/buckets") {
      if (typeof buckets === "number") return Response.json({ detail: "no" }, { status: buckets });
      return Response.json({ buckets: buckets.map((Name) => ({ Name })) });
    }
    if (path === "/fixity/schedules" && schedules) return Response.json({ schedules, partial });
    const [, bucket, task, end] = /^\/buckets\/([^/]+)\/fixity(?:\/([^/]+))?(\/report)?$/.exec(path) ?? [];
    if (bucket === undefined) return null;
    if (method === "POST") return started ?? Response.json(status({ ...RUNNING }), { status: 202 });
    if (method === "DELETE") return Response.json({ task_id: task, status: "canceling" });
    const found = tasks[bucket] ?? [];
    if (end) return typeof report === "number" ? new Response(null, { status: report }) : new Response(report ?? "");
    if (task === undefined) return Response.json({ tasks: found });
    const one = found.find(({ task_id }) => task_id === task);
    return one ? Response.json(one) : null;
  };
}

const reportOf = (rows: readonly unknown[]) =>
  `{"task_id":"${TASK}","rows":[${rows.map((row) => `\n${JSON.stringify(row)}`).join(",")}\n]}\n`;

const damaged = () => status({ intact: 7, changed: 2, unreadable: 1, unproven: 3, damaged: 3, rows: 6 });

Deno.test("fixity page: checks of all buckets, those that run first, with counts and their base", async () => {
  const { open, seen } = storagePages(gateway({
    tasks: {
      letters: [status()],
      maps: [status({ ...RUNNING, task_id: `${TASK}2`, prefix: "", files: 4, intact: 4, bytes: 4_000_000 })],
    },
  }));
  const { status: code, html } = await open(LIST);
  assert.equal(code, 200);
  const text = textOf(html);
  assert.match(text, /All of maps running 4 objects read so far, 4\.0 MB 1\.0 MB\/s .* running for 1 min/);
  assert.match(text, /letters\/1794\/ no damage 10 of 10 objects intact 5\.0 MB .* took 12 min/);
  assert.ok(text.indexOf("All of maps") < text.indexOf("letters/1794/"));
  assert.match(text, /1 check running 1 check ended/);
  assert.doesNotMatch(html, /class="[^"]*\bbad\b/);
  assert.deepEqual(
    seen.map(({ call }) => call).filter((call) => call.endsWith("/fixity")).sort(),
    ["GET /buckets/letters/fixity", "GET /buckets/maps/fixity"],
  );
});

Deno.test("fixity page: a running check is measured by the last one of the same place, and says how much is left", async () => {
  const before = status({ task_id: "before", intact: 20, bytes: 65_000_000 });
  const { open } = storagePages(gateway({ tasks: { letters: [status({ ...RUNNING }), before] } }));
  const { html } = await open(LIST);
  assert.match(textOf(html), /10 of about 20 objects read, 5\.0 MB .* about 1 min left, running for 1 min/);
});

Deno.test("fixity page: damage alone is red, with a sentence that says what to do", async () => {
  for (
    const [more, isRed] of [[{ changed: 1, damaged: 1, intact: 9 }, true], [
      { status: "failed", error: "no" } as const,
      false,
    ]] as const
  ) {
    const { html } = await storagePages(gateway({ tasks: { letters: [status(more)] } })).open(LIST);
    assert.equal(/class="[^"]*\bbad\b/.test(html), isRed);
    if (isRed) {
      assert.match(textOf(html), /1 of 10 objects is damaged\. Restore it from an older version or another copy/);
    } else assert.match(textOf(html), /The check failed: no\. Start it again\./);
  }
});

Deno.test("fixity page: where schedules of other accounts may be missing, it says so beside those that are there", async () => {
  for (const [schedules, partial] of [[[NEW_SCHEDULE], true], [[], true], [[NEW_SCHEDULE], false]] as const) {
    const text = textOf((await storagePages(gateway({ schedules, partial })).open(LIST)).html);
    assert.equal(text.includes("nightly"), schedules.length > 0);
    assert.equal(text.includes("The schedules of other accounts could not be read."), partial);
  }
});

Deno.test("fixity page: an account that may list no buckets types a name, and sees the checks of that bucket", async () => {
  const checks = Array.from({ length: 50 }, (_, n) => status({ task_id: `${TASK}${n}` }));
  const { open, seen } = storagePages(gateway({ buckets: 403, tasks: { letters: checks } }));
  const { html } = await open(LIST);
  assert.match(html, /<form class="shown-bucket" action="\/fixity">/);
  assert.match(html, /name="account" value="archive\/olle".*name="show" value/);
  // Nothing was looked at, so nothing is said about checks.
  assert.match(textOf(html), /may not list buckets\. Type the name of one to see its checks/);
  assert.doesNotMatch(textOf(html), /no checks/);
  assert.deepEqual(seen.map(({ call }) => call).filter((call) => call.includes("fixity")), ["GET /fixity/schedules"]);

  const shown = (await open(`${LIST}&show=letters`)).html;
  assert.match(textOf(shown), /10 of 10 objects intact/);
  assert.match(shown, /<details class="new-form">/);
  assert.match(shown, /name="bucket" value="letters"/);
  const [, older] = /href="([^"]*)">Older checks/.exec(shown) ?? [];
  assert.match(textOf((await open((older ?? "").replaceAll("&amp;", "&"))).html), /10 of 10 objects intact/);

  assert.match(textOf((await open(`${LIST}&show=maps`)).html), /This account has no checks of maps\./);
  assert.match((await open(`${LIST}&bucket=letters`)).html, /name="bucket" value="letters"/);
});

Deno.test("fixity page: a name that no bucket can have is said to be none, and its checks are not called unread", async () => {
  const { open } = storagePages((seen) =>
    seen.call === "GET /buckets/Mäps/fixity" || seen.call.includes("M%C3%A4ps")
      ? Response.json({ detail: "no" }, { status: 422 })
      : gateway({ buckets: 403 })(seen)
  );
  for (const name of ["M%C3%A4ps", "..", "."]) {
    const text = textOf((await open(`${LIST}&show=${name}`)).html);
    assert.match(text, /No bucket can have this name/);
    assert.doesNotMatch(text, /could not be read|no checks/);
  }
});

Deno.test("fixity page: the store's outage is its status and a sentence; checks that cannot be read are counted", async () => {
  const away = await storagePages(gateway({ buckets: 503 })).open(LIST);
  assert.equal(away.status, 503);
  assert.match(textOf(away.html), /The store is overloaded/);
  const { open } = storagePages((seen) =>
    seen.call.includes("/letters/") ? new Response(null, { status: 502 }) : gateway()(seen)
  );
  assert.match(textOf((await open(LIST)).html), /The checks of 1 bucket could not be read/);
});

Deno.test("fixity page: a link fills in the form, and line breaks of a prefix arrive as they are", async () => {
  const { open, send, seen } = storagePages(gateway());
  const { html } = await open(`${LIST}&bucket=maps&prefix=${encodeURIComponent("a\n<b>")}`);
  assert.match(html, /<details class="new-form" open>/);
  assert.match(html, /<option value="maps" selected>|<option selected value="maps">/);
  const [, exact] = /name="exact_prefix" value="([^"]*)"/.exec(html) ?? [];
  assert.equal(exact, "a%0A%3Cb%3E");
  await send(LIST, { act: "start", bucket: "maps", exact_prefix: exact });
  assert.deepEqual(seen.at(-1)?.body, { prefix: "a\n<b>" });
});

const CHOICES = {
  manifest: "lists/SHA256SUMS",
  manifest_bucket: "maps",
  manifest_root: "/",
  bag: "1",
  baseline: TASK,
  etags: "ignore",
  report_to: "reports/",
  rate: "0,5",
  all_versions: "1",
  full: "1",
};

Deno.test("fixity form: every choice of the operation can be made in it", async () => {
  const { open, send, seen } = storagePages(gateway());
  const { html } = await open(LIST);
  for (const name of Object.keys(CHOICES)) {
    assert.match(html, new RegExp(`<(?:input|select)[^>]* name="${name}"`), name);
  }
  assert.match(html, /<details class="choices">/);
  const { status: code, location } = await send(LIST, { act: "start", bucket: "letters", prefix: "1794/", ...CHOICES });
  assert.deepEqual([code, location], [303, CHECK]);
  assert.equal(seen.at(-1)?.call, "POST /buckets/letters/fixity");
  assert.deepEqual(seen.at(-1)?.body, {
    prefix: "1794/",
    rate: 500_000,
    all_versions: true,
    full: true,
    manifest: "lists/SHA256SUMS",
    manifest_bucket: "maps",
    manifest_root: "",
    bag: true,
    baseline: TASK,
    etags: "ignore",
    report_to: "reports/",
  });
});

Deno.test("fixity form: a choice that the server does not take is named, and all choices stay as they were made", async () => {
  const fields: [string, RegExp][] = [
    ["manifest", /Invalid value for “Key of a manifest”: <no>/],
    ["manifest_root", /Invalid value for “Its paths begin at”: <no>/],
    ["bag", /Invalid value for “A bag \(BagIt\): all its manifests”: <no>/],
    ["baseline", /Invalid value for “Earlier check”: <no>/],
    ["report_to", /Invalid value for “Report: keys begin with”: <no>/],
  ];
  for (const [field, sentence] of fields) {
    const started = Response.json({ detail: `${field}: <no>` }, { status: 422 });
    const { send } = storagePages(gateway({ started }));
    const page = await send(LIST, { act: "start", bucket: "letters", ...CHOICES });
    assert.equal(page.status, 422);
    assert.match(textOf(page.html), sentence);
    assert.match(page.html, /<details class="choices" open>/);
    const [invalid] = /<(?:input|select)[^>]*aria-invalid[^>]*>/.exec(page.html) ?? [];
    assert.equal(/ name="([^"]*)"/.exec(invalid ?? "")?.[1], field);
    for (const [name, value] of Object.entries(CHOICES)) {
      const [control] = new RegExp(`<(?:input|select)[^>]* name="${name}".*?>`).exec(page.html) ?? [];
      const isKept = control?.startsWith("<select")
        ? new RegExp(`<option[^>]*value="${value}"[^>]*selected|<option[^>]*selected[^>]*value="${value}"`).test(
          page.html,
        )
        : control?.includes(`value="${value}"`) && (!control.includes("checkbox") || control.includes("checked"));
      assert.ok(isKept, `${name}: ${control}`);
    }
  }
});

Deno.test("fixity form: checks with a row of each object can be chosen to compare with, and a check leads to the same again", async () => {
  const full = status({
    full: true,
    rows: 10,
    manifest: { bucket: "letters", keys: ["m/SUMS"], root: "", entries: 10, invalid_lines: 0 },
  });
  const other = status({ task_id: "other", full: true, all_versions: true });
  const { open } = storagePages(gateway({ tasks: { letters: [full, other, status({ task_id: "brief" })] } }));
  const { html } = await open(LIST);
  const [select] = /<select name="baseline".*?<\/select>/s.exec(html) ?? [];
  assert.match(textOf(select ?? ""), /none 14 January 2027, 08:00:00 UTC, letters\/1794\/, 10 objects/);
  assert.equal(select?.match(/<option/g)?.length, 2);

  const page = (await open(CHECK)).html;
  const [link] = /href="([^"]*baseline=[^"]*)"[^>]*>Compare a new check with this one/.exec(page) ?? assert.fail(page);
  const form = (await open((/href="([^"]*)"/.exec(link)?.[1] ?? "").replaceAll("&amp;", "&"))).html;
  assert.match(form, /name="manifest" value="m\/SUMS"/);
  assert.match(form, /name="manifest_root" value="\/"/);
  assert.match(form, new RegExp(`<option[^>]*value="${TASK}"[^>]*selected|selected[^>]*value="${TASK}"`));
  // A link of another site must not fill in what is written.
  assert.doesNotMatch((await open(`${LIST}&bucket=letters&report_to=x`)).html, /name="report_to" value="x"/);
});

Deno.test("fixity form: only checks of its bucket can be chosen to compare with, and one that was refused is named", async () => {
  const of = (task_id: string) => status({ task_id, full: true, rows: 10 });
  const { open, send } = storagePages(gateway({
    tasks: { letters: [of("of-letters")], maps: [of("of-maps")] },
    started: Response.json({ detail: "baseline: <no>" }, { status: 422 }),
  }));
  const offered = (html: string) => {
    const [select] = /<select name="baseline".*?<\/select>/s.exec(html) ?? assert.fail(html);
    return [...select.matchAll(/value="(of-[^"]*)"([^>]*)>([^<]*)/g)].map(([, task, attributes, text]) =>
      `${task}${attributes.trim()} ${text.split(", ").at(-2)}`
    );
  };
  // Where none is named, the form has the first bucket.
  assert.deepEqual(offered((await open(LIST)).html), ["of-letters letters/1794/"]);
  assert.deepEqual(offered((await open(`${LIST}&bucket=maps`)).html), ["of-maps maps/1794/"]);
  assert.deepEqual(offered((await open(`${LIST}&show=maps`)).html), ["of-maps maps/1794/"]);
  const { html } = await send(LIST, { act: "start", bucket: "maps", baseline: "of-letters" });
  assert.deepEqual(offered(html), ["of-lettersselected letters/1794/", "of-maps maps/1794/"]);
});

Deno.test("fixity form: the slowest check that the gateway takes leads to one that the form takes", async () => {
  const { open, send, seen } = storagePages(gateway({ tasks: { letters: [status({ rate_limit: 65_536 })] } }));
  const [, link] = /href="([^"]*)"[^>]*>Check again/.exec((await open(CHECK)).html) ?? [];
  const { html } = await open((link ?? "").replaceAll("&amp;", "&"));
  const [, least, rate] = /name="rate" min="([^"]*)" step="any" value="([^"]*)"/.exec(html) ?? [];
  assert.deepEqual([least, rate], ["0.1", "0.1"]);
  assert.equal((await send(LIST, { act: "start", bucket: "letters", rate })).status, 303);
  assert.equal((seen.at(-1)?.body as { rate: number }).rate, 100_000);
});

Deno.test("fixity form: what is wrong with it stands beside what was typed", async () => {
  const invalid = (field: string) =>
    Response.json({ detail: [{ type: "x", loc: ["body", field], msg: "<no>" }] }, { status: 422 });
  const cases: [Record<string, string>, Response | undefined, number, RegExp, string | null][] = [
    [{ bucket: "" }, undefined, 422, /Type the name of the bucket/, "bucket"],
    [{ rate: "fast" }, undefined, 422, /The rate is a number of at least 0\.1 MB/, "rate"],
    [{ rate: "-3" }, undefined, 422, /The rate is a number/, "rate"],
    [{}, Response.json({ detail: "no" }, { status: 404 }), 404, /There is no bucket of this name/, "bucket"],
    [{}, Response.json({ detail: "no" }, { status: 403 }), 403, /may not list this bucket/, "bucket"],
    [{}, invalid("prefix"), 422, /Invalid value for “Only keys that begin with”: <no>/, "prefix"],
    [{}, Response.json({ detail: "no" }, { status: 429 }), 429, /Too many tasks are running/, null],
    [{}, Response.json({ detail: "no" }, { status: 504 }), 504, /The store does not answer in time/, null],
  ];
  for (const [fields, started, code, sentence, field] of cases) {
    const { send } = storagePages(gateway({ started }));
    const page = await send(LIST, { act: "start", bucket: "letters", prefix: "typed/", ...fields });
    assert.equal(page.status, code);
    assert.match(textOf(page.html), sentence);
    assert.match(page.html, /value="typed\/"/);
    const [invalid] = /<(?:input|select)[^>]*aria-invalid[^>]*>/.exec(page.html) ?? [];
    assert.equal(/ name="([^"]*)"/.exec(invalid ?? "")?.[1] ?? null, field);
  }
});

Deno.test("fixity form: a page of another site starts and cancels nothing", async () => {
  const { send, seen } = storagePages(gateway());
  for (const act of ["start", "cancel"]) {
    const { status: code } = await send(LIST, { act, bucket: "letters", task: TASK }, "http://evil.example");
    assert.equal(code, 403);
  }
  assert.deepEqual(seen, []);
});

Deno.test("fixity pages: names that would make another path lead to no request", async () => {
  const { open, send, seen } = storagePages(gateway({ tasks: { letters: [status()] } }));
  for (const [bucket, task] of [["..", "schedules"], [".", TASK], ["letters", ".."], ["letters", "."]]) {
    const page = await open(`${LIST}&bucket=${bucket}&task=${task}`);
    assert.equal(page.status, 404);
    assert.match(textOf(page.html), /There is no such check of this account/);
    const canceled = await send(LIST, { act: "cancel", bucket, task });
    assert.equal(canceled.status, 303);
  }
  assert.equal((await send(LIST, { act: "start", bucket: ".." })).status, 404);
  assert.deepEqual(seen.filter(({ call }) => /fixity\/?(?!\/schedules)/.test(call) && /\.|DELETE|POST/.test(call)), []);
});

Deno.test("fixity check: damage is listed first, each object in one filter, with links and digests", async () => {
  const { open } = storagePages(gateway({
    tasks: { letters: [damaged()] },
    report: reportOf([
      {
        key: "1794/<script>alert(1)</script>.tif",
        result: "changed",
        proved_by: "etag",
        size: 9,
        algorithm: "md5",
        expected: "ab",
        actual: "cd",
      },
      { key: '1794/","result":"changed".txt', result: "unproven", size: 1 },
      { key: "1794/\u202Egnp.exe", result: "unreadable", detail: "no bytes" },
      { key: "1794/z", result: "changed", proved_by: "checksum", size: 1 },
    ]),
  }));
  const { html } = await open(CHECK);
  const text = textOf(html);
  assert.match(text, /Fixity check of letters\/1794\//);
  assert.match(text, /damaged 3 nothing to compare with 3 all 6 changed 2 unreadable 1/);
  assert.match(text, /<script>alert\(1\)<\/script>\.tif Digests md5 should be ab md5 is cd changed ETag \(md5\) 9 B/);
  assert.match(text, /⟨U\+202E⟩ gnp\.exe no bytes unreadable/);
  assert.doesNotMatch(html.replaceAll(/data-props="[^"]*"/g, ""), /<script>alert|\u202E/);
  assert.doesNotMatch(text, /changed"\.txt/);
  assert.match(html, /href="\/storage\/object\?account=archive%2Folle&amp;bucket=letters&amp;key=1794%2Fz"/);
  assert.match(html, /href="\/storage\/api\/buckets\/:bucket\/fixity\/:task_id\/report\?[^"]*format=csv"/);
  const unproven = textOf((await open(`${CHECK}&result=unproven`)).html);
  assert.match(unproven, /","result":"changed"\.txt/);
  assert.doesNotMatch(unproven, /1794\/z/);
});

Deno.test("fixity check: long reports are shown by pages, which meet without a gap", async () => {
  const rows = Array.from({ length: 250 }, (_, n) => ({ key: `k${n}`, result: n % 2 === 0 ? "changed" : "deleted" }));
  const { open } = storagePages(gateway({
    tasks: { letters: [status({ changed: 125, deleted: 125, damaged: 125, rows: 250 })] },
    report: reportOf(rows),
  }));
  const shown: string[] = [];
  let path: string | null = `${CHECK}&result=changed`;
  let pages = 0;
  while (path !== null) {
    const { html }: { html: string } = await open(path);
    shown.push(...[...html.matchAll(/&amp;key=(k\d+)"/g)].map(([, key]) => key));
    path = /<a class="btn" href="([^"#]*)#objects">Next objects/.exec(html)?.[1].replaceAll("&amp;", "&") ?? null;
    pages++;
  }
  assert.equal(pages, 2);
  assert.deepEqual(shown, rows.filter(({ result }) => result === "changed").map(({ key }) => key));
});

Deno.test("fixity check: one that is gone, of another version, or without its rows says so", async () => {
  const gone = await storagePages(gateway()).open(CHECK);
  assert.equal(gone.status, 404);
  assert.match(textOf(gone.html), /There is no such check of this account/);
  const other = await storagePages((seen) =>
    seen.call.endsWith(TASK) ? new Response("{}", { status: 410 }) : gateway()(seen)
  ).open(CHECK);
  assert.match(textOf(other.html), /another version of the server/);
  const rows = await storagePages(gateway({ tasks: { letters: [damaged()] }, report: 410 })).open(CHECK);
  assert.equal(rows.status, 200);
  assert.match(textOf(rows.html), /The list of objects is stored for 30 days and no longer exists/);
});

Deno.test("fixity check: a report that breaks off is a page with the status and a sentence", async () => {
  const { open } = storagePages(gateway({
    tasks: { letters: [damaged()] },
    report: `{"rows":[\n${"x".repeat(200_000)}`,
  }));
  const { status: code, html } = await open(CHECK);
  assert.equal(code, 502);
  assert.match(textOf(html), /The store cannot be reached/);
});

Deno.test("fixity check: manifest, bag, earlier check and what was written are named", async () => {
  const { open } = storagePages(gateway({
    tasks: {
      letters: [status({
        missing: 1,
        damaged: 1,
        rows: 1,
        full: true,
        schedule: "nightly",
        proved_by: { ...NEW_CHECK.proved_by, manifest: 10 },
        manifest: { bucket: "letters", keys: ["bag/manifest-sha256.txt"], root: "bag/", entries: 11, invalid_lines: 2 },
        bag: { valid: false, problems: ["Payload-Oxum <differs>"], problem_codes: [null] },
        baseline: "6f0e0000-0000-4000-8000-000000000009",
        etags: "other",
        written: [{ key: "reports/fixity.csv", size: 1, sha256: "00" }],
        write_error: "no room",
      })],
    },
    report: reportOf([{ key: "bag/data/gone.tif", result: "missing", proved_by: "manifest" }]),
  }));
  const text = textOf((await open(CHECK)).html);
  for (
    const sentence of [
      /Schedule nightly/,
      /Found intact by manifest \(10 objects\)/,
      /bag\/manifest-sha256\.txt .*names 11 objects, 2 lines of it cannot be read/,
      /The bag is not valid: Payload-Oxum <differs>/,
      /reports\/fixity\.csv/,
      /Not everything was written: no room/,
      /ETags of this store are not MD5s/,
      /bag\/data\/gone\.tif missing/,
    ]
  ) assert.match(text, sentence);
  const without = storagePages(gateway({ tasks: { letters: [status({ etags: "ignored", full: true })] } }));
  assert.match(textOf((await without.open(CHECK)).html), /Options Do not compare ETags, A row for intact objects too/);
});

Deno.test("fixity page: a bag that is not valid without damage is no clean check, and what was not written is said", async () => {
  const keys = ["bag/manifest-md5.txt", "bag/manifest-sha256.txt"];
  const bag = status({
    bag: { valid: false, problems: ["Payload-Oxum <differs>"], problem_codes: [null] },
    manifest: { bucket: "letters", keys, root: "bag/", entries: 8, invalid_lines: 0 },
    write_error: "no room",
  });
  const { open } = storagePages(gateway({ tasks: { letters: [bag] } }));
  const list = await open(LIST);
  assert.match(textOf(list.html), /letters\/1794\/ bag not valid .*Not everything was written: no room/);
  assert.doesNotMatch(list.html, /class="[^"]*\bbad\b/);
  const page = textOf((await open(CHECK)).html);
  assert.match(page, /8 lines in all/);
  assert.equal(page.match(/Not everything was written/g)?.length, 1);
  // The manifests name the same objects, so they do not say how many there are.
  const running = { ...bag, ...RUNNING, bag: { valid: null, problems: [], problem_codes: [] } };
  const { html } = await storagePages(gateway({ tasks: { letters: [running] } })).open(LIST);
  assert.match(textOf(html), /10 objects read so far/);
});

Deno.test("fixity page: schedules say when they run next and how they went", async () => {
  const { open } = storagePages(gateway({
    schedules: [{
      ...NEW_SCHEDULE,
      time_zone: "Europe/Stockholm",
      next_at: "2027-01-16T01:00:00Z",
      last: LAST_CHECK,
      error: "no such bucket",
    }],
  }));
  const text = textOf((await open(LIST)).html);
  assert.match(
    text,
    /nightly All of letters 0 2 \* \* \* \(Europe\/Stockholm\) Next: 16 Jan, 01:00 Last check: 12 objects read, 1 damaged/,
  );
  assert.match(text, /could not be started: no such bucket/);
});

Deno.test("fixity page: schedules of other accounts say whose they are, and link to no check", async () => {
  const schedules = [{ ...NEW_SCHEDULE, account: "archive/keeper", own: false, last: LAST_CHECK }];
  const { html } = await storagePages(gateway({ schedules })).open(LIST);
  assert.match(textOf(html), /nightly All of letters of archive\/keeper .* 12 objects read, 1 damaged/);
  assert.doesNotMatch(html, new RegExp(`href="[^"]*${TASK}`));
  const system = await storagePages(gateway({ schedules }), null).open("/fixity?account=olle");
  assert.match(textOf(system.html), /has no buckets.* nightly All of letters of archive\/keeper/);
});

Deno.test("fixity pages: sentences with a code are translated, others are shown as they are", async () => {
  const failed = status({
    status: "failed",
    changed: 1,
    damaged: 1,
    rows: 2,
    error: "The manifest 'a' was deleted",
    code: "manifest_deleted",
    params: { key: "a" },
    bag: {
      valid: false,
      problems: ["m names 1 files", "of another version"],
      problem_codes: [{ code: "bag_manifest_fewer_files", params: { name: "m", files: 1, most: 2 } }, null],
    },
    write_error: "'c' exists",
    write_error_codes: [{ code: "not_written_exists", params: { keys: "'c'" } }],
  });
  const rows = [
    { key: "x", result: "unreadable", detail: "The login may not read it", code: "object_forbidden" },
    { key: "y", result: "changed", detail: "The store's own words", code: "of_another_version" },
  ];
  const { open } = storagePages(gateway({ tasks: { letters: [failed] }, report: reportOf(rows) }));
  const swedish = textOf((await open(CHECK, "sv")).html);
  for (
    const text of [
      "Manifestet ”a” togs bort medan kontrollen pågick. Starta den igen.",
      "m nämner 1 filer, ett annat manifest över innehållet 2",
      "of another version",
      "'c' finns redan med annat innehåll",
      "Inloggningen får inte läsa det",
      "The store's own words",
    ]
  ) assert.ok(swedish.includes(text), `${text} in ${swedish}`);
});
