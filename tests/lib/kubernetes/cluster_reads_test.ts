import assert from "node:assert/strict";
import { getObject, listAll } from "@/lib/kubernetes/cluster_reads.ts";
import { type ClusterConnection, type ClusterRequest, ClusterUnavailable } from "@/lib/kubernetes/connection.ts";

/** A connection that returns the listed responses one after the other. */
function scripted(...answers: (readonly [number, unknown])[]) {
  const seen: string[] = [];
  const accepts: (string | undefined)[] = [];
  const connection: ClusterConnection = {
    send({ path, query, headers }: ClusterRequest) {
      seen.push(`${path}?${query ?? ""}`);
      accepts.push(headers?.Accept);
      const next = answers.shift();
      if (!next) throw new Error("asked too often");
      const [status, body] = next;
      const text = typeof body === "string" ? body : JSON.stringify(body);
      return Promise.resolve({ status, body: new TextEncoder().encode(text) });
    },
  };
  return { connection, seen, accepts };
}

const numbers = (item: unknown) => typeof item === "number" ? item : null;
const page = (items: unknown, position?: string) => [200, { items, metadata: { continue: position } }] as const;

Deno.test("list: follows the pages and returns what the reader accepts", async () => {
  const { connection, seen } = scripted(page([1, "bad", 2], "more"), page([3], ""));
  const request = {
    path: "/api/v1/pods",
    labelSelector: "a=b,!c",
    fieldSelector: "status.phase!=Succeeded",
    pageSize: 3,
  };
  assert.deepEqual((await listAll(connection, request, numbers)).found, [1, 2, 3]);
  const query = "limit=3&labelSelector=a%3Db%2C%21c&fieldSelector=status.phase%21%3DSucceeded";
  assert.deepEqual(seen, [`/api/v1/pods?${query}`, `/api/v1/pods?${query}&continue=more`]);
});

Deno.test("list: null instead of items, or no items at all, is an empty list", async () => {
  for (const body of [{ items: null }, {}, { items: "x", metadata: null }, { items: [], metadata: { continue: 7 } }]) {
    const { found } = await listAll(scripted([200, body]).connection, { path: "/x", pageSize: 1 }, numbers);
    assert.deepEqual(found, []);
  }
});

Deno.test("list: a position that expired starts the list again, once", async () => {
  const again = scripted(page([1], "a"), [410, {}], page([5], "b"), page([6]));
  assert.deepEqual((await listAll(again.connection, { path: "/x", pageSize: 1 }, numbers)).found, [5, 6]);
  const never = scripted(page([1], "a"), [410, {}], page([5], "b"), [410, {}]);
  await assert.rejects(listAll(never.connection, { path: "/x", pageSize: 1 }, numbers), ClusterUnavailable);
});

Deno.test("list: every other status and every body that is no list object is one condition, a 502", async () => {
  const answers = [[404, {}], [403, {}], [401, {}], [410, {}], [500, {}], [200, "<html>"], [200, "null"], [
    200,
    "7",
  ]] as const;
  for (const answer of answers) {
    await assert.rejects(
      listAll(scripted(answer).connection, { path: "/x", pageSize: 1 }, numbers),
      (error) =>
        error instanceof ClusterUnavailable && error.status === 502 && error.detail === "the cluster did not answer",
    );
  }
});

Deno.test("list: a server whose pages never end is unavailable", async () => {
  const endless: ClusterConnection = {
    send: () =>
      Promise.resolve({ status: 200, body: new TextEncoder().encode('{"items":[1],"metadata":{"continue":"a"}}') }),
  };
  await assert.rejects(listAll(endless, { path: "/x", pageSize: 1 }, numbers), ClusterUnavailable);
});

Deno.test("get: an object, null for none, and the same condition for everything else", async () => {
  assert.deepEqual(await getObject(scripted([200, { a: 1 }]).connection, "/x"), { a: 1 });
  assert.equal(await getObject(scripted([404, {}]).connection, "/x"), null);
  for (const answer of [[403, {}], [500, {}], [200, "nonsense"]] as const) {
    await assert.rejects(getObject(scripted(answer).connection, "/x"), ClusterUnavailable);
  }
});
