import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { withEmbeddedObjects } from "./embedded_objects.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };
const MIB = 1024 * 1024;

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

Deno.test(
  "presigned parts to the embedded store: each with its checksum, and the object with theirs",
  leaks,
  async () => {
    await withEmbeddedObjects(async ({ call, json }) => {
      const path = "/buckets/maps/multipart/film";
      const bodies = [new Uint8Array(5 * MIB).fill(1), new Uint8Array(5 * MIB).fill(2), new Uint8Array([3])];
      const checksums = bodies.map((body, n) => ({ part_number: n + 1, sha256: sha256(body) }));
      const size = { file_size: 10 * MIB + 1, part_size: 5 * MIB };
      const { upload_id } = await json("POST", path, { checksum_algorithm: "SHA256" });
      // The digest of the third part is not known at first.
      const first = await json("POST", `${path}/presign`, { upload_id, ...size, checksums: checksums.slice(0, 2) });
      const later = await json("POST", `${path}/presign`, { upload_id, ...size, checksums: checksums.slice(2) });
      assert.ok(Array.isArray(first.urls) && Array.isArray(later.urls));
      const links: Link[] = [first.urls[0], first.urls[1], later.urls[2]];
      assert.deepEqual(await put(links[0].url, bodies[1], links[0].headers), [400, "BadDigest"]);
      for (const [n, { url, headers }] of links.entries()) {
        assert.deepEqual(await put(url, bodies[n], headers), [200, ""]);
      }
      const { parts } = await json("GET", `${path}/parts?upload_id=${upload_id}`);
      assert.ok(Array.isArray(parts));
      assert.deepEqual(
        parts.map(({ ChecksumSHA256 }) => ChecksumSHA256),
        checksums.map(({ sha256 }) => sha256),
      );
      const wrong = parts.map((part) => ({ ...part, ChecksumSHA256: checksums[0].sha256 }));
      assert.equal((await call("POST", `${path}/complete`, { upload_id, parts: wrong })).status, 400);
      await json("POST", `${path}/complete`, { upload_id, parts });
      const headers = { "x-amz-checksum-mode": "ENABLED" };
      const read = await call("HEAD", "/buckets/maps/objects/film", undefined, { headers });
      const composite = createHash("sha256");
      for (const { sha256 } of checksums) composite.update(sha256, "base64");
      assert.equal(read.headers.get("x-amz-checksum-sha256"), `${composite.digest("base64")}-3`);
      assert.equal(read.headers.get("x-amz-checksum-type"), "COMPOSITE");

      const again = await json("POST", `${path}/presign`, { ...size, checksums });
      const through = await call("PUT", `${path}?upload_id=${again.upload_id}&part_number=1`, bodies[0], {
        headers: { "x-amz-checksum-sha256": checksums[1].sha256, "content-length": String(5 * MIB) },
      });
      assert.equal(through.status, 400, await through.text());
    });
  },
);
