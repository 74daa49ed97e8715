import assert from "node:assert/strict";
import { CONDITION_TABLES, type ConditionTable } from "@/lib/s3/store_kind.ts";
import { withGateway } from "@/tests/routes/gateway_fixture.ts";
import { type EmbeddedGateway, embeddedTest } from "@/tests/routes/api/v1/mapi/embedded_gateway.ts";

const OTHER = '"00000000000000000000000000000000"';
const OLD_DATE = "Mon, 01 Jan 2001 00:00:00 GMT";
const LENGTH = { headers: { "content-length": "3" } };
const FUTURE = "Fri, 01 Jan 2100 00:00:00 GMT";

type Given = Record<string, string>;
type Write = (headers: Given) => Promise<Response>;

function form(text: string): FormData {
  const data = new FormData();
  data.append("file", new Blob([text]), "file");
  return data;
}

function chunked(text: string): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new Blob([text]).stream();
}

async function etagOf({ call }: EmbeddedGateway, path: string): Promise<string | null> {
  const { status, headers } = await call("HEAD", path);
  return status === 200 ? headers.get("etag") : null;
}

embeddedTest(
  "conditions: each write of an object holds each of them, and one that fails changes nothing",
  async (objects) => {
    const { call, json } = objects;
    for (const versioning of ["never", "Enabled", "Suspended"]) {
      const bucket = `/buckets/cond-${versioning.toLowerCase()}`;
      await json("POST", "/buckets", { bucket: bucket.slice("/buckets/".length) });
      if (versioning !== "never") await json("PUT", `${bucket}/versioning`, { status: versioning });
      const path = `${bucket}/objects/k`;
      const source = { source_bucket: bucket.slice("/buckets/".length), source_key: "source" };
      await json("PUT", `${bucket}/objects/source`, "source");
      const complete: Write = async (headers) => {
        const { upload_id } = await json("POST", `${bucket}/multipart/k`);
        const part = await call("PUT", `${bucket}/multipart/k?upload_id=${upload_id}&part_number=1`, "new", LENGTH);
        const parts = [{ PartNumber: 1, ETag: (await part.json()).etag }];
        return await call("POST", `${bucket}/multipart/k/complete`, { upload_id, parts }, { headers });
      };
      const writes: Record<string, Write> = {
        put: (headers) => call("PUT", path, "new", { headers: { ...headers, ...LENGTH.headers } }),
        form: (headers) => call("POST", path, form("new"), { headers }),
        chunked: (headers) => call("PUT", path, chunked("new"), { headers }),
        copy: (headers) => call("POST", `${path}/copy`, source, { headers }),
        complete,
        delete: (headers) => call("DELETE", path, undefined, { headers }),
      };
      for (const [name, write] of Object.entries(writes)) {
        const at = (headers: Given) => `${versioning} ${name} ${JSON.stringify(headers)}`;
        await json("PUT", path, "old");
        const etag = await etagOf(objects, path) ?? "";
        const fails: Given[] = [
          { "if-match": OTHER },
          { "if-match": `${OTHER}, "b"` },
          { "if-match": `W/${etag}` },
          { "if-none-match": "*" },
          { "if-none-match": `W/${etag}` },
          { "if-none-match": `"a", ${etag}` },
          { "if-unmodified-since": OLD_DATE },
          { "if-match": etag, "if-none-match": etag },
        ];
        // How a condition is written does not depend on versions.
        const some = <T>(all: readonly T[]) => versioning === "Enabled" ? all : all.slice(0, 1);
        for (const headers of [...some(fails), { "if-none-match": etag }]) {
          assert.equal((await write(headers)).status, 412, at(headers));
          assert.equal(await etagOf(objects, path), etag, at(headers));
        }
        const malformed: Given[] = [
          { "if-match": etag + '"' },
          { "if-none-match": "" },
          { "if-unmodified-since": "now" },
        ];
        for (const headers of some(malformed)) {
          const response = await write(headers);
          assert.equal(response.status, 400, at(headers));
          assert.ok((await response.text()).includes(`${Object.keys(headers)[0]}: must be`));
        }
        const holding: Given[] = [
          { "if-match": etag },
          { "if-match": etag.replaceAll('"', "") },
          { "if-match": `"a", ${etag}` },
          { "if-match": "*" },
          { "if-none-match": OTHER },
          { "if-unmodified-since": FUTURE },
          { "if-match": etag, "if-unmodified-since": OLD_DATE },
        ];
        for (const headers of some(holding)) {
          await json("PUT", path, "old");
          const response = await write(headers);
          await response.body?.cancel();
          assert.ok(response.ok, at(headers));
          assert.notEqual(await etagOf(objects, path), etag, at(headers));
        }
        await (await call("DELETE", path)).body?.cancel();
        for (const headers of [{ "if-match": etag }, { "if-match": "*" }, { "if-match": `${etag}, "b"` }]) {
          const absent = await write(headers);
          await absent.body?.cancel();
          assert.ok(absent.status === 404 || absent.status === 412, at(headers));
          assert.equal(await etagOf(objects, path), null, at(headers));
        }
        assert.equal(
          (await write({ "if-none-match": "*" })).status,
          name === "delete" ? 404 : name === "form" ? 201 : 200,
          at({}),
        );
      }
    }
  },
);

embeddedTest(
  "conditions: of a version that is deleted, of a restore and of the source of a copy",
  async ({ call, json }) => {
    await json("POST", "/buckets", { bucket: "versions" });
    await json("PUT", "/buckets/versions/versioning", { status: "Enabled" });
    const path = "/buckets/versions/objects/k";
    const write = async (text: string) => {
      const { headers } = await call("PUT", path, text);
      return { etag: headers.get("etag") ?? "", id: headers.get("x-amz-version-id") ?? "" };
    };
    const [old, current] = [await write("old"), await write("current")];
    const status = async (method: string, path: string, body: Record<string, string> | undefined, headers: Given) => {
      const response = await call(method, path, body, { headers });
      await response.body?.cancel();
      return response.status;
    };
    const restore = (headers: Given) => status("POST", "/buckets/versions/restore/k", { version_id: old.id }, headers);
    assert.equal(await restore({ "if-match": old.etag }), 412, "the condition is on the current version");
    assert.equal(await restore({ "if-none-match": "*" }), 412);
    assert.equal(await restore({ "if-match": current.etag }), 200);
    const remove = (id: string, headers: Given) => status("DELETE", `${path}?version_id=${id}`, undefined, headers);
    assert.equal(await remove(old.id, { "if-match": current.etag }), 412);
    assert.equal(await remove(old.id, { "if-none-match": "*" }), 412);
    assert.equal(await remove(old.id, { "if-unmodified-since": OLD_DATE }), 412);
    assert.equal(await remove(old.id, { "if-match": old.etag }), 200);
    assert.equal(await remove(old.id, { "if-match": old.etag }), 404);
    await json("DELETE", path);
    const { versions } = await json("GET", "/buckets/versions/versions/k") as { versions: Record<string, string>[] };
    assert.equal(await remove(versions[0].VersionId, { "if-match": "*" }), 412, "a delete marker has no ETag");
    assert.equal(await remove(versions[0].VersionId, { "if-none-match": "*" }), 200);

    const copy = (headers: Given) =>
      status("POST", "/buckets/versions/objects/copy%20of%20k/copy", { source_bucket: "versions", source_key: "k" }, {
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [`x-amz-copy-source-${name}`, value])),
      });
    assert.equal(await copy({ "if-match": OTHER }), 412);
    assert.equal(await copy({ "if-match": `W/${old.etag}` }), 412);
    assert.equal(await copy({ "if-none-match": `"a", ${old.etag}` }), 412);
    assert.equal(await copy({ "if-unmodified-since": OLD_DATE }), 412);
    assert.equal(await copy({ "if-modified-since": FUTURE }), 412);
    assert.equal(await copy({ "if-match": '"' }), 400);
    assert.equal(await copy({ "if-match": old.etag }), 200);
  },
);

const JSON_COPY = JSON.stringify({ source_bucket: "b", source_key: "s" });
const COMPLETE = JSON.stringify({ upload_id: "u", parts: [{ PartNumber: 1, ETag: "e" }] });
const RESTORE = JSON.stringify({ version_id: "1" });
const WRITES: Record<string, readonly [keyof ConditionTable, string, string, (string | FormData)?]> = {
  put_object: ["put", "PUT", "objects/k", "x"],
  post_object: ["put", "POST", "objects/k", form("x")],
  create_folder: ["put", "POST", "objects/folder", JSON.stringify({ folder_name: "k" })],
  copy_object: ["copy", "POST", "objects/k/copy", JSON_COPY],
  complete_multipart_upload: ["complete", "POST", "multipart/k/complete", COMPLETE],
  delete_object: ["delete", "DELETE", "objects/k"],
  restore_object_version: ["copy", "POST", "restore/k", RESTORE],
};

Deno.test("conditions: those that a store would ignore are 501, and nothing is written", async () => {
  const tables: Record<string, ConditionTable | null> = { ...CONDITION_TABLES, unknown: null };
  for (const [store, table] of Object.entries(tables)) {
    const conditions = () => Promise.resolve(table);
    await withGateway({ gateway: { conditions } }, async ({ call, answer, seen }) => {
      answer((request, { target }) =>
        target.includes("versioning")
          ? new Response("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
          : request.method === "HEAD"
          ? new Response(null, {
            headers: { etag: '"e"', "x-amz-version-id": "9", "last-modified": FUTURE, "content-length": "0" },
          })
          : new Response("<R><ETag>e</ETag></R>")
      );
      for (const [operation, [write, method, path, body]] of Object.entries(WRITES)) {
        const given: Given[] = [{ "if-match": '"e"' }, { "if-none-match": '"x"' }, { "if-unmodified-since": FUTURE }];
        for (const headers of given) {
          const before = seen.length;
          const response = await call(`/api/v1/buckets/b/${path}`, { method, body, headers });
          const isHeld = table !== null && table[write] !== true && (table[write] as readonly string[]).length > 0;
          const at = `${store} ${operation} ${JSON.stringify(headers)}: ${await response.text()}`;
          assert.equal(response.status === 501, !isHeld, at);
          const written = seen.slice(before).filter(({ method }) => method !== "HEAD" && method !== "GET");
          if (!isHeld) assert.deepEqual(written.map(({ method }) => method), [], at);
        }
      }
      const headers = { "x-amz-copy-source-if-match": '"e"' };
      const copy = await call("/api/v1/buckets/b/objects/k/copy", { method: "POST", body: JSON_COPY, headers });
      await copy.body?.cancel();
      assert.equal(copy.status === 501, !table?.copySource, store);
      assert.equal(
        (await call("/api/v1/buckets/b/objects/k?version_id=9", {
          method: "DELETE",
          headers: { "if-match": '"x"' },
        })).status,
        412,
        "a version never changes, so each store is good enough",
      );
    });
  }
});

Deno.test("conditions: an operation without conditions rejects them, and sends nothing", async () => {
  const tags = JSON.stringify({ tags: {} });
  const keys = JSON.stringify({ keys: ["k"] });
  const operations: [string, string, (string | FormData)?][] = [
    ["POST", "objects/delete", keys],
    ["POST", "objects/delete-task", keys],
    ["PUT", "tags/k", tags],
    ["DELETE", "tags/k"],
    ["PUT", "objects/k/acl", "{}"],
    ["POST", "multipart/k"],
    ["PUT", "multipart/k?upload_id=u&part_number=1", "x"],
    ["POST", "multipart/k/abort", JSON.stringify({ upload_id: "u" })],
    ["PUT", "versioning", JSON.stringify({ status: "Enabled" })],
  ];
  await withGateway({}, async ({ call, seen, origin }) => {
    for (const [method, path, body] of operations) {
      for (const name of ["If-Match", "If-None-Match", "If-Unmodified-Since", "x-amz-copy-source-if-match"]) {
        const headers = { [name]: "*" };
        const response = await call(`/api/v1/buckets/b/${path}`, { method, body, headers });
        assert.deepEqual([response.status, await response.json()], [501, {
          detail: `${name.toLowerCase()}: this operation does not support the condition`,
        }], `${method} ${path}`);
      }
    }
    assert.equal(
      (await fetch(`${origin}/api/v1/buckets/b/tags/k`, {
        method: "DELETE",
        headers: { "If-Match": "x" },
      })).status,
      401,
    );
    assert.deepEqual(seen, []);
  });
});
