import assert from "node:assert/strict";
import { z } from "zod";
import { enterTenant, RequestContext, Slots, UnprovenRequests } from "@/lib/http/request_context.ts";
import { type Method, publicOperation } from "@/lib/http/operation.ts";
import { readObjectPart, StorageGateway } from "@/lib/auth/storage_gateway.ts";
import { inProcessGateway } from "@/lib/auth/in_process_gateway.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";

const ACTING = { tenant: "archive", user: "curator", password: "secret" };
const OBJECT = new TextEncoder().encode("the bytes of an object");
const BUCKETS = Array.from({ length: 23 }, (_, index) => `bucket-${index}`);

/** A gateway with 12 slots for a tenant and 4 for the logins of an address. */
function limitedGateway() {
  const role = new Slots(1000);
  const tenants = new Slots(Infinity, 12);
  const logins = new UnprovenRequests(4, 100);
  /** Slots of the tenant that are taken while an object is read. */
  const taken: number[] = [];
  const operation = (
    method: Method,
    path: string,
    admit: (context: RequestContext) => void | Promise<void>,
    response: () => Response = () => Response.json({}),
  ) =>
    publicOperation({
      id: path,
      method,
      path,
      tag: "t",
      summary: "s",
      params: z.object({ bucket: z.string().optional() }),
      responses: {},
      handler: response,
    }, admit);
  const ofTenant = (context: RequestContext) => enterTenant(role, tenants, context, "archive");
  const service = inProcessGateway([
    operation("POST", "/api/v1/auth/token", async (context) => context.hold(await logins.enter(context)), () => {
      return Response.json({ access_token: "a" });
    }),
    operation("GET", "/api/v1/buckets/{bucket}/versioning", ofTenant),
    operation("HEAD", "/api/v1/buckets/{bucket}/cors", ofTenant),
    operation("GET", "/api/v1/buckets/{bucket}/objects", ofTenant, () => {
      const body = new ReadableStream({
        pull(controller) {
          taken.push(tenants.countOf("archive"));
          controller.enqueue(OBJECT.slice());
        },
      }, { highWaterMark: 0 });
      return new Response(body, { status: 206 });
    }),
  ], { log: NO_LOG, trustedHops: undefined });
  return { gateway: new StorageGateway(service, () => 0), tenants, logins, taken };
}

Deno.test("gateway of this process: what a page reads takes no slot for longer than its own response", async () => {
  const { gateway, tenants, logins } = limitedGateway();
  const { promise: completed, resolve: complete } = Promise.withResolvers<void>();
  const context = new RequestContext(new Request("http://web.example/storage"), { completed });
  for (const bucket of BUCKETS) {
    assert.equal((await gateway.read(`/buckets/${bucket}/versioning`, ACTING, context)).status, 200);
    const target = { path: `/api/v1/buckets/${bucket}/cors`, query: "" };
    assert.equal((await gateway.head(target, ACTING, context)).status, 200);
  }
  assert.deepEqual([tenants.countOf("archive"), logins.count], [0, 0]);

  const target = { path: "/api/v1/buckets/a/versioning", query: "" };
  const passedOn = await gateway.send({ method: "GET", target, headers: new Headers() }, ACTING, context);
  await passedOn.body?.cancel();
  assert.deepEqual([tenants.countOf("archive"), logins.count], [1, 0], "a response that is passed on is still sent");
  complete();
  await completed;
  await Promise.resolve();
  await Promise.resolve();
  assert.equal(tenants.countOf("archive"), 0);
});

Deno.test("gateway of this process: a part of an object that a page reads takes its slot until it was read", async () => {
  const { gateway, tenants, taken } = limitedGateway();
  const context = new RequestContext(new Request("http://web.example/storage"), { completed: new Promise(() => {}) });
  const target = { path: "/api/v1/buckets/a/objects", query: "" };
  const acting = { ...ACTING, digest: "login" };
  const part = await readObjectPart(gateway, target, acting, { from: 0, length: OBJECT.length + 9 }, context);
  assert.equal(new TextDecoder().decode(part ?? undefined), "the bytes of an objectthe bytes");
  assert.deepEqual(taken, [1, 1]);
  await new Promise<void>((resolve) => queueMicrotask(resolve));
  assert.equal(tenants.countOf("archive"), 0, "though the page is still sent");
});
