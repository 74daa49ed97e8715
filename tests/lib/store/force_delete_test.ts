import assert from "node:assert/strict";
import { forceDelete } from "@/lib/store/force_delete.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { type ForceFixture, refused, withFakeBucket } from "./force_delete_fixture.ts";

const VERSIONING = "POST /mapi/tenants/archive/namespaces/b/versioningSettings";
const NAMESPACE = "POST /mapi/tenants/archive/namespaces/b";
const MAPI_DELETE = "DELETE /mapi/tenants/archive/namespaces/b";

function run({ s3, mapi, caller }: ForceFixture, changes: { mapi?: null; tenant?: null } = {}) {
  const warnings: string[] = [];
  const pauses: number[] = [];
  const deps = {
    s3,
    mapi: changes.mapi === null ? null : mapi,
    warn: (text: string) => void warnings.push(text),
    sleep: (ms: number) => Promise.resolve(void pauses.push(ms)),
  };
  const done = forceDelete(deps, changes.tenant === null ? { ...caller, tenant: null } : caller, "b");
  return { done, warnings, pauses };
}

const failsWith = (status: number, detail: string | RegExp) => (error: unknown) => {
  assert.ok(error instanceof HttpError);
  assert.equal(error.status, status);
  if (typeof detail === "string") assert.equal(error.message, detail);
  else assert.match(error.message, detail);
  return true;
};

Deno.test("force delete: versions go a page at a time, one multi-delete each, then the bucket", () =>
  withFakeBucket({ versions: 4500 }, async (fixture) => {
    await run(fixture).done;
    const { calls, batches, versions } = fixture.bucket;
    assert.deepEqual([batches, versions], [[1000, 1000, 1000, 1000, 500], 0]);
    assert.deepEqual(calls, [
      "GET /b uploads",
      ...Array.from({ length: 5 }, () => ["GET /b versions", "POST /b delete"]).flat(),
      "GET /b list-type",
      "DELETE /b",
    ]);
  }));

Deno.test("force delete: uploads in progress are aborted, current objects deleted, their new markers too", async () => {
  let listed = false;
  const instead = (call: string) => {
    if (call === "GET /b uploads") {
      return new Response(
        "<ListMultipartUploadsResult><Upload><Key>a b</Key><UploadId>u</UploadId></Upload><Upload><Key>c</Key><UploadId>v</UploadId></Upload></ListMultipartUploadsResult>",
      );
    }
    if (call === "DELETE /c uploadId") return refused(404, "NoSuchUpload");
    if (call !== "GET /b list-type" || listed) return undefined;
    listed = true;
    return new Response("<ListBucketResult><Contents><Key>late</Key></Contents></ListBucketResult>");
  };
  await withFakeBucket({ versions: 0, instead }, async (fixture) => {
    await run(fixture).done;
    assert.deepEqual(fixture.bucket.calls, [
      "GET /b uploads",
      "DELETE /b/a%20b uploadId",
      "DELETE /b/c uploadId",
      "GET /b versions",
      "GET /b list-type",
      "POST /b delete",
      "GET /b versions",
      "DELETE /b",
    ]);
  });
});

Deno.test("force delete: markers that stand still end the listing; a store without versions has none", async () => {
  const page =
    "<ListVersionsResult><IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker></ListVersionsResult>";
  const still = (call: string) => call.endsWith("versions") ? new Response(page) : undefined;
  await withFakeBucket({ versions: 0, instead: still }, async (fixture) => {
    await run(fixture).done;
    assert.equal(fixture.bucket.calls.filter((call) => call.endsWith("versions")).length, 2);
  });
  const lacking = (call: string) => /versions|uploads/.test(call) ? refused(501, "NotImplemented") : undefined;
  await withFakeBucket({ versions: 0, instead: lacking }, async (fixture) => {
    await run(fixture, { mapi: null }).done;
    assert.deepEqual(fixture.bucket.calls, ["GET /b uploads", "GET /b versions", "GET /b list-type", "DELETE /b"]);
  });
});

Deno.test("force delete: deletion records are let go through MAPI, and the delete tried again", async () => {
  let tries = 0;
  const instead = (call: string) => call === "DELETE /b" && tries++ < 2 ? refused(409, "BucketNotEmpty") : undefined;
  await withFakeBucket({
    versions: 0,
    instead: (call) => {
      if (call === MAPI_DELETE) return new Response(null, { status: 409 });
      if (call === VERSIONING) return new Response("no", { status: 403 });
      return instead(call);
    },
  }, async (fixture) => {
    const { done, warnings, pauses } = run(fixture);
    await done;
    assert.deepEqual(fixture.bucket.calls.slice(3), [
      "DELETE /b",
      VERSIONING,
      NAMESPACE,
      "DELETE /b",
      MAPI_DELETE,
      "DELETE /b",
    ]);
    assert.deepEqual(pauses, [2000]);
    assert.ok(warnings.includes("force delete: no"), "a failure of MAPI is told and does not end the work");
  });
});

Deno.test("force delete: MAPI's own delete is as good", async () => {
  const instead = (call: string) => call === "DELETE /b" ? refused(409, "BucketNotEmpty") : undefined;
  await withFakeBucket({ versions: 0, instead }, async (fixture) => {
    const { done, pauses } = run(fixture);
    await done;
    assert.equal(fixture.bucket.calls[fixture.bucket.calls.length - 1], MAPI_DELETE);
    assert.deepEqual(pauses, []);
  });
});

Deno.test("force delete: after three tries 409 with what stood in the way", async () => {
  const full = (call: string) => {
    if (call === "DELETE /b") return refused(409, "BucketNotEmpty");
    return call === MAPI_DELETE ? new Response(null, { status: 409 }) : undefined;
  };
  await withFakeBucket({ versions: 0, instead: full }, async (fixture) => {
    const { done, pauses } = run(fixture);
    await assert.rejects(
      done,
      failsWith(
        409,
        "bucket 'b': Could not delete bucket. HCP is still cleaning up internal deletion records. Please try again in a few minutes.",
      ),
    );
    assert.deepEqual(pauses, [2000, 2000]);
    assert.equal(fixture.bucket.calls.filter((call) => call === "DELETE /b").length, 4);
    assert.equal(fixture.bucket.calls.filter((call) => call === MAPI_DELETE).length, 3);
  });
  const held = Array.from(
    { length: 7 },
    (_, i) => `<Error><Key>k${i}</Key><Code>AccessDenied</Code><Message>held</Message></Error>`,
  );
  const holding = (call: string) => {
    if (call === "POST /b delete") return new Response(`<DeleteResult>${held.join("")}</DeleteResult>`);
    return full(call);
  };
  await withFakeBucket({ versions: 7, instead: holding }, async (fixture) => {
    await assert.rejects(
      run(fixture).done,
      failsWith(409, /Some objects failed to delete: k0: AccessDenied held; k1.*; k4: AccessDenied held$/),
    );
  });
  await withFakeBucket({ versions: 0, instead: full }, async (fixture) => {
    for (const changes of [{ mapi: null }, { tenant: null }] as const) {
      await assert.rejects(run(fixture, changes).done, failsWith(409, "bucket 'b': BucketNotEmpty!"));
    }
    assert.ok(!fixture.bucket.calls.some((call) => call.includes("/mapi/")));
  });
});

Deno.test("force delete: a refused batch costs its objects only; a bucket that is not there is 404", async () => {
  const broken = (call: string) => call === "POST /b delete" ? refused(500, "InternalError") : undefined;
  await withFakeBucket({ versions: 3, instead: broken }, async (fixture) => {
    const { done, warnings } = run(fixture);
    await done;
    assert.match(warnings[0], /1 not removed, such as b: BatchDeleteFailed bucket 'b': InternalError!/);
  });
  const missing = (call: string) => call.startsWith("GET /b") ? refused(404, "NoSuchBucket") : undefined;
  await withFakeBucket({ versions: 0, instead: missing }, async (fixture) => {
    await assert.rejects(run(fixture).done, failsWith(404, "bucket 'b': NoSuchBucket!"));
    assert.equal(fixture.bucket.calls.length, 1);
  });
});

Deno.test("force delete: stops when the client of a request goes, though each call to the store is quick", async () => {
  const came = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const instead = (_call: string, { batches }: { batches: number[] }) => {
    if (batches.length === 2) came.resolve();
    return undefined;
  };
  await withFakeBucket({ versions: 4_000_000, instead }, async (fixture) => {
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      const caller = { ...fixture.caller, signal: request.signal };
      await run({ ...fixture, caller }).done.then(ended.resolve, ended.resolve);
      return new Response();
    });
    const client = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
    await client.write(new TextEncoder().encode("DELETE / HTTP/1.1\r\nHost: x\r\n\r\n"));
    await came.promise;
    client.close();
    const outcome = await ended.promise;
    assert.ok(failsWith(499, /./)(outcome as Error));
    await server.shutdown();
  });
});
