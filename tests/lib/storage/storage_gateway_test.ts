import assert from "node:assert/strict";
import { HttpError } from "@/lib/http/errors.ts";
import { RequestContext } from "@/lib/http/request_context.ts";
import type { GatewayService } from "@/lib/storage/gateway_service.ts";
import { StorageGateway } from "@/lib/storage/storage_gateway.ts";

const ACTING = { tenant: "archive", user: "curator", password: "secret" };

/** A gateway that issues tokens and responds to all else with this. */
function gatewayThat(respond: () => Response): StorageGateway {
  const service = ({ target }: { target: { path: string } }) =>
    Promise.resolve(target.path.endsWith("/auth/token") ? Response.json({ access_token: "token" }) : respond());
  return new StorageGateway(service, () => 0);
}

async function statusOf(respond: () => Response, signal?: AbortSignal): Promise<number> {
  const context = new RequestContext(new Request("http://web.example/storage", { signal }));
  try {
    return (await gatewayThat(respond).read("/buckets", ACTING, context)).status;
  } catch (error) {
    assert.ok(error instanceof HttpError, String(error));
    return error.status;
  }
}

function brokenOff(): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"buckets":['));
        controller.error(new TypeError("connection reset"));
      },
    }),
  );
}

Deno.test("storage gateway: a body that breaks off or is not JSON is 502", async () => {
  assert.equal(await statusOf(() => Response.json({ buckets: [] })), 200);
  assert.equal(await statusOf(brokenOff), 502);
  assert.equal(await statusOf(() => new Response("<h1>proxy</h1>")), 502);
  assert.equal(await statusOf(() => new Response(null)), 502);
  assert.equal(await statusOf(() => new Response("not found", { status: 404 })), 404);
});

Deno.test("storage gateway: a body that breaks off because the client has left is 499", async () => {
  assert.equal(await statusOf(brokenOff, AbortSignal.abort()), 499);
});

Deno.test("storage gateway: a refusal of a login or of a page's read is one of the page's request, and stays", async () => {
  for (const refused of ["/auth/token", "/buckets"]) {
    let isRefusing = true;
    const service: GatewayService = ({ target, known }) => {
      const isRefused = isRefusing && target.path.endsWith(refused);
      known?.(new RequestContext(new Request("http://gateway.example/")));
      if (!isRefused) return Promise.resolve(Response.json({ access_token: "token" }));
      const handled = new RequestContext(new Request("http://gateway.example/"));
      handled.refusal = "guesses_address";
      known?.(handled);
      return Promise.resolve(new Response(null, { status: 429 }));
    };
    const gateway = new StorageGateway(service, () => 0);
    const context = new RequestContext(new Request("http://web.example/storage"));
    await gateway.read("/buckets", ACTING, context).catch(() => {});
    assert.equal(context.refusal, "guesses_address", refused);
    isRefusing = false;
    await gateway.read("/buckets", ACTING, context);
    assert.equal(context.refusal, "guesses_address", refused);
  }
});
