import assert from "node:assert/strict";
import { bothWays, cookieOf, filledStore, login, NAMESPACE, resultsDeps, serve, web } from "./results_fixture.ts";

const LIST = `/results/_pages/${NAMESPACE}/p`;
const FILES = Object.fromEntries([
  ...["0001", "0003"].map((page) => [`${NAMESPACE}/p/v1/alto/${page}.xml`, { body: "<alto/>" }]),
  ...["å 1?.xml", "note.txt", "deeper/0001.xml", ".xml"].map((name) => [
    `${NAMESPACE}/p/v 2/alto/${name}`,
    { body: "" },
  ]),
  ["secret/p/v1/alto/0001.xml", { body: "not served" }],
]);

Deno.test("results: the pages of a volume that have a text", async () => {
  await using store = await filledStore(FILES);
  for await (const { way, service } of bothWays(resultsDeps(store.s3("archive")))) {
    await using site = web(service);
    const Cookie = cookieOf(await login(site.origin));
    const list = async (path: string) => {
      const response = await fetch(site.origin + path, { headers: { Cookie } });
      return [response.status, await response.json()];
    };
    const first = await fetch(`${site.origin}${LIST}/v1`, { headers: { Cookie } });
    assert.equal(first.headers.get("cache-control"), "private, no-store", way);
    assert.deepEqual(await first.json(), { pages: ["0001", "0003"], next: null });
    assert.deepEqual(await list(`${LIST}/v1?after=0001.xml`), [200, { pages: ["0003"], next: null }]);
    assert.deepEqual(await list(`${LIST}/v%202`), [200, { pages: ["å 1?"], next: null }]);
    assert.deepEqual(await list(`${LIST}/none`), [200, { pages: [], next: null }]);

    for (
      const path of [
        "/results/_pages/secret/p/v1",
        "/results/_pages/",
        `/results/_pages/${NAMESPACE}/p`,
        `${LIST}/v1/alto`,
        `${LIST}/%2e%2e`,
        `${LIST}/v1%2Falto`,
      ]
    ) assert.equal((await list(path))[0], 404, path);
    for (const after of ["../x", "a//b", "%00", "x".repeat(1025)]) {
      const [status, body] = await list(`${LIST}/v1?after=${after}`);
      assert.deepEqual([status, body], [422, { detail: "after is not the name of a file" }], after);
    }
    const without = await fetch(`${site.origin}${LIST}/v1`);
    assert.deepEqual([without.status, await without.json()], [401, { detail: "not logged in" }]);
    const posted = await fetch(`${site.origin}${LIST}/v1`, {
      method: "POST",
      headers: { Cookie, Origin: site.origin },
    });
    assert.equal(posted.status, 405);
    await posted.body?.cancel();
  }
});

Deno.test("results: a list of pages that goes on names the file after which it does", async () => {
  let answer = () => new Response("");
  let query = new URLSearchParams();
  await using store = serve((request) => {
    query = new URL(request.url).searchParams;
    return answer();
  });
  const content = (name: string) => `<Contents><Key>${NAMESPACE}/p/v1/alto/${name}</Key><Size>1</Size></Contents>`;
  const list = `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>${
    content("0001.xml")
  }${content("0002.txt")}</ListBucketResult>`;
  for await (const { way, service } of bothWays(resultsDeps(store.origin))) {
    await using site = web(service);
    answer = () => new Response("");
    const Cookie = cookieOf(await login(site.origin));
    answer = () => new Response(list);
    const response = await fetch(`${site.origin}${LIST}/v1?after=0000.xml`, { headers: { Cookie } });
    assert.deepEqual(await response.json(), { pages: ["0001"], next: "0002.txt" }, way);
    assert.equal(query.get("start-after"), `${NAMESPACE}/p/v1/alto/0000.xml`);
    answer = () => new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 });
    const refused = await fetch(`${site.origin}${LIST}/v1`, { headers: { Cookie } });
    assert.deepEqual([refused.status, await refused.json()], [403, { detail: "this account may not read the file" }]);
    answer = () => new Response("<Error><Code>InvalidAccessKeyId</Code></Error>", { status: 403 });
    const ended = await fetch(`${site.origin}${LIST}/v1`, { headers: { Cookie } });
    assert.match(ended.headers.get("set-cookie") ?? "", /^results_session=; Max-Age=0;/);
    assert.equal(ended.status, 401);
    await ended.body?.cancel();
  }
});
