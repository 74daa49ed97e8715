import assert from "node:assert/strict";
import { locate } from "@/lib/s3/s3_client.ts";
import { derivedAddresses } from "@/lib/std/store_addresses.ts";

const NOTHING = { domain: null, host: null, mapiPort: 9090, s3Endpoint: null, s3PublicEndpoint: null };

Deno.test("store addresses: hosts follow the domain and the token's tenant", async () => {
  const store = derivedAddresses({ ...NOTHING, domain: "store.example.org" });
  assert.equal((await store.s3("archive"))?.endpoint, "https://archive.store.example.org");
  assert.equal(await store.s3(null), null);
  assert.equal(await store.mapi("archive"), "https://archive.store.example.org:9090");
  assert.equal(await store.mapi(null), "https://admin.store.example.org:9090");
});

Deno.test("store addresses: without a domain there is one host for everybody", async () => {
  const store = derivedAddresses({ ...NOTHING, host: "mapi.example.org", s3Endpoint: "https://s3.example.org/" });
  assert.equal((await store.s3("archive"))?.endpoint, "https://s3.example.org");
  assert.equal(await store.mapi("archive"), "https://mapi.example.org:9090");
});

Deno.test("store addresses: shared links may show another address, with the tenant filled in", async () => {
  const store = derivedAddresses({
    ...NOTHING,
    domain: "store.example.org",
    s3PublicEndpoint: "https://files.example.org/{tenant}",
  });
  assert.equal((await store.s3("archive"))?.publicEndpoint, "https://files.example.org/archive");
});

Deno.test("store addresses: a bucket is a host name where the store wants it and the name can be one", () => {
  const path = { origin: "https://s3.example.org", path: "/maps/a%20b" };
  assert.deepEqual(locate("https://s3.example.org", false, "maps", "a b"), path);
  assert.deepEqual(locate("https://s3.example.org", true, "maps", "a b"), {
    origin: "https://maps.s3.example.org",
    path: "/a%20b",
  });
  assert.deepEqual(locate("https://s3.example.org", true, "maps"), {
    origin: "https://maps.s3.example.org",
    path: "/",
  });
  assert.equal(locate("https://s3.example.org", true, "Maps.2", "a").origin, "https://s3.example.org");
  for (const bucket of ["", ".", "..", "a/b", "\ud800"]) {
    assert.throws(() => locate("https://s3.example.org", false, bucket), { status: 400 });
  }
});
