import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { type Application, startProcess } from "@/tests/application.ts";
import { until } from "@/tests/until.ts";
import type { Target } from "./vegeta.ts";

const BUCKET = "overload";
const LISTED = 1000;
const WRITERS = 16;
const HEAD_BYTES = 1024;
const UPLOAD_BYTES = 64 * 1024;
/** All clients of the bench have one address, as behind a proxy, which would bound each of its own. */
const CONNECTIONS = "16384";
/** Connections that wait beside the load are not to end by themselves. */
const KEEP_ALIVE_SECONDS = "3600";

/** The application with all roles and its embedded parts, with what the mix of the overload reads and writes. */
export interface OverloadWorld {
  readonly application: Application;
  /** In the order in which they are sent. */
  readonly targets: readonly Target[];
}

/** @param cpu the processor that all of its threads share */
export async function overloadWorld(cpu: number): Promise<OverloadWorld> {
  const application = await startProcess({
    env: {
      MAX_CONNECTIONS: CONNECTIONS,
      // All connections come from one address, as from a proxy.
      TRUSTED_HOPS: "1",
      KEEP_ALIVE_TIMEOUT: KEEP_ALIVE_SECONDS,
    },
    within: ["taskset", "-c", String(cpu)],
  });
  return { application, targets: await mixedTargets(application.site) };
}

/** Twenty requests: ten HEAD, four result files, three details, two uploads of 64 KiB, and a list of 1000 keys. */
async function mixedTargets(site: string): Promise<Target[]> {
  const bearer = await gatewayLogin(site);
  const buckets = `${site}api/v1/buckets`;
  const objects = `${buckets}/${BUCKET}/objects`;
  await expectOk(fetch(buckets, { method: "POST", headers: bearer, body: JSON.stringify({ bucket: BUCKET }) }));
  const names = Array.from({ length: LISTED }, (_, n) => `k${String(n).padStart(4, "0")}`);
  const put = (name: string) =>
    expectOk(fetch(`${objects}/${name}`, { method: "PUT", headers: bearer, body: new Uint8Array(HEAD_BYTES) }));
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) await put(name);
  }));
  const cookie = await resultsLogin(site);
  const { detail, file } = await campaign(site, cookie);
  const head = { kind: "HEAD", method: "HEAD", url: `${objects}/k0000`, headers: bearer };
  const results = { kind: "result file", method: "GET", url: file, headers: { cookie } };
  const details = { kind: "detail", method: "GET", url: detail, headers: { cookie } };
  const list = { kind: "list", method: "GET", url: `${objects}?max_keys=${LISTED}`, headers: bearer };
  const upload = (n: number) => ({
    kind: "upload",
    method: "PUT",
    url: `${objects}/u${n}`,
    headers: bearer,
    body: crypto.getRandomValues(new Uint8Array(UPLOAD_BYTES)),
  });
  const five = [head, results, head, details];
  return [...five, upload(0), ...five, list, ...five, upload(1), head, head, head, head, results];
}

/** @returns the header of a token of an account of the results' tenant */
async function gatewayLogin(site: string): Promise<Record<string, string>> {
  const form = new URLSearchParams({ username: "archive/curator", password: SAMPLE_PASSWORD });
  const response = await expectOk(fetch(`${site}api/v1/auth/token`, { method: "POST", body: form }));
  return { Authorization: `Bearer ${JSON.parse(response).access_token}` };
}

async function resultsLogin(site: string): Promise<string> {
  const response = await fetch(`${site}results/_login`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Origin: new URL(site).origin },
    body: JSON.stringify({ username: "curator", password: SAMPLE_PASSWORD }),
  });
  await response.body?.cancel();
  return (response.headers.get("Set-Cookie") ?? "").split(";", 1)[0];
}

/** The address of a campaign's detail, and of the log of one of its volumes. */
async function campaign(site: string, cookie: string): Promise<{ detail: string; file: string }> {
  const read = async (path: string) => JSON.parse(await expectOk(fetch(site + path, { headers: { cookie } })));
  return await until("a campaign has a volume that is done", async () => {
    const jobs: JobSummary[] = await read("api/v1/jobs");
    for (const { namespace, name, counts } of jobs) {
      if (counts.done === 0) continue;
      const path = `api/v1/jobs/${namespace}/${name}`;
      const { volumes }: JobDetail = await read(path);
      for (const { logUrl, state } of volumes) {
        if (state !== "done") continue;
        const file = await fetch(logUrl, { headers: { cookie } });
        await file.body?.cancel();
        if (file.ok) return { detail: site + path, file: logUrl };
      }
    }
    return null;
  });
}

async function expectOk(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text.slice(0, 200)}`);
  return text;
}
