import { createHash } from "node:crypto";
import { between, pick } from "@/embedded/archive/catalogue.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { unzipped } from "@/tests/lib/tasks/zip/strict_zip.ts";

const LARGEST_BYTES = 3 * 1024 * 1024;
const KEYS = 24;
const REQUEST_MS = 60_000;
const TASK_MS = 120_000;
const POLL_MS = 100;
/** An archive counts against the tasks of its account for ten minutes, so each client has one now and then. */
const ARCHIVE_EVERY_MS = 6 * 60_000;
/** Allowed statuses while an upstream fails or no room is left: never 500. */
const FAILURES = [408, 429, 502, 503, 504];

/** A response that is not what it has to be, whatever failed meanwhile. */
export class WrongAnswer extends Error {
  override readonly name = "WrongAnswer";
}

/** A request that failed with an error response: allowed while an upstream fails. */
export class NotDone extends Error {
  override readonly name = "NotDone";
}

interface Login {
  readonly bearer: string;
  readonly cookie: string;
  /** In the time of `performance.now`. */
  readonly at: number;
}

/** A body as its digest; null: none is there. */
type Content = string | null;

/**
 * One client: it changes its own objects, one request after the other, and knows what it has to read. After a change that
 * was not confirmed there are two contents that it may read.
 */
export class SoakClient {
  readonly #site: string;
  readonly #bucket: string;
  readonly #expiredMs: number;
  readonly #random: () => number;
  readonly #known = new Map<string, { readonly contents: readonly Content[]; readonly size: number | null }>();
  readonly #files = new Map<string, string>();
  #archiveAt = -Infinity;
  #login: Login = { bearer: "", cookie: "", at: 0 };
  /** An earlier one, which is tried when it must have expired. */
  #earlier: Login | null = null;
  bytes = 0;

  /** @param expiredMs after so long a login is no longer valid, whatever the application's clock did meanwhile */
  constructor(site: string, bucket: string, expiredMs: number, random: () => number) {
    this.#expiredMs = expiredMs;
    this.#site = site;
    this.#bucket = bucket;
    this.#random = random;
  }

  /** Logs in at both sides, and creates the bucket. */
  async begin(): Promise<void> {
    await this.logIn();
    const body = JSON.stringify({ bucket: this.#bucket });
    const response = await this.#send("POST", "api/v1/buckets", { body });
    expect(response.status === 201 || response.status === 200, `create bucket: ${response.status}`);
  }

  /** Something at random. Its name, and how it ends: nothing, {@link NotDone} or {@link WrongAnswer}. */
  next(): readonly [what: string, done: Promise<void>] {
    const roll = between(this.#random, 0, 99);
    if (roll < 28) return ["upload", this.#upload()];
    if (roll < 52) return ["download", this.#download()];
    if (roll < 62) return ["head", this.#head()];
    if (roll < 70) return ["list", this.#list()];
    if (roll < 75) return ["delete", this.#delete()];
    if (roll < 80) return ["presign", this.#presigned()];
    if (roll < 84) return ["mapi", this.#management()];
    if (roll < 90) return ["campaigns", this.#campaigns()];
    if (roll < 93) return ["login", this.logIn()];
    if (roll < 95) return ["count", this.#count()];
    if (roll < 97) return ["zip", this.#archive()];
    if (this.#earlier !== null && performance.now() - this.#earlier.at > this.#expiredMs) {
      return ["expired", this.#expired(this.#earlier)];
    }
    return ["fixity", this.#fixity()];
  }

  async logIn(): Promise<void> {
    const form = new URLSearchParams({ username: "archive/curator", password: SAMPLE_PASSWORD });
    const token = await this.#fetch("api/v1/auth/token", { method: "POST", body: form });
    const bearer = `Bearer ${JSON.parse(text(token, 200)).access_token}`;
    const login = await this.#fetch("results/_login", {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: new URL(this.#site).origin },
      body: JSON.stringify({ username: "curator", password: SAMPLE_PASSWORD }),
    });
    text(login, 204);
    const cookie = (login.headers.get("Set-Cookie") ?? "").split(";", 1)[0];
    this.#login = { bearer, cookie, at: performance.now() };
    this.#earlier ??= this.#login;
  }

  /** A token and a session of long ago open nothing. */
  async #expired({ bearer, cookie }: Login): Promise<void> {
    this.#earlier = null;
    const byToken = await this.#fetch(`api/v1/buckets/${this.#bucket}/objects`, { headers: { Authorization: bearer } });
    const refusal = text(byToken, 401);
    expect(refusal.includes("Token has expired"), `expired token: ${refusal.slice(0, 200)}`);
    text(await this.#fetch("api/v1/jobs", { headers: { cookie } }), 401);
  }

  async #upload(): Promise<void> {
    const key = `k${between(this.#random, 0, KEYS - 1)}`;
    const size = this.#random() < 0.7 ? between(this.#random, 0, 8192) : between(this.#random, 0, LARGEST_BYTES);
    const body = new Uint8Array(size);
    for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(body.subarray(at, at + 65_536));
    const before = this.#known.get(key)?.contents ?? [null];
    const digest = sha256(body);
    // Before the response: a request that fails may have done it.
    this.#known.set(key, { contents: [...before, digest], size: null });
    const isChunked = this.#random() < 0.3;
    const sent = isChunked ? new Blob([body]).stream() : body;
    text(await this.#send("PUT", this.#object(key), { body: sent }), 200);
    this.#known.set(key, { contents: [digest], size });
    this.bytes += size;
  }

  async #delete(): Promise<void> {
    const key = this.#anyKey();
    if (key === null) return;
    const before = this.#known.get(key)?.contents ?? [null];
    this.#known.set(key, { contents: [...before, null], size: null });
    const { status } = await this.#send("DELETE", this.#object(key));
    if (status !== 404) failed(status, [200, 204], `delete ${key}`);
    else expect(before.includes(null), `delete ${key}: 404 of an object that is there`);
    this.#known.set(key, { contents: [null], size: null });
  }

  async #download(): Promise<void> {
    const key = this.#anyKey();
    if (key === null) return;
    this.#compare(key, await this.#send("GET", this.#object(key)));
  }

  async #head(): Promise<void> {
    const key = this.#anyKey();
    if (key === null) return;
    const { status, headers } = await this.#send("HEAD", this.#object(key));
    const { contents, size } = this.#known.get(key)!;
    if (status === 404) return expect(contents.includes(null), `head ${key}: 404`);
    failed(status, [200], `head ${key}`);
    const found = Number(headers.get("Content-Length"));
    expect(size === null || found === size, `head ${key}: ${found} bytes, not ${size}`);
  }

  async #list(): Promise<void> {
    const page = JSON.parse(text(await this.#send("GET", `api/v1/buckets/${this.#bucket}/objects`), 200));
    const found = new Map<string, number>(page.objects.map((one: Record<string, unknown>) => [one.Key, one.Size]));
    for (const [key, { contents, size }] of this.#known) {
      const isThere = found.has(key);
      expect(isThere ? contents.some((content) => content !== null) : contents.includes(null), `list: ${key}`);
      if (isThere && size !== null) expect(found.get(key) === size, `list: ${key} has ${found.get(key)}, not ${size}`);
    }
    for (const key of found.keys()) expect(this.#known.has(key), `list: ${key} was never written`);
  }

  async #presigned(): Promise<void> {
    const key = this.#anyKey();
    if (key === null) return;
    const body = JSON.stringify({ keys: [key], method: "get_object" });
    const made = JSON.parse(
      text(await this.#send("POST", `api/v1/buckets/${this.#bucket}/objects/presign`, { body }), 200),
    );
    this.#compare(key, await this.#fetch(made.urls[0].url, {}));
  }

  async #management(): Promise<void> {
    const response = await this.#send("GET", "api/v1/mapi/tenants/archive/namespaces");
    const names: unknown = JSON.parse(text(response, 200));
    expect(JSON.stringify(names).toLowerCase().includes(this.#bucket), "mapi: its own namespace is missing");
  }

  async #campaigns(): Promise<void> {
    const headers = { cookie: this.#login.cookie };
    const jobs: JobSummary[] = JSON.parse(text(await this.#fetch("api/v1/jobs", { headers }), 200));
    expect(Array.isArray(jobs), "campaigns: no list");
    // While the cluster is read anew there may be none.
    if (jobs.length === 0) throw new NotDone("campaigns: an empty list");
    const { namespace, name, counts } = pick(this.#random, jobs);
    const response = await this.#fetch(`api/v1/jobs/${namespace}/${name}`, { headers });
    // It may have ended since the list.
    if (response.status === 404) return;
    const detail: JobDetail = JSON.parse(text(response, 200));
    expect(detail.name === name && detail.counts.total >= counts.total, `campaigns: ${name} is another one`);
    const done = detail.volumes.filter(({ state }) => state === "done");
    if (done.length === 0) return;
    const { manifestUrl } = pick(this.#random, done);
    const file = await this.#fetch(manifestUrl, { headers });
    if (file.status === 404) return;
    const content = text(file, 200);
    const before = this.#files.get(manifestUrl);
    expect(before === undefined || before === sha256(file.bytes), `results: ${manifestUrl} has changed`);
    expect(content.trimStart().startsWith("{"), `results: ${manifestUrl} is no JSON`);
    this.#files.set(manifestUrl, sha256(file.bytes));
  }

  async #count(): Promise<void> {
    const path = `api/v1/buckets/${this.#bucket}/objects/s3_stats`;
    const { task_id: id } = JSON.parse(text(await this.#send("POST", path), 202));
    const { status, files } = await this.#endOf(`${path}/${id}`);
    if (status !== "ready") throw new NotDone(`count: ${status}`);
    const [least, most] = this.#counts();
    expect(Number(files) >= least && Number(files) <= most, `count: ${files}, not ${least} to ${most}`);
  }

  async #archive(): Promise<void> {
    const path = `api/v1/buckets/${this.#bucket}/objects/download`;
    const keys = [...this.#known].filter(([, { size }]) => size !== null).map(([key]) => key).slice(0, 6);
    if (keys.length === 0 || performance.now() - this.#archiveAt < ARCHIVE_EVERY_MS) return;
    this.#archiveAt = performance.now();
    const started = await this.#send("POST", path, { body: JSON.stringify({ keys }) });
    const { task_id: id } = JSON.parse(text(started, 202));
    const { status } = await this.#endOf(`${path}/${id}`);
    if (status !== "ready") throw new NotDone(`zip: ${status}`);
    const archive = await this.#send("GET", `${path}/${id}`);
    failed(archive.status, [200], "zip");
    if (archive.headers.get("X-Zip-Failed") !== "0") throw new NotDone("zip: an object could not be read");
    const entries = unzipped(archive.bytes);
    for (const key of keys) {
      const entry = entries.get(key);
      expect(entry !== undefined && this.#known.get(key)!.contents.includes(sha256(entry)), `zip: ${key} is wrong`);
    }
  }

  async #fixity(): Promise<void> {
    const path = `api/v1/buckets/${this.#bucket}/fixity`;
    const { task_id: id } = JSON.parse(text(await this.#send("POST", path, { body: "{}" }), 202));
    const { status, changed, missing, unreadable, intact } = await this.#endOf(`${path}/${id}`);
    expect(!(Number(changed) > 0 || Number(missing) > 0), `fixity: ${changed} changed, ${missing} missing`);
    // Where the store fails with the same object each time that it is asked.
    if (Number(unreadable) > 0) throw new NotDone(`fixity: ${unreadable} unreadable`);
    if (status !== "done") throw new NotDone(`fixity: ${status}`);
    const [, most] = this.#counts();
    expect(Number(intact) <= most, `fixity: ${intact} intact of ${most}`);
  }

  async #endOf(path: string): Promise<Record<string, unknown>> {
    const headers = { Accept: "application/json" };
    for (const end = performance.now() + TASK_MS; performance.now() < end;) {
      const state = JSON.parse(text(await this.#send("GET", path, { headers }), 200));
      if (!["counting", "processing", "waiting", "pending", "running", "checking"].includes(state.status)) return state;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new NotDone(`${path.replace(/[^/]*$/, "…")}: no end within ${TASK_MS / 1000} s`);
  }

  /** Bounds of the number of objects. */
  #counts(): readonly [least: number, most: number] {
    const all = [...this.#known.values()];
    return [
      all.filter(({ contents }) => !contents.includes(null)).length,
      all.filter(({ contents }) => contents.some((content) => content !== null)).length,
    ];
  }

  #compare(key: string, { status, bytes }: Received): void {
    const known = this.#known.get(key)!;
    if (status === 404) return expect(known.contents.includes(null), `${key}: 404 of an object that is there`);
    failed(status, [200], key);
    const digest = sha256(bytes);
    expect(known.contents.includes(digest), `${key}: ${bytes.length} other bytes than were written`);
    this.bytes += bytes.length;
    // The request that was not confirmed is over by now: what is read is what is there.
    this.#known.set(key, { contents: known.contents.length > 1 ? known.contents : [digest], size: known.size });
  }

  #anyKey(): string | null {
    return this.#known.size === 0 ? null : pick(this.#random, [...this.#known.keys()]);
  }

  #object(key: string): string {
    return `api/v1/buckets/${this.#bucket}/objects/${key}`;
  }

  #send(method: string, path: string, init: RequestInit = {}): Promise<Received> {
    return this.#fetch(path, { ...init, method, headers: { ...init.headers, Authorization: this.#login.bearer } });
  }

  async #fetch(path: string, init: RequestInit): Promise<Received> {
    const url = new URL(path, this.#site);
    try {
      const response = await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(REQUEST_MS) });
      const bytes = await response.bytes();
      return { status: response.status, headers: response.headers, bytes };
    } catch (error) {
      throw new NotDone(
        `${init.method ?? "GET"}: ${error instanceof Error ? error.message.split(" for url")[0] : error}`,
      );
    }
  }
}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The text of a response with this status. */
function text({ status, bytes }: Received, wanted: number): string {
  const content = new TextDecoder().decode(bytes);
  failed(status, [wanted], content.slice(0, 200));
  return content;
}

/** @throws NotDone for the statuses of a failure behind the application, WrongAnswer for others that are not wanted */
function failed(status: number, wanted: readonly number[], what: string): void {
  if (wanted.includes(status)) return;
  if (FAILURES.includes(status)) throw new NotDone(`${status} ${what}`);
  throw new WrongAnswer(`${status} ${what}`);
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new WrongAnswer(what);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
