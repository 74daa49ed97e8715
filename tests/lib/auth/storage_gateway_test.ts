import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { issueToken, tokenKey } from "@/lib/auth/admission.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { RequestContext } from "@/lib/http/request_context.ts";
import type { GatewayRequest, GatewayService } from "@/lib/auth/gateway_service.ts";
import { StorageGateway } from "@/lib/auth/storage_gateway.ts";

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

const NOW = 1_800_000_000_000;
const SESSION = {
  tenant: "archive",
  user: "curator",
  password: "stackroom-demo",
  digest: "d",
  account: "a",
  expiresAt: 1,
};
const TARGET = { path: "/api/v1/buckets", query: "" };
const CHALLENGE = { "WWW-Authenticate": "Bearer" };

/** A gateway whose tokens have numbers, and which accepts those from a number on. */
class Gateway {
  tokens = 0;
  accepted = 1;
  /** The token of each request, with the body that came with it. */
  readonly requests: string[] = [];
  readonly storage = new StorageGateway((request) => this.#respond(request), () => NOW, () => {
    throw new Error("a token that is not accepted says nothing of the account");
  });

  async status(request: Partial<GatewayRequest> = {}): Promise<number> {
    const context = new RequestContext(new Request("http://here.example/storage"));
    const sent = { method: "GET", target: TARGET, headers: new Headers(), ...request };
    return (await this.storage.send(sent, SESSION, context)).status;
  }

  async #respond({ target, headers, body }: GatewayRequest): Promise<Response> {
    if (target.path === "/api/v1/auth/token") return Response.json({ access_token: token(++this.tokens) });
    const sent = headers.get("Authorization")?.replace("Bearer ", "") ?? "";
    const number = Array.from({ length: this.tokens }, (_, n) => n + 1).find((n) => token(n) === sent) ?? 0;
    this.requests.push(`${number} ${await new Response(body).text()}`.trim());
    return number >= this.accepted ? Response.json({}) : Response.json({}, { status: 401, headers: CHALLENGE });
  }
}

/** A token of the next hour. */
function token(number: number): string {
  const part = (value: unknown) => btoa(JSON.stringify(value)).replace(/=+$/, "");
  return `${part({ alg: "HS256" })}.${part({ exp: NOW / 1000 + 3600, number })}.x`;
}

Deno.test("storage gateway: a token that is no longer accepted is replaced once, and the request sent again", async () => {
  const gateway = new Gateway();
  assert.deepEqual([await gateway.status(), await gateway.status()], [200, 200]);
  assert.deepEqual(gateway.requests, ["1", "1"], "a token is cached");
  gateway.accepted = 2;
  assert.equal(await gateway.status({ method: "POST", body: new TextEncoder().encode("b") }), 200);
  assert.deepEqual(gateway.requests.splice(0), ["1", "1", "1 b", "2 b"]);
  gateway.accepted = 4;
  assert.equal(await gateway.status(), 401, "once");
  assert.deepEqual([gateway.requests.splice(0), gateway.tokens], [["2", "3"], 3]);
});

Deno.test("storage gateway: a stream is not sent again, but the next request has a new token", async () => {
  const gateway = new Gateway();
  await gateway.status();
  gateway.accepted = 2;
  const body = new Response("streamed").body;
  assert.equal(await gateway.status({ method: "PUT", body }), 401);
  assert.equal(await gateway.status(), 200);
  assert.deepEqual(gateway.requests, ["1", "1 streamed", "2"]);
});

Deno.test("storage gateway: credentials that the store refuses are not tried again", async () => {
  const paths: string[] = [];
  const ended: string[] = [];
  const storage = new StorageGateway(
    ({ target }) => {
      paths.push(target.path);
      const isToken = target.path === "/api/v1/auth/token";
      return Promise.resolve(isToken ? Response.json({ access_token: token(1) }) : Response.json({}, { status: 401 }));
    },
    () => NOW,
    ({ digest }) => void ended.push(digest),
  );
  const context = new RequestContext(new Request("http://here.example/storage"));
  for (let n = 0; n < 2; n++) assert.equal((await storage.read("/buckets", SESSION, context)).status, 401);
  assert.deepEqual(paths, ["/api/v1/auth/token", TARGET.path, TARGET.path]);
  // The session ends; an attempt to log in has none.
  const { digest: _, ...attempt } = SESSION;
  assert.equal((await storage.read("/buckets", attempt, context)).status, 401);
  assert.deepEqual(ended, ["d", "d"]);
});

Deno.test("storage gateway: an encrypted token, whose end cannot be read, is used for a minute", async () => {
  let [now, logins] = [NOW, 0];
  const key = tokenKey(randomBytes(32));
  const storage = new StorageGateway(async ({ target }) => {
    if (target.path !== "/api/v1/auth/token") return Response.json({});
    logins++;
    const claims = { sub: SESSION.user, pwd: SESSION.password, tenant: SESSION.tenant };
    return Response.json({
      access_token: await issueToken(claims, key, {
        nowSeconds: now / 1000,
        lifetimeMinutes: 480,
        format: "encrypted",
      }),
    });
  }, () => now);
  const context = new RequestContext(new Request("http://here.example/storage"));
  const read = async () => {
    await storage.read("/buckets", SESSION, context);
    return logins;
  };
  assert.deepEqual([await read(), await read()], [1, 1]);
  now += 59_999;
  assert.equal(await read(), 1);
  now++;
  assert.equal(await read(), 2);
});
