import assert from "node:assert/strict";
import fc from "fast-check";

import { ASSETS, fakeSite } from "@/tests/site/fake_site.ts";

const ORIGIN = "http://here.example";
const { app, state } = fakeSite(ASSETS, "/nonexistent");

async function languageOf(headers: Record<string, string>, path = "/"): Promise<string> {
  const response = await app.request(`${ORIGIN}${path}`, { headers: { Accept: "text/html", ...headers } });
  const language = /<html lang="(\w+)"/.exec(await response.text())?.[1] ?? "";
  assert.equal(response.headers.get("Content-Language"), language);
  assert.equal(response.headers.get("Vary"), "Accept-Encoding, Accept-Language, Cookie");
  return language;
}

function choose(fields: Record<string, string>, headers: Record<string, string> = { Origin: ORIGIN }, origin = ORIGIN) {
  return app.request(`${origin}/language`, {
    method: "POST",
    headers: { Host: "here.example", ...headers },
    body: new URLSearchParams(fields),
  });
}

Deno.test("language: a page is in the reader's choice, else in the browser's language, else in English", async () => {
  assert.equal(await languageOf({}), "en");
  assert.equal(await languageOf({ "Accept-Language": "fi, sv;q=0.8" }), "sv");
  assert.equal(await languageOf({ "Accept-Language": "sv", Cookie: "a=b; language=en" }), "en");
  assert.equal(await languageOf({ "Accept-Language": "en", Cookie: "language=sv" }), "sv");
  for (const path of ["/", "/login", "/log", "/alto", "/uv.html", "/none"]) {
    assert.equal(await languageOf({ "Accept-Language": "sv-FI" }, path), "sv", path);
  }
});

Deno.test("language: what is in a cookie or a header is one of ours or does not count", async () => {
  for (const value of ["", "fi", "sv-SE", "__proto__", "constructor", "sv%20", '"sv"']) {
    assert.equal(await languageOf({ Cookie: `language=${value}`, "Accept-Language": "sv" }), "sv", value);
    assert.equal(await languageOf({ Cookie: `language=${value}` }), "en", value);
  }
  assert.equal(await languageOf({ Cookie: "xlanguage=sv; language2=sv" }), "en");
  const text = fc.stringMatching(/^[ -~]{0,40}$/);
  await fc.assert(fc.asyncProperty(text, text, async (cookie, header) => {
    assert.match(await languageOf({ Cookie: `language=${cookie}`, "Accept-Language": header }), /^(?:en|sv)$/);
  }));
});

Deno.test("language: the scripts of a page are those of its language", async () => {
  const response = await app.request(`${ORIGIN}/login`, { headers: { "Accept-Language": "sv" } });
  const html = await response.text();
  assert.ok(html.includes(`src="${ASSETS.scripts.sv.script}"`));
  assert.ok(!html.includes(`"${ASSETS.scripts.en.script}"`));
});

Deno.test("language: requests that are under way at the same time do not share it", async () => {
  const waiting: (() => void)[] = [];
  const { app } = fakeSite(
    ASSETS,
    "/nonexistent",
    undefined,
    true,
    () => new Promise((go) => waiting.push(() => go())),
  );
  const languages = ["sv", "en", "sv", "en"];
  const pages = languages.map(async (language) => {
    const response = await app.request(`${ORIGIN}/`, { headers: { "Accept-Language": language } });
    return await response.text();
  });
  while (waiting.length < languages.length) await new Promise((next) => setTimeout(next, 0));
  for (const go of waiting.toReversed()) go();
  const texts = await Promise.all(pages);
  for (const [place, text] of texts.entries()) {
    assert.ok(text.includes(`<html lang="${languages[place]}"`));
    assert.ok(text.includes(languages[place] === "sv" ? ">Kampanjer<" : ">Campaigns<"));
  }
});

Deno.test("choosing a language: the cookie lasts a year and the browser comes back to its page", async () => {
  const response = await choose({ language: "sv", next: "/log?log=x#L7" });
  assert.equal(response.status, 303);
  assert.equal(response.headers.get("Location"), "/log?log=x#L7");
  const cookie = "language=sv; Max-Age=31536000; Path=/; HttpOnly; SameSite=Lax";
  assert.equal(response.headers.get("Set-Cookie"), cookie);
  assert.equal(
    (await choose({ language: "en", next: "/login?error=401" })).headers.get("Location"),
    "/login?error=401",
  );

  const https = "https://here.example";
  const secure = await choose({ language: "sv" }, { Origin: https }, https);
  assert.equal(secure.headers.get("Set-Cookie"), `${cookie}; Secure`);
});

Deno.test("choosing a language: it leads to a path of this site alone", async () => {
  for (const next of ["//elsewhere.example/", "https://elsewhere.example/", "/\\elsewhere.example", "/.//x", "", "x"]) {
    assert.equal((await choose({ language: "sv", next })).headers.get("Location"), "/", next);
  }
});

Deno.test("choosing a language: other sites, methods and languages are rejected", async () => {
  const rejected = [
    [await choose({ language: "sv" }, { Origin: "https://elsewhere.example" }), 403],
    [await choose({ language: "sv" }, {}), 403],
    [await choose({ language: "fi" }), 422],
    [await choose({}), 422],
    [await choose({ language: "sv", next: `/${"x".repeat(20_000)}` }), 413],
    [await app.request(`${ORIGIN}/language`), 405],
  ] as const;
  for (const [response, status] of rejected) {
    assert.equal(response.status, status);
    assert.equal(response.headers.get("Set-Cookie"), null);
    await response.body?.cancel();
  }
});

Deno.test("language: the form of a page leads back to it, with its query", async () => {
  state.outage = false;
  for (const path of ["/?state=running", "/login?error=401", "/none?a=b"]) {
    const response = await app.request(`${ORIGIN}${path}`, { headers: { Accept: "text/html" } });
    const form = /<form class="languages".*?<\/form>/.exec(await response.text())?.[0] ?? "";
    assert.ok(form.includes(`name="next" value="${path}"`), form);
    assert.match(form, /name="language" value="sv" lang="sv">.*Svenska<\/span>/);
  }
});
