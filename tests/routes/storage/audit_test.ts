import assert from "node:assert/strict";

import { type Seen, storagePages, textOf } from "./fake_gateway.ts";

const PATH = "/audit?account=archive%2Folle";

const record = (more: Record<string, unknown> = {}) => ({
  v: 1,
  id: "7f3a.1",
  time: "2027-01-14T10:20:30.125Z",
  source: "application",
  role: "gateway",
  action: "object_write",
  tenant: "archive",
  actor: { name: "curator", tenant: "archive" },
  address: "192.0.2.7",
  request_id: "0b5c",
  target: { kind: "object", bucket: "letters", key: "1794/a.pdf" },
  result: "succeeded",
  status: 201,
  details: { bytes: 12 },
  ...more,
});

/** A gateway with a page of the trail, or a status in place of it. */
function trail(records: readonly unknown[] | number, more: Record<string, unknown> = {}) {
  return ({ call }: Seen): Response | null => {
    if (call !== "GET /audit") return null;
    if (typeof records === "number") {
      return Response.json({ detail: [{ loc: ["query", "end"], msg: "Input should be after start" }] }, {
        status: records,
      });
    }
    const sources = { application: "process" };
    return Response.json({ records, next: null, searched_to: null, sources, ...more });
  };
}

const asked = ({ seen }: { readonly seen: readonly Seen[] }) =>
  Object.fromEntries(seen.find(({ query }) => query.get("count") === "100")?.query ?? []);

Deno.test("audit page: each record is a row with when, who, from where, what, to what and how it ended", async () => {
  const { open } = storagePages(trail([
    record(),
    record({
      id: "2",
      actor: null,
      action: "login_failed",
      target: { kind: "session" },
      result: "refused",
      status: 401,
    }),
  ]));
  const { status, html } = await open(PATH);
  assert.equal(status, 200);
  const text = textOf(html);
  assert.match(
    text,
    /14 Jan, 10:20:30 UTC archive\/curator 192\.0\.2\.7 wrote an object letters\/1794\/a\.pdf Details bytes 12 Status 201 Id of the request 0b5c done/,
  );
  assert.match(text, /not logged in 192\.0\.2\.7 login failed session .* refused/);
  assert.match(html, /title="14 January 2027, 10:20:30 UTC"/);
  assert.match(html, /href="\/storage\/object\?account=archive%2Folle&amp;bucket=letters&amp;key=1794%2Fa\.pdf"/);
  assert.doesNotMatch(html, /class="[^"]*\bbad\b/);
});

Deno.test("audit page: what is gone, or of another tenant, is named without a link", async () => {
  for (const more of [{ action: "object_delete" }, { tenant: "other" }]) {
    const { html } = await storagePages(trail([record(more)])).open(PATH);
    assert.match(textOf(html), /letters\/1794\/a\.pdf/);
    assert.doesNotMatch(html, /href="\/storage\/object/);
  }
  const { html } = await storagePages(
    trail([record({ action: "object_delete", target: { kind: "objects", bucket: "letters", prefix: "1794/" } })]),
  ).open(PATH);
  assert.match(html, /href="\/storage\/folder\?account=archive%2Folle&amp;bucket=letters&amp;prefix=1794%2F"/);
});

Deno.test("audit page: names and details are shown as text, whatever they hold", async () => {
  const hostile = "<script>alert(1)</script>\u202E\n";
  const { open } = storagePages(trail([record({
    actor: { name: hostile, tenant: null },
    address: hostile,
    action: hostile,
    target: { kind: hostile, bucket: "b", key: hostile },
    details: { [hostile]: hostile, keys: [hostile, hostile], odd: { deep: 1 } },
    request_id: hostile,
  })]));
  const { html } = await open(PATH);
  assert.doesNotMatch(html, /<script>alert/);
  assert.match(textOf(html), /<script>alert\(1\)<\/script> ⟨U\+202E⟩ ⟨U\+000A⟩/);
});

Deno.test("audit page: the filters of the address are asked for, times without an offset in UTC", async () => {
  const pages = storagePages(trail([]));
  const query =
    "start=2027-01-01T10%3A00&end=2027-01-02T00%3A00%3A00%2B01%3A00&actor=+curator+&action=login&result=failed" +
    "&bucket=b&prefix=a%2F&request=0b5c&after=x";
  const { html } = await pages.open(`${PATH}&${query}`);
  assert.deepEqual(asked(pages), {
    start: "2027-01-01T10:00:00.000Z",
    end: "2027-01-01T23:00:00.000Z",
    actor: "curator",
    action: "login",
    result: "failed",
    bucket: "b",
    prefix: "a/",
    request_id: "0b5c",
    after: "x",
    count: "100",
  });
  assert.match(html, /<details class="new-form" open>/);
  assert.match(html, /type="datetime-local" name="end" value="2027-01-01T23:00"/);
  assert.match(html, /<option (?:value="login" selected|selected value="login")>/);
  assert.match(textOf(html), /No record matches the filter/);
  assert.match(html, /href="\/storage\/api\/audit\?[^"]*start=2027-01-01T10%3A00%3A00\.000Z[^"]*format=csv"/);
});

Deno.test("audit page: pages follow each other with the filter, and one that found little says how far it looked", async () => {
  const { open } = storagePages(trail([record()], { next: "abc", searched_to: "2027-01-10T00:00:00.000Z" }));
  const { html } = await open(`${PATH}&actor=curator`);
  assert.match(html, /href="\/audit\?account=archive%2Folle&amp;actor=curator&amp;after=abc"[^>]*>Older records/);
  assert.match(textOf(html), /Searched back to 10 January 2027, 00:00:00 UTC/);
});

Deno.test("audit page: a filter that cannot be used is named, in the form that holds it", async () => {
  const wrong = storagePages(trail([]));
  const { status, html } = await wrong.open(`${PATH}&start=yesterday&actor=typed`);
  assert.equal(status, 422);
  assert.match(textOf(html), /“From \(UTC\)” is not a time/);
  assert.match(html, /value="typed"/);
  assert.deepEqual(asked(wrong), {});
  const refused = await storagePages(trail(422)).open(`${PATH}&start=2027-01-02T00:00&end=2027-01-01T00:00`);
  assert.equal(refused.status, 422);
  assert.match(textOf(refused.html), /The filter cannot be used: Input should be after start/);
});

Deno.test("audit page: who may not read it is told why and whom to ask", async () => {
  const cases = [
    [403, 403, /Only administrators and security officers .* Ask an administrator of the tenant/],
    [501, 404, /The store has no accounts with roles/],
    [404, 404, /This server has no audit trail/],
    [502, 502, /The store cannot be reached/],
    [429, 429, /The store is overloaded/],
  ] as const;
  for (const [of, status, sentence] of cases) {
    const page = await storagePages(trail(of)).open(PATH);
    assert.equal(page.status, status);
    assert.match(textOf(page.html), sentence);
  }
});

Deno.test("audit page: it says where no records can be read", async () => {
  const text = async (application: string) =>
    textOf((await storagePages(trail([record()], { sources: { application } })).open(PATH)).html);
  assert.match(await text("none"), /This server keeps no records that can be read here/);
  assert.doesNotMatch(await text("process"), /keeps no records/);
});

Deno.test("audit page: the system level reads all tenants, and chooses one", async () => {
  const pages = storagePages(trail([record()]), null);
  const { html } = await pages.open("/audit?account=olle&tenant=archive");
  assert.equal(asked(pages).tenant, "archive");
  assert.match(html, /name="tenant" value="archive"/);
  assert.doesNotMatch(html, /href="\/storage\/object/);
});

Deno.test("storage pages: those who may read the trail are led there, and no others", async () => {
  const link = /href="\/audit\?account=archive%2Folle"[^>]*>Audit trail/;
  const buckets = (seen: Seen) => seen.call === "GET /buckets" ? Response.json({ buckets: [] }) : null;
  const of = (records: readonly unknown[] | number) => storagePages((seen) => buckets(seen) ?? trail(records)(seen));
  const administrator = of([]);
  assert.match((await administrator.open("/storage")).html, link);
  await administrator.open("/storage");
  assert.equal(administrator.seen.filter(({ call }) => call === "GET /audit").length, 1, "it is cached");
  for (const status of [403, 404, 501, 502]) assert.doesNotMatch((await of(status).open("/storage")).html, link);
});

Deno.test("audit page: in Swedish too", async () => {
  const { open } = storagePages(trail([record()]));
  assert.match(textOf((await open(PATH, "sv")).html), /skrev ett objekt letters\/1794\/a\.pdf .* gjort/);
});
