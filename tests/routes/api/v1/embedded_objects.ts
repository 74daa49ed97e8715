import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/samples.ts";
import { issueToken, tokenKey } from "@/lib/auth/token.ts";
import { SECRET } from "@/tests/routes/gateway_fixture.ts";
import { type EmbeddedGateway, withEmbeddedGateway } from "@/tests/routes/api/v1/mapi/embedded_gateway.ts";

interface CallOptions {
  /** A user of the tenant `archive`; its curator when absent. */
  readonly user?: string;
  readonly headers?: Record<string, string>;
}

type Body = BodyInit | Readonly<Record<string, unknown>>;

/** The data operations of a gateway in front of an embedded store. */
export interface EmbeddedObjects extends Pick<EmbeddedGateway, "store"> {
  /** Calls the gateway below /api/v1. */
  call(method: string, path: string, body?: Body, options?: CallOptions): Promise<Response>;
  /** The same for a JSON response, which must be a success. */
  json(method: string, path: string, body?: Body): Promise<Record<string, unknown>>;
}

/** Runs a test's body with the data operations of a gateway in front of a fresh embedded store. */
export async function withEmbeddedObjects(body: (objects: EmbeddedObjects) => Promise<void>): Promise<void> {
  const now = Date.now;
  await withEmbeddedGateway(async ({ app, store }) => {
    const call: EmbeddedObjects["call"] = async (method, path, body, { user = "curator", headers } = {}) => {
      const claims = { sub: user, pwd: SAMPLE_PASSWORD, tenant: "archive" };
      const token = await issueToken(claims, tokenKey(SECRET), now() / 1000, 480);
      return await app.request(`/api/v1${path}`, {
        method,
        headers: {
          ...(isJson(body) ? { "content-type": "application/json" } : {}),
          ...headers,
          authorization: `Bearer ${token}`,
        },
        body: isJson(body) ? JSON.stringify(body) : body,
      });
    };
    await body({
      store,
      call,
      async json(method, path, body) {
        const response = await call(method, path, body);
        const text = await response.text();
        assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
        return JSON.parse(text);
      },
    });
  }, now);
}

function isJson(body: Body | undefined): body is Readonly<Record<string, unknown>> {
  return typeof body === "object" && Object.getPrototypeOf(body) === Object.prototype;
}
