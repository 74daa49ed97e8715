import fc from "fast-check";
import assert from "node:assert/strict";
import { rawTarget } from "@/lib/http/request_context.ts";
import { downloadPath } from "@/lib/pages/storage/storage_paths.ts";
import { gatewayTarget, sandboxObject } from "@/lib/auth/storage_api_path.ts";

const target = (path: string, query = "") => gatewayTarget({ path: `/storage/api/${path}`, query });

Deno.test("storage API proxy: placeholders in the path take their values from the query, the rest of which goes on", () => {
  assert.deepEqual(target("buckets"), { path: "/api/v1/buckets", query: "" });
  assert.deepEqual(target("buckets/:bucket/objects", "account=a%2Fb&bucket=maps&prefix=x%2F&max_keys=3"), {
    path: "/api/v1/buckets/maps/objects",
    query: "prefix=x%2F&max_keys=3",
  });
  assert.deepEqual(target("buckets/:bucket/multipart/:key/complete", "bucket=maps&key=a%2Fb%20c%3F%23"), {
    path: "/api/v1/buckets/maps/multipart/a%2Fb%20c%3F%23/complete",
    query: "",
  });
  assert.deepEqual(target("buckets/:bucket/objects/download/:task_id", "bucket=maps&task_id=abc"), {
    path: "/api/v1/buckets/maps/objects/download/abc",
    query: "",
  });
  assert.equal(target("buckets/:bucket/objects/:key/acl", "bucket=maps&key=a&as=object")?.query, "");
  for (const task of ["s3_stats", "delete-task"]) {
    assert.equal(
      target(`buckets/:bucket/objects/${task}`, "bucket=maps")?.path,
      `/api/v1/buckets/maps/objects/${task}`,
    );
  }
  const check = target("buckets/:bucket/fixity/:task_id/report", "bucket=maps&task_id=abc&format=csv");
  assert.deepEqual(check, { path: "/api/v1/buckets/maps/fixity/abc/report", query: "format=csv" });
  const moved = target("buckets/:bucket/transfer/:task_id/cancel", "bucket=maps&task_id=abc");
  assert.deepEqual(moved, { path: "/api/v1/buckets/maps/transfer/abc/cancel", query: "" });
});

Deno.test("storage API proxy: operations that show keys or tokens or manage accounts, and paths of another form, are not opened", () => {
  for (
    const path of [
      "",
      "credentials",
      "auth/token",
      "mapi/tenants",
      "jobs",
      "buckets/",
      "buckets//objects",
      "buckets/..",
      "buckets/%2e%2e/credentials",
      "buckets/maps/objects",
      "Buckets",
      "buckets/:other",
      "buckets/:bucket/objects/a.txt",
    ]
  ) assert.equal(target(path, "bucket=x.y&other=1"), null, path);
  assert.equal(target("buckets/:bucket"), null);
  assert.equal(target("buckets/:bucket", "bucket="), null);
  for (const path of ["objects/:task_id", "objects/evil", "objects/:key/:task_id", ":task_id", "objects/x/:key"]) {
    assert.equal(target(`buckets/:bucket/${path}`, "bucket=maps&key=k&task_id=evil"), null, path);
  }
  for (const name of [".", "..", "%2e%2e", "a/../b"]) {
    const value = encodeURIComponent(name);
    assert.equal(target("buckets/:bucket/objects", `bucket=${value}`), null);
    assert.equal(target("buckets/:bucket/delete-task/:task_id", `bucket=maps&task_id=${value}`), null, name);
  }
});

Deno.test("storage API proxy: every key arrives at the gateway as it is, through what a browser does to an address", () => {
  const key = fc.string({ unit: "grapheme-composite", minLength: 1, maxLength: 60 });
  const parts = fc.array(fc.oneof(key, fc.constantFrom(".", "..", "", " ", "%2e", "\n", "a+b")), { minLength: 1 });
  fc.assert(fc.property(parts, (segments) => {
    const written = segments.join("/").toWellFormed() || "/";
    const address = new URL(downloadPath({ account: "a/b", bucket: "maps", key: written }), "http://here.example");
    const found = gatewayTarget(rawTarget(address.href));
    const prefix = "/api/v1/buckets/maps/objects/";
    assert.ok(found !== null && found.path.startsWith(prefix));
    assert.equal(decodeURIComponent(found.path.slice(prefix.length)), written);
    assert.equal(found.query, "as=object");
  }));
});

const SANDBOX = "default-src 'none'; sandbox";

function changed(type: string | null, disposition: string | null = 'inline; filename="a.pdf"') {
  const headers = new Headers({ "Content-Security-Policy": SANDBOX });
  if (type !== null) headers.set("Content-Type", type);
  if (disposition !== null) headers.set("Content-Disposition", disposition);
  sandboxObject(headers, "folder/a.pdf");
  return {
    type: headers.get("Content-Type"),
    disposition: headers.get("Content-Disposition"),
    policy: headers.get("Content-Security-Policy"),
  };
}

Deno.test("shown object: what cannot run is shown with exactly the type that was recognized", () => {
  for (
    const [stored, sent] of [
      ["image/png", "image/png"],
      ["IMAGE/PNG; a=b", "image/png"],
      ["text/plain", "text/plain; charset=utf-8"],
      ["text/plain; charset=utf-7", "text/plain; charset=utf-8"],
      ["video/mp4;codecs=avc1", "video/mp4"],
    ]
  ) {
    assert.deepEqual(changed(stored), { type: sent, disposition: 'inline; filename="a.pdf"', policy: SANDBOX });
  }
});

Deno.test("shown object: a PDF has a policy without a sandbox that allows no script", () => {
  const { type, disposition, policy } = changed("application/PDF; version=1.7");
  assert.equal(type, "application/pdf");
  assert.match(disposition ?? "", /^inline/);
  assert.match(policy ?? "", /script-src 'none'.*frame-ancestors 'none'/);
  assert.doesNotMatch(policy ?? "", /sandbox/);
});

Deno.test("shown object: a type that a browser may read as another is saved under the sandbox", () => {
  for (
    const type of [
      "application/pdf;, text/html",
      "application/pdf; a=b, text/html",
      "application/pdf, text/html",
      "text/html, application/pdf",
      "application/pdf text/html",
      'application/pdf\t;x=","',
      "image/svg+xml",
      "text/html",
      "",
      null,
    ]
  ) {
    const headers = changed(type);
    assert.equal(headers.disposition, 'attachment; filename="a.pdf"', `${type}`);
    assert.equal(headers.policy, SANDBOX, `${type}`);
  }
});

Deno.test("shown object: a disposition that a browser would not follow is replaced", () => {
  for (const disposition of [null, "attachment, inline", "attachments", "inline, attachment", "form-data"]) {
    assert.equal(changed("text/html", disposition).disposition, 'attachment; filename="a.pdf"', `${disposition}`);
  }
  assert.equal(changed("text/html", "attachment; filename=b").disposition, "attachment; filename=b");
  assert.equal(changed("image/png", "inline, attachment").disposition, 'attachment; filename="a.pdf"');
});
