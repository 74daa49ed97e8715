import assert from "node:assert/strict";
import { application, Routes } from "@/lib/http/application.ts";
import { hostCheck } from "@/lib/http/host_check.ts";
import { errorsAnswered } from "@/lib/http/steps.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";

Deno.test("host check: a known name lets no foreign one in after it, be it in the header or in the target", async () => {
  const routes = new Routes();
  routes.within()("/{*}", () => Promise.resolve(new Response(null)));
  const steps = [errorsAnswered(NO_LOG), hostCheck(["localhost", "[::1]"])];
  const app = application(steps, routes);
  const asked: [url: string, host: string, status: number][] = [
    ["http://localhost:8000/a", "localhost:8000", 200],
    ["http://localhost:8000/b", "localhost:8000", 200],
    ["http://localhost:8000/b", "evil.example", 421],
    ["http://evil.example/b", "localhost:8000", 421],
    ["http://evil.example/b", "localhost:8000", 421],
    ["http://localhost:8000?x=/", "LOCALHOST.", 200],
    ["http://[::1]:1/b", "[::1]:1", 200],
    ["http://localhost@evil.example/", "localhost", 421],
    ["http://a b/", "a b", 421],
    ["http://localhost:99999/", "localhost:99999", 421],
  ];
  for (const [url, host, status] of asked) {
    const request = new Request("http://localhost/", { headers: { host } });
    Object.defineProperty(request, "url", { value: url });
    assert.equal((await app.fetch(request)).status, status, `${url} under ${host}`);
  }
});
