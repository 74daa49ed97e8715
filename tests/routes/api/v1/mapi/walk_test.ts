import assert from "node:assert/strict";
import { gatewayTest } from "@/tests/routes/gateway_fixture.ts";
import { address, broken, type DescribedOperation, type Document, sample } from "./schema_samples.ts";

type Sent = { body?: string; query?: string };

/** What the store may answer to anything. */
const STORE_STATUSES = [200, 201, 204, 302, 400, 401, 403, 404, 405, 409, 413, 414, 415, 418, 500, 503];

async function managementOperations(app: { request(path: string): Response | Promise<Response> }) {
  const document: Document = await (await app.request("/openapi.json")).json();
  const operations = Object.entries(document.paths).filter(([path]) => path.startsWith("/api/v1/mapi/")).flatMap(
    ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  assert.ok(operations.length > 80);
  return { document, operations };
}

function target(path: string, operation: DescribedOperation, document: Document, { query }: Sent = {}): string {
  if (query === undefined) return address(path, operation, document);
  return `${address(path, operation, document, () => false)}?${query}`;
}

function bodySchema(operation: DescribedOperation): Record<string, unknown> | undefined {
  return operation.requestBody?.content["application/json"].schema;
}

gatewayTest(
  "management: every operation takes its own example, and answers only what it documents, whatever the store says",
  async ({ app, call, answer }) => {
    const { document, operations } = await managementOperations(app);
    for (const { path, method, operation } of operations) {
      const schema = bodySchema(operation);
      const body = schema && JSON.stringify(sample(schema, document));
      for (const status of STORE_STATUSES) {
        answer(() => status === 204 ? new Response(null, { status }) : new Response("{}", { status }));
        const response = await call(target(path, operation, document), { method: method.toUpperCase(), body });
        const text = await response.text();
        const what = `${method} ${path}, store ${status}: ${response.status} ${text}`;
        assert.ok(String(response.status) in operation.responses, what);
        if (status < 300) assert.ok(response.ok, what);
        else assert.ok(!response.ok, what);
      }
    }
  },
);

gatewayTest(
  "management: broken input is a documented 4xx of every operation, and never reaches the store's faults",
  async ({ app, call, answer }) => {
    answer(() => new Response("{}"));
    const { document, operations } = await managementOperations(app);
    for (const { path, method, operation } of operations) {
      const schema = bodySchema(operation);
      const bodies: Sent[] = schema
        ? [{ body: undefined }, { body: "{" }, { body: "\xff" }, { body: "[".repeat(100) }]
          .concat(broken(schema, document).map((body) => ({ body: JSON.stringify(body) })))
        : [];
      const queries: Sent[] = operation.parameters.filter((one) => one.in === "query")
        .flatMap((
          { name },
        ) => [{ query: `${name}=` }, { query: `${name}=%ff` }, { query: `${name}=${"x".repeat(3000)}` }]);
      for (const sent of [...bodies, ...queries]) {
        const body = sent.query === undefined ? sent.body : schema && JSON.stringify(sample(schema, document));
        const response = await call(target(path, operation, document, sent), { method: method.toUpperCase(), body });
        const text = await response.text();
        const what = `${method} ${path} ${JSON.stringify(sent).slice(0, 200)}: ${response.status} ${text}`;
        assert.ok(response.status < 500, what);
        assert.ok(String(response.status) in operation.responses, what);
      }
      for (const name of ["%2e%2e", "%00", "%ff", "a%2Fb", "x".repeat(5000)]) {
        const odd = path.replaceAll(/\{\w+\}/g, name);
        const response = await call(odd, { method: method.toUpperCase(), body: schema && "{}" });
        await response.body?.cancel();
        assert.ok(
          response.status < 500 && String(response.status) in operation.responses,
          `${method} ${odd}: ${response.status}`,
        );
      }
    }
  },
);

gatewayTest(
  "management: without a token every operation is 401, before anything else is looked at",
  async ({ app, seen }) => {
    const { document, operations } = await managementOperations(app);
    for (const { path, method, operation } of operations) {
      const response = await app.request(target(path, operation, document), {
        method: method.toUpperCase(),
        body: bodySchema(operation) && "{ broken",
      });
      assert.equal(response.status, 401, `${method} ${path}`);
      assert.equal(response.headers.get("WWW-Authenticate"), "Bearer");
      if (method !== "head") assert.deepEqual(await response.json(), { detail: "Not authenticated" });
    }
    assert.equal(seen.length, 0);
  },
);
