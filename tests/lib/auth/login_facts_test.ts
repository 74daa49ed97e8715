import assert from "node:assert/strict";
import { RequestContext } from "@/lib/http/request_context.ts";
import { LoginFacts } from "@/lib/auth/login_facts.ts";
import { StorageGateway } from "@/lib/auth/storage_gateway.ts";

/** What a store says of an account. */
interface Store {
  /** Its data access permissions in the bucket `letters`; a status where it may not read them. */
  readonly own: readonly string[] | number | null;
  /** The status of the completion of an upload that does not exist. */
  readonly completed?: number;
  readonly hasMapi?: boolean;
  readonly backend?: string;
  readonly tenant?: string | null;
}

async function rightsIn(store: Store) {
  const { own, completed = 404, hasMapi = true, backend = "hcp", tenant = "archive" } = store;
  let now = 1_800_000_000_000;
  const paths: string[] = [];
  const gateway = new StorageGateway(({ target: { path } }) => {
    if (path.endsWith("/auth/token")) return Promise.resolve(Response.json({ access_token: "x" }));
    if (path.endsWith("/capabilities")) {
      return Promise.resolve(Response.json({ mapi_enabled: hasMapi, storage_backend: backend }));
    }
    paths.push(path);
    if (path.endsWith("/complete")) return Promise.resolve(Response.json({}, { status: completed }));
    if (typeof own === "number") return Promise.resolve(Response.json({}, { status: own }));
    const namespacePermission = own && [{ namespaceName: "Letters", permissions: { permission: own } }];
    return Promise.resolve(Response.json({ namespacePermission }));
  }, () => now);
  const facts = new LoginFacts(gateway, () => now);
  const read = () => readLetters(facts, tenant);
  const first = await read();
  const before = paths.length;
  await read();
  assert.equal(paths.length, hasMapi && tenant !== null && own !== 503 ? before : 0, "cached");
  now += 60_000;
  await read();
  return { ...first, paths: paths.slice(0, before), isReadAgain: paths.length > before };
}

/** Reads the rights of a login in the bucket `letters`. */
function readLetters(facts: LoginFacts, tenant: string | null) {
  return facts.rights(loginOf(tenant), "letters", context());
}

function loginOf(tenant: string | null) {
  const times = { expiresAt: 0, issuedAt: 0 };
  return { tenant, user: "olle/å", password: "p", ...times, slot: 0, account: "a", digest: "d" };
}

const context = () => new RequestContext(new Request("http://here.example/storage"));

const ALL = { write: true, delete: true };
const PERMISSIONS = "/api/v1/mapi/tenants/archive/userAccounts/olle%2F%C3%A5/dataAccessPermissions";
const COMPLETION = "/api/v1/buckets/letters/multipart/stackroom-rights-probe/complete";

Deno.test("login rights: an account's own permissions, and what the store lets it do beyond them", async () => {
  const own = await rightsIn({ own: ["BROWSE", "READ", "WRITE", "DELETE"] });
  assert.deepEqual(own, { ...ALL, paths: [PERMISSIONS], isReadAgain: true });
  const reader = await rightsIn({ own: ["BROWSE", "READ"], completed: 403 });
  assert.deepEqual(reader, { write: false, delete: false, paths: [PERMISSIONS, COMPLETION], isReadAgain: true });
  const none = await rightsIn({ own: null, completed: 403 });
  assert.deepEqual([none.write, none.delete], [false, false]);
  const byAccessList = await rightsIn({ own: ["BROWSE", "READ"], completed: 404 });
  assert.deepEqual([byAccessList.write, byAccessList.delete], [true, true]);
  const withoutDeletion = await rightsIn({ own: ["BROWSE", "READ", "WRITE"] });
  assert.deepEqual(
    [withoutDeletion.write, withoutDeletion.delete],
    [true, true],
    "an access list may grant it, and the store decides",
  );
  const onlyDeletion = await rightsIn({ own: ["BROWSE", "DELETE"], completed: 403 });
  assert.deepEqual([onlyDeletion.write, onlyDeletion.delete], [false, true]);
});

Deno.test("login rights: all is offered where the store does not say what an account may do", async () => {
  for (const own of [401, 403, 404, 500]) {
    assert.deepEqual(await rightsIn({ own }), { ...ALL, paths: [PERMISSIONS], isReadAgain: true }, `${own}`);
  }
  assert.deepEqual(await rightsIn({ own: [], hasMapi: false }), { ...ALL, paths: [], isReadAgain: false });
  const generic = await rightsIn({ own: [], backend: "generic", completed: 403 });
  assert.deepEqual(generic, { ...ALL, paths: [], isReadAgain: false }, "shared keys have rights of their own");
  assert.deepEqual(await rightsIn({ own: [], tenant: null }), { ...ALL, paths: [], isReadAgain: false });
  for (const completed of [200, 404, 409, 429, 500, 503]) {
    assert.equal((await rightsIn({ own: [], completed })).write, true, `${completed}`);
  }
});

Deno.test("login rights: pages that wait for the same rights share a look-up, and one that failed is not repeated at once", async () => {
  let now = 1_800_000_000_000;
  let lookUps = 0;
  const { promise: failed, reject: fail } = Promise.withResolvers<Response>();
  const gateway = new StorageGateway(({ target: { path } }) => {
    if (path.endsWith("/auth/token")) return Promise.resolve(Response.json({ access_token: "x" }));
    if (path.endsWith("/capabilities")) {
      return Promise.resolve(Response.json({ mapi_enabled: true, storage_backend: "hcp" }));
    }
    lookUps++;
    return failed;
  }, () => now);
  const facts = new LoginFacts(gateway, () => now);
  const read = () => readLetters(facts, "archive");
  const pages = [read(), read()];
  fail(new TypeError("no error of HTTP"));
  assert.deepEqual(await Promise.all(pages), [ALL, ALL]);
  assert.equal(lookUps, 1);
  assert.deepEqual([await read(), lookUps], [ALL, 1]);
  now += 10_000;
  assert.deepEqual([await read(), lookUps], [ALL, 2]);
});

Deno.test("bucket usage: a page of other buckets has their figures while those of the first are looked up", async () => {
  const { promise: slow, resolve: answer } = Promise.withResolvers<Response>();
  let lookUps = 0;
  const figures = () => Response.json({ objectCount: 2, ingestedVolume: 10 });
  const gateway = new StorageGateway(({ target: { path } }) => {
    if (path.endsWith("/auth/token")) return Promise.resolve(Response.json({ access_token: "x" }));
    if (path.endsWith("/capabilities")) {
      return Promise.resolve(Response.json({ mapi_enabled: true, storage_backend: "hcp" }));
    }
    lookUps++;
    return path.includes("/letters/") ? slow : Promise.resolve(figures());
  }, () => 0);
  const facts = new LoginFacts(gateway, () => 0);
  const read = (bucket: string) => facts.usage(loginOf("archive"), [bucket], context());
  const first = [read("letters"), read("letters")];
  assert.deepEqual(await read("maps"), new Map([["maps", { objects: 2, bytes: 10 }]]));
  answer(figures());
  for (const found of await Promise.all(first)) assert.equal(found.get("letters")?.bytes, 10);
  assert.equal(lookUps, 2);
});
