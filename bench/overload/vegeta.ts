import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";

/** One request of the mix, sent again and again. */
export interface Target {
  /** Label in the table. */
  readonly kind: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** Result of one request. */
export interface Outcome {
  readonly kind: string;
  /** When it was sent, ms since 1970. */
  readonly at: number;
  /** 0 where there was no response. */
  readonly status: number;
  readonly ms: number;
  readonly error: string;
  readonly hasRetryAfter: boolean;
}

interface Attack {
  readonly program: string;
  readonly cpu: number;
  readonly targets: readonly Target[];
  /** Requests a second, sent whether the ones before were answered or not. */
  readonly rate: number;
  readonly seconds: number;
}

const TIMEOUT_SECONDS = 30;

/**
 * Sends the targets in turns at a constant rate, an open loop, by vegeta (github.com/tsenart/vegeta): a generator of
 * other authors, in a process of its own, on a processor of its own.
 *
 * @returns what became of each request, in the order of their ends
 */
export async function attack({ program, cpu, targets, rate, seconds }: Attack): Promise<Outcome[]> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-overload-" });
  try {
    await Deno.writeTextFile(`${folder}/targets`, targets.map((target) => line(target)).join("\n"));
    const sent = await run("taskset", [
      ...["-c", String(cpu), program, "attack", "-format=json", `-targets=${folder}/targets`],
      ...[`-rate=${rate}/1s`, `-duration=${seconds}s`, `-timeout=${TIMEOUT_SECONDS}s`, "-max-body=0", "-redirects=-1"],
      `-output=${folder}/results`,
    ]);
    if (sent !== "") throw new Error(sent);
    await run(program, ["encode", "--to=csv", `--output=${folder}/csv`, `${folder}/results`]);
    const kinds = new Map(targets.map(({ method, url, kind }) => [`${method} ${url}`, kind]));
    const text = await Deno.readTextFile(`${folder}/csv`);
    return text.trimEnd().split("\n").map((row) => outcome(row, kinds));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function line({ method, url, headers, body }: Target): string {
  return JSON.stringify({
    method,
    url,
    header: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    body: body && Buffer.from(body).toString("base64"),
  });
}

/** Columns of `vegeta encode --to=csv`: no field of ours has a comma but the error, which is quoted then. */
const ROW = /^(\d+),(\d+),(\d+),\d+,\d+,("(?:[^"]|"")*"|[^,]*),[^,]*,[^,]*,\d+,([^,]*),([^,]*),(.*)$/;

function outcome(row: string, kinds: ReadonlyMap<string, string>): Outcome {
  const found = ROW.exec(row);
  if (!found) throw new Error(`no row of vegeta: ${row.slice(0, 200)}`);
  const [, at, status, latency, error, method, url, headers] = found;
  return {
    kind: kinds.get(`${method} ${url}`) ?? `${method} ${url}`,
    at: Number(at) / 1e6,
    status: Number(status),
    ms: Number(latency) / 1e6,
    error,
    hasRetryAfter: /^retry-after:/im.test(Buffer.from(headers, "base64").toString()),
  };
}

/** @returns what it wrote to standard error. @throws where it fails */
async function run(command: string, args: readonly string[]): Promise<string> {
  const cwd = fileURLToPath(new URL("../../", import.meta.url));
  const { success, stderr } = await new Deno.Command(command, { args: [...args], cwd, stdout: "null" }).output();
  const text = new TextDecoder().decode(stderr);
  if (!success) throw new Error(`${command}: ${text}`);
  return text;
}
