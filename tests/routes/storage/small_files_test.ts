import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";
import { HttpError } from "@/lib/http/errors.ts";
import { RequestContext } from "@/lib/http/request_context.ts";
import { batchBody } from "@/lib/presentation/storage/file_batch.ts";
import { RevokedSessions } from "@/lib/results/revoked_sessions.ts";
import { BucketUsage } from "@/lib/storage/bucket_usage.ts";
import { AuditReaders } from "@/lib/storage/audit_readers.ts";
import { LoginRights } from "@/lib/storage/login_rights.ts";
import { storageCookie } from "@/lib/storage/storage_cookie.ts";
import { StorageGateway } from "@/lib/storage/storage_gateway.ts";
import { smallFiles } from "@/routes/storage/small_files.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";

const NOW = 1_800_000_000_000;
const SITE = "http://here.example";
const KEY = createSecretKey(randomBytes(32));

function cookieOf(user: string): string {
  const login = { tenant: "archive", user, password: "p", issuedAt: NOW / 1000, expiresAt: NOW / 1000 + 60 };
  return storageCookie("http", login, [], KEY)?.split(";", 1)[0] ?? "";
}

function route() {
  const now = () => NOW;
  const gateway = new StorageGateway(
    ({ target }) => Promise.resolve(Response.json(target.path.endsWith("/token") ? { access_token: "x" } : {})),
    now,
  );
  const handler = smallFiles({
    gateway,
    usage: new BucketUsage(gateway, now),
    rights: new LoginRights(gateway, now),
    auditReaders: new AuditReaders(gateway, now),
    keys: () => [KEY],
    sessionHours: 12,
    revoked: new RevokedSessions(null, NO_LOG, now),
    campaignTenant: null,
    results: null,
    now,
  }, NO_LOG);
  return async (user: string, body: BodyInit): Promise<number> => {
    const headers = { Origin: SITE, Host: new URL(SITE).host, Cookie: cookieOf(user) };
    const request = new Request(`${SITE}/storage/api/small-files`, { method: "POST", headers, body });
    try {
      return (await handler(new RequestContext(request))).status;
    } catch (error) {
      assert.ok(error instanceof HttpError);
      if (error.status === 503) assert.equal(error.headers?.["Retry-After"], "1");
      return error.status;
    }
  };
}

/** A body that does not end before it is broken off. */
function openBody() {
  const { promise: read, resolve } = Promise.withResolvers<void>();
  let breakOff = () => {};
  const body = new ReadableStream({
    start(controller) {
      breakOff = () => controller.error(new Error("the connection broke off"));
    },
    pull: () => resolve(),
    cancel: () => resolve(),
  }, { highWaterMark: 0 });
  return { body, read, breakOff: () => breakOff() };
}

Deno.test("small files: as many bodies are held as an account may send at a time, and further ones are not read", async () => {
  const send = route();
  const file = { bucket: "letters", key: "a", headers: {}, bytes: 1 };
  const whole = batchBody([file], [new Uint8Array(1).buffer]);
  const hold = async (user: string, count: number) => {
    const bodies = Array.from({ length: count }, openBody);
    const statuses = bodies.map(({ body }) => send(user, body));
    await Promise.all(bodies.map(({ read }) => read));
    return { bodies, statuses };
  };
  const held = [await hold("a", 8)];
  assert.equal(await send("a", whole), 503);
  assert.equal(await send("A", whole), 503, "the same account");
  assert.equal(await send("b", whole), 200);
  for (const user of ["b", "c", "d"]) held.push(await hold(user, 8));
  assert.equal(await send("e", whole), 503, "all slots are taken");
  for (const { bodies } of held) for (const { breakOff } of bodies) breakOff();
  const statuses = await Promise.all(held.flatMap(({ statuses }) => statuses));
  assert.deepEqual([...new Set(statuses)], [499]);
  assert.equal(await send("e", whole), 200);
  assert.equal(await send("a", whole), 200);
});
