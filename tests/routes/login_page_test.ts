import assert from "node:assert/strict";

import { LONGEST_WAIT_MS } from "@/lib/auth/credential_memory.ts";
import { type LoginNote, loginNoteCookie } from "@/lib/results/results_login.ts";
import { ASSETS, fakeSite, type FakeState } from "@/tests/site/fake_site.ts";
import { SAMPLE_NOW } from "@/tests/site/fake_campaigns.ts";

const HOME = "http://site.example:8000/";

interface Arrival {
  readonly query?: string;
  readonly note?: LoginNote;
  readonly user?: string;
  readonly state?: Partial<FakeState>;
}

/** The login page as a browser with this note and session gets it. */
async function page({ query = "", note, user, state = {} }: Arrival): Promise<string> {
  const { app, state: served } = fakeSite(ASSETS, "/absent");
  Object.assign(served, state);
  const cookies = [
    ...(note ? [loginNoteCookie("http", note, SAMPLE_NOW).split(";")[0]] : []),
    ...(user ? [`fake_session=${user}`] : []),
  ];
  const response = await app.request(`${HOME}login${query}`, { headers: { Cookie: cookies.join("; ") } });
  assert.equal(response.status, 200);
  return await response.text();
}

const failed = (username: string, retryAt: number | null = null): LoginNote => ({ kind: "failed", username, retryAt });

Deno.test("login page: a failed login keeps the name and asks for the password", async () => {
  const text = await page({ query: "?error=401", note: failed('å"><b>') });
  assert.match(text, /name="username"[^>]*value="å&quot;>&lt;b>"/);
  assert.match(text, /name="password"[^>]*autofocus/);
  assert.doesNotMatch(text, /name="username"[^>]*autofocus/);
});

Deno.test("login page: a name is filled in after a failed login only", async () => {
  assert.doesNotMatch(await page({ note: failed("reader") }), /value="reader"/);
});

Deno.test("login page: says when the next attempt is allowed", async () => {
  const text = await page({ query: "?error=429", note: failed("reader", SAMPLE_NOW + 40_000) });
  assert.match(text, /role="alert".*Try again in 40 seconds\./s);
  const tooFar = await page({ query: "?error=429", note: failed("reader", SAMPLE_NOW + LONGEST_WAIT_MS + 1) });
  assert.doesNotMatch(tooFar, /Try again in/);
  assert.match(await page({ query: "?error=429" }), /up to five minutes/);
});

Deno.test("login page: names the header that a proxy left out", async () => {
  assert.match(await page({ query: "?error=403&code=origin_scheme" }), /role="alert".*X-Forwarded-Proto/s);
  assert.match(await page({ query: "?error=403&code=origin_host", note: failed("reader") }), /header Host on/);
  for (const query of ["?error=403", "?error=403&code=constructor", "?error=403&code=archive_empty"]) {
    assert.match(await page({ query }), /not opened under the site/, query);
  }
  assert.doesNotMatch(await page({ query: "?error=401&code=origin_host" }), /header Host/);
});

Deno.test("login page: does not speak of attempts where a login was refused for another reason", async () => {
  const text = await page({ query: "?error=429", note: failed("reader") });
  assert.match(text, /role="alert".*Logging in is not possible at the moment\./s);
  assert.doesNotMatch(text, /attempts/i);
});

Deno.test("login page: says what an account of another tenant or of the system level may not open", async () => {
  const other = await page({ query: "?error=401", note: failed("research/researcher") });
  assert.match(
    other,
    /role="alert"><p>The name or the password is wrong, or the account opens no campaigns: .*of the tenant archive only\.<\/p>/s,
  );
  const system = await page({ query: "?error=401", note: failed("admin") });
  assert.match(system, /role="alert"><p>No account of the tenant archive has this name .*<a href="\/docs">/s);
  assert.doesNotMatch(system, /password is wrong/);
  const own = await page({ query: "?error=401", note: failed("archive/reader") });
  assert.match(own, /role="alert"><p>The name or the password is wrong\.<\/p>/);
  assert.doesNotMatch(own, /opens no campaigns|of the tenant archive/);
});

Deno.test("login page: says that a session ended, by itself or early, and that the login leads back", async () => {
  const over: LoginNote = { kind: "session", endsAt: SAMPLE_NOW - 180_000 };
  const text = await page({ query: "?next=%2Flog%3Fa%3Db%23L3", note: over });
  assert.match(text, /role="status".*Your session ended 3 min ago\. Log in again\..*After the login you return/s);
  assert.match(text, /name="next" value="\/log\?a=b#L3"/);
  assert.doesNotMatch(await page({ note: over }), /you return/);
  const early: LoginNote = { kind: "session", endsAt: SAMPLE_NOW + 1000 };
  // A logout by JSON cannot know whether a form began the session, so it leaves no note.
  assert.match(await page({ note: early }), /has ended: it was logged out, or the account was changed\./);
  assert.doesNotMatch(await page({ note: early, state: { outage: true } }), /has ended/);
});

Deno.test("login page: says that the logout happened", async () => {
  assert.match(await page({ note: { kind: "loggedOut" } }), /role="status">You are logged out\./);
});

Deno.test("login page: a user who is logged in is led on", async () => {
  const note: LoginNote = { kind: "session", endsAt: SAMPLE_NOW + 1000 };
  const text = await page({ query: "?next=%2Falto", note, user: "reader" });
  assert.match(text, /You are logged in as reader\..*<a href="\/alto">Continue/s);
  assert.doesNotMatch(text, /has ended/);
});

Deno.test("login page: sample accounts are listed, and one form logs in with the visitor's", async () => {
  const text = await page({ query: "?next=%2Falto" });
  const [, form] = /<section class="samples".*?(<form.*?<\/form>)/s.exec(text) ?? [];
  assert.match(
    form,
    /name="next" value="\/alto".*name="username" value="archive\/reader".*name="password" value="stackroom-demo"/s,
  );
  assert.match(form, /Look around as reader/);
  assert.match(text, /<code>admin<\/code>.*the tenants/s);
});
