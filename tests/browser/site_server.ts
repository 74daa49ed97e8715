import { fileURLToPath } from "node:url";

import type { JobSummary } from "@/lib/campaigns/projection/types.ts";

/** The pages over made-up campaigns, in a process of their own: it has the packages that a browser test has not. */
export interface FakeSite extends AsyncDisposable {
  /** With its trailing slash. */
  readonly url: string;
  /** Changes what is served from now on. */
  change(state: Readonly<Record<string, unknown>>): Promise<void>;
  /** Serves the samples again, as after the start. */
  reset(): Promise<void>;
  /** Campaigns whose detail was read, in order. */
  reads(): Promise<string[]>;
  /** The campaigns that are served. */
  jobs(): Promise<JobSummary[]>;
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** @param port 0: any free one */
export async function startFakeSite(port = 0): Promise<FakeSite> {
  const site = await startSite("tests/site/site_server.ts", `--port=${port}`);
  const state = async (init?: RequestInit) => await (await fetch(`${site.url}_test`, init)).json();
  return {
    ...site,
    change: (change) => state({ method: "POST", body: JSON.stringify(change) }),
    reset: () => state({ method: "DELETE" }),
    reads: async () => (await state()).reads,
    jobs: async () => (await state()).jobs,
  };
}

/** Starts a script that serves pages in a process of its own, and says where as the application does. */
export async function startSite(
  script: string,
  ...args: string[]
): Promise<Pick<FakeSite, "url" | "stop" | typeof Symbol.asyncDispose>> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--config", "deno.test.json", script, ...args],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let output = "";
  let url: string | undefined;
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  while (url === undefined) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the site did not start: ${output}`);
    output += value;
    url = output.match(/^Site\s+(\S+)/m)?.[1];
  }
  let isStopped = false;
  const stop = async () => {
    if (isStopped) return;
    isStopped = true;
    child.kill("SIGTERM");
    await reader.cancel();
    await child.status;
  };
  return { url, stop, [Symbol.asyncDispose]: stop };
}
