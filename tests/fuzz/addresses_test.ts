import assert from "node:assert/strict";
import fc from "fast-check";
import { z } from "zod";
import { parseS3Request } from "@/embedded/store/s3/s3_request.ts";
import { hasDotSegment, ownPath, rawTarget } from "@/lib/http/request_context.ts";
import { parseQuery } from "@/lib/http/operation.ts";
import { readListAddress } from "@/lib/pages/campaigns/campaign_filter.ts";
import { readLogAddress, readVolumeAddress } from "@/lib/pages/volume_address.ts";
import { guardResultUrl } from "@/lib/pages/result_url_guard.ts";
import { readViewerAddress, writeViewerAddress } from "@/lib/pages/page_paths.ts";
import { nextPath } from "@/lib/results/results_login.ts";
import { resultKey } from "@/lib/results/results_service.ts";
import { bodyReader } from "@/lib/runtime/http.ts";
import { gatewayTarget } from "@/lib/auth/storage_api_path.ts";
import { fuzz, isRefused, isStoreError, near, resultOr } from "./hostile.ts";

const URLS = [
  "http://host/api/v1/buckets/b/objects/a//b/../c?prefix=x&delimiter=%2F#end",
  "http://host?query",
  "https://[::1]:8080/%2e%2e/x",
  "http://host/a?b?c#d?e",
];

fuzz("targets", {
  inputs: near(URLS, ["/../", "/./", "%2e", "?", "#"]),
  check(text) {
    const url = `http://host/${text.slice(text.indexOf("host") + 5)}`;
    const { path, query } = rawTarget(url);
    assert.ok(path.startsWith("/") && !/[?#]/.test(path) && !query.includes("#"), url);
    const target = url.slice("http://host".length).split("#")[0];
    assert.equal(target.includes("?") ? `${path}?${query}` : path, target);
    // What no client folds, and no segment hides, is the path that the URL's own parser sees.
    if (/^[\w/?=&-]*$/.test(target)) {
      const parsed = new URL(url);
      assert.deepEqual([path, query], [parsed.pathname, parsed.search.replace(/^\?/, "")]);
    }
    const parsedPath = resultOr(() => new URL(url).pathname, () => true);
    if (!hasDotSegment(path) && parsedPath !== null && /^[!-~]*$/.test(path) && !/[\\|"<>^`{}']/.test(path)) {
      assert.equal(parsedPath, path, "only a dot segment is folded");
    }
    const s3 = resultOr(
      () => parseS3Request(new Request(url), bodyReader),
      (error) => isStoreError(error) || error instanceof TypeError,
    );
    if (s3?.key) assert.ok(new TextEncoder().encode(s3.key).length <= 1024);
  },
  growth: { seeds: URLS, read: (text) => [rawTarget(`http://host/${text}`), hasDotSegment(`/${text}`)] },
});

const QUERIES = ["max=10&all=true&name=a%20b&ratio=0.5", "max=%31&max=2", "all=YES&name=+", "name=%ff&ratio=-1e3"];
const QUERY = z.object({
  max: z.int().min(0).max(1000).optional(),
  all: z.boolean().optional(),
  name: z.string().max(100).optional(),
  ratio: z.number().optional(),
});

fuzz("queries", {
  inputs: near(QUERIES, ["max=", "&all=", "__proto__=1", "constructor="]),
  check(text) {
    const parsed = resultOr(() => parseQuery(QUERY, text), isRefused);
    if (parsed === null) return;
    const oracle = new URLSearchParams(text);
    assert.equal(parsed.name, oracle.getAll("name").at(-1));
    const max = oracle.getAll("max").at(-1);
    assert.equal(parsed.max, max === undefined ? undefined : Number(max));
    assert.deepEqual(Object.keys(parsed).filter((name) => !(name in QUERY.shape)), []);
  },
  growth: {
    seeds: QUERIES,
    words: ["&§=1", "&max=§"],
    read: (text) => resultOr(() => parseQuery(QUERY, text), isRefused),
  },
});

const PATHS = [
  ...["/campaigns/a?b=c#d", "//evil.example/x", "/\\evil.example", "/a/../b", "https://evil.example", "/.//evil"],
  ...["/login?next=/", "javascript:alert(1)", "/%2f%2fevil", "/\t/evil"],
];

fuzz("paths after a login", {
  inputs: near(PATHS, ["//", "\\", "..", "@", "/.//"]),
  check(text) {
    for (const path of [ownPath(text), nextPath(text)]) {
      if (path === null) continue;
      for (const base of ["https://site.example/login", "http://site.example/a/b"]) {
        const opened: URL = new URL(path, base);
        assert.equal(opened.origin, new URL(base).origin, `${text} leads to ${opened.href}`);
        assert.equal(opened.pathname + opened.search + opened.hash, path, "a browser reads it as it is");
      }
      new Headers({ Location: path });
    }
  },
  growth: { seeds: PATHS, read: nextPath },
});

const PROXY = [
  { path: "/storage/api/buckets/:bucket/objects/:key", query: "bucket=b&key=a%2F..%2Fb&account=x" },
  { path: "/storage/api/buckets/:bucket/delete-task/:task_id", query: "bucket=b&task_id=1" },
  { path: "/storage/api/presign", query: "as=x" },
];

fuzz("addresses of the storage pages", {
  inputs: fc.tuple(
    near(PROXY.map(({ path }) => path), ["/..", "tokens", "/:key", "/mapi", "%2e%2e", "/presign"]),
    near(PROXY.map(({ query }) => query), ["bucket=..", "key=", "%2e%2e", "&bucket="]),
  ),
  check([path, query]) {
    const target = gatewayTarget({ path: `/storage/api/${path.replace(/^\/storage\/api\//, "")}`, query });
    if (target === null) return;
    assert.match(target.path, /^\/api\/v1\/(?:buckets|presign)(?:\/|$)/);
    const read = new URL(`http://gateway.example${target.path}?${target.query}`);
    const isKeyed = /\/objects\/(?:%2e|\.)+(?:\/|$)/i.test(target.path);
    if (!isKeyed) assert.equal(read.pathname, target.path, "nothing in it is folded away");
    for (const name of ["account", "bucket", "key", "task_id"]) assert.equal(read.searchParams.get(name), null);
  },
  growth: { seeds: PROXY.map(({ query }) => query), read: (query) => gatewayTarget({ path: PROXY[0].path, query }) },
});

const RESULTS = [
  "/results/ns/pipeline/volume/alto/0001.xml",
  "/results/ns/%2e%2e/x",
  "/results/other/a",
  "/results/ns/å",
];

fuzz("paths of results", {
  inputs: near(RESULTS, ["%2f", "%5c", "/../", "%00", "//", "ns"]),
  check(path) {
    const key = resultKey(path, ["ns"]);
    if (key === null) return;
    assert.ok(
      key.startsWith("ns/") && !key.split("/").some((part) => part === "" || part === "." || part === ".."),
      key,
    );
    assert.equal(`/results/${key}`, decodeURIComponent(path));
    assert.equal(decodeURIComponent(new URL(`http://a${path}`).pathname), `/results/${key}`);
  },
  growth: { seeds: RESULTS, read: (text) => resultKey(text, ["ns"]) },
});

const OPENED = [
  "https://results.example/base/ns/p/v/iiif.json",
  "https://results.example/base/../x",
  "https://u:p@results.example/base/x",
  "https://results.example/base/a%2fb",
  "http://results.example\\@evil.example/base/",
];

fuzz("addresses that viewers open", {
  inputs: near(OPENED, ["\\", "@", "/../", "%2f", "\t", ":80", "evil.example"]),
  check(text) {
    const guarded = guardResultUrl(text, "https://results.example/base/");
    if (guarded.ok) {
      const url = new URL(guarded.href);
      assert.equal(url.origin, "https://results.example");
      assert.ok(url.pathname.startsWith("/base/") && url.username === "" && url.password === "", guarded.href);
    }
    readLogAddress(text);
    const volume = readVolumeAddress(text);
    if (volume) assert.equal(new URL(volume.iiifUrl).origin, new URL(text).origin);
    const viewer = readViewerAddress(`#?manifest=${text}&cv=3`, "https://site.example/view");
    if (viewer.manifest !== null) {
      const again = readViewerAddress(writeViewerAddress(viewer.manifest, viewer.canvas), "https://site.example/view");
      assert.deepEqual([again.manifest, again.canvas], [viewer.manifest, viewer.canvas]);
    }
    readListAddress(new URLSearchParams(text));
  },
  growth: {
    seeds: OPENED,
    read: (
      text,
    ) => [guardResultUrl(text, "https://results.example/base/"), readVolumeAddress(text), readLogAddress(text)],
  },
});
