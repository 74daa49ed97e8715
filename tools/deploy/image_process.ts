import { freePort } from "@/tests/free_port.ts";
import type { BuiltImage } from "./image_builder.ts";

const START_MS = 30_000;
const STOP_MS = 10_000;
const POLL_MS = 10;

/** The process of an image: on a root that cannot be written, with a small `/tmp`, as process 1 and the image's user. */
export class ImageProcess implements AsyncDisposable {
  /** Standard error of its processes, which includes the access log. */
  readonly #errors: Promise<string>;

  private constructor(readonly address: string, private readonly process: Deno.ChildProcess) {
    this.#errors = new Response(process.stderr).text();
  }

  static async start(
    { root, env, workingFolder, user, entrypoint }: BuiltImage,
    settings: Readonly<Record<string, string>>,
  ) {
    const port = freePort();
    const mounts = [
      'mount --bind "$0" "$0"',
      'mount -o remount,bind,ro "$0"',
      'mount -t proc proc "$0/proc"',
      'mount --rbind /dev "$0/dev"',
      'mount -t tmpfs -o size=64m,mode=1777 tmpfs "$0/tmp"',
      `head -c 32 /dev/urandom | base64 > "$0/tmp/session-key"`,
      'chmod 444 "$0/tmp/session-key"',
    ];
    const variables = Object.entries({ ...Object.fromEntries(env), ...settings, PORT: `${port}`, HOST: "127.0.0.1" })
      .map(([name, value]) => `${name}=${value}`);
    const script = `set -e; ${mounts.join("; ")}; exec chroot --userspec=${user} "$0" ` +
      `/usr/bin/env -i --chdir=${workingFolder} "$@"`;
    const process = new Deno.Command("unshare", {
      args: ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, root, ...variables, ...entrypoint],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const started = new ImageProcess(`http://127.0.0.1:${port}`, process);
    for (const end = Date.now() + START_MS; !(await started.responds());) {
      if (Date.now() > end) {
        await started[Symbol.asyncDispose]();
        throw new Error("the process does not respond");
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    return started;
  }

  async responds(): Promise<boolean> {
    try {
      const { status, body } = await fetch(`${this.address}/healthz`);
      await body?.cancel();
      return status === 200;
    } catch {
      return false;
    }
  }

  /** Who runs, and whether it may write. */
  async examine(): Promise<void> {
    for (const pid of await this.#processes()) {
      const status = await Deno.readTextFile(`/proc/${pid}/status`);
      const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)?.[1] ?? "";
      if (!field("Uid").startsWith("1000\t")) throw new Error(`process ${pid} runs as ${field("Uid")}`);
      console.log(`process ${field("NSpid").split("\t").at(-1)}: ${field("Name")}, uid ${field("Uid").split("\t")[0]}`);
      const mount = (await Deno.readTextFile(`/proc/${pid}/mountinfo`)).split("\n").find((line) =>
        line.split(" ")[4] === "/"
      );
      if (!mount?.split(" ")[5].split(",").includes("ro")) throw new Error("the root can be written");
    }
  }

  /** The processes' own share of the memory, MiB. */
  async memory(): Promise<string> {
    const rows = await Promise.all((await this.#processes()).map(async (pid) => {
      const text = await Deno.readTextFile(`/proc/${pid}/smaps_rollup`);
      const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]);
      return { rss: kib("Rss") / 1024, pss: kib("Pss") / 1024 };
    }));
    const sum = (name: "rss" | "pss") => rows.reduce((total, row) => total + row[name], 0).toFixed(0);
    const each = rows.map(({ rss }) => rss.toFixed(0)).join(" + ");
    return `RSS ${each} = ${sum("rss")} MiB, proportional share ${sum("pss")} MiB`;
  }

  /** The launcher and the server, from the outside. */
  async #processes(): Promise<number[]> {
    const children = async (pid: number): Promise<number[]> => {
      const text = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`);
      return text.trim().split(" ").filter((word) => word !== "").map(Number);
    };
    const [launcher] = await children(this.process.pid);
    return [launcher, ...await children(launcher)];
  }

  /** SIGTERM to process 1, as a container engine sends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    const [launcher] = await this.#processes().catch(() => []);
    const late = setTimeout(() => this.process.kill("SIGKILL"), STOP_MS);
    if (launcher !== undefined) Deno.kill(launcher, "SIGTERM");
    const { code } = await this.process.status;
    clearTimeout(late);
    const errors = await this.#errors;
    if (code !== 0) throw new Error(`the process ended with ${code}:\n${errors}`);
    if (/^Download/m.test(errors)) throw new Error(`the start looked for packages:\n${errors}`);
  }
}
