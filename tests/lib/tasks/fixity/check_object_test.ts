import assert from "node:assert/strict";

import { checkObject, EtagJudge } from "@/lib/tasks/fixity/check_object.ts";
import type { ReadSource } from "@/lib/tasks/fixity/object_digests.ts";
import { CALLER, s3Error } from "@/tests/lib/tasks/zip/object_server.ts";
import { type FixityStore, startFixityStore } from "./fixity_run.ts";

/** A page of a listing of versions of `k`, the newest first, and of one of `k2` behind them. @param count of all of `k` */
function versionPage(query: URLSearchParams, count: number): Response {
  const first = query.has("version-id-marker") ? Number(query.get("version-id-marker")?.slice(1)) + 1 : 0;
  const last = Math.min(first + 1000, count);
  const versions = Array.from({ length: last - first }, (_, n) => versionOf("k", `v${first + n}`));
  const isTruncated = last < count;
  const next = `<NextKeyMarker>k</NextKeyMarker><NextVersionIdMarker>v${last - 1}</NextVersionIdMarker>`;
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?><ListVersionsResult><IsTruncated>${isTruncated}</IsTruncated>` +
      `${isTruncated ? next : versionOf("k2", "v0")}${versions.join("")}</ListVersionsResult>`,
    { headers: { "content-type": "application/xml" } },
  );
}

const versionOf = (key: string, id: string) =>
  `<Version><Key>${key}</Key><VersionId>${id}</VersionId><IsLatest>false</IsLatest><Size>1</Size>` +
  `<LastModified>2026-01-01T00:00:00.000Z</LastModified></Version>`;

/** What is told of a version that the store does not find. @param count of the versions of its key that it lists */
async function lostVersion(versionId: string, count: number) {
  await using store = startFixityStore();
  let pages = 0;
  store.listing = (query) => {
    pages++;
    return versionPage(query, count);
  };
  const { result, detail } = await checked(store, { versionId, etag: '"e"' }, []);
  return { result, detail, pages };
}

/** What a check says of the object `k`. */
async function checked(
  store: FixityStore,
  { versionId, etag }: { readonly versionId: string | null; readonly etag: string },
  retryMs: readonly number[],
) {
  const { signal } = new AbortController();
  const source: ReadSource = {
    s3: store.s3,
    caller: { ...CALLER, signal },
    retryMs,
    read: (work) => work(),
    pace: () => Promise.resolve(false),
  };
  const judge = new EtagJudge(source, "letters", null, false);
  const entry = { key: "k", versionId, etag, isListed: true, expectations: [], isUnnamed: false };
  return await checkObject(source, "letters", entry, judge);
}

Deno.test("fixity: a lost version behind thousands of newer ones is found in the listing, and is no deleted one", async () => {
  const lost = await lostVersion("v2500", 4000);
  assert.deepEqual([lost.result, lost.pages], ["unreadable", 3]);
  assert.match(lost.detail ?? "", /lists it and does not find it/);
  assert.deepEqual(await lostVersion("gone", 2500), { result: "deleted", detail: undefined, pages: 3 });
});

Deno.test("fixity: of more versions than are looked through it is not claimed that one was deleted", async () => {
  const lost = await lostVersion("gone", 1_000_000);
  assert.deepEqual([lost.result, lost.pages], ["unreadable", 100]);
  assert.match(lost.detail ?? "", /too many versions/);
});

Deno.test("fixity: an object is read again after a status that may pass, and not where the store has refused it for good", async () => {
  const tries = async (etag: string, status: number, code: string) => {
    await using store = startFixityStore();
    store.fault = () => s3Error(status, code);
    const { result } = await checked(store, { versionId: null, etag }, [1, 1]);
    assert.equal(result, "unreadable");
    return store.requests.length;
  };
  // The second one is of an object in parts, of which the store is asked before it is read.
  for (const etag of ['"e"', '"e-2"']) {
    for (
      const [status, code] of [[400, "InvalidArgument"], [405, "MethodNotAllowed"], [
        409,
        "InvalidObjectState",
      ]] as const
    ) {
      assert.equal(await tries(etag, status, code), 1, `${etag} ${status}`);
    }
    for (const [status, code] of [[500, "InternalError"], [503, "SlowDown"], [429, "TooManyRequests"]] as const) {
      assert.equal(await tries(etag, status, code), 3, `${etag} ${status}`);
    }
  }
});
