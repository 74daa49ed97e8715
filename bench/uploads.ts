/**
 * Uploads by the pages of the storage, beside curl and a script over the same machine: a large file over a link of 100 MB/s
 * and over one without a bound, thousands of small files, and the memory of the page meanwhile. `UPLOAD_GIB` and
 * `UPLOAD_FILES` make it smaller.
 */
import { createHash } from "node:crypto";
import { openPlainPage, type PlainPage } from "@/bench/uploads/plain_browser.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { type Application, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { numberOf } from "@/tools/arguments.ts";
import { table } from "./table.ts";

/** Most memory of the page, bytes. */
const MOST_MEMORY = 200e6;
const GIB = numberOf("UPLOAD_GIB", Deno.env.get("UPLOAD_GIB"), 5, 0.01);
const FILES = numberOf("UPLOAD_FILES", Deno.env.get("UPLOAD_FILES"), 10_000);
const FILE_BYTES = 4096;
const LINK_BYTES_PER_SECOND = 100e6;
const BUCKET = "bench-uploads";
const USER = "archive/curator";
const SAMPLE_MS = 1000;

interface Scene {
  readonly app: Application;
  readonly disk: string;
  readonly token: string;
}

async function inScene<Result>(measure: (scene: Scene) => Promise<Result>): Promise<Result> {
  const app = await startApplication({ env: STORAGE_ONLY });
  const disk = await Deno.makeTempDir();
  try {
    const form = new URLSearchParams({ username: USER, password: SAMPLE_PASSWORD });
    const { access_token } = await (await fetch(`${app.site}api/v1/auth/token`, { method: "POST", body: form })).json();
    const scene = { app, disk, token: String(access_token) };
    await api(scene, "/buckets", { bucket: BUCKET });
    return await measure(scene);
  } finally {
    await app.stop();
    await Deno.remove(disk, { recursive: true });
  }
}

async function api({ app, token }: Scene, path: string, body: unknown) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(`${app.site}api/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

/** A large file by the page and by curl, over a link with a bound and without. */
export async function measureLargeFile(): Promise<string> {
  const rows = [[
    "one file",
    "page",
    "curl",
    "page of curl",
    "curl with SHA-256",
    "page memory",
    "to reach",
    "reached",
  ]];
  for (const [name, bytesPerSecond] of [["link of 100 MB/s", LINK_BYTES_PER_SECOND], ["no bound", null]] as const) {
    rows.push(
      await inScene(async (scene) => {
        const file = `${scene.disk}/large.bin`;
        await (await Deno.open(file, { write: true, create: true })).truncate(GIB * 1024 ** 3);
        const { url } = await presigned(scene, null);
        const store = Number(new URL(url).port);
        const link = bytesPerSecond === null ? null : await startLink(store, bytesPerSecond);
        const curl = await byCurl(url, file, null, link && { from: store, to: link.port });
        // The page has the store check what arrives: so does this one, of which the file was hashed before.
        const sha256 = await sha256Of(file);
        const checked = await byCurl(
          (await presigned(scene, sha256)).url,
          file,
          sha256,
          link && { from: store, to: link.port },
        );
        const page = await byPage(scene, [file], "files", link && { from: store, to: link.port });
        link?.end();
        const rate = (ms: number) => GIB * 1024 ** 3 / 1e6 / (ms / 1000);
        const share = rate(page.ms) / rate(curl);
        return [
          `${GIB} GiB, ${name}`,
          `${rate(page.ms).toFixed(1)} MB/s`,
          `${rate(curl).toFixed(1)} MB/s`,
          `${(100 * share).toFixed(1)} %`,
          `${rate(checked).toFixed(1)} MB/s`,
          `${(page.memory / 1e6).toFixed(0)} MB`,
          `${link === null ? "" : "≥ 95 %, "}< ${MOST_MEMORY / 1e6} MB`,
          (link === null || share >= 0.95) && page.memory < MOST_MEMORY ? "yes" : "NO",
        ];
      }),
    );
  }
  return table(rows);
}

/** Thousands of small files by the page and by a script of Node. */
export async function measureSmallFiles(): Promise<string> {
  return await inScene(async (scene) => {
    const folder = `${scene.disk}/small`;
    for (let index = 0; index < FILES; index++) {
      const under = `${folder}/${Math.floor(index / 500)}`;
      if (index % 500 === 0) await Deno.mkdir(under, { recursive: true });
      await Deno.writeFile(`${under}/${index}.txt`, new Uint8Array(FILE_BYTES).fill(index));
    }
    const page = await byPage(scene, [folder], "folder", null);
    const script = await byScript(scene, folder);
    const rate = (ms: number) => FILES / (ms / 1000);
    const share = rate(page.ms) / rate(script);
    return table([
      [`${FILES} files of ${FILE_BYTES} bytes`, "page", "Node", "page of Node", "page memory", "to reach", "reached"],
      [
        "files a second",
        rate(page.ms).toFixed(0),
        rate(script).toFixed(0),
        `${(100 * share).toFixed(0)} %`,
        `${(page.memory / 1e6).toFixed(0)} MB`,
        `≥ 150 or ≥ 50 %, < ${MOST_MEMORY / 1e6} MB`,
        (rate(page.ms) >= 150 || share >= 0.5) && page.memory < MOST_MEMORY ? "yes" : "NO",
      ],
    ]);
  });
}

/** The measures that `bench/mod.ts` runs. */
export const uploadMeasures = [measureSmallFiles, measureLargeFile];

/** Connections to a port of this machine that go to another one. */
interface Detour {
  readonly from: number;
  readonly to: number;
}

/** Uploads by the page of the bucket. @returns how long until all have arrived, ms, and the page's memory, bytes */
async function byPage({ app }: Scene, paths: readonly string[], what: "files" | "folder", detour: Detour | null) {
  const flags = detour ? [`--host-resolver-rules=MAP 127.0.0.1:${detour.from} 127.0.0.1:${detour.to}`] : [];
  const page = await openPlainPage(flags);
  try {
    await openBucket(page, app.site);
    let memory = 0;
    const sampling = setInterval(() => memory = Math.max(memory, page.memory()), SAMPLE_MS);
    const startedAt = performance.now();
    await page.choose(`.upload-area input[type=file]${what === "folder" ? "[webkitdirectory]" : ""}`, paths);
    await page.until(`/^[^·]* files? uploaded$/.test(document.querySelector("#dock-title")?.textContent ?? "")`);
    clearInterval(sampling);
    const notices: string = await page.evaluate(
      `[...document.querySelectorAll(".notice")].map((n) => n.textContent).join()`,
    );
    if (notices !== "") throw new Error(notices);
    return { ms: performance.now() - startedAt, memory };
  } finally {
    await page.close();
  }
}

async function openBucket(page: PlainPage, site: string): Promise<void> {
  const folder = `/storage/folder?${new URLSearchParams({ account: USER, bucket: BUCKET, prefix: "" })}`;
  await page.goTo(`${site}login?next=${encodeURIComponent(folder)}`);
  await page.evaluate(`
    document.querySelector("[name=username]").value = ${JSON.stringify(USER)};
    document.querySelector("[name=password]").value = ${JSON.stringify(SAMPLE_PASSWORD)};
    document.querySelector("button[type=submit]").click();`);
  await page.until(`document.querySelector("[data-island=storage_uploads][data-hydrated]") !== null`);
}

async function presigned(scene: Scene, sha256: string | null): Promise<{ readonly url: string }> {
  const body = { bucket: BUCKET, key: "by-curl", method: "put_object", checksum_sha256: sha256 };
  return await api(scene, "/presign", body);
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of (await Deno.open(path)).readable) hash.update(chunk);
  return hash.digest("base64");
}

async function byCurl(url: string, file: string, sha256: string | null, detour: Detour | null): Promise<number> {
  const around = detour ? ["--connect-to", `127.0.0.1:${detour.from}:127.0.0.1:${detour.to}`] : [];
  const startedAt = performance.now();
  const checked = sha256 === null ? [] : ["-H", `x-amz-checksum-sha256: ${sha256}`];
  const args = ["-sS", "-f", "-o", "/dev/null", ...around, ...checked, "-T", file, url];
  const { success, stderr } = await new Deno.Command("curl", { args }).output();
  if (!success) throw new Error(`curl: ${new TextDecoder().decode(stderr)}`);
  return performance.now() - startedAt;
}

async function byScript({ app, token }: Scene, folder: string): Promise<number> {
  const script = new URL("uploads/put_files.mjs", import.meta.url).pathname;
  const args = [script, app.site, token, BUCKET, folder];
  const { success, stdout, stderr } = await new Deno.Command("node", { args }).output();
  if (!success) throw new Error(`node: ${new TextDecoder().decode(stderr)}`);
  return Number(new TextDecoder().decode(stdout));
}

async function startLink(target: number, bytesPerSecond: number): Promise<{ readonly port: number; end(): void }> {
  const worker = new Worker(new URL("uploads/link_thread.ts", import.meta.url), { type: "module" });
  const port = await new Promise<number>((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage({ target, bytesPerSecond });
  });
  return { port, end: () => worker.terminate() };
}
