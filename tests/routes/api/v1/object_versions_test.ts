import assert from "node:assert/strict";
import { type FakeAnswer, gatewayTest, s3Error } from "@/tests/routes/gateway_fixture.ts";
import { type EmbeddedGateway, embeddedTest } from "@/tests/routes/api/v1/mapi/embedded_gateway.ts";

const B = "/api/v1/buckets/b";

const version = (key: string, id: string, at: string, latest = false) =>
  `<Version><Key>${key}</Key><VersionId>${id}</VersionId><IsLatest>${latest}</IsLatest><LastModified>${at}</LastModified>` +
  '<ETag>"e"</ETag><Size>5</Size><StorageClass>STANDARD</StorageClass></Version>';
const marker = (key: string, id: string, at: string, latest = false) =>
  `<DeleteMarker><Key>${key}</Key><VersionId>${id}</VersionId><IsLatest>${latest}</IsLatest>` +
  `<LastModified>${at}</LastModified></DeleteMarker>`;
const page = (entries: string, next?: string) =>
  new Response(
    `<ListVersionsResult><EncodingType>url</EncodingType><IsTruncated>${next !== undefined}</IsTruncated>` +
      `${
        next === undefined ? "" : `<NextKeyMarker>k</NextKeyMarker><NextVersionIdMarker>${next}</NextVersionIdMarker>`
      }` +
      `${entries}</ListVersionsResult>`,
  );
const T = (second: string) => `2026-01-01T00:00:${second}Z`;

gatewayTest(
  "versions of a key: only its own, the newest first, delete markers told apart",
  async ({ call, answer, seen }) => {
    answer(() =>
      page(
        version("k+%C3%A5", "3", T("03.500")) + version("k+%C3%A5", "1", T("01")) +
          version("k+%C3%A5/more", "9", T("09"), true) +
          marker("k+%C3%A5", "4", T("03.750"), true) + marker("k+%C3%A5", "2", T("03")),
        "9",
      )
    );
    const response = await call(`${B}/versions/k%20å?max_keys=5`);
    const body = await response.json();
    assert.deepEqual(body.versions.map((entry: Record<string, unknown>) => [entry.VersionId, entry.IsDeleteMarker]), [
      ["4", true],
      ["3", false],
      ["2", true],
      ["1", false],
    ]);
    assert.deepEqual(body.versions[0], {
      Key: "k å",
      VersionId: "4",
      IsLatest: true,
      LastModified: "2026-01-01T00:00:03.750000Z",
      Owner: null,
      IsDeleteMarker: true,
      ETag: null,
      Size: null,
      StorageClass: null,
    });
    assert.deepEqual(body.versions[1], {
      Key: "k å",
      VersionId: "3",
      IsLatest: false,
      LastModified: "2026-01-01T00:00:03.500000Z",
      Owner: null,
      IsDeleteMarker: false,
      ETag: '"e"',
      Size: 5,
      StorageClass: "STANDARD",
    });
    assert.deepEqual([body.is_truncated, body.next_version_id_marker, body.key_count], [false, null, 4]);
    assert.deepEqual(Object.fromEntries(new URL(seen[0].target, "http://x").searchParams), {
      versions: "",
      "max-keys": "5",
      "encoding-type": "url",
      prefix: "k å",
    });
    assert.equal(seen.length, 1);
  },
);

gatewayTest(
  "versions of a key: a page says that it is the last one when only other keys follow",
  async ({ call, answer, seen }) => {
    let following = version("k", "1", T("01"));
    answer((_request, { target }) =>
      target.includes("max-keys=1&")
        ? page(following)
        : page(version("k", "3", T("03"), true) + version("k", "2", T("02")), "2")
    );
    const listed = async (query: string) => {
      const { versions: _, ...rest } = await (await call(`${B}/versions/k?${query}`)).json();
      return rest;
    };
    assert.deepEqual(await listed("max_keys=2&version_id_marker=4"), {
      is_truncated: true,
      next_version_id_marker: "2",
      key_count: 2,
    });
    const asked = seen.map(({ target }) => new URL(target, "http://x").searchParams);
    assert.deepEqual(
      asked.map((query) => [query.get("key-marker"), query.get("version-id-marker"), query.get("max-keys")]),
      [
        ["k", "4", "2"],
        ["k", "2", "1"],
      ],
    );
    following = version("k/more", "1", T("01"));
    assert.deepEqual(await listed("max_keys=2"), { is_truncated: false, next_version_id_marker: null, key_count: 2 });

    answer(() => page(following));
    const absent = await call(`${B}/versions/k`);
    assert.deepEqual([absent.status, await absent.json()], [404, { detail: "object 'k' not found" }]);
    assert.deepEqual(await listed("version_id_marker=1"), {
      is_truncated: false,
      next_version_id_marker: null,
      key_count: 0,
    });
    for (const query of ["max_keys=0", "max_keys=1001", "version_id_marker="]) {
      const rejected = await call(`${B}/versions/k?${query}`);
      assert.equal(rejected.status, 422, `${query}: ${await rejected.text()}`);
    }
  },
);

interface FakeObject {
  readonly versioning?: string;
  /** Null: a delete marker is in front. */
  readonly current: { readonly id: string | null; readonly etag: string } | null;
  readonly sizeBytes?: number;
  readonly copy?: () => Response;
  readonly tags?: number;
}

/** A store with one object of which version 1 exists and version 2 is a delete marker. */
function storeOf({ versioning = "Enabled", current, sizeBytes = 5, copy, tags = 0 }: FakeObject): FakeAnswer {
  return (request, { target }) => {
    const { searchParams } = new URL(target, "http://x");
    if (searchParams.has("versioning")) {
      if (versioning === "forbidden") return s3Error(403, "AccessDenied", "not yours");
      return new Response(
        `<VersioningConfiguration>${versioning && `<Status>${versioning}</Status>`}</VersioningConfiguration>`,
      );
    }
    if (request.method === "HEAD") {
      const id = searchParams.get("versionId");
      if (id === "2") return new Response(null, { status: 405 });
      if (id === null ? current === null : id !== "1" && id !== current?.id) return new Response(null, { status: 404 });
      const headers = new Headers({
        "content-length": String(sizeBytes),
        etag: id === "1" ? '"old"' : current?.etag ?? "",
      });
      const version = id ?? current?.id;
      if (version) headers.set("x-amz-version-id", version);
      if (tags > 0) headers.set("x-amz-tagging-count", String(tags));
      headers.set("x-amz-meta-page", "7");
      return new Response(null, { headers });
    }
    if (searchParams.has("tagging")) {
      return new Response("<Tagging><TagSet><Tag><Key>a b</Key><Value>c&amp;d=</Value></Tag></TagSet></Tagging>");
    }
    if (searchParams.has("uploads")) {
      return new Response("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>");
    }
    if (searchParams.has("partNumber")) return new Response('<CopyPartResult><ETag>"p"</ETag></CopyPartResult>');
    if (request.method === "DELETE") return new Response(null, { status: 204 });
    const headers = { "x-amz-version-id": "9" };
    return copy?.() ??
      (request.method === "POST"
        ? new Response('<CompleteMultipartUploadResult><ETag>"m"</ETag></CompleteMultipartUploadResult>', { headers })
        : new Response('<CopyObjectResult><ETag>"old"</ETag></CopyObjectResult>', { headers }));
  };
}

gatewayTest(
  "restore: an old version is copied onto its key, unless that was written meanwhile",
  async ({ call, answer, seen }) => {
    const restore = async (version_id: unknown) => {
      seen.length = 0;
      const response = await call(`${B}/restore/k%20å`, { method: "POST", body: JSON.stringify({ version_id }) });
      return [response.status, await response.json()] as const;
    };
    const restored = (version_id: string | null, etag: string) => ({
      status: "restored",
      bucket: "b",
      key: "k å",
      version_id,
      etag,
    });
    answer(storeOf({ current: { id: "3", etag: '"new"' } }));
    assert.deepEqual(await restore("1"), [200, restored("9", '"old"')]);
    const copy = seen[seen.length - 1];
    assert.deepEqual([copy.method, copy.target], ["PUT", "/b/k%20%C3%A5"]);
    assert.equal(copy.headers.get("x-amz-copy-source"), "/b/k%20%C3%A5?versionId=1");
    assert.equal(copy.headers.get("x-amz-metadata-directive"), "COPY");
    assert.deepEqual([copy.headers.get("if-match"), copy.headers.get("if-none-match")], ['"new"', null]);

    answer(storeOf({ current: null }));
    assert.deepEqual(await restore("1"), [200, restored("9", '"old"')]);
    const over = seen[seen.length - 1].headers;
    assert.deepEqual([over.get("if-match"), over.get("if-none-match")], [null, "*"], "in front of a delete marker");

    answer(storeOf({ current: { id: "3", etag: '"new"' } }));
    assert.deepEqual(await restore("3"), [200, restored("3", '"new"')]);
    assert.ok(seen.every(({ method }) => method !== "PUT"), "it is current already");

    for (const code of ["PreconditionFailed", "NoSuchKey", "ConditionalRequestConflict"]) {
      answer(storeOf({ current: { id: "3", etag: '"new"' }, copy: () => s3Error(412, code, "changed") }));
      assert.deepEqual(await restore("1"), [409, {
        detail: "object 'k å': was changed meanwhile; nothing was restored",
      }]);
    }
    answer(storeOf({ current: { id: "3", etag: '"new"' }, copy: () => s3Error(403, "AccessDenied", "no") }));
    assert.deepEqual(await restore("1"), [403, { detail: "object 'k å': no" }]);
  },
);

gatewayTest(
  "restore: what cannot be restored is an error that says why, and nothing is written",
  async ({ call, answer, seen }) => {
    const current = { id: "3", etag: '"new"' };
    const cases: [FakeObject, unknown, number, string][] = [
      [{ current }, "7", 404, "version '7' of object 'k' not found"],
      [{ current }, "2", 400, "version_id: is a delete marker, which cannot be restored"],
      [
        { current, versioning: "" },
        "1",
        409,
        "bucket 'b': has no versioning, so there are no older versions to restore",
      ],
      [
        { current, versioning: "Suspended" },
        "1",
        409,
        "bucket 'b': versioning is suspended, so a restore could replace a version; switch it on first",
      ],
      [{ current: { id: null, etag: '"e"' }, versioning: "forbidden" }, "1", 403, "bucket 'b': not yours"],
      [{ current: { id: "null", etag: '"e"' }, versioning: "forbidden" }, "1", 403, "bucket 'b': not yours"],
    ];
    for (const [object, version_id, status, detail] of cases) {
      answer(storeOf(object));
      const response = await call(`${B}/restore/k`, { method: "POST", body: JSON.stringify({ version_id }) });
      assert.deepEqual([response.status, await response.json()], [status, { detail }]);
    }
    answer(() => s3Error(501, "NotImplemented", "lacking"));
    const lacking = await call(`${B}/restore/k`, { method: "POST", body: '{"version_id":"1"}' });
    assert.deepEqual([lacking.status, await lacking.json()], [501, {
      detail: "'restore_object_version' is not supported by the hcp backend",
    }]);
    for (
      const body of [{}, { version_id: "" }, { version_id: 1 }, { version_id: "\ud800" }, { version_id: "1", x: 1 }]
    ) {
      const rejected = await call(`${B}/restore/k`, { method: "POST", body: JSON.stringify(body) });
      assert.equal(rejected.status, 422, await rejected.text());
    }
    assert.ok(seen.every(({ method }) => method === "GET" || method === "HEAD"));

    answer(storeOf({ current, versioning: "forbidden" }));
    const permitted = await call(`${B}/restore/k`, { method: "POST", body: '{"version_id":"1"}' });
    assert.equal(permitted.status, 200, `only the owner reads the setting: ${await permitted.text()}`);
    for (const status of [200, 405]) {
      const store = storeOf({ current, versioning: "forbidden" });
      answer((request, received) =>
        received.target.includes("versionId=null") ? new Response(null, { status }) : store(request, received)
      );
      seen.length = 0;
      const refused = await call(`${B}/restore/k`, { method: "POST", body: '{"version_id":"1"}' });
      assert.deepEqual([refused.status, await refused.json()], [409, {
        detail: "object 'k': has a version 'null', which a restore would replace if versioning is suspended; " +
          "only a user who may read that setting can restore it",
      }]);
      assert.ok(seen.every(({ method }) => method === "GET" || method === "HEAD"));
    }
  },
);

gatewayTest(
  "restore: above 5 GiB by parts of that version, with its metadata and tags, on the same condition",
  async ({ call, answer, seen }) => {
    answer(storeOf({ current: { id: "3", etag: '"new"' }, sizeBytes: 5 * 1024 ** 3 + 1, tags: 1 }));
    const response = await call(`${B}/restore/k`, { method: "POST", body: '{"version_id":"1"}' });
    assert.deepEqual(await response.json(), {
      status: "restored",
      bucket: "b",
      key: "k",
      version_id: "9",
      etag: '"m"',
    });
    const begun = seen.find(({ target }) => target.includes("uploads="));
    assert.equal(begun?.headers.get("x-amz-meta-page"), "7");
    assert.equal(begun?.headers.get("x-amz-tagging"), "a%20b=c%26d%3D");
    assert.equal(seen.find(({ target }) => target.includes("tagging"))?.target, "/b/k?tagging=&versionId=1");
    const parts = seen.filter(({ target }) => target.includes("partNumber="));
    assert.equal(parts.length, 11);
    for (const { headers } of parts) {
      assert.equal(headers.get("x-amz-copy-source"), "/b/k?versionId=1");
      assert.equal(headers.get("x-amz-copy-source-if-match"), '"old"');
    }
    const completion = seen[seen.length - 1];
    assert.deepEqual([completion.method, completion.headers.get("if-match")], ["POST", '"new"']);
  },
);

gatewayTest(
  "versions and restore: the key is all that follows, and other methods are 405",
  async ({ call, answer, seen }) => {
    answer(() => page(version("a/b/versions", "1", T("01"), true)));
    for (const path of ["a/b/versions", "a%2Fb%2Fversions", "a/b/versions?as=object"]) {
      const response = await call(`${B}/versions/${path}`);
      assert.equal(response.status, 200, path);
      assert.equal((await response.json()).versions[0].Key, "a/b/versions");
    }
    answer(() => page(""));
    assert.deepEqual((await (await call(`${B}/versions`)).json()).versions, [], "those of the bucket");
    const slash = await call(`${B}/versions/?prefix=a`, { redirect: "manual" });
    assert.deepEqual([slash.status, slash.headers.get("Location")], [307, `${B}/versions?prefix=a`]);
    seen.length = 0;
    assert.equal((await call(`${B}/restore/`, { method: "POST", body: "{}" })).status, 404);
    assert.equal((await call(`${B}/restore`, { method: "POST", body: "{}" })).status, 404);
    assert.equal((await call(`${B}/versions/a%ff`)).status, 400);
    for (
      const [path, others, allow] of [["versions/k", "HEAD PUT POST", "GET"], ["restore/k", "GET HEAD PUT", "POST"]]
    ) {
      for (const method of others.split(" ")) {
        const response = await call(`${B}/${path}`, { method });
        assert.deepEqual([response.status, response.headers.get("Allow")], [405, allow], `${method} ${path}`);
        await response.body?.cancel();
      }
    }
    assert.deepEqual(seen, []);
  },
);

interface Listed {
  readonly VersionId: string;
  readonly IsLatest: boolean;
  readonly IsDeleteMarker: boolean;
  readonly Size: number | null;
}

/** The path of an object's versions, tags or restore. */
function at(path: string, word: "versions" | "tags" | "restore"): string {
  return path.replace("/objects/", `/${word}/`);
}

async function put({ call }: EmbeddedGateway, path: string, body: string, headers: Record<string, string> = {}) {
  const response = await call("PUT", path, body, { headers });
  assert.equal(response.status, 200, await response.text());
  return response.headers.get("x-amz-version-id") ?? "";
}

async function versionsOf({ json }: EmbeddedGateway, path: string, query = ""): Promise<readonly Listed[]> {
  const { versions } = await json("GET", `${at(path, "versions")}${query}`);
  assert.ok(Array.isArray(versions));
  return versions;
}

embeddedTest("restore in the embedded store: a write that comes first is not lost", async (objects) => {
  const path = "/buckets/maps/objects/raced";
  const first = await put(objects, path, "one");
  await put(objects, path, "two");
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      if (n % 2 === 0) return { written: await put(objects, path, `write ${n}`) };
      const response = await objects.call("POST", at(path, "restore"), { version_id: first });
      await response.body?.cancel();
      assert.ok(response.status === 200 || response.status === 409, String(response.status));
      return {};
    }),
  );
  const ids = (await versionsOf(objects, path)).map(({ VersionId }) => VersionId);
  for (const { written } of outcomes) if (written) assert.ok(ids.includes(written));
});
