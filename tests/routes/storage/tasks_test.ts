import assert from "node:assert/strict";
import { type Seen, storagePages, textOf } from "./fake_gateway.ts";

const PATH = "/storage/tasks?account=archive%2Folle";
const ID = "d0d0d0d0-0000-4000-8000-000000000001";

const task = (more: Record<string, unknown> = {}) => ({
  id: ID,
  kind: "fixity",
  state: "running",
  tenant: "archive",
  account: "anna",
  bucket: "letters",
  started_at: "2027-01-14T10:20:30.125Z",
  own: false,
  ...more,
});

const listing = (tasks: readonly unknown[], scope = "tenant") => ({ call }: Seen): Response | null => {
  if (call === "GET /tasks") return Response.json({ scope, tasks });
  return call === `POST /tasks/${ID}/cancel` ? Response.json({ id: ID, state: "canceling" }) : null;
};

Deno.test("tasks page: each task is a row with a button that names what it cancels, in both languages", async () => {
  const { open } = storagePages(listing([
    task(),
    task({ id: ID.replace("1", "2"), kind: "zip", state: "ready", account: null, tenant: null }),
    task({ id: ID.replace("1", "3"), kind: "delete", state: "canceling" }),
  ]));
  const english = await open(PATH);
  assert.equal(english.status, 200);
  const text = textOf(english.html);
  assert.match(
    text,
    /Fixity check Account archive\/anna Bucket letters Started 14 Jan, 10:20 UTC running or waiting Cancel/,
  );
  assert.match(text, /ZIP archive Account unknown .* can be downloaded Cancel Deletion .* being cancelled/);
  assert.match(english.html, /aria-label="Cancel: Fixity check, archive\/anna, letters"/);
  assert.equal(english.html.match(/<form method="post" action="\/storage\/tasks\?account=archive%2Folle"/g)?.length, 2);
  const swedish = textOf((await open(PATH, "sv")).html);
  assert.match(swedish, /Fixitetskontroll Konto archive\/anna Bucket letters Startade .* pågår eller väntar Avbryt/);
  assert.match(swedish, /kan laddas ner Avbryt Borttagning .* avbryts/);
  assert.match(swedish, /Vad de arbetar med visas inte/);
});

Deno.test("tasks page: whose tasks are shown is said, hostile names are text, and many are cut", async () => {
  const hostile = "<script>alert(1)</script>\u202e";
  const { html } = await storagePages(listing([task({ account: hostile, bucket: hostile })], "all")).open(PATH);
  assert.doesNotMatch(html, /<script>alert/);
  assert.match(textOf(html), /tasks of all tenants/);
  const none = textOf((await storagePages(listing([], "own")).open(PATH)).html);
  assert.match(none, /Your unfinished tasks.*No task is running or waiting/);
  const many = Array.from({ length: 501 }, (_, n) => task({ bucket: `bucket-${n}` }));
  const text = textOf((await storagePages(listing(many)).open(PATH)).html);
  assert.match(text, /The oldest 500 of 501 tasks/);
  assert.ok(text.includes("bucket-499") && !text.includes("bucket-500"));
});

Deno.test("tasks page: its form cancels a task and leads back to the list, from our own pages alone", async () => {
  const pages = storagePages(listing([task()]));
  const canceled = await pages.send(PATH, { task: ID });
  assert.deepEqual([canceled.status, canceled.location], [303, `${PATH}&canceled=yes`]);
  assert.ok(pages.seen.some(({ call }) => call === `POST /tasks/${ID}/cancel`));
  assert.match(textOf((await pages.open(`${PATH}&canceled=yes`)).html), /The task was cancelled/);
  const before = pages.seen.length;
  for (const other of ["", "../buckets/letters", ID.replace("d", "%2e")]) {
    const { location } = await pages.send(PATH, { task: other });
    assert.equal(location, `${PATH}&canceled=no`);
  }
  assert.equal((await pages.send(PATH, { task: ID }, "https://other.example")).status, 403);
  assert.equal(pages.seen.filter(({ call }) => call.startsWith("POST")).length, 1, `${pages.seen.length - before}`);
  assert.match(textOf((await pages.open(`${PATH}&canceled=no`)).html), /has ended already, or is not yours/);
});

Deno.test("tasks page: a gateway that does not respond is said", async () => {
  const { status, html } = await storagePages(({ call }) =>
    call === "GET /tasks" ? Response.json({ detail: "no" }, { status: 503 }) : null
  ).open(PATH);
  assert.equal(status, 503);
  assert.match(html, /role="alert"/);
});
