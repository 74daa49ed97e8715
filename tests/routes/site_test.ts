import assert from "node:assert/strict";
import { mountConfigJs } from "@/compose/pages.ts";
import { httpApp, routesOf } from "@/lib/http/app.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";

import { sampleSummaries, summary } from "@/tests/site/fake_campaigns.ts";
import { ASSETS, fakeSite, withSite } from "@/tests/site/fake_site.ts";

const LOGGED_IN = { Cookie: "fake_session=%C3%85sa" };

const HOME = "http://site.example:8000/";

Deno.test("list page: without a session the frame and a way to log in, but no data", () =>
  withSite(async ({ app }) => {
    const answer = await app.request(HOME);
    const text = await answer.text();
    assert.equal(answer.status, 200);
    assert.match(text, /<a href="\/login">Log in<\/a> to see the campaigns/);
    for (const { name } of sampleSummaries()) assert.ok(!text.includes(name), name);
    const filtered = await (await app.request(`${HOME}?q=%C3%A5&state=running&x=1`)).text();
    assert.match(filtered, /<a href="\/login\?next=%2F%3Fq%3D%25C3%25A5%26state%3Drunning">Log in<\/a> to see/);
  }));

Deno.test("list page: with a session every campaign is in the page, complete without scripts", () =>
  withSite(async ({ app }) => {
    const text = await (await app.request(HOME, { headers: LOGGED_IN })).text();
    assert.match(text, /<title>2 in trouble · Campaigns · Stackroom<\/title>/);
    assert.match(text, /<span class="user" title="Åsa">Åsa<\/span>/);
    const headings = [...text.matchAll(/<article.*?<h2>.*?<span>(.*?)<\/span>/gs)].map(([, name]) => name);
    assert.equal(headings.length, sampleSummaries().length);
    assert.equal(headings[0], "svea-hovratt-1870");
    assert.match(text, /<b>420 of 1,200 volumes<\/b> started/);
    assert.match(text, /no space left on device: \/data\/models\/åäö/);
    assert.match(text, /the disk for models is full/);
    assert.match(
      text,
      /<time dateTime="2026-11-19T02:31:00Z" title="Ended 19 November 2026, 02:31:00 UTC">ended 2 days ago</i,
    );
    assert.match(text, /<span>finnish-bear<\/span><span>90 volumes<\/span>/);
    assert.match(
      text,
      /<button class="fold" type="button" aria-expanded="false" aria-controls="campaign-batch-default-svea-hovratt-1870"/,
    );
  }));

Deno.test("list page: the filter and the order of the address, without scripts", () =>
  withSite(async ({ app, state }) => {
    const page = async (query: string) => {
      const text = await (await app.request(`${HOME}${query}`, { headers: LOGGED_IN })).text();
      return { text, names: [...text.matchAll(/<article.*?<h2>.*?<span>(.*?)<\/span>/gs)].map(([, name]) => name) };
    };
    assert.deepEqual((await page("?state=trouble")).names, ["kommerskollegium-kartor", "göteborgs-domkapitel-1790"]);
    assert.deepEqual((await page("?q=finnish")).names, ["rådhusrätten-part2"]);
    assert.match((await page("?q=finnish&sort=name")).text, /<a href="\/\?sort=name">Show all \d+<\/a>/);
    assert.doesNotMatch((await page("?sort=name")).text, /Show all/);
    assert.equal((await page("?sort=name")).names[0], "bergskollegium-1720");
    const { text } = await page("?q=lund&state=waiting&pipeline=swedish-lion-v2");
    assert.match(text, /<form class="filters" method="get" action="\/"/);
    assert.match(text, /name="q"[^>]*value="lund"/);
    assert.match(text, /value="waiting" checked/);
    assert.match(text, /<option[^>]* selected[^>]*>swedish-lion-v2</);
    assert.match((await page("?q=%3Cb%3E")).text, /No campaign matches the filter\.<\/p>/);
    state.reapedTotal = 1201;
    assert.match(
      (await page("?q=%3Cb%3E")).text,
      /No campaign matches the filter\. 1,200 older campaigns are not searched\.<\/p>/,
    );
  }));

Deno.test("list page: of a thousand campaigns the first cards are sent, once, with links to the others", () =>
  withSite(async ({ app, state }) => {
    state.jobs = Array.from({ length: 1020 }, (_, i) => summary({ name: `kampanj-${i}` }));
    state.reapedTotal = 0;
    const text = await (await app.request(HOME, { headers: LOGGED_IN })).text();
    assert.equal([...text.matchAll(/<article/g)].length, 50);
    assert.match(text, /1,020 shown of 1,020/);
    assert.ok(!text.includes("kampanj-50"));
    const second = await (await app.request(`${HOME}?from=50`, { headers: LOGGED_IN })).text();
    assert.match(text, /href="\/\?from=50"/);
    assert.match(second, /kampanj-99/);
    const zipped = await app.request(HOME, { headers: { ...LOGGED_IN, "Accept-Encoding": "gzip" } });
    assert.ok((await zipped.arrayBuffer()).byteLength < 100_000);
  }));

Deno.test("list page: a list of which the cluster has not been heard of late says since when", () =>
  withSite(async ({ app, state }) => {
    state.dataAge = 90;
    const text = await (await app.request(HOME, { headers: LOGGED_IN })).text();
    assert.match(text, /The cluster has not answered since 12:28:30, so the list is from then/);
  }));

Deno.test("list page: a site without a cluster says so, reads nothing and asks for no login", () =>
  withSite(async ({ folder }) => {
    const { app } = fakeSite(ASSETS, folder, undefined, false);
    const text = await (await app.request(HOME)).text();
    assert.match(text, /This site shows pages and results only\. It follows no cluster/);
    assert.doesNotMatch(text, /data-island="campaign_board"|to see the campaigns|role="alert"/);
  }));

Deno.test("list page: names from the cluster cannot break out of the markup", () =>
  withSite(async ({ app, state }) => {
    state.jobs = [summary({ name: `<img src=x onerror=alert(1)>"'`, pipeline: "</script><b>" })];
    const text = await (await app.request(HOME, { headers: LOGGED_IN })).text();
    assert.ok(!text.includes("<img"));
    assert.ok(!text.includes("</script><b>"));
  }));

Deno.test("list page: an outage of the results service is said, without a login that could not work", () =>
  withSite(async ({ app, state }) => {
    state.outage = true;
    const text = await (await app.request(HOME, { headers: LOGGED_IN })).text();
    assert.match(text, /role="alert"[^>]*>The results store does not answer/);
    assert.ok(!text.includes("to see the campaigns"));
  }));

Deno.test("pages: policy, no inline script but the hashed one, no inline style, kept by no cache", () =>
  withSite(async ({ app }) => {
    const log = encodeURIComponent(`${HOME}results/ns/status/logs/p/v.txt`);
    const alto = encodeURIComponent(`${HOME}results/ns/p/v/alto/1.xml`);
    for (const path of ["", "login", `log?log=${log}`, `alto?src=${alto}`]) {
      const answer = await app.request(HOME + path, { headers: LOGGED_IN });
      const text = await answer.text();
      assert.equal(
        answer.headers.get("Content-Security-Policy"),
        "frame-ancestors 'none'; connect-src 'self' http://site.example:8000/results/",
      );
      assert.equal(answer.headers.get("Cache-Control"), "private, no-store");
      assert.equal(answer.headers.get("X-Content-Type-Options"), "nosniff");
      assert.match(text, /^<!doctype html><html lang="en">/);
      assert.equal([...text.matchAll(/<script(?![^>]* src=)/g)].length, 1);
      assert.doesNotMatch(text, /\sstyle=|<style|\son[a-z]+=/);
    }
  }));

Deno.test("pages: other methods than GET and HEAD are refused", () =>
  withSite(async ({ app }) => {
    for (const path of ["", "login", "log", "alto", "uv.html", "config.js"]) {
      for (const method of ["POST", "OPTIONS", "DELETE"]) {
        const answer = await app.request(HOME + path, { method });
        assert.equal(answer.status, 405, `${method} ${path}`);
        assert.equal(answer.headers.get("Allow"), "GET, HEAD", `${method} ${path}`);
      }
      assert.equal(await (await app.request(HOME + path, { method: "HEAD" })).text(), "");
    }
  }));

Deno.test("login page: a form with real names that leads on to where one came from", () =>
  withSite(async ({ app }) => {
    const text = await (await app.request(`${HOME}login?next=%2Flog%3Flive%3D1&error=401`)).text();
    assert.match(text, /<form method="post" action="\/results\/_login">/);
    assert.match(text, /name="username"[^>]*autofocus/);
    assert.match(text, /name="password" type="password"/);
    assert.match(text, /name="next" value="\/log\?live=1"/);
    assert.match(text, /role="alert"><p>The name or the password is wrong\..*type="submit"/s);
  }));

Deno.test("login page: a foreign next is not taken along", () =>
  withSite(async ({ app }) => {
    const text = await (await app.request(`${HOME}login?next=%2F%2Fevil.example%2F&error=%3Cb%3E`)).text();
    assert.match(text, /name="next" value="\/"/);
    // Only within the address of this page, to which a change of the language leads back.
    assert.equal(text.split("evil.example").length - 1, text.split("next=%2F%2Fevil.example%2F").length - 1);
    assert.match(text, /The login did not work/);
  }));

Deno.test("log page: opens only what lies under the results, and names what it refuses", () =>
  withSite(async ({ app }) => {
    const page = async (query: string) => {
      const answer = await app.request(`${HOME}log${query}`, { headers: LOGGED_IN });
      return `${answer.status} ${await answer.text()}`;
    };
    const good = encodeURIComponent(`${HOME}results/ns/status/logs/p/g%C3%B6teborg.txt`);
    assert.match(await page(`?log=${good}&live=1`), /^200 .*<h1 class="vid">göteborg<\/h1>/);
    assert.match(await page(""), /^400 .*No log is named/);
    const refused = [
      "https://evil.example/results/a",
      `${HOME}api/v1/jobs`,
      `${HOME}results/..%2Fx`,
      "javascript:alert(1)",
    ];
    for (const url of refused) {
      const text = await page(`?log=${encodeURIComponent(url)}`);
      assert.match(text, /^400 .*role="alert"[^>]*>The address given as “log”/, url);
      assert.ok(!text.includes("run_viewer"), url);
    }
    assert.match(await page(`?log=${good}&manifest=https%3A%2F%2Fevil.example%2F`), /^400 .*“manifest”/);
  }));

Deno.test("config.js: a script that no results URL can end", async () => {
  const hostile = 'https://h/</script>\u2028";alert(1)//';
  const app = httpApp({ log: NO_LOG });
  mountConfigJs(routesOf(app), { resultsUrl: () => hostile });
  const answer = await app.request(`${HOME}config.js`);
  const text = await answer.text();
  assert.match(answer.headers.get("Content-Type") ?? "", /^text\/javascript/);
  assert.doesNotMatch(text, /[<\u2028]/);
  const window: Record<string, string> = {};
  new Function("window", text)(window);
  assert.deepEqual(window, { API_BASE: "/api/v1", RESULTS_BASE: hostile });
});

Deno.test("static files: an app page by its head's policy, any other document in a sandbox", () =>
  withSite(async ({ app, folder }) => {
    const meta = `<meta http-equiv="Content-Security-Policy" content="script-src 'self'">`;
    await Deno.writeTextFile(`${folder}/page.html`, `<!doctype html><head>${meta}`);
    await Deno.writeTextFile(`${folder}/other.html`, `<body>${meta}`);
    await Deno.writeTextFile(`${folder}/drawing.svg`, `<svg xmlns="http://www.w3.org/2000/svg"/>`);
    await Deno.writeTextFile(`${folder}/data.json`, "{}");
    const policy = async (path: string, headers = {}) =>
      (await app.request(HOME + path, { headers })).headers.get("Content-Security-Policy");
    const sandbox = "default-src 'none'; sandbox; frame-ancestors 'none'";
    assert.match(await policy("page") ?? "", /connect-src 'self' http:\/\/site\.example:8000\/results\/$/);
    assert.equal(await policy("other.html"), sandbox);
    assert.equal(await policy("drawing.svg"), sandbox);
    assert.equal(await policy("other", { "If-None-Match": "*" }), sandbox);
    assert.equal(await policy("data.json"), "frame-ancestors 'none'");
  }));

Deno.test("static files: a known file is 304, another method 405, an unknown path 404 by any method", () =>
  withSite(async ({ app, folder }) => {
    await Deno.writeTextFile(`${folder}/a.txt`, "åäö");
    const first = await app.request(`${HOME}a.txt`);
    assert.equal(await first.text(), "åäö");
    assert.equal(first.headers.get("Content-Length"), "6");
    const known = await app.request(`${HOME}a.txt`, {
      headers: { "If-None-Match": `"x", ${first.headers.get("ETag")}` },
    });
    assert.equal(known.status, 304);
    assert.equal((await app.request(`${HOME}a.txt`, { method: "PUT" })).status, 405);
    assert.equal((await app.request(`${HOME}b.txt`, { method: "PUT" })).status, 404);
    assert.equal((await app.request(`${HOME}a.txt`, { method: "HEAD" })).headers.get("Content-Length"), "6");
  }));

const OPEN = "göteborgs-domkapitel-1790";
const noscript = (text: string) => /<noscript>(.*?)<\/noscript>/s.exec(text)?.[1] ?? "";

Deno.test("list page: every card leads to its volumes without scripts", () =>
  withSite(async ({ app }) => {
    const text = await (await app.request(HOME, { headers: LOGGED_IN })).text();
    for (const { namespace, name } of sampleSummaries()) {
      const href = `/?open=${encodeURIComponent(`${namespace}/${name}`)}#open-campaign`;
      assert.ok(text.includes(`<p class="without-scripts"><a href="${href}">`), href);
    }
    assert.equal(noscript(text), "");
  }));

Deno.test("list page: the campaign an address names stands open for readers without scripts", () =>
  withSite(async ({ app }) => {
    const ask = async (query: string, headers = LOGGED_IN) =>
      noscript(await (await app.request(HOME + query, { headers })).text());
    const open = await ask(`?open=${encodeURIComponent(`batch-default/${OPEN}`)}`);
    assert.equal([...open.matchAll(/<tr role="row" aria-rowindex="\d+">\s*<th role="rowheader"/g)].length, 60);
    assert.match(open, /<dt>Pages<\/dt>/);
    assert.match(open, /Volumes 1 to 60 of 60/);
    assert.match(open, /<pre[^>]*>steps:/);
    assert.match(open, /href="https:\/\/huggingface\.co\/Riksarkivet\/yolov9-lines-within-regions-1\/tree\/main"/);
    assert.doesNotMatch(open, /<button|<pre[^>]*hidden|<noscript/);
    const paged = await ask("?open=batch-default%2Fsvea-hovratt-1870&offset=200");
    assert.match(paged, /Volumes 201 to 400 of 1,200/);
    assert.match(paged, /href="\/\?open=batch-default%2Fsvea-hovratt-1870&amp;offset=400#open-campaign"/);
    const unknown = await app.request(`${HOME}?open=batch-default%2F%3Cb%3Enone`, { headers: LOGGED_IN });
    // For readers with scripts as well.
    const page = (await unknown.text()).replaceAll(/<noscript>.*?<\/noscript>/gs, "");
    assert.match(page, /There is no campaign named batch-default\/&lt;b/);
    for (
      const query of ["?open=a", "?open=a%2Fb%2Fc", "?open=%2Fb", "?open=batch-default%2Fsvea-hovratt-1870&offset=-1"]
    ) {
      assert.equal(await ask(query), "", query);
    }
    assert.equal(await ask("?open=batch-default%2Fsvea-hovratt-1870", { Cookie: "" }), "");
  }));

Deno.test("unknown address: a page for browsers, JSON for programs and below the API and the results", () =>
  withSite(async ({ app }) => {
    const ask = (path: string, accept: string, method = "GET") =>
      app.request(HOME + path, { method, headers: { ...LOGGED_IN, Accept: accept } });
    const browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    const page = await ask("nowhere", browser);
    assert.equal(page.status, 404);
    assert.match(page.headers.get("Content-Type") ?? "", /^text\/html/);
    assert.equal(page.headers.get("Cache-Control"), "private, no-store");
    assert.match(await page.text(), /title="Åsa".*no page at this address.*<a href="\/">/s);
    const plain: [string, string, string?][] = [
      ["nowhere", "*/*"],
      ["nowhere", browser, "POST"],
      ["api/nowhere", browser],
      ["api", browser],
    ];
    for (const [path, accept, method] of plain) {
      const answer = await ask(path, accept, method);
      assert.equal(answer.status, 404, path);
      assert.match(answer.headers.get("Content-Type") ?? "", /^application\/json/, path);
      await answer.body?.cancel();
    }
  }));

Deno.test("pages: without a session the bar's login leads back to the page with its query", () =>
  withSite(async ({ app }) => {
    const src = encodeURIComponent(`${HOME}results/ns/p/v/alto/0001.xml`);
    const text = await (await app.request(`${HOME}alto?src=${src}`)).text();
    assert.ok(text.includes(`<a class="btn" href="/login?next=${encodeURIComponent(`/alto?src=${src}`)}"`));
    assert.match(await (await app.request(HOME)).text(), /<a class="btn" href="\/login">/);
  }));
