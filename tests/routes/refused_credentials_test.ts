import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { mapiAuthorization } from "@/embedded/tests/store/store_fixture.ts";
import { issueToken, tokenKey } from "@/lib/auth/admission.ts";
import { withEmbeddedGateway } from "@/tests/routes/api/v1/mapi/embedded_gateway.ts";
import { bothWays, login, resultsDeps, web } from "@/tests/routes/results/results_fixture.ts";
import { SECRET } from "./gateway_fixture.ts";

/** All that an answer says, without what is new in each. */
async function said(response: Response): Promise<{ status: number; headers: Record<string, string>; text: string }> {
  const headers = Object.fromEntries(response.headers);
  for (const name of ["date", "x-request-id"]) delete headers[name];
  return { status: response.status, headers, text: await response.text() };
}

function assertAlike(answers: Awaited<ReturnType<typeof said>>[], status: number, what: string): void {
  for (const answer of answers) assert.deepEqual(answer, answers[0], what);
  assert.equal(answers[0].status, status, `${what}: ${answers[0].text}`);
}

Deno.test(
  "refusals: by gateway and results login, absent users, disabled ones and wrong passwords look alike",
  async () => {
    await withEmbeddedGateway(async ({ app, store }) => {
      const disabled = await fetch(`${store.mapi("archive")}/mapi/tenants/archive/userAccounts/reader`, {
        method: "POST",
        headers: mapiAuthorization("curator", SAMPLE_PASSWORD),
        body: JSON.stringify({ enabled: false }),
      });
      assert.equal(disabled.status, 200);
      const users = ["nobody", "reader", "curator", "åsa"];
      const asked: [method: string, path: string, status: number][] = [
        ["GET", "/buckets", 401],
        ["GET", "/buckets/campaigns/objects", 401],
        ["HEAD", "/buckets/campaigns", 403],
        ["GET", "/mapi/tenants/archive/userAccounts", 403],
      ];
      for (const [method, path, status] of asked) {
        const answers = await Promise.all(users.map(async (sub) => {
          const token = await issueToken({ sub, pwd: "wrong-1", tenant: "archive" }, tokenKey(SECRET), {
            nowSeconds: Date.now() / 1000,
            lifetimeMinutes: 60,
          });
          return await said(
            await app.request(`/api/v1${path}`, { method, headers: { authorization: `Bearer ${token}` } }),
          );
        }));
        assertAlike(answers, status, `${method} ${path}`);
      }
      for await (const { way, service } of bothWays(resultsDeps(store.s3("archive")))) {
        await using site = web(service);
        const tried = async (username: string, form: boolean) => {
          const credentials = { username, password: "wrong-1" };
          const type = { "Content-Type": "application/x-www-form-urlencoded" };
          const body = new URLSearchParams(credentials).toString();
          const answer = await said(
            form ? await login(site.origin, body, type) : await login(site.origin, credentials),
          );
          // The note for the login page says the name that was typed, and nothing else.
          const note = answer.headers["set-cookie"] ?? "";
          const shown = note.replace(
            /(?<=^login_note=)[\w-]+/,
            (text) => atob(text.replace(/-/g, "+").replace(/_/g, "/")),
          );
          const named = JSON.stringify(
            Array.from(new TextEncoder().encode(username), (byte) => String.fromCharCode(byte)).join(""),
          );
          return { ...answer, headers: { ...answer.headers, "set-cookie": shown.replace(named, "NAME") } };
        };
        assertAlike(await Promise.all(users.map((user) => tried(user, false))), 401, way);
        assertAlike(await Promise.all(users.map((user) => tried(user, true))), 303, way);
      }
    }, { now: Date.now });
  },
);
