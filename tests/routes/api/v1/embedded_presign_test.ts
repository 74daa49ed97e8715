import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { withEmbeddedObjects } from "./embedded_objects.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };
interface Link {
  readonly url: string;
  readonly headers?: Record<string, string>;
}

function sha256(body: string | Uint8Array<ArrayBuffer>): string {
  return createHash("sha256").update(body).digest("base64");
}

async function put(url: string, body: BodyInit, headers?: Record<string, string>): Promise<[number, string]> {
  const response = await fetch(url, { method: "PUT", body, headers });
  return [response.status, /<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? ""];
}

Deno.test(
  "presigned writes to the embedded store: a signed checksum lets one body through, with its header only",
  leaks,
  async () => {
    await withEmbeddedObjects(async ({ call, json }) => {
      const presign = async (body: Record<string, unknown>): Promise<Link> => {
        const { url, headers } = await json("POST", "/presign", { bucket: "maps", method: "put_object", ...body });
        return { url: String(url), headers: headers as Link["headers"] };
      };
      const body = new TextEncoder().encode("hello");
      const checksum_sha256 = sha256(body);
      const { url, headers } = await presign({ key: "k", checksum_sha256, content_type: "text/x-hello" });
      assert.deepEqual(await put(url, "hellO", headers), [400, "BadDigest"]);
      assert.deepEqual(await put(url, body), [403, "SignatureDoesNotMatch"]);
      const other = { ...headers, "x-amz-checksum-sha256": sha256("hellO") };
      assert.deepEqual(await put(url, "hellO", other), [403, "SignatureDoesNotMatch"]);
      assert.deepEqual(await put(url, body, { ...headers, "content-type": "text/html" }), [
        403,
        "SignatureDoesNotMatch",
      ]);
      assert.equal((await call("HEAD", "/buckets/maps/objects/k")).status, 404, "nothing was written");
      assert.deepEqual(await put(url, body, headers), [200, ""]);
      const read = await call("HEAD", "/buckets/maps/objects/k", undefined, {
        headers: { "x-amz-checksum-mode": "ENABLED" },
      });
      assert.equal(read.headers.get("x-amz-checksum-sha256"), checksum_sha256);
      assert.equal(read.headers.get("content-type"), "text/x-hello");

      const plain = await presign({ key: "k" });
      const unsigned = { "x-amz-checksum-sha256": checksum_sha256 };
      assert.deepEqual(await put(plain.url, body, unsigned), [403, "AccessDenied"], "a header beside the signed ones");
      const md5 = (text: string) => ({ "content-md5": createHash("md5").update(text).digest("base64") });
      assert.deepEqual(await put(plain.url, "hello", md5("hellO")), [400, "BadDigest"]);
      assert.deepEqual(await put(plain.url, "hello", md5("hello")), [200, ""], "Content-MD5 needs no signature");

      const objects = ["one", "two"].map((text) => ({ key: text, checksum_sha256: sha256(text) }));
      const { urls } = await json("POST", "/buckets/maps/objects/presign", { objects, method: "put_object" });
      assert.ok(Array.isArray(urls));
      const [one, two] = urls;
      assert.deepEqual(await put(one.url, "two", one.headers), [400, "BadDigest"]);
      assert.deepEqual(await put(one.url, "one", two.headers), [403, "SignatureDoesNotMatch"]);
      for (const { key, url, headers } of urls) assert.deepEqual(await put(url, key, headers), [200, ""]);
    });
  },
);
