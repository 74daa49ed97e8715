import { build, stop } from "esbuild";
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { BrowserJournal } from "@/lib/pages/uploads/upload_journal_client.ts";
import { PROJECT_FOLDER } from "@/lib/site/site.ts";
import { onFreshPage } from "@/tests/browser/shared_browser.ts";

declare global {
  /** The journal of an account in this browser; no database where the browser has none. */
  var journalOf: (account: string, hasDatabase?: boolean) => BrowserJournal;
}

const JOURNAL = `${PROJECT_FOLDER}/lib/pages/uploads/upload_journal_client.ts`;

/** The code of the journal as a script that sets `journalOf`. */
async function journalScript(): Promise<string> {
  const contents = `import { BrowserJournal } from ${JSON.stringify(JOURNAL)};
    globalThis.journalOf = (account, hasDatabase = true) => {
      if (!hasDatabase) Object.defineProperty(globalThis, "indexedDB", { value: undefined });
      return new BrowserJournal(account);
    };`;
  try {
    const { outputFiles: [{ text }] } = await build({
      stdin: { contents, loader: "ts", resolveDir: PROJECT_FOLDER },
      alias: { "@": PROJECT_FOLDER },
      bundle: true,
      format: "iife",
      write: false,
    });
    return text;
  } finally {
    await stop();
  }
}

/** Runs a test on a page of an origin with IndexedDB, which has the journal. */
async function withJournal(test: (page: Page) => Promise<void>): Promise<void> {
  const script = await journalScript();
  const headers = { "Content-Type": "text/html" };
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    return new Response(`<!doctype html><link rel="icon" href="data:,">`, { headers });
  });
  await onFreshPage({}, async (page) => {
    await page.addInitScript(script);
    await page.goto(`http://127.0.0.1:${server.addr.port}/`);
    await test(page);
  });
}

Deno.test("upload journal: a browser remembers files, parts and uploads by account and folder, and forgets what has ended", () =>
  withJournal(async (page) => {
    const upload = { uploadId: "u1", hasChecksums: true };
    await page.evaluate(async (upload) => {
      const journal = globalThis.journalOf("archive/a");
      const file = (prefix: string, name: string, upload: { uploadId: string; hasChecksums: boolean } | null) =>
        journal.putFile({ bucket: "b", key: prefix + name, prefix, size: 3, modified: 1, upload });
      const batch = (prefix: string, startedAt: number) =>
        journal.putBatch({ bucket: "b", prefix, startedAt, files: 2, bytes: 6, handles: [] });
      await Promise.all([
        file("scans/", "1", upload),
        file("scans/", "2", null),
        file("scans/inner/", "3", null),
        file("scant", "4", null),
        journal.putPart("u1", 1, { etag: '"p1"', sha256: "d1" }),
        journal.putPart("u1", 2, { etag: '"p2"', sha256: null }),
        journal.putPart("u10", 1, { etag: '"other"', sha256: null }),
        batch("scans/", Date.now()),
        batch("old/", Date.now() - 15 * 24 * 3600 * 1000),
      ]);
      await file("old/", "5", null);
      // A read waits for what is being written.
      await journal.parts("none");
    }, upload);
    await page.reload();

    const seen = await page.evaluate(async () => {
      const [own, others] = ["archive/a", "archive/b"].map((account) => globalThis.journalOf(account));
      const keys = async (prefix: string) => (await own.files("b", prefix)).map(({ key }) => key);
      return {
        below: await keys("scans/"),
        inner: await keys("scans/inner/"),
        parts: [...await own.parts("u1")].map(([number, { etag }]) => [number, etag]),
        batches: (await own.batches()).map(({ prefix }) => prefix),
        old: await keys("old/"),
        others: [await others.files("b", ""), await others.batches()],
      };
    });
    assert.deepEqual(seen, {
      below: ["scans/1", "scans/2", "scans/inner/3"],
      inner: ["scans/inner/3"],
      parts: [[1, '"p1"'], [2, '"p2"']],
      batches: ["scans/"],
      old: [],
      others: [[], []],
    });

    const left = await page.evaluate(async () => {
      const journal = globalThis.journalOf("archive/a");
      const keys = async () => (await journal.files("b", "scans/")).map(({ key }) => key);
      const batches = async () => (await journal.batches()).length;
      await journal.forgetBatch("b", "scans/", new Set(["scans/2", "scans/inner/3"]));
      const some = [await keys(), await batches()];
      await journal.forget({ bucket: "b", key: "scans/1" });
      const parts = [(await journal.parts("u1")).size, (await journal.parts("u10")).size];
      await journal.forgetBatch("b", "scans/", null);
      return { some, parts, all: [await keys(), await batches()] };
    });
    assert.deepEqual(left, {
      some: [["scans/1", "scans/inner/3"], 1],
      parts: [0, 1],
      all: [["scans/inner/3"], 0],
    }, "a file of another folder's upload stays");
  }));

Deno.test("upload journal: a browser without a database remembers nothing, and nothing fails", () =>
  withJournal(async (page) => {
    const seen = await page.evaluate(async () => {
      const journal = globalThis.journalOf("archive/a", false);
      await journal.putFile({ bucket: "b", key: "k", prefix: "", size: 1, modified: 1, upload: null });
      await journal.forget({ bucket: "b", key: "k" });
      await journal.forgetBatch("b", "", null);
      return [await journal.files("b", ""), (await journal.parts("u")).size, await journal.batches()];
    });
    assert.deepEqual(seen, [[], 0, []]);
  }));
